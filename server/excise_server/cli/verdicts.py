"""The options that judge candidates: files of verdicts, and a command to run for them."""

from __future__ import annotations

import sys

import click
import msgspec

from excise_server.candidates.running import (
    Runs,
    place_in_repository,
    place_of_folders,
    run_classes,
    run_for,
)
from excise_server.cli.candidate_options import Asked
from excise_server.cli.options import asked_jobs
from excise_server.cli.progress import progress
from excise_server.cli.streams import say
from excise_server.git.repository import Repository
from excise_server.processes.runs import JOBS, SECONDS, check
from excise_server.sources.candidates import SAVED, Candidates

verdict_option = click.option(
    "--verdicts",
    metavar="[CANDIDATE=]FILE",
    multiple=True,
    help="What tests said: JUnit XML, or JSON lines of candidate, check, passed, seconds.",
)


def run_checks(
    candidates: Candidates,
    repository: Repository | str,
    asked: Asked,
    run: str,
    junit: str,
) -> Runs:
    """Run a command for candidates and on their base, and report progress on standard error.

    Raises SourceError if no task has that name, or nothing can be run here.

    - ``repository``: the repository of the candidates, or the folder that they all began as.
    - ``asked``: how they were chosen, and of which task.
    - ``junit``: the file in which the command names its tests, if there is one.
    """
    with progress("Comparing"):
        classes = _classes(candidates, asked.task)
    if isinstance(repository, str):
        place = place_of_folders(repository)
    else:
        place = place_in_repository(
            repository,
            candidates.origin,
            saved=asked.selection.onto == SAVED,
            links=asked.link,
            say=say,
        )
    of_class = [[candidates.found[index] for index in members] for members in classes]
    jobs, seconds = asked_jobs() or JOBS, asked.timeout or SECONDS
    runs = run_for(run, of_class, place, jobs=jobs, seconds=seconds, junit=junit, say=say)
    if runs.verdicts:
        say(f"verdicts for --verdicts: {runs.file}")
    return runs


def _classes(candidates: Candidates, task: str) -> list[list[int]]:
    """Return `run_classes`, made in a fork if the command has to survive what it parses.

    Whatever runs a command has parsed nothing, so that it is not started again.
    """
    if not click.get_current_context().obj:
        return run_classes(candidates, task)
    from excise_server.processes.outlive import answered

    answer = answered(lambda: msgspec.json.encode(run_classes(candidates, task)))
    return msgspec.json.decode(answer, type=list[list[int]])


def run_on_mix(folder: str, run: str, timeout: float | None) -> str:
    """Run a command in a folder with a mix. Return why the mix did not pass, or an empty string.

    The end of the output is shown then.
    """
    reason, output = check(folder, run, seconds=timeout)
    for line in output:
        print(f"  {line}", file=sys.stderr)
    return reason


def begin_parsing() -> None:
    """Continue in a fork, if the command has to survive what it parses.

    Another fork may have to repeat that work, so it must not include the user's command.
    """
    if click.get_current_context().obj:
        from excise_server.processes.outlive import outlive

        sys.stdout.flush()
        sys.stderr.flush()
        outlive()
