"""excise/report: the matrix, the ranking, the clusters and the hunks of one document."""

from __future__ import annotations

import asyncio
from typing import Any

from pygls.exceptions import JsonRpcInvalidParams

from excise.clustering import Merge, merges
from excise.errors import MissingPackageError
from excise_server.editor.analysis import Analysis
from excise_server.editor.document import document_key
from excise_server.lsp import to_proto
from excise_server.lsp.former import with_regions
from excise_server.lsp.protocol import ReportParams
from excise_server.lsp.rpc import RequestFailed
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
        tree = _tree(analysis) if params.merges else None
        result = to_proto.report(analysis, encoding, state, files, notes, tree)
        return with_regions(ls, ls.protocol.unstructured(result))

    return await asyncio.to_thread(build)


def _tree(analysis: Analysis) -> tuple[Merge, ...]:
    """Return the whole tree from which the clusters are cut.

    NumPy and SciPy are imported for this alone. Nothing else in this process needs them.
    """
    import numpy as np

    similarity = np.array(analysis.comparison.matrix.values.tolist(), dtype=np.float64)
    try:
        return merges(1.0 - similarity)
    except MissingPackageError as error:
        raise RequestFailed(str(error)) from error
