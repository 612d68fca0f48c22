"""excise/worktrees: every worktree of a repository as one revision, over all its files."""

from __future__ import annotations

import asyncio
from typing import Any

from excise import CancelFlag
from excise_server.lsp.protocol import WorktreesParams
from excise_server.lsp.repository import Place, place_of
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.sources import SourceError

__all__ = ["worktrees"]


async def worktrees(ls: ExciseServer, params: WorktreesParams) -> dict[str, Any]:
    """Compare the worktrees (and branches) of the repository that holds a folder or file.

    Raises
    ------
    JsonRpcInvalidParams
        If it is not inside of a workspace folder.
    RequestFailed
        If the workspace is not trusted, or git cannot tell.
    """
    place = place_of(ls, params.uri)
    with ls.requests.running(f"worktrees of {place.name}") as cancel:
        try:
            return await asyncio.to_thread(_compared, place, params, cancel)
        except SourceError as error:
            raise RequestFailed(str(error)) from error


def _compared(place: Place, params: WorktreesParams, cancel: CancelFlag) -> dict[str, Any]:
    from excise_server.git.repository import open_folder
    from excise_server.report.documents import plain
    from excise_server.report.worktrees import worktrees_document
    from excise_server.sources.candidates import Choice
    from excise_server.worktrees import compare_worktrees

    choice = Choice(branches=tuple(params.branches or ()), onto=params.base or "")
    found = compare_worktrees(open_folder(place.folder, place.folders), choice, cancel=cancel)
    return dict(plain(worktrees_document(found)))
