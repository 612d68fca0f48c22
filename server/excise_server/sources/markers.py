r"""Conflict markers of the ``diff3`` style: the entire origin and both entire sides. Pure.

A marker begins a line: seven or more equal characters, as many in all four markers of a block, then
a space and a label or nothing. Markers of another size inside a block are content: git writes
longer ones into an origin that is itself the result of a merge.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from excise_server.foundation.inputs import SourceError

__all__ = ["Conflict", "marker_labels", "parse_markers"]

_OPENING = re.compile(r"(<{7,})(?: ([^\r\n]*))?\r?\n?")
_SIZED = r"({0}{{{1}}})(?: ([^\r\n]*))?\r?\n?"
_HINT = "git checkout --conflict=diff3 FILE writes them with the origin"


@dataclass(frozen=True, slots=True)
class Conflict:
    """The whole texts that a conflicted file was made of, and the labels of its sides.

    ``nested`` tells whether the origin itself contains markers.
    """

    origin: str
    first: str
    second: str
    labels: tuple[str, str]
    blocks: int
    nested: bool


@dataclass(slots=True)
class _Block:
    """One block while it is read: its first line, and the next marker."""

    line: int
    size: int
    part: int = 1
    origin: bool = False


def parse_markers(text: str) -> Conflict | None:
    r"""Return the texts of a file with conflict markers, or None if it has none.

    Raises
    ------
    SourceError
        If a block names no origin (``merge`` style), is not closed, or is nested in another.

    Examples
    --------
    >>> conflict = parse_markers("a\n<<<<<<< X\nb\n||||||| O\nc\n=======\nd\n>>>>>>> Y\ne\n")
    >>> conflict.origin, conflict.first, conflict.second, conflict.labels
    ('a\nc\ne\n', 'a\nb\ne\n', 'a\nd\ne\n', ('X', 'Y'))
    """
    # In order of the markers: the first side, the origin, the second side.
    parts: tuple[list[str], list[str], list[str]] = ([], [], [])
    labels = ["", ""]
    block: _Block | None = None
    blocks, nested = 0, False
    for number, line in enumerate(_lines(text), start=1):
        if block is None:
            if opening := _OPENING.fullmatch(line):
                block, blocks = _Block(number, len(opening[1])), blocks + 1
                labels[0] = labels[0] or opening[2] or ""
            else:
                for part in parts:
                    part.append(line)
            continue
        marker = _marker(line, block, number)
        if marker is None:
            nested = nested or (block.part == 2 and _OPENING.fullmatch(line) is not None)
            parts[block.part - 1].append(line)
        elif marker[0] == ">":
            labels[1] = labels[1] or marker[1]
            block = None
        else:
            block.part = 2 if marker[0] == "|" else 3
    if block is not None:
        raise SourceError(f"conflict markers: the block at line {block.line} is not closed")
    if not blocks:
        return None
    first, origin, second = ("".join(part) for part in parts)
    return Conflict(origin, first, second, (labels[0], labels[1]), blocks, nested)


def marker_labels(text: str) -> tuple[str, str]:
    r"""Return the labels of the two sides in the first markers of any style, or empty.

    >>> marker_labels("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> topic\n")
    ('HEAD', 'topic')
    """
    first, second = (re.search(rf"(?m)^{sign}{{7,}} ([^\r\n]*)", text) for sign in "<>")
    return (first[1] if first else "", second[1] if second else "")


def _marker(line: str, block: _Block, number: int) -> tuple[str, str] | None:
    """Return the kind and label of a marker of the block, or None for a line of content."""
    kind = line[:1]
    if kind not in ("<", "|", "=", ">"):
        return None
    match = re.fullmatch(_SIZED.format(re.escape(kind), block.size), line)
    if match is None:
        return None
    if kind == "<":
        raise SourceError(f"conflict markers: line {number} opens a block inside another")
    if kind == "=" and block.part == 1:
        reason = f"conflict markers of the merge style at line {number}: they hold no origin"
        raise SourceError(reason, hint=_HINT)
    if {"|": 1, "=": 2, ">": 3}[kind] != block.part:
        raise SourceError(f"conflict markers: '{kind * block.size}' out of order at line {number}")
    return kind, match[2] or ""


def _lines(text: str) -> list[str]:
    r"""Lines with their ends. As in git, only ``\n`` ends one."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])
