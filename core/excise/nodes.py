"""From a syntax tree to spans of bytes: what nodes are, by their types (definition, section 1).

`walk` finds what is a token (the loop itself is in ``kernels/_tree.pyx``), `comments` what
``comments=drop`` takes out. A node is in a string when its type says so or its parent is in one,
until a type says that code begins.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from excise.kernels._tree import walk as walk_nodes
from excise.spans import PLAIN, VERBATIM

if TYPE_CHECKING:
    from tree_sitter import Language, Node

__all__ = ["NodeTypes", "Ranges", "Walked", "comments", "walk"]

Ranges = Sequence[tuple[int, int]]

# What a node does to a walk. TURNS: it is in a string and its parent is not, or the reverse.
# WHOLE: one token, whatever lies below. BLOCK: INDENT and DEDENT stand around it. COMMENT: a
# comment, unless it stands inside a string or has tokens of its own.
_TURNS, _WHOLE, _BLOCK, _COMMENT = 1, 2, 4, 8
_STRING_TYPE = re.compile(
    r"[sS]tring|STRING|char|rune|heredoc|regex|str_lit|quoted|(quote|block)_scalar|AttValue"
)
_CODE_TYPE = re.compile(r"array|list|concat|expression|interpolation|substitution")
# In no grammar of the pack is there an interpolation in an atom.
_ATOM_TYPE = re.compile(r"string\w*_(content|fragment)$")

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

    roles: tuple[bytes, bytes]
    """What a node does to a walk: by the kind of its parent's leaves, then by type."""

    comments: frozenset[int]
    """The types that ``comments=drop`` takes out."""

    def is_opaque(self, number: int) -> bool:
        """Whether nodes below this type are part of a string or of a single token."""
        return bool(self._role(number) & (_TURNS | _WHOLE))

    def is_block(self, number: int) -> bool:
        """Whether INDENT and DEDENT stand around code of this type."""
        return bool(self._role(number) & _BLOCK)

    def _role(self, number: int) -> int:
        roles = self.roles[PLAIN]
        return roles[number] if number < len(roles) else 0  # an error has a number of its own

    @classmethod
    def of(cls, language: Language, grammar: str) -> NodeTypes:
        """Judge every type of a grammar by its name."""
        roles = bytearray(), bytearray()
        dropped = set()
        for number in range(language.node_kind_count):
            name = language.node_kind_for_id(number) or ""
            is_dropped = _is_dropped(name, language.node_kind_is_named(number), grammar)
            for kind in (PLAIN, VERBATIM):
                roles[kind].append(_role(name, kind, grammar) | (_COMMENT if is_dropped else 0))
            if is_dropped:
                dropped.add(number)
        return cls((bytes(roles[PLAIN]), bytes(roles[VERBATIM])), frozenset(dropped))


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

    spans: array[int]
    """Leaves, atoms, text of strings that no leaf covers, the ends of Python blocks; in order.

    Flat: start and end in bytes, and what it is (`excise.spans.PLAIN` and so on)."""

    loose: list[tuple[int, int]]
    """Nodes, as byte ranges, with such text: which of it is a token, the whole node decides."""


def walk(root: Node, data: bytes, types: NodeTypes, within: Ranges | None = None) -> Walked:
    """Find the tokens at and below a node of the parsed text `data`.

    With `within` (byte ranges, ascending) only what overlaps one of them is descended into; spans
    may then reach beyond.
    """
    flat = array("i", chain.from_iterable(within)) if within else None
    return Walked(*walk_nodes(root, data, types.roles, flat))


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
