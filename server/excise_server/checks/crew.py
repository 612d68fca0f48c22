"""Some runs at a time, each below its guardian, and the verdict on each."""

from __future__ import annotations

import json
import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import msgspec

from excise_server.checks.guardian import end_descendants
from excise_server.review.candidate import Candidate
from excise_server.review.verdicts import Verdict

__all__ = ["Crew", "Runs", "Said"]

_GRACE = 10.0
"""Seconds after the time limit of a run in which its guardian may end all of it."""

_NO_VERDICT = {
    125: "cannot be tested (exit status 125)",
    126: "the command cannot be executed (exit status 126)",
    127: "the command was not found (exit status 127)",
}
"""Exit statuses that mean that no test ran, as in ``git bisect run``."""

Said = Callable[[str], None]


@dataclass(slots=True)
class Runs:
    """The outcome of the runs.

    Attributes
    ----------
    verdicts
        The verdicts, in the order in which the runs ended.
    folder
        The folder with the output of each run and the file of the verdicts.
    not_run
        The candidates that have no folder.
    interrupted
        Whether the user stopped the runs. Unfinished candidates have no verdict then.
    """

    folder: Path
    verdicts: list[Verdict] = field(default_factory=list)
    not_run: list[Candidate] = field(default_factory=list)
    interrupted: bool = False

    @property
    def file(self) -> Path:
        """The verdicts as JSON lines, for the next call."""
        return self.folder / "verdicts.jsonl"


@dataclass(slots=True)
class _Running:
    """A candidate whose command runs, its guardian, and the guardian's output."""

    candidate: Candidate
    guardian: subprocess.Popen[bytes]
    log: Path
    deadline: float
    said: bytes = b""

    def stop(self) -> None:
        """Make the guardian end the run."""
        if self.guardian.stdin is not None and not self.guardian.stdin.closed:
            with suppress(OSError):
                self.guardian.stdin.close()


class Crew:
    """The runs of one call."""

    def __init__(
        self, command: str, seconds: float, runs: Runs, total: int, file: IO[str], say: Said
    ) -> None:
        """Take the command, its time limit, the results to fill in, and a function for progress."""
        self._command, self._seconds, self._runs = command, seconds, runs
        self._total, self._file, self._say = total, file, say
        self._selector = selectors.DefaultSelector()
        self._running: dict[int, _Running] = {}

    def run(self, candidates: Sequence[Candidate], jobs: int, stopped: Callable[[], bool]) -> None:
        """Run all, so many at a time, and stop them on request."""
        waiting = list(reversed(candidates))
        while waiting or self._running:
            if stopped() and not self._runs.interrupted:
                self._runs.interrupted = True
                self._say(f"interrupted: stopping, {len(waiting)} not run")
                waiting.clear()
                for running in self._running.values():
                    running.stop()
            while waiting and len(self._running) < jobs:
                self._start(waiting.pop())
            for key, _ in self._selector.select(0.1):
                self._hear(self._running[key.fd])
            for running in list(self._running.values()):
                if time.monotonic() > running.deadline:
                    running.guardian.kill()
                    self._finish(running)

    def end(self) -> None:
        """End what still runs, and wait for it."""
        for running in self._running.values():
            running.stop()
        for running in self._running.values():
            with suppress(subprocess.TimeoutExpired):
                running.guardian.wait(_GRACE)
            running.guardian.kill()
        self._selector.close()

    def _start(self, candidate: Candidate) -> None:
        log = self._runs.folder / _log_name(candidate, len(self._runs.verdicts), self._running)
        job = {
            "command": self._command,
            "folder": candidate.folder,
            "log": str(log),
            "seconds": self._seconds,
        }
        try:
            guardian = subprocess.Popen(  # noqa: S603 - our interpreter and module
                [sys.executable, "-I", "-S", _GUARDIAN, json.dumps(job)],
                env=_environment(candidate),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            self._report(candidate, None, f"not started: {error.strerror}")
            return
        assert guardian.stdout is not None
        deadline = time.monotonic() + self._seconds + _GRACE
        self._running[guardian.stdout.fileno()] = _Running(candidate, guardian, log, deadline)
        self._selector.register(guardian.stdout, selectors.EVENT_READ)

    def _hear(self, running: _Running) -> None:
        assert running.guardian.stdout is not None
        data = os.read(running.guardian.stdout.fileno(), 4096)
        running.said += data
        if not data:
            self._finish(running)

    def _finish(self, running: _Running) -> None:
        """Turn the guardian's output into a verdict."""
        stream = running.guardian.stdout
        assert stream is not None
        self._selector.unregister(stream)
        del self._running[stream.fileno()]
        running.stop()
        stream.close()
        running.guardian.wait()
        label = running.candidate.label
        try:
            result = json.loads(running.said)
        except ValueError:
            # The guardian was killed, so this process inherits what it guarded.
            end_descendants({entry.guardian.pid for entry in self._running.values()})
            reason = "timed out" if time.monotonic() > running.deadline else "its guardian died"
            self._report(running.candidate, None, reason)
            return
        if result.get("cut"):
            self._say(f"{label}: {result['cut']:,} bytes of output left out of its log")
        if result.get("left") and result["ended"] == "exit":
            self._say(f"{label}: ended {result['left']} processes that it left running")
        self._report(running.candidate, *_verdict(result), result.get("seconds"))

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
        self._file.write(msgspec.json.encode(verdict).decode() + "\n")
        self._file.flush()
        words = {True: "passed", False: "failed", None: reason}[passed]
        took = "" if seconds is None else f" after {seconds:.1f} s"
        count = f"{len(self._runs.verdicts)}/{self._total}"
        self._say(f"{count} {candidate.label}: {words}{took}")


_GUARDIAN = str(Path(__file__).with_name("guardian.py"))


def _verdict(result: dict[str, Any]) -> tuple[bool | None, str]:
    """Return the verdict on a run, and the reason if it did not pass."""
    if result["ended"] == "start":
        return None, f"not started: {result['reason']}"
    status = result["status"]
    if result["ended"] == "time":
        return None, "timed out"
    if result["ended"] == "stop":
        return None, "stopped"
    if status in _NO_VERDICT:
        return None, _NO_VERDICT[status]
    if status < 0:
        with suppress(ValueError):
            return False, f"ended by {signal.Signals(-status).name}"
        return False, f"ended by signal {-status}"
    return status == 0, "" if status == 0 else f"exit status {status}"


def _log_name(candidate: Candidate, done: int, running: dict[int, _Running]) -> str:
    """Return a name of a file that no two candidates share, and that any system takes."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", candidate.label).strip(".-")[:60] or "candidate"
    return f"{done + len(running) + 1:03}-{plain}.log"


def _environment(candidate: Candidate) -> dict[str, str]:
    """Return the user's environment, without variables that lead git to another repository."""
    environment = {name: value for name, value in os.environ.items() if name not in _GIT}
    return environment | {"EXCISE_CANDIDATE": candidate.id.encode("utf-8", "replace").decode()}


_GIT = {
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
}
