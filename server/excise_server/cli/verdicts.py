"""The options that judge candidates: files of verdicts, and a command to run in their worktrees."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import click

from excise_server.checks.runs import JOBS, SECONDS, Runs, run_in_worktrees
from excise_server.cli.streams import say
from excise_server.foundation.inputs import SourceError
from excise_server.review.candidate import Candidate
from excise_server.workers.quarantine import cache_folder

__all__ = [
    "RunOptions",
    "begin_parsing",
    "run_checks",
    "run_options",
    "run_options_of",
    "say_left_out",
    "verdict_option",
]

_Command = Callable[..., Any]

verdict_option = click.option(
    "--verdicts",
    metavar="[CANDIDATE=]FILE",
    multiple=True,
    help="What tests said: JUnit XML, or JSON lines of candidate, check, passed, seconds.",
)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """A command, and how it is run."""

    command: str
    jobs: int
    seconds: float


def run_options(function: _Command) -> _Command:
    """Add the options that `run_options_of` reads."""
    options = (
        click.option("--run", metavar="COMMAND", help="Run it in the folder of each candidate."),
        click.option(
            "--jobs", type=click.IntRange(1, 64), help=f"Runs at a time.  [default: {JOBS}]"
        ),
        click.option(
            "--timeout",
            metavar="SECONDS",
            type=click.FloatRange(0, 1e6, min_open=True),
            help=f"Time of a run, which is ended then.  [default: {SECONDS:g}]",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def run_options_of(run: str | None, jobs: int | None, timeout: float | None) -> RunOptions | None:
    """Return the values of the options.

    Raises
    ------
    click.UsageError
        If nothing is run for which they hold.
    """
    if run is None:
        if jobs is not None or timeout is not None:
            raise click.UsageError("--jobs and --timeout are about --run COMMAND.")
        return None
    return RunOptions(run, jobs or JOBS, timeout or SECONDS)


def run_checks(options: RunOptions, candidates: Sequence[Candidate]) -> Runs:
    """Run the command in the folders of candidates, and report progress on standard error."""
    cache = cache_folder()
    if cache is None:
        raise SourceError("no cache folder for the output", hint="set HOME or XDG_CACHE_HOME")
    return run_in_worktrees(
        options.command, candidates, cache, jobs=options.jobs, seconds=options.seconds, say=say
    )


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
