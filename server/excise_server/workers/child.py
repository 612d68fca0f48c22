"""``python -I -m excise_server.workers.child``: a worker, at the other end of two pipes.

Where none can be started, the parent has a `Service` of its own.
"""

from __future__ import annotations

import gc
import os
import sys
import traceback
from collections.abc import Callable
from typing import NoReturn

from excise import CancelFlag, Cancelled, Options
from excise.clustering import DISTANCE, LINKAGE, cluster_values
from excise.replay import Replayer
from excise.text import Revision
from excise_server.editor.analysis import Analyst, RevisionComparison, Snapshot, compare
from excise_server.foundation.inputs import SourceError, UnansweredError
from excise_server.processes.parsers import Guard, limit_memory, shared_page
from excise_server.processes.worker import Inbox
from excise_server.wire import worker as w
from excise_server.workers.scored import pack

_SWITCH = 0.0005
"""Seconds after which the reading thread gets the interpreter: a cancel waits for that."""

_SOON, _LATE = 32, 512
"""Requests after which what is new, and all there is, is searched for cycles if nobody stops."""

EARLY = 16
"""Revisions from which the hunks of an analysis are sent before its scores, which take longer."""


class Service:
    """Keeps texts, matrices and trees between requests.

    - ``guard``: guards the parsers of this process.
    """

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._analyst = Analyst()
        self._texts: dict[int, str] = {}
        self._sent: dict[bytes, tuple[int, RevisionComparison]] = {}
        self._reports: dict[str, tuple[bytes, bytes]] = {}
        self._count = 0

    def answer(
        self, request: w.Order, cancel: CancelFlag, send: Callable[[w.Answer], object]
    ) -> w.Answer:
        """Do what was asked for; whatever goes wrong is an answer. Marks are sent before."""
        self._guard.refuse(request.quarantined)
        self._guard.everything = request.lexical
        try:
            if isinstance(request, w.Survey):
                from excise_server.workers.surveys import survey

                # What is said without parsers does not stand for what they would say.
                reports = {} if request.lexical else self._reports
                report = survey(request.kind, request.arguments, cancel, reports)
                return w.Surveyed(request.number, self._work(), memoryview(report))
            if isinstance(request, w.Replay):
                replayer = Replayer(request.before, request.current, cancel=cancel)
                replayed = tuple(replayer.replay(text).text for text in request.texts)
                return w.ReplayedTexts(request.number, self._work(), replayed)
            assert isinstance(request, w.Analyse)
            for number, data in request.texts:
                self._texts[number] = w.as_text(data)
            texts = self._texts
            revisions = tuple(
                Revision(w.as_text(name), texts[text], w.as_text(label))
                for name, label, text, _ in request.revisions
            )
            buffer = None if request.buffer is None else texts[request.buffer]
            if buffer is not None and request.own is None:
                buffer = buffer[:1] + buffer[1:]  # a snapshot knows its own revision by identity
            snapshot = Snapshot(
                uri_or_path=w.as_text(request.uri),
                origin=texts[request.origin],
                revisions=revisions,
                language=None if request.language is None else w.as_text(request.language),
                path=None if request.path is None else w.as_text(request.path),
                options=Options(*request.options),
                buffer=buffer,
                version=request.version,
                deleted=frozenset(
                    w.as_text(name) for name, _, _, gone in request.revisions if gone
                ),
                intent=w.as_text(request.intent),
            )
            for number in request.gone:
                self._texts.pop(number, None)

            def early(found: w.EarlyHunks) -> None:
                if len(snapshot.revisions) >= EARLY:
                    send(w.Marked(request.number, found))

            analysis = self._analyst.analyse(snapshot, cancel, early)
            number, comparison = self._sent.get(request.uri, (0, None))
            if comparison is not analysis.comparison:
                self._count += 1
                number = self._count
                self._sent[request.uri] = (number, analysis.comparison)
            whole = number != request.scores
            return pack(analysis, request.number, self._work(), number, whole=whole)
        except (SourceError, UnansweredError) as error:
            return w.Failed(request.number, "refused", w.as_bytes(str(error)))
        except Cancelled:
            return w.Failed(request.number, "stopped")
        except Exception:  # noqa: BLE001 told to the parent, which logs it
            return w.Failed(request.number, "broken", w.as_bytes(traceback.format_exc()))

    def forget(self, request: w.Forget) -> None:
        """Forget a document."""
        self._analyst.forget(w.as_text(request.uri))
        self._sent.pop(request.uri, None)

    def _work(self) -> w.WorkFrame:
        return w.WorkFrame(_resident(), self._guard.parses, self._analyst.pairs)


def rehearse() -> None:
    """Score something small: numpy and the grammars are loaded with it."""
    revisions = (Revision("1", "x = 1\n"), Revision("2", "x = 2\n"))
    compare(Snapshot("", "x = 0\n", revisions, language="python"))
    # What is loaded now stays: a full collection over it takes 60 to 130 ms each time.
    gc.collect()
    gc.freeze()


def _while_idle() -> None:
    """Load what only some matrices need: a chain, whose clusters the linkage decides.

    And look through what is new for cycles: over the trees of 64 revisions that takes 0.5 s.
    """
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


def main() -> NoReturn:
    """Serve one parent until it closes the stream, or asks for nothing for a while.

    The arguments are the descriptor of the shared page, or -1, and those seconds (0: no limit).
    """
    source, sink = os.dup(0), os.dup(1)
    os.dup2(2, 1)  # a stray line of some C library must not end up in a frame
    sys.setswitchinterval(_SWITCH)
    limit_memory()
    page, most = int(sys.argv[1]), float(sys.argv[2])
    note = None if page < 0 else shared_page(page)[0]
    guard = Guard(note, limited=True)
    inbox = Inbox(source)
    guard.install()
    rehearse()

    def send(answer: w.Answer) -> None:
        try:
            w.write_message(sink, answer)
        except BrokenPipeError:
            os._exit(0)  # the parent has ended, which the reading thread may not have noticed yet

    send(w.Opened())
    service = Service(guard)
    # Collections take half of an answer's time, and those behind it would delay the next one: trees
    # are many objects, and few are in a cycle. They wait until nobody asks, or for many answers.
    gc.disable()
    answered = 0
    while True:
        request = inbox.next(_while_idle, most or None)
        if isinstance(request, w.Forget):
            service.forget(request)
            gc.unfreeze()
        else:
            send(service.answer(request, inbox.begin(request.number), send))
            answered += 1
            if not answered % _SOON:
                gc.collect(1 if answered % _LATE else 2)


if __name__ == "__main__":
    main()
