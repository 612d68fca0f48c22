"""excise/removeRevisions: forget revisions by id."""

from __future__ import annotations

from excise_server.lsp.protocol import RemoveRevisionsParams, RemoveRevisionsResult
from excise_server.lsp.server import ExciseServer

__all__ = ["remove_revisions"]


def remove_revisions(ls: ExciseServer, params: RemoveRevisionsParams) -> RemoveRevisionsResult:
    """Remove the revisions, and return the ids that were unknown."""
    return RemoveRevisionsResult(*ls.session.remove(params.uri, params.ids))
