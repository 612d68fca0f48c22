"""Processes that end with the one that started them, however that ends."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from functools import cache, partial

__all__ = ["dying_with_parent"]

_PR_SET_PDEATHSIG = 1


def dying_with_parent() -> Callable[[], None] | None:
    """Return the ``preexec_fn`` for `Popen` that ties a new process to this thread.

    The kernel kills the process when the thread that started it ends, so wait for it in that
    thread. Only Linux supports this: elsewhere an orphan ends with its work.
    """
    prctl = _prctl()
    return None if prctl is None else partial(_set_death_signal, prctl, os.getpid())


@cache
def _prctl() -> Callable[..., int] | None:
    if sys.platform != "linux":
        return None
    # PyDLL keeps the interpreter's lock, which no other thread could return after a fork.
    library = ctypes.PyDLL(None)
    return library.prctl if hasattr(library, "prctl") else None


def _set_death_signal(prctl: Callable[..., int], parent: int) -> None:
    prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # the parent died before this call
        os._exit(1)
