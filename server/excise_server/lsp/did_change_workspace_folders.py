"""workspace/didChangeWorkspaceFolders: the folders that may be read have changed."""

from __future__ import annotations

from lsprotocol import types as t

from excise_server.lsp.server import ExciseServer

__all__ = ["did_change_workspace_folders"]


def did_change_workspace_folders(
    ls: ExciseServer, _params: t.DidChangeWorkspaceFoldersParams
) -> None:
    """Ask all sources again. Pygls has already updated the folders."""
    ls.gatherer.everything_changed()
