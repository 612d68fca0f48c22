"""textDocument/didClose: the revisions stay, against the text on disk."""

from __future__ import annotations

from lsprotocol import types as t

from excise_server.lsp.server import ExciseServer

__all__ = ["did_close"]


def did_close(ls: ExciseServer, params: t.DidCloseTextDocumentParams) -> None:
    """Forget the buffer."""
    ls.typed.forget(params.text_document.uri)
    ls.session.close(params.text_document.uri)
    ls.gatherer.changed(params.text_document.uri)
    ls.mailboxes.changed(params.text_document.uri)
