"""excise/applyRevision, excise/applyVariant: the edits of the code actions, by the client."""

from __future__ import annotations

from collections.abc import Callable

from lsprotocol import types as t
from pygls.exceptions import JsonRpcInvalidParams

from excise_server.editor.analysis import Analysis
from excise_server.editor.apply import BlockedError, LineEdit, buffer_lines, replacing, restate
from excise_server.lsp.code_action import revision_title, variant_title
from excise_server.lsp.protocol import (
    ApplyResult,
    ApplyRevisionParams,
    ApplyVariantParams,
    DecideParams,
)
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.workspace_edit import workspace_edit

__all__ = ["analysed", "apply_revision", "apply_variant"]

Params = ApplyRevisionParams | ApplyVariantParams | DecideParams


async def apply_revision(ls: ExciseServer, params: ApplyRevisionParams) -> ApplyResult:
    """Have the client edit the document so that it says what a revision says."""
    analysis = await analysed(ls, params)
    ids = analysis.snapshot.ids
    if params.id not in ids:
        raise JsonRpcInvalidParams("unknown revision")
    at = ids.index(params.id)
    return await _apply(
        ls, analysis, revision_title(analysis, at), lambda lines: restate(analysis, lines, at)
    )


async def apply_variant(ls: ExciseServer, params: ApplyVariantParams) -> ApplyResult:
    """Have the client put a variant into its hunk."""
    analysis = await analysed(ls, params)
    if not 0 <= params.hunk < len(analysis.hunks):
        raise JsonRpcInvalidParams("unknown hunk")
    variants = analysis.hunks[params.hunk].hunk.variants
    if not 0 <= params.variant < len(variants):
        raise JsonRpcInvalidParams("unknown variant")
    variant = variants[params.variant]
    return await _apply(
        ls,
        analysis,
        variant_title(analysis, params.hunk, variant),
        lambda lines: replacing(analysis, lines, params.hunk, variant.text),
    )


async def analysed(ls: ExciseServer, params: Params) -> Analysis:
    """Return the analysis, if the document is still what the command was made for."""
    analysis = await ls.newest(params.uri)
    if analysis is None or analysis.snapshot.version is None:
        raise RequestFailed("the document is not open")
    if params.version != analysis.snapshot.version:
        now, then = analysis.snapshot.version, params.version
        raise RequestFailed(
            f"the document has changed (now version {now}; this action was made for version {then})"
        )
    if params.state is not None and params.state != ls.publisher.state_of(params.uri):
        raise RequestFailed("the revisions have changed meanwhile")
    return analysis


async def _apply(
    ls: ExciseServer,
    analysis: Analysis,
    title: str,
    edits_of: Callable[[list[str]], list[LineEdit]],
) -> ApplyResult:
    workspace = ls.client_capabilities.workspace
    if not (workspace and workspace.apply_edit):
        raise RequestFailed("the client takes no edits (workspace/applyEdit)")
    try:
        edits = edits_of(buffer_lines(analysis))
    except BlockedError as error:
        raise RequestFailed(str(error)) from error
    if not edits:
        return ApplyResult(applied=False, reason="it is applied already")
    edit = workspace_edit(analysis, edits, title, ls.encoding, ls.client_capabilities)
    answer = await ls.workspace_apply_edit_async(t.ApplyWorkspaceEditParams(edit, title))
    return ApplyResult(answer.applied, answer.failure_reason or "")
