"""When a process ends: with its starter, in time, at a signal, or when it is asked to."""

from __future__ import annotations

import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import Any

from excise import CancelFlag

_PR_SET_PDEATHSIG = 1
_libc: Any = ctypes.CDLL(None) if sys.platform == "linux" else None


def start_tied(line: Sequence[str], **settings: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401
    """Start a program that the kernel kills when the thread that starts it ends: wait for it there.

    Only Linux supports this: elsewhere an orphan ends with its work. `setpriv` asks for it where
    the system has that: a ``preexec_fn`` copies this process first, which at 115 MB costs six times
    what git does to print its version. (If the thread ends in the millisecond before `setpriv` has
    asked, the program ends with its work, too.)
    """
    if words := _setpriv():
        return subprocess.Popen([*words, *line], **settings)  # noqa: S603 - the caller's program
    return subprocess.Popen(line, preexec_fn=dying_with_parent(), **settings)  # noqa: S603


@cache
def _setpriv() -> tuple[str, ...]:
    """Return the words before a program that tie it to its starter, if the system has them."""
    program = shutil.which("setpriv", path="/usr/bin:/bin") if sys.platform == "linux" else None
    if program is None:
        return ()
    words = (program, "--pdeathsig", "KILL", "--")
    # That of BusyBox cannot do this.
    tried = subprocess.run([*words, program, "-V"], capture_output=True, check=False)  # noqa: S603
    return () if tried.returncode else words


def dying_with_parent() -> Callable[[], None] | None:
    """Return what ties a fork to this thread, as `start_tied` does a program; only for Linux."""
    return partial(_die_with, os.getpid()) if sys.platform == "linux" else None


def wait_for_end(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait for the end of a process; return whether it has ended.

    `Popen.wait` would look again and again, with pauses of up to 50 ms.
    """
    if process.poll() is not None:
        return True
    try:
        handle = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # not Linux, or an old one, or no descriptor is left
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        return process.returncode is not None
    try:
        ended = select.poll()
        ended.register(handle, select.POLLIN)
        ended.poll(max(0.0, seconds) * 1000)
    finally:
        os.close(handle)
    return process.poll() is not None


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
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # the parent died before this call
        os._exit(1)


class StopFlag(CancelFlag):
    """A flag that also calls a function once when it is raised, for work in other processes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listener: Callable[[], None] | None = None

    def cancel(self) -> None:
        """Raise the flag, and tell."""
        with self._lock:
            super().cancel()
            listener, self._listener = self._listener, None
        if listener is not None:
            listener()

    def listen(self, listener: Callable[[], None]) -> None:
        """Call this when the flag is raised, at once if it has been."""
        with self._lock:
            raised = self.cancelled
            if not raised:
                self._listener = listener
        if raised:
            listener()

    def release(self) -> None:
        """Stop calling the function."""
        with self._lock:
            self._listener = None
