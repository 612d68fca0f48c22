"""Reading of regular text files up to a stated size. Everything else is refused by name."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable

from excise import languages
from excise.errors import BinaryTextError, UndecodableTextError
from excise.text import Revision, decode
from excise_server.foundation.inputs import (
    MAX_BYTES,
    Rejected,
    RevisionSet,
    SourceError,
    check_text,
    too_large,
    unique_ids,
)

__all__ = ["FLAGS", "KINDS", "file_error", "language_of", "read_revisions", "read_text"]

_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/\d+|/dev/stdin")
# Opening must never wait for the writer of a FIFO or affect a terminal. Windows lacks some flags.
FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
FLAGS |= getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
KINDS = {
    stat.S_IFDIR: ("it is a directory", "name a file in it"),
    stat.S_IFIFO: ("it is a named pipe", "copy what it delivers into a file"),
    stat.S_IFSOCK: ("it is a socket", "name a regular file"),
    stat.S_IFBLK: ("it is a device", "name a regular file"),
    stat.S_IFCHR: ("it is a device", "name a regular file, an empty one for no text"),
    stat.S_IFLNK: ("it became a link while it was opened", ""),
}
"""What is refused, and what may help."""


def read_text(path: str, *, encoding: str | None = None, descriptors: bool = False) -> str:
    """Read one file as text: by ``encoding``, else by its byte order mark, else as UTF-8.

    Parameters
    ----------
    path : str
        The path as the user typed it. Links are followed.
    encoding : str, optional
        A codec's name.
    descriptors : bool
        Also read a pipe that the caller's shell opened for us (``<(git show HEAD:file)``).

    Raises
    ------
    SourceError
        If it is not a readable text file. The error says what was tried, and what may help.
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

    Raises
    ------
    SourceError
        If the origin cannot be read.
    """
    origin_text = read_text(origin, encoding=encoding, descriptors=True)
    revisions, rejected, notes = [], [], []
    for path, name in zip(paths, unique_ids(list(paths)), strict=True):
        try:
            text = read_text(path, encoding=encoding, descriptors=True)
        except SourceError as error:
            rejected.append(Rejected(name, error.reason, error.hint))
            continue
        revisions.append(Revision(name, text))
        if name != path:
            notes.append((name, "given more than once"))
    return RevisionSet(
        name=origin,
        origin=origin_text,
        revisions=tuple(revisions),
        rejected=tuple(rejected),
        language=language_of(origin, origin_text, paths),
        path=origin,
        notes=tuple(notes),
    )


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
            reason, hint = "no such file", "check the path, it is taken from the current directory"
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
            reason, hint = "a path cannot hold a NUL character", "check the path"
    return SourceError(reason, hint=hint)
