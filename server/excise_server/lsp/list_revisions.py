"""excise/listRevisions: which revisions a document has."""

from __future__ import annotations

from excise_server.lsp.protocol import ListedRevision, ListRevisionsParams, ListRevisionsResult
from excise_server.lsp.server import ExciseServer

__all__ = ["list_revisions"]


def list_revisions(ls: ExciseServer, params: ListRevisionsParams) -> ListRevisionsResult:
    """List ids and labels in the order in which they came."""
    document = ls.session.find(params.uri)
    revisions = document.revisions.values() if document is not None else ()
    return ListRevisionsResult([ListedRevision(r.id, r.label) for r in revisions])
