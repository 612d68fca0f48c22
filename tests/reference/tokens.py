"""The token stream of a syntax tree (section 1), written from the definition alone, and slowly.

Every character gets a label: the token it is in, or none. Nothing is shared with the library but
the parser.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate, groupby
from typing import Any

WHITE = " \t\n\v\f\r"
IN_STRING = re.compile(
    r"[sS]tring|STRING|char|rune|heredoc|regex|str_lit|quoted|(quote|block)_scalar|AttValue"
    r"|jsx_text|raw_text|verbatim|code_fence_content|bracket_argument|CData|^literal$"
)
NOT_IN_STRING = re.compile(
    r"array|list|concat|expression|interpolation|substitution|interpolated_expression"
)
ATOM = re.compile(r"string\w*_(content|fragment)$")
INDENT, DEDENT = "\nINDENT", "\nDEDENT"

Row = tuple[str, int, int, int]
"""A token, its line, and its first and past-the-last code point."""


def tokens(text: str, tree: Any, grammar: str) -> list[Row]:
    """Return the token stream of a normalised text, given its tree."""
    root = _Node(tree.root_node, None, _Offsets(text))
    nodes = [node for node in root.below() if node.start < node.end]  # parents before children
    owner: list[_Node | None] = [None] * len(text)
    for node in nodes:
        owned = node if node.is_leaf or node.in_string else None
        owner[node.start : node.end] = [owned] * (node.end - node.start)
    found: list[Row] = []
    for node, run in groupby(range(len(text)), lambda place: owner[place]):
        places = list(run)
        found += _pieces(text, node, places[0], places[-1] + 1)
    found += [
        ("\n", text.count("\n", 0, place), place, place + 1)
        for place in range(1, len(text))
        if text[place - 1 : place + 1] == "\n\n" and _is_text(owner[place], place - 1)
    ]
    found.sort(key=lambda row: row[2])
    if grammar == "python":
        for block in (node for node in nodes if node.type == "block"):
            _mark(found, block)
    return found


def _is_text(node: _Node | None, before: int) -> bool:
    """Tell whether an empty line in a node is text: the line end before is in the same string."""
    if node is None or not node.in_string:
        return False
    around = node.parent if node.is_leaf and node.parent and node.parent.in_string else node
    return around.start <= before


def _pieces(text: str, node: _Node | None, start: int, end: int) -> list[Row]:
    """Return the tokens of a leaf, of the own text of a node in a string, or of other text."""
    part = text[start:end]
    if node and node.is_leaf:
        verbatim = node.in_string
        pattern = "[^\n]+"
    elif node and (part.strip(WHITE) or node.quotes_before(start, text) % 2):
        verbatim, pattern = True, "[^\n]+"
    else:
        verbatim, pattern = True, f"[^{WHITE}]+"
    rows = []
    for match in re.finditer(pattern, part):
        low, high = start + match.start(), start + match.end()
        while not verbatim and low < high and text[low] in WHITE:
            low += 1
        while not verbatim and low < high and text[high - 1] in WHITE:
            high -= 1
        if low < high:
            rows.append((text[low:high], text.count("\n", 0, low), low, high))
    return rows


def _mark(found: list[Row], block: _Node) -> None:
    """Insert INDENT and DEDENT around the tokens of a block, inside those of blocks around it."""
    inside = [
        number
        for number, (_, _, low, high) in enumerate(found)
        if block.start <= low < high <= block.end
    ]
    if inside:
        first, last = inside[0], inside[-1]
        *_, line, _, end = found[last]
        after = (DEDENT, line, end, end)
        _, line, start, _ = found[first]
        found.insert(last + 1, after)
        found.insert(first, (INDENT, line, start, start))


class _Node:
    """A node in code points, and what the definition says of it."""

    def __init__(self, node: Any, parent: _Node | None, offsets: _Offsets) -> None:
        self.type: str = node.type
        self.parent = parent
        self.start, self.end = offsets.place(node.start_byte), offsets.place(node.end_byte)
        comment = "comment" in self.type
        self.in_string = (
            not comment
            and not NOT_IN_STRING.search(self.type)
            and bool(IN_STRING.search(self.type) or (parent is not None and parent.in_string))
        )
        self.is_leaf = not node.children or comment or bool(ATOM.search(self.type))
        self._children = [] if self.is_leaf else node.children
        self._offsets = offsets
        self.children: list[_Node] = []

    def below(self) -> list[_Node]:
        """Return the node and all below, each before its children and in order."""
        found, stack = [], [self]
        while stack:
            node = stack.pop()
            node.children = [_Node(child, node, node._offsets) for child in node._children]
            found.append(node)
            stack += reversed(node.children)
        return found

    def quotes_before(self, place: int, text: str) -> int:
        """Count its own leaves before a place that hold a quote and are not escapes."""
        return sum(
            child.is_leaf
            and "escape" not in child.type
            and child.end <= place
            and any(quote in text[child.start : child.end] for quote in "\"'`")
            for child in self.children
        )


class _Offsets:
    """From bytes to code points; a byte inside a character is at its start."""

    def __init__(self, text: str) -> None:
        lengths = (len(char.encode("utf-8", "surrogatepass")) for char in text)
        self._starts = list(accumulate(lengths, initial=0))

    def place(self, byte: int) -> int:
        """Return the code point at a byte; behind the text, its end."""
        return bisect_right(self._starts, byte) - 1
