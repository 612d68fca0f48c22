"""The places of the origin's lines in the editor's buffer, by their exact text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import excise
from excise.text import normalise, raw_lines

__all__ = ["LineMap"]


class LineMap:
    """The places of one text's lines in another text, by the edits between the two."""

    def __init__(self, edits: Sequence[excise.Edit]) -> None:
        """Take the maximal unmatched runs, ascending."""
        self._edits = edits
        self._starts = [edit.o_lo for edit in edits]

    @classmethod
    def between(cls, origin: Sequence[str], lines: Sequence[str]) -> LineMap:
        """Align two texts by their exact lines."""
        return cls(excise.align(origin, lines).edits)

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
