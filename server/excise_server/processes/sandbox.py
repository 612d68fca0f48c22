"""Running the tests of an item against a hypothesis: untrusted code, so behind many guards.

A `Sandbox` holds one warm interpreter that runs no untrusted code (`jail`), from which
every run is forked: into its own namespaces, with only the interpreter's files, read-only, with
limits, without privileges, and with the few system calls that computing needs. If a guard is not
available, the run is refused and the guard named.

The guards protect the machine, not the verdict: the tests run in the process of the hypothesis, as
in HumanEval, and code that deliberately subverts Python can forge their verdict. A hypothesis that
exits early, prints or writes a verdict, or never returns has not passed.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from excise_server.foundation.inputs import SourceError
from excise_server.processes.lifetime import isolated

MEMORY = 2_000_000_000
"""Bytes of address space of a run."""

_START = 30.0
"""Seconds for the template to start, or to fork, neither of which runs untrusted code."""

_GRACE = 0.4
"""Seconds after the time limit in which the watcher may report it."""

_LONGEST = 4_000

_NO_GROUP = "no control group limits memory here, only that of each process"


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """Whether every test passed, and if not, why.

    The reason is the name of a built-in exception, ``exit status N`` of a command, ``timeout`` or
    ``died``.
    """

    __test__ = False  # its name makes pytest take it for a class of tests
    passed: bool
    reason: str = ""


def check_guards(commands: Iterable[str] = ()) -> tuple[str, ...]:
    """Try the guards with an empty run, and say which optional ones are missing.

    If a required one is, or the program with which a command begins, `SourceError` names it.
    """
    with closing(Sandbox()) as sandbox:
        verdict = sandbox.run(["import colorsys"], seconds=30)
        if not verdict.passed:
            raise SourceError(f"--execute cannot run an empty test here: {verdict.reason}")
        notes = () if sandbox.memory_group else (_NO_GROUP,)
    for command in commands:
        first = command.split()[0]
        with closing(Sandbox(for_commands=True)) as sandbox:
            word = first if re.fullmatch(r"[\w.+/-]+", first) else "sh"
            verdict = sandbox.run([""], seconds=30, command=f"command -v {word}")
        if not verdict.passed:
            hint = "install it there: a program elsewhere is not in the sandbox"
            raise SourceError(f"--execute: there is no {first} in /usr and /bin", hint=hint)
    return notes


class Sandbox:
    """A place that runs one program after another, each from the same state.

    Without a guard it raises `SourceError`, here and at each run.
    """

    def __init__(self, *, for_commands: bool = False) -> None:
        if sys.platform != "linux":
            raise SourceError("--execute needs Linux: its guards are those of the kernel")
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            null = subprocess.DEVNULL
            streams = {"stdin": theirs.fileno(), "stdout": null, "stderr": null}
            self._template = isolated("jail", MEMORY, int(for_commands), **streams, cwd="/", env={})
        self._control.settimeout(_START)
        self.memory_group = ""
        """The folder of the control group that limits memory, or "" without one."""
        try:
            self.memory_group, _ = self._expect(b"ready ")
        except BaseException:
            self.close()
            raise

    def run(
        self, parts: Sequence[str], *, seconds: float = 10.0, command: str | None = None
    ) -> TestOutcome:
        """Run parts of a program one after another in one module, which pass if all reach their
        end; or a command for the shell, which finds them in the file ``program``, and passes if its
        exit status is 0.

        Nothing of the run is left when this returns, a second after its time at the latest.
        """
        job: dict[str, object] = {"parts": list(parts), "memory": MEMORY, "seconds": seconds}
        job |= {} if command is None else {"command": command}
        leash, theirs = socket.socketpair()
        with leash:
            with theirs, suppress(BrokenPipeError):  # no answer will come, either
                socket.send_fds(self._control, [b"run"], [theirs.fileno()])
            _, (watcher,) = self._expect(b"running")
            try:
                answer = _answer(leash, json.dumps(job).encode(), seconds)
            finally:
                if not _end(watcher):
                    self.close()
        return _verdict(answer)

    def close(self) -> None:
        """End the interpreter, and with it whatever runs."""
        self._template.kill()
        self._template.wait()
        self._control.close()
        if self.memory_group:
            with suppress(OSError):
                os.rmdir(self.memory_group)

    @property
    def closed(self) -> bool:
        """Whether the sandbox can no longer run anything."""
        return self._template.poll() is not None

    def _expect(self, word: bytes) -> tuple[str, list[int]]:
        """Return the rest of a message that starts with a word, and its descriptors."""
        message = b""
        handles: list[int] = []
        with suppress(TimeoutError, ConnectionError):
            message, handles, _, _ = socket.recv_fds(self._control, _LONGEST, 1)
        if message.startswith(word):
            return message.removeprefix(word).decode(), handles
        raise _refused(message.removeprefix(b"refused ").decode() or "processes (none started)")


def run_all(
    programs: Iterable[Sequence[str]],
    jobs: int,
    *,
    seconds: float = 10.0,
    command: str | None = None,
) -> Generator[TestOutcome, None, None]:
    """Run programs like `Sandbox.run`, so many at a time, each in a sandbox that is not in use."""
    idle: SimpleQueue[Sandbox] = SimpleQueue()
    made: list[Sandbox] = []
    closed = False

    def run(parts: Sequence[str]) -> TestOutcome:
        sandbox = None
        with suppress(Empty):
            while (sandbox := idle.get_nowait()).closed:
                sandbox = None
        if sandbox is None:
            sandbox = Sandbox(for_commands=command is not None)
            made.append(sandbox)
            if closed:  # while it started
                sandbox.close()
        verdict = sandbox.run(parts, seconds=seconds, command=command)
        idle.put(sandbox)
        return verdict

    with ThreadPoolExecutor(jobs) as threads:
        try:
            yield from threads.map(run, programs)
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            closed = True
            for sandbox in made:  # which ends their runs, for the threads are joined
                sandbox.close()


def _answer(leash: socket.socket, job: bytes, seconds: float) -> bytes | None:
    """Return the watcher's answer, or None after the time limit."""
    deadline = time.monotonic() + seconds + _GRACE
    received = b""
    with suppress(BrokenPipeError, ConnectionResetError):
        try:
            leash.settimeout(seconds + _GRACE)
            leash.sendall(job + b"\n")
            while data := leash.recv(_LONGEST):
                received += data
                leash.settimeout(max(0.001, deadline - time.monotonic()))
        except TimeoutError:
            return None
    return received


def _end(watcher: int) -> bool:
    """End a run, wait for its last process, and return whether it has ended."""
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(watcher, signal.SIGKILL)
    ended = select.poll()
    ended.register(watcher, select.POLLIN)
    has_ended = bool(ended.poll(500))
    os.close(watcher)
    return has_ended


def _verdict(answer: bytes | None) -> TestOutcome:
    if answer is None:
        return TestOutcome(False, "timeout")
    try:
        ((kind, reason),) = json.loads(answer).items()
    except (ValueError, RecursionError, AttributeError):
        return TestOutcome(False, "died")
    if kind == "refused":
        raise _refused(reason)
    return TestOutcome(kind == "passed", reason)


def _refused(guard: str) -> SourceError:
    hint = "it needs user namespaces and more (docs/evaluation.md)"
    return SourceError(f"--execute cannot guard {guard} here, so it runs nothing", hint=hint)
