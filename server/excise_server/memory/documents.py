"""Documents of reviews in the user's cache: a second look at the same candidates computes nothing.

A document follows from what was read and from what is installed, and nothing else: the SHA-256 of
all of that is the name of its file. Nobody has to say when a document is out of date, and two who
write one write the same. Files are readable by the user alone, each behind a digest of its own, and
those used last are kept. Whatever is wrong with one, the review is computed.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

import excise
from excise_server.foundation.files import make_private, read_bytes
from excise_server.foundation.inputs import SourceError
from excise_server.processes.parsers import cache_folder
from excise_server.review.verdicts import Verdict
from excise_server.sources.candidates import Candidates
from excise_server.wire.documents import ReviewDocument

MOST_BYTES = 64_000_000
"""Most bytes of all documents that are kept: 64 MB."""

DAYS = 30
"""Days after which a document that nobody used is removed."""


def kept_document(
    top: str,
    candidates: Candidates,
    *,
    task: str,
    intent: str,
    verdicts: Sequence[Verdict],
) -> ReviewDocument:
    """Return the document of a review: the one that is kept, or else a new one, which is kept then.

    One in which a parser gave up on a text, or was kept from it, is not: the next may get further.

    The arguments and errors are those of `excise_server.candidates.worktrees.compare_candidates`.
    """
    path = _path(candidates, top, task, intent, verdicts)
    if path is not None and (known := _read(path)) is not None:
        return known
    # Only now: a second look needs none of it.
    from excise_server.candidates.worktrees import compare_candidates
    from excise_server.report.review import review_document

    unparsable = _unparsable()
    before = len(unparsable)
    document = review_document(
        compare_candidates(top, candidates, task=task, intent=intent, verdicts=verdicts)
    )
    if path is not None and len(unparsable) == before:
        with suppress(OSError, ValueError, OverflowError, msgspec.MsgspecError):
            _keep(path, document)
    return document


@cache
def _unparsable() -> list[tuple[Any, ...]]:
    """Return why parsers did not read texts, from the first call on: whoever swallows the error."""
    reasons = list[tuple[Any, ...]]()
    sys.addaudithook(
        lambda event, reason: reasons.append(reason) if event == "excise.unparsable" else None
    )
    return reasons


def _path(candidates: Candidates, *more: object) -> Path | None:
    """Return the file of what a document is made of, or None where there can be none.

    All fields of all records are encoded, and what cannot be is not left out, but an error.
    """
    folder = cache_folder()
    if folder is None or not _INSTALLED:
        return None
    name = sha256()
    try:
        # Each by itself: all bytes of all candidates may be many.
        for part in (_INSTALLED, more, replace(candidates, found=()), *candidates.found):
            name.update(msgspec.msgpack.encode(part))
    except (ValueError, OverflowError):  # a path that is not UTF-8
        return None
    return folder / "documents" / name.hexdigest()


def _installed() -> list[tuple[str, int, int]]:
    """Return what could compute another document: Python, our files and each package, by its time.

    That is nothing if our files are not on a disk, or are replaced right now.
    """
    found = list[tuple[str, int, int]]()
    paths = list[str]()
    packages = excise.__path__[0], str(Path(__file__).parents[1])
    for folder, inner, names in chain(*map(os.walk, packages)):
        inner[:] = [name for name in inner if name != "__pycache__"]
        paths += (os.path.join(folder, name) for name in names)
    if __file__ not in paths:
        return found
    for folder in sys.path:
        with suppress(OSError):
            names = [name for name in os.listdir(folder or os.curdir) if name.endswith("-info")]
            paths += (os.path.join(folder, name) for name in names)
    with suppress(OSError):
        stats = [(path, os.stat(path)) for path in sorted(paths)]
        found = [(path, status.st_size, status.st_mtime_ns) for path, status in stats]
        found.append((f"{sys.version} {sys.flags}", 0, 0))
    return found


_INSTALLED = _installed()
"""As it is when this process begins, and so what it runs, whatever is installed meanwhile."""


def _read(path: Path) -> ReviewDocument | None:
    """Return a document, and mark it as used; None if there is none, or it is not as it was kept.

    A file that another user could have written is not read.
    """
    try:
        if not _is_own(path.parent) or not _is_own(path):
            return None
        data = read_bytes(str(path), [str(path.parent)], limit=MOST_BYTES)
        body = data[32:]
        if sha256(path.name.encode() + body).digest() != data[:32]:
            return None
        document = msgspec.msgpack.decode(body, type=ReviewDocument)
    except (SourceError, OSError, msgspec.MsgspecError, ValueError, RecursionError):
        return None
    with suppress(OSError):  # of a folder that cannot be written
        os.utime(path)
    return document


def _is_own(path: Path) -> bool:
    """Whether it is a file or folder, and no link, that only the user can write."""
    status = path.lstat()
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        return False
    is_posix = hasattr(os, "geteuid")
    return not is_posix or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)


def _keep(path: Path, document: ReviewDocument) -> None:
    """Write a document, whole or not at all, and remove what is too old or too much."""
    body, folder = msgspec.msgpack.encode(document), path.parent
    if msgspec.msgpack.decode(body, type=ReviewDocument) != document:
        return
    data = sha256(path.name.encode() + body).digest() + body
    make_private(folder)
    if len(data) > MOST_BYTES or not _is_own(folder):
        return
    _make_room(folder, MOST_BYTES - len(data))
    descriptor, name = tempfile.mkstemp(dir=folder)  # readable by the user alone
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.replace(name, path)
    finally:
        with suppress(OSError):  # most often it is not there any more
            os.unlink(name)


def _make_room(folder: Path, room: int) -> None:
    """Remove what nobody used for long, and of the rest what was used first, until so much fits."""
    oldest = time.time() - DAYS * 86_400
    files = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):  # another process makes room, too
                files.append((entry.stat(follow_symlinks=False), entry.path))
    for status, path in sorted(files, key=lambda file: file[0].st_mtime, reverse=True):
        room -= status.st_size
        if room < 0 or status.st_mtime < oldest:
            with suppress(OSError):
                os.unlink(path)
