"""excise/addRevisions: any program pushes revisions of a document, open or not."""

from __future__ import annotations

from excise.text import Revision
from excise_server.lsp.protocol import AddRevisionsParams, AddRevisionsResult, Rejection
from excise_server.lsp.server import ExciseServer

__all__ = ["add_revisions"]


def add_revisions(ls: ExciseServer, params: AddRevisionsParams) -> AddRevisionsResult:
    """Take the revisions that can be scored, and return the others with the reasons."""
    revisions = [Revision(new.id, new.text, new.label or "") for new in params.revisions]
    accepted, rejected = ls.session.add(params.uri, revisions, params.base)
    return AddRevisionsResult(accepted, [Rejection(item.id, item.reason) for item in rejected])
