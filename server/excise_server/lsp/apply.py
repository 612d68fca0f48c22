"""excise/applyRevision, excise/applyVariant: the edits of the code actions, by the client."""

from __future__ import annotations

import attrs
from lsprotocol import types as t
from pygls.exceptions import JsonRpcInvalidParams

from excise import Variant
from excise_server.editor.analysis import Analysis
from excise_server.editor.apply import BlockedError, buffer_lines, replacing, restate
from excise_server.editor.titles import candidate_title, variant_title
from excise_server.editor.wording import names_of
from excise_server.lsp.checking import agreed, refusals
from excise_server.lsp.protocol import (
    APPLY_REVISION,
    APPLY_VARIANT,
    ApplyResult,
    ApplyRevisionParams,
    ApplyVariantParams,
    DecideParams,
)
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.workspace_edit import workspace_edit

__all__ = ["analysed", "apply_choice", "choice_command", "edit_of"]

Choice = ApplyRevisionParams | ApplyVariantParams
Params = Choice | DecideParams


async def apply_choice(ls: ExciseServer, params: Choice) -> ApplyResult:
    """Make the client edit the document: put a variant into its hunk, or a whole candidate."""
    workspace = ls.client_capabilities.workspace
    if not (workspace and workspace.apply_edit):
        raise RequestFailed("the client takes no edits (workspace/applyEdit)")
    try:
        title, edit = await edit_of(ls, params)
    except RequestFailed as error:
        # A client with code for us asks by itself: it knows the error by its data.
        asks = not ls.settings.client_commands and error.data is not None
        if not (asks and await agreed(ls, f"{error.message}.")):
            raise
        title, edit = await edit_of(ls, attrs.evolve(params, anyway=True))
    if edit is None:
        return ApplyResult(applied=False, reason="it is applied already")
    answer = await ls.workspace_apply_edit_async(t.ApplyWorkspaceEditParams(edit, title))
    return ApplyResult(answer.applied, answer.failure_reason or "")


async def edit_of(ls: ExciseServer, params: Choice) -> tuple[str, t.WorkspaceEdit | None]:
    """Return the title of a choice and its edit, or None if the buffer already has all of it.

    Raises
    ------
    JsonRpcInvalidParams
        If there is no such candidate, hunk or variant.
    RequestFailed
        If the document or its candidates have changed since, the user's edits are in the way, or
        the document would lack a name or not parse; the last has data.
    """
    analysis = await analysed(ls, params)
    lines, names = buffer_lines(analysis), names_of(analysis.snapshot.revisions)
    try:
        if isinstance(params, ApplyVariantParams):
            variant = _variant(analysis, params)
            title = variant_title(analysis, names, params.hunk, variant)
            edits = replacing(analysis, lines, params.hunk, variant.text)
        else:
            if params.id not in analysis.snapshot.ids:
                raise JsonRpcInvalidParams("unknown revision")
            index = analysis.snapshot.ids.index(params.id)
            title, edits = candidate_title(analysis, names, index), restate(analysis, lines, index)
    except BlockedError as error:
        raise RequestFailed(str(error)) from error
    if not edits:
        return title, None
    [refusal] = [None] if params.anyway else await refusals(ls, analysis, [edits])
    if refusal is not None:
        raise refusal
    return title, workspace_edit(analysis, edits, title, ls.encoding, ls.client_capabilities)


def choice_command(ls: ExciseServer, title: str, params: Choice) -> t.Command:
    """Return the command that makes the server send the edit of a choice."""
    method = APPLY_VARIANT if isinstance(params, ApplyVariantParams) else APPLY_REVISION
    return t.Command(title, method.replace("/", "."), arguments=[ls.protocol.unstructured(params)])


def _variant(analysis: Analysis, params: ApplyVariantParams) -> Variant:
    if not 0 <= params.hunk < len(analysis.hunks):
        raise JsonRpcInvalidParams("unknown hunk")
    variants = analysis.hunks[params.hunk].hunk.variants
    if not 0 <= params.variant < len(variants):
        raise JsonRpcInvalidParams("unknown variant")
    return variants[params.variant]


async def analysed(ls: ExciseServer, params: Params) -> Analysis:
    """Return the analysis, if the document still has the version of the command."""
    analysis = await ls.newest(params.uri)
    if analysis is None or analysis.snapshot.version is None:
        raise RequestFailed("the document is not open")
    if params.version != analysis.snapshot.version:
        current, requested = analysis.snapshot.version, params.version
        raise RequestFailed(
            f"the document has changed (now version {current}; "
            f"this action was made for version {requested})"
        )
    if params.state is not None and params.state != ls.publisher.state_of(params.uri):
        raise RequestFailed("the revisions have changed meanwhile")
    return analysis
