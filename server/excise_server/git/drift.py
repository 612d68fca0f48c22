"""Changes of the target, since a candidate's base, to the files that the candidate changed."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from excise_server.foundation.changes import Side
from excise_server.foundation.inputs import SourceError
from excise_server.git.ancestry import asked_once
from excise_server.git.repository import Repository
from excise_server.git.trees import OPTIONS, Entry, Tree, read_sides, trees_between

__all__ = ["Drift", "drifts_of", "renames_between"]

_RENAME = re.compile(rb":\d{6} (\d{6}) [0-9a-f]+ ([0-9a-f]+) R\d+\0([^\0]+)\0([^\0]+)\0")
_OTHER = re.compile(rb":[^\0]+\0[^\0]+\0")
_SIMILARITY = "50%"
"""Share of equal content from which a file that the target moved is followed."""


@dataclass(frozen=True, slots=True)
class Drift:
    """The target's side of files that it changed since a base.

    Attributes
    ----------
    now
        By path of the base; None where the target deleted the file.
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
    """Read what the target has in place of what it had at each base, or why git cannot tell.

    Parameters
    ----------
    wanted
        By base the paths that count.
    """
    between = trees_between(repository, [(base, target) for base in wanted])
    trees: dict[str, Tree] = {}
    moved: dict[str, dict[str, str]] = {}
    drifts: dict[str, Drift | SourceError] = {}
    for base, paths in wanted.items():
        whole = between[base, target]
        try:
            if isinstance(whole, SourceError):
                raise whole
            trees[base] = tree = _restricted(whole, paths)
            moved[base] = _followed(repository, base, target, tree)
        except SourceError as error:
            drifts[base] = error
            trees.pop(base, None)
    all_sides = read_sides(repository, list(trees.values()))
    for (base, tree), sides in zip(trees.items(), all_sides, strict=True):
        changed = (tree.old.keys() | tree.new.keys()) - sides.refused.keys()
        now = {path: sides.new.get(path) for path in changed}
        drifts[base] = Drift(now, moved[base], sides.refused)
    return drifts


def _restricted(tree: Tree, paths: Collection[str]) -> Tree:
    """Return what a tree says of some paths."""
    old, new = (
        {path: entries[path] for path in paths if path in entries}
        for entries in (tree.old, tree.new)
    )
    return Tree(old, new)


def _followed(repository: Repository, base: str, target: str, tree: Tree) -> dict[str, str]:
    """Return the new paths of files that the target renamed, and put them in place of the old."""
    moved: dict[str, str] = {}
    if gone := tree.old.keys() - tree.new.keys():
        for old, new, mode, blob in renames_between(repository, base, target):
            if old in gone:
                moved[old] = new
                tree.new[old] = Entry(mode, blob)
    return moved


@asked_once
def renames_between(
    repository: Repository, base: str, target: str
) -> tuple[tuple[str, str, str, str], ...]:
    """Return old path, new path, mode and blob of the files that the target renamed.

    Raises
    ------
    SourceError
        If git fails.
    """
    options = [option for option in OPTIONS if option != "--no-renames"]
    out = repository.git.run("diff-tree", "-r", *options, f"-M{_SIMILARITY}", base, target)
    renames = []
    position = 0
    while position < len(out):
        if found := _RENAME.match(out, position):
            mode, blob = found[1].decode(), found[2].decode()
            renames.append((os.fsdecode(found[3]), os.fsdecode(found[4]), mode, blob))
        elif (found := _OTHER.match(out, position)) is None:
            raise SourceError("git diff-tree gave an answer that is not understood")
        position = found.end()
    return tuple(renames)
