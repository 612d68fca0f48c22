"""An analysis as a message of a worker, and back: what is out of its range there is refused.

A worker may write anything, as what it parsed may have overwritten it. What passes here has the
shapes, lengths and ranges of an analysis of the snapshot that was sent; whether its numbers
are right cannot be checked without computing them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any, Literal

from excise import Cluster, Hunk, Ranked, Variant
from excise.agreement import NAMES, WORDS
from excise_server.editor.analysis import (
    MAX_PAIRS,
    Analysis,
    EarlyHunks,
    PlainMatrix,
    RevisionComparison,
    Snapshot,
)
from excise_server.editor.findings import PAGE_PAIRS
from excise_server.wire import worker as w

# --- in the worker ---


def pack(
    analysis: Analysis, number: int, work: w.WorkFrame, scores_number: int, *, whole: bool
) -> w.Scored:
    """Return the message for an analysis; ``whole``: with its scores."""
    given = tuple(hunk for hunk, _ in analysis.given)
    return w.Scored(
        number=number,
        work=work,
        scores_number=scores_number,
        scores=_packed_scores(analysis) if whole else None,
        sites=analysis.sites,
        decided=analysis.decided,
        given=None if given == analysis.hunks else tuple(map(_packed, given)),
        given_sites=tuple(site for _, site in analysis.given),
    )


def pack_early(number: int, early: EarlyHunks) -> w.Marked:
    """Return the message for the hunks of an analysis whose scores follow."""
    return w.Marked(number, tuple(map(_packed, early.hunks)), early.sites, early.decided)


def _packed_scores(analysis: Analysis) -> w.ScoresFrame:
    comparison, matrix = analysis.comparison, analysis.comparison.matrix
    count = range(len(matrix.ids))
    pairs = combinations([ranked.index for ranked in comparison.ranking], 2)
    renamed = (
        (a, b, tuple((w.as_bytes(x), w.as_bytes(y)) for x, y in level.renamed))
        for a, b in pairs
        if (level := matrix.level(a, b)) is not None and level.renamed
    )
    return w.ScoresFrame(
        signature=w.as_bytes(comparison.signature),
        values=matrix.values.tobytes(),
        words=bytes(WORDS.index(matrix.word(i, j)) for i in count for j in count),
        renamed=tuple(islice(renamed, PAGE_PAIRS)),  # no page has more pairs
        no_ops=tuple(map(bool, matrix.no_ops)),
        notes=tuple(tuple(map(w.as_bytes, notes)) for notes in comparison.notes),
        ranking=tuple(
            w.RankedFrame(
                r.index, r.rank, r.makers, r.mean_similarity, r.edit_size, r.no_op,
                r.syntax_errors, r.stub, tuple(map(w.as_bytes, r.broken)),
                tuple(map(w.as_bytes, r.why)),
            )
            for r in comparison.ranking
        ),
        clusters=tuple(
            (c.members, c.representative, c.min_similarity) for c in comparison.clusters
        ),
        hunks=tuple(map(_packed, analysis.hunks)),
        numbers=analysis.numbers,
        units=analysis.units,
    )  # fmt: skip


def _packed(hunk: Hunk) -> w.HunkFrame:
    variants = tuple((variant.members, w.as_bytes(variant.text)) for variant in hunk.variants)
    return w.HunkFrame(hunk.lo, hunk.hi, w.as_bytes(hunk.text), variants, hunk.spans)


# --- in its parent ---


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of a document that one worker counted last, under the number it gave them."""

    number: int
    comparison: RevisionComparison
    hunks: tuple[Hunk, ...]
    numbers: tuple[w.HunkNumbers, ...]
    units: tuple[w.HunkUnit, ...]


def unpack(snapshot: Snapshot, answer: w.Scored, known: Scores | None) -> tuple[Analysis, Scores]:
    """Return the analysis of a snapshot, and its scores to keep.

    Raises BrokenFrameError if something in the message cannot be.
    """
    try:
        if answer.scores is not None:
            known = _scores(snapshot, answer.scores_number, answer.scores)
        if known is None or known.number != answer.scores_number:
            raise w.BrokenFrameError("scores that were never sent")
        given, lines = known.hunks, _lines(snapshot.shown)
        _check(len(answer.decided) == len(given), "a decision a hunk")
        _check_sites(answer.sites, len(given), lines)
        if answer.given is not None:
            others = [index for index in snapshot.texts if index != snapshot.own]
            sizes = [_lines(revision.text) for revision in snapshot.revisions]
            sizes = [_lines(snapshot.origin), *(sizes[index] for index in others)]
            given = tuple(_hunk(frame, sizes, others) for frame in answer.given)
        _check_sites(answer.given_sites, len(given), lines)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise w.BrokenFrameError(f"malformed message: {error}") from error
    return Analysis(
        snapshot,
        known.comparison,
        known.hunks,
        known.numbers,
        known.units,
        answer.sites,
        tuple(zip(given, answer.given_sites, strict=True)),
        answer.decided,
    ), known


def unpack_early(snapshot: Snapshot, answer: w.Marked) -> EarlyHunks:
    """Return the hunks of a snapshot whose scores follow.

    Raises BrokenFrameError if something in the message cannot be.
    """
    try:
        _check(len(answer.decided) == len(answer.hunks), "a decision a hunk")
        _check_sites(answer.sites, len(answer.hunks), _lines(snapshot.shown))
        return EarlyHunks(_hunks(snapshot, answer.hunks), answer.sites, answer.decided)
    except ValueError as error:
        raise w.BrokenFrameError(f"malformed message: {error}") from error


def _hunks(snapshot: Snapshot, frames: Sequence[w.HunkFrame]) -> tuple[Hunk, ...]:
    sizes = [_lines(snapshot.origin), *(_lines(r.text) for r in snapshot.revisions)]
    return tuple(_hunk(frame, sizes, snapshot.texts) for frame in frames)


def _scores(snapshot: Snapshot, number: int, frame: w.ScoresFrame) -> Scores:
    ids, count = snapshot.ids, len(snapshot.ids)
    notes = tuple(tuple(map(w.as_text, own)) for own in frame.notes)
    _check(len(notes) == count == len(frame.no_ops), "one entry a revision")
    _check(max(frame.words, default=0) < len(WORDS), "a word")
    words = _of_pairs(frame.words, "B", count)
    values = _of_pairs(frame.values, "d", count)
    rows: list[Any] = values.tolist()
    _check(all(0.0 <= score <= 1.0 for row in rows for score in row), "a number from 0 to 1")
    _check(all(0 <= i < count and 0 <= j < count for i, j, _ in frame.renamed), "who is renamed")
    _check(all(words[i, j] == WORDS.index(NAMES) for i, j, _ in frame.renamed), "a renaming")
    members = sorted(index for cluster, _, _ in frame.clusters for index in cluster)
    _check(members == list(range(count)), "each is in one cluster")
    _check(all(medoid in cluster for cluster, medoid, _ in frame.clusters), "a representative")
    comparison = RevisionComparison(
        matrix=PlainMatrix(ids, values, frame.no_ops, words, _renamed(frame)),
        ranking=_ranking(frame, ids, notes),
        clusters=tuple(Cluster(*cluster) for cluster in frame.clusters),
        signature=w.as_text(frame.signature),
        notes=notes,
    )
    _check(len(frame.numbers) == len(frame.hunks), "numbers of each hunk")
    for numbers in frame.numbers:  # the types check values
        total = numbers.compared * (numbers.compared - 1) // 2
        _check(numbers.compared <= count and numbers.diverging <= total, "who is compared")
        _check(len(numbers.pairs) == min(numbers.diverging, MAX_PAIRS), "first pairs of a hunk")
        ends = [pair for pair in (numbers.least, numbers.most) if pair is not None]
        _check(len(ends) == (2 if numbers.pairs else 0), "the ends of the scores of a hunk")
        _check(all(p.a < count and p.b < count for p in (*numbers.pairs, *ends)), "a pair")
    for unit in frame.units:
        _check(unit.member in snapshot.texts, "whose hunks belong together")
        _check(sorted({*unit.hunks}) == [*unit.hunks] and len(unit.hunks) > 1, "hunks of a unit")
        _check(unit.hunks[-1] < len(frame.hunks), "a hunk")
    return Scores(number, comparison, _hunks(snapshot, frame.hunks), frame.numbers, frame.units)


def _renamed(frame: w.ScoresFrame) -> dict[tuple[int, int], tuple[tuple[str, str], ...]]:
    """Return what each two revisions call by different names, from either side."""
    renamed = {}
    for i, j, pairs in frame.renamed:
        names = tuple((w.as_text(a), w.as_text(b)) for a, b in pairs)
        renamed[i, j], renamed[j, i] = names, tuple((b, a) for a, b in names)
    return renamed


def _of_pairs(data: bytes, kind: Literal["d", "B"], count: int) -> memoryview[Any]:
    """Return numbers of all pairs as a view with two dimensions."""
    flat = memoryview(data).cast(kind)
    _check(len(flat) == count * count, "a number a pair")
    return memoryview(data).cast(kind, (count, count)) if count else flat


def _ranking(
    frame: w.ScoresFrame, ids: tuple[str, ...], notes: tuple[tuple[str, ...], ...]
) -> tuple[Ranked, ...]:
    _check(sorted(r.index for r in frame.ranking) == list(range(len(ids))), "each is ranked once")
    _check(all(max(r.rank, r.makers) <= len(ids) for r in frame.ranking), "a rank")
    _check(not frame.ranking or frame.ranking[0].rank == 1, "somebody is first")
    return tuple(
        Ranked(
            ids[r.index], r.index, r.rank, r.makers, r.mean_similarity, r.edit_size, r.no_op,
            notes[r.index], r.syntax_errors, r.stub, tuple(map(w.as_text, r.broken)),
            tuple(map(w.as_text, r.why)),
        )
        for r in frame.ranking
    )  # fmt: skip


def _hunk(frame: w.HunkFrame, sizes: Sequence[int], indices: Sequence[int]) -> Hunk:
    """Return a hunk of texts with so many lines, the origin's first, of which some have a text."""
    _check(len(frame.spans) == len(sizes) - 1, "lines of each revision")
    for (lo, hi), size in zip(((frame.lo, frame.hi), *frame.spans), sizes, strict=True):
        _check(lo <= hi <= size, "lines of a text")
    members = sorted(index for who, _ in frame.variants for index in who)
    _check(members == list(indices) and all(who for who, _ in frame.variants), "variants")
    variants = tuple(Variant(who, w.as_text(text)) for who, text in frame.variants)
    return Hunk(frame.lo, frame.hi, w.as_text(frame.text), variants, frame.spans)


def _check_sites(sites: Sequence[w.Site], count: int, lines: int) -> None:
    _check(len(sites) == count, "a site a hunk")
    _check(all(site.lo <= site.hi <= lines for site in sites), "lines of the buffer")


def _lines(text: str) -> int:
    """Return how many lines a text has when it is normalised, without doing that."""
    ends = text.count("\n") + text.count("\r") - text.count("\r\n")
    return ends + (not text.endswith(("\n", "\r")) and bool(text))


def _check(holds: bool, what: str) -> None:
    if not holds:
        raise w.BrokenFrameError(f"malformed message: {what}")
