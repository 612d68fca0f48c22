"""Patches as candidates of a repository: which are the same program.

A patch by itself is a few hunks. Where it applies to texts that a repository has, it is read as
``excise review`` reads a candidate, and the same functions answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from excise import ScoreMatrix
from excise.components import components
from excise.reading import PARSER_SECONDS
from excise_server.candidates.compared import edits_of
from excise_server.duplicates.find import Proposal
from excise_server.foundation.inputs import Rejected
from excise_server.git.repository import Repository
from excise_server.review.candidate import Candidate
from excise_server.sources.facets import with_facets
from excise_server.sources.reading import ListedCandidate, Target, read_changes, replayed

MOST_PATCHES = 1_000
"""Most patches that are read as candidates."""

MOST_MEMBERS = 300
"""Most patches that are compared, of those that hang together by the files that they change."""

LANDED = "the main line has all of it"


@dataclass(frozen=True)
class WholePatches:
    """Patches by their whole files: which are the same program.

    - ``parts``: those that hang together by the files that they change, compared.
    - ``unread``: why others were not looked at, by id.
    - ``notes``: what else was not looked at.
    """

    parts: tuple[ScoreMatrix, ...] = ()
    unread: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @cached_property
    def _places(self) -> dict[str, tuple[ScoreMatrix, int]]:
        return {name: (part, at) for part in self.parts for at, name in enumerate(part.ids)}

    def same_code(self) -> list[list[str]]:
        """Return the ids of those with the same code, several each."""
        by_code: dict[object, list[str]] = {}
        for name, (part, at) in self._places.items():
            by_code.setdefault((id(part), part.codes[at]), []).append(name)
        return [names for names in by_code.values() if len(names) > 1]

    def word(self, a: str, b: str) -> str:
        """Return in which sense two patches are the same program, or nothing if no rule says so."""
        (part, i), (other, j) = self._places.get(a, _NOWHERE), self._places.get(b, _NOWHERE)
        level = part.level(i, j) if part is other and part is not None else None
        return "" if level is None else level.word


_NOWHERE = None, 0


def whole_patches(
    repository: Repository,
    commit: str,
    proposals: Sequence[Proposal],
    advance: Callable[[float], None] = lambda done: None,
) -> WholePatches:
    """Compare patches that change a file in common, on the files of a commit.

    A patch is applied to the blobs that it names, or else to the files of the commit.

    Raises SourceError if git fails.

    - ``advance``: called with the share that is done.
    """
    rejected, notes = list[Rejected](), list[str]()
    if len(proposals) > MOST_PATCHES:
        notes.append(f"same code: only the first {MOST_PATCHES:,} patches are looked at")
    listed = [
        ListedCandidate(Candidate(own.id, "", "", own.between[1], base=own.between[0]))
        if own.between
        else ListedCandidate(Candidate(own.id, "", "", commit, base=commit), patch=own.whole)
        for own in proposals[:MOST_PATCHES]
    ]
    target = Target(commit)
    every = list(
        replayed(
            repository, target, read_changes(repository, listed, time.time, rejected), rejected
        )
    )
    unread = {each.id: each.reason for each in rejected}
    unread |= {each.read.candidate.id: LANDED for each in every if each.state != "changed"}
    changed = [each.candidate for each in every if each.state == "changed"]
    found = with_facets(repository, target, changed)
    parts: list[ScoreMatrix] = []
    together = _sharing(found)
    for done, members in enumerate(together, start=1):
        if len(members) <= MOST_MEMBERS:
            edits = edits_of([found[at] for at in members])
            matrix = ScoreMatrix.from_change_sets(
                edits.origin, edits.change_sets, timeout=PARSER_SECONDS
            )
            parts.append(matrix)
        else:
            notes.append(f"same code: {len(members):,} patches hang together by files that they "
                         f"change, and no more than {MOST_MEMBERS} are looked at")  # fmt: skip
        advance(done / len(together))
    return WholePatches(tuple(parts), unread, tuple(notes))


def _sharing(found: Sequence[Candidate]) -> list[list[int]]:
    """Return those that hang together by changed files of code, or by any if one has no code."""
    by_path: dict[str, list[int]] = {}
    for at, candidate in enumerate(found):
        paths = candidate.old.keys() | candidate.new.keys()
        code = {path for path in paths if candidate.kind_of(path) == "code"}
        for path in code or paths:
            by_path.setdefault(path, []).append(at)
    edges = [edge for members in by_path.values() for edge in pairwise(members)]
    return [members for members in components(len(found), edges) if len(members) > 1]
