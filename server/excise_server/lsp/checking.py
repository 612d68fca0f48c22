"""The check of edits in a worker, before a client makes them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from lsprotocol import types as t

from excise.errors import Cancelled
from excise_server.editor.analysis import Analysis
from excise_server.editor.apply import LineEdit
from excise_server.editor.checking import to_check
from excise_server.foundation.cancellation import StopFlag
from excise_server.foundation.inputs import SourceError
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.workers.surveys import arguments_of
from excise_server.workers.worker import FailedInWorkerError

__all__ = ["ANYWAY", "agreed", "refusals", "refused"]

logger = logging.getLogger(__name__)

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
