"""Pins and choices of reviews, remembered by workspace folder and path.

A pinned origin is remembered as a commit and a path while that is its text, else by its text. There
is one SQLite file a workspace folder: several servers may share it, and none loses a row. SQLite
locks, replaces atomically, and detects damage, all of which a JSON file would need as well. The
file is small, readable by the user alone, and removed after 30 days. Whatever is wrong with it, a
review goes on without memory.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excise.text import normalise
from excise_server.editor.document import CandidateDecision, CandidateState, Remembered, voice_of
from excise_server.foundation.database import is_locked, opened, writing
from excise_server.foundation.files import make_private, text_of
from excise_server.foundation.inputs import SourceError
from excise_server.sources.finding import Context

if TYPE_CHECKING:
    from excise_server.git.repository import Repository


logger = logging.getLogger(__name__)

_KEEP = "insert or replace into pins values (?, ?, ?, ?, ?, ?, ?, ?)"
_KEEP_OLD = "insert or ignore into pins values (?, ?, ?, ?, ?, ?, ?, ?)"
_MOST_LATE = 10_000
"""Most writes that wait for a lock."""

_STATES: tuple[CandidateState, ...] = ("hidden", "rejected")


class Reviews:
    """The remembered reviews, for one thread.

    - ``cache``: the user's cache folder; None: nothing is remembered.
    """

    def __init__(self, cache: Path | None) -> None:
        self._cache = cache
        self._known: dict[str, Store] = {}
        self._said: set[str] = set()
        # What could not be written as the file was locked, by one thread, in order.
        self._late: dict[Store, list[tuple[str, Sequence[tuple[object, ...]]]]] = {}
        # Documents whose review could not be read as the file was locked, which is kept therefore.
        self._unread: set[tuple[Store, str]] = set()
        self.is_locked = False
        """Whether the decisions about candidates could not be read for a lock."""

    def recall(self, context: Context) -> Remembered | None:
        """Return the remembered review of a document, if there is one."""
        store = self._store_of(context)
        if store is None:
            return None
        try:
            query = (
                "select commit_id, blob_path, text, digest, kept, voices from pins where path = ?"
            )
            rows = store[0].read(query, store[1])
        except StoreError as error:
            self._say(store[0], "cannot be read", error)
            if error.is_locked:
                self._unread.add(store)
            return None
        self._unread.discard(store)
        self._tell(store[0])
        if not rows or (rows[0][0] and not context.trusted):
            return None  # a commit is read by git, which is not started without trust
        try:
            return _remembered(rows[0], context)
        except (
            *(SourceError, ValueError, TypeError, KeyError, AttributeError, RecursionError),
        ) as error:
            logger.warning(
                "the review of %s starts again: its origin is gone (%s)", context.document, error
            )
            self.drop(context)
            return None

    def keep(self, context: Context, review: Remembered) -> None:
        """Remember the review of a document, replacing an earlier one."""
        store = self._store_of(context)
        if store is None:
            return
        origin = normalise(review.origin)
        commit, blob_path = _committed(context, origin)
        kept = [[*span, *sorted(texts)] for span, texts in sorted(review.kept.items())]
        row = (
            store[1], commit, blob_path, "" if commit else origin, voice_of(origin),
            json.dumps(kept), json.dumps(dict(review.voices)), store[0].now,
        )  # fmt: skip
        self._write(store[0], _KEEP_OLD if store in self._unread else _KEEP, [row])

    def drop(self, context: Context) -> None:
        """Forget the review of a document."""
        store = self._store_of(context)
        if store is not None and store not in self._unread and store[0].path.exists():
            self._write(store[0], "delete from pins where path = ?", [(store[1],)])

    def choices(self, folders: Iterable[str]) -> dict[str, CandidateDecision]:
        """Return the decisions about candidates, by id."""
        choices: dict[str, CandidateDecision] = {}
        self.is_locked = False
        for store in self._stores(folders):
            try:
                rows = store.read("select id, state, base from choices order by used")
            except StoreError as error:
                self._say(store, "cannot be read", error)
                self.is_locked = self.is_locked or error.is_locked
                continue
            self._tell(store)
            for name, state, base in rows:
                if all(isinstance(value, str) for value in (name, state, base)):
                    stored_state = next((s for s in _STATES if s == state), None)
                    choices[name] = CandidateDecision(stored_state, base or None)
        return choices

    def choose(self, folders: Iterable[str], chosen: Mapping[str, CandidateDecision]) -> None:
        """Remember decisions about candidates, and forget candidates without any."""
        forgotten = [(name,) for name, choice in chosen.items() if choice == CandidateDecision()]
        for store in self._stores(folders):
            rows = [
                (name, choice.state or "", choice.base or "", store.now)
                for name, choice in chosen.items()
                if choice != CandidateDecision()
            ]
            if rows:
                self._write(store, "insert or replace into choices values (?, ?, ?, ?)", rows)
            if forgotten and store.path.exists():
                self._write(store, "delete from choices where id = ?", forgotten)

    def _stores(self, folders: Iterable[str]) -> list[Store]:
        return [] if self._cache is None else [self._store(folder) for folder in _real(folders)]

    def _store_of(self, context: Context) -> tuple[Store, str] | None:
        """Return the file for a document (the innermost folder's), and its name there."""
        if self._cache is None:
            return None
        inside = []
        real = _real([context.document])
        for folder in _real(context.folders) if real else ():
            relative = os.path.relpath(real[0], folder)
            if relative != os.pardir and not relative.startswith(os.pardir + os.sep):
                inside.append((folder, relative.replace(os.sep, "/")))
        if not inside:
            return None
        folder, relative = max(inside, key=lambda pair: len(pair[0]))
        return self._store(folder), relative

    def _store(self, folder: str) -> Store:
        assert self._cache is not None
        return self._known.setdefault(folder, Store(self._cache, folder))

    def _write(self, store: Store, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Write rows, after those that had to wait for a lock, all of them or none."""
        self._late.setdefault(store, []).append((statement, rows))
        self._write_late(store)

    def _write_late(self, store: Store) -> None:
        late = self._late[store]
        try:
            store.write(late)
        except (StoreError, UnicodeEncodeError) as error:
            problem = "cannot be written"
            if isinstance(error, StoreError) and error.is_locked:
                del late[:-_MOST_LATE]
                problem = "cannot be written yet, and is kept only while this server runs"
            else:
                late.clear()
            self._say(store, problem, error)
        else:
            late.clear()
        self._tell(store)

    def catch_up(self) -> bool:
        """Write what had to wait for a lock, and return whether nothing waits any longer."""
        for store in [store for store, late in self._late.items() if late]:
            self._write_late(store)
        return not any(self._late.values())

    def _tell(self, store: Store) -> None:
        if store.repaired:
            self._say(store, store.repaired, None)

    def _say(self, store: Store, problem: str, error: Exception | None) -> None:
        """Log a problem once. Everything continues without memory."""
        if problem in self._said:
            return
        self._said.add(problem)
        why = f": {error}" if error is not None else ""
        logger.warning("the saved decisions of reviews: %s%s (%s)", problem, why, store.path)


def _real(paths: Iterable[str]) -> list[str]:
    """Return paths with links followed, each once, without those that no file can have."""
    real = dict[str, None]()
    for path in paths:
        with suppress(ValueError):
            path.encode()
            real[os.path.realpath(path)] = None
    return list(real)


def _committed(context: Context, text: str) -> tuple[str, str]:
    """Return the commit and path with a text, or empty strings if HEAD does not have it."""
    try:
        repository = _repository(context)
        if repository is None or (head := repository.head()) is None:
            return "", ""
        blob = repository.blob(f"{head}:{repository.path}")
        same = normalise(text_of(blob.data)) == text
    except SourceError:
        return "", ""
    return (head, repository.path) if same else ("", "")


def _remembered(row: Sequence[Any], context: Context) -> Remembered:
    """Return the review in a row, which another program may have written."""
    commit, blob_path, text, digest, kept_spans, voices = row
    if commit:
        repository = _repository(context)
        if repository is None:
            raise SourceError("the repository is gone")
        text = normalise(text_of(repository.blob(f"{commit}:{blob_path}").data))
        if voice_of(text) != digest:
            raise SourceError("the commit has a different text")
    spans = {
        (int(lo), int(hi)): frozenset(map(str, texts)) for lo, hi, *texts in json.loads(kept_spans)
    }
    voices_by_id = {str(name): str(voice) for name, voice in json.loads(voices).items()}
    return Remembered(str(text), spans, voices_by_id)


def _repository(context: Context) -> Repository | None:
    from excise_server.sources.collect import open_repository  # only once it is needed

    if not context.trusted:
        raise SourceError("the workspace is not trusted: git is not started")
    return open_repository(context)


DAYS = 30
"""Days after which unused entries are removed."""

MAX_PINS = 1000
"""Most documents of a folder that are remembered: those used last."""

MAX_SEEN = 200
"""Most candidates of a repository of which it is remembered what somebody looked at."""

_VERSION = 2
_SECONDS = 0.5
"""Seconds to wait for another server's write, once: until the file is free again, nothing waits."""

_TABLES = """
create table if not exists pins (
    path text primary key, commit_id text not null, blob_path text not null, text text not null,
    digest text not null, kept text not null, voices text not null, used integer not null);
create table if not exists choices (
    id text primary key, state text not null, base text not null, used integer not null);
create table if not exists seen (
    names text not null, commit_id text not null, door text not null, used integer not null,
    files blob not null);
"""


# --- the file of a folder ---


class StoreError(Exception):
    """The error for a file that cannot be used. The message says why.

    - ``is_locked``: whether another process keeps it locked, so that it may be free later.
    """

    def __init__(self, reason: str, *, is_locked: bool) -> None:
        super().__init__(reason)
        self.is_locked = is_locked


class Store:
    """The file of one workspace folder.

    - ``cache``: the user's folder for what may be lost.
    - ``folder``: the workspace folder, links followed.
    - ``clock``: seconds since the epoch.

    - ``path``: the path of the file.
    """

    def __init__(self, cache: Path, folder: str, clock: Callable[[], float] = time.time) -> None:
        name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:32]
        self.path = cache / "reviews" / f"{name}.sqlite3"
        self._clock = clock
        self._is_sound = False
        self._patience = _SECONDS
        self.repaired = ""
        """What had to be done to use the file, in words for people, or empty."""

    @property
    def now(self) -> int:
        """The time that rows are marked with."""
        return int(self._clock())

    def read(self, query: str, *arguments: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query, none where nothing is remembered.

        Raises StoreError if the file cannot be read.
        """
        if not self.path.exists():
            return []
        with self._connected() as connection:
            return connection.execute(query, arguments).fetchall()

    def write(self, changes: Iterable[tuple[str, Iterable[Sequence[object]]]]) -> None:
        """Execute each statement for its rows, all of it or nothing.

        Raises StoreError if the file cannot be written.
        """
        with self._connected() as connection, writing(connection):
            for statement, rows in changes:
                connection.executemany(statement, rows)
            self._forget_old(connection)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        try:
            try:
                connection = self._connect()
            except sqlite3.OperationalError:
                raise  # locked, full or read-only: the file is not damaged
            except sqlite3.DatabaseError as error:
                aside = self.path.with_suffix(".damaged")
                os.replace(self.path, aside)
                self.repaired = f"it was damaged ({error}); the old file is now {aside.name}"
                connection = self._connect()
            with closing(connection):
                yield connection
        except (OSError, sqlite3.Error) as error:
            locked = is_locked(error)  # no attempt waits from then on, until one succeeds
            self._patience = 0.0 if locked else self._patience
            reason = getattr(error, "strerror", None) or str(error)
            raise StoreError(reason, is_locked=locked) from error
        self._patience = _SECONDS

    def _connect(self) -> sqlite3.Connection:
        # A regular file that only the user can read, unless it exists.
        make_private(self.path.parent)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with open(os.open(self.path, flags, 0o600), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError("it is not a regular file")
        connection = opened(self.path, self._patience)
        try:
            (version,) = connection.execute("pragma user_version").fetchone()
            if version > _VERSION:
                raise OSError(f"its version is {version}, but this program supports {_VERSION}")
            if version < _VERSION:
                connection.executescript(f"begin immediate; {_TABLES} commit;")
                connection.execute(f"pragma user_version = {_VERSION}")
            if not self._is_sound:
                (sound,) = connection.execute("pragma quick_check(1)").fetchone()
                if sound != "ok":
                    raise sqlite3.DatabaseError(sound)
                self._is_sound = True
        except BaseException:
            connection.close()
            raise
        return connection

    def _forget_old(self, connection: sqlite3.Connection) -> None:
        oldest = self.now - DAYS * 86_400
        for table, most in (("pins", MAX_PINS), ("choices", -1), ("seen", MAX_SEEN)):
            newest = f"select rowid from {table} order by used desc, rowid desc limit ?"  # noqa: S608
            old = f"delete from {table} where used < ? or rowid not in ({newest})"  # noqa: S608
            connection.execute(old, (oldest, most))
        for file in self.path.parent.glob("*.sqlite3"):
            with suppress(OSError):
                if file != self.path and file.stat().st_mtime < oldest:
                    file.unlink()
