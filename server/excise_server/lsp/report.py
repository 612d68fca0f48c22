"""excise/report: the matrix, the ranking, the clusters and the places of one document."""

from __future__ import annotations

from pygls.exceptions import JsonRpcInvalidParams

from excise_server.lsp import to_proto
from excise_server.lsp.protocol import ReportParams, ReportResult
from excise_server.lsp.server import ExciseServer

__all__ = ["report"]


async def report(ls: ExciseServer, params: ReportParams) -> ReportResult:
    """Wait for the newest version, and report on it."""
    analysis = await ls.newest(params.uri)
    if analysis is None:
        raise JsonRpcInvalidParams("unknown document: neither open nor with revisions")
    return to_proto.report(analysis, ls.encoding)
