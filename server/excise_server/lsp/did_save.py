"""textDocument/didSave: the saved text is the new origin."""

from __future__ import annotations

from lsprotocol import types as t

from excise_server.lsp.server import ExciseServer

__all__ = ["did_save"]


def did_save(ls: ExciseServer, params: t.DidSaveTextDocumentParams) -> None:
    """Take the saved text, or the content of our buffer if the client does not send it."""
    ls.typed.rest(params.text_document.uri)
    ls.session.save(params.text_document.uri, params.text)
    ls.gatherer.changed(params.text_document.uri)
