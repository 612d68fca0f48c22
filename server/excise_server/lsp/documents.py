"""Documents as the client tells of them: opened, typed in, saved, closed."""

from __future__ import annotations

import logging

from lsprotocol import types as t

from excise_server.lsp.server import ExciseServer
from excise_server.lsp.to_proto import TextBuffer

logger = logging.getLogger(__name__)


def did_open(ls: ExciseServer, params: t.DidOpenTextDocumentParams) -> None:
    """Open the document under a buffer of our own."""
    document = params.text_document
    ls.look_at(document.uri)
    buffer = TextBuffer(document.text, ls.encoding)
    ls.session.open(document.uri, buffer, document.version, document.language_id)
    ls.gatherer.changed(document.uri)


def did_change(ls: ExciseServer, params: t.DidChangeTextDocumentParams) -> None:
    """Apply the changes in their order, each to the result of the one before."""
    document = ls.session.find(params.text_document.uri)
    if document is None or not isinstance(document.buffer, TextBuffer):
        logger.warning("didChange for a document that is not open")
        return
    ls.look_at(params.text_document.uri)
    ls.typed.note(params.text_document.uri, params.content_changes)
    for change in params.content_changes:
        if isinstance(change, t.TextDocumentContentChangePartial):
            document.buffer.edit(change.range.start, change.range.end, change.text)
        else:
            document.buffer.replace(change.text)
    ls.session.change(params.text_document.uri, params.text_document.version)


def did_save(ls: ExciseServer, params: t.DidSaveTextDocumentParams) -> None:
    """Take the saved text, or the content of our buffer if the client does not send it."""
    ls.typed.rest(params.text_document.uri)
    ls.session.save(params.text_document.uri, params.text)
    ls.gatherer.changed(params.text_document.uri)


def did_close(ls: ExciseServer, params: t.DidCloseTextDocumentParams) -> None:
    """Forget the buffer."""
    ls.typed.forget(params.text_document.uri)
    ls.session.close(params.text_document.uri)
    ls.gatherer.changed(params.text_document.uri)


def did_change_watched_files(ls: ExciseServer, params: t.DidChangeWatchedFilesParams) -> None:
    """Ask the sources of the documents that it concerns again."""
    ls.gatherer.files_changed(change.uri for change in params.changes)


def did_change_workspace_folders(
    ls: ExciseServer, _params: t.DidChangeWorkspaceFoldersParams
) -> None:
    """Ask all sources again. Pygls has already updated the folders."""
    ls.gatherer.everything_changed()
