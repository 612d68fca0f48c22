"""``python -I -m excise_server.workers.child``: a worker, at the other end of two pipes.

One thread reads requests, so that a cancel is heard while the main thread works; where the stream
ends, the parent has gone, and so does this process. Where none can be started, the parent has a
`Service` of its own.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import traceback
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import NoReturn

from excise import CancelFlag, Cancelled, Options
from excise.clustering import DISTANCE, LINKAGE, cluster_values
from excise.text import Revision
from excise_server.editor.analysis import Analyst, Comparison, compare
from excise_server.editor.snapshot import Snapshot
from excise_server.foundation.inputs import SourceError, UnansweredError
from excise_server.workers.guard import Guard, limit_memory, shared_page
from excise_server.workers.messages import (
    Analyse,
    Answer,
    Cancel,
    Failed,
    Forget,
    Opened,
    Order,
    Request,
    Survey,
    Surveyed,
    WorkFrame,
    as_bytes,
    as_text,
    read_messages,
    write_message,
)
from excise_server.workers.scored import pack

__all__ = ["DEADLINE", "Service", "main", "rehearse"]

DEADLINE = 30.0
"""CPU seconds after which work takes a shorter way (the library then scores by lines)."""

_SWITCH = 0.0005
"""Seconds after which the reading thread gets the interpreter: a cancel waits for that."""

_IDLE = 3.0
"""Seconds without a request after which a worker loads what only some requests need."""

_WHOLE = 32
"""Requests after which everything is looked through for cycles, and not only what is new."""


class Service:
    """Keeps texts, matrices and trees between requests.

    Parameters
    ----------
    guard : Guard
        What stands before the parsers of this process.
    """

    def __init__(self, guard: Guard) -> None:
        """Know nothing yet."""
        self._guard = guard
        self._analyst = Analyst()
        self._texts: dict[int, str] = {}
        self._sent: dict[bytes, tuple[int, Comparison]] = {}
        self._count = 0

    def answer(self, request: Order, cancel: CancelFlag) -> Answer:
        """Do what was asked for; whatever goes wrong is an answer."""
        self._guard.refuse(request.quarantined)
        self._guard.everything = request.lexical
        try:
            if isinstance(request, Survey):
                from excise_server.workers.surveys import survey

                document = memoryview(survey(request.kind, request.arguments, cancel))
                return Surveyed(request.number, self._work(), document)
            assert isinstance(request, Analyse)
            analysis = self._analyst.analyse(self._snapshot(request), cancel)
            number, comparison = self._sent.get(request.uri, (0, None))
            if comparison is not analysis.comparison:
                self._count += 1
                number = self._count
                self._sent[request.uri] = (number, analysis.comparison)
            whole = number != request.scores
            return pack(analysis, request.number, self._work(), number, whole=whole)
        except (SourceError, UnansweredError) as error:
            return Failed(request.number, "refused", as_bytes(str(error)))
        except Cancelled:
            return Failed(request.number, "stopped")
        except Exception:  # noqa: BLE001 told to the parent, which logs it
            return Failed(request.number, "broken", as_bytes(traceback.format_exc()))

    def forget(self, request: Forget) -> None:
        """Let go of a document."""
        self._analyst.forget(as_text(request.uri))
        self._sent.pop(request.uri, None)

    def _work(self) -> WorkFrame:
        return WorkFrame(_resident(), self._guard.parses, self._analyst.pairs)

    def _snapshot(self, request: Analyse) -> Snapshot:
        for number, data in request.texts:
            self._texts[number] = as_text(data)
        texts = self._texts
        revisions = tuple(
            Revision(as_text(name), texts[text], as_text(label))
            for name, label, text, _ in request.revisions
        )
        buffer = None if request.buffer is None else texts[request.buffer]
        if buffer is not None and request.own is None:
            buffer = buffer[:1] + buffer[1:]  # a snapshot knows its own revision by identity
        snapshot = Snapshot(
            uri_or_path=as_text(request.uri),
            origin=texts[request.origin],
            revisions=revisions,
            language=None if request.language is None else as_text(request.language),
            path=None if request.path is None else as_text(request.path),
            options=Options(*request.options),
            buffer=buffer,
            version=request.version,
            deleted=frozenset(as_text(name) for name, _, _, gone in request.revisions if gone),
            intent=as_text(request.intent),
        )
        for number in request.gone:
            self._texts.pop(number, None)
        return snapshot


def rehearse() -> None:
    """Score something small: numpy and the grammars are loaded with it."""
    revisions = (Revision("1", "x = 1\n"), Revision("2", "x = 2\n"))
    compare(Snapshot("", "x = 0\n", revisions, language="python"))
    # What is loaded now stays: a full collection over it takes 60 to 130 ms each time.
    gc.collect()
    gc.freeze()


def _load_the_rest() -> None:
    """Have what only some matrices need loaded: a chain, whose clusters the linkage decides."""
    if "sklearn" not in sys.modules:
        import numpy as np

        cluster_values(np.array([[1, 0.6, 0], [0.6, 1, 0.6], [0, 0.6, 1]]), DISTANCE, LINKAGE)
        gc.collect()
        gc.freeze()


def _resident() -> int:
    """Return the bytes of memory that this process has now, or 0 if the system does not say."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


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
        try:
            for request in read_messages(self._source, Request):
                self._take(request)
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

    def send(answer: Answer) -> None:
        try:
            write_message(sink, answer)
        except BrokenPipeError:
            os._exit(0)  # the parent has gone, which the reading thread may not have seen yet

    send(Opened())
    service = Service(guard)
    # Collections in the middle of an answer take half of its time: trees are many objects, and in
    # no cycle. They wait until it is sent.
    gc.disable()
    answered = 0
    while True:
        request = inbox.next(_load_the_rest)
        if isinstance(request, Forget):
            service.forget(request)
        else:
            send(service.answer(request, inbox.begin(request.number)))
            answered += 1
            gc.collect(1 if answered % _WHOLE else 2)


if __name__ == "__main__":
    main()
