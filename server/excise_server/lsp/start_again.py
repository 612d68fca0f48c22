"""excise/startAgain: the review of a document begins anew, from what its origin is now."""

from __future__ import annotations

from excise_server.editor.session import ToReplay
from excise_server.lsp.protocol import StartAgainParams, StartAgainResult
from excise_server.lsp.server import ExciseServer

__all__ = ["start_again"]


async def start_again(ls: ExciseServer, params: StartAgainParams) -> StartAgainResult:
    """Let go of the origin that the review had; the sources replay on the new one.

    What a client added is replayed beside the loop; who asks of the document meanwhile waits. A
    text that comes in the meantime, or another origin, is replayed as well.
    """
    with ls.restarting(params.uri):
        known: dict[str, str] = {}
        before: ToReplay | None = None
        while (wanted := ls.session.to_replay(params.uri)) is not None:
            if before is not None and wanted.origins != before.origins:
                known.clear()
            before = wanted
            missing = [text for text in wanted.texts if text not in known]
            if not missing:
                ls.session.restart(params.uri, known)
                ls.gatherer.changed(params.uri)
                return StartAgainResult(started=True)
            known |= zip(missing, await ls.replayed(params.uri, wanted, missing), strict=True)
    return StartAgainResult(started=False)
