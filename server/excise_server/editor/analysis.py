"""From a snapshot to numbers: pure, and the same for the command and the language server."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, overload

import excise
from excise.reading import PARSER_SECONDS
from excise.text import Text
from excise_server.editor.places import Site, find_sites
from excise_server.editor.snapshot import Snapshot

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "MAX_COMPARED",
    "MAX_PAIRS",
    "Analysis",
    "Analyst",
    "Comparison",
    "HunkNumbers",
    "Matrix",
    "Numbers",
    "Pairs",
    "compare",
    "count_hunks",
]

MAX_COMPARED = 50
"""Most revisions whose pairs are counted hunk by hunk (1,225 pairs); the first in rank order."""

MAX_PAIRS = 45
"""Most pairs of a hunk that anything shows (those of ten revisions)."""

MEMORY = 256 << 20
"""Bytes of scores that an `Analyst` keeps, as estimated from the sizes of the texts."""

_PER_CHARACTER = 24
"""Bytes kept for a character of the texts, with tokens, lines and alignments (22 were measured)."""


class Plane(Protocol):
    """Numbers of all pairs: those of numpy, or a view of flat bytes."""

    def __getitem__(self, pair: tuple[int, int], /) -> Any: ...  # noqa: ANN401
    def tolist(self) -> list[Any]: ...


class Matrix(Protocol):
    """The displayed part of a matrix: of an `excise.ScoreMatrix`, or of one sent by a worker."""

    @property
    def ids(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def values(self) -> Plane: ...  # noqa: D102
    @property
    def contained(self) -> Plane: ...  # noqa: D102
    @property
    def no_ops(self) -> tuple[bool, ...]: ...  # noqa: D102
    def word(self, i: int, j: int, /) -> str: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Comparison:
    """The scores, order and groups of the revisions as whole texts.

    ``ranking`` is in rank order and ``clusters`` in that of their best members; both name revisions
    by their index in the snapshot. ``notes`` holds one tuple per revision, in the snapshot's order.
    """

    matrix: Matrix
    ranking: tuple[excise.Ranked, ...]
    clusters: tuple[excise.Cluster, ...]
    signature: str
    notes: tuple[tuple[str, ...], ...]


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


@dataclass(frozen=True, slots=True, eq=False)
class Pairs(Sequence[PairNumbers]):
    """The pairs of a hunk by columns, read when somebody looks: all hunks may have a million.

    ``a`` and ``b`` are places among the revisions ``compared``, a byte each, ``numbers`` places in
    the ``table`` of all hunks (uint32), ``shares`` doubles.
    """

    compared: tuple[int, ...]
    a: memoryview
    b: memoryview
    numbers: memoryview
    shares: memoryview[float]
    table: Sequence[Numbers]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.a)

    @overload
    def __getitem__(self, index: int) -> PairNumbers: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[PairNumbers, ...]: ...
    def __getitem__(self, index: int | slice) -> PairNumbers | tuple[PairNumbers, ...]:
        """Return one of them, or some."""
        if isinstance(index, slice):
            return tuple(self[at] for at in range(*index.indices(len(self))))
        a, b = self.compared[self.a[index]], self.compared[self.b[index]]
        return PairNumbers(a, b, self.table[self.numbers[index]], self.shares[index])

    def __eq__(self, other: object) -> bool:
        """Whether these are the same pairs with the same numbers."""
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        """Return what equal pairs share."""
        return hash(tuple(self))


@dataclass(frozen=True, slots=True)
class HunkNumbers:
    """The numbers of a hunk: the formula on the counts of its divergent regions.

    Every divergent region of a pair lies in one hunk, and equal changes in other hunks do not count
    here. With a single hunk, these are the numbers of the pair.

    ``compared`` are the revisions whose pairs were counted, by index, in rank order. ``pairs`` are
    the pairs of them that diverge here, in that order. ``mean`` and ``share`` (of all divergent 1-
    to 4-grams of the pair) are over all of their pairs (None and 0 without pairs).
    """

    compared: tuple[int, ...]
    pairs: Pairs
    mean: Numbers | None
    share: float


@dataclass(frozen=True, slots=True)
class Analysis:
    """The results for a snapshot.

    ``hunks`` are the library's, whose members are indices of the snapshot's revisions, each with
    its ``numbers``. ``sites`` are their places in the buffer. ``given`` are the hunks and sites of
    the revisions without the buffer as one of them, so that text typed next to a hunk is not part
    of it. ``decided`` tells for each hunk whether the buffer differs from the origin there.
    """

    snapshot: Snapshot
    comparison: Comparison
    hunks: tuple[excise.Hunk, ...]
    numbers: tuple[HunkNumbers, ...]
    sites: tuple[Site, ...]
    given: tuple[tuple[excise.Hunk, Site], ...]
    decided: tuple[bool, ...]

    @property
    def lines(self) -> tuple[tuple[int, int], ...]:
        """The hunks' lines (from, to) in the buffer, or in the origin without one."""
        return tuple((site.lo, site.hi) for site in self.sites)


def compare(
    snapshot: Snapshot,
    cancel: excise.CancelFlag | None = None,
    before: Comparison | None = None,
) -> Comparison:
    """Score every pair of revisions, and rank and cluster them.

    What was read for the comparison ``before`` is not parsed again.
    """
    options = snapshot.options
    matrix = excise.ScoreMatrix.from_texts(
        snapshot.origin,
        [revision.text for revision in snapshot.revisions],
        ids=snapshot.ids,
        language=snapshot.language,
        path=snapshot.path,
        granularity=options.granularity,
        lcs=options.lcs,
        comments=options.comments,
        cancel=cancel,
        timeout=PARSER_SECONDS,
        strict=False,
        readings=None if before is None else _counted(before).readings,
    )
    matrix.forget_others()
    return _described(matrix, snapshot.intent)


def recompare(
    before: Snapshot, comparison: Comparison, snapshot: Snapshot, cancel: excise.CancelFlag
) -> Comparison | None:
    """Compare again when few texts changed: only their rows are computed. None if many did."""
    same = replace(snapshot, revisions=before.revisions).scored == before.scored
    if not same or snapshot.ids != before.ids:
        return None
    pairs = zip(before.revisions, snapshot.revisions, strict=True)
    changed = [new for old, new in pairs if old.text != new.text]
    if 3 * len(changed) > len(snapshot.revisions):
        return None
    matrix = _counted(comparison)
    for revision in changed:
        matrix = matrix.replaced(revision.id, revision.text, cancel=cancel)
    return _described(matrix, snapshot.intent)


def _described(matrix: excise.ScoreMatrix, intent: str) -> Comparison:
    ranking = excise.rank(matrix, intent=intent)
    place = {ranked.index: place for place, ranked in enumerate(ranking)}
    clusters = excise.cluster(matrix)
    return Comparison(
        matrix=matrix,
        ranking=ranking,
        clusters=tuple(sorted(clusters, key=lambda c: min(place[i] for i in c.members))),
        signature=matrix.signature,
        notes=matrix.notes,
    )


class Analyst:
    """Analyses snapshots, and keeps the scores of the last few: most changes only move lines.

    Used by one thread.
    """

    def __init__(self, limit: int = MEMORY) -> None:
        """Keep the scores of at most so many bytes of snapshots, but always those of the last."""
        self._limit = limit
        self._kept: OrderedDict[object, Analysis] = OrderedDict()
        self._bare: tuple[object, excise.Hunks] | None = None
        self.pairs = 0
        """The number of pairs that were scored."""

    def analyse(self, snapshot: Snapshot, cancel: excise.CancelFlag) -> Analysis:
        """Return the analysis of a snapshot.

        Without revisions that is a signature, for which the first line is read: it may name the
        language, and most files that an editor opens never get a revision.

        Raises
        ------
        excise.errors.Cancelled
            When the flag was raised meanwhile.
        """
        if not snapshot.revisions:
            first, _, _ = snapshot.origin.partition("\n")
            comparison = self._compared(replace(snapshot, origin=first), cancel)
            return Analysis(snapshot, comparison, (), (), (), (), ())
        cached = self._kept.get(snapshot.scored)
        if cached is None:
            comparison = self._compared(snapshot, cancel)
            hunks, numbers = _hunks(snapshot, comparison, cancel)
        else:
            comparison, hunks, numbers = cached.comparison, cached.hunks, cached.numbers
        origin, shown = Text.of(snapshot.origin), Text.of(snapshot.shown)
        shown = origin if shown == origin else shown
        sites = find_sites(origin, shown, hunks, snapshot.own)
        typed_apart = tuple(zip(hunks, sites, strict=True))
        if snapshot.own is not None:
            bare = self._without_buffer(snapshot, comparison, cancel)
            typed_apart = tuple(zip(bare, find_sites(origin, shown, bare), strict=True))
        decided = tuple(
            shown.between(site.lo, site.hi) != hunk.text
            for site, hunk in zip(sites, hunks, strict=True)
        )
        analysis = Analysis(snapshot, comparison, hunks, numbers, sites, typed_apart, decided)
        self._kept[snapshot.scored] = analysis
        self._kept.move_to_end(snapshot.scored)
        while len(self._kept) > 1 and sum(map(_weight, self._kept.values())) > self._limit:
            self._kept.popitem(last=False)
        return analysis

    def forget(self, uri: str) -> None:
        """Forget the scores of a document."""
        for key in [
            key for key, analysis in self._kept.items() if analysis.snapshot.uri_or_path == uri
        ]:
            del self._kept[key]
        self._bare = None

    def _without_buffer(
        self, snapshot: Snapshot, comparison: Comparison, cancel: excise.CancelFlag
    ) -> excise.Hunks:
        """Return the hunks without the buffer as a revision, computed once while somebody types."""
        others = [index for index in snapshot.texts if index != snapshot.own]
        bare = replace(snapshot, revisions=tuple(snapshot.revisions[index] for index in others))
        key = (bare.scored, snapshot.own, comparison.signature)
        if self._bare is None or self._bare[0] != key:
            self._bare = (key, _counted(comparison).hunks(others, cancel=cancel))
        return self._bare[1]

    def _compared(self, snapshot: Snapshot, cancel: excise.CancelFlag) -> Comparison:
        """Compare starting from the document's last snapshot, or from the beginning."""
        known = None
        for before in reversed(self._kept.values()):
            if before.snapshot.uri_or_path == snapshot.uri_or_path:
                full = _counted(before.comparison).readings.is_full
                known = None if full else before.comparison
                try:
                    again = recompare(before.snapshot, before.comparison, snapshot, cancel)
                except excise.Cancelled:
                    if not cancel.timed_out:
                        raise
                    break
                if again is not None:
                    changed = zip(before.snapshot.revisions, snapshot.revisions, strict=True)
                    rows = sum(old.text != new.text for old, new in changed)
                    self.pairs += rows * (len(snapshot.revisions) - 1)
                    return again
                break
        self.pairs += len(snapshot.revisions) * (len(snapshot.revisions) - 1) // 2
        return compare(snapshot, cancel=cancel, before=known)


def _hunks(
    snapshot: Snapshot, comparison: Comparison, cancel: excise.CancelFlag
) -> tuple[tuple[excise.Hunk, ...], tuple[HunkNumbers, ...]]:
    """Return the hunks of the revisions that have a text, with their numbers.

    Those without a text have no lines in any of them.
    """
    texts, matrix = snapshot.texts, _counted(comparison)
    order = [ranked.index for ranked in comparison.ranking if ranked.index in texts]
    hunks = matrix.hunks(texts, cancel=cancel)
    numbers = count_hunks(hunks, matrix, order, cancel)
    if len(texts) == len(snapshot.revisions):
        return tuple(hunks), numbers
    spans = [dict(zip(texts, hunk.spans, strict=True)) for hunk in hunks]
    everyone = range(len(snapshot.revisions))
    padded = (tuple(own.get(index, (0, 0)) for index in everyone) for own in spans)
    return tuple(replace(h, spans=s) for h, s in zip(hunks, padded, strict=True)), numbers


def _counted(comparison: Comparison) -> excise.ScoreMatrix:
    """Return the matrix as the library's type, which has more than the protocol `Matrix`."""
    matrix = comparison.matrix
    assert isinstance(matrix, excise.ScoreMatrix)
    return matrix


def count_hunks(
    hunks: excise.Hunks,
    matrix: excise.ScoreMatrix,
    order: Sequence[int],
    cancel: excise.CancelFlag | None = None,
) -> tuple[HunkNumbers, ...]:
    """Return the numbers of every hunk, from the pairs of the first revisions in ``order``.

    Raises
    ------
    excise.errors.Cancelled
        If the flag is raised meanwhile.
    """
    scores = matrix.in_hunks(hunks, order[:MAX_COMPARED], cancel=cancel)
    compared, entries = scores.order, scores.entries
    total = len(compared) * (len(compared) - 1) // 2
    means, shares = _means(entries, len(hunks), total)
    places: dict[tuple[float, ...], int] = {}
    fours = entries[["value", "keep", "add", "delete"]].tolist()
    a = memoryview(entries["first"].astype("u1").tobytes())
    b = memoryview(entries["second"].astype("u1").tobytes())
    numbers = memoryview(array("I", (places.setdefault(four, len(places)) for four in fours)))
    every_share = memoryview(entries["share"].tobytes()).cast("d")
    table = [
        Numbers(value, *(None if part < 0 else part for part in operations))
        for value, *operations in places
    ]
    bounds = zip(scores.bounds, scores.bounds[1:], strict=False)
    return tuple(
        HunkNumbers(
            compared,
            Pairs(compared, a[lo:hi], b[lo:hi], numbers[lo:hi], every_share[lo:hi], table),
            mean,
            share,
        )
        for (lo, hi), mean, share in zip(bounds, means, shares, strict=True)
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


def _weight(analysis: Analysis) -> int:
    """Return about how many bytes are kept for an analysis."""
    snapshot = analysis.snapshot
    return _PER_CHARACTER * (len(snapshot.origin) + sum(len(r.text) for r in snapshot.revisions))
