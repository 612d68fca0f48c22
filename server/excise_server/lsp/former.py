"""The names of version 0.1: understood for one release, with a notice in the log.

The names of fields and methods are in `protocol`. A client without ``schema: 2`` in its options
also gets the hunks of a report under their former name.
"""

from __future__ import annotations

import logging
from typing import Any

from excise_server.lsp import protocol
from excise_server.lsp.compare import show_hunk
from excise_server.lsp.server import ExciseServer

__all__ = ["client_command", "show_place", "with_regions"]

logger = logging.getLogger(__name__)

_LENS, _FORMER_LENS = "excise.showHunk", "excise.showPlace"


async def show_place(ls: ExciseServer, params: protocol.ShowHunkParams) -> dict[str, Any]:
    """Answer `excise/showHunk` under its former name."""
    logger.warning("%s is called %s now", protocol.SHOW_PLACE, protocol.SHOW_HUNK)
    shown = ls.protocol.unstructured(await show_hunk(ls, params))
    return {**shown, "region": shown["hunk"]}


def with_regions(ls: ExciseServer, report: dict[str, Any]) -> dict[str, Any]:
    """Return a report as the client reads it."""
    if ls.settings.schema >= protocol.SCHEMA:
        return report
    logger.info("the regions of a report are called hunks now; say schema: 2 in the options")
    return {**report, "regions": report["hunks"]}


def client_command(
    ls: ExciseServer, command: str, argument: dict[str, object]
) -> tuple[str, dict[str, object]]:
    """Return the client's own command for a lens, if it has one, and its argument."""
    client_commands = ls.settings.client_commands
    if command == _LENS and command not in client_commands and _FORMER_LENS in client_commands:
        return client_commands[_FORMER_LENS], {**argument, "place": argument["hunk"]}
    return client_commands.get(command, command), argument
