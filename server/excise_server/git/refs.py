"""Refs by pattern: branches, fetched requests; and the refs of the two sides of a merge."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import Rejected, SourceError
from excise_server.foundation.paths import read_bytes
from excise_server.git.repository import Repository

__all__ = ["Ref", "Side", "find_refs", "sides_of"]

_REQUEST = re.compile(r"refs/(pull|merge-requests)/([^/]+)/head")
_TRIAL_MERGE = re.compile(r"refs/(pull|merge-requests)/[^/]+/merge")
_SHORT = {"#": "refs/pull/{}/head", "!": "refs/merge-requests/{}/head"}
_KINDS = {"refs/heads/": "branch", "refs/remotes/": "remote"}


_INCOMING = ("MERGE_HEAD", "REBASE_HEAD", "CHERRY_PICK_HEAD")
_HEAD_NAMES = (("rebase-merge", "head-name"), ("rebase-apply", "head-name"))
_COMMIT = re.compile(rb"([0-9a-f]{40,64})\n?")
_BRANCH = "refs/heads/"


@dataclass(frozen=True, slots=True)
class Ref:
    """A ref and its commit.

    Attributes
    ----------
    full
        ``refs/remotes/origin/topic``.
    name
        Under which a candidate is known: ``branch:topic``, ``remote:origin/topic``, ``ref:pull/12``
        (the head of a pull request), ``ref:refs/x/y``.
    commit
        The commit that it names.
    time
        When that was committed, in seconds since the epoch.
    """

    full: str
    name: str
    commit: str
    time: int

    @property
    def scheme(self) -> str:
        """The kind of its name: ``branch``, ``remote`` or ``ref``."""
        return self.name.partition(":")[0]

    @property
    def short(self) -> str:
        """The ref as git abbreviates it, or its full name if it is not a branch."""
        return self.full.split("/", 2)[2] if self.scheme in ("branch", "remote") else self.full

    @property
    def given(self) -> str:
        """The way people write a request: ``#7521``, ``!12``, or empty."""
        request = _REQUEST.fullmatch(self.full)
        return f"{'#' if request[1] == 'pull' else '!'}{visible(request[2])}" if request else ""


def find_refs(repository: Repository, patterns: Sequence[str]) -> tuple[list[Ref], list[Rejected]]:
    """Return the refs that match any of the patterns, the newest commit first.

    Parameters
    ----------
    patterns
        Of branches (``agent/*``) and remote branches (``origin/pr-*``), of requests (``pull/75*``,
        ``#7521``, ``merge-requests/12``, ``!12``), or of full names (``refs/x/*``). The merges that
        a host makes of requests to try them out are taken by their full names alone.

    Raises
    ------
    SourceError
        If a pattern cannot be one.
    """
    named = [pattern for pattern in patterns if pattern and "\0" not in pattern]
    if not named:  # without any, git would list every ref
        raise SourceError("a pattern of branches is empty or holds a NUL character")
    refs, rejected = [], []
    for ref, kind in _listed(repository, *(f for p in named for f in _full_patterns(p))):
        if _TRIAL_MERGE.fullmatch(ref.full) and not _is_named(ref.full, named):
            continue
        if kind == "commit":
            refs.append(ref)
        else:
            rejected.append(Rejected(ref.name, f"it is a {kind}, not a commit"))
    return refs, rejected


def _refs_at(repository: Repository, commits: Sequence[str]) -> list[Ref]:
    """Return the branches, local ones first, that are at any of the commits."""
    if not commits:
        return []
    options = [f"--points-at={commit}" for commit in commits]
    return [ref for ref, kind in _listed(repository, *_KINDS, options=options) if kind == "commit"]


def _listed(
    repository: Repository, *patterns: str, options: Sequence[str] = ("--sort=-committerdate",)
) -> Iterator[tuple[Ref, str]]:
    """Yield the refs of patterns and the kinds of their objects, without links."""
    out = repository.git.run(
        "for-each-ref",
        "--format=%(objectname) %(objecttype) %(committerdate:unix) "
        "%(if)%(symref)%(then)link%(else)own%(end) %(refname)",
        *options,
        "--end-of-options",
        *patterns,
    )
    for line in os.fsdecode(out).split("\n")[:-1]:
        commit, kind, time, link, full = line.split(" ", 4)
        if link == "own":
            yield Ref(full, _name(full), commit, int(time or 0)), kind


def _full_patterns(pattern: str) -> Iterator[str]:
    if pattern.startswith("refs/"):
        yield pattern
    elif pattern[0] in _SHORT:
        yield _SHORT[pattern[0]].format(pattern[1:])
        yield f"refs/heads/{pattern}"
    else:
        yield from (f"{start}{pattern}" for start in _KINDS)
        if pattern.startswith(("pull/", "merge-requests/")):
            yield f"refs/{pattern.removesuffix('/head')}/head"


def _is_named(full: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(full, pattern) for pattern in patterns if pattern.endswith("/merge"))


def _name(full: str) -> str:
    for start, scheme in _KINDS.items():
        if full.startswith(start):
            return f"{scheme}:{visible(full.removeprefix(start))}"
    request = _REQUEST.fullmatch(full)
    return f"ref:{visible(f'{request[1]}/{request[2]}' if request else full)}"


# --- the two sides of an unfinished merge, rebase or the like ------------------------------------


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
    """Return our side and theirs; the other's commit is empty if there is none, or several."""
    incoming = (_COMMIT.fullmatch(_read(repository, name)) for name in _INCOMING)
    ours = repository.head() or ""
    theirs = next((match[1].decode() for match in incoming if match), "")
    refs = _refs_at(repository, [commit for commit in (ours, theirs) if commit])
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


def _line(repository: Repository, *names: str) -> str:
    return os.fsdecode(_read(repository, *names)).removesuffix("\n")


def _read(repository: Repository, *names: str) -> bytes:
    try:
        git_dir = repository.git_dir
        return read_bytes(os.path.join(git_dir, *names), [git_dir], limit=8192)
    except SourceError:
        return b""
