r"""The server's own text buffer, positions of the protocol, and URIs of texts that are in no file.

This is the only place that makes positions. Only ``\n``, ``\r\n`` and lone ``\r`` end a line (pygls
also breaks at form feed, NEL, U+2028 ..., and then disagrees with the editor after the next edit).
A document is kept as a list of lines, so an edit costs the lines it touches and one move of
pointers, not a copy of the text: a hundred edits in one notification on 100,000 lines are a few
milliseconds. In a URI of ours, the path is for people and tells the language; the query holds the
document and the id in an alphabet that no client re-encodes.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Literal
from urllib.parse import quote, unquote, urlsplit

from lsprotocol import types as t

from excise.text import normalise, raw_lines
from excise_server.editor.analysis import Analysis

Encoding = Literal["utf-8", "utf-16", "utf-32"]

_LINE_END = re.compile("\r\n|\r|\n")
_CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2)}


def split_lines(text: str) -> list[str]:
    """Split a text into lines with their ends. The last has none, so there is always one."""
    if "\r" not in text:
        lines = [f"{line}\n" for line in text.split("\n")]
        lines[-1] = lines[-1][:-1]
        return lines
    lines, start = [], 0
    for end in (match.end() for match in _LINE_END.finditer(text)):
        lines.append(text[start:end])
        start = end
    return [*lines, text[start:]]


def clean(text: str) -> str:
    """Join halves of surrogate pairs, and turn a half without its other into U+FFFD.

    JSON can carry such halves, but no encoding can. Lines stay as they are.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def width(text: str, encoding: Encoding) -> int:
    """Units of the encoding that a text takes."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    codec, size = _CODECS[encoding]
    return len(text.encode(codec, "surrogatepass")) // size


def index_of(line: str, column: int, encoding: Encoding) -> int:
    """Number of code points before a column, clamped to the line and to whole characters."""
    if encoding == "utf-32" or line.isascii():
        return min(column, len(line))
    codec, size = _CODECS[encoding]
    try:
        return len(line.encode(codec)[: column * size].decode(codec, "ignore"))
    except UnicodeEncodeError:
        return _index_slowly(line, column, encoding)


def _index_slowly(line: str, column: int, encoding: Encoding) -> int:
    """Do the same for a line with halves of surrogate pairs, which no codec encodes."""
    units = 0
    for index, character in enumerate(line):
        units += width(character, encoding)
        if units > column:
            return index
    return len(line)


class TextBuffer:
    """The text of one open document, changed in place by the edits of its client."""

    __slots__ = ("_encoding", "_lines", "_text")

    def __init__(self, text: str, encoding: Encoding = "utf-16") -> None:
        """Start with the text as the client sent it."""
        self._encoding: Encoding = encoding
        self._lines = split_lines(text)
        self._text: str | None = None

    def text(self) -> str:
        """Return the whole text, with its own line ends and without halves of characters."""
        if self._text is None:
            self._text = clean("".join(self._lines))
        return self._text

    def replace(self, text: str) -> None:
        """Take another text in place of the whole."""
        self._lines = split_lines(text)
        self._text = None

    def edit(self, start: t.Position, end: t.Position, text: str) -> None:
        """Replace the text between two positions, which are clamped to the document."""
        if end < start:
            start, end = end, start
        first, head = self._locate(start)
        last, tail = self._locate(end)
        lines = self._lines
        new = lines[first][:head] + text + lines[last][tail:]
        # A lone \r and a \n that an edit brings together are one line end.
        if first > 0 and new.startswith("\n") and lines[first - 1].endswith("\r"):
            first -= 1
            new = lines[first] + new
        if last + 1 < len(lines) and new.endswith("\r") and lines[last + 1].startswith("\n"):
            last += 1
            new += lines[last]
        pieces = split_lines(new)
        if last + 1 < len(lines):
            pieces.pop()  # after the last line end, the next line begins, which stays
        lines[first : last + 1] = pieces
        self._text = None

    def _locate(self, point: t.Position) -> tuple[int, int]:
        """Return the line and the code points before the position, clamped before its line end."""
        if point.line >= len(self._lines):
            return len(self._lines) - 1, len(self._lines[-1])
        content = self._lines[point.line].rstrip("\r\n")
        return point.line, index_of(content, point.character, self._encoding)


class Mapper:
    """Lines of a text as ranges of the protocol, in one encoding."""

    def __init__(self, text: str, encoding: Encoding) -> None:
        """Take the text that the client shows, in which a byte order mark takes a column."""
        self._lines = raw_lines(normalise(text))
        self._encoding: Encoding = encoding
        self._mark = width("\ufeff", encoding) if text.startswith("\ufeff") else 0

    def exact(self, lo: int, hi: int) -> t.Range:
        """Return the range that an edit of these lines replaces, or an empty one for a gap."""
        return t.Range(self._start(lo), self._start(hi))

    def visible(self, lo: int, hi: int) -> t.Range:
        """Return the range to underline, without the last line end, or a line beside a gap."""
        if lo == hi:
            lo = min(lo, max(len(self._lines) - 1, 0))
        last = max(lo, hi - 1)
        return t.Range(self._start(lo), t.Position(last, self._width(last)))

    def _start(self, line: int) -> t.Position:
        """Return the start of a line, or the end of the text past the last line."""
        if line == 0:
            return t.Position(0, self._mark)
        if line < len(self._lines) or not self._lines or self._lines[-1].endswith("\n"):
            return t.Position(line, 0)
        return t.Position(line - 1, self._width(line - 1))

    def _width(self, line: int) -> int:
        content = self._lines[line].removesuffix("\n") if line < len(self._lines) else ""
        return width(content, self._encoding) + (self._mark if line == 0 else 0)


def hunks_at(
    analysis: Analysis, mapper: Mapper, first: int, last: int
) -> list[tuple[int, t.Range]]:
    """Return the hunks that are shown on some of these lines, by index, and their ranges."""
    shown = (mapper.visible(*lines) for lines in analysis.lines)
    return [
        (index, where)
        for index, where in enumerate(shown)
        if where.start.line <= last and first <= where.end.line
    ]


SCHEME = "excise-revision"


def virtual_uri(uri: str, revision: str | None) -> str:
    """Return the URI of a revision of a document, or without a revision of its origin.

    >>> parse_uri(virtual_uri("file:///a/b c.py", "x/y")) == ("file:///a/b c.py", "x/y")
    True
    """
    last = unquote(urlsplit(uri).path).rpartition("/")[2]
    shown = quote(f"{'origin' if revision is None else revision[:60]}", safe="")
    payload = json.dumps([uri, revision], separators=(",", ":")).encode()
    query = base64.urlsafe_b64encode(payload).decode().rstrip("=")
    return f"{SCHEME}:/{shown}/{quote(last, safe='')}?{query}"


def parse_uri(uri: str) -> tuple[str, str | None] | None:
    """Return document and revision of a URI made by `virtual_uri`, or None for any other."""
    scheme, _, rest = uri.partition(":")
    query = rest.partition("?")[2]
    if scheme != SCHEME or not query:
        return None
    try:
        decoded = json.loads(base64.urlsafe_b64decode(query + "=" * (-len(query) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return None
    match decoded:
        case [str(document), str() | None as revision]:
            return document, revision
    return None
