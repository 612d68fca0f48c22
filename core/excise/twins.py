"""Subtrees that two trees have in common, although each was parsed from scratch.

What error recovery makes of a text depends on the way the parser came, so that a tree which was
edited and parsed again proves nothing where the syntax is broken. Two parses from scratch can be
compared: a node without errors inside, over the same text, that one action of the parser made in
the same state, is the same node. Where the parser had several ways before it, it notes no state:
such nodes are written down and compared.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node

    from excise.nodes import NodeTypes

__all__ = ["Kept", "twins"]

_NO_STATE = 65_535
_SMALL = 500
"""Nodes below one that can be written down for less than looking for twins among them costs."""
_START = itemgetter(0)


class Kept(NamedTuple):
    """Whole lines that both texts have: their bytes in the revision, and by how much they moved."""

    start: int
    end: int
    moved: int


def twins(
    origin: Node, revision: Node, data: bytes, kept: Sequence[Kept], types: NodeTypes
) -> Iterator[tuple[int, int]]:
    """Yield ranges of the revision's bytes, in no order, whose nodes are those of the origin.

    Nothing but white space stands between the nodes of a range. All of them are code, not parts of
    a string, and the blocks that they stand in begin and end at the same places.

    Parameters
    ----------
    data
        The bytes of the revision.
    kept
        Ascending.
    """
    pairs = [(origin, revision)] if origin.kind_id == revision.kind_id else []
    while pairs:
        old, new = pairs.pop()
        theirs = old.children
        at = 0
        place: Kept | None = None
        found: list[_Twin] = []
        for own, child in enumerate(new.children):
            start, end = child.byte_range
            if place is None or start >= place.end:
                place = _holding(kept, start)
            if place is None:
                continue
            at, partner = _beginning(theirs, at, start - place.moved, child.kind_id)
            if partner is None:
                continue
            is_whole = start < end <= place.end and end - place.moved == partner.end_byte
            if is_whole and _is_twin(partner, child):
                found.append(_Twin(start, end, own - at, own))
            elif _may_share(partner, child, kept, types):
                pairs.append((partner, child))
        yield from _runs(found, data)


class _Twin(NamedTuple):
    """A child that both have: its bytes, how far its place among the children moved, its place."""

    start: int
    end: int
    moved: int
    place: int


def _runs(found: Sequence[_Twin], data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the ranges of children that stand side by side in both trees."""
    first = 0
    for last, twin in enumerate(found):
        after = found[last + 1] if last + 1 < len(found) else None
        if (
            after is None
            or (after.moved, after.place) != (twin.moved, twin.place + 1)
            or data[twin.end : after.start].strip()
        ):
            yield found[first].start, twin.end
            first = last + 1


def _beginning(nodes: Sequence[Node], at: int, byte: int, kind: int) -> tuple[int, Node | None]:
    """Return the first node of a type that begins at a byte, from a place on, and its place."""
    count = len(nodes)
    while at < count and nodes[at].start_byte < byte:
        at += 1
    for index in range(at, count):
        node = nodes[index]
        if node.start_byte != byte:
            break
        if node.kind_id == kind:
            return index, node
    return at, None


def _holding(kept: Sequence[Kept], byte: int) -> Kept | None:
    """Return the kept lines that hold a byte."""
    at = bisect_right(kept, byte, key=_START) - 1
    return kept[at] if at >= 0 and byte < kept[at].end else None


def _is_twin(old: Node, new: Node) -> bool:
    """Whether two nodes of one type over the same text are the same, with all below them."""
    if not new.child_count:
        return not old.child_count
    state, count = new.parse_state, new.descendant_count
    if state != old.parse_state or count != old.descendant_count:
        return False
    if old.has_error or new.has_error:
        return False
    return state != _NO_STATE or (count < _SMALL and str(new) == str(old))


def _may_share(old: Node, new: Node, kept: Sequence[Kept], types: NodeTypes) -> bool:
    """Whether to look for twins below two nodes of one type that begin at the same place."""
    if not new.child_count or new.start_point.row == new.end_point.row:
        return False
    if types.is_opaque(new.kind_id):
        return False
    if not types.is_block(new.kind_id):
        return True
    place = _holding(kept, new.end_byte - 1)
    return place is not None and new.end_byte - place.moved == old.end_byte
