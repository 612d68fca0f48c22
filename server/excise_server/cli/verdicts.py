"""The options that judge candidates: files of verdicts, and a command to run in their worktrees."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import click

from excise_server.cli.streams import say
from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import SourceError
from excise_server.processes.parsers import cache_folder
from excise_server.processes.runs import JOBS, SECONDS, Runs, run_in_worktrees
from excise_server.review.candidate import Candidate

_Command = Callable[..., Any]

_TAIL, _TAIL_LINES = 4_000, 20
"""Bytes and lines at the end of a run's output that are shown."""

timeout_option = click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(0, 1e6, min_open=True),
    help=f"Time of a run, which is ended then.  [default: {SECONDS:g}]",
)

verdict_option = click.option(
    "--verdicts",
    metavar="[CANDIDATE=]FILE",
    multiple=True,
    help="What tests said: JUnit XML, or JSON lines of candidate, check, passed, seconds.",
)


def run_options(function: _Command) -> _Command:
    """Add the options that `run_checks` takes."""
    options = (
        click.option("--run", metavar="COMMAND", help="Run it in the folder of each candidate."),
        timeout_option,
    )
    for option in reversed(options):
        function = option(function)
    return function


def run_checks(
    candidates: Sequence[Candidate], run: str, jobs: int | None, timeout: float | None
) -> Runs:
    """Run a command in the folders of candidates, and report progress on standard error."""
    runs = _run(candidates, run, jobs, timeout)
    say(f"verdicts for --verdicts: {runs.file}")
    return runs


def _run(
    candidates: Sequence[Candidate], run: str, jobs: int | None, timeout: float | None
) -> Runs:
    cache = cache_folder()
    if cache is None:
        raise SourceError("no cache folder for the output", hint="set HOME or XDG_CACHE_HOME")
    return run_in_worktrees(
        run, candidates, cache, jobs=jobs or JOBS, seconds=timeout or SECONDS, say=say
    )


def run_on_mix(folder: str, run: str, timeout: float | None) -> str:
    """Run a command in a folder with a mix. Return why the mix did not pass, or an empty string.

    The end of the output is shown then. Raises click.Abort if the user stopped the command.
    """
    runs = _run([Candidate("mix", folder, "", "", label="the mix")], run, None, timeout)
    if runs.interrupted:
        raise click.Abort
    [verdict] = runs.verdicts
    if verdict.passed:
        return ""
    for log in runs.folder.glob("*.log"):
        with suppress(OSError), open(log, "rb") as file:
            file.seek(max(0, os.path.getsize(log) - _TAIL))
            lines = file.read().decode("utf-8", "replace").rstrip().split("\n")
        for line in lines[-_TAIL_LINES:]:
            print(f"  {printable(line)}", file=sys.stderr)
    return verdict.reason


def say_left_out(lines: Sequence[str]) -> None:
    """Report which lines in files of verdicts were left out."""
    for line in lines:
        say(f"left out: {line}")


def begin_parsing() -> None:
    """Continue in a fork, if the command has to survive what it parses.

    Another fork may have to repeat that work, so it must not include the user's command.
    """
    if (fork := click.get_current_context().obj) is not None:
        sys.stdout.flush()
        sys.stderr.flush()
        fork()
