"""excise/worktrees: every worktree of a repository as one revision, over all its files."""

from __future__ import annotations

import asyncio
from typing import Any

from excise_server.foundation.inputs import SourceError
from excise_server.lsp.protocol import WorktreesParams
from excise_server.lsp.repository import intent_of, place_of
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.workers.surveys import arguments_of

__all__ = ["worktrees"]


async def worktrees(ls: ExciseServer, params: WorktreesParams) -> dict[str, Any]:
    """Compare the worktrees (and branches) of the repository of a folder or file.

    Raises
    ------
    JsonRpcInvalidParams
        If it is not inside of a workspace folder, or the intent is unknown.
    RequestFailed
        If the workspace is not trusted, or git cannot tell.
    """
    place = place_of(ls, params.uri)
    arguments = arguments_of(
        folder=place.folder,
        folders=place.folders,
        branches=params.branches or (),
        base=params.base or "",
        intent=intent_of(ls, params.intent),
    )
    with ls.requests.running(f"worktrees of {place.name}") as cancel:
        try:
            return await asyncio.to_thread(ls.pool.survey, "worktrees", arguments, cancel)
        except SourceError as error:
            raise RequestFailed(str(error)) from error
