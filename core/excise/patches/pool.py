"""Patches of one run, compared by their edits (``basis:edits``, section 8)."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from excise.edits import Count
from excise.excision import f1
from excise.kernels._matches import pair
from excise.kernels._patches import Index
from excise.kernels._search import Search
from excise.patches.closeness import Closeness, Map, Pairs, pieces
from excise.patches.features import IGNORED, Edits, patch_id, text_id
from excise.patches.likeness import Comparison, EditsLikeness, Likeness, pooled
from excise.patches.model import Patch
from excise.patches.pairing import Pairing, paired
from excise.patches.reader import Reader
from excise.signature import DEFINITION, MAX_ORDER

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "EDITS",
    "Pool",
    "Searcher",
    "signature",
]

EDITS = "edits"
HEADS = 3
"""The version of the rule for blocks under different headings."""

RESCUE = Fraction(9, 10)
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

    def __init__(
        self,
        *,
        key: str = "name",
        ignored: Sequence[str] = IGNORED,
        idf: bool = False,
        searcher: Searcher | None = None,
    ) -> None:
        """Start empty."""
        self.basis = EDITS
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
        return self._added(patch, edits)

    def add_read(self, patch: Patch, edits: Edits, *, patch_id: str = "", text_id: str = "") -> int:
        """Add a patch whose edits were read elsewhere or before, with its names if they are known.

        All patches of such a pool are added so: their edits share a vocabulary that it does not
        have. They are counted when a score is asked for.
        """
        self._uncounted.append(edits)
        number = self._added(patch, edits)
        if patch_id:
            self._ids[number] = patch_id
        if text_id:
            self._texts[number] = text_id
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
        """Return what two patches have in common, in numbers and in a word."""
        return self.edits_likeness(i, j)

    def edits_likeness(self, i: int, j: int) -> EditsLikeness:
        """Return what their edits have in common."""
        operations = keyed = self._operations(i, j, True)
        if self.rescued(i, j):
            operations = self._operations(i, j, False)
        equal = self.text_id(i) == self.text_id(j)
        return EditsLikeness(operations, equal, operations != keyed and not equal)

    def compare(self, i: int, j: int) -> Comparison:
        """Compare two patches of the pool by their edits."""
        found = self.edits_likeness(i, j)
        files = self.patches[i].files, self.patches[j].files
        pairs = paired(*files, by_content=self.rescued(i, j))
        notes = self._notes(i, j)
        if not any(a and b for a, b in pairs):
            notes = (*notes, "no common file")
        return Comparison(
            found.operations,
            found.equal,
            found.in_another_file,
            tuple((a.path if a else None, b.path if b else None) for a, b in pairs),
            tuple(_facts(pairs)),
            notes,
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

    def _added(self, patch: Patch, edits: Edits) -> int:
        self.patches.append(patch)
        self.notes.append(edits.notes)
        return len(self.patches) - 1

    def _operations(self, i: int, j: int, keyed: bool) -> tuple[Count, Count, Count]:
        flat = pair(self.index, i, j, keyed)
        return Count(*flat[:4]), Count(*flat[4:8]), Count(*flat[8:])

    def _notes(self, i: int, j: int) -> tuple[str, ...]:
        sides = (("a", self.notes[i]), ("b", self.notes[j]))
        return tuple(f"{note}: {side}" for side, notes in sides for note in notes)


def _facts(pairs: Iterable[Pairing]) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    for a, b in pairs:
        facts = a.facts if a else (), b.facts if b else ()
        named = a or b
        if facts[0] != facts[1] and named is not None:
            yield named.path, *facts
