"""What the score says about one place: which divergent regions it holds, and their numbers.

A divergent region of a pair belongs to the place that holds its first origin position. A place's
numbers are the formula on the counts of its regions, and their share of all divergent 1- to 4-grams
of the pair. What both revisions do alike elsewhere counts nothing here. With a single place these
are the numbers of the pair itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

import excise
from excise_server.counting import Counter, Numbers
from excise_server.places import Place, check

__all__ = [
    "MAX_COMPARED",
    "MAX_PAIRS",
    "Numbers",
    "PairNumbers",
    "Standing",
    "mean_numbers",
    "score_places",
]

MAX_COMPARED = 50
"""Most revisions whose pairs are counted place by place (1,225 pairs); the first in rank order."""

MAX_PAIRS = 45
"""Most pairs of a place that anything shows (those of ten revisions)."""


@dataclass(frozen=True, slots=True)
class PairNumbers:
    """Two revisions (by index) that diverge in a place, and its share of all that they do."""

    a: int
    b: int
    numbers: Numbers
    share: float


@dataclass(frozen=True, slots=True)
class Standing:
    """A place with its numbers.

    ``compared`` are the revisions whose pairs were counted, by index, in rank order; ``pairs`` are
    those of their pairs that diverge here, in that order. ``mean`` and ``share`` are over all of
    their pairs (None and 0 without pairs).
    """

    place: Place
    compared: tuple[int, ...]
    pairs: tuple[PairNumbers, ...]
    mean: Numbers | None
    share: float

    def mean_of(self, members: Iterable[int]) -> Numbers | None:
        """Return the mean over the pairs that one of these revisions is in."""
        inside = set(members)
        outside = len(self.compared) - len(inside.intersection(self.compared))
        total = _pairs(len(self.compared)) - _pairs(outside)
        return mean_numbers(
            (p.numbers for p in self.pairs if p.a in inside or p.b in inside), total
        )


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
    compared = tuple(order[:MAX_COMPARED])
    found: list[list[PairNumbers]] = [[] for _ in places]
    counter = Counter(places)
    for a, b in combinations(compared, 2):
        check(cancel)
        for home, numbers, share in counter.by_place(matrix.pair(a, b), (a, b)):
            found[home].append(PairNumbers(a, b, numbers, share))
    total = _pairs(len(compared))
    return tuple(
        Standing(
            place=place,
            compared=compared,
            pairs=tuple(pairs),
            mean=mean_numbers((p.numbers for p in pairs), total),
            share=sum(p.share for p in pairs) / max(total, 1),
        )
        for place, pairs in zip(places, found, strict=True)
    )


def mean_numbers(diverging: Iterable[Numbers], total: int) -> Numbers | None:
    """Return the mean of ``total`` pairs, of which all but these agree; None of no pair.

    An operation's mean is over the pairs where it is defined.
    """
    if not total:
        return None
    found = list(diverging)
    agreeing = total - len(found)
    return Numbers(
        es=(sum(n.es for n in found) + agreeing) / total,
        keep=_mean(n.keep for n in found),
        add=_mean(n.add for n in found),
        delete=_mean(n.delete for n in found),
    )


def _mean(values: Iterator[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return fmean(defined) if defined else None


def _pairs(count: int) -> int:
    return count * (count - 1) // 2
