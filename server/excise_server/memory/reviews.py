"""Pins and choices of reviews, remembered by workspace folder and path.

A pinned origin is remembered as a commit and a path while that is its text, else by its text.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excise.text import normalise
from excise_server.editor.decisions import CandidateState, Choice, Remembered, voice_of
from excise_server.foundation.inputs import SourceError
from excise_server.foundation.paths import text_of
from excise_server.memory.store import LockedError, Store, StoreError
from excise_server.memory.workspace import Workspace
from excise_server.sources.finding import Context

if TYPE_CHECKING:
    from excise_server.git.repository import Repository

__all__ = ["Reviews"]

logger = logging.getLogger(__name__)

_KEEP = "insert or replace into pins values (?, ?, ?, ?, ?, ?, ?, ?)"
_KEEP_OLD = "insert or ignore into pins values (?, ?, ?, ?, ?, ?, ?, ?)"
_MOST_LATE = 10_000
"""Most writes that wait for a lock."""

_STATES: tuple[CandidateState, ...] = ("hidden", "rejected")


class Reviews:
    """The remembered reviews. Several threads may use it.

    Parameters
    ----------
    cache : Path or None
        The user's cache folder; None: nothing is remembered.
    """

    def __init__(self, cache: Path | None) -> None:
        """Open nothing yet."""
        self._cache = cache
        self._known: dict[str, Store] = {}
        self._said: set[str] = set()
        # What could not be written as the file was locked, by one thread, in order.
        self._late: dict[Store, list[tuple[str, Sequence[tuple[object, ...]]]]] = {}
        # Documents whose review could not be read as the file was locked, which is kept therefore.
        self._unread: set[tuple[Store, str]] = set()
        self.is_locked = False
        """Whether the decisions about candidates could not be read for a lock."""
        self._lock = threading.Lock()

    def recall(self, path: str, workspace: Workspace) -> Remembered | None:
        """Return the remembered review of a document, if there is one."""
        store = self._store_of(path, workspace)
        if store is None:
            return None
        try:
            query = (
                "select commit_id, blob_path, text, digest, kept, voices from pins where path = ?"
            )
            rows = store[0].read(query, store[1])
        except StoreError as error:
            self._say(store[0], "cannot be read", error)
            if isinstance(error, LockedError):
                self._unread.add(store)
            return None
        self._unread.discard(store)
        self._tell(store[0])
        if not rows or (rows[0][0] and not workspace.trusted):
            return None  # a commit is read by git, which is not started without trust
        try:
            return _remembered(rows[0], path, workspace)
        except (
            *(SourceError, ValueError, TypeError, KeyError, AttributeError, RecursionError),
        ) as error:
            logger.warning("the review of %s starts again: its origin is gone (%s)", path, error)
            self.drop(path, workspace)
            return None

    def keep(self, path: str, workspace: Workspace, review: Remembered) -> None:
        """Remember the review of a document, replacing an earlier one."""
        store = self._store_of(path, workspace)
        if store is None:
            return
        origin = normalise(review.origin)
        commit, blob_path = _committed(path, workspace, origin)
        row = (
            store[1], commit, blob_path, "" if commit else origin, voice_of(origin),
            json.dumps(sorted(review.kept)), json.dumps(dict(review.voices)), store[0].now,
        )  # fmt: skip
        self._write(store[0], _KEEP_OLD if store in self._unread else _KEEP, [row])

    def drop(self, path: str, workspace: Workspace) -> None:
        """Forget the review of a document."""
        store = self._store_of(path, workspace)
        if store is not None and store not in self._unread and store[0].path.exists():
            self._write(store[0], "delete from pins where path = ?", [(store[1],)])

    def choices(self, workspace: Workspace) -> dict[str, Choice]:
        """Return the decisions about candidates, by id."""
        choices: dict[str, Choice] = {}
        self.is_locked = False
        for store in self._stores(workspace):
            try:
                rows = store.read("select id, state, base from choices order by used")
            except StoreError as error:
                self._say(store, "cannot be read", error)
                self.is_locked = self.is_locked or isinstance(error, LockedError)
                continue
            self._tell(store)
            for name, state, base in rows:
                if all(isinstance(value, str) for value in (name, state, base)):
                    stored_state = next((s for s in _STATES if s == state), None)
                    choices[name] = Choice(stored_state, base or None)
        return choices

    def choose(self, workspace: Workspace, chosen: Mapping[str, Choice]) -> None:
        """Remember decisions about candidates, and forget candidates without any."""
        forgotten = [(name,) for name, choice in chosen.items() if choice == Choice()]
        for store in self._stores(workspace):
            rows = [
                (name, choice.state or "", choice.base or "", store.now)
                for name, choice in chosen.items()
                if choice != Choice()
            ]
            if rows:
                self._write(store, "insert or replace into choices values (?, ?, ?, ?)", rows)
            if forgotten and store.path.exists():
                self._write(store, "delete from choices where id = ?", forgotten)

    def _stores(self, workspace: Workspace) -> Iterable[Store]:
        if self._cache is None:
            return ()
        return [self._store(folder) for folder in _real(workspace.folders)]

    def _store_of(self, path: str, workspace: Workspace) -> tuple[Store, str] | None:
        """Return the file for a document (the innermost folder's), and its name there."""
        if self._cache is None:
            return None
        inside = []
        real = _real([path])
        for folder in _real(workspace.folders) if real else ():
            relative = os.path.relpath(real[0], folder)
            if relative != os.pardir and not relative.startswith(os.pardir + os.sep):
                inside.append((folder, relative.replace(os.sep, "/")))
        if not inside:
            return None
        folder, relative = max(inside, key=lambda pair: len(pair[0]))
        return self._store(folder), relative

    def _store(self, folder: str) -> Store:
        assert self._cache is not None
        with self._lock:
            return self._known.setdefault(folder, Store(self._cache, folder))

    def _write(self, store: Store, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Write rows, after those that had to wait for a lock, all of them or none."""
        self._late.setdefault(store, []).append((statement, rows))
        self._write_late(store)

    def _write_late(self, store: Store) -> None:
        late = self._late[store]
        try:
            store.write(late)
        except LockedError as error:
            del late[:-_MOST_LATE]
            self._say(
                store, "cannot be written yet, and is kept only while this server runs", error
            )
        except (StoreError, UnicodeEncodeError) as error:
            late.clear()
            self._say(store, "cannot be written", error)
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
        with self._lock:
            if problem in self._said:
                return
            self._said.add(problem)
        why = f": {error}" if error is not None else ""
        logger.warning("what is remembered of reviews: %s%s (%s)", problem, why, store.path)


def _real(paths: Iterable[str]) -> list[str]:
    """Return paths with links followed, each once, without those that no file can have."""
    real = dict[str, None]()
    for path in paths:
        with suppress(ValueError):
            path.encode()
            real[os.path.realpath(path)] = None
    return list(real)


def _committed(path: str, workspace: Workspace, text: str) -> tuple[str, str]:
    """Return the commit and path with a text, or empty strings if HEAD does not have it."""
    try:
        repository = _repository(path, workspace)
        if repository is None or (head := repository.head()) is None:
            return "", ""
        blob = repository.blob(f"{head}:{repository.path}")
        same = normalise(text_of(blob.data)) == text
    except SourceError:
        return "", ""
    return (head, repository.path) if same else ("", "")


def _remembered(row: Sequence[Any], path: str, workspace: Workspace) -> Remembered:
    """Return the review in a row, which another program may have written."""
    commit, blob_path, text, digest, kept_spans, voices = row
    if commit:
        repository = _repository(path, workspace)
        if repository is None:
            raise SourceError("the repository is gone")
        text = normalise(text_of(repository.blob(f"{commit}:{blob_path}").data))
        if voice_of(text) != digest:
            raise SourceError("the commit has a different text")
    spans = frozenset((int(lo), int(hi)) for lo, hi in json.loads(kept_spans))
    voices_by_id = {str(name): str(voice) for name, voice in json.loads(voices).items()}
    return Remembered(str(text), spans, voices_by_id)


def _repository(path: str, workspace: Workspace) -> Repository | None:
    from excise_server.sources.opening import open_repository  # only once it is needed

    if not workspace.trusted:
        raise SourceError("the workspace is not trusted: git is not started")
    return open_repository(Context(path, workspace.folders, workspace.trusted))
