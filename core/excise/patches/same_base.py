"""Patches of one tree (``basis:origin``, section 8): the score of whole texts, guards first."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from excise.agreement import DIFFERENT, Shares, word_of
from excise.edits import EditCounts
from excise.excision import (
    ANCHORED,
    ANYWHERE,
    PLACED,
    REARRANGED,
    WHITESPACE_ONLY,
    Operations,
    Weights,
    excision,
)
from excise.kernels._graph import Graph
from excise.patches.closeness import Closeness, Map
from excise.patches.features import IGNORED, compared, facts_of, text_id
from excise.patches.likeness import Likeness
from excise.patches.model import Patch
from excise.patches.pairing import Pairing, common_keys, paired_on_one_base
from excise.patches.pool import Pool
from excise.patches.triple import Triple
from excise.signature import DEFINITION, MAX_ORDER

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["OneBase", "SameBase", "Scorer", "compare_on_one_base"]

Scorer = Callable[[Sequence[Patch], Sequence[tuple[int, int]]], Iterable[float]]
"""Given patches of one tree and pairs of them, the score of each pair, in order."""

ORIGIN = "origin"
SIGNATURE = (
    f"es|gran:nested|lcs:star|place:anchored|del:f1|n:{MAX_ORDER}|comments:keep|tok:lexical"
    f"|basis:origin|key:none|v:{DEFINITION}"
)
DISAGREE = "they show different lines of one file: not made from one tree"


@dataclass(frozen=True, slots=True)
class SameBase(Likeness):
    """How much two patches of one tree agree on what they did to it (symmetric form).

    Attributes
    ----------
    counts
        The n-gram counts, summed over the places of the origin.
    guarded
        What a guard decided; None: the formula does.
    notes
        ``whitespace-only``, ``rearranged``, reasons of a 0.
    files
        Paths that were compared with each other, (a, b); None: the other leaves the file as it is.
    """

    counts: EditCounts
    guarded: Fraction | None
    equal: bool
    notes: tuple[str, ...]
    files: tuple[tuple[str | None, str | None], ...]
    signature: str = SIGNATURE
    in_another_file: bool = False

    @property
    def operations(self) -> Operations:
        """Keep, add and delete, and the score, as fractions."""
        operations = excision(self.counts)
        decided = self._value(PLACED)
        return operations if decided == operations.value else operations.decided(decided)

    @property
    def exact(self) -> Fraction:
        """The score as a fraction in [0, 1]."""
        return self._value(PLACED)

    @property
    def shares(self) -> Shares:
        """The shares that its word is made of."""
        contained = self.counts.contained
        if self.guarded == 1 and not self.equal:  # equal facts of headers contain each other
            contained = Fraction(1), Fraction(1)
        return Shares(self._value(ANCHORED), self._value(ANYWHERE), *contained)

    @property
    def word(self) -> str:
        """The word for the pair. A patch without changes has nothing in common with any other."""
        return DIFFERENT if self.guarded == 0 else word_of(self.shares, equal=self.equal)

    def _value(self, weights: Weights) -> Fraction:
        if self.guarded is not None:
            return self.guarded
        return excision(self.counts, weights=weights).value if self.counts.defined else Fraction(0)


def compare_on_one_base(a: Patch, b: Patch) -> SameBase:
    """Compare two patches that were made from the same tree.

    Files are paired by path, then by a rename's old path, then created files by their content.
    """
    pairs = paired_on_one_base(a.files, b.files)
    named = tuple((x.path if x else None, y.path if y else None) for x, y in pairs)
    same, common = text_id(a) == text_id(b), any(x and y for x, y in pairs)
    triple = Triple(pairs)
    notes: list[str] = []
    if not same and triple.unchanged == (True, True):
        notes, triple = [WHITESPACE_ONLY], Triple(pairs, raw=True)
    guarded, equal = _guarded(same, common, triple, pairs)
    counts = triple.counts()
    if guarded is None and not counts.defined:
        # What was added and deleted cancels inside the places: the lines were rearranged.
        notes, counts = [*notes, REARRANGED], Triple(pairs, raw=True).counts()
    notes += ["no common file"] * (not common and not same) + [DISAGREE] * triple.disagree
    return SameBase(counts, guarded, equal, tuple(notes), named)


def _guarded(
    same: bool, common: bool, triple: Triple, pairs: Sequence[Pairing]
) -> tuple[Fraction | None, bool]:
    """Apply the guards of section 5 in order, and tell whether the two are equal."""
    if same:
        return Fraction(1), True
    if common and all(triple.unchanged):
        return Fraction(_equal_facts(pairs)), False
    if not common or any(triple.unchanged):
        return Fraction(0), False
    return (Fraction(1), True) if triple.equal else (None, False)


def _equal_facts(pairs: Sequence[Pairing]) -> bool:
    """Whether the headers of two patches without any text say the same of each file."""
    a, b = (
        Counter(
            (pair.path, fact) for both in pairs if (pair := both[side]) for fact in facts_of(pair)
        )
        for side in (0, 1)
    )
    return a == b


class OneBase(Pool):
    """A pool whose patches were all made from one tree: scores are those of ``basis:origin``.

    Parameters
    ----------
    ignored
        As of `Pool`.
    scorer
        Aligns many pairs of the patches elsewhere, such as on other machines; None: here.
    """

    def __init__(self, *, ignored: Sequence[str] = IGNORED, scorer: Scorer | None = None) -> None:
        """Start empty."""
        super().__init__(ignored=ignored)
        self.basis = ORIGIN
        self._scorer = scorer

    @property
    def signature(self) -> str:
        """The signature of every score."""
        return SIGNATURE

    def add(self, patch: Patch) -> int:
        """Add a patch, without the files that are ignored."""
        return super().add(Patch(compared(patch, self.ignored)[0], patch.warnings))

    def score(self, i: int, j: int) -> float:
        """Return the score of two patches."""
        return compare_on_one_base(self.patches[i], self.patches[j]).value

    def likeness(self, i: int, j: int) -> Likeness:
        """Return what two patches have in common."""
        return compare_on_one_base(self.patches[i], self.patches[j])

    def near(self, least: float, map: Map = map) -> list[tuple[int, int, float]]:
        """Return the pairs that score above 0, and at least `least`."""
        pairs = list(self._candidates())
        values = (
            map(lambda pair: self.score(*pair), pairs)
            if self._scorer is None
            else self._scorer(self.patches, pairs)
        )
        return [
            (i, j, value)
            for (i, j), value in zip(pairs, values, strict=True)
            if value > 0 and value >= least
        ]

    def _candidates(self) -> Iterator[tuple[int, int]]:
        """Yield the pairs that have a file in common, or are equal: all others score 0."""
        have: dict[Hashable, list[int]] = defaultdict(list)
        for at, patch in enumerate(self.patches):
            for key in common_keys(patch):
                have[key].append(at)
        yield from sorted({pair for found in have.values() for pair in combinations(found, 2)})

    def dense(self, members: array[int], values: npt.NDArray[np.float64]) -> None:
        """Write the scores of every pair of the members."""
        for x, y in combinations(range(len(members)), 2):
            values[x, y] = values[y, x] = self.score(members[x], members[y])
        for x in range(len(members)):
            values[x, x] = 1.0

    def closeness(self, least: float, map: Map = map) -> Closeness:
        """Return what groups are made of."""
        return _Origin(self, least, map)


class _Origin(Closeness):
    def __init__(self, pool: OneBase, least: float, map: Map) -> None:
        self._pool = pool
        self._near = {(i, j): value for i, j, value in pool.near(0.0, map)}
        self._least = least

    def components(self, equal: tuple[array[int], array[int]]) -> list[list[int]]:
        graph = Graph(len(self._pool))
        graph.unite(*equal)
        near = [pair for pair, value in self._near.items() if value >= self._least]
        graph.unite(array("i", (i for i, _ in near)), array("i", (j for _, j in near)))
        return graph.components()

    def known(self, members: array[int]) -> npt.NDArray[np.float64]:
        import numpy as np

        values = np.eye(len(members))
        for x, y in combinations(range(len(members)), 2):
            pair = min(members[x], members[y]), max(members[x], members[y])
            values[x, y] = values[y, x] = self._near.get(pair, 0.0)
        return values

    def fill(self, members: array[int], values: npt.NDArray[np.float64]) -> None:
        """All are known."""

    def forget(self, member: int) -> None:
        """The pool keeps its values."""
