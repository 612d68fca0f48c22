"""The language server: which method is handled where, and how a session is started.

Reading order: this table, then any handler, `server.py` for how they work
together, `rpc.py` for the answers to wrong requests.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from lsprotocol import types as t

from excise import __version__
from excise_server.foundation.escape import source_text
from excise_server.lsp import (
    actions,
    choices,
    configuration,
    documents,
    edits,
    marks,
    protocol,
    report,
    standard,
)
from excise_server.lsp.add_candidates import add_candidates, remove_candidates
from excise_server.lsp.add_revisions import add_revisions
from excise_server.lsp.add_text import add_text
from excise_server.lsp.candidates import candidates
from excise_server.lsp.read_patch import read_patch
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.sources import sources
from excise_server.lsp.transport import serve_socket, serve_streams
from excise_server.lsp.worktrees import worktrees

__all__ = ["HANDLERS", "create_server", "serve_stdio", "serve_tcp"]

# Handlers that are plain functions run at once, in the order of the messages, and may change the
# session. Coroutines wait for an analysis and only read; the client can cancel them.
CUSTOM: dict[str, Callable[..., Any]] = {
    "excise/addRevisions": add_revisions,
    "excise/addText": add_text,
    "excise/readPatch": read_patch,
    "excise/removeRevisions": documents.remove_revisions,
    "excise/startAgain": choices.start_again,
    "excise/listRevisions": documents.list_revisions,
    "excise/report": report.report,
    protocol.APPLY_REVISION: actions.apply_choice,
    protocol.APPLY_VARIANT: actions.apply_choice,
    protocol.SHOW_HUNK: report.show_hunk,
    protocol.COMPARE: report.compare,
    "excise/revisionContent": report.revision_content,
    "excise/sources": sources,
    "excise/worktrees": worktrees,
    "excise/candidates": candidates,
    "excise/addCandidates": add_candidates,
    "excise/removeCandidates": remove_candidates,
    "excise/review": report.review,
    "excise/decide": report.decide,
    "excise/hide": choices.hide,
    "excise/reject": choices.reject,
    "excise/setBase": choices.set_base,
    "excise/take": edits.take,
    "excise/counters": report.counters,
}
HANDLERS: dict[str, Callable[..., Any]] = {
    t.INITIALIZE: configuration.initialize,
    t.INITIALIZED: configuration.initialized,
    t.TEXT_DOCUMENT_DID_OPEN: documents.did_open,
    t.TEXT_DOCUMENT_DID_CHANGE: documents.did_change,
    t.TEXT_DOCUMENT_DID_SAVE: documents.did_save,
    t.TEXT_DOCUMENT_DID_CLOSE: documents.did_close,
    t.TEXT_DOCUMENT_HOVER: marks.hover,
    t.TEXT_DOCUMENT_CODE_ACTION: actions.code_action,
    t.CODE_ACTION_RESOLVE: actions.code_action_resolve,
    t.TEXT_DOCUMENT_CODE_LENS: marks.code_lens,
    t.WORKSPACE_TEXT_DOCUMENT_CONTENT: report.text_document_content,
    t.WORKSPACE_DID_CHANGE_CONFIGURATION: configuration.did_change_configuration,
    t.WORKSPACE_DID_CHANGE_WATCHED_FILES: documents.did_change_watched_files,
    t.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: documents.did_change_workspace_folders,
    t.WORKSPACE_EXECUTE_COMMAND: standard.executor(CUSTOM),
    **CUSTOM,
}
OPTIONS: dict[str, Any] = {
    t.TEXT_DOCUMENT_DID_SAVE: t.SaveOptions(include_text=False),
    t.TEXT_DOCUMENT_CODE_ACTION: t.CodeActionOptions(actions.KINDS, resolve_provider=True),
}


def create_server() -> ExciseServer:
    """Return a server for one session."""
    server = ExciseServer(__version__)
    for method, handler in HANDLERS.items():
        server.feature(method, OPTIONS.get(method))(handler)
    for command, method in protocol.COMMANDS.items():
        server.command(command)(CUSTOM[method])
    for command, handler in standard.STANDARD.items():
        server.command(command)(handler)
    return server


def serve_stdio() -> NoReturn:
    """Serve a client on standard input and output, and end the process with its exit code."""
    _log_to_stderr()
    serve_streams(create_server)


def serve_tcp(port: int) -> NoReturn:
    """Do the same on a port of this machine (0: any free one, named on standard error)."""
    _log_to_stderr()
    serve_socket(create_server, port)


class _Escaping(logging.Formatter):
    """Keeps control characters of clients and files from the terminal that shows the log."""

    def format(self, record: logging.LogRecord) -> str:
        return source_text(super().format(record))


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Escaping("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
