"""One session over one pair of streams: standard input and output, or a local socket."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import secrets
import socket
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import NoReturn

from excise_server.lsp.handshake import admitted
from excise_server.lsp.parent import watch_process
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.wire import Outbox, frames

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
        caller = admitted(listener, token)
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
    server.on_client = lambda process: watch_process(process, partial(finish, 1))
    threading.Thread(target=pump, name="excise-reader", daemon=True).start()
    try:
        return await finished
    finally:
        # The loop ends when its threads have ended, and some of them wait for workers.
        server.crew.close()
