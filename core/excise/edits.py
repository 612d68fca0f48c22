"""Counts of kept, added and deleted n-grams: the sufficient statistics of a score (section 4)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from excise._counts import count
from excise.signature import MAX_ORDER

__all__ = ["Count", "EditCounts", "count_edits", "n_grams"]


class Count(NamedTuple):
    """N-grams of one operation and order: in common, by A (the reference), by B."""

    both: int
    a: int
    b: int

    @property
    def defined(self) -> bool:
        """Whether a side has any: an order where both are empty says nothing and is dropped."""
        return self.a > 0 or self.b > 0


@dataclass(frozen=True, slots=True)
class EditCounts:
    """For each operation the counts of the orders 1 to 4."""

    keep: tuple[Count, ...]
    add: tuple[Count, ...]
    delete: tuple[Count, ...]

    @classmethod
    def from_flat(cls, flat: Sequence[int]) -> EditCounts:
        """Build from the kernel's 36 ints: operation, order, side."""
        cells = [Count(*flat[at : at + 3]) for at in range(0, len(flat), 3)]
        return cls(
            tuple(cells[:MAX_ORDER]),
            tuple(cells[MAX_ORDER : 2 * MAX_ORDER]),
            tuple(cells[2 * MAX_ORDER :]),
        )

    def flat(self) -> tuple[int, ...]:
        """Return the 36 ints again."""
        return tuple(n for cells in (self.keep, self.add, self.delete) for c in cells for n in c)

    def swapped(self) -> EditCounts:
        """Return the counts with A and B exchanged."""
        return EditCounts(*(tuple(Count(c.both, c.b, c.a) for c in cells) for cells in self._all()))

    def _all(self) -> tuple[tuple[Count, ...], ...]:
        return self.keep, self.add, self.delete


def count_edits(
    regions: array[int], origin: array[int], a: array[int], b: array[int]
) -> EditCounts:
    """Count the regions (six token places each): keep by region, add and delete pooled."""
    return EditCounts.from_flat(count(regions, origin, a, b))


def n_grams(length: int) -> int:
    """Return how many 1- to 4-grams a segment of that many tokens holds."""
    orders = min(length, MAX_ORDER)
    return orders * (length + 1) - orders * (orders + 1) // 2
