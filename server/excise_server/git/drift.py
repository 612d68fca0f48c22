"""Changes of the target, since a candidate's base, to the files that the candidate changed."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from excise_server.foundation.changes import Side
from excise_server.foundation.inputs import SourceError
from excise_server.git.history import asked_once, commit_named
from excise_server.git.repository import Repository
from excise_server.git.trees import (
    OPTIONS,
    Entry,
    Tree,
    commit_trees,
    read_sides,
    trees_between,
)

__all__ = ["Drift", "drifts_of", "moves_of", "renames_between"]

_RENAME = re.compile(rb":\d{6} (\d{6}) [0-9a-f]+ ([0-9a-f]+) R\d+\0([^\0]+)\0([^\0]+)\0")
_OTHER = re.compile(rb":[^\0]+\0[^\0]+\0")
_SIMILARITY = "50%"
"""Share of equal content from which a file that the target moved is followed."""
_FEW = 20
"""The most files that git is asked for by name, which is faster in a large repository."""
_MAX_GONE, _MAX_TOUCHING, _MAX_REMOVALS = 1_000, 20_000, 30
"""Files that the target no longer has whose new names git is asked for, the newest commits that are
searched for their end, and how many of those that removed some git compares with the target."""


@dataclass(frozen=True, slots=True)
class Drift:
    """The target's side of files that it changed since a base.

    Attributes
    ----------
    now
        The target's files, by their path in the base; None if the target deleted one.
    moved
        The new path of files that the target renamed.
    unread
        Files of the target that cannot be read, and why.
    """

    now: dict[str, Side | None]
    moved: dict[str, str]
    unread: dict[str, str] = field(default_factory=dict)


def drifts_of(
    repository: Repository, target: str, wanted: Mapping[str, Collection[str]]
) -> dict[str, Drift | SourceError]:
    """Read the target's changes since each base, or why git cannot tell them.

    Parameters
    ----------
    wanted
        The paths that count, by base.
    """
    every = sorted({path for paths in wanted.values() for path in paths})
    only = every if len(every) <= _FEW else ()
    between = trees_between(repository, [(base, target) for base in wanted], only)
    trees: dict[str, Tree] = {}
    moved: dict[str, dict[str, str]] = {}
    drifts: dict[str, Drift | SourceError] = {}
    for base, paths in wanted.items():
        unrestricted = between[base, target]
        try:
            if isinstance(unrestricted, SourceError):
                raise unrestricted
            tree = Tree(
                {path: unrestricted.old[path] for path in paths if path in unrestricted.old},
                {path: unrestricted.new[path] for path in paths if path in unrestricted.new},
            )
            # What the target renamed is found under its old path, too.
            moved[base] = {}
            if deleted := tree.old.keys() - tree.new.keys():
                for old, new, mode, blob in renames_between(repository, base, target):
                    if old in deleted:
                        moved[base][old] = new
                        tree.new[old] = Entry(mode, blob)
            trees[base] = tree
        except SourceError as error:
            drifts[base] = error
    all_sides = read_sides(repository, list(trees.values()))
    for (base, tree), sides in zip(trees.items(), all_sides, strict=True):
        changed = (tree.old.keys() | tree.new.keys()) - sides.refused.keys()
        now = {path: sides.new.get(path) for path in changed}
        drifts[base] = Drift(now, moved[base], sides.refused)
    return drifts


def moves_of(repository: Repository, target: str, gone: Collection[str]) -> dict[str, str]:
    """Return the new names of files that the target no longer has, where it renamed them.

    Where no commit is known that had them, git is asked what became of each since the last one.

    Raises
    ------
    SourceError
        If git fails.
    """
    moves: dict[str, str] = {}
    if gone:
        last = _last_with(repository, target, sorted(gone)[:_MAX_GONE])
        for drift in drifts_of(repository, target, last).values():
            if isinstance(drift, Drift):
                moves |= drift.moved
    return moves


def _last_with(repository: Repository, origin: str, paths: Sequence[str]) -> dict[str, list[str]]:
    """Return, by commit, the files that no later commit has."""
    touching = repository.git.run("rev-list", "--end-of-options", origin, "--", *paths)
    commits = touching.decode("ascii", "replace").split()[:_MAX_TOUCHING]
    last: dict[str, list[str]] = {}
    remaining = set(paths)
    for commit, tree in commit_trees(repository, commits, paths).items():
        removed = (tree.old.keys() - tree.new.keys()) & remaining
        if removed and len(last) < _MAX_REMOVALS:
            with suppress(SourceError):  # a shallow clone may lack the parent
                last[commit_named(repository, f"{commit}^", "--repo")] = sorted(removed)
        remaining -= removed
    return last


@asked_once
def renames_between(
    repository: Repository, base: str, target: str
) -> tuple[tuple[str, str, str, str], ...]:
    """Return old path, new path, mode and blob of the files that the target renamed."""
    options = [option for option in OPTIONS if option != "--no-renames"]
    out = repository.git.run("diff-tree", "-r", *options, f"-M{_SIMILARITY}", base, target)
    renames = []
    position = 0
    while position < len(out):
        if match := _RENAME.match(out, position):
            mode, blob = match[1].decode(), match[2].decode()
            renames.append((os.fsdecode(match[3]), os.fsdecode(match[4]), mode, blob))
        elif (match := _OTHER.match(out, position)) is None:
            raise SourceError("git diff-tree gave an answer that is not understood")
        position = match.end()
    return tuple(renames)
