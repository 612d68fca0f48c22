"""A command that its input may crash: a fork does all the work, and the parent survives it.

Of a fork that dies by a fatal signal, what a parser had is quarantined, and another one starts
again without it. What it read of a pipe is kept for that, and what it printed is not printed again:
up to the text that ended it, the next one says the same.

POSIX only: elsewhere a command parses in its own process.
"""

from __future__ import annotations

import io
import mmap
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from excise_server.foundation.streams import Output, text_over
from excise_server.processes.parsers import (
    SIZE,
    Guard,
    Note,
    Quarantine,
    cache_folder,
    grammar_of,
    scratch_file,
)

_MOST = 8
"""Forks after which nothing is parsed any more."""

_FATAL = {
    getattr(signal, name)
    for name in ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGFPE", "SIGPROF", "SIGSYS", "SIGTRAP")
    if hasattr(signal, name)
}

_HEARD = {signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
"""Signals that wait until the parent asks for them."""

_WAITS = hasattr(signal, "sigwaitinfo")
"""Whether it can ask who sent one; elsewhere (macOS) it only waits for the fork."""


class _Attempts:
    """What the next fork has to know of those before."""

    def __init__(self) -> None:
        page = mmap.mmap(-1, SIZE + 16)
        self.note = Note(page)
        self.printed = memoryview(page)[SIZE:].cast("Q")
        """Bytes that forks have printed on standard output and error."""
        self.refused: list[bytes] = []
        self.deaths = self.elsewhere = 0
        self.start: int | None = None
        """The position of standard input, if it can seek back to it."""
        self.kept: int | None = None
        """Otherwise a copy of what forks read of it, if there is input and space."""
        try:
            self.start = os.lseek(0, 0, os.SEEK_CUR)
        except OSError:
            with suppress(OSError):
                os.fstat(0)
                self.kept = scratch_file("excise-stdin")

    @property
    def lexical(self) -> bool:
        """Whether parsers are kept out: two died elsewhere, or too many in all."""
        return self.elsewhere > 1 or self.deaths >= _MOST

    def record_death(self) -> None:
        """Keep the text that a fork died of from its parser, here and by the list on disk."""
        self.deaths += 1
        text = self.note.read()
        self.note.end()
        if text is None:
            self.elsewhere += 1
            return
        self.refused.append(text)
        Quarantine(cache_folder()).add(text)
        print(
            f"excise: the parser of {grammar_of(text)} ended the process;"
            " starting again without it",
            file=sys.stderr,
            flush=True,
        )


def outlive() -> None:
    """Fork, and return in the fork, which does the work; the parent ends as that did.

    That is, with its exit code, or by the signal that it died of where no other one outlives it.
    """
    attempts = _Attempts()
    while True:
        given_up = attempts.lexical
        life, death = os.pipe()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD)
        try:
            child = os.fork()
        except OSError as error:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            print(
                f"excise: cannot start a second process ({error.strerror}): continuing in this one",
                file=sys.stderr,
            )
            return
        if child == 0:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            os.close(death)
            _begin(attempts, life)
            return
        os.close(life)
        status, interrupted = _wait(child)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(death)
        if interrupted:
            os._exit(130)  # whatever the fork had done before it heard of that
        if not os.WIFSIGNALED(status):
            os._exit(os.WEXITSTATUS(status))  # it has nothing to take down or to write
        if os.WTERMSIG(status) not in _FATAL or given_up:
            _die(os.WTERMSIG(status))
        attempts.record_death()


def answered(work: Callable[[], bytes]) -> bytes:
    """Do some work in a fork that outlives it, and return its answer. This process parses nothing.

    If there is no answer, the fork has said why: this process ends as that did.
    """
    read, write = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if not child:
        os.close(read)
        outlive()
        answer = memoryview(b"\0" + work())
        while answer:
            answer = answer[os.write(write, answer) :]
        os._exit(0)
    os.close(write)
    try:
        with open(read, "rb") as pipe:
            answer_read = pipe.read()
    except BaseException:
        os.kill(child, signal.SIGTERM)
        raise
    finally:
        _, status = os.waitpid(child, 0)
    if not answer_read:
        if os.WIFSIGNALED(status):
            _die(os.WTERMSIG(status))
        os._exit(os.WEXITSTATUS(status))
    return answer_read[1:]


def _wait(child: int) -> tuple[int, bool]:
    """Wait for a fork; return its status, and whether an interrupt reached us and so the fork.

    A signal sent to us alone is passed on; a terminal sends to both.
    """
    interrupted = False
    while True:
        ended, status = os.waitpid(child, os.WNOHANG if _WAITS else 0)
        if ended:
            return status, interrupted
        heard = signal.sigwaitinfo(_HEARD)
        if heard.si_signo != signal.SIGCHLD and heard.si_pid:
            wanted = signal.getsignal(signal.SIGINT) != signal.SIG_IGN
            interrupted |= wanted and heard.si_signo == signal.SIGINT
            with suppress(ProcessLookupError):
                os.kill(child, heard.si_signo)


def settle() -> None:
    """Tell that the work is done, in the fork: an interrupt comes too late to be told."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _die(number: int) -> NoReturn:
    """End this process by the signal that ended the fork, without a second core file."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with suppress(OSError):  # SIGKILL has no other
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)  # a signal that is blocked


# --- in the fork ---


def _begin(attempts: _Attempts, life: int) -> None:
    """Prepare the fork: it ends with its parent, notes what it parses, and repeats nothing."""

    def follow() -> None:
        """End with the parent, whatever it died of: it held the other end of a pipe."""
        with suppress(OSError):
            os.read(life, 1)
        os._exit(1)

    threading.Thread(target=follow, name="excise-parent", daemon=True).start()
    guard = Guard(attempts.note, limited=True)
    guard.refuse((*Quarantine(cache_folder()).names, *attempts.refused))
    guard.everything = attempts.lexical
    guard.install()
    if attempts.start is not None:
        os.lseek(0, attempts.start, os.SEEK_SET)
    elif attempts.kept is not None and isinstance(sys.stdin, io.TextIOWrapper):
        os.lseek(attempts.kept, 0, os.SEEK_SET)
        sys.stdin = text_over(io.BufferedReader(_ReplayedInput(attempts.kept)), sys.stdin)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout = text_over(io.BufferedWriter(_Printed(1, attempts.printed)), sys.stdout)
    # On a terminal a progress bar says another thing each time.
    if isinstance(sys.stderr, io.TextIOWrapper) and not os.isatty(2):
        sys.stderr = text_over(io.BufferedWriter(_Printed(2, attempts.printed)), sys.stderr)


class _ReplayedInput(io.FileIO):
    """Standard input that cannot be read twice: what an earlier fork has read of it comes first."""

    def __init__(self, kept: int) -> None:
        super().__init__(0, closefd=False)
        self._kept = kept

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - a writable buffer
        view = memoryview(buffer).cast("B")
        data = os.read(self._kept, len(view))
        if not data and (data := os.read(0, len(view))):
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._kept, rest) :]
        view[: len(data)] = data
        return len(data)

    # Those of FileIO itself do not ask `readinto`.
    read, readall = io.RawIOBase.read, io.RawIOBase.readall  # type: ignore[assignment]


class _Printed(Output):
    """Standard output or error, without what an earlier fork has printed there."""

    def __init__(self, stream: int, printed: memoryview) -> None:
        super().__init__(stream)
        self._printed, self._before = printed, printed[stream - 1]

    def write(self, data: Any) -> int:  # noqa: ANN401 - a buffer
        if self._before:
            skipped = min(self._before, memoryview(data).nbytes)
            self._before -= skipped
            return skipped
        count = super().write(data)
        self._printed[self.fileno() - 1] += count
        return count
