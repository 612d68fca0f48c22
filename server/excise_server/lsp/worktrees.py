"""excise/worktrees: every worktree of a repository as one revision, over all its files."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from pygls.exceptions import JsonRpcInvalidParams

from excise import CancelFlag
from excise_server.lsp.disk import local_path
from excise_server.lsp.protocol import WorktreesParams
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.sources import SourceError
from excise_server.sources.paths import inside

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
    path = local_path(params.uri)
    folders = ls.folders()
    if path is None or not inside(path, folders):
        raise JsonRpcInvalidParams("not a file or folder of the workspace")
    if not ls.gatherer.choices.trusted:
        raise RequestFailed("the workspace is not trusted: git is not started")
    folder = os.path.realpath(path)
    folder = folder if os.path.isdir(folder) else os.path.dirname(folder)
    cancel = CancelFlag()
    try:
        return await asyncio.to_thread(_compared, folder, folders, params, cancel)
    except SourceError as error:
        raise RequestFailed(str(error)) from error
    finally:
        cancel.cancel()  # where the client has cancelled, the thread goes on until it looks


def _compared(
    folder: str, folders: list[str], params: WorktreesParams, cancel: CancelFlag
) -> dict[str, Any]:
    from excise_server.git.repository import open_folder
    from excise_server.report.documents import plain
    from excise_server.report.worktrees import worktrees_document
    from excise_server.sources.candidates import Choice
    from excise_server.worktrees import compare_worktrees

    choice = Choice(branches=tuple(params.branches or ()), onto=params.base or "")
    found = compare_worktrees(open_folder(folder, folders), choice, cancel=cancel)
    return dict(plain(worktrees_document(found)))
