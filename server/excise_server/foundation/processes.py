"""Processes that end with the one that started them, and signals that wait for their turn."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from excise_server.foundation.linux import GuardError, die_with_parent

__all__ = ["dying_with_parent", "held_signals"]


def dying_with_parent() -> Callable[[], None] | None:
    """Return the ``preexec_fn`` for `Popen` that ties a new process to this thread.

    The kernel kills the process when the thread that started it ends, so wait for it in that
    thread. Only Linux supports this: elsewhere an orphan ends with its work.
    """
    return partial(_die_with, os.getpid()) if sys.platform == "linux" else None


@contextmanager
def held_signals() -> Iterator[Callable[[], bool]]:
    """Hold back INT, TERM and HUP, and yield what tells whether one came.

    It is delivered at the end. Outside of the first thread, where Python hears none, none is held.
    """
    came: list[int] = []
    before = {}
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is None or signal.getsignal(number) in (signal.SIG_IGN, None):
            continue
        try:
            before[number] = signal.signal(number, lambda number, _: came.append(number))
        except ValueError:
            break
    try:
        yield lambda: bool(came)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            os.kill(os.getpid(), came[0])


def _die_with(parent: int) -> None:
    with suppress(GuardError):
        die_with_parent()
    if os.getppid() != parent:  # the parent died before this call
        os._exit(1)
