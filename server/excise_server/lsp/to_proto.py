"""Lines of a text as positions of the protocol, and texts that are in no file as URIs.

This is the only place that makes positions. In such a URI, the path is for people and tells the
language; the query holds the document and the id in an alphabet that no client re-encodes.
"""

from __future__ import annotations

import base64
import binascii
import json
from urllib.parse import quote, unquote, urlsplit

from lsprotocol import types as t

from excise.text import normalise, raw_lines
from excise_server.editor.analysis import Analysis
from excise_server.lsp.sync import Encoding, width

__all__ = ["SCHEME", "Mapper", "hunks_at", "parse_uri", "virtual_uri"]


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
