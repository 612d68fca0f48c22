"""excise/setBase: the commit that a candidate started from, if the detected one is wrong."""

from __future__ import annotations

import asyncio

from pygls.exceptions import JsonRpcInvalidParams

from excise_server.editor.document import MAX_ID
from excise_server.editor.set_aside import MAX_DECISIONS
from excise_server.foundation.inputs import SourceError, UnansweredError
from excise_server.lsp.protocol import SetBaseParams, SetBaseResult
from excise_server.lsp.repository import Place, place_of
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer

__all__ = ["set_base"]


async def set_base(ls: ExciseServer, params: SetBaseParams) -> SetBaseResult:
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
    return SetBaseResult(commit)


def _commit(place: Place, name: str) -> str:
    from excise_server.git.history import commit_named
    from excise_server.git.repository import open_folder

    if not name or "\0" in name:
        raise SourceError("a base must name a commit")
    return commit_named(open_folder(place.folder, place.folders), name, "base")
