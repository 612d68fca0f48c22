"""The paths that may be read, and reading of regular files up to a stated size.

Everything else is refused by name. A path is checked after links are followed, and then opened from
its root folder one component at a time, none of which may be a link. So a link that appears between
the check and the reading is refused as well. A hard link cannot be distinguished from a file, but a
checkout cannot make one.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable

from excise import languages
from excise.errors import BinaryTextError, UndecodableTextError
from excise.text import decode
from excise_server.foundation.inputs import (
    MAX_BYTES,
    RevisionSet,
    SourceError,
    check_text,
    too_large,
)

_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/\d+|/dev/stdin")
# Opening must never wait for the writer of a FIFO or affect a terminal. Windows lacks some flags.
FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
FLAGS |= getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
KINDS = {
    stat.S_IFDIR: ("it is a directory", "name a file in it"),
    stat.S_IFIFO: ("it is a named pipe", "copy its output into a file"),
    stat.S_IFSOCK: ("it is a socket", "name a regular file"),
    stat.S_IFBLK: ("it is a device", "name a regular file"),
    stat.S_IFCHR: ("it is a device", "name a regular file, an empty one for no text"),
    stat.S_IFLNK: ("it became a link while being opened", ""),
}
"""What is refused, and what may help."""


def make_private(folder: str | os.PathLike[str]) -> None:
    """Make a folder, and those above it that are missing, for the user alone.

    Raises OSError if it is not made and not there.
    """
    parent = os.path.dirname(folder)
    if parent and not os.path.isdir(parent):
        make_private(parent)  # `os.makedirs` gives these the permissions that the umask leaves
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise


def read_text(path: str, *, encoding: str | None = None, descriptors: bool = False) -> str:
    """Read one file as text: by ``encoding``, else by its byte order mark, else as UTF-8.

    Raises SourceError if it is not a readable text file. The error says what was tried, and what
    may help.

    - ``descriptors``: also read a pipe that the caller's shell opened for us (``<(git show
      HEAD:file)``).
    """
    try:
        return check_text(decode(_read_bytes(path, descriptors=descriptors), encoding))
    except SourceError as error:
        raise error.named(path) from error
    except BinaryTextError as error:
        hint = "" if encoding else "if it is UTF-16 without a byte order mark: --encoding utf-16-le"
        raise SourceError(str(error), name=path, hint=hint) from error
    except UndecodableTextError as error:
        hint = "name its encoding, for example --encoding latin-1"
        raise SourceError(str(error), name=path, hint=hint) from error
    except UnicodeError as error:  # codecs outside the usual ones (punycode, idna)
        raise SourceError(f"not {encoding}: {error}", name=path) from error


def read_revisions(
    origin: str, paths: tuple[str, ...], *, encoding: str | None = None
) -> RevisionSet:
    """Read an origin and its revisions. Unreadable revisions are rejected with the reason.

    Raises SourceError if the origin cannot be read.
    """
    origin_text = read_text(origin, encoding=encoding, descriptors=True)

    def read(place: int) -> str:
        return read_text(paths[place], encoding=encoding, descriptors=True)

    language = language_of(origin, origin_text, paths)
    return RevisionSet.of(origin, origin_text, list(paths), read, language, origin)


def language_of(origin: str, text: str, others: Iterable[str]) -> str | None:
    """Return the grammar that another file's name determines if the origin does not.

    An origin from a pipe or a ``.orig`` has no name that tells.
    """
    if languages.resolve(None, origin, text):
        return None
    return next((grammar for path in others if (grammar := languages.resolve(None, path))), None)


def _read_bytes(path: str, *, descriptors: bool) -> bytes:
    """Return at most the limit, after checking the kind of file before and after opening it."""
    pipe = descriptors and _DESCRIPTOR.fullmatch(path) is not None
    try:
        _check_kind(os.stat(path), pipe=pipe)
        with open(os.open(path, os.O_RDONLY if pipe else FLAGS), "rb") as file:
            status = os.fstat(file.fileno())
            _check_kind(status, pipe=pipe)
            if status.st_size > MAX_BYTES:
                raise too_large(status.st_size)
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise file_error(path, error) from error
    if len(data) > MAX_BYTES:
        raise SourceError("over the limit of 10 MB")
    return data


def _check_kind(status: os.stat_result, *, pipe: bool) -> None:
    kind = stat.S_IFMT(status.st_mode)
    if kind in KINDS and not (pipe and kind == stat.S_IFIFO):
        reason, hint = KINDS[kind]
        raise SourceError(reason, hint=hint)


def file_error(path: str, error: OSError | ValueError) -> SourceError:
    """Return the error for a path that the system refused."""
    match error:
        case FileNotFoundError():
            reason, hint = (
                "no such file",
                "check the path, which is relative to the current directory",
            )
            if os.path.islink(path):
                reason, hint = "a link to a file that does not exist", "restore its target"
            elif not path:
                reason, hint = "the path is empty", "name a file"
        case PermissionError():
            reason, hint = "permission denied", "make it readable for this user"
        case NotADirectoryError():
            reason, hint = "a part of the path is not a directory", "check the path"
        case OSError():
            reason = error.strerror or str(error)
            hint = "check the path"
        case _:
            reason, hint = "a path cannot contain a NUL character", "check the path"
    return SourceError(reason, hint=hint)


MAX_ENTRIES = 10_000
"""Most entries of a folder that are read."""

# Kernel interfaces: reading one may block, have effects, or reveal other processes.
_SYSTEM = ("/proc", "/sys", "/dev")
_SHARED_MEMORY = "/dev/shm"  # noqa: S108  a file system like another, though below /dev
_AT = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW") and hasattr(os, "O_DIRECTORY")
# Opening must neither follow a link, nor wait for a writer (FIFO), nor take over a terminal.
_FLAGS = FLAGS | getattr(os, "O_NOFOLLOW", 0)

# Code points that HFS+ ignores in names, and those that git takes for the end of a name.
_IGNORED_BY_HFS = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_MALFORMED = re.compile("[\ud800-\udfff\ufffe\uffff].*", re.DOTALL)
# NTFS drops dots and spaces from the end of a name, and a colon begins an alternate stream.
_NTFS_DOTGIT = re.compile(r"(?:\.git|git~1)[. ]*(?:[\\/:]|\Z)", re.IGNORECASE | re.ASCII)
_SHORT_NAMES = "|".join(f"{'gi7eba'[:kept]}~[1-9][0-9]{{{6 - kept}}}" for kept in range(7))
_NTFS_DOTGITMODULES = re.compile(
    rf"(?:\.gitmodules|gitmod~[1-4]|{_SHORT_NAMES})[. ]*(?::|\Z)", re.IGNORECASE | re.ASCII
)


def contained(path: str, folders: Iterable[str]) -> tuple[str, str]:
    """Return the folder that contains a path, and the path, both with links followed.

    Raises SourceError if the path leaves every folder, or is one of the system's.
    """
    try:
        real = os.path.realpath(path)
        roots = [os.path.realpath(folder) for folder in folders]
    except (OSError, ValueError) as error:
        raise file_error(path, error) from error
    is_system = any(_inside(system, real) for system in _SYSTEM)
    if is_system and not _inside(_SHARED_MEMORY, real):
        raise SourceError("a system path, not a file of the workspace")
    # The innermost folder: the fewest components that someone else could change meanwhile.
    holding = [root for root in roots if _inside(root, real)]
    if not holding:
        raise SourceError("outside the workspace folders")
    return max(holding, key=len), real


def inside(path: str, folders: Iterable[str]) -> bool:
    """Whether a path stays in one of the folders, links followed."""
    try:
        contained(path, folders)
    except SourceError:
        return False
    return True


def read_bytes(path: str, folders: Iterable[str], *, limit: int = MAX_BYTES) -> bytes:
    """Return the bytes of a regular file in one of the folders.

    Raises SourceError if it is outside, no regular file, over the limit, or not readable.
    """
    root, real = contained(path, folders)
    try:
        descriptor = _open_beneath(root, os.path.relpath(real, root))
        with open(descriptor, "rb") as file:
            size = os.fstat(descriptor).st_size
            if size > limit:
                raise too_large(size) if limit == MAX_BYTES else SourceError(f"{size} bytes")
            data = file.read(limit + 1)
    except (OSError, ValueError) as error:
        raise file_error(real, error) from error
    if len(data) > limit:
        raise SourceError("it grew over the limit while being read")
    return data


def list_folder(path: str, folders: Iterable[str]) -> list[str]:
    """Return the names in a folder inside one of the folders, sorted.

    Raises SourceError if it is outside, no folder, or has more than `MAX_ENTRIES` entries.
    """
    _, real = contained(path, folders)
    names: list[str] = []
    try:
        with os.scandir(real) as entries:
            for entry in entries:
                names.append(entry.name)
                if len(names) > MAX_ENTRIES:
                    raise SourceError(f"more than {MAX_ENTRIES:,} files in the folder")
    except OSError as error:
        raise file_error(real, error) from error
    return sorted(names)


def text_of(data: bytes) -> str:
    """Return bytes as a text that can be scored: by its byte order mark, else as UTF-8.

    Raises SourceError if it is over the limit, binary, or of another encoding.
    """
    try:
        return check_text(decode(data))
    except (BinaryTextError, UndecodableTextError) as error:
        raise SourceError(str(error)) from error


def is_refused_by_git(path: str, *, is_link: bool = False) -> bool:
    r"""Whether git refuses a path in a tree, with the names that HFS+ and NTFS take for ``.git``.

    The rule is git's ``verify_path`` with ``core.protectHFS`` and ``core.protectNTFS``, on every
    system, because a file below another spelling of ``.git`` may be a hook of somebody else. Names
    that only Windows cannot have (``aux``, ``a:b``) are not refused: git refuses them only there.
    ``\\.git`` is refused, although git overlooks a backslash at the beginning of a component.

    >>> paths = ("a/b", "../a", "/a", ".GIT/config", "a//b", ".g\u200cit/x", "git~1", ".git::$x")
    >>> [is_refused_by_git(path) for path in paths]
    [False, True, True, True, True, True, True, True]
    >>> is_refused_by_git(".gitmodules"), is_refused_by_git(".gitmodules", is_link=True)
    (False, True)
    """
    names = (".git", ".gitmodules") if is_link else (".git",)
    ntfs = (_NTFS_DOTGIT, _NTFS_DOTGITMODULES) if is_link else (_NTFS_DOTGIT,)
    if "\0" in path:
        return True
    start = 0
    for part in path.split("/"):
        hfs = _IGNORED_BY_HFS.sub("", _MALFORMED.sub("", part))
        if part in ("", ".", "..") or (hfs.isascii() and hfs.lower() in names):
            return True
        if part.isascii() and part.lower() in names:
            return True
        starts = [start, *(start + match.end() for match in re.finditer(r"\\", part))]
        if any(pattern.match(path, at) for pattern in ntfs for at in starts):
            return True
        start += len(part) + 1
    return False


def _inside(root: str, path: str) -> bool:
    try:
        return os.path.commonpath([os.path.normcase(root), os.path.normcase(path)]) == (
            os.path.normcase(root)
        )
    except ValueError:  # another drive
        return False


def _open_beneath(root: str, relative: str) -> int:
    """Open a regular file below a folder. No component of its path may be a link."""
    if not _AT:  # Windows
        path = os.path.join(root, relative)
        _check_regular(os.lstat(path))
        opened = _checked(os.open(path, _FLAGS))
        if os.path.realpath(path) != path or not os.path.samestat(os.fstat(opened), os.stat(path)):
            os.close(opened)
            raise SourceError("it changed while being opened")
        return opened
    *folders, name = relative.split(os.sep)
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder in folders:
            inner = os.open(folder, _FLAGS | os.O_DIRECTORY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        # Checked before it is opened, because opening alone can affect a device.
        _check_regular(os.stat(name, dir_fd=descriptor, follow_symlinks=False))
        return _checked(os.open(name, _FLAGS, dir_fd=descriptor))
    finally:
        os.close(descriptor)


def _checked(descriptor: int) -> int:
    try:
        _check_regular(os.fstat(descriptor))
    except SourceError:
        os.close(descriptor)
        raise
    return descriptor


def _check_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        reason, _ = KINDS.get(stat.S_IFMT(status.st_mode), ("it is not a regular file", ""))
        raise SourceError(reason)
