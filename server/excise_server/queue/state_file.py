"""The file of a state: made whole, told from any other, and what its errors mean."""

from __future__ import annotations

import os
import sqlite3
import stat
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from excise.errors import ExciseError
from excise_server.foundation.inputs import SourceError
from excise_server.queue.state_format import BadStateError

__all__ = ["SCHEMA", "check", "create", "errors"]

_APPLICATION = 0x45584353
_HEADER = b"SQLite format 3\0"
SCHEMA = f"""
BEGIN;
PRAGMA application_id = {_APPLICATION};
CREATE TABLE pieces (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, digest BLOB NOT NULL UNIQUE,
  number INTEGER NOT NULL, line INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE features (n INTEGER PRIMARY KEY, message TEXT NOT NULL, tokens BLOB NOT NULL,
  blocks BLOB NOT NULL, around BLOB NOT NULL, context BLOB NOT NULL, notes TEXT NOT NULL,
  patch_id TEXT NOT NULL, text_id TEXT NOT NULL);
CREATE TABLE changes (n INTEGER PRIMARY KEY, counts BLOB NOT NULL);
CREATE TABLE words (kind INTEGER, start INTEGER, items BLOB NOT NULL, PRIMARY KEY (kind, start));
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
COMMIT;
"""


@contextmanager
def errors(path: str) -> Iterator[None]:
    """Turn what SQLite and the system say into errors that name the file and the way out."""
    away = "move it away; it will be rebuilt from the mails"
    try:
        yield
    except sqlite3.OperationalError as error:
        locked = "locked" in str(error)
        reason = "another excise writes to it" if locked else str(error)
        hint = "try again when that is done" if locked else "check its folder and the disk"
        raise SourceError(reason, name=path, hint=hint) from error
    except (sqlite3.DatabaseError, BadStateError, zlib.error, ValueError) as error:
        if isinstance(error, ExciseError):
            raise
        raise SourceError(f"a damaged state: {error}", name=path, hint=away) from error
    except OSError as error:
        raise SourceError(error.strerror or str(error), name=path, hint="check the path") from error


def check(path: str) -> None:
    """Refuse what is not a state, without SQLite: that would take an empty file for one."""
    hint = "name a file that does not exist yet, or one that --incremental made"
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise SourceError("it is not a regular file", name=path, hint=hint)
    with open(path, "rb") as file:
        head = file.read(100)
    if not head.startswith(_HEADER) or int.from_bytes(head[68:72], "big") != _APPLICATION:
        raise SourceError("it is not the state of a patch queue", name=path, hint=hint)


def create(path: str) -> None:
    """Make an empty state beside its place and move it there, so that it is whole or not there."""
    folder = os.path.dirname(os.path.abspath(path))
    descriptor, part = tempfile.mkstemp(prefix=".excise-", suffix=".state", dir=folder)
    os.close(descriptor)
    try:
        file = sqlite3.connect(part, isolation_level=None)
        file.executescript(SCHEMA)
        file.close()
        _move(part, path)
    finally:
        with suppress(OSError):
            os.unlink(part)


def _move(part: str, path: str) -> None:
    """Give a file its name, unless another process was faster."""
    link: Callable[[str, str], None] | None = getattr(os, "link", None)
    try:
        if link is None:
            raise OSError
        link(part, path)
    except FileExistsError:
        return
    except OSError:  # a file system without hard links
        if not os.path.lexists(path):
            os.rename(part, path)
