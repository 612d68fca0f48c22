"""The supervisor of one run: starts the command, keeps its output, leaves nothing of it running.

What holds the processes of a run together is the strongest `LEVELS` that the system allows:

    namespace   a PID namespace whose first process is ours. It ends with the supervisor, and all
                others with it. The supervisor is outside, where no process of the run can name it.
    cgroup      a control group (version 2), which the kernel kills as a whole
    closed      a namespace in which a program of a stranger reaches nothing else (`jail`). It is
                used where it is asked for, and nothing takes its place.
    group       a process group. On Linux, orphans become the supervisor's children, and are ended.

The supervisor is an isolated interpreter in its own session. It ends the run when its time is over,
and when its standard input ends, because its starter has ended or wants to stop. Its exit status
is 0 only if that of the command is 0. Its standard output is one line of JSON, which can explain a
failure, but cannot turn one into a success.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Any, NoReturn

from excise_server.processes import jail, linux

SHELL = "/bin/sh"

LEVELS = ("namespace", "cgroup", "group")

HEAD, TAIL = 1_000_000, 1_000_000
"""The numbers of first and of last bytes of output that are kept."""

_PR_SET_CHILD_SUBREAPER = 36
_CHUNK = 1 << 16
_TICK = 0.05
_LAST_SECONDS = 0.5
_SWEEP_SECONDS = 5.0


def main() -> NoReturn:
    """Run what a line of standard input describes: level, command, folder, log, seconds.

    It is not an argument: a command that looks for processes by their words would find it.
    Without a command, the exit status is 0 if the level can be had here.
    """
    with open(0, "rb", buffering=0, closefd=False) as starter:
        job = json.loads(starter.readline())
    report: dict[str, Any]
    try:
        held = {
            "closed": _Closed,
            "namespace": _Namespace,
            "cgroup": _ControlGroup,
            "group": _ProcessGroup,
        }[job["level"]]()
        if "command" in job:
            with open(job["log"], "xb", buffering=0) as log:
                report = _Run(job, held, _Log(log)).report()
        else:
            held.end()
            report = {"ended": "exit", "status": 0}
    except AttributeError:  # of the C library: this is not Linux
        report = {"ended": "start", "reason": "it needs Linux"}
    except (linux.GuardError, OSError, ValueError) as error:
        where = getattr(error, "filename", None) or ""
        reason = f"{getattr(error, 'strerror', None) or error}{where and ': '}{where}"
        reason = reason.encode("ascii", "backslashreplace").decode()[:200]
        report = {"ended": "start", "reason": reason}
    with suppress(BrokenPipeError):
        os.write(1, json.dumps(report).encode() + b"\n")
    os._exit(0 if report.get("status") == 0 and report["ended"] == "exit" else 1)


def adopt_orphans(enabled: bool) -> None:
    """Tell the kernel whether orphans below this process become its children (Linux)."""
    if sys.platform == "linux":
        linux.libc.prctl(_PR_SET_CHILD_SUBREAPER, int(enabled), 0, 0, 0)


class _ProcessGroup:
    """The process group of the command, and what was orphaned below the supervisor."""

    def __init__(self) -> None:
        adopt_orphans(True)
        if sys.platform == "linux":
            linux.set_undumpable()

    def start(self, job: dict[str, Any], output: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - the command that the user typed
            [SHELL, "-c", job["command"]],
            cwd=job["folder"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )

    def count(self) -> int:
        """Return how many processes of the run have not ended."""
        return sum(1 for _ in descendants(os.getpid(), zombies=False))

    def end(self, process: subprocess.Popen[bytes] | None = None) -> bool:
        """End the command and all of its processes. Return whether none is left."""
        if process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return end_descendants()


class _ControlGroup(_ProcessGroup):
    """A control group of the run, besides: to leave it, a process has to know of it."""

    def __init__(self) -> None:
        super().__init__()
        folder = _group_of(os.getpid())
        self._home = os.open(f"{linux.control_group()}/cgroup.procs", os.O_WRONLY)
        os.mkdir(folder)
        try:
            os.stat(f"{folder}/cgroup.kill")  # since Linux 5.14
            self._group = os.open(f"{folder}/cgroup.procs", os.O_WRONLY)
            os.write(self._group, b"0")
            os.write(self._home, b"0")
        except OSError:
            os.rmdir(folder)
            raise

    def start(self, job: dict[str, Any], output: int) -> subprocess.Popen[bytes]:
        os.write(self._group, b"0")  # the command is born there, and the supervisor goes home
        try:
            return super().start(job, output)
        finally:
            os.write(self._home, b"0")

    def end(self, process: subprocess.Popen[bytes] | None = None) -> bool:
        end_control_group(os.getpid())
        return super().end(process)


class _Namespace(_ProcessGroup):
    """A PID namespace with its own ``/proc``. What else the command sees is as outside."""

    def __init__(self) -> None:
        if linux.libc.unshare(linux.NEWPID | linux.NEWNS) == -1:
            # Every id stays what it is: all ids, or where only root may do that, one's own.
            everyone = {}
            for kind in ("uid", "gid"):
                with open(f"/proc/self/{kind}_map") as lines:
                    fields = [line.split() for line in lines]
                everyone[kind] = "\n".join(f"{first} {first} {count}" for first, _, count in fields)
            own = {"uid": os.geteuid(), "gid": os.getegid()}
            single = {kind: f"{number} {number} 1" for kind, number in own.items()}
            linux.enter_user_namespace(everyone, single)
            linux.require("PID namespace", linux.libc.unshare(linux.NEWPID | linux.NEWNS))
        super().__init__()
        linux.mount("none", "/", None, linux.MS_REC | linux.MS_SLAVE)
        has_proc = os.path.exists("/proc/self")
        read, write = os.pipe()
        number = os.getpid()
        self._first = os.fork()  # all that the supervisor starts from now on is in the namespace
        if not self._first:
            os.close(read)
            _be_first(has_proc, number, write)
        os.close(write)
        if (why := os.read(read, 400)) != b"ready":
            raise linux.GuardError("PID namespace", why.decode("utf-8", "replace"))
        os.close(read)

    def count(self) -> int:
        # Not the first process, which is not there either if something is mounted over it.
        return sum(pid != 1 for pid, _ in _processes(zombies=False))

    def end(self, process: subprocess.Popen[bytes] | None = None) -> bool:
        os.kill(self._first, signal.SIGKILL)
        if process is not None:
            process.wait()  # before the first process, which waits until every other is gone
        os.waitpid(self._first, 0)
        return True


class _Closed(_Namespace):
    """A namespace from which nothing can be reached, with a copy of the folder to write to."""

    def start(self, job: dict[str, Any], output: int) -> subprocess.Popen[bytes]:
        read, write = os.pipe()

        def close_off() -> None:
            try:
                jail.close_off(job["folder"], job["programs"], job["memory"], job["seconds"])
            except (linux.GuardError, OSError, shutil.Error) as error:
                os.write(write, str(error).encode("ascii", "backslashreplace")[:200])
                raise

        try:
            return subprocess.Popen(  # noqa: S603 - a program of a stranger, which is guarded
                [SHELL, "-c", job["command"]],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=job["environment"],
                preexec_fn=close_off,
                start_new_session=True,
            )
        except subprocess.SubprocessError as error:
            # Whatever else went wrong there has said nothing, and reading would wait for it.
            has_reason = select.select([read], [], [], 0)[0]
            reason = os.read(read, 200).decode() if has_reason else str(error)
            raise linux.GuardError("a run", reason) from error
        finally:
            os.close(read)
            os.close(write)


def _be_first(has_proc: bool, number: int, ready: int) -> NoReturn:
    """Be the first process of a namespace: nothing inside can send it a signal that it minds.

    The next one gets a number that no other run has, for commands name files by ``$$``.
    """
    try:
        linux.die_with_parent()
        if has_proc:
            # Covered only, it would show the processes outside to whoever may unmount.
            while linux.libc.umount2(b"/proc", linux.MNT_DETACH) == 0:
                pass
            linux.mount("proc", "/proc", "proc", linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC)
            with suppress(OSError), open("/proc/sys/kernel/ns_last_pid", "w") as last:
                last.write(str(number - 1))
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps orphans, then
        os.write(ready, b"ready")  # fails if the supervisor ended before this one could end with it
        os.closerange(0, os.sysconf("SC_OPEN_MAX"))
        while True:
            signal.pause()
    except (linux.GuardError, OSError) as error:
        os.write(ready, str(error).encode())
    finally:
        os._exit(1)


def _group_of(supervisor: int) -> str:
    # A number alone names a process of every PID namespace that sees the same control groups.
    namespace = os.stat("/proc/self/ns/pid").st_ino
    return f"{linux.control_group()}/excise-run-{namespace}-{supervisor}"


def end_control_group(supervisor: int) -> None:
    """Kill the control group of a supervisor's run, if it has one, and remove it."""
    with suppress(OSError):
        folder = _group_of(supervisor)
        with open(f"{folder}/cgroup.kill", "w") as kill:
            kill.write("1")
        end = time.monotonic() + _SWEEP_SECONDS
        while time.monotonic() < end:
            with suppress(OSError):  # busy until the last process is gone
                for group, _, _ in os.walk(folder, topdown=False):
                    os.rmdir(group)
                return
            time.sleep(0.002)


def end_descendants(spared: Collection[int] = ()) -> bool:
    """End every process below this one, wait for its children, and return whether none is left.

    Some are spared, with all that is below them.
    """
    end = time.monotonic() + _SWEEP_SECONDS
    while time.monotonic() < end:
        # Zombies too: the first process of a namespace waits until every other one is reaped.
        left = list(descendants(os.getpid(), spared))
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        if not left:
            return True
        time.sleep(0.002)
    return False


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

    def __init__(self, job: dict[str, Any], held: _ProcessGroup, log: _Log) -> None:
        self._held = held
        self._log = log
        self._begun = time.monotonic()
        self._deadline = self._begun + job["seconds"]
        self._out, write = os.pipe()
        try:
            self._process = held.start(job, write)
        except BaseException:
            held.end()
            raise
        finally:
            os.close(write)

    def report(self) -> dict[str, Any]:
        """Wait for the end, end the remaining processes, and return the outcome."""
        ended_by = self._wait()
        seconds = time.monotonic() - self._begun
        left = self._held.count() if ended_by == "exit" else 0
        all_ended = self._held.end(self._process)
        # The rest of the pipe, to which no process of the run can write any longer.
        os.set_blocking(self._out, False)
        end = time.monotonic() + _LAST_SECONDS
        with suppress(BlockingIOError):
            while time.monotonic() < end and self._read():
                pass
        self._log.close()
        return {
            "ended": ended_by,
            "status": self._process.returncode,
            "seconds": round(seconds, 3),
            "cut": self._log.cut,
            "left": left,
            "all_ended": all_ended,
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


def descendants(root: int, spared: Collection[int] = (), *, zombies: bool = True) -> Iterator[int]:
    """Yield every descendant of a process, as far as /proc tells."""
    children: dict[int, list[int]] = {}
    for pid, parent in _processes(zombies=zombies):
        children.setdefault(parent, []).append(pid)
    waiting = [root]
    while waiting:
        child_pids = [pid for pid in children.get(waiting.pop(), []) if pid not in spared]
        yield from child_pids
        waiting += child_pids


def _processes(*, zombies: bool) -> Iterator[tuple[int, int]]:
    """Yield every process and its parent, as far as /proc tells."""
    names: list[str] = []
    with suppress(OSError):
        names = os.listdir("/proc")
    for name in filter(str.isdigit, names):
        with suppress(OSError, IndexError, ValueError):
            with open(f"/proc/{name}/stat", "rb") as file:
                state, parent = file.read().rpartition(b") ")[2].split()[:2]
            if zombies or state not in (b"Z", b"X"):
                yield int(name), int(parent)
