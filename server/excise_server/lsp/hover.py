"""textDocument/hover: the hunk under the cursor, and on the first line also the file.

In a mailbox or patch without revisions, the message under the cursor.
"""

from __future__ import annotations

from lsprotocol import types as t

from excise_server.editor.analysis import Analysis
from excise_server.editor.explanation import Block, explain_file, explain_hunk
from excise_server.lsp.mailboxes import explained
from excise_server.lsp.markup import as_markdown, as_plain
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.to_proto import Mapper

__all__ = ["hover"]


async def hover(ls: ExciseServer, params: t.HoverParams) -> t.Hover | None:
    """Explain the hunk or message at the position, or return None if there is none."""
    uri = params.text_document.uri
    if (analysis := await ls.to_show(uri)) is None:
        mailbox = await ls.mailboxes.newest(uri)
        message_blocks = explained(mailbox, params.position.line) if mailbox is not None else []
        return t.Hover(_content(ls, message_blocks)) if message_blocks else None
    snapshot, line = analysis.snapshot, params.position.line
    text = snapshot.origin if snapshot.buffer is None else snapshot.buffer
    mapper = Mapper(text, ls.encoding)
    ranges = [mapper.visible(*lines) for lines in analysis.lines]
    under = [index for index, r in enumerate(ranges) if r.start.line <= line <= r.end.line]
    blocks = _blocks(analysis, under, first=line == 0)
    if not blocks:
        return None
    return t.Hover(_content(ls, blocks), ranges[under[0]] if under else None)


def _blocks(analysis: Analysis, under: list[int], *, first: bool) -> list[Block]:
    blocks = [block for index in under for block in explain_hunk(analysis, index)]
    return [*blocks, *explain_file(analysis)] if first else blocks


def _content(ls: ExciseServer, blocks: list[Block]) -> t.MarkupContent:
    """Return the explanation in the client's preferred format, or else as plain text."""
    text_document = ls.client_capabilities.text_document
    hovers = text_document.hover if text_document else None
    formats = (hovers.content_format if hovers else None) or [t.MarkupKind.PlainText]
    if formats[0] == t.MarkupKind.Markdown:
        return t.MarkupContent(t.MarkupKind.Markdown, as_markdown(blocks))
    return t.MarkupContent(t.MarkupKind.PlainText, as_plain(blocks))
