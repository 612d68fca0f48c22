"""excise/counters: how much was computed, to test that typing parses and scores nothing."""

from __future__ import annotations

from excise_server.lsp.protocol import CountersParams, CountersResult
from excise_server.lsp.server import ExciseServer

__all__ = ["counters"]


def counters(ls: ExciseServer, _params: CountersParams) -> CountersResult:
    """Return the totals that the workers have reported."""
    return CountersResult(*ls.crew.work)
