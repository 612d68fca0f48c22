"""The journal of ``excise take --write``: what each take was to do, how far it came, the way back.

A journal is a folder of takes, numbered in their order, and a lock that ends with its process. It
is ``excise/`` in the git dir of the working tree (of a linked worktree: its private one), where git
shows nothing and what removes or moves the tree takes it along. A plain folder, or a git dir that
may not be written, has it in the user's cache. It is the user's alone (0700, files 0600); a folder
of another user, or a link in its place, is refused.

The folder of a take has

``plan``
    what it does, with the bytes of all files before and after, and a SHA-256 of that. It gets this
    name when everything is prepared and on disk: before, no file of the tree was touched.
``done``, ``back``
    how it ended: all files are new, or all are old again. With neither, it was interrupted.
``0``, ``1`` ...
    its *asides*, one for each path: what will be, until that is exchanged for the file of the tree,
    and from then on what came out. An aside is moved, never copied, so it must be on the file
    system of its file. Where the folder of the take is not (a worktree whose git dir is elsewhere,
    a mount in the tree), asides are in ``.excise-TOKEN/`` in the topmost folder of the tree that is
    on that file system, with a ``.gitignore`` of ``*``: git shows nothing of such a folder, the
    ``.gitignore`` included, whatever else the user ignores. `foreign` names these before they are
    made.

Asides are kept with the take until the next one, and at least 30 days. Undoing needs only the plan.
They are kept for what is written late: an editor that opened a file before the exchange, and writes
into it afterwards, writes into its aside.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import msgspec

from excise_server.foundation.changes import LINK, Side
from excise_server.foundation.escape import visible
from excise_server.foundation.files import is_refused_by_git
from excise_server.foundation.inputs import MAX_BYTES, SourceError
from excise_server.review.git_patch import FileEdit

FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_VERSION = 2
_KEPT_SECONDS = 30 * 86400
_FOREIGN = re.compile(r"\.excise-[0-9a-f]{16}", re.ASCII)
_DIGEST = 32


class Kept(NamedTuple):
    """A file: its ``st_mode`` (of a link only that it is one) and its bytes, or a link's target.

    Whatever is neither, or cannot be read, has no bytes and a mode that no file of a plan has.
    """

    mode: int
    data: bytes


@dataclass(frozen=True, slots=True)
class PlannedEdit:
    """A file of a take, before and after (None: it does not exist), with the homes of its asides.

    ``homes`` are the indices in `Take.homes` of the aside at ``path`` and of that at ``old_path``.
    """

    path: str
    old_path: str
    before: Kept | None
    after: Kept | None
    homes: tuple[int, int] = (0, 0)

    @property
    def reversed(self) -> FileEdit:
        """The edit that undoes this one."""
        return FileEdit(self.old_path, self.path, _side(self.after), _side(self.before))


@dataclass(frozen=True, slots=True)
class PlannedTake:
    """What a take does: when it was planned, its edits, and the number of the take it undoes."""

    time: float
    edits: tuple[PlannedEdit, ...]
    undoes: int | None = None

    @property
    def when(self) -> str:
        """The time, for people."""
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.time))

    @property
    def utc(self) -> str:
        """The time, for programs."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.time))


def git_mode(mode: int) -> str:
    """Return the mode of a file or link as git writes it."""
    if stat.S_ISLNK(mode):
        return LINK
    return "100755" if mode & 0o100 else "100644"


def _side(kept: Kept | None) -> Side | None:
    return None if kept is None else Side(git_mode(kept.mode), kept.data)


def read_file(folder: int, name: str) -> tuple[os.stat_result, bytes]:
    """Return a file of a folder, or where a link leads. Nothing else is opened.

    Raises SourceError if it is neither, or over the limit.
    """
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        return status, os.fsencode(os.readlink(name, dir_fd=folder))
    data = b""
    if stat.S_ISREG(status.st_mode) and status.st_size <= MAX_BYTES:
        with open(os.open(name, READ, dir_fd=folder), "rb") as file:
            status, data = os.fstat(file.fileno()), file.read(MAX_BYTES + 1)
    if not stat.S_ISREG(status.st_mode):
        raise SourceError("something other than a file has this name")
    if max(status.st_size, len(data)) > MAX_BYTES:
        raise SourceError(f"it is over {MAX_BYTES // 1_000_000} MB")
    return status, data


def look(folder: int, name: str) -> Kept | None:
    """Return the file or link of a name in a folder, or None if there is none."""
    try:
        status, data = read_file(folder, name)
    except FileNotFoundError:
        return None
    except (OSError, SourceError):
        return Kept(-1, b"")
    return Kept(stat.S_IFLNK if stat.S_ISLNK(status.st_mode) else status.st_mode, data)


def sync(folder: int) -> None:
    """Have the names in a folder on disk, where the file system can."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise


class TakeJournal:
    """The takes of one working tree, locked. Close it to let others take.

    - ``path``: its folder.
    """

    def __init__(self, place: str, parts: Sequence[str], *, make: bool) -> None:
        """Open the folder below a place, or make it.

        Raises FileNotFoundError if there is none, and none is to be made. Raises SourceError if it
        is somebody else's, or another process has locked it.
        """
        self.path = os.path.join(place, *parts)
        descriptor = os.open(place, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            for part in parts:
                inner = _own_folder(descriptor, part, self.path, make=make)
                os.close(descriptor)
                descriptor = inner
            self._lock = _locked(descriptor, self.path)
        except BaseException:
            os.close(descriptor)
            raise
        self._folder = descriptor

    def close(self) -> None:
        """Unlock and close it."""
        os.close(self._lock)
        os.close(self._folder)

    def numbers(self) -> list[int]:
        """Return the numbers of the takes, in their order."""
        return sorted(
            int(name)
            for name in os.listdir(self._folder)
            if re.fullmatch("[0-9]{1,18}", name, re.ASCII)
        )

    @contextmanager
    def take(self, number: int) -> Iterator[Take]:
        """Open a take.

        Raises SourceError if it is somebody else's.
        """
        path = os.path.join(self.path, str(number))
        folder = _own_folder(self._folder, str(number), path, make=False)
        try:
            yield Take(number, path, folder)
        finally:
            os.close(folder)

    @contextmanager
    def new(self) -> Iterator[Take]:
        """Make the folder of the next take.

        Raises SourceError if the disk is full or the folder cannot be written.
        """
        number = max(self.numbers(), default=0) + 1
        try:
            os.mkdir(str(number), 0o700, dir_fd=self._folder)
            sync(self._folder)
        except OSError as error:
            reason = f"the journal {visible(self.path)} cannot be written: {error.strerror}"
            raise SourceError(f"{reason}; nothing was written") from error
        with self.take(number) as take:
            yield take

    def remove(self, take: Take) -> None:
        """Remove the folder of a take without asides, which is not to be used afterwards."""
        # The plan first: without its mark it would be that of an interrupted take.
        for name in sorted(os.listdir(take.folder), key=lambda name: name != "plan"):
            os.unlink(name, dir_fd=take.folder)
        os.rmdir(str(take.number), dir_fd=self._folder)


def _own_folder(outer: int, name: str, path: str, *, make: bool) -> int:
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=outer)
    try:
        folder = os.open(name, FOLDER, dir_fd=outer)
    except FileNotFoundError:
        raise
    except OSError as error:
        reason = f"the journal of takes, {visible(path)}, cannot be used: {error.strerror}"
        raise SourceError(reason, hint="if it is a link or a file, remove it") from error
    status = os.fstat(folder)
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        os.close(folder)
        whose = f"is of user {status.st_uid}" if status.st_uid != os.geteuid() else "is not private"
        raise SourceError(
            f"the journal of takes, {visible(path)}, {whose}",
            hint="undo as that user, or look at what is in it and remove it",
        )
    return folder


def _locked(folder: int, path: str) -> int:
    """Return the descriptor that holds the lock, which ends with it, and so with the process."""
    import fcntl  # POSIX only, as is writing

    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        lock = os.open("lock", flags, 0o600, dir_fd=folder)
    except OSError as error:
        raise SourceError(f"{visible(path)} cannot be locked: {error.strerror}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(lock, 0)
        os.pwrite(lock, b"%d\n" % os.getpid(), 0)
    except BlockingIOError as error:
        holder = re.match(rb"[0-9]{1,10}\n", os.pread(lock, 16, 0))
        os.close(lock)
        who = f"process {holder[0].decode().strip()}" if holder else "another process"
        reason = f"another excise take ({who}) is changing the files of this checkout"
        raise SourceError(reason, hint="try again when it has ended") from error
    except OSError as error:
        os.close(lock)
        raise SourceError(f"{visible(path)} cannot be locked: {error.strerror}") from error
    return lock


@dataclass(frozen=True, slots=True)
class Take:
    """The open folder of a take.

    - ``number``: its place among all takes of the tree.
    - ``path``, ``folder``: the folder, and its descriptor.
    """

    number: int
    path: str
    folder: int

    def has(self, name: str) -> bool:
        """Whether a file (``plan``, ``done``, ``back``) is there."""
        try:
            os.stat(name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def mark(self, name: str) -> None:
        """Make ``done`` or ``back``, so that it outlives the power."""
        os.close(os.open(name, MAKE, 0o600, dir_fd=self.folder))
        with suppress(OSError):  # it is there, so that the next command finds it
            sync(self.folder)

    @property
    def is_old(self) -> bool:
        """Whether it may be removed after another take."""
        return time.time() - os.fstat(self.folder).st_mtime > _KEPT_SECONDS

    def save_foreign(self, token: str, bases: Sequence[str]) -> None:
        """Write down in which folders of the tree this take is about to make homes of asides."""
        self._save("foreign", msgspec.json.encode([f".excise-{token}", *map(_to_text, bases)]))

    def foreign(self) -> tuple[str, list[str]]:
        """Return the name of homes outside of the journal, and the folders of the tree they are in.

        Raises SourceError if the list is damaged.
        """
        try:
            name, *bases = msgspec.json.decode(self._read("foreign"), type=list[str])
        except FileNotFoundError:
            return "", []
        except (msgspec.DecodeError, ValueError) as error:
            raise self.unreadable("its list of folders is damaged") from error
        if not _FOREIGN.fullmatch(name):
            raise self.unreadable("its list of folders does not name folders of this take")
        return name, [base and self._path(base) for base in bases]

    def save(self, plan: PlannedTake) -> None:
        """Write the plan. Until it is on disk, and has its name, it does not count."""
        edits = [
            replace(edit, path=_to_text(edit.path), old_path=_to_text(edit.old_path))
            for edit in plan.edits
        ]
        data = msgspec.msgpack.encode((_VERSION, replace(plan, edits=tuple(edits))))
        self._save("plan", data, hashlib.sha256(data).digest())

    def plan(self) -> PlannedTake:
        """Read the plan.

        Raises SourceError if it is damaged, of another version, or a path leads out of the tree.
        """
        try:
            data = self._read("plan")
        except OSError as error:
            raise self.unreadable(f"its plan cannot be read: {error.strerror}") from error
        homes = 1 + len(self.foreign()[1])
        try:
            version, raw = msgspec.msgpack.decode(data[:-_DIGEST], type=tuple[int, msgspec.Raw])
            if version != _VERSION:
                raise self.unreadable(f"its plan has version {version}, not {_VERSION}")
            plan = msgspec.msgpack.decode(raw, type=PlannedTake)
        except msgspec.DecodeError as error:
            raise self.unreadable("its plan is damaged") from error
        is_whole = hashlib.sha256(data[:-_DIGEST]).digest() == data[-_DIGEST:]
        if not is_whole or not all(0 <= home < homes for e in plan.edits for home in e.homes):
            raise self.unreadable("its plan is damaged")
        edits = [
            replace(edit, path=self._path(edit.path), old_path=self._path(edit.old_path))
            for edit in plan.edits
        ]
        return replace(plan, edits=tuple(edits))

    def unreadable(self, reason: str) -> SourceError:
        """Return the error for a take that nothing can be done with, and the way out."""
        return SourceError(
            f"the journal of take {self.number} cannot be used: {reason}",
            hint=f"compare your files (git diff) with what is in {visible(self.path)}, "
            "and remove that folder",
        )

    def _path(self, text: str) -> str:
        try:
            path = os.fsdecode(text.encode("latin-1"))
        except UnicodeEncodeError as error:
            raise self.unreadable("it contains an invalid path") from error
        if is_refused_by_git(path):
            raise self.unreadable("it names a path that leads out of the tree")
        return path

    def _save(self, name: str, *parts: bytes) -> None:
        with open(os.open(f"{name}.new", MAKE, 0o600, dir_fd=self.folder), "wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        os.rename(f"{name}.new", name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
        sync(self.folder)

    def _read(self, name: str) -> bytes:
        with open(os.open(name, READ, dir_fd=self.folder), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise self.unreadable(f"its {name} is not a file")
            return file.read()


def _to_text(path: str) -> str:
    """Return the bytes of a path, each as one character: the journal holds no others."""
    return os.fsencode(path).decode("latin-1")
