"""excise/addText: a text that a user pasted or picked becomes a candidate, or is refused."""

from __future__ import annotations

import asyncio

from excise.text import Revision
from excise_server.editor.session import path_of
from excise_server.foundation.escape import printable, visible
from excise_server.foundation.inputs import SourceError
from excise_server.lsp.protocol import AddTextParams, AddTextResult
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.sources.pasted import pasted

__all__ = ["add_text"]


async def add_text(ls: ExciseServer, params: AddTextParams) -> AddTextResult:
    """Take a whole file, a fenced block or a diff as a candidate.

    Raises
    ------
    RequestFailed
        If it is not a version of the document, or does not apply. The message says why.
    """
    try:
        origin = ls.session.origin(params.uri)
        version = await asyncio.to_thread(pasted, origin, params.text, path_of(params.uri) or "")
    except SourceError as error:
        raise RequestFailed(printable(visible(str(error)))) from error
    identity = params.id or _free(ls, params.uri)
    revision = Revision(identity, version.text, params.label or version.label)
    _, rejected = ls.session.add(params.uri, [revision])
    if rejected:
        raise RequestFailed(printable(rejected[0].reason))
    return AddTextResult(identity, version.kind, list(version.notes))


def _free(ls: ExciseServer, uri: str) -> str:
    """Return an id that no candidate of the document has."""
    document = ls.session.find(uri)
    revisions = {} if document is None else document.revisions
    number = 1
    while (name := f"pasted {number}") in revisions:
        number += 1
    return name
