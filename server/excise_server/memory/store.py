"""One SQLite file a workspace folder: several servers may share it, and none loses a row.

SQLite locks, replaces atomically, and detects damage, all of which a JSON file would need as well.
The file is small (it has a text only if no commit does), readable by the user alone, and removed
after 30 days. Whatever is wrong with it, a review goes on without memory.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from excise_server.foundation.database import is_locked, opened, writing

__all__ = ["DAYS", "MAX_PINS", "LockedError", "Store", "StoreError"]

DAYS = 30
"""Days after which unused entries are removed."""

MAX_PINS = 1000
"""Most documents of a folder that are remembered: those used last."""

_VERSION = 1
_SECONDS = 0.5
"""Seconds to wait for another server's write, once: until the file is free again, nothing waits."""

_TABLES = """
create table if not exists pins (
    path text primary key, commit_id text not null, blob_path text not null, text text not null,
    digest text not null, kept text not null, voices text not null, used integer not null);
create table if not exists choices (
    id text primary key, state text not null, base text not null, used integer not null);
"""


class StoreError(Exception):
    """The error for a file that cannot be used. The message says why."""


class LockedError(StoreError):
    """The error for a file that another process keeps locked, and that may be free later."""


class Store:
    """The file of one workspace folder.

    Parameters
    ----------
    cache : Path
        The user's folder for what may be lost.
    folder : str
        The workspace folder, links followed.
    clock : callable
        Seconds since the epoch.
    """

    def __init__(self, cache: Path, folder: str, clock: Callable[[], float] = time.time) -> None:
        """Open nothing yet."""
        name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:32]
        self._path = cache / "reviews" / f"{name}.sqlite3"
        self._clock = clock
        self._is_sound = False
        self._patience = _SECONDS
        self.repaired = ""
        """What had to be done to use the file, in words for people, or empty."""

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self._path

    @property
    def now(self) -> int:
        """The time that rows are marked with."""
        return int(self._clock())

    def read(self, query: str, *arguments: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query, none where nothing is remembered.

        Raises
        ------
        StoreError
            If the file cannot be read.
        """
        if not self._path.exists():
            return []
        with self._connected() as connection:
            return connection.execute(query, arguments).fetchall()

    def write(self, changes: Iterable[tuple[str, Iterable[Sequence[object]]]]) -> None:
        """Execute each statement for its rows, all of it or nothing.

        Raises
        ------
        StoreError
            If the file cannot be written.
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
                aside = self._path.with_suffix(".damaged")
                os.replace(self._path, aside)
                self.repaired = f"it was damaged ({error}); the old file is now {aside.name}"
                connection = self._connect()
            with closing(connection):
                yield connection
        except (OSError, sqlite3.Error) as error:
            raise self._failure(error) from error
        self._patience = _SECONDS

    def _failure(self, error: OSError | sqlite3.Error) -> StoreError:
        """Return the error for people. After a lock, no attempt waits until one succeeds."""
        reason = getattr(error, "strerror", None) or str(error)
        if not is_locked(error):
            return StoreError(reason)
        self._patience = 0.0
        return LockedError(reason)

    def _connect(self) -> sqlite3.Connection:
        # A regular file that only the user can read, unless it exists.
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with open(os.open(self._path, flags, 0o600), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError("it is not a regular file")
        connection = opened(self._path, self._patience)
        try:
            (version,) = connection.execute("pragma user_version").fetchone()
            if version > _VERSION:
                raise OSError(f"it is of version {version}; this program knows {_VERSION}")
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
        connection.execute("delete from pins where used < ?", (oldest,))
        connection.execute("delete from choices where used < ?", (oldest,))
        connection.execute(
            "delete from pins where path not in (select path from pins order by used desc limit ?)",
            (MAX_PINS,),
        )
        for file in self._path.parent.glob("*.sqlite3"):
            with suppress(OSError):
                if file != self._path and file.stat().st_mtime < oldest:
                    file.unlink()
