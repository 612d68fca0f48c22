"""What a worker does with a request: in a process of its own, or, without one, in this."""

from __future__ import annotations

import gc
import os
import sys
import traceback

from excise import CancelFlag, Cancelled, Options, replay
from excise.clustering import DISTANCE, LINKAGE, cluster_values
from excise.text import Revision
from excise_server.editor.analysis import Analysis, Analyst, Comparison, compare
from excise_server.editor.snapshot import Snapshot
from excise_server.foundation.inputs import SourceError, UnansweredError
from excise_server.workers.guard import Guard
from excise_server.workers.messages import (
    Analyse,
    Answer,
    Failed,
    Forget,
    Order,
    Refused,
    Replay,
    Replayed,
    Stopped,
    Survey,
    Surveyed,
    WorkFrame,
    as_bytes,
    as_text,
)
from excise_server.workers.packing import pack

__all__ = ["DEADLINE", "Desk", "load_the_rest", "rehearse", "resident"]

DEADLINE = 30.0
"""CPU seconds after which work takes a shorter way (the library then scores by lines)."""


class Desk:
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
                return self._surveyed(request, cancel)
            if isinstance(request, Replay):
                return self._replayed(request, cancel)
            assert isinstance(request, Analyse)
            return self._analysed(request, cancel)
        except (SourceError, UnansweredError) as error:
            return Refused(request.number, as_bytes(str(error)))
        except Cancelled:
            return Stopped(request.number)
        except Exception:  # noqa: BLE001 told to the parent, which logs it
            return Failed(request.number, as_bytes(traceback.format_exc()))

    def forget(self, request: Forget) -> None:
        """Let go of a document."""
        self._analyst.forget(as_text(request.uri))
        self._sent.pop(request.uri, None)

    def _analysed(self, request: Analyse, cancel: CancelFlag) -> Answer:
        snapshot = self._snapshot(request)
        analysis = self._analyst.analyse(snapshot, cancel)
        number = self._number(request.uri, analysis)
        return pack(analysis, request.number, self._work(), number, whole=number != request.scores)

    def _surveyed(self, request: Survey, cancel: CancelFlag) -> Surveyed:
        from excise_server.workers.surveys import survey

        document = survey(request.kind, request.arguments, cancel)
        return Surveyed(request.number, self._work(), memoryview(document))

    def _replayed(self, request: Replay, cancel: CancelFlag) -> Replayed:
        before, current = as_text(request.before), as_text(request.current)
        texts = []
        for text in request.texts:
            cancel.check()
            texts.append(memoryview(as_bytes(replay(before, current, as_text(text)).text)))
        return Replayed(request.number, self._work(), tuple(texts))

    def _work(self) -> WorkFrame:
        return WorkFrame(resident(), self._guard.parses, self._analyst.pairs)

    def _snapshot(self, request: Analyse) -> Snapshot:
        for number, data in request.texts:
            self._texts[number] = as_text(data)
        texts = self._texts
        revisions = tuple(
            Revision(as_text(r.id), texts[r.text], as_text(r.label)) for r in request.revisions
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
            deleted=frozenset(as_text(r.id) for r in request.revisions if r.deleted),
            intent=as_text(request.intent),
        )
        for number in request.gone:
            self._texts.pop(number, None)
        return snapshot

    def _number(self, uri: bytes, analysis: Analysis) -> int:
        """Return the number of an analysis's scores; a new one where they are new."""
        number, comparison = self._sent.get(uri, (0, None))
        if comparison is not analysis.comparison:
            self._count += 1
            number = self._count
            self._sent[uri] = (number, analysis.comparison)
        return number


def rehearse() -> None:
    """Score something small: numpy and the grammars are loaded with it."""
    revisions = (Revision("1", "x = 1\n"), Revision("2", "x = 2\n"))
    compare(Snapshot("", "x = 0\n", revisions, language="python"))
    # What is loaded now stays: a full collection over it takes 60 to 130 ms each time.
    gc.collect()
    gc.freeze()


def load_the_rest() -> None:
    """Have what only some matrices need loaded: a chain, whose clusters the linkage decides."""
    if "sklearn" not in sys.modules:
        import numpy as np

        cluster_values(np.array([[1, 0.6, 0], [0.6, 1, 0.6], [0, 0.6, 1]]), DISTANCE, LINKAGE)
        gc.collect()
        gc.freeze()


def resident() -> int:
    """Return the bytes of memory that this process has now, or 0 if the system does not say."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
