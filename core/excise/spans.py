"""From byte ranges to tokens: lines, white space, and text that no leaf covers (section 1).

`write` says how text becomes a token of a parsed file: a leaf, an atom and a run between leaves are
all split at line ends, and stripped unless they are verbatim. For ints, without positions, the
kernel ``_tree.pyx`` does the same, and tests compare the two.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence

from excise.text import WHITE, TokenList

__all__ = [
    "BLANKS",
    "BLOCK_END",
    "BLOCK_START",
    "COMMENT",
    "DEDENT",
    "INDENT",
    "PLAIN",
    "VERBATIM",
    "Span",
    "code_points",
    "encode",
    "write",
]

INDENT = "\nINDENT"
DEDENT = "\nDEDENT"
"""Marks around a Python block; no token of a text can hold a line end, so none equals them."""

PLAIN, VERBATIM, BLOCK_START, BLOCK_END, COMMENT = range(5)
"""What a range is: text to strip, text as it stands, the place of a mark, a comment to strip."""

BLANKS = WHITE.encode()

_TEXT = re.compile(f"[^{WHITE}]+")


Span = tuple[int, int, int]
"""Start and end in bytes of `encode` of the text, and what it is (`PLAIN` and so on)."""


def write(text: str, spans: Sequence[Span]) -> TokenList:
    """Return the tokens of the text of a walk, and of the text between, in one pass.

    Parameters
    ----------
    text : str
        The normalised text that was walked.
    spans : sequence of Span
        What `excise.syntax.walk` found: in order, without overlap.

    Returns
    -------
    TokenList
        Parallel lists, one entry per token; all text but white space is in exactly one token.
    """
    writer, comments = _Writer(text), array("i")
    for start, end, kind in _in_code_points(text, spans):
        if start == end and kind not in (BLOCK_START, BLOCK_END):
            continue  # a missing node, which must not split the text around it
        if writer.at < start:
            writer.gap(start)
        if kind == BLOCK_START:
            writer.indent()
        elif kind == BLOCK_END:
            writer.dedent()
        else:
            first = writer.count
            writer.piece(start, end, kind == VERBATIM)
            if kind == COMMENT:
                comments.extend(range(first, writer.count))
    writer.gap(len(text))
    found = writer.finish()
    found.comments = comments
    return found


class _Writer:
    """Turns ranges of code points into tokens, where ``at`` is the end of the processed text."""

    __slots__ = ("_breaks", "_found", "_indents", "_line", "_line_end", "_text", "at")

    def __init__(self, text: str) -> None:
        self._text = text
        self._found = TokenList()
        self._breaks = _line_ends(text)
        self._line, self._line_end = 0, next(self._breaks)
        self._indents: list[int] = []
        self.at = 0

    @property
    def count(self) -> int:
        """The number of tokens so far."""
        return len(self._found.tokens)

    def gap(self, end: int) -> None:
        """Emit every run of text up to ``end``, which no leaf covers."""
        if self._text[self.at : end].strip(WHITE):
            for run in _TEXT.finditer(self._text, self.at, end):
                self.piece(run.start(), run.end(), True)
        self.at = end

    def piece(self, start: int, end: int, verbatim: bool) -> None:
        """Emit a range, split at its line ends: verbatim, or without white space around."""
        found = self._found
        self.at = end
        while start < end:
            while self._line_end < start:
                self._line += 1
                self._line_end = next(self._breaks)
            stop = end if end < self._line_end else self._line_end  # `min` would cost twice
            token = self._text[start:stop]
            if not verbatim and (token[:1] in WHITE or token[-1:] in WHITE):
                start = stop - len(token.lstrip(WHITE))
                token = token.strip(WHITE)
            if token:
                found.tokens.append(token)
                found.lines.append(self._line)
                found.starts.append(start)
                found.ends.append(start + len(token))
            start = stop + 1

    def indent(self) -> None:
        """Emit INDENT at the position of the next token."""
        self._indents.append(len(self._found.tokens))
        self._mark(INDENT, 0, 0)

    def dedent(self) -> None:
        """Emit DEDENT where the last token ends, or nothing for a block without tokens."""
        found = self._found
        if found.tokens[-1] == INDENT:
            self._indents.pop()
            for column in (found.tokens, found.lines, found.starts, found.ends):
                column.pop()
        else:
            self._mark(DEDENT, found.lines[-1], found.ends[-1])

    def finish(self) -> TokenList:
        """Return the tokens, each INDENT now with its place."""
        found = self._found
        for index in reversed(self._indents):  # an INDENT may be followed by another
            found.lines[index] = found.lines[index + 1]
            found.starts[index] = found.ends[index] = found.starts[index + 1]
        return found

    def _mark(self, mark: str, line: int, place: int) -> None:
        self._found.tokens.append(mark)
        self._found.lines.append(line)
        self._found.starts.append(place)
        self._found.ends.append(place)


def _line_ends(text: str) -> Iterator[int]:
    at = -1
    while (at := text.find("\n", at + 1)) >= 0:
        yield at
    yield len(text)


def encode(text: str) -> bytes:
    """Return the bytes to parse, with a lone surrogate as three bytes, as if it were valid."""
    return text.encode("utf-8", "surrogatepass")


def code_points(text: str, offsets: Sequence[int]) -> Sequence[int]:
    """Turn byte offsets into code points, where one inside a character becomes its start.

    So two ranges that meet inside a character (broken text can make them) still meet. An offset
    past the end, which a parser that wants a final line end may give, becomes the end.
    """
    if text.isascii():
        return offsets
    import numpy as np

    data = np.frombuffer(encode(text), dtype=np.uint8)
    points = np.append(np.cumsum((data & 0xC0) != 0x80) - 1, len(text))
    bytes_ = np.minimum(np.array(offsets, dtype=np.intp), len(data))
    found: list[int] = points[bytes_].tolist()
    return found


def _in_code_points(text: str, spans: Sequence[Span]) -> Iterable[Span]:
    if text.isascii() or not spans:
        return spans
    starts, ends, kinds = zip(*spans, strict=True)
    return zip(code_points(text, starts), code_points(text, ends), kinds, strict=True)
