"""excise/compare, excise/showHunk, and the texts of revisions as documents."""

from __future__ import annotations

import logging

from lsprotocol import types as t
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from excise.text import normalise
from excise_server.editor.analysis import Analysis
from excise_server.editor.wording import names_of
from excise_server.lsp import to_proto
from excise_server.lsp.protocol import (
    CompareParams,
    CompareResult,
    Comparison,
    RevisionContentParams,
    RevisionContentResult,
    ShowHunkParams,
    ShowHunkResult,
)
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.virtual import SCHEME, parse_uri, virtual_uri

__all__ = ["compare", "register_content", "revision_content", "show_hunk", "text_document_content"]

logger = logging.getLogger(__name__)


async def compare(ls: ExciseServer, params: CompareParams) -> CompareResult:
    """List the documents to show side by side: each revision with the origin, in rank order."""
    analysis = await _known(ls, params.uri)
    if not set(params.ids or ()) <= set(analysis.snapshot.ids):
        raise JsonRpcInvalidParams("unknown revision")
    uri, names = analysis.snapshot.uri_or_path, names_of(analysis.snapshot.revisions)
    return CompareResult(
        [
            Comparison(
                virtual_uri(uri, None),
                virtual_uri(uri, ranked.id),
                f"origin ↔ {names[ranked.index]}",
            )
            for ranked in analysis.comparison.ranking
            if params.ids is None or ranked.id in params.ids
        ]
    )


async def show_hunk(ls: ExciseServer, params: ShowHunkParams) -> ShowHunkResult:
    """Return a hunk as the report has it."""
    analysis = await _known(ls, params.uri)
    if not 0 <= params.hunk < len(analysis.hunks):
        raise JsonRpcInvalidParams("unknown hunk")
    snapshot = analysis.snapshot
    text = snapshot.origin if snapshot.buffer is None else snapshot.buffer
    exact = to_proto.Mapper(text, ls.encoding).exact(*analysis.lines[params.hunk])
    scores = analysis.hunks[params.hunk]
    return ShowHunkResult(to_proto.hunk(scores, exact, analysis.comparison.matrix.ids))


async def revision_content(
    ls: ExciseServer, params: RevisionContentParams
) -> RevisionContentResult:
    """Return the text of a revision, or of the origin."""
    analysis = await _known(ls, params.uri)
    if params.id is None:
        return RevisionContentResult(normalise(analysis.snapshot.origin))
    for revision in analysis.snapshot.revisions:
        if revision.id == params.id:
            return RevisionContentResult(normalise(revision.text))
    raise JsonRpcInvalidParams("unknown revision")


async def text_document_content(
    ls: ExciseServer, params: t.TextDocumentContentParams
) -> t.TextDocumentContentResult:
    """Return the text of one of our URIs, for clients that open such documents themselves."""
    if (parsed := parse_uri(params.uri)) is None:
        raise JsonRpcInvalidParams(f"no {SCHEME} URI of this server")
    content = await revision_content(ls, RevisionContentParams(*parsed))
    ls.publisher.refresher.opened(params.uri)
    return t.TextDocumentContentResult(content.text)


async def register_content(ls: ExciseServer) -> None:
    """Offer the texts to a client that opens documents of other schemes."""
    workspace = ls.client_capabilities.workspace
    can = workspace.text_document_content if workspace else None
    if not (can and can.dynamic_registration):
        return
    options = t.TextDocumentContentRegistrationOptions(schemes=[SCHEME])
    method = t.WORKSPACE_TEXT_DOCUMENT_CONTENT
    registration = t.Registration(id="excise-content", method=method, register_options=options)
    try:
        await ls.client_register_capability_async(t.RegistrationParams([registration]))
    except JsonRpcException as error:
        logger.warning("revisions cannot be opened as documents: %s", error)


async def _known(ls: ExciseServer, uri: str) -> Analysis:
    if (analysis := await ls.newest(uri)) is None:
        raise JsonRpcInvalidParams("unknown document: neither open nor with revisions")
    return analysis
