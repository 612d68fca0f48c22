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
from excise_server.lsp import protocol
from excise_server.lsp.actions import KINDS, apply_choice, code_action, code_action_resolve
from excise_server.lsp.add_candidates import add_candidates, remove_candidates
from excise_server.lsp.add_revisions import add_revisions
from excise_server.lsp.add_text import add_text
from excise_server.lsp.candidates import candidates
from excise_server.lsp.choices import hide, reject, set_base, start_again
from excise_server.lsp.configuration import did_change_configuration, initialize, initialized
from excise_server.lsp.documents import (
    did_change,
    did_change_watched_files,
    did_change_workspace_folders,
    did_close,
    did_open,
    did_save,
    list_revisions,
    remove_revisions,
)
from excise_server.lsp.marks import code_lens, hover
from excise_server.lsp.read_patch import read_patch
from excise_server.lsp.report import (
    compare,
    counters,
    decide,
    report,
    review,
    revision_content,
    show_hunk,
    text_document_content,
)
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.sources import sources
from excise_server.lsp.standard import STANDARD, executor
from excise_server.lsp.take import take
from excise_server.lsp.transport import serve_socket, serve_streams
from excise_server.lsp.worktrees import worktrees

__all__ = ["HANDLERS", "create_server", "serve_stdio", "serve_tcp"]

# Handlers that are plain functions run at once, in the order of the messages, and may change the
# session. Coroutines wait for an analysis and only read; the client can cancel them.
CUSTOM: dict[str, Callable[..., Any]] = {
    "excise/addRevisions": add_revisions,
    "excise/addText": add_text,
    "excise/readPatch": read_patch,
    "excise/removeRevisions": remove_revisions,
    "excise/startAgain": start_again,
    "excise/listRevisions": list_revisions,
    "excise/report": report,
    protocol.APPLY_REVISION: apply_choice,
    protocol.APPLY_VARIANT: apply_choice,
    protocol.SHOW_HUNK: show_hunk,
    protocol.COMPARE: compare,
    "excise/revisionContent": revision_content,
    "excise/sources": sources,
    "excise/worktrees": worktrees,
    "excise/candidates": candidates,
    "excise/addCandidates": add_candidates,
    "excise/removeCandidates": remove_candidates,
    "excise/review": review,
    "excise/decide": decide,
    "excise/hide": hide,
    "excise/reject": reject,
    "excise/setBase": set_base,
    "excise/take": take,
    "excise/counters": counters,
}
HANDLERS: dict[str, Callable[..., Any]] = {
    t.INITIALIZE: initialize,
    t.INITIALIZED: initialized,
    t.TEXT_DOCUMENT_DID_OPEN: did_open,
    t.TEXT_DOCUMENT_DID_CHANGE: did_change,
    t.TEXT_DOCUMENT_DID_SAVE: did_save,
    t.TEXT_DOCUMENT_DID_CLOSE: did_close,
    t.TEXT_DOCUMENT_HOVER: hover,
    t.TEXT_DOCUMENT_CODE_ACTION: code_action,
    t.CODE_ACTION_RESOLVE: code_action_resolve,
    t.TEXT_DOCUMENT_CODE_LENS: code_lens,
    t.WORKSPACE_TEXT_DOCUMENT_CONTENT: text_document_content,
    t.WORKSPACE_DID_CHANGE_CONFIGURATION: did_change_configuration,
    t.WORKSPACE_DID_CHANGE_WATCHED_FILES: did_change_watched_files,
    t.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: did_change_workspace_folders,
    t.WORKSPACE_EXECUTE_COMMAND: executor(CUSTOM),
    **CUSTOM,
}
OPTIONS: dict[str, Any] = {
    t.TEXT_DOCUMENT_DID_SAVE: t.SaveOptions(include_text=False),
    t.TEXT_DOCUMENT_CODE_ACTION: t.CodeActionOptions(KINDS, resolve_provider=True),
}


def create_server() -> ExciseServer:
    """Return a server for one session."""
    server = ExciseServer(__version__)
    for method, handler in HANDLERS.items():
        server.feature(method, OPTIONS.get(method))(handler)
    for command, method in protocol.COMMANDS.items():
        server.command(command)(CUSTOM[method])
    for command, handler in STANDARD.items():
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
