"""``python -I -m excise_server.workers.child``: a worker, at the other end of two pipes.

One thread reads requests, so that a cancel is heard while the main thread works; where the stream
ends, the parent has gone, and so does this process.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import NoReturn

import msgspec

from excise import CancelFlag
from excise_server.workers.desk import DEADLINE, Desk, load_the_rest, rehearse
from excise_server.workers.frames import framed, read_frame
from excise_server.workers.guard import Guard
from excise_server.workers.limits import limit_memory
from excise_server.workers.messages import Answer, Cancel, Forget, Opened, Order, Request
from excise_server.workers.note import shared_page

__all__ = ["main"]

_SWITCH = 0.0005
"""Seconds after which the reading thread gets the interpreter: a cancel waits for that."""

_IDLE = 3.0
"""Seconds without a request after which a worker loads what only some requests need."""

_WHOLE = 32
"""Requests after which everything is looked through for cycles, and not only what is new."""


class _Inbox:
    """Requests in order; cancels are heard at once."""

    def __init__(self, source: int) -> None:
        self._source = source
        self._requests: SimpleQueue[Order | Forget] = SimpleQueue()
        self._lock = threading.Lock()
        self._running: tuple[int, CancelFlag] | None = None
        self._cancelled = 0

    def read(self) -> None:
        """Read until the stream ends, and end the process then."""
        decoder = msgspec.msgpack.Decoder(Request)
        try:
            while (body := read_frame(lambda size: os.read(self._source, size))) is not None:
                self._take(decoder.decode(body))
        finally:
            os._exit(0)

    def _take(self, request: Request) -> None:
        if not isinstance(request, Cancel):
            self._requests.put(request)
            return
        with self._lock:
            self._cancelled = max(self._cancelled, request.number)
            if self._running is not None and self._running[0] <= self._cancelled:
                self._running[1].cancel()

    def next(self, idle: Callable[[], None]) -> Order | Forget:
        """Wait for the next request; act once if none comes for a while."""
        try:
            return self._requests.get(timeout=_IDLE)
        except Empty:
            idle()
        return self._requests.get()

    def begin(self, number: int) -> CancelFlag:
        """Return the flag of a request that begins now: its clock is that of this thread."""
        flag = CancelFlag(DEADLINE, cpu=True)
        with self._lock:
            self._running = (number, flag)
            if number <= self._cancelled:
                flag.cancel()
        return flag


def main() -> NoReturn:
    """Serve one parent until it closes the stream."""
    source, sink = os.dup(0), os.dup(1)
    os.dup2(2, 1)  # a stray line of some C library must not end up in a frame
    sys.setswitchinterval(_SWITCH)
    limit_memory()
    note = shared_page(int(sys.argv[1]))[0] if len(sys.argv) > 1 else None
    guard = Guard(note, limited=True)
    inbox = _Inbox(source)
    threading.Thread(target=inbox.read, name="excise-requests", daemon=True).start()
    guard.install()
    rehearse()
    encoder = msgspec.msgpack.Encoder()

    def send(answer: Answer) -> None:
        view = memoryview(framed(encoder.encode(answer)))
        try:
            while view:
                view = view[os.write(sink, view) :]
        except BrokenPipeError:
            os._exit(0)  # the parent has gone, which the reading thread may not have seen yet

    send(Opened())
    desk = Desk(guard)
    # Collections in the middle of an answer take half of its time: trees are many objects, and in
    # no cycle. They wait until it is sent.
    gc.disable()
    answered = 0
    while True:
        request = inbox.next(load_the_rest)
        if isinstance(request, Forget):
            desk.forget(request)
        else:
            send(desk.answer(request, inbox.begin(request.number)))
            answered += 1
            gc.collect(1 if answered % _WHOLE else 2)


if __name__ == "__main__":
    main()
