"""From a snapshot to numbers: pure, and the same for the command and the language server."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import excise
from excise.agreement import SAME, WORDS
from excise.levels import Level
from excise.ranking import INTENT
from excise.reading import PARSER_SECONDS, read
from excise.signature import Options
from excise.text import Revision, Text, normalise, raw_lines
from excise.units import Unit, units_of
from excise_server.editor.document import OWN_EDITS, voice_of
from excise_server.editor.places import find_sites
from excise_server.wire.worker import EarlyHunks, HunkNumbers, HunkUnit, Numbers, PairNumbers, Site

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


MAX_COMPARED = 50
"""Most revisions whose pairs are counted hunk by hunk (1,225 pairs); the first in rank order."""

MAX_PAIRS = 45
"""Most pairs of a hunk that anything shows (those of ten revisions)."""

MEMORY = 256 << 20
"""Bytes of scores that an `Analyst` keeps, as estimated from the sizes of the texts."""

_PER_CHARACTER = 24
"""Bytes kept for a character of the texts, with tokens, lines and alignments (22 were measured)."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An origin, its revisions, and everything needed to score them and to place the result.

    The texts are not normalised, which the library does. ``buffer`` is the current text in an
    editor (None if the document is not open), and ``version`` its number. ``language`` has
    precedence over ``path``, and either may be None. ``kept`` are hunks, as lines of the origin, in
    which it stays, with their `texts_seen`. ``deleted`` are the ids of revisions that delete the
    file: they are scored by the deleted tokens, and have no text in any hunk. ``intent`` is that of
    `excise.rank`.
    """

    uri_or_path: str
    origin: str
    revisions: tuple[Revision, ...]
    language: str | None = None
    path: str | None = None
    options: Options = field(default_factory=Options)
    buffer: str | None = None
    version: int | None = None
    kept: Mapping[tuple[int, int], frozenset[str]] = field(default_factory=dict)
    deleted: frozenset[str] = frozenset()
    intent: str = INTENT

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the revisions, in their order."""
        return tuple(revision.id for revision in self.revisions)

    @property
    def shown(self) -> str:
        """The text in the editor, or the origin without one."""
        return self.origin if self.buffer is None else self.buffer

    @property
    def own(self) -> int | None:
        """The index of the revision that is the buffer's own text, where there is one."""
        for index, revision in enumerate(self.revisions):
            if revision.id == OWN_EDITS and revision.text is self.buffer:
                return index
        return None

    @property
    def scored(self) -> tuple[object, ...]:
        """All that the scores depend on: the key under which they may be kept."""
        return (
            self.origin, self.revisions, self.language, self.path, self.options, self.deleted,
            self.intent,
        )  # fmt: skip

    @property
    def texts(self) -> tuple[int, ...]:
        """The indices of the revisions that have a text, or all if each of them deletes the file.

        A deletion would otherwise merge all changes of the others into one hunk.
        """
        everyone = range(len(self.revisions))
        having = tuple(i for i in everyone if self.revisions[i].id not in self.deleted)
        return having or tuple(everyone)


@dataclass(frozen=True, slots=True)
class PlainMatrix:
    """What is shown of a matrix, as a worker counted it: views of k x k doubles and bytes."""

    ids: tuple[str, ...]
    values: Any
    no_ops: tuple[bool, ...]
    words: memoryview[int]
    renamed: Mapping[tuple[int, int], tuple[tuple[str, str], ...]]

    def word(self, i: int, j: int, /) -> str:
        """Return what may be said of two revisions."""
        return WORDS[self.words[i, j]]

    def level(self, i: int, j: int, /) -> Level | None:
        """Return the level of two revisions; the names are known of the first pairs only."""
        word = self.word(i, j)
        return Level(word, self.renamed.get((i, j), ())) if word in SAME else None


@dataclass(frozen=True, slots=True)
class RevisionComparison:
    """The scores, order and groups of the revisions as whole texts.

    ``ranking`` is in rank order and ``clusters`` in that of their best members; both name revisions
    by their index in the snapshot. ``notes`` holds one tuple per revision, in the snapshot's order.
    """

    matrix: excise.ScoreMatrix | PlainMatrix
    ranking: tuple[excise.Ranked, ...]
    clusters: tuple[excise.Cluster, ...]
    signature: str
    notes: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Analysis:
    """The results for a snapshot.

    ``hunks`` are the library's, whose members are indices of the snapshot's revisions, each with
    its ``numbers``, and ``units`` those that belong together. ``sites`` are their places in the
    buffer. ``given`` are the hunks and sites of the revisions without the buffer as one of them, so
    that text typed next to a hunk is not part of it. ``decided`` tells for each hunk whether the
    buffer differs from the origin there.
    """

    snapshot: Snapshot
    comparison: RevisionComparison
    hunks: tuple[excise.Hunk, ...]
    numbers: tuple[HunkNumbers, ...]
    units: tuple[HunkUnit, ...]
    sites: tuple[Site, ...]
    given: tuple[tuple[excise.Hunk, Site], ...]
    decided: tuple[bool, ...]

    @property
    def lines(self) -> tuple[tuple[int, int], ...]:
        """The hunks' lines (from, to) in the buffer, or in the origin without one."""
        return tuple((site.lo, site.hi) for site in self.sites)

    def unit(self, hunk: int, variant: int) -> HunkUnit | None:
        """Return the hunks that belong with a variant: those of the best candidate that has it."""
        units = {unit.member: unit for unit in self.units if hunk in unit.hunks}
        members = self.hunks[hunk].variants[variant].members
        order = (r.index for r in self.comparison.ranking if r.index in members)
        return units.get(next(order))


def compare(snapshot: Snapshot, cancel: excise.CancelFlag | None = None) -> RevisionComparison:
    """Score every pair of revisions, and rank and cluster them."""
    return _described(_scored(snapshot, cancel), snapshot.intent)


def _scored(
    snapshot: Snapshot,
    cancel: excise.CancelFlag | None = None,
    before: excise.ScoreMatrix | None = None,
) -> excise.ScoreMatrix:
    """Score every pair, parsing nothing again that was read for the matrix ``before``."""
    options = snapshot.options
    return excise.ScoreMatrix.from_texts(
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
        readings=None if before is None else before.readings,
    )


def _rescored(
    before: Snapshot, matrix: excise.ScoreMatrix, snapshot: Snapshot, cancel: excise.CancelFlag
) -> excise.ScoreMatrix | None:
    """Score again when few texts changed: only their rows are computed. None if many did."""
    same = replace(snapshot, revisions=before.revisions).scored == before.scored
    if not same or snapshot.ids != before.ids:
        return None
    pairs = zip(before.revisions, snapshot.revisions, strict=True)
    changed = [new for old, new in pairs if old.text != new.text]
    if 3 * len(changed) > len(snapshot.revisions):
        return None
    matrix.heed(cancel)
    for revision in changed:
        matrix = matrix.replaced(revision.id, revision.text, cancel=cancel)
    return matrix


def _described(matrix: excise.ScoreMatrix, intent: str) -> RevisionComparison:
    ranking = excise.rank(matrix, intent=intent)
    place = {ranked.index: place for place, ranked in enumerate(ranking)}
    clusters = excise.cluster(matrix)
    return RevisionComparison(
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
        self._begun: tuple[Snapshot, excise.ScoreMatrix] | None = None  # newer than what is kept
        self._bare: tuple[object, excise.Hunks] | None = None
        self._origin = Text("")  # the last one: it was split into lines
        self._units: dict[object, tuple[Unit, ...]] = {}
        self.pairs = 0
        """The number of pairs that were scored."""

    def analyse(
        self,
        snapshot: Snapshot,
        cancel: excise.CancelFlag,
        early: Callable[[EarlyHunks], None] | None = None,
    ) -> Analysis:
        """Return the analysis of a snapshot; ``early`` gets the hunks if all has to be scored.

        Without revisions that is a signature, for which the first line is read: it may name the
        language, and most files that an editor opens never get a revision.

        Raises excise.errors.Cancelled when the flag was raised meanwhile.
        """
        if not snapshot.revisions:
            first, _, _ = snapshot.origin.partition("\n")
            matrix = self._matrix(replace(snapshot, origin=first), cancel)
            comparison = _described(matrix, snapshot.intent)
            return Analysis(snapshot, comparison, (), (), (), (), (), ())
        cached = self._kept.get(snapshot.scored)
        if cached is None:
            matrix = self._matrix(snapshot, cancel)
            # The next snapshot starts from this matrix, also if this one is never finished.
            self._begun = snapshot, matrix
            counted = matrix.hunks(snapshot.texts, cancel=cancel)
            hunks = _with_everyone(snapshot, counted)
        else:
            # An earlier request may have been stopped when these scores were all but sent.
            matrix, hunks = _counted(cached.comparison), cached.hunks
            matrix.heed(cancel)
        origin, shown = Text.of(snapshot.origin), Text.of(snapshot.shown)
        self._origin = origin = self._origin if self._origin == origin else origin
        shown = origin if shown == origin else shown
        sites = find_sites(origin, shown, hunks, snapshot.own)
        decided = tuple(
            shown.between(site.lo, site.hi) != hunk.text
            for site, hunk in zip(sites, hunks, strict=True)
        )
        if cached is None:
            if early is not None:
                early(EarlyHunks(hunks, sites, decided))
            matrix.forget_others()
            comparison = _described(matrix, snapshot.intent)
            order = [r.index for r in comparison.ranking if r.index in snapshot.texts]
            numbers = count_hunks(counted, matrix, order, cancel)
            units = _units(snapshot, matrix, hunks, self._units)
        else:
            comparison, numbers, units = cached.comparison, cached.numbers, cached.units
        typed_apart = tuple(zip(hunks, sites, strict=True))
        if snapshot.own is not None:
            # The hunks without the buffer as a revision, computed once while somebody types.
            others = [index for index in snapshot.texts if index != snapshot.own]
            rest = tuple(snapshot.revisions[index] for index in others)
            key = (replace(snapshot, revisions=rest).scored, snapshot.own, matrix.signature)
            if self._bare is None or self._bare[0] != key:
                self._bare = (key, matrix.hunks(others, cancel=cancel))
            bare = self._bare[1]
            typed_apart = tuple(zip(bare, find_sites(origin, shown, bare), strict=True))
        analysis = Analysis(
            snapshot, comparison, hunks, numbers, units, sites, typed_apart, decided
        )
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
        self._begun = self._bare = None
        self._origin = Text("")

    def _matrix(self, snapshot: Snapshot, cancel: excise.CancelFlag) -> excise.ScoreMatrix:
        """Score starting from the document's last snapshot, or from the beginning."""
        known = None
        made = [(kept.snapshot, _counted(kept.comparison)) for kept in self._kept.values()]
        for before, matrix in reversed([*made, *filter(None, [self._begun])]):
            if before.uri_or_path == snapshot.uri_or_path:
                known = None if matrix.readings.is_full else matrix
                try:
                    again = _rescored(before, matrix, snapshot, cancel)
                except excise.Cancelled:
                    if not cancel.timed_out:
                        raise
                    break
                if again is not None:
                    changed = zip(before.revisions, snapshot.revisions, strict=True)
                    rows = sum(old.text != new.text for old, new in changed)
                    self.pairs += rows * (len(snapshot.revisions) - 1)
                    return again
                break
        self.pairs += len(snapshot.revisions) * (len(snapshot.revisions) - 1) // 2
        return _scored(snapshot, cancel, before=known)


def _with_everyone(snapshot: Snapshot, hunks: excise.Hunks) -> tuple[excise.Hunk, ...]:
    """Return hunks in which revisions without a text have no lines."""
    texts = snapshot.texts
    if len(texts) == len(snapshot.revisions):
        return tuple(hunks)
    spans = [dict(zip(texts, hunk.spans, strict=True)) for hunk in hunks]
    everyone = range(len(snapshot.revisions))
    padded = (tuple(own.get(index, (0, 0)) for index in everyone) for own in spans)
    return tuple(replace(h, spans=s) for h, s in zip(hunks, padded, strict=True))


def _units(
    snapshot: Snapshot,
    matrix: excise.ScoreMatrix,
    hunks: Sequence[excise.Hunk],
    known: dict[object, tuple[Unit, ...]],
) -> tuple[HunkUnit, ...]:
    """Return the hunks that belong together, of each revision but the buffer.

    ``known`` has the units of each revision in its own hunks, and then those of this snapshot.
    """
    origin, readings = normalise(snapshot.origin), matrix.readings
    changed: dict[int, dict[int, tuple[int, int]]] = {member: {} for member in snapshot.texts}
    for index, hunk in enumerate(hunks):
        for variant in hunk.variants:
            for member in variant.members if variant.text != hunk.text else ():
                changed[member][index] = hunk.spans[member]
    units: list[HunkUnit] = []
    current: dict[object, tuple[Unit, ...]] = {}
    for member, spans in changed.items():
        if member == snapshot.own or len(spans) < 2:
            continue
        text = normalise(snapshot.revisions[member].text)
        own = list(spans)
        key = snapshot.path, snapshot.language, snapshot.options, origin, text, *spans.values()
        if (found := known.get(key)) is None:
            reading = read(
                [origin, text], snapshot.language, snapshot.path, snapshot.options, PARSER_SECONDS
            )
            names = readings.fresh_names(origin, text, reading, [*spans.values()])
            found = units_of(names)
        current[key] = found
        units += [
            HunkUnit(member, tuple(own[at] for at in unit.hunks), unit.names)
            for unit in found
            if len(unit.hunks) > 1
        ]
    known.clear()
    known.update(current)
    return tuple(units)


def _counted(comparison: RevisionComparison) -> excise.ScoreMatrix:
    """Return the matrix as the library's type, which has more than what is shown."""
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

    Raises excise.errors.Cancelled if the flag is raised meanwhile.
    """
    scores = matrix.in_hunks(hunks, order[:MAX_COMPARED], cancel=cancel)
    compared, entries = scores.order, scores.entries
    total = len(compared) * (len(compared) - 1) // 2
    means, shares = _means(entries, len(hunks), total)
    values, columns = entries["value"], entries[list(_COLUMNS)]
    numbers = []
    for lo, hi, mean, share in zip(scores.bounds, scores.bounds[1:], means, shares, strict=False):
        least = most = None
        if lo < hi:
            least = _pair(compared, columns[lo + int(values[lo:hi].argmin())].item())
            most = _pair(compared, columns[lo + int(values[lo:hi].argmax())].item())
        first = columns[lo : min(hi, lo + MAX_PAIRS)].tolist()
        pairs = tuple(_pair(compared, entry) for entry in first)
        numbers.append(HunkNumbers(len(compared), hi - lo, pairs, least, most, mean, share))
    return tuple(numbers)


_COLUMNS = "first", "second", "value", "keep", "add", "delete", "share"


def _pair(compared: Sequence[int], entry: tuple[Any, ...]) -> PairNumbers:
    """Return the numbers of a pair; those that are undefined are negative in an entry."""
    first, second, es, *operations, share = entry
    keep, add, delete = (None if part < 0 else part for part in operations)
    return PairNumbers(compared[first], compared[second], es, keep, add, delete, share)


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


# --- what the user decides at each hunk ---

DecisionKind = Literal["origin", "variant", "mixed", "edited"]


@dataclass(frozen=True, slots=True)
class Decision:
    """The editor's text in a hunk, compared with the origin and the variants.

    ``kind`` is ``origin`` or ``variant`` if it is exactly that text (``variant`` is its index),
    ``mixed`` if each line comes from one of them, else ``edited``. A hunk with the origin's text is
    decided only if the user said that it stays, which ``has_changed`` takes back: a candidate has a
    text there that nobody saw then.
    """

    kind: DecisionKind
    variant: int | None
    decided: bool
    has_changed: bool = False


def texts_seen(hunk: excise.Hunk) -> frozenset[str]:
    """Return the texts of a hunk beside the origin's, by names by which they are known again."""
    return frozenset(voice_of(v.text)[:16] for v in hunk.variants if v.text != hunk.text)


def is_kept(snapshot: Snapshot, hunk: excise.Hunk) -> bool:
    """Whether the user keeps the origin in a hunk, of which no candidate has a text that is new."""
    texts = snapshot.kept.get((hunk.lo, hunk.hi))
    return texts is not None and texts_seen(hunk) <= texts


def with_kept(analysis: Analysis) -> Analysis:
    """Return an analysis in which the hunks that the user wants to keep are also decided."""
    pairs = zip(analysis.decided, analysis.hunks, strict=True)
    decided = tuple(decided or is_kept(analysis.snapshot, hunk) for decided, hunk in pairs)
    return replace(analysis, decided=decided) if analysis.snapshot.kept else analysis


def decisions_of(analysis: Analysis) -> tuple[Decision, ...]:
    """Return the decision at each hunk; without a buffer, all have the origin's text."""
    shown, decisions = Text.of(analysis.snapshot.shown), []
    for hunk, site, decided in zip(analysis.hunks, analysis.sites, analysis.decided, strict=True):
        own, texts = shown.between(site.lo, site.hi), [variant.text for variant in hunk.variants]
        kind: DecisionKind = "edited"
        if own == hunk.text:
            kind = "origin"
        elif own in texts:
            kind = "variant"
        elif set(raw_lines(own)) <= {x for t in (hunk.text, *texts) for x in raw_lines(t)}:
            kind = "mixed"
        variant = texts.index(own) if kind == "variant" else None
        has_changed = not decided and (hunk.lo, hunk.hi) in analysis.snapshot.kept
        decisions.append(Decision(kind, variant, decided, has_changed))
    return tuple(decisions)


def next_undecided(decisions: Sequence[Decision], after: int | None = None) -> int | None:
    """Return the next hunk that is not decided, from the first again after the last."""
    start = 0 if after is None else after + 1
    order = [*range(start, len(decisions)), *range(min(start, len(decisions)))]
    return next((index for index in order if not decisions[index].decided), None)
