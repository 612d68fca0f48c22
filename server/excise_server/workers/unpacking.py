"""From a worker's message to an analysis: whatever is out of its range is refused.

A worker may write anything, as what it parsed may have overwritten it. What passes here has the
shapes, lengths and ranges of an analysis of the snapshot that was sent; that its numbers are right,
nobody can check who does not count again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

from excise import Cluster, Hunk, Ranked, Variant
from excise.agreement import WORDS
from excise_server.editor.analysis import Analysis, Comparison, HunkNumbers, Numbers, Pairs
from excise_server.editor.places import Site
from excise_server.editor.snapshot import Snapshot
from excise_server.workers.frames import BrokenFrameError
from excise_server.workers.messages import HunkFrame, PairsFrame, Scored, ScoresFrame, as_text
from excise_server.workers.packing import CROSSED, DECIDED

__all__ = ["Known", "PlainMatrix", "unpack"]

_CHUNK = 4096
_MOST_TOKENS = 1 << 40


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
class Known:
    """The scores of a document that one worker counted last, under the number it gave them."""

    number: int
    comparison: Comparison
    hunks: tuple[Hunk, ...]
    numbers: tuple[HunkNumbers, ...]


def unpack(snapshot: Snapshot, answer: Scored, known: Known | None) -> tuple[Analysis, Known]:
    """Return the analysis of a snapshot, and its scores to keep.

    Raises
    ------
    BrokenFrameError
        If something in the message cannot be.
    """
    try:
        if answer.scores is not None:
            known = _known(snapshot, answer.scores_number, answer.scores)
        if known is None or known.number != answer.scores_number:
            raise BrokenFrameError("scores that were never sent")
        given, lines = known.hunks, _lines(snapshot.shown)
        sites = _sites(answer.sites, answer.flags, len(given), lines)
        if answer.given is not None:
            sizes = [_lines(revision.text) for revision in snapshot.revisions]
            others = [at for at in snapshot.texts if at != snapshot.own]
            reader = _Hunks(_lines(snapshot.origin), [sizes[at] for at in others], others)
            given = tuple(reader.hunk(frame) for frame in answer.given)
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
        tuple(bool(flag & DECIDED) for flag in answer.flags),
    ), known


def _known(snapshot: Snapshot, number: int, frame: ScoresFrame) -> Known:
    ids = snapshot.ids
    count = len(ids)
    notes = tuple(tuple(map(as_text, own)) for own in frame.notes)
    _check(len(notes) == count == len(frame.no_ops), "one entry a revision")
    comparison = Comparison(
        matrix=PlainMatrix(
            ids,
            _plane(frame.values, count),
            _plane(frame.contained, count),
            frame.no_ops,
            _words(frame.words, count),
        ),
        ranking=_ranking(frame, ids, notes),
        clusters=_clusters(frame, count),
        signature=as_text(frame.signature),
        notes=notes,
    )
    _check(len(set(frame.compared)) == len(frame.compared) <= 256, "who is compared")
    _within(frame.compared, count, "who is compared")
    reader = _Hunks(
        _lines(snapshot.origin), [_lines(r.text) for r in snapshot.revisions], snapshot.texts
    )
    table = _table(frame.table)
    _check(len(frame.pairs) == len(frame.hunks), "pairs of each hunk")
    numbers = tuple(_numbers(frame.compared, pairs, table) for pairs in frame.pairs)
    return Known(number, comparison, tuple(map(reader.hunk, frame.hunks)), numbers)


def _plane(data: memoryview, count: int) -> memoryview[float]:
    numbers = data.cast("d")
    _check(len(numbers) == count * count, "a number a pair")
    for start in range(0, len(numbers), _CHUNK):
        chunk = numbers[start : start + _CHUNK].tolist()
        _check(all(0.0 <= number <= 1.0 for number in chunk), "a similarity in [0, 1]")
    return data.cast("d", (count, count)) if count else numbers


def _words(data: memoryview, count: int) -> memoryview:
    _check(len(data) == count * count, "a word a pair")
    _within(data, len(WORDS), "a word")
    return data.cast("B", (count, count)) if count else data


def _ranking(
    frame: ScoresFrame, ids: tuple[str, ...], notes: tuple[tuple[str, ...], ...]
) -> tuple[Ranked, ...]:
    _check(sorted(r.index for r in frame.ranking) == list(range(len(ids))), "each is ranked once")
    for entry in frame.ranking:
        _check(1 <= entry.rank <= len(ids), "a rank")
        _check(0 <= entry.edit_size <= _MOST_TOKENS, "a size")
        _check(1 <= entry.makers <= len(ids), "how many make an edit")
        mean = entry.mean_similarity
        _check(mean is None or 0.0 <= mean <= 1.0 + 1e-9, "a mean similarity")
    _check(not frame.ranking or frame.ranking[0].rank == 1, "somebody is first")
    return tuple(
        Ranked(
            ids[r.index], r.index, r.rank, r.makers, r.mean_similarity, r.edit_size, r.no_op,
            notes[r.index], r.syntax_errors, r.stub, tuple(map(as_text, r.broken)),
            tuple(map(as_text, r.why)),
        )
        for r in frame.ranking
    )  # fmt: skip


def _clusters(frame: ScoresFrame, count: int) -> tuple[Cluster, ...]:
    members = sorted(at for cluster in frame.clusters for at in cluster.members)
    _check(members == list(range(count)), "each is in one cluster")
    for cluster in frame.clusters:
        _check(cluster.representative in cluster.members, "a representative")
        _check(0.0 <= cluster.min_similarity <= 1.0, "a similarity in [0, 1]")
    return tuple(Cluster(c.members, c.representative, c.min_similarity) for c in frame.clusters)


def _table(data: memoryview) -> list[Numbers]:
    values = data.cast("d").tolist()
    _check(len(values) % 4 == 0, "four numbers each")
    for at in range(0, len(values), 4):
        _check(0.0 <= values[at] <= 1.0, "a score in [0, 1]")
    _check(all(isnan(v) or 0.0 <= v <= 1.0 for v in values), "a score in [0, 1]")
    fours = zip(*[iter(values)] * 4, strict=True)
    return [Numbers(es, _number(k), _number(a), _number(d)) for es, k, a, d in fours]


def _number(value: float) -> float | None:
    return None if isnan(value) else value


@dataclass(frozen=True, slots=True)
class _Hunks:
    """Reads hunks of texts whose numbers of lines are known, and who has a text in each of them."""

    lines: int
    sizes: Sequence[int]
    indices: Sequence[int]

    def hunk(self, frame: HunkFrame) -> Hunk:
        _check(0 <= frame.lo <= frame.hi <= self.lines, "lines of the origin")
        numbers = frame.spans.cast("i").tolist()
        spans = tuple(zip(numbers[::2], numbers[1::2], strict=True))
        _check(len(spans) == len(self.sizes), "lines of each revision")
        for (lo, hi), size in zip(spans, self.sizes, strict=True):
            _check(0 <= lo <= hi <= size, "lines of a revision")
        members = sorted(at for who, _ in frame.variants for at in who)
        _check(members == list(self.indices) and all(who for who, _ in frame.variants), "variants")
        variants = tuple(Variant(who, as_text(text)) for who, text in frame.variants)
        return Hunk(frame.lo, frame.hi, as_text(frame.text), variants, spans)


def _numbers(compared: tuple[int, ...], frame: PairsFrame, table: list[Numbers]) -> HunkNumbers:
    numbers, shares = frame.numbers.cast("I"), frame.shares.cast("d")
    _check(len({len(frame.a), len(frame.b), len(numbers), len(shares)}) == 1, "as many of each")
    _within(frame.a, len(compared), "a pair")
    _within(frame.b, len(compared), "a pair")
    _within(numbers, len(table), "a pair's numbers")
    for start in range(0, len(shares), _CHUNK):
        chunk = shares[start : start + _CHUNK].tolist()
        _check(all(0.0 <= share <= 1.0 + 1e-9 for share in chunk), "a share")
    mean = None if frame.mean is None else Numbers(*frame.mean)
    known = [n for n in frame.mean or () if n is not None]
    _check(all(0.0 <= n <= 1.0 + 1e-9 for n in known), "a mean in [0, 1]")
    _check(0.0 <= frame.share <= 1.0 + 1e-9, "a share")
    pairs = Pairs(compared, frame.a, frame.b, numbers, shares, table)
    return HunkNumbers(compared, pairs, mean, frame.share)


def _sites(data: memoryview, flags: memoryview, count: int, lines: int) -> tuple[Site, ...]:
    numbers = data.cast("i").tolist()
    _check(len(numbers) == 2 * count and len(flags) == count, "a site a hunk")
    _within(flags, (CROSSED | DECIDED) + 1, "a flag")
    spans = list(zip(numbers[::2], numbers[1::2], strict=True))
    _check(all(0 <= lo <= hi <= lines for lo, hi in spans), "lines of the buffer")
    return tuple(
        Site(lo, hi, bool(flag & CROSSED)) for (lo, hi), flag in zip(spans, flags, strict=True)
    )


def _lines(text: str) -> int:
    """Return how many lines a text has when it is normalised, without doing that."""
    ends = text.count("\n") + text.count("\r") - text.count("\r\n")
    return ends + (not text.endswith(("\n", "\r")) and bool(text))


def _within(numbers: Sequence[int] | memoryview[int], limit: int, what: str) -> None:
    for start in range(0, len(numbers), _CHUNK):
        chunk = numbers[start : start + _CHUNK]
        _check(min(chunk) >= 0 and max(chunk) < limit, what)


def _check(holds: bool, what: str) -> None:
    if not holds:
        raise BrokenFrameError(f"malformed message: {what}")
