"""The time and commit at which a worktree or branch was made: the first line of its reflog."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from excise_server.foundation.inputs import SourceError
from excise_server.foundation.paths import read_bytes
from excise_server.git.repository import Repository, own_folder

__all__ = ["Made", "branch_made", "worktree_made"]

_FIRST_LINE = re.compile(
    rb"(0{40,64}) (?P<commit>[0-9a-f]{40,64}) [^\n]*> (?P<time>\d{1,12}) [+-]\d{4}(?=[\t\n]|\Z)"
)
_LIMIT = 10_000_000


@dataclass(frozen=True, slots=True)
class Made:
    """The commit that something was made at, and when, in seconds since the epoch."""

    commit: str
    time: int


def worktree_made(repository: Repository, folder: str) -> Made | None:
    """Return where and when a linked worktree was made, or None if its reflog does not say."""
    try:
        git_dir = own_folder(folder)
    except SourceError:
        return None
    if os.path.dirname(git_dir) != os.path.join(repository.common, "worktrees"):
        return None  # the main checkout, whose reflog begins with the clone
    return _first_entry(os.path.join(git_dir, "logs", "HEAD"), git_dir)


def branch_made(repository: Repository, branch: str) -> Made | None:
    """Return where and when a local branch was made, or None if its reflog does not say."""
    path = os.path.join(repository.common, "logs", "refs", "heads", *branch.split("/"))
    return _first_entry(path, repository.common)


def _first_entry(path: str, root: str) -> Made | None:
    """Return the first entry of a reflog, or None if it expired or does not exist."""
    try:
        first = _FIRST_LINE.match(read_bytes(path, [root], limit=_LIMIT))
    except SourceError:
        return None
    return Made(first["commit"].decode(), int(first["time"])) if first else None
