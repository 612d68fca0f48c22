"""textDocument/didOpen: the text that the client sends is the origin."""

from __future__ import annotations

from lsprotocol import types as t

from excise_server.lsp.server import ExciseServer
from excise_server.lsp.sync import TextBuffer

__all__ = ["did_open"]


def did_open(ls: ExciseServer, params: t.DidOpenTextDocumentParams) -> None:
    """Open the document under a buffer of our own."""
    document = params.text_document
    ls.look_at(document.uri)
    buffer = TextBuffer(document.text, ls.encoding)
    ls.session.open(document.uri, buffer, document.version, document.language_id)
    ls.gatherer.changed(document.uri)
    ls.mailboxes.opened(document.uri, document.language_id)
