"""Tokens of a revision from its origin's tree: only what an edit touched is walked again.

A tree-sitter tree is edited and parsed again; then every line outside the edited lines and outside
the tree's changed ranges has the origin's tokens. A block's INDENT and DEDENT stand on its
neighbours' lines, so each changed stretch is widened by one line with text on both sides. The
result equals ``lines_of(stream(text, grammar))``, which is the definition; tests hold that. Where
syntax is broken, trees parsed from scratch are compared instead (`excise.twins`).
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from excise import syntax
from excise.kernels._lcs import edits as lcs_edits
from excise.kernels._lines import OriginLines, tree_edits
from excise.kernels._tree import assemble
from excise.kernels._walk import CancelFlag
from excise.spans import BLANKS, encode
from excise.text import line_key
from excise.tokens import Lines, Vocabulary, line_keys
from excise.twins import Kept

if TYPE_CHECKING:
    from tree_sitter import Tree

__all__ = ["Parsed", "Reparsed", "parsed", "reparse"]

Stretch = tuple[int, int]
"""Lines of the revision: the first, and one past the last."""


@dataclass(frozen=True, slots=True)
class _Side:
    """One text by lines: its bytes, where each line starts, and a name of each line's exact text.

    The last start lies one past the end, as if the last line ended too. Names of lines that the
    origin lacks are all one.
    """

    data: bytes
    starts: array[int]
    names: array[int]

    def point(self, byte: int) -> tuple[int, int]:
        """Return row and column of a byte."""
        row = bisect_right(self.starts, byte, hi=len(self.starts) - 1) - 1
        return row, byte - self.starts[row]

    def keys(self, start: int, stop: int) -> list[str | None]:
        """Return the keys of some lines, None for a blank one."""
        lines = self.data[self.starts[start] : self.starts[stop]].decode("utf-8", "surrogatepass")
        return [line_key(line) or None for line in lines.split("\n")[: stop - start]]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text with its tree, ready to have revisions parsed from it."""

    grammar: str
    tree: Tree
    lines: Lines
    side: _Side
    named: OriginLines

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
    data = encode(text)
    named = OriginLines(data)
    side = _Side(data, named.starts, named.names)
    return Parsed(grammar, tree, _written(text, side, tree, grammar, vocabulary), side, named)


def _written(text: str, side: _Side, tree: Tree, grammar: str, vocabulary: Vocabulary) -> Lines:
    """Return the lines of a parsed text, none of them inherited."""
    spans, _ = syntax.walk(tree.root_node, side.data, grammar)
    whole = [(0, len(side.names))]
    no_lines = Lines(array("i"), array("i", (0,)), (), array("i"))
    return _assembled(no_lines, array("i"), whole, spans, side, line_keys(text), vocabulary)


def _assembled(
    origin: Lines,
    edits: array[int],
    stretches: list[Stretch],
    spans: array[int],
    side: _Side,
    keys: Sequence[Hashable | None],
    vocabulary: Vocabulary,
) -> Lines:
    """Return lines of an origin, and stretches written from spans, as the lines of a text."""
    inherited = origin.tokens, origin.first, origin.ids, origin.comments
    tokens, first, ids, comments = assemble(
        inherited, edits, stretches, spans, side.data, side.starts, keys, vocabulary.intern
    )
    return Lines(tokens, first, keys, ids, comments)


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
    data = encode(text)
    side = _Side(data, *origin.named.beside(data))
    edits = lcs_edits(origin.side.names, side.names)
    changed = list(zip(edits[2::4], edits[3::4], strict=True))
    if _most(changed, side):
        return None
    tree = None
    if not origin.has_errors:
        old = origin.tree.copy()
        starts = origin.side.starts, side.starts
        for edit in tree_edits(origin.side.data, *starts, edits):
            old.edit(*edit)
        tree = syntax.parse(text, origin.grammar, old, cancel, timeout)
    if tree is not None and not tree.root_node.has_error:
        changed += [(r.start_point[0], r.end_point[0] + 1) for r in old.changed_ranges(tree)]
    else:
        # Error recovery depends on the way the parser came: the parse from scratch decides.
        tree = syntax.parse(text, origin.grammar, None, cancel, timeout)
        stale = _not_shared(origin, tree, side, edits)
        if _most(stale, side):
            lines = _written(text, side, tree, origin.grammar, vocabulary)
            return Reparsed(lines, tree.root_node.has_error)
        changed += stale
    keys = _keys(origin.lines.keys, edits, side)
    stretches, spans = _walked(tree, side, origin.grammar, changed, keys)
    lines = _assembled(origin.lines, edits, stretches, spans, side, keys, vocabulary)
    return Reparsed(lines, tree.root_node.has_error)


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
) -> tuple[list[Stretch], array[int]]:
    """Walk the stale parts, widened, and return them as stretches, with spans.

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
            return stretches, spans
        stale = stale + [(side.point(start)[0], side.point(end)[0] + 1) for start, end in torn]


def _is_inside(start: int, end: int, ranges: Sequence[tuple[int, int]]) -> bool:
    at = bisect_right(ranges, start, key=itemgetter(0)) - 1
    return at >= 0 and end <= ranges[at][1]


def _keys(old: Sequence[Hashable | None], edits: array[int], side: _Side) -> list[Hashable | None]:
    keys: list[Hashable | None] = []
    place = 0
    for at in range(0, len(edits), 4):
        o_lo, o_hi, a_lo, a_hi = edits[at : at + 4]
        keys.extend(old[place:o_lo])
        keys.extend(side.keys(a_lo, a_hi))
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
