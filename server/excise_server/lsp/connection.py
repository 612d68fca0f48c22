"""The connection to one client: what the server knows about it, and how it sends requests."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from lsprotocol import types as t
from pygls.lsp.server import LanguageServer

from excise_server.lsp.rpc import Protocol
from excise_server.lsp.settings import Settings
from excise_server.lsp.sync import Encoding
from excise_server.lsp.typed_lines import TypedLines

__all__ = ["Connection"]

logger = logging.getLogger(__name__)

_ENCODINGS: dict[str, Encoding] = {"utf-8": "utf-8", "utf-16": "utf-16", "utf-32": "utf-32"}


class Connection(LanguageServer):
    """The server's side of a client, below everything that answers it.

    Attributes
    ----------
    settings
        The client's choices.
    typed
        The lines that are being typed.
    """

    protocol: Protocol
    typed: TypedLines

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 pygls'
        """Prepare a connection. The arguments are those of pygls' server."""
        super().__init__(*arguments, **options)
        self.settings = Settings()
        self._asking: set[asyncio.Task[None]] = set()

    @property
    def encoding(self) -> Encoding:
        """Units of the columns that the client counts in, UTF-16 if none was negotiated."""
        negotiated = self.workspace.position_encoding
        value = negotiated.value if isinstance(negotiated, t.PositionEncodingKind) else negotiated
        return _ENCODINGS.get(value or "", "utf-16")

    def spawn(self, asking: Coroutine[Any, Any, None]) -> None:
        """Ask the client something that no message waits for."""
        task = asyncio.get_running_loop().create_task(asking)
        self._asking.add(task)
        task.add_done_callback(self._asked)

    def _asked(self, task: asyncio.Task[None]) -> None:
        self._asking.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("asking the client failed", exc_info=error)
