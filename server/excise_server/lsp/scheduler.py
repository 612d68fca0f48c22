"""The time for work: after a pause in the changes, in a thread, for the newest snapshot only.

This is the only module with threads for work: one, and possibly another that need not wait for it.
Everything except `work` runs on the loop, so the session needs no lock. A change stops the work
that it makes stale, and a stale result is never delivered.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Generic, Protocol, TypeVar

from excise import Cancelled
from excise_server.foundation.cancellation import StopFlag

__all__ = ["DEBOUNCE", "Scheduler", "Watch"]

logger = logging.getLogger(__name__)

DEBOUNCE = 0.15
"""Seconds without changes before work begins."""

S = TypeVar("S")
R = TypeVar("R")


class Watch(Protocol):
    """An observer of work, on the loop. After an interruption, another run follows."""

    def began(self, key: str) -> None: ...  # noqa: D102
    def interrupted(self, key: str) -> None: ...  # noqa: D102
    def ended(self, key: str) -> None: ...  # noqa: D102


@dataclass(slots=True, eq=False)
class _Ticket(Generic[S]):
    """One run of the work on one snapshot."""

    key: str
    snapshot: S
    loop: asyncio.AbstractEventLoop
    cancel: StopFlag = field(default_factory=StopFlag)

    def interrupt(self) -> None:
        """Stop the work, now or before it begins."""
        self.cancel.cancel()


@dataclass(slots=True, eq=False)
class _Slot(Generic[S]):
    """The state of one document: a pause, a run, or neither, and those who wait for it."""

    timer: asyncio.TimerHandle | None = None
    running: _Ticket[S] | None = None
    waiting: list[asyncio.Future[None]] = field(default_factory=list)

    @property
    def busy(self) -> bool:
        return self.timer is not None or self.running is not None


@dataclass(slots=True, eq=False)
class _Lane(Generic[S, R]):
    """Work, the thread that does it, and what waits for that."""

    work: Callable[[S, StopFlag], R]
    queue: SimpleQueue[_Ticket[S] | None] = field(default_factory=SimpleQueue)
    thread: threading.Thread | None = None


class Scheduler(Generic[S, R]):
    """Runs ``work(snapshot, cancel)`` for the newest snapshot of each document.

    Parameters
    ----------
    mint : callable
        Returns the current snapshot of a key, or None if there is nothing to do. Called on the
        loop.
    work : callable
        Returns the result; it may raise once ``cancel.cancelled`` is true. Called in the thread.
    deliver : callable
        Takes key, snapshot and the result or the exception, unless they are stale. Called on the
        loop.
    delay : float
        Seconds of quiet before work begins.
    name : str
        The thread's name.
    watch : Watch, optional
        Notified when work begins and ends.
    beside : callable, optional
        The same as ``work``, in a second thread, for keys that ``is_first`` rejects.
    is_first : callable
        Tells whether a key is for ``work``. Called on the loop.
    """

    def __init__(
        self,
        mint: Callable[[str], S | None],
        work: Callable[[S, StopFlag], R],
        deliver: Callable[[str, S, R | Exception], None],
        delay: float = DEBOUNCE,
        name: str = "excise-worker",
        watch: Watch | None = None,
        beside: Callable[[S, StopFlag], R] | None = None,
        is_first: Callable[[str], bool] = lambda key: True,
    ) -> None:
        """Prepare. A thread starts with its first work, or earlier by `start`."""
        self._mint, self._deliver, self._is_first = mint, deliver, is_first
        self._lanes = [_Lane(work)] if beside is None else [_Lane(work), _Lane(beside)]
        self._delay, self._name, self._watch = delay, name, watch
        self._slots: dict[str, _Slot[S]] = {}
        self._closed = False

    def start(self, prepare: Callable[[], None] = lambda: None) -> None:
        """Start the thread, unless it runs already, with a preparation before its first work."""
        self._start(self._lanes[0], prepare)

    def _start(self, lane: _Lane[S, R], prepare: Callable[[], None] = lambda: None) -> None:
        if lane.thread is None and not self._closed:
            lane.thread = threading.Thread(
                target=self._run, args=(lane, prepare), name=self._name, daemon=True
            )
            lane.thread.start()

    def changed(self, key: str) -> None:
        """Note a change: whatever runs for this document is stale, and a new pause begins."""
        slot = self._slots.setdefault(key, _Slot())
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
            ticket.interrupt()
            self._finish(ticket, Cancelled("stopped on request"))

    def is_busy(self, key: str) -> bool:
        """Tell whether a newer result is to come."""
        return key in self._slots and self._slots[key].busy

    async def settled(self, key: str, *, hurry: bool = True) -> None:
        """Wait until the newest snapshot is delivered, without the pause if there is a hurry."""
        slot = self._slots.get(key)
        while slot is not None and slot.busy:
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
        threads = [lane.thread for lane in self._lanes if lane.thread is not None]
        for lane in self._lanes:
            lane.queue.put(None)
        for thread in threads:
            thread.join(timeout)
        return not any(thread.is_alive() for thread in threads)

    def _interrupt(self, slot: _Slot[S]) -> None:
        if slot.timer is not None:
            slot.timer.cancel()
        if slot.running is not None:
            slot.running.interrupt()
        slot.timer = slot.running = None

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
        slot.running = _Ticket(key, snapshot, asyncio.get_running_loop())
        lane = self._lanes[0 if self._is_first(key) else -1]
        lane.queue.put(slot.running)
        self._start(lane)

    def _finish(self, ticket: _Ticket[S], outcome: R | Exception) -> None:
        slot = self._slots.get(ticket.key)
        if slot is None or slot.running is not ticket:
            return  # a newer change has come
        slot.running = None
        try:
            self._deliver(ticket.key, ticket.snapshot, outcome)
        finally:
            self._settle(ticket.key, slot)

    def _settle(self, key: str, slot: _Slot[S]) -> None:
        if self._watch is not None:
            self._watch.ended(key)
        for future in slot.waiting:
            if not future.done():
                future.set_result(None)
        slot.waiting.clear()

    def _run(self, lane: _Lane[S, R], prepare: Callable[[], None]) -> None:
        """Work off tickets, in a thread."""
        try:
            prepare()
        except Exception:
            logger.exception("the worker could not prepare itself")
        while (ticket := lane.queue.get()) is not None and not self._closed:
            if ticket.cancel.cancelled:
                continue
            outcome: R | Exception
            try:
                outcome = lane.work(ticket.snapshot, ticket.cancel)
            except Exception as error:  # noqa: BLE001 delivered to the loop, which logs it
                outcome = error
            if self._closed:
                return
            try:
                ticket.loop.call_soon_threadsafe(self._finish, ticket, outcome)
            except RuntimeError:
                return  # the loop has ended: nobody waits for this
