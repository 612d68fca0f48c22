"""Tokens of a revision from its origin's tree: only what an edit touched is walked again.

A tree-sitter tree is edited and parsed again; then every line outside the edited lines and outside
the tree's changed ranges has the origin's tokens. A block's INDENT and DEDENT stand on its
neighbours' lines, so each changed stretch is widened by one line with text on both sides. The
result equals ``lines_of(stream(text, grammar))``, which is the definition; tests hold that. Where
syntax is broken, trees parsed from scratch are compared instead (`excise.twins`). Over 300 lines:
every step is a part of that one proof.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from excise import syntax
from excise.kernels._lcs import edits as lcs_edits
from excise.kernels._walk import CancelFlag
from excise.spans import BLANKS, BLOCK_END, BLOCK_START, Span, encode, write
from excise.text import line_key
from excise.tokens import (
    Lines,
    Vocabulary,
    first_tokens,
    line_ids,
    line_keys,
    lines_of,
    placed,
)
from excise.twins import Kept

if TYPE_CHECKING:
    from tree_sitter import Tree

__all__ = ["Parsed", "Reparsed", "parsed", "reparse"]

Stretch = tuple[int, int]
"""Lines of the revision: the first, and one past the last."""


@dataclass(frozen=True, slots=True)
class _Side:
    """One text by lines: its bytes, where each line starts, and each line's exact text as a name.

    The last start lies one past the end, as if the last line ended too.
    """

    data: bytes
    starts: list[int]
    names: array[int]

    @classmethod
    def of(cls, text: str, vocabulary: Vocabulary) -> _Side:
        """Split a text."""
        lines = text.split("\n")
        data = encode(text)
        lengths = map(len, lines if text.isascii() else data.split(b"\n"))
        starts = [start + line for line, start in enumerate(accumulate(lengths, initial=0))]
        # The last line has no line end, so no other line equals it.
        names = vocabulary.intern([*lines[:-1], lines[-1] + "\n"])
        return cls(data, starts, names)

    def point(self, byte: int) -> tuple[int, int]:
        """Return row and column of a byte."""
        row = bisect_right(self.starts, byte, hi=len(self.starts) - 1) - 1
        return row, byte - self.starts[row]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text with its tree, ready to have revisions parsed from it."""

    grammar: str
    tree: Tree
    lines: Lines
    side: _Side

    @property
    def has_errors(self) -> bool:
        """Whether the syntax is broken."""
        return self.tree.root_node.has_error


def parsed(
    text: str,
    grammar: str,
    vocabulary: Vocabulary,
    cancel: CancelFlag | None = None,
    timeout: float | None = None,
) -> Parsed:
    """Parse an origin, and keep its tree."""
    tree = syntax.parse(text, grammar, None, cancel, timeout)
    lines = lines_of(placed(syntax.tokens_of(text, tree, grammar), line_keys(text)), vocabulary)
    return Parsed(grammar, tree, lines, _Side.of(text, vocabulary))


class Reparsed(NamedTuple):
    """The lines of a revision, and whether its syntax is broken."""

    lines: Lines
    has_errors: bool


def reparse(
    origin: Parsed,
    text: str,
    vocabulary: Vocabulary,
    cancel: CancelFlag | None = None,
    timeout: float | None = None,
) -> Reparsed | None:
    """Return the lines of a revision, as if it had been parsed alone, or None: parse it alone.

    None where most lines changed, so that little could be inherited.
    """
    side = _Side.of(text, vocabulary)
    edits = lcs_edits(origin.side.names, side.names)
    changed = list(zip(edits[2::4], edits[3::4], strict=True))
    if _most(changed, side):
        return None
    tree = None
    if not origin.has_errors:
        old = origin.tree.copy()
        for at in range(len(edits) - 4, -1, -4):
            _edit(old, origin.side, side, edits[at : at + 4])
        tree = syntax.parse(text, origin.grammar, old, cancel, timeout)
    if tree is not None and not tree.root_node.has_error:
        changed += [(r.start_point[0], r.end_point[0] + 1) for r in old.changed_ranges(tree)]
    else:
        # Error recovery depends on the way the parser came: the parse from scratch decides.
        tree = syntax.parse(text, origin.grammar, None, cancel, timeout)
        stale = _not_shared(origin, tree, side, edits)
        if _most(stale, side):
            tokens = syntax.tokens_of(text, tree, origin.grammar)
            return Reparsed(
                lines_of(placed(tokens, line_keys(text)), vocabulary), tokens.has_errors
            )
        changed += stale
    keys = _keys(origin.lines.keys, edits, text.split("\n"))
    lines = _Assembly(origin.lines, edits, keys)
    stretches, ranges, found = _walked(tree, side, origin.grammar, changed, keys)
    places = [start for start, _, _ in found]
    for stretch, (low, high) in zip(stretches, ranges, strict=True):
        near = _near(found, places, low, high)
        spans = list(_clipped(near, side.data, low, high))
        lines.add(stretch, side.data[low:high], spans, vocabulary)
    return Reparsed(lines.finish(), tree.root_node.has_error)


def _most(stretches: Sequence[Stretch], side: _Side) -> bool:
    return 2 * sum(high - low for low, high in stretches) > len(side.names)


def _not_shared(origin: Parsed, tree: Tree, side: _Side, edits: Sequence[int]) -> list[Stretch]:
    """Return the lines of a revision, parsed alone, whose nodes may not be those of the origin."""
    kept, low, moved = [], 0, 0
    for at in range(0, len(edits) + 4, 4):
        high = edits[at + 2] if at < len(edits) else len(side.names)
        if low < high:
            kept.append(Kept(side.starts[low], side.starts[high], moved))
        if at < len(edits):
            low = edits[at + 3]
            moved = side.starts[low] - origin.side.starts[edits[at + 1]]
    shared = syntax.twins(origin.tree, tree, side.data, kept, origin.grammar)
    stale, line = [], 0
    for start, end in sorted(shared):
        first, last = side.point(start)[0], side.point(end - 1)[0]
        first += bool(side.data[side.starts[first] : start].strip(BLANKS))
        last += not side.data[end : side.starts[last + 1]].strip(BLANKS)
        if first < last:
            stale.append((line, first))
            line = last
    stale.append((line, len(side.names)))
    return [stretch for stretch in stale if stretch[0] < stretch[1]]


def _walked(
    tree: Tree, side: _Side, grammar: str, stale: list[Stretch], keys: Sequence[object]
) -> tuple[list[Stretch], list[tuple[int, int]], list[Span]]:
    """Walk the stale parts, widened, and return them as stretches and byte ranges, with spans.

    Text of a string that no leaf covers is a token or not by all of its node (a quote gone from
    one line turns blank text on another into white space), so such a node is walked as a whole.
    """
    size = len(side.data)
    while True:
        stretches = _widened(stale, keys)
        ranges = [(side.starts[low], min(side.starts[high], size)) for low, high in stretches]
        spans, loose = syntax.walk(tree.root_node, side.data, grammar, ranges)
        torn = [span for span in loose if not _is_inside(span[0], min(span[1], size), ranges)]
        if not torn:
            return stretches, ranges, spans
        stale = stale + [(side.point(start)[0], side.point(end)[0] + 1) for start, end in torn]


def _is_inside(start: int, end: int, ranges: Sequence[tuple[int, int]]) -> bool:
    at = bisect_right(ranges, start, key=itemgetter(0)) - 1
    return at >= 0 and end <= ranges[at][1]


def _edit(tree: Tree, old: _Side, new: _Side, edit: Sequence[int]) -> None:
    """Apply one edit of lines to a tree, the last edit of a text first.

    An edit can be said in several ways, and how much the parser reuses depends on it (measured on
    Python: ten times less, said the wrong way). Best: replaced lines from their first byte that
    differs to the start of the next line; inserted and deleted lines from the end of the line
    before.
    """
    o_lo, o_hi, a_lo, a_hi = edit
    before = 0
    if o_lo and (o_lo == o_hi or a_lo == a_hi):
        before = 1
    start, old_end = old.starts[o_lo] - before, min(old.starts[o_hi] - before, len(old.data))
    new_start, new_end = new.starts[a_lo] - before, min(new.starts[a_hi] - before, len(new.data))
    same = _common(old.data[start:old_end], new.data[new_start:new_end])
    start, new_start = start + same, new_start + same
    place = old.point(start)
    # In the tree's terms nothing before the edit has moved yet.
    row, column = new.point(new_end)
    first, first_column = new.point(new_start)
    moved = (place[0] + row - first, column if row > first else place[1] + column - first_column)
    tree.edit(start, old_end, start + new_end - new_start, place, old.point(old_end), moved)


def _common(x: bytes, y: bytes) -> int:
    """Return how many first bytes two strings share."""
    same = 0
    for p, q in zip(x, y, strict=False):
        if p != q:
            break
        same += 1
    return same


def _keys(old: Sequence[object], edits: array[int], lines: list[str]) -> list[object]:
    keys: list[object] = []
    place = 0
    for at in range(0, len(edits), 4):
        o_lo, o_hi, a_lo, a_hi = edits[at : at + 4]
        keys.extend(old[place:o_lo])
        keys.extend(line_key(line) or None for line in lines[a_lo:a_hi])
        place = o_hi
    keys.extend(old[place:])
    return keys


def _widened(stale: list[Stretch], keys: Sequence[object]) -> list[Stretch]:
    """Widen each stretch to its next written line on both sides, and merge those that touch."""
    merged: list[Stretch] = []
    for low, high in sorted(stale):
        low, high = min(low, len(keys)), min(high, len(keys))
        while low > 0:
            low -= 1
            if keys[low] is not None:
                break
        while high < len(keys):
            high += 1
            if keys[high - 1] is not None:
                break
        if merged and low <= merged[-1][1]:
            low, high = merged[-1][0], max(merged[-1][1], high)
            merged.pop()
        merged.append((low, high))
    return merged


def _near(found: list[Span], places: list[int], low: int, high: int) -> list[Span]:
    """Return the spans that may reach into a range: those that begin in it, and their neighbours.

    Marks need not be neighbours: several, and missing nodes, may be in one place after a long span.
    """
    first, last = bisect_left(places, low), bisect_left(places, high)
    first = max(first - 1, 0)
    while first and found[first][0] == found[first][1]:
        first -= 1
    while last < len(found) and found[last][0] == found[last][1]:
        last += 1
    return found[first:last]


def _clipped(found: list[Span], data: bytes, low: int, high: int) -> Iterator[Span]:
    """Cut spans to a range of whole lines. A mark stays with the token next to it."""
    for start, end, kind in found:
        if kind == BLOCK_START:
            token = start
            while token < high and data[token] in BLANKS:
                token += 1
            if low <= token < high:
                yield max(start, low) - low, max(start, low) - low, kind
        elif kind == BLOCK_END:
            token = end - 1
            while token >= low and data[token] in BLANKS:
                token -= 1
            if low <= token < high:
                yield min(end, high) - low, min(end, high) - low, kind
        elif start < high and end > low:
            yield max(start, low) - low, min(end, high) - low, kind


class _Assembly:
    """Puts a revision's lines together: the origin's, and stretches walked anew."""

    def __init__(self, origin: Lines, edits: array[int], keys: list[object]) -> None:
        self._origin = origin
        self._edits = edits
        self._at = 0
        self._line = self._shift = 0
        self._keys = keys
        self._tokens, self._first, self._ids = array("i"), array("i"), array("i")

    def add(self, stretch: Stretch, data: bytes, spans: list[Span], vocabulary: Vocabulary) -> None:
        """Inherit up to a stretch, then take its own tokens."""
        start, stop = stretch
        self._inherit(start)
        found = write(data.decode("utf-8", "surrogatepass"), spans)
        tokens = vocabulary.intern(found.tokens)
        first = first_tokens(found.lines, stop - start)
        keys = self._keys[start:stop]
        self._ids.extend(line_ids(tokens, first, keys, vocabulary))
        self._extend(tokens, first[:-1], 0)
        self._line = stop
        self._pass_edits()

    def finish(self) -> Lines:
        """Inherit the rest."""
        self._inherit(len(self._keys))
        self._first.append(len(self._tokens))
        return Lines(self._tokens, self._first, self._keys, self._ids)

    def _inherit(self, stop: int) -> None:
        low, high = self._line + self._shift, stop + self._shift
        first = self._origin.first
        self._ids.extend(self._origin.ids[low:high])
        self._extend(self._origin.tokens[first[low] : first[high]], first[low:high], first[low])
        self._line = stop

    def _extend(self, tokens: array[int], first: array[int], base: int) -> None:
        by = len(self._tokens) - base
        self._first.extend(array("i", [place + by for place in first]) if by else first)
        self._tokens.extend(tokens)

    def _pass_edits(self) -> None:
        """Find by how much lines have moved behind the edits of the stretch just taken."""
        edits = self._edits
        while self._at < len(edits) and edits[self._at + 3] <= self._line:
            self._shift = edits[self._at + 1] - edits[self._at + 3]
            self._at += 4
