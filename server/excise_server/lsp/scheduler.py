"""The time for work: after a pause in the changes, in a thread, for the newest snapshot only.

This is the only module with threads for work: one, and possibly another that need not wait for it.
Everything except `work` runs on the loop, so the session needs no lock. A change stops the work
that it makes stale, and a stale result is never delivered.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from excise import Cancelled
from excise_server.processes.lifetime import StopFlag

logger = logging.getLogger(__name__)

DEBOUNCE = 0.15
"""Seconds without changes before work begins."""

S = TypeVar("S")
R = TypeVar("R")


class WorkObserver(Protocol):
    """An observer of work, on the loop. After an interruption, another run follows."""

    def began(self, key: str) -> None: ...  # noqa: D102
    def interrupted(self, key: str) -> None: ...  # noqa: D102
    def ended(self, key: str) -> None: ...  # noqa: D102


@dataclass(slots=True, eq=False)
class _Ticket(Generic[S]):
    """One run of the work on one snapshot."""

    key: str
    snapshot: S
    cancel: StopFlag = field(default_factory=StopFlag)


@dataclass(slots=True, eq=False)
class _DocumentWork(Generic[S]):
    """The state of one document: a pause, a run or neither, and those who wait for it.

    ``is_shown``: whether something of the run can be shown already.
    """

    timer: asyncio.TimerHandle | None = None
    running: _Ticket[S] | None = None
    is_shown: bool = False
    waiting: list[asyncio.Future[None]] = field(default_factory=list)

    @property
    def busy(self) -> bool:
        return self.timer is not None or self.running is not None


@dataclass(slots=True, eq=False)
class _Lane(Generic[S, R]):
    """Work, the one thread that does it, and what that does last."""

    work: Callable[[S, StopFlag], R]
    thread: ThreadPoolExecutor
    last: Future[Any] | None = None


class Scheduler(Generic[S, R]):
    """Runs ``work(snapshot, cancel)`` for the newest snapshot of each document.

    - ``mint``: returns the current snapshot of a key, or None if there is nothing to do. Called on
      the loop.
    - ``work``: returns the result; it may raise once ``cancel.cancelled`` is true. Called in the
      thread.
    - ``deliver``: takes key, snapshot and the result or the exception, unless they are stale.
      Called on the loop.
    - ``delay``: seconds of quiet before work begins.
    - ``watch``: notified when work begins and ends.
    - ``beside``: the same as ``work``, in a second thread, for keys that ``is_first`` rejects.
    - ``is_first``: tells whether a key is for ``work``. Called on the loop.
    """

    def __init__(
        self,
        mint: Callable[[str], S | None],
        work: Callable[[S, StopFlag], R],
        deliver: Callable[[str, S, R | Exception], None],
        delay: float = DEBOUNCE,
        name: str = "excise-worker",
        watch: WorkObserver | None = None,
        beside: Callable[[S, StopFlag], R] | None = None,
        is_first: Callable[[str], bool] = lambda key: True,
    ) -> None:
        """Prepare. A thread starts with its first work, or earlier by `start`."""
        self._mint, self._deliver, self._is_first = mint, deliver, is_first
        works = [work] if beside is None else [work, beside]
        self._lanes = [_Lane(each, ThreadPoolExecutor(1, name)) for each in works]
        self._delay, self._watch = delay, watch
        self._slots: dict[str, _DocumentWork[S]] = {}
        self._closed = False

    def start(self, prepare: Callable[[], None]) -> None:
        """Start the thread with a preparation, before its first work."""

        def run() -> None:
            try:
                prepare()
            except Exception:
                logger.exception("the worker could not prepare itself")

        if not self._closed:
            self._lanes[0].last = self._lanes[0].thread.submit(run)

    def changed(self, key: str) -> None:
        """Note a change: whatever runs for this document is stale, and a new pause begins."""
        slot = self._slots.setdefault(key, _DocumentWork())
        self._interrupt(slot)
        if self._watch is not None:
            self._watch.interrupted(key)
        slot.timer = asyncio.get_running_loop().call_later(self._delay, self._begin, key)

    def hold(self, key: str) -> None:
        """Stop the work on a document, which the caller is about to change, and then reports."""
        if (slot := self._slots.get(key)) is not None:
            self._interrupt(slot)

    def cancel(self, key: str) -> None:
        """Stop the work on a document, and deliver `Cancelled` as its result."""
        slot = self._slots.get(key)
        if slot is not None and (ticket := slot.running) is not None:
            ticket.cancel.cancel()
            self._finish(ticket, Cancelled("stopped on request"))

    def shown(self, key: str, cancel: StopFlag) -> bool:
        """Note that something of a run can be shown, and return whether it is the newest run."""
        slot = self._slots.get(key)
        if slot is None or slot.running is None or slot.running.cancel is not cancel:
            return False
        slot.is_shown = True
        self._wake(slot)
        return True

    async def settled(self, key: str, *, hurry: bool = True, early: bool = False) -> None:
        """Wait until the newest snapshot is delivered, without the pause if there is a hurry.

        With ``early``, only until something of it can be shown.
        """
        slot = self._slots.get(key)
        while slot is not None and slot.busy and not (early and slot.is_shown):
            if hurry and slot.timer is not None:
                slot.timer.cancel()
                self._begin(key)
                continue
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            slot.waiting.append(future)
            await future

    def close(self, timeout: float) -> bool:
        """Stop everything, and return whether the thread has ended within ``timeout`` seconds."""
        self._closed = True
        for slot in self._slots.values():
            self._interrupt(slot)
        for lane in self._lanes:
            lane.thread.shutdown(wait=False, cancel_futures=True)
        running = [lane.last for lane in self._lanes if lane.last is not None]
        return not wait(running, timeout).not_done

    def _interrupt(self, slot: _DocumentWork[S]) -> None:
        if slot.timer is not None:
            slot.timer.cancel()
        if slot.running is not None:
            slot.running.cancel.cancel()
        slot.timer = slot.running = None
        slot.is_shown = False

    def _begin(self, key: str) -> None:
        slot = self._slots[key]
        slot.timer = None
        snapshot = self._mint(key)
        if snapshot is None:
            del self._slots[key]
            self._settle(key, slot)
            return
        if self._watch is not None:
            self._watch.began(key)
        slot.running = ticket = _Ticket(key, snapshot)
        if not self._closed:
            lane = self._lanes[0 if self._is_first(key) else -1]
            lane.last = lane.thread.submit(self._run, lane.work, ticket)
            asyncio.wrap_future(lane.last).add_done_callback(partial(self._done, ticket))

    def _run(self, work: Callable[[S, StopFlag], R], ticket: _Ticket[S]) -> R:
        """Do the work on a snapshot, in the thread, unless it is stale already."""
        ticket.cancel.check()
        return work(ticket.snapshot, ticket.cancel)

    def _done(self, ticket: _Ticket[S], future: asyncio.Future[R]) -> None:
        if not (self._closed or future.cancelled()):
            error = future.exception()
            if error is None or isinstance(error, Exception):
                self._finish(ticket, future.result() if error is None else error)

    def _finish(self, ticket: _Ticket[S], outcome: R | Exception) -> None:
        slot = self._slots.get(ticket.key)
        if slot is None or slot.running is not ticket:
            return  # a newer change has come
        slot.running, slot.is_shown = None, False
        try:
            self._deliver(ticket.key, ticket.snapshot, outcome)
        finally:
            self._settle(ticket.key, slot)

    def _settle(self, key: str, slot: _DocumentWork[S]) -> None:
        if self._watch is not None:
            self._watch.ended(key)
        self._wake(slot)

    @staticmethod
    def _wake(slot: _DocumentWork[S]) -> None:
        for future in slot.waiting:
            if not future.done():
                future.set_result(None)
        slot.waiting.clear()
