"""One session over one pair of streams: standard input and output, or a local socket."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import NoReturn

from lsprotocol import types as t

from excise_server.lsp.server import ExciseServer
from excise_server.lsp.wire import BadFrame, Outbox, frames

__all__ = ["serve_socket", "serve_streams"]

logger = logging.getLogger(__name__)

HOST = "127.0.0.1"
_PATIENCE = 0.2
"""Seconds that the exit waits for work that was told to stop."""

_SWITCH = 0.0005
"""Seconds after which the worker lets the loop run: a keystroke needs the interpreter some ten
times, and would wait for each of them ten times as long (Python's own choice is 5 ms)."""


def serve_streams(create: Callable[[], ExciseServer]) -> NoReturn:
    """Serve a client on standard input and output, and end the process.

    From here on everything else that writes to standard output, C code included, writes to
    standard error: one stray line would end the session.
    """
    source, sink = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr

    def write_all(data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(sink, view) :]

    _leave(_serve(create(), lambda size: os.read(source, size), write_all))


def serve_socket(create: Callable[[], ExciseServer], port: int) -> NoReturn:
    """Serve the first client on a port of this machine that knows the token, and end the process.

    Every program on this machine can connect, and so can every page in a browser. So the client
    must send the printed token in the options of `initialize`.
    """
    token = secrets.token_urlsafe(16)
    with socket.create_server((HOST, port), backlog=1) as listener:
        place = f"{HOST}:{listener.getsockname()[1]}"
        print(f"listening on {place}, token {token}", file=sys.stderr, flush=True)
        while not (caller := _Caller(listener.accept()[0])).knows(token):
            print("refused a connection without the token", file=sys.stderr, flush=True)
            caller.connection.close()
    # The listener is closed: a second client would get the first one's answers.
    with caller.connection as connection:
        code = _serve(create(), caller.receive, connection.sendall)
    _leave(code)


def _serve(
    server: ExciseServer, receive: Callable[[int], bytes], send: Callable[[bytes], object]
) -> int:
    sys.setswitchinterval(_SWITCH)
    gc.freeze()
    gc.enable()
    outbox = Outbox(send)
    server.protocol.set_writer(outbox)
    try:
        code = asyncio.run(_session(server, receive))
    except KeyboardInterrupt:
        code = 130
    outbox.close()
    server.close(_PATIENCE)
    return code


def _leave(code: int) -> NoReturn:
    """End the process at once.

    A thread inside a parser cannot be stopped, and freeing the scores of many revisions object by
    object takes most of a second. The client need not wait for either.
    """
    sys.stderr.flush()
    os._exit(code)


async def _session(server: ExciseServer, receive: Callable[[int], bytes]) -> int:
    """Hand each message to the protocol until `exit` or the end of the stream."""
    loop = asyncio.get_running_loop()
    finished: asyncio.Future[int] = loop.create_future()

    def finish(code: int) -> None:
        if not finished.done():
            finished.set_result(code)

    def pump() -> None:
        try:
            for frame in frames(receive):
                loop.call_soon_threadsafe(server.protocol.receive, frame)
        except OSError as error:
            logger.info("the client's stream broke: %s", error)
        except RuntimeError:
            return  # the loop has ended
        loop.call_soon_threadsafe(finish, 1)  # without `exit`: the client has vanished

    server.protocol.on_exit = finish
    server.on_client = lambda process: _watch_process(process, partial(finish, 1))
    threading.Thread(target=pump, name="excise-reader", daemon=True).start()
    try:
        return await finished
    finally:
        # The loop ends when its threads have ended, and some of them wait for workers.
        server.pool.close()


_CALLER_SECONDS, _CALLER_BYTES = 10.0, 1 << 20
"""The seconds in which a caller's first message must arrive."""


class _Caller:
    """A connection. The session receives again what the handshake has read from it."""

    def __init__(self, connection: socket.socket) -> None:
        """Start the clock."""
        self.connection = connection
        self._received = bytearray()
        self._end = time.monotonic() + _CALLER_SECONDS

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
        if len(self._received) > _CALLER_BYTES:
            raise OSError("the first message is too long")
        return chunk


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


_LOOK_SECONDS = 3.0
"""Seconds between two checks, if the system does not tell that a process has ended."""


def _watch_process(process: int | None, ended: Callable[[], None]) -> None:
    """Call a function on the loop when a process ends.

    A process that does not exist at the start is not watched: the client may be in another
    container, where its number means another process.
    """
    if process is None or process <= 0 or not _is_there(process):
        return
    loop = asyncio.get_running_loop()
    try:
        descriptor = os.pidfd_open(process)
    except (AttributeError, OSError):
        _look_again(loop, process, ended)
        return

    def tell() -> None:
        loop.remove_reader(descriptor)
        os.close(descriptor)
        ended()

    loop.add_reader(descriptor, tell)


def _look_again(loop: asyncio.AbstractEventLoop, process: int, ended: Callable[[], None]) -> None:
    if _is_there(process):
        loop.call_later(_LOOK_SECONDS, _look_again, loop, process, ended)
    else:
        ended()


def _is_there(process: int) -> bool:
    if os.name == "nt":  # signal 0 would end it there
        return False
    with suppress(PermissionError):  # it exists, and is another user's
        try:
            os.kill(process, 0)
        except (ProcessLookupError, OverflowError):
            return False
    return True
