"""From a syntax tree to spans of bytes: what nodes are, by their types (definition, section 1).

`walk` finds what is a token, `comments` what ``comments=drop`` takes out. A node is in a string
when its type says so or its parent is in one, until a type says that code begins.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from excise.spans import BLANKS, BLOCK_END, BLOCK_START, PLAIN, VERBATIM, Span

if TYPE_CHECKING:
    from tree_sitter import Language, Node

__all__ = ["NodeTypes", "Ranges", "Walked", "comments", "walk"]

Ranges = Sequence[tuple[int, int]]
_START, _END = itemgetter(0), itemgetter(1)

# What a node does to a walk. TURNS: it is in a string and its parent is not, or the reverse.
# WHOLE: one token, whatever lies below. BLOCK: INDENT and DEDENT stand around it.
_TURNS, _WHOLE, _BLOCK = 1, 2, 4
_STRING_TYPE = re.compile(
    r"[sS]tring|STRING|char|rune|heredoc|regex|str_lit|quoted|(quote|block)_scalar|AttValue"
)
_CODE_TYPE = re.compile(r"array|list|concat|expression|interpolation|substitution")
# In no grammar of the pack is there an interpolation in an atom.
_ATOM_TYPE = re.compile(r"string\w*_(content|fragment)$")
_QUOTE = re.compile(rb"[\"'`]")

# For ``comments=drop`` a comment is what its type says, except: text of the program that is only
# called so (SQL's COMMENT ON, an entry of a Kconfig menu), and comments called otherwise.
_NO_COMMENTS = {
    "kconfig": {"comment_entry"},
    "mermaid": {"er_attribute_comment"},
    "sql": {"comment_statement", "keyword_comment"},
}
_OTHER_COMMENTS = {
    "dtd": {"Comment"},
    "haskell": {"haddock"},
    "sql": {"marginalia"},
    "xml": {"Comment"},
}


@dataclass(frozen=True, slots=True)
class NodeTypes:
    """The node types of a grammar, by their numbers."""

    roles: tuple[dict[int, int], dict[int, int]]
    """What a node does to a walk: by the kind of its parent's leaves, then by type (0 left out)."""

    comments: frozenset[int]
    """The types that ``comments=drop`` takes out."""

    def is_opaque(self, number: int) -> bool:
        """Whether nodes below this type are part of a string or of a single token."""
        return bool(self.roles[PLAIN].get(number, 0) & (_TURNS | _WHOLE))

    def is_block(self, number: int) -> bool:
        """Whether INDENT and DEDENT stand around code of this type."""
        return bool(self.roles[PLAIN].get(number, 0) & _BLOCK)

    @classmethod
    def of(cls, language: Language, grammar: str) -> NodeTypes:
        """Judge every type of a grammar by its name."""
        roles: tuple[dict[int, int], dict[int, int]] = {}, {}
        dropped = set()
        for number in range(language.node_kind_count):
            name = language.node_kind_for_id(number) or ""
            for kind in (PLAIN, VERBATIM):
                if role := _role(name, kind, grammar):
                    roles[kind][number] = role
            if _is_dropped(name, language.node_kind_is_named(number), grammar):
                dropped.add(number)
        return cls(roles, frozenset(dropped))


def _role(name: str, kind: int, grammar: str) -> int:
    comment = "comment" in name
    string = kind == VERBATIM or bool(_STRING_TYPE.search(name))
    inner = VERBATIM if string and not comment and not _CODE_TYPE.search(name) else PLAIN
    return (
        (_TURNS if inner != kind else 0)
        | (_WHOLE if comment or _ATOM_TYPE.search(name) else 0)
        | (_BLOCK if name == "block" and grammar == "python" else 0)
    )


def _is_dropped(name: str, named: bool, grammar: str) -> bool:
    if name in _OTHER_COMMENTS.get(grammar, ()):
        return True
    return named and "comment" in name and name not in _NO_COMMENTS.get(grammar, ())


class Walked(NamedTuple):
    """The result of `walk`."""

    spans: list[Span]
    """Leaves, atoms, text of strings that no leaf covers, the ends of Python blocks; in order."""

    loose: list[tuple[int, int]]
    """Nodes, as byte ranges, with such text: which of it is a token, the whole node decides."""


def walk(root: Node, data: bytes, types: NodeTypes, within: Ranges | None = None) -> Walked:
    """Find the tokens at and below a node of the parsed text `data`.

    Iterative: a tree may be deeper than Python's recursion limit. With `within` (byte ranges,
    ascending) only what overlaps one of them is descended into; spans may then reach beyond.
    """
    roles = types.roles
    spans: list[Span] = []
    loose: list[Node] = []
    kind = PLAIN  # of leaves that stand here; VERBATIM in a string
    role_of = roles[kind].get
    stack: list[Node | None] = [root]
    left: list[tuple[int, int]] = []  # below whom None stands on the stack: kind, block end
    while stack:
        node = stack.pop()
        if node is None:
            kind, end = left.pop()
            role_of = roles[kind].get
            if end:
                spans.append((end, end, BLOCK_END))
            continue
        children = node.children
        role = role_of(node.kind_id, 0)
        if not children or role & _WHOLE:
            spans.append((node.start_byte, node.end_byte, kind ^ role & _TURNS))
            continue
        if (role or kind) and kind ^ role & _TURNS:
            leaves = _leaves_of_string(node, children, roles[VERBATIM], loose)
            if leaves:
                spans.extend(leaves)
                continue
        if within and not _is_inside(node, within):
            children = [child for child in children if _overlaps(child, within)]
            if not children:
                continue  # no leaf, although nothing of it is left: its text lies between leaves
        if role:
            start, end = node.byte_range
            block = role & _BLOCK and start < end
            if block:
                spans.append((start, start, BLOCK_START))
            stack.append(None)
            left.append((kind, end if block else 0))
            kind ^= role & _TURNS
            role_of = roles[kind].get
        stack.extend(children[::-1])
    if loose:
        spans.extend(span for node in loose for span in _own_text(node, data, roles[VERBATIM]))
        spans.sort(key=_START)
    return Walked(spans, [node.byte_range for node in loose])


def _leaves_of_string(
    node: Node, children: list[Node], roles: dict[int, int], loose: list[Node]
) -> list[Span]:
    """Return the children of a node in a string as spans, if all are leaves: most need no more.

    If the children leave out text, the node joins `loose`.
    """
    leaves = []
    deeper = gap = False
    at, end = node.byte_range
    for child in children:
        start, stop = child.byte_range
        role = roles.get(child.kind_id, 0)
        if child.child_count and not role & _WHOLE:
            deeper = True
        if start != at:
            gap = True
        leaves.append((start, stop, VERBATIM ^ role & _TURNS))
        at = stop
    if gap or at != end:
        loose.append(node)
    return [] if deeper else leaves


def _own_text(node: Node, data: bytes, roles: dict[int, int]) -> Iterator[Span]:
    """Yield the text of a node in a string that none of its children covers and that is a token.

    White space is one only behind an odd number of leaves with quotes, where a string is open.
    Children that are missing must not split the text that they stand in.
    """
    at, quotes = node.start_byte, 0
    for child in [*node.children, None]:
        start, end = child.byte_range if child else (node.end_byte, 0)
        if start == end:
            continue
        if at < start and (quotes % 2 or data[at:start].strip(BLANKS)):
            yield at, start, VERBATIM
        at = end
        if child and (not child.child_count or roles.get(child.kind_id, 0) & _WHOLE):
            quotes += "escape" not in child.type and bool(_QUOTE.search(data, start, end))


def _overlaps(node: Node, ranges: Ranges) -> bool:
    start, end = node.byte_range
    at = bisect_right(ranges, start, key=_END)  # the first range that ends behind its start
    return at < len(ranges) and ranges[at][0] < end


def _is_inside(node: Node, ranges: Ranges) -> bool:
    start, end = node.byte_range
    at = bisect_right(ranges, start, key=_END)
    return at < len(ranges) and ranges[at][0] <= start and end <= ranges[at][1]


def comments(root: Node, types: NodeTypes) -> Ranges:
    """Return the outermost comments as byte ranges, those that touch as one."""
    found: list[tuple[int, int]] = []
    stack = [root]
    while stack:
        node = stack.pop()
        if node.kind_id not in types.comments:
            stack.extend(node.children[::-1])
        elif found and node.start_byte <= found[-1][1]:
            found[-1] = found[-1][0], node.end_byte
        else:
            found.append(node.byte_range)
    return found
