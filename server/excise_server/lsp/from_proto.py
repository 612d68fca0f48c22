"""From the protocol's types to ours."""

from __future__ import annotations

from lsprotocol import types as t

from excise_server.lsp.sync import Encoding, Point, TextBuffer

__all__ = ["apply_change", "encoding_of"]

_ENCODINGS: dict[str, Encoding] = {"utf-8": "utf-8", "utf-16": "utf-16", "utf-32": "utf-32"}


def encoding_of(negotiated: t.PositionEncodingKind | str | None) -> Encoding:
    """Return the encoding of positions, UTF-16 if none was negotiated.

    >>> encoding_of(t.PositionEncodingKind.Utf8), encoding_of("utf-32"), encoding_of(None)
    ('utf-8', 'utf-32', 'utf-16')
    """
    value = negotiated.value if isinstance(negotiated, t.PositionEncodingKind) else negotiated
    return _ENCODINGS.get(value or "", "utf-16")


def apply_change(buffer: TextBuffer, change: t.TextDocumentContentChangeEvent) -> None:
    """Apply one change of a notification: of a range, or of the whole text."""
    if isinstance(change, t.TextDocumentContentChangePartial):
        start, end = change.range.start, change.range.end
        buffer.edit(Point(start.line, start.character), Point(end.line, end.character), change.text)
    else:
        buffer.replace(change.text)
