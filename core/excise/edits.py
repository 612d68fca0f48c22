"""Counts of kept, added and deleted n-grams: the sufficient statistics of a score (section 4)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from excise.kernels._counts import count
from excise.signature import MAX_ORDER

__all__ = ["Count", "EditCounts", "count_edits", "n_grams"]


class Count(NamedTuple):
    """N-grams of one operation and order.

    Attributes
    ----------
    here
        The number in common at the same place of the origin.
    a, b
        The numbers of A (the reference) and of B.
    anywhere
        The number in common at any places, never less than `here`. Both are equal for kept
        n-grams, and if all regions are pooled as one place.
    """

    here: int
    a: int
    b: int
    anywhere: int

    @property
    def defined(self) -> bool:
        """Whether a side has any. An order that is empty on both sides is dropped."""
        return self.a > 0 or self.b > 0

    def common(self, weights: tuple[int, int]) -> Fraction:
        """Return the weighted number in common, by weights for here and anywhere, of their sum."""
        here, anywhere = weights
        return Fraction(here * self.here + anywhere * self.anywhere, here + anywhere)


@dataclass(frozen=True, slots=True)
class EditCounts:
    """For each operation the counts of the orders 1 to 4."""

    keep: tuple[Count, ...]
    add: tuple[Count, ...]
    delete: tuple[Count, ...]

    @classmethod
    def from_flat(cls, flat: Sequence[int]) -> EditCounts:
        """Build from the kernel's 48 ints: operation, order, field of `Count`."""
        cells = [Count(*flat[start : start + 4]) for start in range(0, len(flat), 4)]
        return cls(
            tuple(cells[:MAX_ORDER]),
            tuple(cells[MAX_ORDER : 2 * MAX_ORDER]),
            tuple(cells[2 * MAX_ORDER :]),
        )

    def flat(self) -> tuple[int, ...]:
        """Return the 48 ints again."""
        return tuple(n for cells in (self.keep, self.add, self.delete) for c in cells for n in c)

    def swapped(self) -> EditCounts:
        """Return the counts with A and B exchanged."""
        return EditCounts(
            *(tuple(Count(c.here, c.b, c.a, c.anywhere) for c in cells) for cells in self._all())
        )

    @property
    def defined(self) -> bool:
        """Whether any operation is defined."""
        return any(count.defined for cells in self._all() for count in cells)

    @property
    def contained(self) -> tuple[Fraction, Fraction]:
        """The share of A's additions and deletions that B makes at the same place, and the reverse.

        Shares of the 1- to 4-grams in [0, 1] (definition, section 6a); 0 for a revision that adds
        and deletes nothing.
        """
        changed = [*self.add, *self.delete]
        here, by_a, by_b = (sum(count[field] for count in changed) for field in range(3))
        return Fraction(here, by_a or 1), Fraction(here, by_b or 1)

    def _all(self) -> tuple[tuple[Count, ...], ...]:
        return self.keep, self.add, self.delete


def count_edits(
    regions: array[int],
    origin: array[int],
    a: array[int],
    b: array[int],
    places: array[int] | None = None,
) -> EditCounts:
    """Count the regions (six token places each): keep by region, add and delete by place.

    Parameters
    ----------
    places
        The number of the place of every region (definition, section 4a): 0, 1, .. in the order of
        their first regions. None: all regions are one place, as in the paper.
    """
    return EditCounts.from_flat(count(regions, origin, a, b, places))


def n_grams(length: int) -> int:
    """Return how many 1- to 4-grams a segment of that many tokens holds."""
    orders = min(length, MAX_ORDER)
    return orders * (length + 1) - orders * (orders + 1) // 2
