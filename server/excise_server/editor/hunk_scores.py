"""The scores of one hunk: the numbers of its divergent regions.

Every divergent region of a pair lies in one hunk. A hunk's numbers are the formula on the counts of
its regions, and their share of all divergent 1- to 4-grams of the pair. Equal changes in other
hunks do not count here. With a single hunk, these are the numbers of the pair.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import excise

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "MAX_COMPARED",
    "MAX_PAIRS",
    "CountedPairs",
    "HunkScores",
    "Numbers",
    "PairNumbers",
    "Pairs",
    "score_hunks",
]

MAX_COMPARED = 50
"""Most revisions whose pairs are counted hunk by hunk (1,225 pairs); the first in rank order."""

MAX_PAIRS = 45
"""Most pairs of a hunk that anything shows (those of ten revisions)."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The score and its operations, or None where undefined."""

    es: float
    keep: float | None
    add: float | None
    delete: float | None


@dataclass(frozen=True, slots=True)
class PairNumbers:
    """Two revisions (by index) that diverge in a hunk, and its share of all that they do."""

    a: int
    b: int
    numbers: Numbers
    share: float


class Pairs(Sequence[PairNumbers]):
    """The pairs of a hunk, made when somebody looks: there may be a million of all hunks."""

    __slots__ = ()

    @abstractmethod
    def pair(self, index: int) -> PairNumbers:
        """Return one of them."""

    @overload
    def __getitem__(self, index: int) -> PairNumbers: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[PairNumbers, ...]: ...
    def __getitem__(self, index: int | slice) -> PairNumbers | tuple[PairNumbers, ...]:
        """Return one of them, or some."""
        places = range(len(self))[index]
        return self.pair(places) if isinstance(places, int) else tuple(map(self.pair, places))

    def __iter__(self) -> Iterator[PairNumbers]:
        """Yield them in order."""
        return map(self.pair, range(len(self)))

    def __eq__(self, other: object) -> bool:
        """Whether these are the same pairs with the same numbers."""
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        """Return what equal pairs share."""
        return hash(tuple(self))


class CountedPairs(Pairs):
    """The pairs of a hunk as the library counted them.

    Attributes
    ----------
    entries
        Those of `excise.hunk_pairs.PairsInHunks` of one hunk.
    """

    __slots__ = ("_compared", "entries")

    def __init__(self, compared: tuple[int, ...], entries: npt.NDArray[np.void]) -> None:
        """Take the entries, whose places are those of the revisions compared."""
        self._compared, self.entries = compared, entries

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.entries)

    def pair(self, index: int) -> PairNumbers:
        """Return one of them."""
        first, second, _, value, keep, add, delete, share = self.entries[index].item()
        operations = (None if part < 0 else part for part in (keep, add, delete))
        numbers = Numbers(value, *operations)
        return PairNumbers(self._compared[first], self._compared[second], numbers, share)


@dataclass(frozen=True, slots=True)
class HunkScores:
    """A hunk with its numbers.

    ``compared`` are the revisions whose pairs were counted, by index, in rank order. ``pairs`` are
    the pairs of them that diverge here, in that order. ``mean`` and ``share`` are over all of their
    pairs (None and 0 without pairs).
    """

    hunk: excise.Hunk
    compared: tuple[int, ...]
    pairs: Pairs
    mean: Numbers | None
    share: float


def score_hunks(
    hunks: excise.Hunks,
    matrix: excise.ScoreMatrix,
    order: Sequence[int],
    cancel: excise.CancelFlag | None = None,
) -> tuple[HunkScores, ...]:
    """Return the numbers of every hunk, from the pairs of the first revisions in ``order``.

    Raises
    ------
    excise.errors.Cancelled
        If the flag is raised meanwhile.
    """
    scores = matrix.in_hunks(hunks, order[:MAX_COMPARED], cancel=cancel)
    total = len(scores.order) * (len(scores.order) - 1) // 2
    means, shares = _means(scores.entries, len(hunks), total)
    return tuple(
        HunkScores(
            hunk, scores.order, CountedPairs(scores.order, scores.entries[lo:hi]), mean, share
        )
        for hunk, lo, hi, mean, share in zip(
            hunks, scores.bounds, scores.bounds[1:], means, shares, strict=False
        )
    )


def _means(
    entries: npt.NDArray[np.void], count: int, total: int
) -> tuple[Sequence[Numbers | None], Sequence[float]]:
    """Return the means of every hunk over all pairs; pairs without an entry agree there.

    The mean of an operation is over the pairs for which it is defined.
    """
    import numpy as np

    if not total:
        return [None] * count, [0.0] * count
    hunk = entries["hunk"]
    values = np.bincount(hunk, entries["value"], count)
    agreeing = total - np.bincount(hunk, minlength=count)
    columns = [((values + agreeing) / total).tolist()]
    for operation in ("keep", "add", "delete"):
        is_defined = entries[operation] >= 0
        defined = np.bincount(hunk[is_defined], minlength=count)
        sums = np.bincount(hunk[is_defined], entries[operation][is_defined], count)
        means = (sums / np.maximum(defined, 1)).tolist()
        columns.append([m if n else None for m, n in zip(means, defined.tolist(), strict=True)])
    shares = np.bincount(hunk, entries["share"], count) / total
    return [Numbers(*column) for column in zip(*columns, strict=True)], shares.tolist()
