"""The user's command in the worktree of every candidate, several at a time, and the results."""

from __future__ import annotations

import json
import os
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from excise_server.foundation.inputs import SourceError
from excise_server.processes.lifetime import isolated
from excise_server.processes.linux import set_undumpable
from excise_server.processes.supervisor import (
    LEVELS,
    adopt_orphans,
    descendants,
    end_control_group,
    end_descendants,
)
from excise_server.review.candidate import Candidate
from excise_server.review.verdicts import Verdict

JOBS = 1
"""Worktrees at a time: tests may share a port, a database or a cache."""

SECONDS = 600.0
"""Seconds that the command may take in one worktree."""

_KEPT_FOLDERS = 20

_GRACE = 10.0
"""Seconds after the time limit of a run in which its supervisor may end all of it."""

_LONGEST_REPORT = 4096

_NO_VERDICT = {
    125: "cannot be tested (exit status 125)",
    126: "the command cannot be executed (exit status 126)",
    127: "the command was not found (exit status 127)",
}
"""Exit statuses that mean that no test ran, as in ``git bisect run``."""

_WEAKER = {
    "cgroup": "a process that leaves its control group on purpose may outlive its run",
    "group": "a process that keeps changing its parent and session may outlive its run",
}
"""What to say of the levels at which something may be left."""

_GIT = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"}
_GIT |= {"GIT_OBJECT_DIRECTORY"}
"""Variables of the user's environment that lead git to another repository."""

Said = Callable[[str], None]


@dataclass(slots=True)
class Runs:
    """The outcome of the runs.

    - ``verdicts``: the verdicts, in the order in which the runs ended.
    - ``folder``: the folder with the output of each run and the file of the verdicts.
    - ``interrupted``: whether the user stopped the runs. Unfinished candidates have no verdict
      then.
    """

    folder: Path
    verdicts: list[Verdict] = field(default_factory=list)
    not_run: list[Candidate] = field(default_factory=list)
    interrupted: bool = False

    @property
    def file(self) -> Path:
        """The verdicts as JSON lines, for the next call."""
        return self.folder / "verdicts.jsonl"


_Count = Annotated[int, msgspec.Meta(ge=0, le=2**62)]


class _Report(msgspec.Struct, forbid_unknown_fields=True):
    """What a supervisor tells of its run. Without its exit status, none of it is believed."""

    ended: Literal["exit", "time", "stop", "start"]
    status: Annotated[int, msgspec.Meta(ge=-64, le=255)] | None = None
    seconds: Annotated[float, msgspec.Meta(ge=0, le=1e9)] | None = None
    cut: _Count = 0
    left: _Count = 0
    all_ended: bool = True
    reason: Annotated[str, msgspec.Meta(max_length=200)] = ""

    def agrees_with(self, exit_status: int) -> bool:
        """Whether the supervisor that told it ended with this exit status."""
        if self.ended == "exit":
            return self.status is not None and (self.status == 0) == (exit_status == 0)
        return exit_status != 0


@dataclass(slots=True)
class _Running:
    """A candidate whose command runs, its supervisor, and the supervisor's output."""

    candidate: Candidate
    supervisor: subprocess.Popen[bytes]
    deadline: float
    said: bytes = b""

    def stop(self) -> None:
        """Make the supervisor end the run."""
        assert self.supervisor.stdin is not None
        self.supervisor.stdin.close()

    def hear(self) -> bool:
        """Read what the supervisor says, and return whether there may be more.

        All is read, so that it never waits, but only the beginning is kept.
        """
        assert self.supervisor.stdout is not None
        data = b""
        with suppress(BlockingIOError):
            data = os.read(self.supervisor.stdout.fileno(), 1 << 16)
        self.said = (self.said + data)[:_LONGEST_REPORT]
        return bool(data)


def run_in_worktrees(
    command: str,
    candidates: Sequence[Candidate],
    cache: Path,
    *,
    jobs: int = JOBS,
    seconds: float = SECONDS,
    say: Said,
) -> Runs:
    """Run a command in the folder of each candidate that has one.

    Raises SourceError if no run can be started here, or its output cannot be kept.

    - ``command``: the command for the shell, as the user typed it.
    - ``cache``: the folder in which a new folder for the output is made.
    - ``seconds``: the time after which a run is ended without a verdict.
    """
    if os.name != "posix":
        raise SourceError("--run needs a POSIX system", hint="give --verdicts FILE instead")
    if not command.strip() or "\0" in command:
        raise SourceError("--run needs a command", hint="for example --run 'pytest -q'")
    runnable = [candidate for candidate in candidates if candidate.folder]
    runs = Runs(_new_folder(cache), not_run=[c for c in candidates if not c.folder])
    scope = f"{len(runnable)} worktree{'' if len(runnable) == 1 else 's'}, {jobs} at a time"
    say(f"running {command} in {scope}; output in {runs.folder}")
    for candidate in runs.not_run:
        say(f"{candidate.label}: not run: it is not a folder on disk")
    supervision = _Supervision(command, seconds, runs, len(runnable), say)
    with _stoppable() as is_stopped:
        adopt_orphans(True)
        try:
            supervision.run(runnable, jobs, is_stopped)
        finally:
            supervision.end()
            adopt_orphans(False)
    return runs


class _Supervision:
    """The runs of one call, each below its supervisor."""

    def __init__(self, command: str, seconds: float, runs: Runs, total: int, say: Said) -> None:
        """Take the command, its time limit, the results to fill in, and a function for progress."""
        self._command, self._seconds, self._runs = command, seconds, runs
        self._total, self._say = total, say
        self._selector = selectors.DefaultSelector()
        self._running: list[_Running] = []
        self._not_ours = set(descendants(os.getpid()))
        self._level = self._strongest_level() if total else LEVELS[0]

    def run(self, candidates: Sequence[Candidate], jobs: int, stopped: Callable[[], bool]) -> None:
        """Run all, so many at a time, and stop them on request."""
        waiting = list(reversed(candidates))
        while waiting or self._running:
            if stopped() and not self._runs.interrupted:
                self._runs.interrupted = True
                self._say(f"interrupted: stopping, {len(waiting)} not run")
                waiting.clear()
                for running in self._running:
                    running.stop()
            while waiting and len(self._running) < jobs:
                self._start(waiting.pop())
            for key, _ in self._selector.select(0.1):
                if not key.data.hear():
                    self._selector.unregister(key.fileobj)
                    with suppress(subprocess.TimeoutExpired):
                        key.data.supervisor.wait(0.1)
            for running in self._running.copy():
                if running.supervisor.poll() is not None or time.monotonic() > running.deadline:
                    self._finish(running)

    def end(self) -> None:
        """End what still runs, and write the verdicts again, to which no run can write any more."""
        for running in self._running:
            running.stop()
        for running in self._running.copy():
            with suppress(subprocess.TimeoutExpired):
                running.supervisor.wait(_GRACE)
            self._sweep(running)
        self._selector.close()
        self._write_verdicts()

    def _strongest_level(self) -> str:
        """Return what can hold the processes of a run here, and say what it cannot do."""
        why = ""
        for level in LEVELS:
            try:
                with self._supervisor({"level": level}, dict(os.environ)) as probe:
                    said, _ = probe.communicate()
            except OSError as error:
                raise SourceError(f"--run cannot start a process: {error.strerror}") from error
            if probe.returncode == 0:
                break
            with suppress(msgspec.DecodeError):
                why = why or msgspec.json.decode(said, type=_Report).reason
        if level in _WEAKER:
            self._say(f"no PID namespace is available ({why}): {_WEAKER[level]}")
            if sys.platform == "linux":
                set_undumpable()  # a run can name this process, then
        return level

    def _supervisor(
        self, job: dict[str, object], environment: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        supervisor = isolated(
            "supervisor", env=environment, stdin=pipe, stdout=pipe, stderr=null, bufsize=0
        )
        assert supervisor.stdin is not None
        with suppress(BrokenPipeError):
            supervisor.stdin.write(json.dumps(job).encode() + b"\n")
        return supervisor

    def _start(self, candidate: Candidate) -> None:
        with suppress(OSError):  # a run may have removed it
            self._runs.folder.mkdir(mode=0o700, parents=True)
        # A name of a file that no two candidates share, and that any system takes.
        number = len(self._runs.verdicts) + len(self._running) + 1
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", candidate.label).strip(".-")[:60] or "candidate"
        job = {
            "level": self._level,
            "command": self._command,
            "folder": candidate.folder,
            "log": str(self._runs.folder / f"{number:03}-{plain}.log"),
            "seconds": self._seconds,
        }
        environment = {name: value for name, value in os.environ.items() if name not in _GIT}
        environment["EXCISE_CANDIDATE"] = candidate.id.encode("utf-8", "replace").decode()
        try:
            supervisor = self._supervisor(job, environment)
        except OSError as error:
            self._report(candidate, None, f"not started: {error.strerror}")
            return
        assert supervisor.stdout is not None
        os.set_blocking(supervisor.stdout.fileno(), False)
        deadline = time.monotonic() + self._seconds + _GRACE
        self._running.append(running := _Running(candidate, supervisor, deadline))
        self._selector.register(supervisor.stdout, selectors.EVENT_READ, running)

    def _sweep(self, running: _Running) -> None:
        """End a supervisor and all of its run that it left, whatever became of it."""
        supervisor = running.supervisor
        assert supervisor.stdin is not None
        assert supervisor.stdout is not None
        supervisor.kill()
        supervisor.wait()
        self._running.remove(running)
        if self._level == "cgroup":
            end_control_group(supervisor.pid)
        others = {other.supervisor.pid for other in self._running}
        if not end_descendants(self._not_ours | others):
            self._say(f"{running.candidate.label}: processes of its run could not be ended")
        running.hear()
        with suppress(KeyError):
            self._selector.unregister(supervisor.stdout)
        supervisor.stdin.close()
        supervisor.stdout.close()

    def _finish(self, running: _Running) -> None:
        """Turn the exit status of a supervisor, and what it said, into a verdict."""
        exit_status = running.supervisor.poll()
        self._sweep(running)
        if exit_status is None:
            self._report(running.candidate, None, "timed out")
            return
        report = None
        with suppress(msgspec.DecodeError, msgspec.ValidationError):
            report = msgspec.json.decode(running.said, type=_Report)
        label = running.candidate.label
        if exit_status < 0:
            self._report(running.candidate, None, f"its supervisor was ended{_by(exit_status)}")
        elif report is None or not report.agrees_with(exit_status):
            self._report(running.candidate, None, "the report of its supervisor was damaged")
        else:
            if report.cut:
                self._say(f"{label}: {report.cut:,} bytes of output left out of its log")
            if report.left:
                processes = "1 process" if report.left == 1 else f"{report.left} processes"
                self._say(f"{label}: ended {processes} that it left running")
            if not report.all_ended:
                self._say(f"{label}: processes of its run could not be ended")
            self._report(running.candidate, *_verdict(report), report.seconds)

    def _report(
        self, candidate: Candidate, passed: bool | None, reason: str, seconds: float | None = None
    ) -> None:
        verdict = Verdict(
            candidate=candidate.id,
            check=self._command,
            passed=passed,
            seconds=seconds,
            reason=reason,
            digest=candidate.digest,
        )
        self._runs.verdicts.append(verdict)
        self._write_verdicts()
        words = {True: "passed", False: "failed", None: reason}[passed]
        took = "" if seconds is None else f" after {seconds:.1f} s"
        count = f"{len(self._runs.verdicts)}/{self._total}"
        self._say(f"{count} {candidate.label}: {words}{took}")

    def _write_verdicts(self) -> None:
        """Replace the file of the verdicts: a run may have changed the existing one."""
        lines = [msgspec.json.encode(verdict) + b"\n" for verdict in self._runs.verdicts]
        try:
            self._runs.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, written = tempfile.mkstemp(suffix=".jsonl", dir=self._runs.folder)
            with open(descriptor, "wb") as file:
                file.writelines(lines)
            os.replace(written, self._runs.file)
        except OSError as error:
            self._say(f"{self._runs.file} cannot be written: {error.strerror}")


def _verdict(report: _Report) -> tuple[bool | None, str]:
    """Return the verdict on a run, and the reason if it did not pass."""
    if report.ended == "start":
        return None, f"not started: {report.reason}"
    if report.ended == "time":
        return None, "timed out"
    if report.ended == "stop":
        return None, "stopped"
    status = report.status
    assert status is not None
    if status in _NO_VERDICT:
        return None, _NO_VERDICT[status]
    if status < 0:
        return False, f"ended{_by(status)}"
    return status == 0, "" if status == 0 else f"exit status {status}"


def _by(status: int) -> str:
    with suppress(ValueError):
        return f" by {signal.Signals(-status).name}"
    return f" by signal {-status}"


def _new_folder(cache: Path) -> Path:
    """Make the folder of this call, and remove the oldest of former ones."""
    top = cache / "runs"
    try:
        top.mkdir(mode=0o700, parents=True, exist_ok=True)
        former = sorted(path for path in top.iterdir() if path.is_dir() and not path.is_symlink())
        for old in former[: max(0, len(former) - _KEPT_FOLDERS + 1)]:
            with suppress(OSError):  # not empty: it contains files that we never make
                for path in old.iterdir():
                    if path.suffix in (".log", ".jsonl"):
                        path.unlink()
                old.rmdir()
        folder = Path(tempfile.mkdtemp(prefix=time.strftime("%Y%m%d-%H%M%S-"), dir=top))
    except OSError as error:
        raise SourceError(f"no folder for the output: {error}") from error
    return folder


@contextmanager
def _stoppable() -> Iterator[Callable[[], bool]]:
    """Take the first interrupt as a request to stop. A second one ends the program."""
    heard: list[int] = []

    def hear(number: int, _: object) -> None:
        heard.append(number)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    try:
        before = signal.signal(signal.SIGINT, hear)
    except ValueError:  # not the main thread, which alone can be interrupted
        yield lambda: False
        return
    try:
        yield lambda: bool(heard)
    finally:
        signal.signal(signal.SIGINT, before)
