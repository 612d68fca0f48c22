"""Edits of documents that the client is sent, and the question whether to make a broken one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from lsprotocol import types as t

from excise.errors import Cancelled
from excise_server.editor.analysis import Analysis
from excise_server.editor.apply import LineEdit, line_end
from excise_server.editor.checking import to_check
from excise_server.foundation.cancellation import StopFlag
from excise_server.foundation.inputs import SourceError
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.to_proto import Mapper
from excise_server.workers.surveys import arguments_of
from excise_server.workers.worker import FailedInWorkerError

__all__ = ["agreed", "check_takes_edits", "refusals", "refused", "text_edits", "workspace_edit"]

logger = logging.getLogger(__name__)

_ANNOTATION = "excise"


def check_takes_edits(ls: ExciseServer) -> None:
    """Refuse a request whose edit the client would not make."""
    workspace = ls.client_capabilities.workspace
    if not (workspace and workspace.apply_edit):
        raise RequestFailed("the client takes no edits (workspace/applyEdit)")


def text_edits(ls: ExciseServer, text: str, edits: Sequence[LineEdit]) -> list[t.TextEdit]:
    """Return edits of a text in the client's positions, with the line ends of the text."""
    mapper, end = Mapper(text, ls.encoding), line_end(text)
    return [t.TextEdit(mapper.exact(e.lo, e.hi), e.text.replace("\n", end)) for e in edits]


def workspace_edit(
    ls: ExciseServer, analysis: Analysis, edits: Sequence[LineEdit], label: str
) -> t.WorkspaceEdit:
    """Return one edit of the analysed version: one undo step.

    A client that knows versions refuses it when the document has moved on.
    """
    snapshot = analysis.snapshot
    plain = text_edits(ls, snapshot.buffer or "", edits)
    workspace = ls.client_capabilities.workspace
    can = workspace.workspace_edit if workspace else None
    if not (can and can.document_changes):
        return t.WorkspaceEdit(changes={snapshot.uri_or_path: plain})
    annotated = bool(can.change_annotation_support)
    changes: list[t.TextEdit | t.AnnotatedTextEdit | t.SnippetTextEdit] = [
        t.AnnotatedTextEdit(_ANNOTATION, edit.range, edit.new_text) if annotated else edit
        for edit in plain
    ]
    document = t.OptionalVersionedTextDocumentIdentifier(snapshot.uri_or_path, snapshot.version)
    notes = {_ANNOTATION: t.ChangeAnnotation(label, needs_confirmation=False)}
    return t.WorkspaceEdit(
        document_changes=[t.TextDocumentEdit(document, changes)],
        change_annotations=notes if annotated else None,
    )


ANYWAY = "Take it all the same"
BROKEN_MIX = "brokenMix"
"""The kind in the data of the error, by which a client knows it."""


def refused(refusal: Mapping[str, Any]) -> RequestFailed:
    """Return the error of a mix that is refused, with what a client needs to offer it anyway."""
    data = {"kind": BROKEN_MIX, "findings": refusal["findings"], "mend": refusal["mend"]}
    return RequestFailed(refusal["message"], data=data)


async def refusals(
    ls: ExciseServer, analysis: Analysis, edits: Sequence[Sequence[LineEdit]]
) -> list[RequestFailed | None]:
    """Return why each of some edits of a document is refused, or None where it is not.

    A worker that fails has refused nothing: the document can be edited all the same.
    """
    document = to_check(analysis, edits)
    if document is None:
        return [None] * len(edits)
    cancel = StopFlag()
    try:
        arguments = arguments_of(document=document)
        answer = await asyncio.to_thread(ls.crew.survey, "checked", arguments, cancel)
    except (Cancelled, FailedInWorkerError, SourceError) as error:
        logger.error("an edit was not checked", exc_info=error)
        return [None] * len(edits)
    finally:
        cancel.cancel()
    return [refusal and refused(refusal) for refusal in answer["refusals"]]


async def agreed(ls: ExciseServer, message: str) -> bool:
    """Ask the user whether to take something all the same; False if the client cannot ask."""
    window = ls.client_capabilities.window
    if not (window and window.show_message):
        return False
    actions = [t.MessageActionItem(ANYWAY), t.MessageActionItem("Cancel")]
    chosen = await ls.window_show_message_request_async(
        t.ShowMessageRequestParams(t.MessageType.Warning, message, actions)
    )
    return chosen is not None and chosen.title == ANYWAY
