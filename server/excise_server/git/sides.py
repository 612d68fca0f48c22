"""The two sides of an unfinished merge, rebase or the like: their commits and refs."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from excise_server.foundation.inputs import SourceError
from excise_server.foundation.paths import read_bytes
from excise_server.git.refs import Ref, refs_at
from excise_server.git.repository import Repository

__all__ = ["Side", "sides_of"]

_INCOMING = ("MERGE_HEAD", "REBASE_HEAD", "CHERRY_PICK_HEAD")
_HEAD_NAMES = (("rebase-merge", "head-name"), ("rebase-apply", "head-name"))
_COMMIT = re.compile(rb"([0-9a-f]{40,64})\n?")
_BRANCH = "refs/heads/"


@dataclass(frozen=True, slots=True)
class Side:
    """One side.

    Attributes
    ----------
    commit
        Its commit, or empty if git does not tell, as for a stash.
    branch
        The branch at that commit, or the one that is rebased; may be empty.
    names
        The names of the refs at the commit, as in `Ref`.
    """

    commit: str = ""
    branch: str = ""
    names: tuple[str, ...] = ()


def sides_of(repository: Repository) -> tuple[Side, Side]:
    """Return our side and theirs.

    Raises
    ------
    SourceError
        If git fails.
    """
    ours, theirs = repository.head() or "", _incoming(repository)
    refs = refs_at(repository, [commit for commit in (ours, theirs) if commit])
    checked_out = _line(repository, "HEAD").removeprefix("ref: ")
    rebased = next((name for part in _HEAD_NAMES if (name := _line(repository, *part))), "")
    return _side(ours, refs, checked_out), _side(theirs, refs, rebased, is_named=True)


def _side(commit: str, refs: list[Ref], first: str, *, is_named: bool = False) -> Side:
    """Return a side, named by the first ref (``is_named``: also from elsewhere)."""
    if not commit:
        return Side()
    refs_there = sorted(
        (ref for ref in refs if ref.commit == commit), key=lambda ref: ref.full != first
    )
    branch = refs_there[0].short if refs_there else ""
    if is_named and first.startswith(_BRANCH):
        branch = first.removeprefix(_BRANCH)
    return Side(commit, branch, tuple(ref.name for ref in refs_there))


def _incoming(repository: Repository) -> str:
    """Return the commit that is brought in, or "" if there is none, or several."""
    for name in _INCOMING:
        if match := _COMMIT.fullmatch(_read(repository, name)):
            return match[1].decode()
    return ""


def _line(repository: Repository, *names: str) -> str:
    return os.fsdecode(_read(repository, *names)).removesuffix("\n")


def _read(repository: Repository, *names: str) -> bytes:
    try:
        git_dir = repository.git_dir
        return read_bytes(os.path.join(git_dir, *names), [git_dir], limit=8192)
    except SourceError:
        return b""
