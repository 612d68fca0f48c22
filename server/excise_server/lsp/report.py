"""excise/report: the matrix, the ranking, the clusters and the hunks of one document."""

from __future__ import annotations

import asyncio
from typing import Any

from pygls.exceptions import JsonRpcInvalidParams

from excise_server.editor.document import document_key
from excise_server.lsp import to_proto
from excise_server.lsp.protocol import ReportParams
from excise_server.lsp.server import ExciseServer

__all__ = ["report"]


async def report(ls: ExciseServer, params: ReportParams) -> dict[str, Any]:
    """Wait for the newest version, and report on it (a `ReportResult`).

    With many revisions, the report takes megabytes. It is composed in a thread, from values that no
    longer change.
    """
    await ls.restarted(params.uri)
    await ls.gatherer.newest(params.uri)
    analysis, state = await ls.newest(params.uri), ls.publisher.state_of(params.uri)
    if analysis is None:
        raise JsonRpcInvalidParams("unknown document: neither open nor with revisions")
    key, encoding = document_key(params.uri), ls.encoding
    files = {name: file.path for name, file in ls.gatherer.files(key).items()}
    notes = ls.gatherer.notes(key)

    def build() -> dict[str, Any]:
        result = to_proto.report(analysis, encoding, state, files, notes)
        unstructured: dict[str, Any] = ls.protocol.unstructured(result)
        return unstructured

    return await asyncio.to_thread(build)
