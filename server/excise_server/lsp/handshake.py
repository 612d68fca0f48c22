"""Admission of the one client of a port: whoever sends the token that was printed."""

from __future__ import annotations

import json
import secrets
import socket
import sys
import time
from contextlib import suppress

from lsprotocol import types as t

from excise_server.lsp.wire import BadFrame, frames

__all__ = ["Caller", "admitted"]

_SECONDS, _BYTES = 10.0, 1 << 20
"""The seconds in which a caller's first message must arrive."""


class Caller:
    """A connection. The session receives again what the handshake has read from it."""

    def __init__(self, connection: socket.socket) -> None:
        """Start the clock."""
        self.connection = connection
        self._received = bytearray()
        self._end = time.monotonic() + _SECONDS

    def knows(self, token: str) -> bool:
        """Whether the first message is `initialize` with the token."""
        with suppress(OSError):
            first = next(frames(self._receive_first, strict=True), None)
            self.connection.settimeout(None)
            return first is not None and _has_token(first, token)
        return False

    def receive(self, size: int) -> bytes:
        """Receive what the session reads, from the first byte on."""
        if not self._received:
            return self.connection.recv(size)
        earlier = bytes(self._received)
        self._received.clear()
        return earlier

    def _receive_first(self, size: int) -> bytes:
        # However slowly the bytes arrive.
        self.connection.settimeout(max(0.001, self._end - time.monotonic()))
        chunk = self.connection.recv(size)
        self._received += chunk
        if len(self._received) > _BYTES:
            raise OSError("the first message is too long")
        return chunk


def admitted(listener: socket.socket, token: str) -> Caller:
    """Wait for the first caller that knows the token, and refuse all others before it."""
    while True:
        caller = Caller(listener.accept()[0])
        if caller.knows(token):
            return caller
        print("refused a connection without the token", file=sys.stderr, flush=True)
        caller.connection.close()


def _has_token(frame: bytes, token: str) -> bool:
    if isinstance(frame, BadFrame):
        return False
    try:
        message = json.loads(frame)
        token_sent = message["params"]["initializationOptions"]["token"]
        return message["method"] == t.INITIALIZE and secrets.compare_digest(
            token_sent.encode(), token.encode()
        )
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return False
