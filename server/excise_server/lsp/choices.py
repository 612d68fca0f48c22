"""The user's choices: candidates set aside, other bases, and a review that starts again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pygls.exceptions import JsonRpcInvalidParams

from excise_server.editor.decisions import MAX_DECISIONS, CandidateState
from excise_server.editor.document import MAX_ID
from excise_server.editor.session import ToReplay
from excise_server.foundation.inputs import SourceError, UnansweredError
from excise_server.lsp import protocol as p
from excise_server.lsp.repository import Place, place_of
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer

__all__ = ["hide", "reject", "set_base", "start_again"]


async def hide(ls: ExciseServer, params: p.HideParams) -> p.SetAsideResult:
    """Leave candidates out of every review, or show them again with ``hidden: false``."""
    return await _set_aside(ls, params.ids, "hidden", params.hidden)


async def reject(ls: ExciseServer, params: p.RejectParams) -> p.SetAsideResult:
    """Do the same with candidates that the user decided against."""
    return await _set_aside(ls, params.ids, "rejected", params.rejected)


async def _set_aside(
    ls: ExciseServer, ids: Sequence[str], state: CandidateState, aside: bool | None
) -> p.SetAsideResult:
    if any(not 0 < len(name) <= MAX_ID for name in ids):
        raise JsonRpcInvalidParams(f"an id must have 1 to {MAX_ID} characters")
    if len(ids) > MAX_DECISIONS:
        raise JsonRpcInvalidParams(f"{MAX_DECISIONS:,} ids at most")
    await ls.memory.ready()
    ls.session.put_aside(ids, state, aside=aside is not False)
    await ls.memory.written()
    choices = ls.session.choices
    return p.SetAsideResult(choices.in_state("hidden"), choices.in_state("rejected"))


async def set_base(ls: ExciseServer, params: p.SetBaseParams) -> p.SetBaseResult:
    """Replay a candidate's edits since that commit, or without one since the detected base.

    Raises
    ------
    RequestFailed
        If there is no such commit, or the candidate is the client's own.
    """
    place = place_of(ls, params.uri)
    if not 0 < len(params.id) <= MAX_ID:
        raise JsonRpcInvalidParams(f"an id must have 1 to {MAX_ID} characters")
    if params.id in ls.session.given:
        raise RequestFailed("the client added it: add it again with another base")
    commit = None
    if params.base is not None:
        try:
            commit = await asyncio.to_thread(_commit, place, params.base)
        except (SourceError, UnansweredError) as error:
            raise RequestFailed(str(error)) from error
        if len(ls.session.choices.bases) >= MAX_DECISIONS:
            raise RequestFailed(f"limit {MAX_DECISIONS:,} bases")
    await ls.memory.ready()
    ls.session.set_base(params.id, commit)
    ls.gatherer.everything_changed()
    await ls.memory.written()
    return p.SetBaseResult(commit)


def _commit(place: Place, name: str) -> str:
    from excise_server.git.history import commit_named
    from excise_server.git.repository import open_folder

    if not name or "\0" in name:
        raise SourceError("a base must name a commit")
    return commit_named(open_folder(place.folder, place.folders), name, "base")


async def start_again(ls: ExciseServer, params: p.StartAgainParams) -> p.StartAgainResult:
    """Replace the origin of the review by the current one, on which the sources then replay.

    Revisions of the client are replayed in a worker, and other requests about the document wait for
    that. If another text or origin arrives in the meantime, the replay is repeated for it.
    """
    with ls.restarting(params.uri):
        replayed: dict[str, str] = {}
        before: ToReplay | None = None
        while (task := ls.session.to_replay(params.uri)) is not None:
            if before is not None and task.origins != before.origins:
                replayed.clear()
            before = task
            missing = [text for text in task.texts if text not in replayed]
            if not missing:
                ls.session.restart(params.uri, replayed)
                ls.gatherer.changed(params.uri)
                return p.StartAgainResult(started=True)
            replayed |= zip(missing, await ls.replayed(params.uri, task, missing), strict=True)
    return p.StartAgainResult(started=False)
