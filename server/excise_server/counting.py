"""Which place a divergent region belongs to, and the numbers of a pair in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import excise
from excise.excision import excision
from excise_server.places import Place

__all__ = ["Counter", "Numbers"]


@dataclass(frozen=True, slots=True)
class Numbers:
    """The score and its operations; None: undefined."""

    es: float
    keep: float | None
    add: float | None
    delete: float | None


class Counter:
    """Counts the regions of pairs by place.

    `Score.regions` would read every text again to say where each token stands, which is most of
    the time of an analysis; its outlines, with the line of the first token, are enough here.
    """

    def __init__(self, places: Sequence[Place]) -> None:
        """Count for these places, in the order of the origin."""
        self._homes = _Homes(places)
        # Many pairs do the same in a place: one made an edit that the other did not.
        self._known: dict[excise.EditCounts, Numbers] = {}

    def by_place(
        self, score: excise.Score, pair: tuple[int, int]
    ) -> Iterator[tuple[int, Numbers, float]]:
        """Yield the places that hold regions of a pair, with their numbers and share."""
        regions: dict[int, list[int]] = {}
        outlines = score.outlines
        for index, outline in enumerate(outlines):
            regions.setdefault(self._homes.of(outline.lines, pair), []).append(index)
        sizes = {home: sum(outlines[i].n_grams for i in found) for home, found in regions.items()}
        total = sum(sizes.values())
        for home, found in regions.items():
            counts = score.count(outlines[i] for i in found)
            known = self._numbers(counts) if counts.defined else _undefined(score, found)
            yield home, known, sizes[home] / total

    def _numbers(self, counts: excise.EditCounts) -> Numbers:
        if (known := self._known.get(counts)) is None:
            operations = excision(counts)
            keep, add, delete = (None if x is None else float(x) for x in operations[:3])
            known = self._known[counts] = Numbers(float(operations.value), keep, add, delete)
        return known


def _undefined(score: excise.Score, found: Sequence[int]) -> Numbers:
    """Return the numbers of regions where tokens only changed their order: 1 if alike, else 0."""
    regions = score.regions
    alike = all(regions[i].a.tokens == regions[i].b.tokens for i in found)
    return Numbers(float(alike), None, None, None)


class _Homes:
    """Finds the place of a region, by lines of the origin or of a revision."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = places
        self._origin = [place.lo for place in places]
        self._starts: dict[int, list[int]] = {}

    def of(self, lines: Sequence[int | None], pair: tuple[int, int]) -> int:
        """Return the index of the place of a region, by the first lines in origin, A and B.

        The origin's first token decides. Without one the region is a gap between tokens, which may
        be many blank lines: the place is where the inserted tokens stand in the revision. A region
        on lines that all keep (their tokens changed with something before them, or a moved
        duplicate was matched otherwise) goes to the nearest place.
        """
        for line, revision in zip(lines, (None, *pair), strict=True):
            if line is not None:
                return self._nearest(line, revision)
        raise ValueError("a divergent region has tokens")

    def _nearest(self, line: int, revision: int | None) -> int:
        starts = self._origin if revision is None else self._of_revision(revision)
        after = bisect_right(starts, line)
        around = range(max(after - 1, 0), min(after + 1, len(starts)))
        return min(around, key=lambda at: self._distance(at, line, revision))

    def _distance(self, at: int, line: int, revision: int | None) -> int:
        place = self._places[at]
        lo, hi = (place.lo, place.hi) if revision is None else place.spans[revision]
        return max(lo - line, line - hi + 1, 0)

    def _of_revision(self, revision: int) -> list[int]:
        if revision not in self._starts:
            self._starts[revision] = [place.spans[revision][0] for place in self._places]
        return self._starts[revision]
