"""A Python text in pieces, so that statements of another version are not parsed again.

A piece is a complete top-level statement of entire lines. Complete statements concatenate: if the
lines of pieces occur in another text, and the parts between them can be parsed alone, the parser
reads that text as these pieces and parts. Between them it is in no bracket, string or block, and no
statement continues, because the next line begins one. If a part cannot be parsed alone (an
``else``, a decorator, an open bracket), the whole text is parsed.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

__all__ = ["Piece", "parse", "parse_beside"]


class Piece(NamedTuple):
    """A top-level statement, with its lines.

    Attributes
    ----------
    node
        Its tree.
    lines
        Its lines, decorators included.
    first
        The number of the first of them in its tree, which counts from the text or part that was
        parsed.
    is_apart
        Whether the lines contain the entire statement, and no part of others.
    """

    node: ast.stmt
    lines: tuple[str, ...]
    first: int
    is_apart: bool

    def lines_of(self, node: ast.stmt) -> tuple[str, ...]:
        """Return the lines of a statement below it, decorators included."""
        return self.lines[_first_line(node) - self.first : _last_line(node) + 1 - self.first]


def parse(text: str, lines: Sequence[str]) -> tuple[Piece, ...]:
    """Parse a text, given its lines, with the errors of `ast.parse`."""
    return tuple(_pieces(ast.parse(text).body, lines))


def parse_beside(pieces: Sequence[Piece], lines: Sequence[str]) -> tuple[Piece, ...] | None:
    """Parse the lines of a text, using the pieces of another text that it contains.

    None if the text must be parsed whole.
    """
    result: list[Piece] = []
    start = 0
    for position, piece in chain(_standing(pieces, lines), [(len(lines), None)]):
        if position < start:  # within the piece before it, in a string
            continue
        part = lines[start:position]
        if not all(map(_is_blank, part)):
            if any(text.rstrip().endswith("\\") or "\ufeff" in text for text in part):
                return None
            try:
                result += _pieces(ast.parse("\n".join(part)).body, part)
            except SyntaxError:
                return None
        if piece is not None:
            result.append(piece)
            start = position + len(piece.lines)
    return tuple(result)


class _Run(NamedTuple):
    """Consecutive pieces in a text: the last of them, and those before it."""

    at: int
    piece: Piece
    before: _Run | None


def _standing(pieces: Sequence[Piece], lines: Sequence[str]) -> Iterable[tuple[int, Piece]]:
    """Return most of the pieces that occur in a text in order, each with its line.

    A piece whose lines occur twice is left out.
    """
    places: dict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(lines):
        places[line].append(number)
    # The longest increasing run: for each length, the run that ends first is kept.
    ends: list[int] = []
    runs: list[_Run] = []
    for piece in pieces:
        size, piece_lines = len(piece.lines), piece.lines
        numbers = places.get(piece_lines[0], ()) if piece.is_apart else ()
        standing = [
            number
            for number in numbers
            if size == 1 or tuple(lines[number : number + size]) == piece_lines
        ]
        if len(standing) == 1:
            length = bisect_left(ends, standing[0])
            run = _Run(standing[0], piece, runs[length - 1] if length else None)
            ends[length : length + 1] = [run.at]
            runs[length : length + 1] = [run]
    chosen: list[tuple[int, Piece]] = []
    last = runs[-1] if runs else None
    while last is not None:
        chosen.append((last.at, last.piece))
        last = last.before
    return reversed(chosen)


def _pieces(body: Sequence[ast.stmt], lines: Sequence[str]) -> list[Piece]:
    starts = [_first_line(node) for node in body]
    ends = [_last_line(node) for node in body]
    pieces = []
    for before, node, first, last, after in zip(
        [0, *ends], body, starts, ends, [*starts[1:], len(lines) + 1], strict=False
    ):
        piece_lines = tuple(lines[first - 1 : last])
        is_apart = (
            before < first
            and last < after
            and not piece_lines[0][:1].isspace()
            and not piece_lines[-1].rstrip().endswith("\\")
            and all(map(_is_blank, lines[before : first - 1]))
            and all(map(_is_blank, lines[last : after - 1]))
        )
        pieces.append(Piece(node, piece_lines, first, is_apart))
    return pieces


def _first_line(node: ast.stmt) -> int:
    decorators: Sequence[ast.expr] = getattr(node, "decorator_list", ())
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _last_line(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _is_blank(line: str) -> bool:
    """Whether a line has only white space and a comment."""
    bare = line.strip()
    return not bare or bare.startswith("#")
