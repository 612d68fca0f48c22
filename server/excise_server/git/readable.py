"""A check that git can read a repository without waiting forever.

Git opens its files without a check. Opening a named pipe waits until somebody writes to it, so a
pipe in place of HEAD, the index or a ref would block every question. This module only refuses such
irregular files. Whether a repository may be used is decided in `repository`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress

from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import SourceError
from excise_server.foundation.paths import read_bytes

__all__ = ["check_readable", "is_git_dir"]

_NAMES = (
    "HEAD",
    "commondir",
    "config",
    "config.worktree",
    "gitdir",
    "index",
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "info/sparse-checkout",
    "logs/HEAD",
    "objects/info/alternates",
    "packed-refs",
    "shallow",
)
_MAX_REFS = 20_000
"""Most loose refs that are checked. A repository with more packs none, and is slow anyway."""


def check_readable(folder: str) -> None:
    """Refuse the repository of a folder if git would open something other than a regular file.

    Raises
    ------
    SourceError
        Naming the file.
    """
    if is_git_dir(folder):
        _check_git_dir(folder)
    top = _top(os.path.realpath(folder))
    if top is None:
        return
    for name in (".gitignore", ".gitattributes", ".gitmodules"):
        _check(os.path.join(top, name))
    git_dir = _repository(os.path.join(top, ".git"))
    common = git_dir
    with suppress(SourceError, OSError, ValueError):
        link = os.fsdecode(read_bytes(os.path.join(git_dir, "commondir"), [git_dir], limit=8192))
        common = os.path.join(git_dir, link.rstrip("\n"))
    for part in dict.fromkeys((git_dir, common)):
        _check_git_dir(part)


def _check_git_dir(folder: str) -> None:
    """Refuse the folder of a repository's own files like `check_readable`."""
    for name in _NAMES:
        _check(os.path.join(folder, *name.split("/")))
    for path in _files(os.path.join(folder, "refs")):
        _check(path)


def is_git_dir(folder: str) -> bool:
    """Whether git would take a folder for a repository itself, as a bare one is."""
    return os.path.lexists(os.path.join(folder, "HEAD")) and all(
        os.path.isdir(os.path.join(folder, name)) for name in ("objects", "refs")
    )


def _top(folder: str) -> str | None:
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def _repository(link: str) -> str:
    """Return the folder that ``.git`` is or names, or the path itself if it names none."""
    _check(link, folder=True)
    with suppress(SourceError, OSError, ValueError):
        data = read_bytes(link, [os.path.dirname(link)], limit=8192)
        named = os.fsdecode(data.removeprefix(b"gitdir: ").rstrip(b"\n"))
        return os.path.join(os.path.dirname(link), named)
    return link


def _files(folder: str) -> Iterator[str]:
    left, folders = _MAX_REFS, [folder]
    while folders and left > 0:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                left -= 1
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif not entry.is_file(follow_symlinks=False):
                    yield entry.path


def _check(path: str, *, folder: bool = False) -> None:
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return  # it does not exist, or git will report the error
    if not (stat.S_ISREG(mode) or (folder and stat.S_ISDIR(mode))):
        name = visible(os.path.basename(path))
        raise SourceError(f"the repository is not used: {name} in it is not a file")
