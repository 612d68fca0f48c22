"""The guardian of one run: starts the command, keeps its output, and leaves nothing of it running.

It is a process in its own session that imports nothing of ours, so that signals of the run to its
group do not reach it. On Linux, orphans of the run become the guardian's children, so that a
process that left its group or session is ended as well. The guardian ends the run when its time is
over, and when its standard input ends, because its starter is gone or wants to stop.

Its standard output is one line of JSON at the end, and nothing of the command.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Any

__all__ = ["HEAD", "SHELL", "TAIL", "adopt_orphans", "descendants", "end_descendants", "main"]

SHELL = "/bin/sh"

HEAD, TAIL = 1_000_000, 1_000_000
"""The numbers of first and of last bytes of output that are kept."""

_PR_SET_CHILD_SUBREAPER = 36
_CHUNK = 1 << 16
_TICK = 0.05
_LAST_SECONDS = 0.5


def main() -> None:
    """Run what the only argument describes: command, folder, log, seconds."""
    job = json.loads(sys.argv[1])
    adopt_orphans(True)
    try:
        with open(job["log"], "xb", buffering=0) as log:
            result = _Run(job, _Log(log)).result()
    except OSError as error:
        result = {"ended": "start", "reason": error.strerror or str(error)}
    with suppress(BrokenPipeError):
        os.write(1, json.dumps(result).encode() + b"\n")
    os._exit(0)


def adopt_orphans(enabled: bool) -> None:
    """Tell the kernel whether orphans below this process become its children (Linux)."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(enabled), 0, 0, 0)


def end_descendants(spared: Collection[int] = ()) -> None:
    """End every process below this one, and wait for those that are its children.

    Some are spared, with all that is below them.
    """
    end = time.monotonic() + _LAST_SECONDS * 10
    while time.monotonic() < end:
        living = list(descendants(os.getpid(), spared))
        for pid in living:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        if not living:
            return
        time.sleep(0.002)


class _Log:
    """The file of a run's output: its beginning and its end, however much there is between."""

    def __init__(self, file: Any) -> None:  # noqa: ANN401 - a raw file
        self._file = file
        self._head = HEAD
        self._tail: deque[bytes] = deque()
        self._size = 0
        self.cut = 0

    def write(self, data: bytes) -> None:
        first, rest = data[: self._head], data[self._head :]
        self._head -= len(first)
        if first:
            self._file.write(first)
        if rest:
            self._tail.append(rest)
            self._size += len(rest)
            while self._size - len(self._tail[0]) >= TAIL:
                self.cut += len(self._tail[0])
                self._size -= len(self._tail.popleft())

    def close(self) -> None:
        if self.cut:
            self._file.write(f"\n[excise: {self.cut:,} bytes of output left out]\n".encode())
        while self._tail:
            self._file.write(self._tail.popleft())


class _Run:
    """One command from its start to the end of all that it started."""

    def __init__(self, job: dict[str, Any], log: _Log) -> None:
        self._log = log
        self._begun = time.monotonic()
        self._deadline = self._begun + job["seconds"]
        self._out, write = os.pipe()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the command that the user typed
                [SHELL, "-c", job["command"]],
                cwd=job["folder"],
                stdin=subprocess.DEVNULL,
                stdout=write,
                stderr=write,
                start_new_session=True,
            )
        finally:
            os.close(write)

    def result(self) -> dict[str, Any]:
        """Wait for the end, end the remaining processes, and return the outcome."""
        ended_by = self._wait()
        seconds = time.monotonic() - self._begun
        survivors = self._end_all()
        self._drain()
        self._log.close()
        return {
            "ended": ended_by,
            "status": self._process.returncode,
            "seconds": round(seconds, 3),
            "cut": self._log.cut,
            "left": survivors,
        }

    def _wait(self) -> str:
        """Return why it ended: ``exit``, ``time`` or ``stop``."""
        poll = select.poll()
        poll.register(self._out, select.POLLIN)
        poll.register(0, select.POLLIN)
        wait = _TICK / 10
        while self._process.poll() is None:
            if time.monotonic() >= self._deadline:
                return "time"
            # Short at first, so that a short command does not wait.
            for handle, _ in poll.poll(wait * 1000):
                if handle == 0 and not os.read(0, 1):
                    return "stop"
                if handle == self._out and not self._read():
                    poll.unregister(self._out)
            wait = min(wait * 2, _TICK)
        return "exit"

    def _read(self) -> bool:
        data = os.read(self._out, _CHUNK)
        self._log.write(data)
        return bool(data)

    def _end_all(self) -> int:
        """End the command's group and all processes that have become ours, and return their
        number.
        """
        count = len(set(descendants(os.getpid())) - {self._process.pid})
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        end_descendants()
        return count

    def _drain(self) -> None:
        """Read the rest of the pipe, to which no process of the run can write any longer."""
        os.set_blocking(self._out, False)
        end = time.monotonic() + _LAST_SECONDS
        with suppress(BlockingIOError):
            while time.monotonic() < end and self._read():
                pass


def descendants(root: int, spared: Collection[int] = ()) -> Iterator[int]:
    """Yield every running descendant of a process, as far as /proc tells."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if not name.isdigit():
            continue
        with suppress(OSError, IndexError, ValueError):
            with open(f"/proc/{name}/stat", "rb") as file:
                state, parent = file.read().rpartition(b") ")[2].split()[:2]
            if state not in (b"Z", b"X"):
                children.setdefault(int(parent), []).append(int(name))
    waiting = [root]
    while waiting:
        child_pids = [pid for pid in children.get(waiting.pop(), []) if pid not in spared]
        yield from child_pids
        waiting += child_pids


if __name__ == "__main__":
    main()
