"""Patches of one tree (``basis:origin``, section 8): the origin is what either patch shows of it.

Every line that neither shows is conserved: one token that no text has stands for each such gap.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from excise._counts import merge_edits
from excise._lcs import edits as lcs_edits
from excise.edits import EditCounts, count_edits
from excise.excision import Operations, excision
from excise.lexical import words
from excise.patches.blocks import images
from excise.patches.features import IGNORED, compared, facts_of
from excise.patches.model import FilePair, Patch
from excise.patches.pairing import common_keys, paired_on_one_base
from excise.patches.pool import Closeness, Map, Pool
from excise.text import WHITE
from excise.tokens import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["OneBase", "SameBase", "compare_on_one_base"]

ORIGIN = "origin"
SIGNATURE = (
    "es|gran:nested|lcs:star|place:pooled|del:f1|n:4|comments:keep|tok:lexical"
    "|basis:origin|key:none|v:2"
)
Tokens = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class SameBase:
    """How much two patches of one tree agree on what they did to it (symmetric form)."""

    operations: Operations
    counts: EditCounts
    notes: tuple[str, ...]
    files: tuple[tuple[str | None, str | None], ...]
    signature: str = SIGNATURE

    @property
    def exact(self) -> Fraction:
        """The score as a fraction in [0, 1]."""
        return self.operations.value

    @property
    def value(self) -> float:
        """The score as the nearest float."""
        return float(self.exact)


def compare_on_one_base(a: Patch, b: Patch) -> SameBase:
    """Compare two patches that were made from the same tree.

    Files are paired by path, then by a rename's old path, then created files by their content.
    """
    pairs = paired_on_one_base(a.files, b.files)
    named = tuple((x.path if x else None, y.path if y else None) for x, y in pairs)
    triple = _Triple(_lexical)
    for pair in pairs:
        triple.add(*pair)
    notes: tuple[str, ...] = ()
    if triple.unchanged == (True, True):
        notes = ("whitespace-only",)
        triple = _Triple(_raw)
        for pair in pairs:
            triple.add(*pair)
    counts = triple.counts()
    operations = excision(counts)
    common = any(x and y for x, y in pairs)
    if a != b and not common:
        notes = (*notes, "no common file")
    decided = _decided(a == b, common, triple)
    if decided == 1 and all(triple.unchanged):
        decided = _facts_in_common(pairs)
    return SameBase(operations.decided(decided) if decided is not None else operations,
                    counts, notes, named)  # fmt: skip


def _decided(same: bool, common: bool, triple: _Triple) -> Fraction | None:
    """Apply the guards of section 5, in their order."""
    if same:
        return Fraction(1)
    if not common or any(triple.unchanged):
        return Fraction(int(common and triple.unchanged == (True, True)))
    return Fraction(1) if triple.sides[0] == triple.sides[1] else None


def _facts_in_common(pairs: Sequence[tuple[FilePair | None, FilePair | None]]) -> Fraction:
    """Score two patches without any text by what their headers say of each file."""
    found = [
        [(pair.path, fact) for both in pairs if (pair := both[side]) for fact in facts_of(pair)]
        for side in (0, 1)
    ]
    both = sum((Counter(found[0]) & Counter(found[1])).values())
    return Fraction(2 * both, len(found[0]) + len(found[1])) if any(found) else Fraction(1)


@dataclass(slots=True)
class _Run:
    """Lines of the old file, from and to (exclusive), and what stands there instead."""

    first: int
    stop: int
    new: list[str]


def _lexical(line: str) -> list[str]:
    return words(line)


def _raw(line: str) -> list[str]:
    return [f"{line.removesuffix(chr(13))}\n"]


@dataclass(slots=True)
class _Triple:
    """Origin and both sides, all files in a row, as ints; the edits of both sides."""

    tokens: Tokens
    origin: array[int] = field(default_factory=lambda: array("i"))
    sides: tuple[array[int], array[int]] = field(default_factory=lambda: (array("i"), array("i")))
    edits: tuple[array[int], array[int]] = field(default_factory=lambda: (array("i"), array("i")))
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    gaps: int = 0

    @property
    def unchanged(self) -> tuple[bool, bool]:
        return not self.edits[0], not self.edits[1]

    def counts(self) -> EditCounts:
        return count_edits(merge_edits(*self.edits), self.origin, *self.sides)

    def add(self, a: FilePair | None, b: FilePair | None) -> None:
        known: dict[int, str] = {}
        # Where they disagree on a line, A is believed.
        runs = [list(self.runs(pair, known)) if pair else [] for pair in (b, a)]
        begin = len(self.origin)
        places = self.places(known, {run.first for side in runs for run in side})
        for side, found in zip((1, 0), runs, strict=True):
            self.apply(side, found, places, begin)

    def runs(self, pair: FilePair, known: dict[int, str]) -> Iterator[_Run]:
        """Yield what a side did to a file, by line numbers; note the lines that it shows."""
        for hunk in pair.hunks:
            old, new = images(hunk)
            start = hunk.old_start if old else hunk.old_start + 1
            known.update(enumerate(old, start))
            o, a = self.solid(old), self.solid(new)
            keys = [
                self.vocabulary.intern(("line", self.key(lines[at])) for at in found)
                for lines, found in ((old, o), (new, a))
            ]
            flat = lcs_edits(keys[0], keys[1])
            for at in range(0, len(flat), 4):
                o_lo, o_hi, a_lo, a_hi = flat[at : at + 4]
                first = start + (o[o_lo] if o_lo < len(o) else len(old))
                stop = start + o[o_hi - 1] + 1 if o_hi > o_lo else first
                yield _Run(first, stop, [new[place] for place in a[a_lo:a_hi]])

    def solid(self, lines: list[str]) -> list[int]:
        """Return the lines that are aligned: those with tokens."""
        return [at for at, line in enumerate(lines) if self.tokens(line)]

    def key(self, line: str) -> str:
        return line.rstrip(WHITE) if self.tokens is _lexical else line

    def places(self, known: dict[int, str], anchors: set[int]) -> dict[int, int]:
        """Write the origin of a file; return the token before which each line begins."""
        places: dict[int, int] = {}
        self.gap()
        for number in sorted(known.keys() | anchors | {line + 1 for line in known}):
            if number - 1 not in known and number - 1 not in places:
                self.gap()
            places[number] = len(self.origin)
            if number in known:
                self.origin.extend(self.vocabulary.intern(self.tokens(known[number])))
        self.gap()
        return places

    def gap(self) -> None:
        self.gaps += 1
        self.origin.extend(self.vocabulary.intern([("gap", self.gaps)]))

    def apply(self, side: int, runs: Iterable[_Run], places: dict[int, int], begin: int) -> None:
        out, edits, cursor = self.sides[side], self.edits[side], begin
        for run in sorted(runs, key=lambda run: (run.first, run.stop)):
            lo, hi = max(places[run.first], cursor), max(places[run.stop], cursor)
            out.extend(self.origin[cursor:lo])
            new = self.vocabulary.intern(token for line in run.new for token in self.tokens(line))
            base = len(out)
            flat = lcs_edits(self.origin[lo:hi], new)
            for at in range(0, len(flat), 4):
                o_lo, o_hi, a_lo, a_hi = flat[at : at + 4]
                edits.extend((lo + o_lo, lo + o_hi, base + a_lo, base + a_hi))
            out.extend(new)
            cursor = hi
        out.extend(self.origin[cursor:])


class OneBase(Pool):
    """A pool whose patches were all made from one tree: scores are those of ``basis:origin``.

    Containment stays that of the patches' own edits.
    """

    def __init__(self, *, ignored: Sequence[str] = IGNORED) -> None:
        """Start empty."""
        super().__init__(ignored=ignored)
        self.basis = ORIGIN

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

    def near(self, least: float, map: Map = map) -> list[tuple[int, int, float]]:
        """Return the pairs that score above 0, and at least `least`."""
        pairs = list(self._candidates())
        values = map(lambda pair: self.score(*pair), pairs)
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

    def pairs(self) -> Iterator[tuple[array[int], array[int]]]:
        near = [pair for pair, value in self._near.items() if value >= self._least]
        yield array("i", [i for i, _ in near]), array("i", [j for _, j in near])

    def values(self, members: array[int]) -> npt.NDArray[np.float64]:
        import numpy as np

        values = np.eye(len(members))
        for x, y in combinations(range(len(members)), 2):
            pair = min(members[x], members[y]), max(members[x], members[y])
            values[x, y] = values[y, x] = self._near.get(pair, 0.0)
        return values
