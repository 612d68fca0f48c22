"""Plain folders as candidates, without git, compared with the folder that all of them began as.

No link is followed: it is compared by its target's name, as in git.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from excise_server.foundation.changes import LINK, Side
from excise_server.foundation.escape import visible
from excise_server.foundation.files import read_bytes
from excise_server.foundation.inputs import (
    MAX_BYTES,
    Rejected,
    SourceError,
    first_few,
    too_large,
    unique_ids,
)
from excise_server.git.conversions import without_conversions
from excise_server.git.trees import MAX_FILES, Sides, check_edited
from excise_server.review.candidate import Candidate, digest_of, marked_identical
from excise_server.review.names import Traces, labels
from excise_server.sources.candidates import Candidates
from excise_server.sources.reading import WRITTEN_SECONDS

MAX_ENTRIES = 100_000
"""Most files of one folder."""

_MAX_TOTAL = 100_000_000
_OWN = ".git"
# The folder of what a take sets aside, where its journal is on another file system.
_ASIDES = re.compile(r"\.excise-[0-9a-f]{16}", re.ASCII)


@dataclass(frozen=True, slots=True)
class _File:
    """A file of a folder before it is read: its mode as git writes it, its size and time."""

    mode: str
    size: int
    time: float
    refused: str = ""


@dataclass(slots=True)
class _Folder:
    """The files of a folder by path, with ``/``, and the SHA-256 of those that were compared."""

    top: str
    files: dict[str, _File]
    hashes: dict[str, bytes] = field(default_factory=dict)

    def side(self, path: str) -> Side:
        """Read a file.

        Raises SourceError if it cannot be read.
        """
        file = self.files[path]
        if file.refused:
            raise SourceError(file.refused)
        full = os.path.join(self.top, path)
        try:
            link = os.fsencode(os.readlink(full)) if file.mode == LINK else None
        except OSError as error:
            raise SourceError(error.strerror or "it cannot be read") from error
        return Side(file.mode, read_bytes(full, [self.top]) if link is None else link)

    def hash(self, path: str) -> bytes:
        """Return the SHA-256 of a file, which is read once."""
        if path not in self.hashes:
            self.hashes[path] = hashlib.sha256(self.side(path).data).digest()
        return self.hashes[path]

    def digest(self) -> str:
        """Return the SHA-256 of all files, in hexadecimal digits."""
        hashed = hashlib.sha256()
        for path, file in sorted(self.files.items()):
            try:
                content = self.hash(path)
            except SourceError:
                content = b"%d" % file.size
            name = os.fsencode(path)
            hashed.update(b"%d:%b%b%b" % (len(name), name, file.mode.encode(), content))
        return hashed.hexdigest()


def find_folders(origin: str, folders: Sequence[str], *, only: Sequence[str] = ()) -> Candidates:
    """Return what each folder changed of the origin folder.

    Folders inside others do not count as part of them, and neither does git's own ``.git``, nor
    what a take has set aside.

    Raises SourceError if the origin cannot be read.
    """
    tops = [os.path.realpath(folder) for folder in folders]
    names = {top: os.path.basename(top) for top in tops}
    chosen = [
        top
        for top, name in names.items()
        if not only or any(fnmatchcase(name, glob) for glob in only)
    ]
    apart = {os.path.realpath(origin), *tops}
    origin_folder = _Folder(os.path.realpath(origin), _files(os.path.realpath(origin), apart))
    ids = unique_ids([f"folder:{visible(os.path.basename(top))}" for top in chosen])
    rejected: list[Rejected] = []
    changed, unchanged, notes = [], [], []
    for name, top in zip(ids, chosen, strict=True):
        try:
            folder = _Folder(top, _files(top, apart))
            candidate = _candidate(name, origin_folder, folder)
        except SourceError as error:
            rejected.append(Rejected(name, error.reason, error.hint))
            continue
        if candidate.old or candidate.new:
            changed.append(candidate)
        else:
            unchanged.append(name)
            notes += [f"{name}: {note}" for note in candidate.notes]
    shown = labels([Traces(folder=candidate.folder) for candidate in changed], shown=visible)
    named = [replace(c, label=label) for c, label in zip(changed, shown, strict=True)]
    return Candidates(
        origin_folder.digest(), marked_identical(named), tuple(unchanged), (), tuple(rejected),
        tuple(notes),
    )  # fmt: skip


def _files(top: str, apart: Collection[str]) -> dict[str, _File]:
    """Return the files of a folder, without those of other candidates inside it.

    Raises SourceError if it is not a folder, cannot be listed, or holds too many files.
    """
    if not os.path.isdir(top):
        raise SourceError("not a folder" if os.path.exists(top) else "no such folder", name=top)
    files: dict[str, _File] = {}
    pending = [top]
    while pending:
        folder = pending.pop()
        for entry in _entries(folder):
            path = os.path.relpath(entry.path, top).replace(os.sep, "/")
            if entry.name == _OWN or _ASIDES.fullmatch(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                if os.path.realpath(entry.path) not in apart:
                    pending.append(entry.path)
                continue
            status = entry.stat(follow_symlinks=False)
            size, changed = status.st_size, status.st_mtime
            if stat.S_ISLNK(status.st_mode):
                files[path] = _File(LINK, size, changed)
            elif not stat.S_ISREG(status.st_mode):
                files[path] = _File("", size, changed, "not a regular file")
            else:
                mode = "100755" if status.st_mode & 0o100 else "100644"
                refused = too_large(size).reason if size > MAX_BYTES else ""
                files[path] = _File(mode, size, changed, refused)
            if len(files) > MAX_ENTRIES:
                raise SourceError(f"over {MAX_ENTRIES:,} files in it", name=visible(top))
    return files


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError as error:
        reason = f"{visible(folder)}: {error.strerror}"
        raise SourceError(f"cannot list {reason}") from error


def _candidate(name: str, origin: _Folder, folder: _Folder) -> Candidate:
    sides, total = Sides({}, {}, {}), 0
    for path in sorted(origin.files.keys() | folder.files.keys()):
        before, after = origin.files.get(path), folder.files.get(path)
        try:
            if (
                before is not None
                and after is not None
                and (before.mode, before.size) == (after.mode, after.size)
                and origin.hash(path) == folder.hash(path)
            ):
                continue
            old = None if before is None else origin.side(path)
            new = None if after is None else folder.side(path)
        except SourceError as error:
            sides.refused[path] = error.reason
            continue
        total += len(new.data) if new else 0
        if total > _MAX_TOTAL:
            sides.refused[path] = f"limit {_MAX_TOTAL // 1_000_000} MB in all"
            continue
        if old is not None:
            sides.old[path] = old
        if new is not None:
            sides.new[path] = new
        if len(sides.old.keys() | sides.new.keys()) > MAX_FILES:
            raise SourceError(f"over {MAX_FILES:,} files differ from the origin")
    check_edited(sides)
    converted, _, notes = without_conversions(sides)
    if sides.refused and not (converted.old or converted.new):
        raise SourceError(f"nothing of it can be compared: {first_few(sides.notes)}")
    times = [folder.files[path].time for path in converted.new]
    return Candidate(
        name, folder.top, "", "", (name,),
        old=converted.old,
        new=converted.new,
        digest=digest_of(converted.old, converted.new),
        is_written=bool(times) and abs(time.time() - max(times)) < WRITTEN_SECONDS,
        notes=(*notes, *sides.notes),
    )  # fmt: skip
