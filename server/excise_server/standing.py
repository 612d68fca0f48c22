"""What the score says about one place: which divergent regions it holds, and their numbers.

A divergent region of a pair belongs to the place that holds its first origin position. A place's
numbers are the formula on the counts of its regions, pooled as the definition pools them, pair by
pair, and their share of all divergent 1- to 4-grams of the pair. With a single place these are the
numbers of the pair itself.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from statistics import fmean

import excise
from excise.edits import count_edits, n_grams
from excise.excision import excision
from excise.preparation import Prepared
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


NOTHING = Numbers(es=1.0, keep=None, add=None, delete=None, share=0.0)
"""The numbers of a pair that does not diverge in a place."""


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
        if cancel is not None and cancel.cancelled and not cancel.timed_out:
            raise excise.Cancelled("the place's numbers are no longer wanted")
        numbers = _by_place(matrix.pair(a, b), homes, (a, b))
        for at, pairs in enumerate(found):
            pairs.append(PairNumbers(a, b, numbers.get(at, NOTHING)))
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


def _by_place(score: excise.Score, homes: _Homes, pair: tuple[int, int]) -> dict[int, Numbers]:
    """Return the numbers of the places that hold regions of a pair.

    `Score.regions` would read every text again for the places of its tokens, which is most of the
    time of an analysis; here the first line of each region is enough.
    """
    sides, flat = score._sides, score._regions
    regions: dict[int, array[int]] = {}
    sizes: dict[int, int] = {}
    for at in range(0, len(flat), 6):
        region = flat[at : at + 6]
        if size := sum(n_grams(region[side + 1] - region[side]) for side in (0, 2, 4)):
            lines = [_first_line(sides[i], *region[2 * i : 2 * i + 2]) for i in range(3)]
            home = homes.of(lines, pair)
            regions.setdefault(home, array("i")).extend(region)
            sizes[home] = sizes.get(home, 0) + size
    total = sum(sizes.values())
    tokens = [side.units.tokens for side in sides]
    return {
        home: _numbers(count_edits(found, *tokens), sizes[home] / total)
        for home, found in regions.items()
    }


def _first_line(side: Prepared, start: int, stop: int) -> int | None:
    """Return the line of the first of some tokens; None without tokens."""
    if start == stop:
        return None
    token = start if side.units.kept is None else side.units.kept[start]
    return bisect_right(side.lines.first, token) - 1


def _numbers(counts: excise.EditCounts, share: float) -> Numbers:
    operations = excision(counts)
    return Numbers(
        es=float(operations.value),
        keep=_as_float(operations.keep),
        add=_as_float(operations.add),
        delete=_as_float(operations.delete),
        share=share,
    )


def _as_float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


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
