"""Tokens of a revision from its origin's tree: only what an edit touched is walked again.

A tree-sitter tree is edited and parsed again; then every line outside the edited lines and outside
the tree's changed ranges has the origin's tokens. A block's INDENT and DEDENT stand on its
neighbours' lines, so each changed stretch is widened by one line with text on both sides. The
result equals ``lines_of(stream(text, grammar))``, which is the definition; tests hold that.

What error recovery makes of a text depends on the way the parser came, so that a tree which was
edited and parsed again proves nothing where the syntax is broken. Two parses from scratch can be
compared: a node without errors inside, over the same text, that one action of the parser made in
the same state, is the same node. Where the parser had several ways before it, it notes no state:
such nodes are written down and compared.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from excise import syntax
from excise.kernels._tree import assemble, line_edits, twins
from excise.kernels._walk import CancelFlag
from excise.syntax import encode, line_starts
from excise.text import WHITE, line_key
from excise.tokens import Lines, Vocabulary, line_keys

if TYPE_CHECKING:
    from tree_sitter import Tree

Stretch = tuple[int, int]
"""Lines of the revision: the first, and one past the last."""

_BLANKS = WHITE.encode()
# White space, and what is not the first byte of a character.
_SKIPPED = _BLANKS + bytes(range(0x80, 0xC0))
# Grammars whose scanner does not hand on all that it goes by: an edited tree of theirs is not
# always that of a parse from scratch, and not even the same in every process.
_FORGETFUL = {"rst"}
_NEAR = 50
"""A nearer text is looked for only where more than one in so many lines differs."""


@dataclass(frozen=True, slots=True)
class _Side:
    """One text by lines: its bytes, and where each line starts.

    The last start lies one past the end, as if the last line ended too.
    """

    data: bytes
    starts: array[int]

    @classmethod
    def of(cls, text: str) -> _Side:
        """Split a text."""
        data = encode(text)
        return cls(data, line_starts(data))

    @property
    def lines(self) -> int:
        """How many there are."""
        return len(self.starts) - 1

    def edits(self, other: _Side) -> array[int]:
        """Return the edits of lines that make another text of this one, flat."""
        return line_edits(self.data, self.starts, other.data, other.starts)

    def point(self, byte: int) -> tuple[int, int]:
        """Return row and column of a byte."""
        row = bisect_right(self.starts, byte, hi=len(self.starts) - 1) - 1
        return row, byte - self.starts[row]

    def keys(self, start: int, stop: int) -> list[str | None]:
        """Return the keys of some lines, None for a blank one."""
        lines = self.data[self.starts[start] : self.starts[stop]].decode("utf-8", "surrogatepass")
        return [line_key(line) or None for line in lines.split("\n")[: stop - start]]


class Parsed(NamedTuple):
    """A text with its tree, ready to have revisions parsed from it."""

    lines: Lines
    tree: Tree
    grammar: str
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
    return _written(text, _Side.of(text), tree, grammar, vocabulary)


def _written(text: str, side: _Side, tree: Tree, grammar: str, vocabulary: Vocabulary) -> Parsed:
    """Return a parsed text with its lines, none of them inherited."""
    spans, _ = syntax.walk(tree, side.data, grammar)
    whole = [(0, side.lines)]
    no_lines = Lines(array("i"), array("i", (0,)), (), array("i"))
    lines = _assembled(no_lines, array("i"), whole, spans, side, line_keys(text), vocabulary)
    return Parsed(lines, tree, grammar, side)


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


def reparse(
    origin: Parsed,
    text: str,
    vocabulary: Vocabulary,
    cancel: CancelFlag | None = None,
    timeout: float | None = None,
    *,
    other: Parsed | None = None,
) -> Parsed | None:
    """Return a revision with its lines and tree, as if parsed alone, or None: parse it alone.

    None where most lines changed, so that little could be inherited.

    - ``other``: a text of that grammar which may be nearer. Then it is its tree that is edited,
      unless its syntax is broken and the origin's is not.
    """
    side = _Side.of(text)
    edits = origin.side.edits(side)
    is_far = _NEAR * _size(edits) > side.lines
    if is_far and other is not None and (origin.has_errors or not other.has_errors):
        nearer = other.side.edits(side)
        if _size(nearer) < _size(edits):
            origin, edits = other, nearer
    changed = list(zip(edits[2::4], edits[3::4], strict=True))
    if _most(changed, side):
        return None
    old, tree = _edited_tree(origin, text, side, edits, cancel, timeout)
    if tree is not None:
        changed += [(r.start_point[0], r.end_point[0] + 1) for r in old.changed_ranges(tree)]
    else:
        # Error recovery depends on the way the parser came: the parse from scratch decides.
        tree = syntax.parse(text, origin.grammar, None, cancel, timeout)
        stale = _not_shared(origin, tree, side, edits)
        if _most(stale, side):
            return _written(text, side, tree, origin.grammar, vocabulary)
        changed += stale
    keys = _keys(origin.lines.keys, edits, side)
    stretches, spans = _walked(tree, side, origin.grammar, changed, keys)
    lines = _assembled(origin.lines, edits, stretches, spans, side, keys, vocabulary)
    return Parsed(lines, tree, origin.grammar, side)


def tree_of_edited(
    origin: Parsed, text: str, cancel: CancelFlag | None = None, timeout: float | None = None
) -> Tree | None:
    """Return a revision's tree from its origin's, as if parsed alone, or None: parse it alone."""
    side = _Side.of(text)
    edits = origin.side.edits(side)
    if _most(list(zip(edits[2::4], edits[3::4], strict=True)), side):
        return None
    return _edited_tree(origin, text, side, edits, cancel, timeout)[1]


def _edited_tree(
    origin: Parsed,
    text: str,
    side: _Side,
    edits: array[int],
    cancel: CancelFlag | None,
    timeout: float | None,
) -> tuple[Tree, Tree | None]:
    """Return the origin's tree with edits, and that parsed again: None where it proves nothing."""
    old = origin.tree.copy()
    if origin.has_errors or origin.grammar in _FORGETFUL:
        return old, None
    for edit in _tree_edits(origin.side, side, edits):
        old.edit(*edit)
    tree = syntax.parse(text, origin.grammar, old, cancel, timeout)
    return old, None if tree.root_node.has_error else tree


def _size(edits: array[int]) -> int:
    """Return how many lines some edits delete and insert."""
    return sum(edits[1::2]) - sum(edits[::2])


def _tree_edits(
    old: _Side, new: _Side, edits: array[int]
) -> Iterator[tuple[int, int, int, tuple[int, int], tuple[int, int], tuple[int, int]]]:
    """Yield edits of lines as the arguments of ``Tree.edit``, the last edit of a text first.

    An edit can be said in several ways, and how much the parser reuses depends on it. Best: from
    the last character before it that is not white space to the start of the next line. Scanners of
    indentation put the marks behind a block where its text ends, and the next node starts there,
    too, as the white space before it is its own. There the parser would ask whether it can reuse
    that node before it has passed the marks, and drop it, and the next, and so on
    (docs/upstream.md); said like this, the node starts behind that place.
    """
    for at in range(len(edits) - 4, -1, -4):
        o_lo, o_hi, a_lo, a_hi = edits[at : at + 4]
        before = old.starts[o_lo]
        # Edits must not overlap: text before this one is text of both only as far as the last.
        limit = old.starts[edits[at - 3]] if at else 0
        start = max(limit + len(old.data[limit:before].rstrip(_SKIPPED)) - 1, limit)
        new_start = new.starts[a_lo] - (before - start)
        old_end = min(old.starts[o_hi], len(old.data))
        new_end = min(new.starts[a_hi], len(new.data))
        row, column = old.point(start)
        (first, first_column), (last, last_column) = new.point(new_start), new.point(new_end)
        # In the tree's terms nothing before the edit has moved yet.
        if first == last:
            last_column += column - first_column
        yield (
            start, old_end, start + new_end - new_start,
            (row, column), old.point(old_end), (row + last - first, last_column),
        )  # fmt: skip


def _most(stretches: Sequence[Stretch], side: _Side) -> bool:
    return 2 * sum(high - low for low, high in stretches) > side.lines


def _not_shared(origin: Parsed, tree: Tree, side: _Side, edits: Sequence[int]) -> list[Stretch]:
    """Return the lines of a revision, parsed alone, whose nodes may not be those of the origin."""
    kept, low, moved = array("i"), 0, 0
    for at in range(0, len(edits) + 4, 4):
        high = edits[at + 2] if at < len(edits) else side.lines
        if low < high:
            kept.extend((side.starts[low], side.starts[high], moved))
        if at < len(edits):
            low = edits[at + 3]
            moved = side.starts[low] - origin.side.starts[edits[at + 1]]
    roles = syntax.types_of(origin.grammar).roles[syntax.PLAIN]
    shared = twins(origin.tree.root_node, tree.root_node, side.data, kept, roles)
    stale, line = [], 0
    for start, end in sorted(shared):
        first, last = side.point(start)[0], side.point(end - 1)[0]
        first += bool(side.data[side.starts[first] : start].strip(_BLANKS))
        last += not side.data[end : side.starts[last + 1]].strip(_BLANKS)
        if first < last:
            stale.append((line, first))
            line = last
    stale.append((line, side.lines))
    return [stretch for stretch in stale if stretch[0] < stretch[1]]


def _walked(
    tree: Tree, side: _Side, grammar: str, stale: list[Stretch], keys: Sequence[object]
) -> tuple[list[Stretch], array[int]]:
    """Walk the stale parts, widened, and return them as stretches, with spans.

    Text of a string that no leaf covers is a token or not by all of its node (a quote gone from
    one line turns blank text on another into white space), so such a node is walked as a whole.
    """
    size = len(side.data)
    found: tuple[array[int], list[tuple[int, int]]] | None = None
    while True:
        stretches = _widened(stale, keys)
        ranges = [(side.starts[low], min(side.starts[high], size)) for low, high in stretches]
        spans, loose = found or syntax.walk(tree, side.data, grammar, ranges)
        torn = [span for span in loose if _is_torn(span[0], min(span[1], size), ranges)]
        if not torn:
            return stretches, spans
        stale = stale + [(side.point(start)[0], side.point(end)[0] + 1) for start, end in torn]
        # What is added may touch the next one, and so on, through a long table of strings.
        found = found or syntax.walk(tree, side.data, grammar)


def _is_torn(start: int, end: int, ranges: Sequence[tuple[int, int]]) -> bool:
    """Whether bytes are partly in one of the ranges, which are ascending and apart."""
    at = bisect_right(ranges, start, key=itemgetter(1))
    if at == len(ranges) or end <= ranges[at][0]:
        return False
    return start < ranges[at][0] or ranges[at][1] < end


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
