"""An analysis as a message of a worker, and back: what is out of its range there is refused.

A worker may write anything, as what it parsed may have overwritten it. What passes here has the
shapes, lengths and ranges of an analysis of the snapshot that was sent; whether its numbers
are right cannot be checked without computing them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, islice
from typing import Any, Literal

from excise import Hunk
from excise.agreement import NAMES, WORDS
from excise_server.editor.analysis import (
    MAX_PAIRS,
    Analysis,
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
        given=None if given == analysis.hunks else given,
        given_sites=tuple(site for _, site in analysis.given),
    )


def _packed_scores(analysis: Analysis) -> w.ScoresFrame:
    comparison, matrix = analysis.comparison, analysis.comparison.matrix
    count = range(len(matrix.ids))
    pairs = combinations([ranked.index for ranked in comparison.ranking], 2)
    renamed = (
        (a, b, level.renamed)
        for a, b in pairs
        if (level := matrix.level(a, b)) is not None and level.renamed
    )
    return w.ScoresFrame(
        signature=comparison.signature,
        values=matrix.values.tobytes(),
        words=bytes(WORDS.index(matrix.word(i, j)) for i in count for j in count),
        renamed=tuple(islice(renamed, PAGE_PAIRS)),  # no page has more pairs
        no_ops=tuple(map(bool, matrix.no_ops)),
        notes=comparison.notes,
        ranking=tuple(replace(ranked, id="", notes=()) for ranked in comparison.ranking),
        clusters=tuple(replace(cluster, ids=()) for cluster in comparison.clusters),
        hunks=analysis.hunks,
        numbers=analysis.numbers,
        units=analysis.units,
    )


# --- in its parent ---


def unpack(
    snapshot: Snapshot, answer: w.Scored, known: tuple[int, Analysis] | None
) -> tuple[int, Analysis]:
    """Return the number of a snapshot's scores, and its analysis.

    ``known`` are those of the document that the worker sent last. Raises BrokenFrameError if
    something in the message cannot be.
    """
    try:
        if (frame := answer.scores) is not None:
            comparison = _comparison(snapshot, frame)
            scores = comparison, frame.hunks, frame.numbers, frame.units
            _check_hunks(frame.hunks, snapshot, snapshot.texts)
            _check_numbers(snapshot, frame)
        elif known is not None and known[0] == answer.scores_number:
            before = known[1]
            scores = before.comparison, before.hunks, before.numbers, before.units
        else:
            raise w.BrokenFrameError("scores that were never sent")
        hunks, given = scores[1], answer.given
        _check(len(answer.decided) == len(hunks), "a decision a hunk")
        _check_sites(answer.sites, hunks, snapshot)
        if given is not None:
            others = [index for index in snapshot.texts if index != snapshot.own]
            revisions = tuple(snapshot.revisions[index] for index in others)
            _check_hunks(given, replace(snapshot, revisions=revisions), others)
        _check_sites(answer.given_sites, hunks if given is None else given, snapshot)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise w.BrokenFrameError(f"malformed message: {error}") from error
    apart = tuple(zip(hunks if given is None else given, answer.given_sites, strict=True))
    analysis = Analysis(snapshot, *scores, answer.sites, apart, answer.decided)
    return answer.scores_number, analysis


def check_early(snapshot: Snapshot, early: w.EarlyHunks) -> None:
    """Raise BrokenFrameError if something in the hunks of a snapshot cannot be."""
    _check(len(early.decided) == len(early.hunks), "a decision a hunk")
    _check_sites(early.sites, early.hunks, snapshot)
    _check_hunks(early.hunks, snapshot, snapshot.texts)


def _comparison(snapshot: Snapshot, frame: w.ScoresFrame) -> RevisionComparison:
    ids, count = snapshot.ids, len(snapshot.ids)
    _check(len(frame.notes) == count == len(frame.no_ops), "one entry a revision")
    _check(max(frame.words, default=0) < len(WORDS), "a word")
    words = _of_pairs(frame.words, "B", count)
    values = _of_pairs(frame.values, "d", count)
    rows: list[Any] = values.tolist()
    _check(all(0.0 <= score <= 1.0 for row in rows for score in row), "a number from 0 to 1")
    _check(all(0 <= i < count and 0 <= j < count for i, j, _ in frame.renamed), "who is renamed")
    _check(all(words[i, j] == WORDS.index(NAMES) for i, j, _ in frame.renamed), "a renaming")
    members = sorted(index for cluster in frame.clusters for index in cluster.members)
    _check(members == list(range(count)), "each is in one cluster")
    _check(all(c.representative in c.members for c in frame.clusters), "a representative")
    _check(all(0 <= c.min_similarity <= 1 for c in frame.clusters), "a similarity")
    _check(sorted(r.index for r in frame.ranking) == list(range(count)), "each is ranked once")
    for ranked in frame.ranking:
        _check(0 < ranked.rank <= count and 0 < ranked.makers <= count, "a rank")
        _check(0 <= (ranked.mean_similarity or 0) <= w.MOST, "a mean")
        _check(ranked.edit_size >= 0, "a size")
    _check(not frame.ranking or frame.ranking[0].rank == 1, "somebody is first")
    renamed = {}
    for i, j, pairs in frame.renamed:  # from either side
        renamed[i, j], renamed[j, i] = pairs, tuple((b, a) for a, b in pairs)
    return RevisionComparison(
        matrix=PlainMatrix(ids, values, frame.no_ops, words, renamed),
        ranking=tuple(
            replace(ranked, id=ids[ranked.index], notes=frame.notes[ranked.index])
            for ranked in frame.ranking
        ),
        clusters=frame.clusters,
        signature=frame.signature,
        notes=frame.notes,
    )


def _of_pairs(data: bytes, kind: Literal["d", "B"], count: int) -> memoryview[Any]:
    """Return numbers of all pairs as a view with two dimensions."""
    flat = memoryview(data).cast(kind)
    _check(len(flat) == count * count, "a number a pair")
    return memoryview(data).cast(kind, (count, count)) if count else flat


def _check_numbers(snapshot: Snapshot, frame: w.ScoresFrame) -> None:
    """Check the numbers and units of hunks, of which the types check values."""
    count = len(snapshot.revisions)
    _check(len(frame.numbers) == len(frame.hunks), "numbers of each hunk")
    for numbers in frame.numbers:
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


def _check_hunks(hunks: Sequence[Hunk], snapshot: Snapshot, members: Sequence[int]) -> None:
    """Check hunks of all revisions of a snapshot, of which these members have a text."""
    sizes = [_lines(text) for text in (snapshot.origin, *(r.text for r in snapshot.revisions))]
    for hunk in hunks:
        _check(len(hunk.spans) == len(sizes) - 1, "lines of each revision")
        for (lo, hi), size in zip(((hunk.lo, hunk.hi), *hunk.spans), sizes, strict=True):
            _check(0 <= lo <= hi <= size, "lines of a text")
        having = sorted(index for variant in hunk.variants for index in variant.members)
        _check(having == list(members) and all(v.members for v in hunk.variants), "variants")


def _check_sites(sites: Sequence[w.Site], hunks: Sequence[Hunk], snapshot: Snapshot) -> None:
    lines = _lines(snapshot.shown)
    _check(len(sites) == len(hunks), "a site a hunk")
    _check(all(site.lo <= site.hi <= lines for site in sites), "lines of the buffer")


def _lines(text: str) -> int:
    """Return how many lines a text has when it is normalised, without doing that."""
    ends = text.count("\n")
    if "\r" in text:
        ends += text.count("\r") - text.count("\r\n")
    return ends + (not text.endswith(("\n", "\r")) and bool(text))


def _check(holds: bool, what: str) -> None:
    if not holds:
        raise w.BrokenFrameError(f"malformed message: {what}")
