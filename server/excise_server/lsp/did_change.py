"""textDocument/didChange: edits move the lines, but not the origin."""

from __future__ import annotations

import logging

from lsprotocol import types as t

from excise_server.lsp.from_proto import apply_change
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.sync import TextBuffer

__all__ = ["did_change"]

logger = logging.getLogger(__name__)


def did_change(ls: ExciseServer, params: t.DidChangeTextDocumentParams) -> None:
    """Apply the changes in their order, each to the result of the one before."""
    document = ls.session.find(params.text_document.uri)
    if document is None or not isinstance(document.buffer, TextBuffer):
        logger.warning("didChange for a document that is not open")
        return
    ls.look_at(params.text_document.uri)
    ls.typed.note(params.text_document.uri, params.content_changes)
    for change in params.content_changes:
        apply_change(document.buffer, change)
    ls.session.change(params.text_document.uri, params.text_document.version)
    ls.mailboxes.changed(params.text_document.uri)
