"""Patches of one run, compared by their edits (``basis:edits``, section 8)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from excise.agreement import Shares, word_of
from excise.edits import Count
from excise.excision import ANCHORED, ANYWHERE, PLACED, Weights, f1
from excise.kernels._graph import Graph
from excise.kernels._matches import pair
from excise.kernels._patches import Index
from excise.kernels._search import Search
from excise.patches.features import IGNORED, Edits, Pairing, paired, patch_id, text_id
from excise.patches.model import Patch
from excise.patches.reader import Reader
from excise.signature import DEFINITION, MAX_ORDER

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "Closeness",
    "Comparison",
    "Likeness",
    "Map",
    "Pairs",
    "Pool",
    "piece_search",
    "pooled",
    "signature",
]

HEADS = 3
"""The version of the rule for blocks under different headings."""

RESCUE = Fraction(9, 10)

BLOCKS = 16
"""Into so many pieces the pairs are cut for the caller's `map`, .."""
SMALLEST = 1024
""".. unless they hold fewer patches than this."""

Map = Callable[..., Iterable[Any]]
Pairs = tuple["array[int]", "array[int]", "array[float]"]
"""Pairs i < j and their values, many at once."""
Searcher = Callable[[float, bool], Iterable[Pairs]]
"""Given the least value and ``idf``, all pairs of a pool that reach it."""


def signature(key: str = "name", *, idf: bool = False) -> str:
    """Return the signature of ``basis:edits``. `idf` applies to groups, never to a score.

    >>> signature()
    'es|n:4|comments:keep|tok:lexical|basis:edits|key:name|place:anchored|heads:3|v:2'
    >>> signature("none", idf=True)
    'es|n:4|comments:keep|tok:lexical|basis:edits|key:none|place:anchored|heads:3|idf:yes|v:2'
    """
    weighted = "|idf:yes" if idf else ""
    return (
        f"es|n:{MAX_ORDER}|comments:keep|tok:lexical|basis:edits|key:{key}|place:anchored"
        f"|heads:{HEADS}{weighted}|v:{DEFINITION}"
    )


def pooled(operations: Sequence[Count]) -> Count:
    """Return the sums: under ``basis:edits`` operations and orders count together."""
    return Count(*map(sum, zip(*operations, strict=True)))


@dataclass(frozen=True, slots=True)
class Likeness:
    """How much the edits of two patches have in common.

    Attributes
    ----------
    operations
        N-grams kept, added and deleted, of all orders.
    equal
        Whether the texts of the patches are equal (guard 1).
    in_another_file
        Whether the context lines of files of other names agree, and these have something in common.
    """

    operations: tuple[Count, Count, Count]
    equal: bool
    in_another_file: bool

    @property
    def exact(self) -> Fraction:
        """The score as a fraction in [0, 1]."""
        return _share(pooled(self.operations), PLACED)

    @property
    def value(self) -> float:
        """The score as the nearest float."""
        return float(self.exact)

    @property
    def keep(self) -> float | None:
        """The score of the kept n-grams alone, or None if neither patch has any."""
        return _operation(self.operations[0])

    @property
    def add(self) -> float | None:
        """The score of the added n-grams alone."""
        return _operation(self.operations[1])

    @property
    def delete(self) -> float | None:
        """The score of the deleted n-grams alone."""
        return _operation(self.operations[2])

    @property
    def shares(self) -> Shares:
        """The shares that its word is made of."""
        whole, edited = pooled(self.operations), pooled(self.operations[1:])
        return Shares(
            _share(whole, ANCHORED),
            _share(whole, ANYWHERE),
            Fraction(edited.here, edited.a or 1),
            Fraction(edited.here, edited.b or 1),
        )

    @property
    def contained_in_b(self) -> float:
        """The share of A's added and deleted n-grams that B has at the same place."""
        return float(self.shares.a_in_b)

    @property
    def contained_in_a(self) -> float:
        """The share of B's added and deleted n-grams that A has at the same place."""
        return float(self.shares.b_in_a)

    @property
    def word(self) -> str:
        """The word for the pair (`excise.agreement`)."""
        return word_of(self.shares, equal=self.equal)


@dataclass(frozen=True, slots=True)
class Comparison(Likeness):
    """How much the edits of two patches have in common, and why.

    Attributes
    ----------
    files
        Paths that were compared with each other, (a, b); None: the other has no such file.
    facts
        Header facts that differ: (path, of a, of b).
    notes
        ``whitespace-only: a``, reasons of a 0.
    """

    files: tuple[tuple[str | None, str | None], ...]
    facts: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]
    notes: tuple[str, ...]
    signature: str


def _share(count: Count, weights: Weights) -> Fraction:
    """Return the share in common, which is 1 if neither side has anything to compare."""
    return f1(count, weights) if count.defined else Fraction(1)


def _operation(count: Count) -> float | None:
    return float(f1(count)) if count.defined else None


class Pool:
    """Patches of one run, numbered in the order of `add`.

    The score of two patches never depends on the others.

    Parameters
    ----------
    key
        ``name``: an n-gram carries the base name of its file. ``none``: it does not.
    ignored
        Globs of base names or paths that are left out.
    idf
        Groups are made with n-grams weighted by how few patches of the pool have them:
        ln((1 + N) / (1 + df)) + 1. Scores are not weighted.
    searcher
        Finds the pairs that groups are made of elsewhere, such as on other machines; None: here.
    """

    basis = "edits"

    def __init__(
        self,
        *,
        key: str = "name",
        ignored: Sequence[str] = IGNORED,
        idf: bool = False,
        searcher: Searcher | None = None,
    ) -> None:
        """Start empty."""
        self.idf = idf
        self.key, self.ignored = key, tuple(ignored)
        self.patches: list[Patch] = []
        self.notes: list[tuple[str, ...]] = []
        self._searcher = searcher
        self._index = Index(key == "name")
        self._uncounted: list[Edits] = []
        self._reader = Reader()
        self._ids: dict[int, str] = {}
        self._texts: dict[int, str] = {}

    def __len__(self) -> int:
        """Return how many patches there are."""
        return len(self.patches)

    @property
    def signature(self) -> str:
        """The signature of the scores, and whether groups are weighted."""
        return signature(self.key, idf=self.idf)

    @property
    def index(self) -> Index:
        """The n-grams of all patches; those of edits read before are counted now."""
        for edits in self._uncounted:
            self._index.add(*edits.ints)
        self._uncounted.clear()
        return self._index

    def add(self, patch: Patch) -> int:
        """Add a patch and return its number."""
        edits = self._reader.edits(patch, self.ignored)
        self.index.add(*edits.ints)
        self.patches.append(patch)
        self.notes.append(edits.notes)
        return len(self) - 1

    def add_read(self, patch: Patch, edits: Edits, patch_id: str, text_id: str) -> int:
        """Add a patch whose edits were read elsewhere or before, with its names.

        All patches of such a pool are added so: their edits share a vocabulary that it does not
        have. They are counted when a score is asked for.
        """
        number = len(self)
        self._uncounted.append(edits)
        self.patches.append(patch)
        self.notes.append(edits.notes)
        self._ids[number], self._texts[number] = patch_id, text_id
        return number

    def patch_id(self, i: int) -> str:
        """Return the name that equal patches share."""
        if i not in self._ids:
            self._ids[i] = patch_id(self.patches[i])
        return self._ids[i]

    def near(self, least: float, map: Map = map) -> list[tuple[int, int, float]]:
        """Return the pairs (i, j, score), i < j, that score above 0, and at least `least`."""
        found = pieces(Search(self.index, least), map)
        return sorted(pair for piece in found for pair in zip(*piece, strict=True))

    def dense(self, members: array[int], values: npt.NDArray[np.float64]) -> None:
        """Write the scores of every pair of the members, k x k, and 1 on the diagonal."""
        Search(self.index, 0.0).dense(members, values)

    def closeness(self, least: float, map: Map = map) -> Closeness:
        """Return what groups are made of: scores, or with `idf` weighted ones."""
        found = None if self._searcher is None else self._searcher(least, self.idf)
        search = Search(self.index, least, self.idf, distinct=True)
        return Closeness(search, map, self.index.first, found)

    def text_id(self, i: int) -> str:
        """Return the name that patches of equal texts share."""
        if i not in self._texts:
            self._texts[i] = text_id(self.patches[i])
        return self._texts[i]

    def likeness(self, i: int, j: int) -> Likeness:
        """Return what the edits of two patches have in common, in numbers and in a word."""
        operations = keyed = self._operations(i, j, True)
        if self.rescued(i, j):
            operations = self._operations(i, j, False)
        equal = self.text_id(i) == self.text_id(j)
        return Likeness(operations, equal, operations != keyed and not equal)

    def compare(self, i: int, j: int) -> Comparison:
        """Compare two patches of the pool by their edits."""
        found = self.likeness(i, j)
        files = self.patches[i].files, self.patches[j].files
        pairs = paired(*files, by_content=self.rescued(i, j))
        notes = [f"{note}: a" for note in self.notes[i]] + [f"{note}: b" for note in self.notes[j]]
        if not any(a and b for a, b in pairs):
            notes.append("no common file")
        return Comparison(
            found.operations,
            found.equal,
            found.in_another_file,
            tuple((a.path if a else None, b.path if b else None) for a, b in pairs),
            tuple(_facts(pairs)),
            tuple(notes),
            signature(self.key),
        )

    def score(self, i: int, j: int) -> float:
        """Return the score alone."""
        whole = pooled(self._operations(i, j, not self.rescued(i, j)))
        return float(f1(whole)) if whole.defined else 1.0

    def rescued(self, i: int, j: int) -> bool:
        """Whether the context lines agree so well that names do not count."""
        both, a, b = self.index.context(i, j)
        return a > 0 and b > 0 and Fraction(2 * both, a + b) >= RESCUE

    def _operations(self, i: int, j: int, keyed: bool) -> tuple[Count, Count, Count]:
        flat = pair(self.index, i, j, keyed)
        return Count(*flat[:4]), Count(*flat[4:8]), Count(*flat[8:])


def _facts(pairs: Iterable[Pairing]) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    for a, b in pairs:
        facts = a.facts if a else (), b.facts if b else ()
        named = a or b
        if facts[0] != facts[1] and named is not None:
            yield named.path, *facts


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
