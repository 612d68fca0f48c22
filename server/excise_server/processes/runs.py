"""The user's command in a folder: run until it ends, its time is over, or it is stopped.

Where the system has `unshare` and lets it, all that a command starts is in a PID namespace of its
own, which ends with it: nothing can leave it. Elsewhere its process group is killed.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import SourceError
from excise_server.processes.lifetime import StopFlag, start_tied

JOBS = 1
"""Runs at a time: tests may share a port, a database or a cache."""

SECONDS = 600.0
"""Seconds that a run may take."""

KEPT = 1_000_000
"""Bytes of an output that are kept: its end."""

_SHOWN_BYTES, _SHOWN_LINES = 4_000, 20

_LAST_SECONDS = 2.0
"""Seconds in which the processes of a run that is over have to let go of its output."""

_FIRST = '/bin/sh -c "$1"; exit $?'
"""What waits for the command: the first process of a namespace ignores its own signals."""

_NAMESPACE = ("--pid", "--fork", "--kill-child", "--mount-proc", "--")
# Root needs no user namespace, in which the files of all others could not be written.
_WAYS = (_NAMESPACE, ("--user", "--map-current-user", *_NAMESPACE))

_NO_VERDICT = {
    125: "cannot be tested (exit status 125)",
    126: "the command cannot be executed (exit status 126)",
    127: "the command was not found (exit status 127)",
}
"""Exit statuses that mean that no test ran, as in ``git bisect run``."""

_ELSEWHERE = {"DIR", "WORK_TREE", "INDEX_FILE", "COMMON_DIR", "PREFIX", "OBJECT_DIRECTORY"}
"""What leads git to another repository, after ``GIT_``, in the user's environment."""

_Job = TypeVar("_Job")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended: its exit status decides, and nothing that it prints.

    - ``passed``: None if it ended without a verdict, for ``reason``.
    - ``seconds``: None if it could not be run.
    - ``output``: the end of what it printed; ``cut``: how many bytes came before that.
    """

    passed: bool | None
    reason: str = ""
    seconds: float | None = None
    output: bytes = b""
    cut: int = 0


@cache
def holder() -> tuple[tuple[str, ...], str]:
    """Return the words before a command that end all that it starts; else, what to say of that."""
    program = shutil.which("unshare", path="/usr/bin:/bin") if sys.platform == "linux" else None
    why = "no unshare is installed"
    for way in _WAYS if program else ():
        words = (str(program), *way)
        tried = subprocess.run([*words, "true"], capture_output=True, check=False)  # noqa: S603
        if not tried.returncode:
            return words, ""
        why = tried.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return (), f"no PID namespace ({printable(why)}): what leaves its session may outlive its run"


def check_command(command: str) -> None:
    """Raise SourceError if nothing can be run, or this is no command."""
    if os.name != "posix":
        raise SourceError("--run needs a POSIX system", hint="give --verdicts FILE instead")
    if not command.strip() or "\0" in command:
        raise SourceError("--run needs a command", hint="for example --run 'pytest -q'")


def run(
    command: str,
    folder: str,
    *,
    seconds: float | None = None,
    candidate: str = "",
    stop: StopFlag | None = None,
) -> Ended:
    """Run a command for the shell in a folder, with all rights of the user.

    - ``seconds``: the time after which it is ended without a verdict.
    - ``candidate``: the value of ``EXCISE_CANDIDATE``.
    """
    environment = {k: v for k, v in os.environ.items() if k.removeprefix("GIT_") not in _ELSEWHERE}
    environment["EXCISE_CANDIDATE"] = candidate.encode("utf-8", "replace").decode()
    # Python's bytecode in a worktree without .gitignore would be a change of the candidate.
    environment.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    begun, output = time.monotonic(), _Output()
    try:
        with start_tied(
            [*holder()[0], "/bin/sh", "-c", _FIRST, "sh", command], cwd=folder, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True, bufsize=0,
        ) as process:  # fmt: skip
            try:
                reason = _wait(process, output, begun + (seconds or SECONDS), stop)
            finally:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)  # not reaped: its number is its own
                end = time.monotonic() + _LAST_SECONDS
                while output.is_open and output.read(process, end - time.monotonic()):
                    pass
    except (OSError, ValueError) as error:
        return Ended(None, f"cannot be run: {getattr(error, 'strerror', None) or error}")
    took, status = round(time.monotonic() - begun, 3), process.returncode
    passed = None if (reason := reason or _NO_VERDICT.get(status, "")) else status == 0
    if passed is False:
        reason = f"exit status {status}{_killed(status - 128)}" if status > 0 else "killed"
    return Ended(passed, reason, took, bytes(output.end), output.cut)


def _killed(number: int) -> str:
    """Return which signal a shell means by an exit status above 128, if there is one."""
    try:
        return f" ({signal.Signals(number).name})"
    except ValueError:
        return ""


def _wait(
    process: subprocess.Popen[bytes], output: _Output, end: float, stop: StopFlag | None
) -> str:
    """Wait until a process ends, without reaping it, or return what else ended the wait."""
    wait = 0.01  # short at first, so that a short command does not wait
    while True:
        output.read(process, wait)
        wait = min(wait * 2, 0.1)
        if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return ""
        if stop is not None and stop.cancelled:
            return "stopped"
        if time.monotonic() >= end:
            return "timed out"


class _Output:
    """The end of what a run prints, however much comes before."""

    def __init__(self) -> None:
        self.end, self.cut, self.is_open = bytearray(), 0, True

    def read(self, process: subprocess.Popen[bytes], seconds: float) -> bool:
        """Wait for something to read, and return whether there was."""
        assert process.stdout is not None
        pipes = [process.stdout.fileno()] * self.is_open
        if not select.select(pipes, [], [], max(0.0, seconds))[0]:
            return False
        self.end += (data := os.read(pipes[0], 1 << 16))
        if len(self.end) > 2 * KEPT:
            self.cut += len(self.end) - KEPT
            del self.end[:-KEPT]
        self.is_open = bool(data)
        return self.is_open


def run_each(jobs: Sequence[_Job], work: Callable[[_Job, StopFlag], None], at_a_time: int) -> bool:
    """Do the work of each, so many at a time; return whether the user stopped it.

    The work has a flag, which is raised then, and ends by itself.
    """
    stop = StopFlag()
    with ThreadPoolExecutor(at_a_time) as threads:
        waiting = [threads.submit(work, job, stop) for job in jobs]
        try:
            for done in as_completed(waiting):
                done.result()
        except BaseException as error:
            stop.cancel()
            threads.shutdown(cancel_futures=True)
            if not isinstance(error, KeyboardInterrupt):
                raise
            return True
    return False


def check(
    folder: str, command: str, stop: StopFlag | None = None, seconds: float | None = None
) -> tuple[str, list[str]]:
    """Run a command in a folder with a mix.

    Raises SourceError if it is none.

    Returns: why the mix did not pass, or ""; and then what may be left and the end of the output.
    """
    check_command(command)
    ended = run(command, folder, seconds=seconds, candidate="mix", stop=stop)
    if ended.passed:
        return "", []
    text = ended.output[-_SHOWN_BYTES:].decode("utf-8", "replace").rstrip()
    lines = [printable(line) for line in text.split("\n")[-_SHOWN_LINES:]]
    return ended.reason, [*filter(None, [holder()[1]]), *lines]
