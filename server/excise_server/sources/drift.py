"""What the target did, since a candidate's base, to the files that the candidate changed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

from excise_server.changes import Side
from excise_server.sources import SourceError
from excise_server.sources.repository import Repository
from excise_server.sources.trees import OPTIONS, Tree, read_sides, take_changes

__all__ = ["Drift", "drift_of"]

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
    notes
        Files of the target that cannot be read.
    """

    now: dict[str, Side | None]
    moved: dict[str, str]
    notes: tuple[str, ...] = ()


def drift_of(repository: Repository, base: str, target: str, paths: Iterable[str]) -> Drift:
    """Read what the target has in place of what it had at the base, for these paths alone.

    Raises
    ------
    SourceError
        If git fails.
    """
    wanted = sorted(paths)
    if base == target or not wanted:
        return Drift({}, {})
    tree = Tree()
    # Pathspecs are literal (`git.clean_environment`).
    out = repository.git.run("diff-tree", "-r", *OPTIONS, base, target, "--", *wanted)
    if take_changes(tree, out) != len(out):
        raise SourceError("git diff-tree gave an answer that is not understood")
    moved: dict[str, str] = {}
    gone = tree.old.keys() - tree.new.keys()
    if gone:
        for old, new, mode, blob in _renames(repository, base, target):
            if old in gone:
                moved[old] = new
                tree.new[old] = type(tree.old[old])(mode, blob)
    sides = read_sides(repository, [tree])[0]
    now = {path: sides.new.get(path) for path in tree.old.keys() | tree.new.keys()}
    unread = {path for path in tree.new if path not in sides.new}
    return Drift({p: side for p, side in now.items() if p not in unread}, moved, sides.notes)


def _renames(repository: Repository, base: str, target: str) -> Iterable[tuple[str, str, str, str]]:
    """Yield old path, new path, mode and blob of the files that the target renamed."""
    options = [option for option in OPTIONS if option != "--no-renames"]
    out = repository.git.run("diff-tree", "-r", *options, f"-M{_SIMILARITY}", base, target)
    position = 0
    while position < len(out):
        if found := _RENAME.match(out, position):
            mode, blob = found[1].decode(), found[2].decode()
            yield os.fsdecode(found[3]), os.fsdecode(found[4]), mode, blob
        elif (found := _OTHER.match(out, position)) is None:
            raise SourceError("git diff-tree gave an answer that is not understood")
        position = found.end()
