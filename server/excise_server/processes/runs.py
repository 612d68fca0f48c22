"""The user's command in folders of candidates and of their base, several at a time: the results.

The base comes first and alone, so that no candidate can write into what the others are compared
with. A run stands for a class of candidates, and its verdict counts for each of them.
"""

from __future__ import annotations

import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from excise_server.foundation.inputs import SourceError, first_few
from excise_server.processes.jail import COPY
from excise_server.processes.lifetime import isolated
from excise_server.processes.linux import set_undumpable
from excise_server.processes.supervisor import (
    HEAD,
    LEVELS,
    TAIL,
    adopt_orphans,
    descendants,
    end_control_group,
    end_descendants,
)
from excise_server.review.candidate import Candidate
from excise_server.review.evidence import (
    BASE,
    Place,
    RunResult,
    content_lines,
    evidence_of,
    evidence_words,
)
from excise_server.review.verdicts import Verdict

JOBS = 1
"""Runs at a time: tests may share a port, a database or a cache."""

SECONDS = 600.0
"""Seconds that a run may take."""

CLOSED_SECONDS = 60.0
"""Seconds that a run of what a candidate brought may take."""

_KEPT_FOLDERS = 20

_GRACE = 10.0
"""Seconds after the time limit of a run in which its supervisor may end all of it."""

_LONGEST_REPORT = 4096

MEMORY = 2_000_000_000
"""Bytes that each process of a program that a candidate brought may have."""

_TIMED_OUT = "timed out"

_NOT_STARTED = "not started"

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

_MOST_OUTPUT = 3 * max(HEAD, TAIL)
"""Bytes of a log that are read: more than there can be, unless a run writes to it itself."""

Said = Callable[[str], None]


@dataclass(slots=True)
class ClosedOff:
    """What a candidate brought to be run: nothing but its folder and programs can be reached.

    - ``name``: what it is called in evidence. It makes no verdict: its author is no judge.
    - ``programs``: the folders of the programs that it needs, besides the system's.
    - ``path``: where these are looked for.
    """

    name: str
    programs: Sequence[str]
    path: str


@dataclass(slots=True)
class Runs:
    """The outcome of the runs.

    - ``folder``: the folder with the output of each run and the file of the verdicts.
    - ``verdicts``: those on candidates, in the order in which the runs ended.
    - ``ended``: how many runs ended, that on the target included.
    - ``interrupted``: whether the user stopped the runs. Unfinished candidates have no verdict
      then.
    """

    folder: Path
    verdicts: list[Verdict] = field(default_factory=list)
    ended: int = 0
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
    """A class of candidates whose command runs, and where; its supervisor, and what that says.

    ``place`` gives the folder back.
    """

    candidates: Sequence[Candidate]
    folder: str
    log: Path
    place: ExitStack
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


def own_folder(candidate: Candidate) -> AbstractContextManager[str]:
    """Give a candidate the folder that it is in."""
    return nullcontext(candidate.folder)


def closed_off(name: str, program: str) -> ClosedOff:
    """Return how a program runs what a candidate brought, with the folder that it is installed in.

    Raises SourceError if there is none, or that folder has more in it than programs.
    """
    if (found := shutil.which(program)) is None:
        raise SourceError(f"{name}: there is no {program} to run it")
    tops = [Path(os.path.realpath(found)).parents[1], Path(found).parents[1]]
    if not (tops[1] / "pyvenv.cfg").is_file():
        tops.pop()
    home = Path(os.path.realpath(os.path.expanduser("~")))
    own = (home, home / ".local")  # whose share/ has what other programs keep, keys among it
    if any(folder.is_relative_to(top) and top != Path("/") for top in tops for folder in own):
        raise SourceError(f"{name}: {found} is not in a folder of programs alone, to be read")
    programs = [str(top) for top in tops if top != Path("/")]
    return ClosedOff(name, programs, os.path.dirname(found))


def run_in_folders(
    command: str,
    classes: Sequence[Sequence[Candidate]],
    cache: Path,
    *,
    place: Place = own_folder,
    with_base: bool = True,
    jobs: int = JOBS,
    seconds: float = SECONDS,
    closed: ClosedOff | None = None,
    runs: Runs | None = None,
    say: Said,
) -> Runs:
    """Run a command on the target, and then once for each class of candidates.

    Raises SourceError if no run can be started here, or its output cannot be kept; also if it has
    to be closed off, and cannot be.

    - ``command``: the command for the shell, as the user typed it.
    - ``classes``: candidates of which one run stands for all: the first one's.
    - ``cache``: the folder in which a new folder for the output is made.
    - ``place``: gives the first candidate of each class its folder, and `BASE` that of the target.
    - ``with_base``: whether there is a base to compare them with.
    - ``seconds``: the time after which a run is ended without a verdict.
    - ``closed``: how it is closed off, if it is not the user's own.
    - ``runs``: the former runs, to which these are added.
    """
    if os.name != "posix":
        raise SourceError("--run needs a POSIX system", hint="give --verdicts FILE instead")
    if not command.strip() or "\0" in command:
        raise SourceError("--run needs a command", hint="for example --run 'pytest -q'")
    if not classes:
        say(f"no candidate: {command} is not run")
        with_base = False
    runs = runs or Runs(_new_folder(cache))
    on_base = [[BASE]] if with_base else []
    total = runs.ended + len(on_base) + len(classes)
    if classes:
        members, times = sum(map(len, classes)), len(classes)
        what = "1 candidate" if members == 1 else f"{members} candidates"
        scope = f"for {what}{'' if times == members else f' in {times} classes of the same code'}"
        scope = f"on the target and {scope}" if with_base else scope
        say(f"running {command} {scope}, {jobs} at a time; output in {runs.folder}")
    supervision = _Supervision(command, seconds, runs, total, place, closed, say)
    with _stoppable() as is_stopped:
        adopt_orphans(True)
        try:
            supervision.run(on_base, 1, is_stopped)
            supervision.run(classes, jobs, is_stopped)
        finally:
            supervision.end()
            adopt_orphans(False)
    return runs


class _Supervision:
    """The runs of one call, each below its supervisor."""

    def __init__(
        self,
        command: str,
        seconds: float,
        runs: Runs,
        total: int,
        place: Place,
        closed: ClosedOff | None,
        say: Said,
    ) -> None:
        """Take what `run_in_folders` takes, and the results to fill in."""
        self._command, self._seconds, self._runs = command, seconds, runs
        self._total, self._place, self._closed, self._say = total, place, closed, say
        self._base: RunResult | None = None
        self._selector = selectors.DefaultSelector()
        self._running: list[_Running] = []
        self._not_ours = set(descendants(os.getpid()))
        self._level = self._strongest_level() if total else LEVELS[0]

    def run(
        self, classes: Sequence[Sequence[Candidate]], jobs: int, stopped: Callable[[], bool]
    ) -> None:
        """Run all, so many at a time, and stop them on request."""
        waiting = [] if self._runs.interrupted else list(reversed(classes))
        while waiting or self._running:
            if stopped() and not self._runs.interrupted:
                self._runs.interrupted = True
                left = self._total - self._runs.ended - len(self._running)
                self._say(f"interrupted: stopping, {left} not run")
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
            running.place.close()
        self._selector.close()
        self._write_verdicts()

    def _strongest_level(self) -> str:
        """Return what can hold the processes of a run here, and say what it cannot do."""
        if self._closed is not None:
            return "closed"
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

    def _start(self, candidates: Sequence[Candidate]) -> None:
        candidate, place = candidates[0], ExitStack()
        try:
            folder = place.enter_context(self._place(candidate))
        except SourceError as error:
            self._report(candidates, RunResult(None, f"{_NOT_STARTED}: {error}"))
            return
        with suppress(OSError):  # a run may have removed it
            self._runs.folder.mkdir(mode=0o700, parents=True)
        # A name of a file that no two candidates share, and that any system takes.
        number = self._runs.ended + len(self._running) + 1
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", candidate.label).strip(".-")[:60] or "candidate"
        log = self._runs.folder / f"{number:03}-{plain}.log"
        job = {
            "level": self._level,
            "command": self._command,
            "folder": folder,
            "log": str(log),
            "seconds": self._seconds,
        }
        if (closed := self._closed) is not None:
            job |= {"programs": closed.programs, "memory": MEMORY}
            job["environment"] = _closed_environment(closed.path)
        environment = {name: value for name, value in os.environ.items() if name not in _GIT}
        environment["EXCISE_CANDIDATE"] = candidate.id.encode("utf-8", "replace").decode()
        # Python's bytecode in a worktree without .gitignore would be a change of the candidate.
        environment.setdefault("PYTHONDONTWRITEBYTECODE", "1")
        try:
            supervisor = self._supervisor(job, environment)
        except OSError as error:
            place.close()
            self._report(candidates, RunResult(None, f"{_NOT_STARTED}: {error.strerror}"))
            return
        assert supervisor.stdout is not None
        os.set_blocking(supervisor.stdout.fileno(), False)
        deadline = time.monotonic() + self._seconds + _GRACE
        running = _Running(candidates, folder, log, place, supervisor, deadline)
        self._running.append(running)
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
            self._say(f"{running.candidates[0].label}: processes of its run could not be ended")
        running.hear()
        with suppress(KeyError):
            self._selector.unregister(supervisor.stdout)
        supervisor.stdin.close()
        supervisor.stdout.close()

    def _finish(self, running: _Running) -> None:
        """Turn the exit status of a supervisor, and what it said, into a result."""
        exit_status = running.supervisor.poll()
        self._sweep(running)
        with running.place:
            self._report(running.candidates, self._result(running, exit_status))

    def _result(self, running: _Running, exit_status: int | None) -> RunResult:
        if exit_status is None:
            return RunResult(None, _TIMED_OUT, timed_out=True)
        report = None
        with suppress(msgspec.DecodeError, msgspec.ValidationError):
            report = msgspec.json.decode(running.said, type=_Report)
        label = running.candidates[0].label
        if exit_status < 0:
            return RunResult(None, f"its supervisor was ended{_by(exit_status)}")
        if report is None or not report.agrees_with(exit_status):
            return RunResult(None, "the report of its supervisor was damaged")
        if report.cut:
            self._say(f"{label}: {report.cut:,} bytes of output left out of its log")
        if report.left:
            processes = "1 process" if report.left == 1 else f"{report.left} processes"
            self._say(f"{label}: ended {processes} that it left running")
        if not report.all_ended:
            self._say(f"{label}: processes of its run could not be ended")
        passed, reason = _verdict(report)
        output = _output(running.log) if passed is not None else b""
        folders = {running.folder, os.path.realpath(running.folder)}
        folders |= set() if self._closed is None else {COPY}
        return RunResult(
            passed,
            reason,
            report.seconds,
            report.status,
            timed_out=report.ended == "time",
            lines=content_lines(output or b"", folders, tempfile.gettempdir()),
            is_whole=not report.cut and output is not None,
        )

    def _report(self, candidates: Sequence[Candidate], result: RunResult) -> None:
        """Record a result for all of its class, and say it."""
        self._runs.ended += 1
        first, *others = candidates
        if first is BASE and self._closed is not None and result.reason.startswith(_NOT_STARTED):
            raise SourceError(
                f"--cross cannot close off what it runs, so it runs nothing: {result.reason}"
            )
        shown = ""
        if first is BASE:
            self._base = result
            shown = f"raises {result.raised.name}" if result.raised is not None else ""
        else:
            evidence, detail = None, ""
            if self._base is not None:
                evidence, detail = evidence_of(result, self._base, {*first.old, *first.new})
                shown = evidence_words(evidence, detail)
            brought = self._closed is not None
            self._runs.verdicts += [
                Verdict(
                    candidate=candidate.id,
                    check=self._closed.name if self._closed is not None else self._command,
                    passed=None if brought else result.passed,
                    brought=brought,
                    seconds=result.seconds,
                    reason="" if brought else result.reason,
                    digest=candidate.digest,
                    evidence=evidence,
                    detail=detail,
                    base_passed=self._base.passed if self._base is not None else None,
                )
                for candidate in candidates
            ]
            self._write_verdicts()
        words = {True: "passed", False: "failed", None: result.reason}[result.passed]
        took = "" if result.seconds is None else f" after {result.seconds:.1f} s"
        same = f" (also for {first_few([other.label for other in others])})" if others else ""
        ended = f"{self._runs.ended}/{self._total} {first.label}{same}: {words}{took}"
        self._say(f"{ended}: {shown}" if shown not in ("", "passes", "fails") else ended)
        if first is BASE and result.passed is None and not self._runs.interrupted:
            self._say("the target has no outcome: what candidates print is compared with nothing")

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


def _closed_environment(path: str) -> dict[str, str]:
    """Return the environment of what a candidate brought, in which nothing is the user's.

    It imports the files of its folder, and not what is installed under the same name.
    """
    return {
        "PATH": f"{path}:/usr/local/bin:/usr/bin:/bin",
        "HOME": COPY,
        "TMPDIR": COPY,
        "LANG": "C.UTF-8",
        "PYTHONPATH": f"{COPY}:{COPY}/src:{COPY}/lib",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
    }


def _verdict(report: _Report) -> tuple[bool | None, str]:
    """Return the verdict on a run, and the reason if it did not pass."""
    if report.ended == "start":
        return None, f"{_NOT_STARTED}: {report.reason}"
    if report.ended == "time":
        return None, _TIMED_OUT
    if report.ended == "stop":
        return None, "stopped"
    status = report.status
    assert status is not None
    if status in _NO_VERDICT:
        return None, _NO_VERDICT[status]
    if status < 0:
        return False, f"ended{_by(status)}"
    return status == 0, "" if status == 0 else f"exit status {status}"


def _output(log: Path) -> bytes | None:
    """Return what a run printed, or None if its log is gone, or is no longer a file of ours."""
    try:
        descriptor = os.open(log, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            return file.read(_MOST_OUTPUT)
    except OSError:
        return None


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
