"""What groups of patches are made of: the pairs that are close enough, found piece by piece."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from excise.kernels._graph import Graph
from excise.kernels._patches import Index
from excise.kernels._search import Search
from excise.patches.features import Edits

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Closeness", "Map", "Pairs", "piece_search", "pieces"]

BLOCKS = 16
"""Into so many pieces the pairs are cut for the caller's `map`, .."""
SMALLEST = 1024
""".. unless they hold fewer patches than this."""

Map = Callable[..., Iterable[Any]]
Pairs = tuple["array[int]", "array[int]", "array[float]"]
"""Pairs i < j and their values, many at once."""


class Closeness:
    """How close the patches of a pool are: the pairs at `least` or above, and any others.

    Attributes
    ----------
    first
        For each patch the first one with the same numbers beside all others; None: not known.
    """

    first: Sequence[int] | None = None

    def __init__(
        self,
        search: Search,
        map: Map = map,
        first: Sequence[int] | None = None,
        found: Iterable[Pairs] | None = None,
    ) -> None:
        """Look for pairs with the caller's `map`, unless they are found elsewhere."""
        self._search, self.first = search, first
        self._found = pieces(search, map) if found is None else found
        self._graph = Graph(len(search))

    def components(self, equal: tuple[array[int], array[int]]) -> list[list[int]]:
        """Return the patches that hang together by pairs that are close enough, or equal.

        Of patches with the same numbers only the first is in other pairs; the others are in one
        with it.
        """
        self._graph.unite(*equal)
        if self.first is not None:
            again = array("i", (at for at, first in enumerate(self.first) if at != first))
            self._graph.unite(array("i", (self.first[at] for at in again)), again)
        for pairs in self._found:
            self._graph.add(*pairs)
        return self._graph.components()

    def known(self, members: array[int]) -> npt.NDArray[np.float64]:
        """Return the values of the pairs of a component at `least` or above, and else less.

        What is less may be any number, as it was not counted; but no such pair has a larger value
        than the one that is given.
        """
        import numpy as np

        values = np.full((len(members), len(members)), math.nextafter(self._search.least, -1.0))
        # Two patches of no size score 1, though they share nothing that a search could find.
        empty = [row for row, at in enumerate(members) if self._search.size(at) == 0]
        values[np.ix_(empty, empty)] = 1.0
        np.fill_diagonal(values, 1.0)
        self._graph.write(members, values)
        return values

    def fill(self, members: array[int], values: npt.NDArray[np.float64]) -> None:
        """Write the values of the pairs that are not `known`."""
        self._search.dense(members, values, missing=True)

    def forget(self, member: int) -> None:
        """Give back the memory for a component, and for all after it: they are known no more."""
        self._graph.forget(member)


def piece_search(
    edits: Iterable[Edits], least: float, *, key: str = "name", idf: bool = False
) -> Callable[[int, int], Pairs]:
    """Return a search of which others do the other pieces.

    Given the number of a piece and how many pieces there are, it returns the pairs of that piece.
    All pieces together find every pair once, and take about as long each.
    """
    index = Index(key == "name")
    for own in edits:
        index.add(*own.ints)
    search = Search(index, least, idf)

    def pairs(piece: int, pieces: int) -> Pairs:
        ranges = search.ranges(pieces)
        # Fewer patches than pieces leave nothing for the last ones.
        start, stop = ranges[piece] if piece < len(ranges) else (0, 0)
        i, j, values, _ = search.pairs(start, stop)
        return i, j, values

    return pairs


def pieces(search: Search, map: Map) -> Iterator[Pairs]:
    """Yield the pairs of a search, piece by piece."""
    ranges = search.ranges(BLOCKS, SMALLEST)
    for i, j, values, _ in map(lambda part: search.pairs(*part), ranges):
        yield i, j, values
