"""In which function of a text a line is, by its lines alone: what git shows as a heading, nested.

A function or class begins above the line with less indentation. So this needs no grammar, knows
many languages a little, and costs nothing; where it cannot tell it says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from excise.patches.blocks import function_in

_CLASS = re.compile(
    r"\s*(?:[\w@]+(?:\([^)]*\))?\s+)*?(?:class|struct|impl|interface|trait|module|namespace|enum|object)"
    r"\s+(?:<[^>]*>\s*)?([A-Za-z_$][\w:$.]*)"
)
_DEFINES = re.compile(r"\s*(?:[\w@]+(?:\([^)]*\))?\s+)*?(?:def|fn|fun|func|function|sub)\b")
_CONTROL = frozenset((
    "if", "elif", "else", "for", "foreach", "while", "until", "switch", "match", "case",
    "when", "unless", "with", "return", "assert", "catch", "except", "try", "do",
    "select", "synchronized", "lock", "using",
))  # fmt: skip
_BARE = re.compile(r"\s*(?:[\])}{#@]|//|/\*|\*|\w+:\s*$|$)")
"""Lines that neither begin nor end a block by their indentation: closing brackets, comments,
decorators, labels."""

_MOST_LINES = 5_000
"""Most lines that are looked at above a hunk."""

_LONGEST_LINE = 500
"""Characters of a line that are looked at."""


class Head(NamedTuple):
    """A function or class that begins at a line (from 0), by its name."""

    line: int
    name: str


def heads_above(lines: Sequence[str], at: int, indent: int | None = None) -> list[Head]:
    """Return the functions and classes in which a line is, the outermost first.

    - ``at``: the line (from 0). It counts itself if it begins a function.
    - ``indent``: columns of indentation to take for those of the line, as for an insertion.

    >>> lines = ["class Store:", "    def get(self):", "        if self.x:", "            return 1"]
    >>> [head.name for head in heads_above(lines, 3)], heads_above(lines, 0)
    (['Store', 'get'], [Head(line=0, name='Store')])
    """
    found: list[Head] = []
    if indent is None:
        while at < len(lines) and not lines[at].strip():
            at += 1
        if at >= len(lines):
            return []
        indent = _indent(lines[at])
        if name := _name(lines, at):
            found.append(Head(at, name))
    for number in range(at - 1, max(-1, at - _MOST_LINES), -1):
        line = lines[number]
        if not indent:
            break
        if _BARE.match(line) or _indent(line) >= indent:
            continue
        indent = _indent(line)
        if name := _name(lines, number):
            found.append(Head(number, name))
    return found[::-1]


def heads_of_hunk(lines: Sequence[str], lo: int, texts: Iterable[str]) -> list[Head]:
    """Return the functions and classes that a hunk is in, the outermost first.

    - ``lines``: those of the origin.
    - ``lo``: the first line of the hunk (from 0).
    - ``texts``: what the hunk says, the origin's text first: lines that are new are where their
      indentation puts them.
    """
    origin, *variants = texts
    if origin.strip():
        return heads_above(lines, lo)
    new = (line for text in variants for line in text.split("\n") if line.strip())
    return heads_above(lines, lo, _indent(next(new, "")))


def qualified(heads: Sequence[Head]) -> str:
    """Return the names of nested functions and classes as one."""
    return ".".join(head.name for head in heads)


def _indent(line: str) -> int:
    expanded = line.expandtabs(8)
    return len(expanded) - len(expanded.lstrip())


def _name(lines: Sequence[str], number: int) -> str:
    line = lines[number][:_LONGEST_LINE]
    if _BARE.match(line):
        return ""
    if match := _CLASS.match(line):
        return match[1].rstrip(":.")
    words = line.split(None, 1)
    if not words or re.split(r"\W", words[0], maxsplit=1)[0] in _CONTROL:
        return ""
    opens = line.rstrip().endswith("{") or "".join(lines[number + 1 : number + 2]).strip() == "{"
    return function_in(line) if opens or _DEFINES.match(line) else ""
