"""An analysis as a message of a worker, and back: what is out of its range there is refused.

A worker may write anything, as what it parsed may have overwritten it. What passes here has the
shapes, lengths and ranges of an analysis of the snapshot that was sent; that its numbers are right,
nobody can check who does not count again.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isnan, nan
from typing import Any

from excise import Cluster, Hunk, Ranked, Variant
from excise.agreement import WORDS
from excise_server.editor.analysis import Analysis, Comparison, HunkNumbers, Numbers, Pairs
from excise_server.editor.places import Site
from excise_server.editor.snapshot import Snapshot
from excise_server.workers.messages import (
    BrokenFrameError,
    HunkFrame,
    PairsFrame,
    RankedFrame,
    Scored,
    ScoresFrame,
    WorkFrame,
    as_bytes,
    as_text,
)

__all__ = ["PlainMatrix", "Scores", "pack", "unpack"]

_CROSSED, _DECIDED = 1, 2
_CHUNK = 4096


# --- in the worker ---


def pack(
    analysis: Analysis, number: int, work: WorkFrame, scores_number: int, *, whole: bool
) -> Scored:
    """Return the message for an analysis; ``whole``: with its scores."""
    given = tuple(hunk for hunk, _ in analysis.given)
    sites, given_sites = analysis.sites, [site for _, site in analysis.given]
    flags = (
        _CROSSED * site.crossed | _DECIDED * decided
        for site, decided in zip(sites, analysis.decided, strict=True)
    )
    return Scored(
        number=number,
        work=work,
        scores_number=scores_number,
        scores=_packed_scores(analysis) if whole else None,
        sites=_spans((site.lo, site.hi) for site in sites),
        flags=memoryview(bytes(flags)),
        given=None if given == analysis.hunks else tuple(map(_packed, given)),
        given_sites=_spans((site.lo, site.hi) for site in given_sites),
        given_flags=memoryview(bytes(_CROSSED * site.crossed for site in given_sites)),
    )


def _packed_scores(analysis: Analysis) -> ScoresFrame:
    comparison, matrix = analysis.comparison, analysis.comparison.matrix
    count = range(len(matrix.ids))
    numbers = analysis.numbers
    table = numbers[0].pairs.table if numbers else ()
    return ScoresFrame(
        signature=as_bytes(comparison.signature),
        values=memoryview(_flat(matrix.values)),
        contained=memoryview(_flat(matrix.contained)),
        words=memoryview(bytes(WORDS.index(matrix.word(i, j)) for i in count for j in count)),
        no_ops=tuple(map(bool, matrix.no_ops)),
        notes=tuple(tuple(map(as_bytes, notes)) for notes in comparison.notes),
        ranking=tuple(
            RankedFrame(
                r.index, r.rank, r.makers, r.mean_similarity, r.edit_size, r.no_op,
                r.syntax_errors, r.stub, tuple(map(as_bytes, r.broken)),
                tuple(map(as_bytes, r.why)),
            )
            for r in comparison.ranking
        ),
        clusters=tuple(
            (c.members, c.representative, c.min_similarity) for c in comparison.clusters
        ),
        hunks=tuple(map(_packed, analysis.hunks)),
        compared=numbers[0].compared if numbers else (),
        pairs=tuple(map(_packed_pairs, numbers)),
        table=_bytes("d", (nan if part is None else part for n in table for part in _four(n))),
    )  # fmt: skip


def _packed_pairs(numbers: HunkNumbers) -> PairsFrame:
    pairs, mean = numbers.pairs, numbers.mean
    return PairsFrame(
        a=pairs.a,
        b=pairs.b,
        numbers=pairs.numbers.cast("B"),
        shares=pairs.shares.cast("B"),
        mean=None if mean is None else _four(mean),
        share=numbers.share,
    )


def _four(numbers: Numbers) -> tuple[float, float | None, float | None, float | None]:
    return numbers.es, numbers.keep, numbers.add, numbers.delete


def _packed(hunk: Hunk) -> HunkFrame:
    variants = tuple((v.members, memoryview(as_bytes(v.text))) for v in hunk.variants)
    text = memoryview(as_bytes(hunk.text))
    return HunkFrame(hunk.lo, hunk.hi, text, variants, _spans(hunk.spans))


def _spans(spans: Iterable[Sequence[int]]) -> memoryview:
    return _bytes("i", chain.from_iterable(spans))


def _flat(numbers: Any) -> bytes:  # noqa: ANN401 numpy's
    return bytes(numbers.tobytes())


def _bytes(kind: str, numbers: Iterable[Any]) -> memoryview:
    return memoryview(array(kind, numbers).tobytes())


# --- in its parent ---


@dataclass(frozen=True, slots=True)
class PlainMatrix:
    """What is shown of a matrix, as a worker counted it."""

    ids: tuple[str, ...]
    values: memoryview[float]
    contained: memoryview[float]
    no_ops: tuple[bool, ...]
    words: memoryview

    def word(self, i: int, j: int, /) -> str:
        """Return what may be said of two revisions."""
        return WORDS[self.words[i, j]]


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of a document that one worker counted last, under the number it gave them."""

    number: int
    comparison: Comparison
    hunks: tuple[Hunk, ...]
    numbers: tuple[HunkNumbers, ...]


def unpack(snapshot: Snapshot, answer: Scored, known: Scores | None) -> tuple[Analysis, Scores]:
    """Return the analysis of a snapshot, and its scores to keep.

    Raises
    ------
    BrokenFrameError
        If something in the message cannot be.
    """
    try:
        if answer.scores is not None:
            known = _scores(snapshot, answer.scores_number, answer.scores)
        if known is None or known.number != answer.scores_number:
            raise BrokenFrameError("scores that were never sent")
        given, lines = known.hunks, _lines(snapshot.shown)
        sites = _sites(answer.sites, answer.flags, len(given), lines)
        if answer.given is not None:
            others = [at for at in snapshot.texts if at != snapshot.own]
            sizes = [_lines(revision.text) for revision in snapshot.revisions]
            sizes = [_lines(snapshot.origin), *(sizes[at] for at in others)]
            given = tuple(_hunk(frame, sizes, others) for frame in answer.given)
        places = _sites(answer.given_sites, answer.given_flags, len(given), lines)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise BrokenFrameError(f"malformed message: {error}") from error
    return Analysis(
        snapshot,
        known.comparison,
        known.hunks,
        known.numbers,
        sites,
        tuple(zip(given, places, strict=True)),
        tuple(bool(flag & _DECIDED) for flag in answer.flags),
    ), known


def _scores(snapshot: Snapshot, number: int, frame: ScoresFrame) -> Scores:
    ids, count = snapshot.ids, len(snapshot.ids)
    notes = tuple(tuple(map(as_text, own)) for own in frame.notes)
    _check(len(notes) == count == len(frame.no_ops), "one entry a revision")
    _check(len(frame.words) == count * count, "a word a pair")
    _check_below(frame.words, len(WORDS), "a word")
    words = frame.words.cast("B", (count, count)) if count else frame.words
    planes = _plane(frame.values, count), _plane(frame.contained, count)
    members = sorted(at for cluster, _, _ in frame.clusters for at in cluster)
    _check(members == list(range(count)), "each is in one cluster")
    _check(all(medoid in cluster for cluster, medoid, _ in frame.clusters), "a representative")
    comparison = Comparison(
        matrix=PlainMatrix(ids, *planes, frame.no_ops, words),
        ranking=_ranking(frame, ids, notes),
        clusters=tuple(Cluster(*cluster) for cluster in frame.clusters),
        signature=as_text(frame.signature),
        notes=notes,
    )
    _check(len(set(frame.compared)) == len(frame.compared) <= 256, "who is compared")
    _check_below(frame.compared, count, "who is compared")
    _check(len(frame.pairs) == len(frame.hunks), "pairs of each hunk")
    sizes = [_lines(snapshot.origin), *(_lines(r.text) for r in snapshot.revisions)]
    table = _table(frame.table)
    return Scores(
        number,
        comparison,
        tuple(_hunk(hunk, sizes, snapshot.texts) for hunk in frame.hunks),
        tuple(_numbers(pairs, frame.compared, table) for pairs in frame.pairs),
    )


def _numbers(frame: PairsFrame, compared: tuple[int, ...], table: list[Numbers]) -> HunkNumbers:
    numbers, shares = frame.numbers.cast("I"), frame.shares.cast("d")
    sizes = {len(frame.a), len(frame.b), len(numbers), len(shares)}
    _check(len(sizes) == 1, "as many of each")
    _check_below(frame.a, len(compared), "a pair")
    _check_below(frame.b, len(compared), "a pair")
    _check_below(numbers, len(table), "a pair's numbers")
    _check_scores(shares, 1.0 + 1e-9)
    mean = None if frame.mean is None else Numbers(*frame.mean)
    pairs = Pairs(compared, frame.a, frame.b, numbers, shares, table)
    return HunkNumbers(compared, pairs, mean, frame.share)


def _plane(data: memoryview, count: int) -> memoryview[float]:
    numbers = data.cast("d")
    _check(len(numbers) == count * count, "a number a pair")
    _check_scores(numbers, 1.0)
    return data.cast("d", (count, count)) if count else numbers


def _ranking(
    frame: ScoresFrame, ids: tuple[str, ...], notes: tuple[tuple[str, ...], ...]
) -> tuple[Ranked, ...]:
    _check(sorted(r.index for r in frame.ranking) == list(range(len(ids))), "each is ranked once")
    _check(all(max(r.rank, r.makers) <= len(ids) for r in frame.ranking), "a rank")
    _check(not frame.ranking or frame.ranking[0].rank == 1, "somebody is first")
    return tuple(
        Ranked(
            ids[r.index], r.index, r.rank, r.makers, r.mean_similarity, r.edit_size, r.no_op,
            notes[r.index], r.syntax_errors, r.stub, tuple(map(as_text, r.broken)),
            tuple(map(as_text, r.why)),
        )
        for r in frame.ranking
    )  # fmt: skip


def _table(data: memoryview) -> list[Numbers]:
    values = data.cast("d").tolist()
    _check(all(0.0 <= value <= 1.0 for value in values[::4]), "a score in [0, 1]")
    _check(all(isnan(v) or 0.0 <= v <= 1.0 for v in values), "a score in [0, 1]")
    known = [None if isnan(value) else value for value in values]
    columns = zip(values[::4], known[1::4], known[2::4], known[3::4], strict=True)
    return [Numbers(*column) for column in columns]


def _hunk(frame: HunkFrame, sizes: Sequence[int], indices: Sequence[int]) -> Hunk:
    """Return a hunk of texts with so many lines, the origin's first, of which some have a text."""
    numbers = frame.spans.cast("i").tolist()
    spans = tuple(zip(numbers[::2], numbers[1::2], strict=True))
    _check(len(spans) == len(sizes) - 1, "lines of each revision")
    for (lo, hi), size in zip(((frame.lo, frame.hi), *spans), sizes, strict=True):
        _check(0 <= lo <= hi <= size, "lines of a text")
    members = sorted(at for who, _ in frame.variants for at in who)
    _check(members == list(indices) and all(who for who, _ in frame.variants), "variants")
    variants = tuple(Variant(who, as_text(text)) for who, text in frame.variants)
    return Hunk(frame.lo, frame.hi, as_text(frame.text), variants, spans)


def _sites(data: memoryview, flags: memoryview, count: int, lines: int) -> tuple[Site, ...]:
    numbers = data.cast("i").tolist()
    _check(len(numbers) == 2 * count and len(flags) == count, "a site a hunk")
    _check_below(flags, (_CROSSED | _DECIDED) + 1, "a flag")
    spans = list(zip(numbers[::2], numbers[1::2], strict=True))
    _check(all(0 <= lo <= hi <= lines for lo, hi in spans), "lines of the buffer")
    return tuple(
        Site(lo, hi, bool(flag & _CROSSED)) for (lo, hi), flag in zip(spans, flags, strict=True)
    )


def _lines(text: str) -> int:
    """Return how many lines a text has when it is normalised, without doing that."""
    ends = text.count("\n") + text.count("\r") - text.count("\r\n")
    return ends + (not text.endswith(("\n", "\r")) and bool(text))


def _check_scores(numbers: memoryview[float], most: float) -> None:
    for start in range(0, len(numbers), _CHUNK):
        chunk = numbers[start : start + _CHUNK].tolist()
        _check(all(0.0 <= number <= most for number in chunk), "a number from 0 to 1")


def _check_below(numbers: Sequence[int] | memoryview[int], limit: int, what: str) -> None:
    for start in range(0, len(numbers), _CHUNK):
        chunk = numbers[start : start + _CHUNK]
        _check(min(chunk) >= 0 and max(chunk) < limit, what)


def _check(holds: bool, what: str) -> None:
    if not holds:
        raise BrokenFrameError(f"malformed message: {what}")
