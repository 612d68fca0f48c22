"""excise/startAgain: the review of a document restarts from its current origin."""

from __future__ import annotations

from excise_server.editor.session import ToReplay
from excise_server.lsp.protocol import StartAgainParams, StartAgainResult
from excise_server.lsp.server import ExciseServer

__all__ = ["start_again"]


async def start_again(ls: ExciseServer, params: StartAgainParams) -> StartAgainResult:
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
                return StartAgainResult(started=True)
            replayed |= zip(missing, await ls.replayed(params.uri, task, missing), strict=True)
    return StartAgainResult(started=False)
