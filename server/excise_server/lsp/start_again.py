"""excise/startAgain: the review of a document begins anew, from what its origin is now."""

from __future__ import annotations

from excise_server.lsp.protocol import StartAgainParams, StartAgainResult
from excise_server.lsp.server import ExciseServer

__all__ = ["start_again"]


def start_again(ls: ExciseServer, params: StartAgainParams) -> StartAgainResult:
    """Let go of the origin that the review had; the sources replay on the new one."""
    started = ls.session.restart(params.uri)
    if started:
        ls.gatherer.changed(params.uri)
    return StartAgainResult(started)
