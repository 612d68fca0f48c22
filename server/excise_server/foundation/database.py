"""SQLite files: opened without transactions of Python's own, and written whole or not at all."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress


def opened(path: str | os.PathLike[str], seconds: float = 0.0) -> sqlite3.Connection:
    """Open a file, waiting so many seconds for another process' lock at each statement."""
    return sqlite3.connect(path, timeout=seconds, isolation_level=None)


@contextmanager
def writing(file: sqlite3.Connection) -> Iterator[None]:
    """Hold the one lock of writers until all is written, or nothing."""
    file.execute("begin immediate")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):
            file.execute("rollback")
        raise
    file.execute("commit")


def is_locked(error: Exception) -> bool:
    """Whether it says that another process keeps a file locked, which may be free later."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
