"""The places of the origin's hunks and lines in the editor's buffer.

A buffer to which variants were applied has one of the texts of each hunk, and the origin's lines
between them. As far as that holds, from either end, the hunks are where those texts are, whatever
else they could be aligned with. The rest, where somebody typed, is aligned by exact lines.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import excise
from excise.alignment import align
from excise.text import Text, normalise, raw_lines, shared_lines
from excise.tokens import Vocabulary
from excise_server.wire.worker import Site

Lines = Sequence[str]


def find_sites(
    origin: Text, buffer: Text, hunks: Sequence[excise.Hunk], own_index: int | None = None
) -> tuple[Site, ...]:
    """Return the current sites of the hunks.

    Text typed next to a hunk is not part of it, unless the result is one of the variants: then that
    was applied, and another variant replaces it. ``own_index`` is the revision that is the buffer
    itself: text that it alone has was typed.
    """
    if buffer is origin:
        # The origin's texts fit, and each is tried before the variants of its hunk.
        return tuple(Site(hunk.lo, hunk.hi) for hunk in hunks)
    variants = [[v.text for v in hunk.variants if v.members != (own_index,)] for hunk in hunks]
    starts, stops = [0, *(h.hi for h in hunks)], [*(h.lo for h in hunks), len(origin.lines)]
    kept = [origin.lines[start:stop] for start, stop in zip(starts, stops, strict=True)]
    options = [
        list(dict.fromkeys([hunk.text, *v])) for hunk, v in zip(hunks, variants, strict=True)
    ]
    texts = [[raw_lines(text) for text in each] for each in options]
    head = _matched(buffer.lines, kept, texts)
    if len(head) == len(hunks):
        return tuple(Site(*span) for span in head)
    from_end = _matched(
        buffer.lines[::-1],
        [part[::-1] for part in reversed(kept)],
        [[text[::-1] for text in each] for each in reversed(texts)],
    )
    end = len(buffer.lines)
    tail = [(end - hi, end - lo) for lo, hi in reversed(from_end)][len(head) - len(hunks) :]
    while head and tail and tail[0][0] < head[-1][1]:
        tail.pop(0)
    middle = range(len(head), len(hunks) - len(tail))
    o_lo, b_lo = (hunks[middle.start - 1].hi, head[-1][1]) if head else (0, 0)
    o_hi, b_hi = len(origin.lines), len(buffer.lines)
    if tail:
        o_hi, b_hi = hunks[middle.stop].lo, tail[0][0]
    lines = LineMap.between(origin.lines[o_lo:o_hi], buffer.lines[b_lo:b_hi])
    aligned = []
    for index in middle:
        lo, hi = hunks[index].lo - o_lo, hunks[index].hi - o_lo
        span, cover = lines.span(lo, hi), lines.cover(lo, hi)
        crossed = lines.crosses(lo, hi)
        if not crossed and buffer.between(b_lo + cover[0], b_lo + cover[1]) in variants[index]:
            span = cover
        aligned.append(Site(b_lo + span[0], b_lo + span[1], crossed))
    return (*(Site(*span) for span in head), *aligned, *(Site(*span) for span in tail))


def _matched(
    lines: Lines, kept: Sequence[Lines], texts: Sequence[Sequence[Lines]]
) -> list[tuple[int, int]]:
    """Return the lines of the first hunks, as long as each has one of its texts.

    The last of these has at least one kept line after it, or the end of the lines.
    """
    if lines[: len(kept[0])] != kept[0]:
        return []
    # The possible spans of each hunk, by the line where the next hunk would begin.
    steps: list[dict[int, tuple[int, int]]] = []
    starts = [len(kept[0])]
    for after, several in zip(kept[1:], texts, strict=True):
        spans: dict[int, tuple[int, int]] = {}
        for start in starts:
            for text in several:
                if lines[start : (stop := start + len(text))] == text:
                    spans.setdefault(stop, (start, stop))
        is_last = len(steps) == len(texts) - 1
        complete = {
            stop + len(after): span
            for stop, span in spans.items()
            if lines[stop : stop + len(after)] == after
            and (not is_last or stop + len(after) == len(lines))
        }
        if not complete:
            best = max(spans, key=lambda stop: shared_lines(lines[stop:], after), default=0)
            if spans and shared_lines(lines[best:], after):
                steps.append({best: spans[best]})
            break
        steps.append(complete)
        starts = list(complete)
    matched: list[tuple[int, int]] = []
    for step in reversed(steps):
        matched.insert(0, step[matched[0][0]] if matched else next(iter(step.values())))
    return matched


class LineMap:
    """The places of one text's lines in another text, by the edits between the two."""

    def __init__(self, edits: Sequence[excise.Edit]) -> None:
        """Take the maximal unmatched runs, ascending."""
        self._edits = edits
        self._starts = [edit.o_lo for edit in edits]

    @classmethod
    def between(cls, origin: Sequence[str], lines: Sequence[str]) -> LineMap:
        """Align two texts by their exact lines."""
        head = shared_lines(origin, lines)
        tail = shared_lines(origin[head:][::-1], lines[head:][::-1])
        vocabulary = Vocabulary()  # of what is left, as most lines are on both sides
        rest = [vocabulary.intern(part[head : len(part) - tail]) for part in (origin, lines)]
        edits = align(*rest).edits
        return cls([excise.Edit(*(head + line for line in edit)) for edit in edits])

    @classmethod
    def of_texts(cls, text: str, changed: str) -> LineMap:
        """Align two texts by their exact lines, regardless of their line ends."""
        return cls.between(raw_lines(normalise(text)), raw_lines(normalise(changed)))

    def cover(self, lo: int, hi: int) -> tuple[int, int]:
        """Return the other text's lines for the origin's, with all insertions next to them.

        For a hunk this is what is between the two lines around it that everyone keeps.
        """
        before, after = self._touching(lo), self._touching(hi)
        start = before.a_lo if before is not None else lo + self._shift(lo)
        stop = after.a_hi if after is not None else hi + self._shift(hi)
        return start, stop

    def span(self, lo: int, hi: int) -> tuple[int, int]:
        """Return the other text's lines for the origin's, without insertions next to them.

        A run of edits that overlaps the lines belongs to them entirely. A run that only touches
        them does not: text typed next to a hunk is not part of it.
        """
        before, after = self._touching(lo), self._touching(hi)
        start, stop = lo + self._shift(lo), hi + self._shift(hi)
        if before is not None:
            start = before.a_lo if lo < before.o_hi else before.a_hi
        if after is not None:
            stop = after.a_hi if hi > after.o_lo else after.a_lo
        return start, max(start, stop)

    def crosses(self, lo: int, hi: int) -> bool:
        """Tell whether some run is partly inside of these lines and partly outside."""
        for index in {max(bisect_right(self._starts, line) - 1, 0) for line in (lo, hi)}:
            for edit in self._edits[index : index + 1]:
                inside = edit.o_lo < hi and lo < edit.o_hi
                if inside and (edit.o_lo < lo or hi < edit.o_hi):
                    return True
        return False

    def _touching(self, line: int) -> excise.Edit | None:
        """Return the run with ``o_lo <= line <= o_hi``, at most one because runs never touch."""
        index = bisect_right(self._starts, line) - 1
        return self._edits[index] if index >= 0 and line <= self._edits[index].o_hi else None

    def _shift(self, line: int) -> int:
        """Return how far the runs that begin at or before this line have moved it."""
        index = bisect_right(self._starts, line) - 1
        return self._edits[index].a_hi - self._edits[index].o_hi if index >= 0 else 0
