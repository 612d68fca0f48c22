"""The options that judge candidates: files of verdicts, and a command to run for them."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

import click
import msgspec

from excise_server.candidates.running import place_in_repository, place_of_folders, run_classes
from excise_server.cli.candidate_options import Asked
from excise_server.cli.options import asked_jobs
from excise_server.cli.progress import progress
from excise_server.cli.streams import say
from excise_server.foundation.changes import Side
from excise_server.foundation.escape import printable
from excise_server.foundation.files import read_text
from excise_server.foundation.inputs import SourceError, first_few
from excise_server.git.repository import Repository
from excise_server.processes.checked import run_once
from excise_server.processes.parsers import cache_folder
from excise_server.processes.runs import (
    CLOSED_SECONDS,
    JOBS,
    SECONDS,
    Runs,
    closed_off,
    run_in_folders,
)
from excise_server.review.brought import brought_along, runnable
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
) -> Runs:
    """Run a command for candidates and on their base, and report progress on standard error.

    Raises SourceError if no task has that name, or nothing can be run here.

    - ``repository``: the repository of the candidates, or the folder that they all began as.
    - ``asked``: how they were chosen, and of which task.
    """
    with progress("Comparing"):
        classes = _classes(candidates, asked.task, ("docs",))
    if isinstance(repository, str):
        place = place_of_folders(repository)
    else:
        place = place_in_repository(
            repository,
            candidates.origin,
            saved=asked.selection.onto == SAVED,
            say=say,
        )
    of_class = [[candidates.found[index] for index in members] for members in classes]
    jobs, seconds = asked_jobs() or JOBS, asked.timeout or SECONDS
    runs = run_in_folders(run, of_class, _cache(), place=place, jobs=jobs, seconds=seconds, say=say)
    if runs.verdicts:
        say(f"verdicts for --verdicts: {runs.file}")
    return runs


def _classes(candidates: Candidates, task: str, ignored: Collection[str]) -> list[list[int]]:
    """Return `run_classes`, made in a fork if the command has to survive what it parses.

    Whatever runs a command has parsed nothing, so that it is not started again.
    """
    if not click.get_current_context().obj:
        return run_classes(candidates, task, ignored)
    from excise_server.processes.outlive import answered

    answer = answered(lambda: msgspec.json.encode(run_classes(candidates, task, ignored)))
    return msgspec.json.decode(answer, type=list[list[int]])


def _cache() -> Path:
    if (cache := cache_folder()) is None:
        raise SourceError("no cache folder for the output", hint="set HOME or XDG_CACHE_HOME")
    return cache


def run_brought(
    candidates: Candidates,
    repository: Repository,
    asked: Asked,
    scripts: Sequence[str],
) -> Runs | None:
    """Run what candidates brought, or the user, closed off, on their base and on each same code.

    Raises SourceError if a script cannot be read, or nothing can be closed off here.

    - ``scripts``: files of the user's to run, or "" for what candidates brought.
    """
    with progress("Comparing"):
        classes = _classes(candidates, asked.task, ("docs", "tests", "scratch"))
    of_class = [[candidates.found[index] for index in members] for members in classes]
    chosen = [candidate for members in of_class for candidate in members if "" in scripts]
    brought, left_out = brought_along(chosen)
    for script in filter(None, scripts):
        name = os.path.basename(script)
        own = runnable(name, name, {name: Side("100644", read_text(script).encode())})
        if own is None:
            left_out.append(name)
        else:
            brought.insert(0, own)
    if left_out:
        say(f"not run: {first_few([printable(name) for name in left_out])}")
    if not brought:
        say("there is no script or test that can be run")
    runs = None
    for one in brought:
        try:
            closed = closed_off(one.name, one.program)
        except SourceError as error:
            say(f"not run: {error}")
            continue
        place = place_in_repository(
            repository,
            candidates.origin,
            saved=asked.selection.onto == SAVED,
            brought=one.files,
            say=say,
        )
        runs = run_in_folders(
            one.command, of_class, _cache(), place=place, jobs=asked_jobs() or JOBS,
            seconds=asked.timeout or CLOSED_SECONDS, closed=closed, runs=runs, say=say,
        )  # fmt: skip
        if runs.interrupted:
            break
    if runs is not None:
        say(f"evidence for --verdicts: {runs.file}")
    return runs


def run_on_mix(folder: str, run: str, timeout: float | None) -> str:
    """Run a command in a folder with a mix. Return why the mix did not pass, or an empty string.

    The end of the output is shown then. Raises click.Abort if the user stopped the command.
    """
    checked = run_once(folder, run, timeout, say)
    if checked.interrupted:
        raise click.Abort
    for line in checked.output:
        print(f"  {line}", file=sys.stderr)
    return checked.reason


def begin_parsing() -> None:
    """Continue in a fork, if the command has to survive what it parses.

    Another fork may have to repeat that work, so it must not include the user's command.
    """
    if click.get_current_context().obj:
        from excise_server.processes.outlive import outlive

        sys.stdout.flush()
        sys.stderr.flush()
        outlive()
