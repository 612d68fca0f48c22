"""The workers of a program: who analyses what, and what happens when one dies.

A text that ends its worker while a parser has it is quarantined, and everything goes on without
it. A death at any other place, or by a signal from outside, proves nothing of a text: the work is
done again, and only where that dies as well, without parsers.
"""

from __future__ import annotations

import logging
import signal
from dataclasses import replace

from excise import CancelFlag, Cancelled
from excise_server.cancellation import StopFlag
from excise_server.editor.analysis import Analysis
from excise_server.editor.snapshot import Snapshot
from excise_server.workers.desk import DEADLINE, Desk
from excise_server.workers.frames import BrokenFrameError
from excise_server.workers.guard import Guard
from excise_server.workers.messages import (
    Analyse,
    Failed,
    Forget,
    RevisionFrame,
    Scored,
    Stopped,
    WorkFrame,
    as_bytes,
)
from excise_server.workers.note import Parsing
from excise_server.workers.process import Died, Worker, WorkerMissingError
from excise_server.workers.quarantine import Quarantine
from excise_server.workers.unpacking import Known, unpack

__all__ = ["LARGEST", "Analyser", "FailedInWorkerError"]

logger = logging.getLogger(__name__)

LARGEST = 512 << 20
"""Bytes of a worker's memory from which the next request gets a new one."""

_MOST_DEATHS = 8
"""Deaths over one snapshot after which it is done without parsers."""

_OUTSIDE = {int(s) for s in (signal.SIGTERM, getattr(signal, "SIGKILL", 9), signal.SIGINT)}
"""Signals that say nothing of the text: somebody, or the system, wanted the process gone."""


class FailedInWorkerError(Exception):
    """Work failed in a worker; the message is its traceback."""


class _Texts:
    """Numbers of the texts that a worker knows."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._count = 0
        self._used: dict[str, tuple[str, ...]] = {}

    def take(self, uri: str, texts: tuple[str, ...]) -> tuple[tuple[int, bytes], ...]:
        """Number the texts of a document; return those that the worker does not know."""
        fresh = []
        for text in dict.fromkeys(texts):
            if text not in self._numbers:
                self._count += 1
                self._numbers[text] = self._count
                fresh.append((self._count, as_bytes(text)))
        self._used[uri] = texts
        return tuple(fresh)

    def number(self, text: str) -> int:
        return self._numbers[text]

    def unused(self) -> tuple[int, ...]:
        """Forget the texts that no document has any more; return their numbers."""
        used = {text for texts in self._used.values() for text in texts}
        gone = [text for text in self._numbers if text not in used]
        return tuple(self._numbers.pop(text) for text in gone)

    def forget(self, uri: str) -> None:
        self._used.pop(uri, None)


class Analyser:
    """Analyses snapshots, in a worker as long as there can be one; used by one thread.

    Parameters
    ----------
    quarantine : Quarantine
        Texts that no parser gets; those that end a worker join them.
    """

    def __init__(self, quarantine: Quarantine) -> None:
        """Start nothing yet."""
        self._quarantine = quarantine
        self._worker: Worker | None = None
        self._texts = _Texts()
        self._known: dict[str, Known] = {}
        self._told: set[bytes] = set()
        self._number = 0
        self._rss = 0
        self._before = self._done = WorkFrame(0, 0, 0)
        self._here: Desk | None = None
        self._closed = False
        self._said = False

    def warm(self) -> None:
        """Start the worker beside us."""
        try:
            self._start()
        except WorkerMissingError as error:
            self._stay(error)

    def analyse(self, snapshot: Snapshot, cancel: StopFlag) -> Analysis:
        """Return all that is known of a snapshot.

        Raises
        ------
        excise.errors.Cancelled
            When the flag was raised meanwhile.
        FailedInWorkerError
            If the work failed.
        """
        if not snapshot.revisions:
            return self._bare(snapshot, cancel)
        return self._whole(snapshot, cancel)

    def _bare(self, snapshot: Snapshot, cancel: StopFlag) -> Analysis:
        """Analyse what has no revisions by its first line: all that an analyst would look at."""
        first, _, _ = snapshot.origin.partition("\n")
        analysis = self._whole(replace(snapshot, origin=first, buffer=None), cancel)
        return replace(analysis, snapshot=snapshot)

    def _whole(self, snapshot: Snapshot, cancel: StopFlag) -> Analysis:
        deaths: list[Died] = []
        broken = 0
        while self._here is None:
            cancel.check()
            lexical = _without_parsers(deaths)
            try:
                return self._asked(snapshot, cancel, lexical=lexical)
            except Died as death:
                self._drop()
                if death.stopped or self._closed:
                    raise Cancelled("the worker was ended on request") from death
                deaths.append(death)
                self._bury(death, deaths)
                if lexical:
                    raise FailedInWorkerError("the worker died without any parser") from death
            except BrokenFrameError as error:
                self._drop()
                broken += 1
                if broken > 1:
                    self._stay(error)
                logger.warning("a worker wrote what cannot be read: %s", error)
            except WorkerMissingError as error:
                self._drop()
                self._stay(error)
        return self._at_home(snapshot, cancel)

    @property
    def work(self) -> WorkFrame:
        """What was done, by all workers: as far as they have answered."""
        before, now = self._before, self._done
        return WorkFrame(now.rss, before.parses + now.parses, before.pairs + now.pairs)

    def forget(self, uri: str) -> None:
        """Let go of a document."""
        self._known.pop(uri, None)
        self._texts.forget(uri)
        request = Forget(as_bytes(uri))
        if self._here is not None:
            self._here.forget(request)
        elif self._worker is not None:
            self._worker.tell(request)

    def close(self) -> None:
        """End the worker, whatever it does."""
        self._closed = True
        if (worker := self._worker) is not None:
            worker.kill()

    def _start(self) -> Worker:
        if self._worker is not None and self._rss > LARGEST:
            self._drop()
        if self._worker is None:
            self._worker = Worker()
            self._texts, self._known, self._told, self._rss = _Texts(), {}, set(), 0
            self._before, self._done = self.work, WorkFrame(0, 0, 0)
        return self._worker

    def _drop(self) -> None:
        if (worker := self._worker) is not None:
            self._worker = None
            worker.close()

    def _asked(self, snapshot: Snapshot, cancel: StopFlag, *, lexical: bool) -> Analysis:
        worker = self._start()
        worker.wait_until_ready()
        request = self._request(snapshot, lexical=lexical)
        answer = worker.ask(request, request.number, cancel)
        return self._read(snapshot, answer)

    def _request(self, snapshot: Snapshot, *, lexical: bool) -> Analyse:
        self._number += 1
        uri, buffer = snapshot.uri_or_path, snapshot.buffer
        texts = (snapshot.origin, *(r.text for r in snapshot.revisions))
        fresh = self._texts.take(uri, (*texts, *(() if buffer is None else (buffer,))))
        names = tuple(name for name in self._quarantine.names if name not in self._told)
        self._told.update(names)
        known, number = self._known.get(uri), self._texts.number
        options = snapshot.options
        return Analyse(
            number=self._number,
            uri=as_bytes(uri),
            origin=number(snapshot.origin),
            revisions=tuple(
                RevisionFrame(
                    as_bytes(r.id), as_bytes(r.label), number(r.text), r.id in snapshot.deleted
                )
                for r in snapshot.revisions
            ),
            language=None if snapshot.language is None else as_bytes(snapshot.language),
            path=None if snapshot.path is None else as_bytes(snapshot.path),
            options=(
                options.granularity, options.lcs, options.deletion, options.comments, options.place
            ),
            buffer=None if buffer is None else number(buffer),
            own=snapshot.own,
            version=snapshot.version,
            scores=known.number if known is not None else 0,
            lexical=lexical,
            texts=fresh,
            gone=self._texts.unused(),
            quarantined=names,
        )  # fmt: skip

    def _read(self, snapshot: Snapshot, answer: Scored | Failed | Stopped) -> Analysis:
        if isinstance(answer, Stopped):
            raise Cancelled("stopped on request")
        if isinstance(answer, Failed):
            raise FailedInWorkerError(answer.reason.decode(errors="replace"))
        uri = snapshot.uri_or_path
        self._rss = answer.work.rss
        self._done = answer.work
        analysis, self._known[uri] = unpack(snapshot, answer, self._known.get(uri))
        return analysis

    def _bury(self, death: Died, deaths: list[Died]) -> None:
        """Quarantine the text that a worker died of, if one is to blame."""
        text = death.parsing
        before = [other.parsing for other in deaths[:-1]]
        logger.warning("a worker died (%s)%s", death, _of(text))
        if text is not None and (death.signal not in _OUTSIDE or text in before):
            self._quarantine.add(text)

    def _stay(self, error: Exception) -> None:
        """Work in this process from now on."""
        guard = Guard()
        guard.refuse(self._quarantine.names)
        guard.install()
        self._here = Desk(guard)
        self._known.clear()
        self._texts = _Texts()
        logger.warning("no worker process can be used (%s): scoring in this process", error)

    def _at_home(self, snapshot: Snapshot, cancel: StopFlag) -> Analysis:
        assert self._here is not None
        flag = CancelFlag(DEADLINE, cpu=True)
        cancel.listen(flag.cancel)
        try:
            answer = self._here.answer(self._request(snapshot, lexical=False), flag)
        finally:
            cancel.release()
        assert isinstance(answer, Scored | Failed | Stopped)
        return self._read(snapshot, answer)


def _without_parsers(deaths: list[Died]) -> bool:
    """Tell whether parsers are to be kept out: who died twice elsewhere, or again and again."""
    elsewhere = sum(death.parsing is None for death in deaths)
    return elsewhere > 1 or len(deaths) > _MOST_DEATHS


def _of(text: Parsing | None) -> str:
    return "" if text is None else f" while it parsed a text as {text.grammar}"
