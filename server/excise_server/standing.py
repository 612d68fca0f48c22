"""What the score says about one place: which divergent regions it holds, and their numbers.

A divergent region of a pair belongs to the place that holds its first origin position. A place's
numbers are the formula on the pooled counts of its regions, pair by pair, and their share of all
divergent 1- to 4-grams of the pair.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from statistics import fmean

import excise
from excise.excision import excision
from excise_server.places import Place

__all__ = ["MAX_COMPARED", "Numbers", "PairNumbers", "Standing", "mean_numbers", "score_places"]

MAX_COMPARED = 16
"""Most revisions whose pairs are counted place by place (120 pairs); the first in rank order."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The score and its operations (None: undefined), and the share of what diverges."""

    es: float
    keep: float | None
    add: float | None
    delete: float | None
    share: float


@dataclass(frozen=True, slots=True)
class PairNumbers:
    """The numbers of two revisions (by index) in one place."""

    a: int
    b: int
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class Standing:
    """A place with its numbers: by pair, and their mean (None without pairs)."""

    place: Place
    pairs: tuple[PairNumbers, ...]
    compared: int
    mean: Numbers | None


def score_places(
    places: Sequence[Place],
    matrix: excise.ScoreMatrix,
    order: Sequence[int],
    cancel: excise.CancelFlag | None = None,
) -> tuple[Standing, ...]:
    """Return the standing of every place; pairs are taken among the first of ``order``.

    Raises
    ------
    excise.errors.Cancelled
        When the flag was raised meanwhile.
    """
    if not places:
        return ()
    compared = sorted(order[:MAX_COMPARED])
    homes = _Homes(places)
    found: list[list[PairNumbers]] = [[] for _ in places]
    for a, b in combinations(compared, 2):
        if cancel is not None and cancel.cancelled:
            raise excise.Cancelled("the place's numbers are no longer wanted")
        regions = defaultdict(list)
        for region in matrix.pair(a, b).regions:
            regions[homes.of(region, a, b)].append(region)
        for at, pairs in enumerate(found):
            pairs.append(PairNumbers(a, b, _numbers(regions[at])))
    return tuple(
        Standing(place, tuple(pairs), len(compared), mean_numbers(p.numbers for p in pairs))
        for place, pairs in zip(places, found, strict=True)
    )


def mean_numbers(numbers: Iterable[Numbers]) -> Numbers | None:
    """Return the mean of each number, over where it is defined; None of nothing."""
    found = list(numbers)
    if not found:
        return None
    return Numbers(
        es=fmean(n.es for n in found),
        keep=_mean(n.keep for n in found),
        add=_mean(n.add for n in found),
        delete=_mean(n.delete for n in found),
        share=fmean(n.share for n in found),
    )


def _mean(values: Iterator[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return fmean(defined) if defined else None


def _numbers(regions: Sequence[excise.DivergentRegion]) -> Numbers:
    flat = [sum(cells) for cells in zip(*(r.counts.flat() for r in regions), strict=True)]
    operations = excision(excise.EditCounts.from_flat(flat or [0] * 36))
    return Numbers(
        es=float(operations.value),
        keep=_as_float(operations.keep),
        add=_as_float(operations.add),
        delete=_as_float(operations.delete),
        share=sum(region.share for region in regions),
    )


def _as_float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


class _Homes:
    """Finds the place of a region, by lines of the origin or of a revision."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = places
        self._origin = [place.lo for place in places]
        self._starts: dict[int, list[int]] = {}

    def of(self, region: excise.DivergentRegion, a: int, b: int) -> int:
        """Return the index of the region's place.

        The origin's first token decides. Without one the region is a gap between tokens, which may
        be many blank lines: the place is where the inserted tokens stand in the revision. A region
        on lines that all keep (their tokens changed with something before them, or a moved
        duplicate was matched otherwise) goes to the nearest place.
        """
        for segment, revision in ((region.origin, None), (region.a, a), (region.b, b)):
            if segment.tokens and segment.lines is not None:
                return self._nearest(segment.lines[0], revision)
        return 0

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
