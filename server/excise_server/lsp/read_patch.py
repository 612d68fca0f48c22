"""excise/readPatch: the result of a patch on a document, which is not changed."""

from __future__ import annotations

import asyncio

from excise.patches import PatchError
from excise_server.editor.session import path_of
from excise_server.foundation.escape import printable, visible
from excise_server.foundation.inputs import SourceError
from excise_server.lsp.protocol import ReadPatchParams, ReadPatchResult
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.sources.pasted import patched

__all__ = ["read_patch"]


async def read_patch(ls: ExciseServer, params: ReadPatchParams) -> ReadPatchResult:
    """Apply the part of a patch that is about a document to its origin.

    Raises
    ------
    RequestFailed
        If the document has no text, or the patch does not apply. The message says why.
    """
    try:
        origin = ls.session.origin(params.uri)
        path = path_of(params.uri) or ""
        # A large mailbox takes seconds.
        version = await asyncio.to_thread(patched, origin, params.patch, path)
    except (SourceError, PatchError) as error:
        reason = error.reason if isinstance(error, SourceError) else str(error)
        raise RequestFailed(printable(visible(reason))) from error
    return ReadPatchResult(version.text, version.label, list(version.notes))
