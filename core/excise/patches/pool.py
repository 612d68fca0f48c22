"""Patches of one run, compared by their edits (``basis:edits``, section 8), and their groups."""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from excise.agreement import CODE, DIFFERENT, IDENTICAL, OVERLAPS, Shares, overlaps
from excise.clustering import Cluster, check, clear_labels, linked_labels
from excise.components import members_of, unite
from excise.excision import ANCHORED, ANYWHERE, PLACED, Weights, f1
from excise.kernels._matches import pair
from excise.kernels._patches import Index
from excise.kernels._search import Search
from excise.patches.features import IGNORED, PatchFeatures, Reader, paired
from excise.patches.identity import PatchIds, ids_of, patch_id
from excise.patches.model import Patch, PatchError
from excise.regions import Count
from excise.signature import DEFINITION, MAX_ORDER

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

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


def signature(key: str = "name", *, idf: bool = False) -> str:
    """Return the signature of ``basis:edits``. `idf` applies to groups, never to a score.

    >>> signature()
    'pes|n:4|comments:keep|tok:lexical|basis:edits|key:name|place:anchored|heads:3|v:2'
    >>> signature("none", idf=True)
    'pes|n:4|comments:keep|tok:lexical|basis:edits|key:none|place:anchored|heads:3|idf:yes|v:2'
    """
    weighted = "|idf:yes" if idf else ""
    return (
        f"pes|n:{MAX_ORDER}|comments:keep|tok:lexical|basis:edits|key:{key}|place:anchored"
        f"|heads:{HEADS}{weighted}|v:{DEFINITION}"
    )


def pooled(operations: Sequence[Count]) -> Count:
    """Return the sums: under ``basis:edits`` operations and orders count together."""
    return Count(*map(sum, zip(*operations, strict=True)))


@dataclass(frozen=True, slots=True)
class Likeness:
    """How much the edits of two patches have in common.

    - ``operations``: n-grams kept, added and deleted, of all orders.
    - ``level``: `IDENTICAL` or `CODE` where the two are the same edit (`PatchIds`), else empty.
    - ``in_another_file``: whether the context lines of files of other names agree, and these have
      something in common.
    """

    operations: tuple[Count, Count, Count]
    level: str
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
        return self.level or (OVERLAPS if overlaps(self.shares) else DIFFERENT)


@dataclass(frozen=True, slots=True)
class Comparison(Likeness):
    """How much the edits of two patches have in common, and why.

    - ``files``: paths that were compared with each other, (a, b); None: the other has no such file.
    - ``facts``: header facts that differ: (path, of a, of b).
    - ``notes``: ``whitespace-only: a``, reasons of a 0.
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

    - ``key``: ``name``: an n-gram carries the base name of its file. ``none``: it does not.
    - ``ignored``: globs of base names or paths that are left out.
    - ``idf``: groups are made with n-grams weighted by how few patches of the pool have them: ln((1
      + N) / (1 + df)) + 1. Scores are not weighted.
    """

    basis = "edits"

    def __init__(
        self,
        *,
        key: str = "name",
        ignored: Sequence[str] = IGNORED,
        idf: bool = False,
    ) -> None:
        self.idf = idf
        self.key, self.ignored = key, tuple(ignored)
        self.patches: list[Patch] = []
        self.notes: list[tuple[str, ...]] = []
        self._index = Index(key == "name")
        self._uncounted: list[PatchFeatures] = []
        self._reader = Reader()
        self._ids: dict[int, PatchIds] = {}

    def __len__(self) -> int:
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

    def add_read(self, patch: Patch, edits: PatchFeatures, ids: PatchIds) -> int:
        """Add a patch whose edits were read elsewhere or before, with its names.

        All patches of such a pool are added so: their edits share a vocabulary that it does not
        have. They are counted when a score is asked for.
        """
        number = len(self)
        self._uncounted.append(edits)
        self.patches.append(patch)
        self.notes.append(edits.notes)
        self._ids[number] = ids
        return number

    def ids(self, i: int) -> PatchIds:
        """Return the names that a patch shares with those that are the same."""
        if i not in self._ids:
            self._ids[i] = ids_of(self.patches[i])
        return self._ids[i]

    def patch_id(self, i: int) -> str:
        """Return the name that equal patches share."""
        return self._ids[i].patch if i in self._ids else patch_id(self.patches[i])

    def near(self, least: float, map: Map = map) -> list[tuple[int, int, float]]:
        """Return the pairs (i, j, score), i < j, that score above 0, and at least `least`."""
        found = pieces(Search(self.index, least), map)
        return sorted(pair for piece in found for pair in zip(*piece, strict=True))

    def dense(self, members: array[int], values: Values) -> None:
        """Write the scores of every pair of the members, k x k, and 1 on the diagonal."""
        Search(self.index, 0.0).dense(members, values)

    def closeness(self, least: float, map: Map = map) -> Closeness:
        """Return what groups are made of: scores, or with `idf` weighted ones."""
        search = Search(self.index, least, self.idf, distinct=True)
        return Closeness(search, map, self.index.first)

    def likeness(self, i: int, j: int) -> Likeness:
        """Return what the edits of two patches have in common, in numbers and in a word."""
        operations = keyed = self._operations(i, j, True)
        if self.rescued(i, j):
            operations = self._operations(i, j, False)
        a, b = self.ids(i), self.ids(j)
        level = IDENTICAL if a.edit == b.edit else CODE if a.code == b.code else ""
        return Likeness(operations, level, operations != keyed and not level)

    def compare(self, i: int, j: int) -> Comparison:
        """Compare two patches of the pool by their edits."""
        found = self.likeness(i, j)
        files = self.patches[i].files, self.patches[j].files
        pairs = paired(*files, by_content=self.rescued(i, j))
        notes = [f"{note}: a" for note in self.notes[i]] + [f"{note}: b" for note in self.notes[j]]
        if not any(a and b for a, b in pairs):
            notes.append("no common file")
        facts = [
            (named.path, a.facts if a else (), b.facts if b else ())
            for a, b in pairs
            if (named := a or b)
        ]
        return Comparison(
            found.operations,
            found.level,
            found.in_another_file,
            tuple((a.path if a else None, b.path if b else None) for a, b in pairs),
            tuple(each for each in facts if each[1] != each[2]),
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


class Closeness:
    """How close the patches of a pool are: the pairs at `least` or above, and any others.

    - ``first``: for each patch the first one with the same numbers beside all others; None: not
      known.
    """

    def __init__(self, search: Search, map: Map = map, first: Sequence[int] | None = None) -> None:
        """Look for pairs with the caller's `map`."""
        self._search, self.first = search, first
        self._found = pieces(search, map)

    def components(self, equal: tuple[Sequence[int], Sequence[int]]) -> list[list[int]]:
        """Return the patches that hang together by pairs that are close enough, or equal.

        Of patches with the same numbers only the first is in other pairs; the others are in one
        with it.
        """
        import numpy as np

        label = np.arange(len(self._search), dtype=np.int32)
        unite(label, *equal)
        if self.first is not None:
            unite(label, self.first, range(len(label)))
        found = [[np.frombuffer(own, own.typecode) for own in pairs] for pairs in self._found]
        for left, right, _ in found:
            unite(label, left, right)
        # The pairs of a component stand together: a pair takes 16 bytes.
        none = [np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)]
        columns = [np.concatenate(column) for column in zip(none, *found, strict=True)]
        of = label[columns[0]]
        order = np.argsort(of, kind="stable")
        self._pairs = [column[order] for column in columns]
        self._label, self._starts = label, np.searchsorted(of[order], np.arange(len(label) + 1))
        self._row = np.full(len(label), -1, dtype=np.int32)
        return members_of(label)

    def known(self, members: array[int]) -> Values:
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
        own = slice(*self._starts[self._label[members[0]] :][:2])
        self._row[members] = np.arange(len(members))
        rows, columns = (self._row[ends[own]] for ends in self._pairs[:2])
        self._row[members] = -1
        inside = (rows >= 0) & (columns >= 0)
        rows, columns, found = rows[inside], columns[inside], self._pairs[2][own][inside]
        values[rows, columns] = values[columns, rows] = found
        return values

    def fill(self, members: array[int], values: Values) -> None:
        """Write the values of the pairs that are not `known`."""
        self._search.dense(members, values, missing=True)


def pieces(search: Search, map: Map) -> Iterator[Pairs]:
    """Yield the pairs of a search, piece by piece."""
    ranges = search.ranges(BLOCKS, SMALLEST)
    for i, j, values, _ in map(lambda part: search.pairs(*part), ranges):
        yield i, j, values


# --- groups of patches that are the same idea, and the one of each to read

DISTANCE = 0.55
LINKAGE = "complete"
MOST = 12_000
"""Different patches of one component: grouping them takes 16 bytes a cell of their matrix, 2.3 GB.

At 4,000 it would be .3 GB, but a refusal leaves all patches of the run without groups.
"""


def group(
    pool: Pool, *, threshold: float = DISTANCE, linkage: str = LINKAGE, map: Map = map
) -> tuple[Cluster, ...]:
    """Cluster the patches of a pool agglomeratively on 1 - score, the largest group first.

    Patches of different components of the graph {distance <= threshold} never meet under any of
    the linkages, so each component is clustered alone, with the labels that the whole matrix would
    give.

    Raises excise.errors.OptionError on an unknown linkage or a threshold outside [0, 1]. Raises
    PatchError if more than 12,000 different patches hang together, each close enough to another one
    of them; with average linkage equal ones count, too.
    """
    check(threshold, linkage)
    if threshold == 0:
        return tuple(Cluster((at,), at, 1.0) for at in range(len(pool)))
    # A hair below, so that rounding in 1 - value never separates what the linkage would join.
    close = pool.closeness(1.0 - threshold - 1e-9, map)
    # A search finds what shares something: empty patches share nothing, and are equal all the same.
    first: dict[str, int] = {}
    names = [pool.patch_id(at) for at in range(len(pool))]
    firsts = [first.setdefault(name, at) for at, name in enumerate(names)]
    found: list[Cluster] = []
    for members in close.components((firsts, range(len(pool)))):
        found += _clusters(close, members, threshold, linkage, names)
    if pool.idf:  # the smallest score is not the smallest weighted one
        found = [
            replace(
                own, min_similarity=min(pool.score(own.representative, at) for at in own.members)
            )
            for own in found
        ]
    return tuple(sorted(found, key=lambda c: (-len(c.members), c.members)))


def _clusters(
    close: Closeness, members: list[int], threshold: float, linkage: str, names: Sequence[str]
) -> list[Cluster]:
    """Cluster a component. Of patches with the same numbers the first one stands for all.

    Rows are in the order of the patches' `names`, which decides between pairs equally near.
    """
    if len(members) == 1:
        return [Cluster((members[0],), members[0], 1.0)]
    first = members if close.first is None else [close.first[at] for at in members]
    rows = {at: row for row, at in enumerate(sorted(set(first), key=lambda at: (names[at], at)))}
    _refuse(len(rows), threshold)
    # Most components are clear from the pairs that were found; no others have to be counted then.
    values = close.known(array("i", rows))
    label = clear_labels(values, threshold, linkage, of_values=True)
    if label is None:
        close.fill(array("i", rows), values)
    if label is None and linkage == "average":  # its means count every member
        _refuse(len(members), threshold)
        every = sorted(rows[at] for at in first)
        wide = linked_labels(values[every][:, every], threshold, linkage)
        label_of = dict(zip(every, wide, strict=True))
        label = [label_of[row] for row in range(len(rows))]
    elif label is None:
        label = linked_labels(values, threshold, linkage)
    together: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for at, own in zip(members, first, strict=True):
        together[label[rows[own]]].append((at, rows[own]))
    return [_cluster(values, local) for local in together.values()]


def _refuse(n: int, threshold: float) -> None:
    """Refuse a matrix that would take too much memory."""
    if n > MOST:
        raise PatchError(
            f"{n:,} patches form one component at distance {threshold:g}, "
            f"and at most {MOST:,} can be grouped at once: choose a smaller threshold"
        )


def _cluster(values: Values, local: list[tuple[int, int]]) -> Cluster:
    """Return a cluster of patches with their rows, equal rows only once."""
    first: dict[int, int] = {}
    for at, row in local:
        first.setdefault(row, at)
    rows, columns = list(first), [row for _, row in local]
    # The sum is added up column by column, and no column is copied before it is needed.
    sums = values[columns[0], rows]
    for column in columns[1:]:
        sums += values[column, rows]
    medoid = int(sums.argmax())
    representative = first[rows[medoid]]
    least = float(values[rows[medoid], columns].min())
    return Cluster(tuple(at for at, _ in local), representative, least)
