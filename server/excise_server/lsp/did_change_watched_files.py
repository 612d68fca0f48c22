"""workspace/didChangeWatchedFiles: files that the sources depend on have changed."""

from __future__ import annotations

from lsprotocol import types as t

from excise_server.lsp.server import ExciseServer

__all__ = ["did_change_watched_files"]


def did_change_watched_files(ls: ExciseServer, params: t.DidChangeWatchedFilesParams) -> None:
    """Ask the sources of the documents that it concerns again."""
    ls.gatherer.files_changed(change.uri for change in params.changes)
