"""excise/hide, excise/reject: candidates that count in no review until that is undone."""

from __future__ import annotations

from collections.abc import Sequence

from pygls.exceptions import JsonRpcInvalidParams

from excise_server.editor.document import MAX_ID
from excise_server.editor.set_aside import MAX_DECISIONS, CandidateState
from excise_server.lsp.protocol import HideParams, RejectParams, SetAsideResult
from excise_server.lsp.server import ExciseServer

__all__ = ["hide", "reject"]


async def hide(ls: ExciseServer, params: HideParams) -> SetAsideResult:
    """Leave candidates out of every review, or show them again with ``hidden: false``."""
    return await _set_aside(ls, params.ids, "hidden", params.hidden)


async def reject(ls: ExciseServer, params: RejectParams) -> SetAsideResult:
    """Do the same with candidates that the user decided against."""
    return await _set_aside(ls, params.ids, "rejected", params.rejected)


async def _set_aside(
    ls: ExciseServer, ids: Sequence[str], state: CandidateState, aside: bool | None
) -> SetAsideResult:
    if any(not 0 < len(name) <= MAX_ID for name in ids):
        raise JsonRpcInvalidParams(f"an id must have 1 to {MAX_ID} characters")
    if len(ids) > MAX_DECISIONS:
        raise JsonRpcInvalidParams(f"{MAX_DECISIONS:,} ids at most")
    await ls.memory.ready()
    ls.session.put_aside(ids, state, aside=aside is not False)
    await ls.memory.written()
    choices = ls.session.choices
    return SetAsideResult(choices.in_state("hidden"), choices.in_state("rejected"))
