"""excise/counters: how much was computed: a key that is typed parses nothing and scores nothing."""

from __future__ import annotations

from excise_server.lsp.protocol import CountersParams, CountersResult
from excise_server.lsp.server import ExciseServer

__all__ = ["counters"]


def counters(ls: ExciseServer, _params: CountersParams) -> CountersResult:
    """Return what the workers have said until now."""
    return CountersResult(*ls.crew.work)
