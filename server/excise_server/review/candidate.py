"""A candidate: one proposal, under all of its names, as a change of the target. Pure."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from excise_server.foundation.changes import Side

__all__ = [
    "SCHEMES",
    "Candidate",
    "candidates_called",
    "digest_of",
    "in_order",
    "marked_identical",
]

SCHEMES = (
    "client", "worktree", "branch", "remote", "ref", "patch", "run", "folder", "file", "conflict",
)  # fmt: skip
"""Kinds of names, the one that a candidate is known by first."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One proposal, and what it makes of the target.

    Attributes
    ----------
    id : str
        The first of its names, made unique.
    names : tuple of str
        Every name of the same thing: a worktree, its branch, that branch at a remote, the pull
        request made of it.
    label, tool : str
        What people call it among the others, and the tool that made it (empty: not known).
    task : str
        The part of its name that its tool gives to all candidates of one task, or empty.
    folder : str
        Where it lies; empty for what is in the repository alone.
    branch : str
        Its branch, or its remote ref where there is no local one; empty: neither.
    commit : str
        Its HEAD, or the commit of its ref.
    given : str
        What its source calls it where that is neither folder nor branch: ``#7521``.
    base, behind
        The commit that it started from, and how many commits the target is ahead of that.
    made : int, optional
        When it was made, in seconds since the epoch: by its reflog, else by its first own commit;
        None where neither says.
    old, new : dict of str to Side
        By path what it replaces in the target, and what with: its edits, replayed.
    digest : str
        The SHA-256 of its own changes, of what they replace and what they make of it; the target
        is not part of it.
    identical : tuple of str
        The ids of the others that make exactly this of the target.
    is_written : bool
        Whether its files changed in the last seconds, so that it may not be finished.
    uncommitted : int
        How many files are not as in its HEAD.
    is_given : bool
        Whether a client gave it: its id is what that client calls it.
    conflicts : dict of str to str
        Per path what the target changed there, too.
    disputed : dict of str to tuple
        Of these paths, where it is known, the lines (from, to) of the target.
    """

    id: str
    folder: str
    branch: str
    commit: str
    names: tuple[str, ...] = ()
    given: str = ""
    label: str = ""
    tool: str = ""
    task: str = ""
    base: str = ""
    behind: int = 0
    made: int | None = None
    old: dict[str, Side] = field(default_factory=dict)
    new: dict[str, Side] = field(default_factory=dict)
    digest: str = ""
    identical: tuple[str, ...] = ()
    is_written: bool = False
    uncommitted: int = 0
    is_given: bool = False
    conflicts: dict[str, str] = field(default_factory=dict)
    disputed: dict[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of its first name, one of `SCHEMES`."""
        return SCHEMES[0] if self.is_given else self.id.partition(":")[0]

    @property
    def place(self) -> str:
        """Its branch, ``detached`` for a worktree on none, the title of a patch, or empty."""
        if self.kind in ("patch", "run"):
            return self.branch or self.given
        return self.branch or ("detached" if self.kind == "worktree" else "")


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of one thing, each once, in the order of `SCHEMES`, then as given.

    >>> in_order(["remote:origin/a", "branch:a", "worktree:x", "branch:a"])
    ('worktree:x', 'branch:a', 'remote:origin/a')
    """
    return tuple(sorted(dict.fromkeys(names), key=lambda n: SCHEMES.index(n.partition(":")[0])))


def candidates_called(name: str, candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the candidates of a name: that with this id or label, else all that go by it.

    Names are also the branch, the folder, what the source calls it, other names of the same thing,
    and of each what follows the colon.
    """
    every = list(candidates) if name else []
    meant = [candidate for candidate in every if name == candidate.id]
    meant = meant or [candidate for candidate in every if name == candidate.label]
    return meant or [candidate for candidate in every if name in _names(candidate)]


def _names(candidate: Candidate) -> set[str]:
    ends = (name.partition(":")[2] for name in (candidate.id, *candidate.names))
    own = candidate.branch, candidate.folder, candidate.given
    return {*own, *candidate.names, *ends} - {""}


def digest_of(old: Mapping[str, Side], new: Mapping[str, Side]) -> str:
    """Return the SHA-256 of changes, in hexadecimal digits."""
    hashed = hashlib.sha256()
    for path in sorted(old.keys() | new.keys()):
        name = path.encode("utf-8", "surrogateescape")
        hashed.update(b"%d:%b" % (len(name), name))
        for side in (old.get(path), new.get(path)):
            hashed.update(b"%b %b," % (side.mode.encode(), _content(side)) if side else b"-,")
    return hashed.hexdigest()


def _content(side: Side) -> bytes:
    return hashlib.sha256(side.data).digest()


def marked_identical(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates, each with the ids of those that make the same of the target."""
    by_result = defaultdict[object, list[str]](list)
    results = [_result(candidate) for candidate in candidates]
    for candidate, result in zip(candidates, results, strict=True):
        by_result[result].append(candidate.id)
    return tuple(
        replace(candidate, identical=tuple(i for i in by_result[result] if i != candidate.id))
        for candidate, result in zip(candidates, results, strict=True)
    )


def _result(candidate: Candidate) -> object:
    """Return a candidate's version of the target's files, with line ends not counting as text."""
    made = []
    for path, side in sorted(candidate.new.items()):
        text = side.text
        made.append((path, side.mode, side.data if text is None else text.encode()))
    return tuple(made), frozenset(candidate.old.keys() - candidate.new.keys())
