"""The commit that is checked out in a submodule, read without running anything of it.

A submodule is another repository, with a config of its own, and everything in it may be hostile: no
git is started there. Its ``.git`` leads to its HEAD, and that to a commit. All of them must lie in
the working tree or in the repository that it belongs to, and nothing else is opened.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence

from excise_server.foundation.inputs import SourceError
from excise_server.foundation.paths import contained, read_bytes

__all__ = ["checked_out_commit"]

_COMMIT = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"refs(?:/(?![.])[^\0-\x20\x7f~^:?*\[\\/]+)+")
_MOST = 4096
"""The most bytes of a file that holds one line."""
_MOST_LINKS = 5
"""How many refs may name another one, as in git."""


def checked_out_commit(folder: str, roots: Sequence[str]) -> str:
    """Return the commit at the HEAD of a submodule, or nothing if it is not checked out.

    Parameters
    ----------
    folder
        The folder of the submodule.
    roots
        The folders in which its repository may be.

    Raises
    ------
    SourceError
        If its repository is elsewhere, or its HEAD cannot be read.
    """
    link = os.path.join(folder, ".git")
    try:
        mode = os.lstat(link).st_mode
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise SourceError(
            f"its .git cannot be read: {getattr(error, 'strerror', error)}"
        ) from error
    if stat.S_ISLNK(mode):
        raise SourceError("its .git is a link")
    if not stat.S_ISDIR(mode):
        line = _line(link, [folder])
        if not line.startswith(b"gitdir: "):
            raise SourceError("its .git does not name a repository")
        link = os.path.join(folder, os.fsdecode(line.removeprefix(b"gitdir: ")))
    try:
        _, git_dir = contained(link, roots)
    except SourceError as error:
        raise SourceError("its .git leads out of the repository") from error
    if os.path.lexists(os.path.join(git_dir, "commondir")):
        raise SourceError("its repository is a worktree of another one")
    return _commit(git_dir)


def _commit(git_dir: str) -> str:
    name = "HEAD"
    for _ in range(_MOST_LINKS):
        path = os.path.join(git_dir, *name.split("/"))
        value = _line(path, [git_dir]) if os.path.lexists(path) else _packed(git_dir, name)
        if _COMMIT.fullmatch(value):
            return value.decode()
        name = os.fsdecode(value.removeprefix(b"ref:").strip())
        if not value.startswith(b"ref:") or not _REF.fullmatch(name):
            break
    raise SourceError("its HEAD leads to no commit")


def _line(path: str, roots: Sequence[str]) -> bytes:
    """Return a file that is one short line."""
    return read_bytes(path, roots, limit=_MOST).rstrip(b"\r\n ")


def _packed(git_dir: str, name: str) -> bytes:
    """Return what the file of packed refs has for one, or nothing."""
    path = os.path.join(git_dir, "packed-refs")
    if not os.path.lexists(path):
        return b""
    wanted = b" " + os.fsencode(name)
    for line in read_bytes(path, [git_dir]).split(b"\n"):
        if line.endswith(wanted) and line[: -len(wanted)].isalnum():
            return line[: -len(wanted)]
    return b""
