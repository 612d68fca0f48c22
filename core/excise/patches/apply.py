"""Applying what a patch does to one file: exact lines, where it says or at an offset, never fuzz.

A hunk with context is placed as ``git apply`` places it (`find_pos` in git's apply.c), so that what
it applies gives the same text here. Beyond that, a hunk applies at the very line that it names, and
nowhere else, where git wants more of it: without context on one side, or without any (``diff
-U0``), which git takes for an edit at the end of the file unless it is told otherwise.

A hunk that is not where it says is looked for by the rarest of its lines, through an index of the
lines that the file had. A search through the file for every hunk would be quadratic.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

from excise.patches.model import Budget, FilePair, Hunk, PatchError


@dataclass(frozen=True, slots=True)
class Applied:
    """A file after a patch.

    - ``text``: None: the patch deletes the file.
    - ``offsets``: for each hunk how many lines further down it applied than it says (negative:
      further up).
    """

    text: bytes | None
    offsets: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """A hunk as lines with their ends."""

    hunk: Hunk
    old: list[bytes]
    new: list[bytes]
    has_context: bool
    is_open: bool
    """Whether lines follow the last change, so that the hunk need not end where the file does."""


def apply(pair: FilePair, text: bytes | None) -> Applied:
    r"""Apply what a patch does to one file.

    Where the patch and the text have different line ends throughout (a patch that was mailed with
    ``\r\n``, a checkout that has them), the result has those of the text.

    - ``pair``: what the patch does to the file.
    - ``text``: the file under its old name; None if the file does not exist yet.

    Returns: the file under its new name.

    Raises PatchError if the patch does not apply, or is binary. The reason names the file,
    the hunk and the line of the file, `line` is that of the hunk in the patch.

    >>> from excise.patches import parse
    >>> pair, = parse(b"--- a/x\n+++ b/x\n@@ -2,3 +2,3 @@\n one\n-two\n+2\n three\n").files
    >>> apply(pair, b"0\n0\n0\none\ntwo\nthree\n")
    Applied(text=b'0\n0\n0\none\n2\nthree\n', offsets=(2,))
    >>> apply(pair, b"zero\none\n2\nthree\n")
    Traceback (most recent call last):
    excise.patches.model.PatchError: line 3: x: hunk 1 does not apply: line 3 has another text
    """
    if pair.binary is not None:
        raise PatchError(f"{pair.path}: the patch is binary")
    if (pair.old is None) != (text is None):
        there = "creates it, but it exists" if text is not None else "changes it, but it is missing"
        raise PatchError(f"{pair.path}: the patch {there}")
    before = text or b""
    changes = [_change(hunk) for hunk in pair.hunks]
    try:
        applied = _applied(pair.path, changes, before)
    except PatchError:
        same_ends = _with_ends_of(before, changes)
        if same_ends is None:
            raise
        applied = _applied(pair.path, same_ends, before)
    if pair.new is not None:
        return applied
    if applied.text:
        raise PatchError(f"{pair.path}: the patch deletes the file, but not all of its lines")
    return replace(applied, text=None)


def _change(hunk: Hunk) -> Change:
    old = [line[1:] + b"\n" for line in hunk.lines if line[:1] != b"+"]
    new = [line[1:] + b"\n" for line in hunk.lines if line[:1] != b"-"]
    for lines, is_open in ((old, hunk.old_open), (new, hunk.new_open)):
        if is_open and lines:
            lines[-1] = lines[-1][:-1]
    has_context = any(line[:1] == b" " for line in hunk.lines)
    return Change(hunk, old, new, has_context, hunk.text.rpartition(b"\n")[2][:1] == b" ")


def _with_ends_of(text: bytes, changes: Sequence[Change]) -> list[Change] | None:
    r"""Return the changes with the text's line ends, or None if they are not of the other kind."""
    # A line that the text leaves without an end has the mail's \r all the same.
    lines = [line for change in changes for line in change.old + change.new]
    have = {line.rstrip(b"\n").endswith(b"\r") for line in lines}
    ends, returns = text.count(b"\n"), text.count(b"\r\n")
    if have == {True} and not returns:
        wanted = b"\n"
    elif have == {False} and ends and ends == returns:
        wanted = b"\r\n"
    else:
        return None
    return [
        replace(change, old=_ended(change.old, wanted), new=_ended(change.new, wanted))
        for change in changes
    ]


def _ended(lines: Sequence[bytes], end: bytes) -> list[bytes]:
    return [
        line.removesuffix(b"\n").removesuffix(b"\r") + (end if line[-1:] == b"\n" else b"")
        for line in lines
    ]


def _applied(path: str, changes: Sequence[Change], text: bytes) -> Applied:
    size = len(text) + sum(len(change.hunk.text) for change in changes)
    # A unit is a step of a search for the place of a hunk.
    budget = Budget(size, f"{path}: too costly to apply", allowance=4_000_000, units_a_byte=5)
    image = Image(text, budget)
    offsets = []
    grown = 0
    for number, change in enumerate(changes, start=1):
        # A side without lines names the line before it.
        stated = max(change.hunk.new_start - bool(change.new), 0)
        from_old = change.hunk.old_start - bool(change.old) + grown
        position = image.place(change, stated, from_old)
        if position is None:
            problem = image.mismatch(change.old, stated) or (
                f"its header names line {from_old + 1} of the result, and line {stated + 1}"
            )
            raise PatchError(f"{path}: hunk {number} does not apply: {problem}", change.hunk.line)
        image.write(change, position)
        offsets.append(position - stated)
        grown += len(change.new) - len(change.old)
    if any(line[-1:] != b"\n" for line in image.lines[:-1]):
        raise PatchError(f"{path}: a line without a line end would not be the last one")
    return Applied(b"".join(image.lines), tuple(offsets))


# --- the lines of the file


class Image:
    """The lines of a file, some of them already written by hunks."""

    def __init__(self, text: bytes, budget: Budget) -> None:
        """Start with a text. Searching for positions uses up the budget."""
        *ended, last = text.split(b"\n")
        self.lines = [line + b"\n" for line in ended] + ([last] if last else [])
        self.written = bytearray(len(self.lines))
        """1 for the lines of earlier hunks, which no later one may show."""
        self._first_lines = list(self.lines)
        self._budget = budget
        # Earlier hunks in order: where they stand among the first lines, by how much they grow, the
        # sums of that, and where they stand now (rising, where it is not known: not below).
        self._starts: list[int] = []
        self._growths: list[int] = []
        self._sums: list[int] = [0]
        self._floors: list[int] = [0]

    def write(self, change: Change, position: int) -> None:
        """Put a hunk's new lines in the place of its old ones."""
        stop = position + len(change.old)
        self._budget.spend(len(change.old) + (len(self.lines) - stop) // 64)
        self._grow(position, len(change.new) - len(change.old))
        self.lines[position:stop] = change.new
        self.written[position:stop] = b"\1" * len(change.new)

    def fits(self, old: list[bytes], position: int) -> bool:
        """Whether a hunk's old lines stand there, and none of them was written by another one."""
        stop = position + len(old)
        return (
            0 <= position <= stop <= len(self.lines)
            and self.lines[position:stop] == old
            and self.written.find(1, position, stop) < 0
        )

    def place(self, change: Change, stated: int, from_old: int) -> int | None:
        """Return the line (from 0) at which a hunk applies (`from_old`: as on its old side)."""
        position = self._as_git(change, stated) if change.has_context else None
        if position is None and from_old == stated and self.fits(change.old, stated):
            return stated
        return position

    def mismatch(self, old: Sequence[bytes], stated: int) -> str:
        """Return how a hunk differs from the lines that it names (empty: not at all)."""
        for at, line in enumerate(old, start=stated):
            if at >= len(self.lines):
                return f"it shows line {at + 1}, the file has {len(self.lines)}"
            if self.lines[at] != line:
                same = self.lines[at].rstrip(b"\r\n") == line.rstrip(b"\r\n")
                return f"line {at + 1} has another {'line end' if same else 'text'}"
            if self.written[at]:
                return f"it shows line {at + 1}, which an earlier hunk changed"
        if stated > len(self.lines):
            return f"it belongs after line {stated}, but the file has {len(self.lines)} lines"
        return ""

    def _as_git(self, change: Change, stated: int) -> int | None:
        """Return where git applies a hunk with context: anchored, or at the nearest line."""
        last = len(self.lines) - len(change.old)
        at_start, at_end = change.hunk.old_start <= 1, not change.is_open
        if at_start or at_end:
            only = 0 if at_start else last
            fits = self.fits(change.old, only) and (only == last or not at_end)
            return only if fits else None
        return stated if self.fits(change.old, stated) else self._nearest(change.old, stated)

    def _nearest(self, old: list[bytes], stated: int) -> int | None:
        """Return the nearest line where lines stand, of two as near the one further down."""
        middle = min(stated, len(self.lines))
        nearest = None
        for position in self._candidates(old, middle):
            distance = abs(position - middle)
            if nearest is not None and distance > abs(nearest - middle):
                break
            self._budget.spend(len(old))
            if self.fits(old, position):
                # Candidates come by their distance; as near, the one further down is the last.
                nearest = position if nearest is None else max(nearest, position)
        return nearest

    # --- candidates -------------------------------------------------------------------------------

    @cached_property
    def _index(self) -> dict[bytes, list[int]]:
        """Where each line stood at first."""
        index = defaultdict(list)
        for at, line in enumerate(self._first_lines):
            index[line].append(at)
        return index

    def _candidates(self, old: list[bytes], middle: int) -> Iterator[int]:
        """Yield where lines may stand now by the rarest of them, the nearest ones first."""
        none: list[int] = []
        self._budget.spend(len(old))
        rarest = min(range(len(old)), key=lambda at: len(self._index.get(old[at], none)))
        stood = self._index.get(old[rarest], none)
        wanted = middle + rarest
        # Lines keep their order: two walks away from the place that is meant merge by distance.
        below = bisect_left(stood, wanted, key=self._now)
        above = below - 1
        while above >= 0 or below < len(stood):
            up = self._now(stood[above]) if above >= 0 else None
            down = self._now(stood[below]) if below < len(stood) else None
            self._budget.spend(1)
            if down is None or (up is not None and wanted - up <= down - wanted):
                assert up is not None
                above -= 1
                yield up - rarest
            else:
                below += 1
                yield down - rarest

    def _now(self, at: int) -> int:
        """Return the current line of one of the first lines, or a nearby line if it is gone."""
        hunks = bisect_right(self._starts, at)
        return max(at + self._sums[hunks], self._floors[hunks])

    def _grow(self, position: int, growth: int) -> None:
        """Keep by how much a hunk moves the lines behind it."""
        start = position - self._sums[bisect_left(self._floors, position, 1) - 1]
        at = bisect_right(self._starts, start)
        self._starts.insert(at, start)
        self._growths.insert(at, growth)
        if at == len(self._growths) - 1:
            self._floors.append(max(self._floors[-1], start + self._sums[-1]))
            self._sums.append(self._sums[-1] + growth)
            return
        self._budget.spend(len(self._growths) // 8)
        self._sums = list(accumulate(self._growths, initial=0))
        begins = (at + moved for at, moved in zip(self._starts, self._sums, strict=False))
        self._floors = list(accumulate(begins, max, initial=0))
