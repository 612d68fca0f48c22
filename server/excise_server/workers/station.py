"""One worker with its death: asked, buried, replaced, and done without where there is none.

A text that ends its worker while a parser has it is quarantined, and everything goes on without
it. A death at any other place, or by a signal from outside, proves nothing of a text: the work is
done again, and only where that dies as well, without parsers.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable
from typing import TypeVar

from excise import CancelFlag, Cancelled
from excise_server.foundation.cancellation import StopFlag
from excise_server.workers.desk import DEADLINE, Desk
from excise_server.workers.frames import BrokenFrameError
from excise_server.workers.guard import Guard
from excise_server.workers.messages import (
    Answer,
    Failed,
    Forget,
    Order,
    Stopped,
    WorkFrame,
    as_bytes,
)
from excise_server.workers.note import Parsing
from excise_server.workers.process import Died, Worker, WorkerMissingError
from excise_server.workers.quarantine import Quarantine

__all__ = ["LARGEST", "FailedInWorkerError", "Head", "Station"]

logger = logging.getLogger(__name__)

LARGEST = 512 << 20
"""Bytes of a worker's memory from which the next request gets a new one."""

_MOST_DEATHS = 8
"""Deaths over one request after which it is done without parsers."""

_OUTSIDE = {int(s) for s in (signal.SIGTERM, getattr(signal, "SIGKILL", 9), signal.SIGINT)}
"""Signals that say nothing of the text: somebody, or the system, wanted the process gone."""

_TURN = 0.05
"""Seconds between two looks at the flag of who waits for another's work to end."""

Head = tuple[int, bool, tuple[bytes, ...]]
"""How every order begins: its number, whether parsers are kept out, and what is quarantined."""

R = TypeVar("R")


class FailedInWorkerError(Exception):
    """Work failed in a worker; the message is its traceback."""


class Station:
    """One worker at a time; who asks waits for who asked before.

    Parameters
    ----------
    quarantine : Quarantine
        Texts that no parser gets; those that end a worker join them.
    renewed : callable
        Told whenever the next worker knows nothing.
    """

    def __init__(self, quarantine: Quarantine, renewed: Callable[[], None] = lambda: None) -> None:
        """Start nothing yet."""
        self._quarantine, self._renewed = quarantine, renewed
        self._turn = threading.Lock()
        self._worker: Worker | None = None
        self._told: set[bytes] = set()
        self._number = 0
        self._before = self._latest = WorkFrame(0, 0, 0)
        self._here: Desk | None = None
        self._closed = False

    def warm(self) -> None:
        """Start the worker beside us."""
        with self._turn:
            try:
                self._start()
            except WorkerMissingError as error:
                self._stay(error)

    def ask(
        self, order: Callable[[Head], Order], read: Callable[[Answer], R], cancel: StopFlag
    ) -> R:
        """Have an order done, by as many workers as it takes.

        Parameters
        ----------
        order : callable
            The order of a head; it is asked again for each worker.
        read : callable
            What the answer says; it may refuse one that cannot be.

        Raises
        ------
        excise.errors.Cancelled
            When the flag was raised meanwhile.
        FailedInWorkerError
            If the work failed.
        """
        while not self._turn.acquire(timeout=_TURN):
            cancel.check()
        try:
            return self._done(order, read, cancel)
        finally:
            self._turn.release()

    @property
    def work(self) -> WorkFrame:
        """What all workers have done here, as far as they have answered; the memory of the last."""
        before, now = self._before, self._latest
        return WorkFrame(now.rss, before.parses + now.parses, before.pairs + now.pairs)

    def when_free(self, act: Callable[[], None]) -> None:
        """Do something while nobody asks, or nothing if somebody does."""
        if self._turn.acquire(blocking=False):
            try:
                act()
            finally:
                self._turn.release()

    def forget(self, uri: str) -> None:
        """Have the worker let go of a document; for who has the turn."""
        request = Forget(as_bytes(uri))
        if self._here is not None:
            self._here.forget(request)
        elif self._worker is not None:
            self._worker.tell(request)

    def rest(self) -> bool:
        """End a worker that has nothing to do; tell whether it had nothing."""
        if not self._turn.acquire(blocking=False):
            return False
        try:
            self._drop()
        finally:
            self._turn.release()
        return True

    def close(self) -> None:
        """End the worker, whatever it does."""
        self._closed = True
        if (worker := self._worker) is not None:
            worker.kill()

    def _done(
        self, order: Callable[[Head], Order], read: Callable[[Answer], R], cancel: StopFlag
    ) -> R:
        deaths: list[Died] = []
        broken = 0
        while self._here is None:
            cancel.check()
            if self._closed:
                raise Cancelled("the worker was ended on request")
            lexical = _without_parsers(deaths)
            try:
                return self._asked(order, read, cancel, lexical=lexical)
            except Died as death:
                self._drop()
                if death.stopped or self._closed:
                    raise Cancelled("the worker was ended on request") from death
                deaths.append(death)
                self._bury(death, deaths)
                if lexical:
                    raise FailedInWorkerError("a worker died outside any parser") from death
            except BrokenFrameError as error:
                self._drop()
                broken += 1
                logger.warning("a worker wrote what cannot be read: %s", error)
                if broken > 1:
                    self._stay(error)
            except WorkerMissingError as error:
                self._drop()
                if self._closed:
                    raise Cancelled("the worker was ended on request") from error
                self._stay(error)
        return self._at_home(order, read, cancel)

    def _asked(
        self,
        order: Callable[[Head], Order],
        read: Callable[[Answer], R],
        cancel: StopFlag,
        *,
        lexical: bool,
    ) -> R:
        worker = self._start()
        worker.wait_until_ready()
        answer = worker.ask(order(self._head(lexical=lexical)), self._number, cancel)
        return self._read(answer, read)

    def _read(self, answer: Answer, read: Callable[[Answer], R]) -> R:
        self._latest = getattr(answer, "work", self._latest)
        return read(_checked(answer))

    def _head(self, *, lexical: bool) -> Head:
        self._number += 1
        names = tuple(name for name in self._quarantine.names if name not in self._told)
        self._told.update(names)
        return self._number, lexical, names

    def _start(self) -> Worker:
        if self._worker is not None and self._latest.rss > LARGEST:
            self._drop()
        if self._worker is None:
            self._renewed()
            self._told.clear()
            self._before, self._latest = self.work, WorkFrame(0, 0, 0)
            self._worker = Worker()
            if self._closed:  # meanwhile: nobody else will end it
                self._worker.kill()
        return self._worker

    def _drop(self) -> None:
        if (worker := self._worker) is not None:
            self._worker = None
            worker.close()

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
        guard.install()
        self._here = Desk(guard)
        self._told.clear()
        self._renewed()
        logger.warning("no worker process can be used (%s): scoring in this process", error)

    def _at_home(
        self, order: Callable[[Head], Order], read: Callable[[Answer], R], cancel: StopFlag
    ) -> R:
        assert self._here is not None
        flag = CancelFlag(DEADLINE, cpu=True)
        cancel.listen(flag.cancel)
        try:
            answer = self._here.answer(order(self._head(lexical=False)), flag)
        finally:
            cancel.release()
        return self._read(answer, read)


def _checked(answer: Answer) -> Answer:
    """Return an answer that says something."""
    if isinstance(answer, Stopped):
        raise Cancelled("stopped on request")
    if isinstance(answer, Failed):
        raise FailedInWorkerError(answer.reason.decode(errors="replace"))
    return answer


def _without_parsers(deaths: list[Died]) -> bool:
    """Tell whether parsers are to be kept out: who died twice elsewhere, or again and again."""
    elsewhere = sum(death.parsing is None for death in deaths)
    return elsewhere > 1 or len(deaths) > _MOST_DEATHS


def _of(text: Parsing | None) -> str:
    return "" if text is None else f" while it parsed a text as {text.grammar}"
