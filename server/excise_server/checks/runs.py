"""The user's command in the worktree of every candidate, several at a time, and the results."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from excise_server.checks.crew import Crew, Runs, Said
from excise_server.checks.guardian import adopt_orphans
from excise_server.foundation.inputs import SourceError
from excise_server.review.candidate import Candidate

__all__ = ["JOBS", "SECONDS", "Runs", "run_in_worktrees"]

JOBS = 1
"""Worktrees at a time: tests may share a port, a database or a cache."""

SECONDS = 600.0
"""Seconds that the command may take in one worktree."""

_KEPT_FOLDERS = 20


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

    Parameters
    ----------
    command
        The command for the shell, as the user typed it.
    cache
        The folder in which a new folder for the output is made.
    jobs
        The number of runs at a time.
    seconds
        The time after which a run is ended without a verdict.
    say
        Receives a line of progress.

    Raises
    ------
    SourceError
        If no run can be started here, or its output cannot be kept.
    """
    if os.name != "posix":
        raise SourceError("--run needs a POSIX system", hint="give --verdicts FILE instead")
    if not command.strip() or "\0" in command:
        raise SourceError("--run got no command", hint="as in --run 'pytest -q'")
    runnable = [candidate for candidate in candidates if candidate.folder]
    runs = Runs(_new_folder(cache), not_run=[c for c in candidates if not c.folder])
    scope = f"{len(runnable)} worktree{'' if len(runnable) == 1 else 's'}, {jobs} at a time"
    say(f"running {command} in {scope}; output in {runs.folder}")
    for candidate in runs.not_run:
        say(f"{candidate.label}: not run: it is not a folder on disk")
    with _stoppable() as is_stopped, open(runs.file, "x", encoding="utf-8") as file:
        crew = Crew(command, seconds, runs, len(runnable), file, say)
        adopt_orphans(True)
        try:
            crew.run(runnable, jobs, is_stopped)
        finally:
            crew.end()
            adopt_orphans(False)
    say(f"verdicts for --verdicts: {runs.file}")
    return runs


def _new_folder(cache: Path) -> Path:
    """Make the folder of this call, and remove the oldest of former ones."""
    top = cache / "runs"
    try:
        top.mkdir(mode=0o700, parents=True, exist_ok=True)
        former = sorted(path for path in top.iterdir() if path.is_dir() and not path.is_symlink())
        for path in former[: max(0, len(former) - _KEPT_FOLDERS + 1)]:
            _remove(path)
        folder = Path(tempfile.mkdtemp(prefix=time.strftime("%Y%m%d-%H%M%S-"), dir=top))
    except OSError as error:
        raise SourceError(f"no folder for the output: {error}") from error
    return folder


def _remove(folder: Path) -> None:
    """Remove a folder of an earlier call, unless it contains files that we never make."""
    with suppress(OSError):
        for path in folder.iterdir():
            if path.suffix in (".log", ".jsonl"):
                path.unlink()
        folder.rmdir()


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
