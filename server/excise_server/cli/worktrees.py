"""``excise worktrees``: whole worktrees or branches, each against its own base, task by task."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import click

from excise.clustering import DISTANCE, LINKAGE, LINKAGES
from excise.patches import IGNORED
from excise.ranking import INTENT
from excise_server.candidates.chosen import chosen_candidates, for_issue
from excise_server.candidates.worktrees import Review, compare_candidates
from excise_server.cli.candidate_options import (
    batch_option,
    intent_option,
    issue_option,
    selection_options,
)
from excise_server.cli.options import html_option, json_option
from excise_server.cli.progress import progress
from excise_server.cli.streams import say, show, write_text
from excise_server.cli.verdicts import (
    begin_parsing,
    run_checks,
    run_option,
    say_left_out,
    timeout_option,
    verdict_option,
)
from excise_server.foundation.inputs import SourceError
from excise_server.git.checkouts import Selection
from excise_server.git.repository import Repository, open_commits, open_folder
from excise_server.report.worktrees import rejected_names, worktrees_document
from excise_server.sources.candidates import Candidates, find_candidates
from excise_server.sources.folders import find_folders
from excise_server.sources.verdicts import read_verdicts
from excise_server.wire.documents import json_text


@dataclass(frozen=True, slots=True)
class Shown:
    """The chosen options other than the worktrees and branches themselves."""

    threshold: float | None = None
    linkage: str | None = None
    ignore_path: tuple[str, ...] = ()
    as_json: bool = False
    html: str | None = None
    batch: str = ""
    verdicts: tuple[str, ...] = ()
    run: str | None = None
    timeout: float | None = None
    intent: str = INTENT
    issue: str = ""


@click.command("worktrees")
@click.argument("folders", nargs=-1, metavar="[REPO | FOLDER...]")
@click.option(
    "--origin",
    metavar="DIR",
    help="Compare FOLDERs, which need no git, with the folder that they all began as.",
)
@selection_options
@batch_option
@issue_option
@intent_option
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    help="Distance 1 - similarity from which clusters are no longer merged.  "
    f"[default: {DISTANCE:g}]",
)
@click.option(
    "--linkage", type=click.Choice(LINKAGES), help=f"As of cluster.  [default: {LINKAGE}]"
)
@click.option(
    "--ignore-path",
    metavar="GLOB",
    multiple=True,
    help="Files to leave out, instead of lock files, changelogs and generated lists; '' for none.",
)
@verdict_option
@run_option
@timeout_option
@json_option
@html_option
def command(
    *,
    selection: Selection,
    folders: tuple[str, ...],
    origin: str | None,
    batch: str,
    **options: Any,  # noqa: ANN401 - what click parsed, by the names of `Shown`
) -> int:
    """Compare what every worktree of REPO changed, uncommitted changes included.

    Each candidate is read against the commit that it started from (its merge base with HEAD), and
    its edits are replayed onto HEAD of this checkout, which is not a candidate itself. So a stale
    one is compared by what it changed, not by what it lacks.

    With --origin, FOLDERs without git are candidates. Their edits are the differences from DIR.

    Rivals are attempts at one task: they are the same or near each other, half of the hunks of each
    overlap, their messages name one issue, or their tool made them for one task. Each task has a
    table of its own, the largest first, and candidates of other tasks have no vote in it. A
    candidate that is alone in its task is listed, not ranked. What candidates of different tasks do
    to each other is said below: they collide, both add to one place, or one breaks the other.

    A table is sorted by groups of similar candidates, the group of the best candidate first, and
    within a group by rank. First comes the edit that most candidates of the task make: those with
    the same code, comments aside. Of edits that are made equally often, the first is what is
    nearest to all others, and of these the one with fewer tokens (in code; in all files, if no code
    is changed). With --intent fix, for a bug fix, only the number of tokens counts here.

    A candidate is broken if it cannot work although the target could: its syntax is invalid, or it
    uses an undefined name (or, with --intent fix, a function or class is gone). Broken ones come
    after all whole ones, then those that change no code or only add names that are never read, and
    those that change nothing last. Each place is printed with its reason. The order is advice.

    With --verdicts or --run, test results take precedence: candidates that pass come first, then
    those without a verdict (including timeouts), then those that fail.

    Git is only read, and only the command of --run is run: on the base (a scratch copy of the
    target), and once for each same code with the same tests. What it does beside that of the base
    is said beside each verdict. It runs with your rights in a candidate's folder, or else in a
    scratch copy, without a terminal, and everything that it started ends with it.
    """
    shown = Shown(batch="" if batch == "all" else batch, **options)
    if shown.run is None and shown.timeout is not None:
        raise click.UsageError("--timeout needs --run COMMAND.")
    if origin is not None:
        if selection != Selection(only=selection.only):
            raise click.UsageError("--origin compares plain folders: drop the options about git.")
        if not folders:
            raise click.UsageError("--origin needs the FOLDERs that began as it.")
        with progress("Comparing"):
            candidates = find_folders(origin, folders, only=selection.only)
        return compare_found(os.path.realpath(origin), candidates, selection, shown)
    if len(folders) > 1:
        raise click.UsageError("name one REPO, or folders without git and their --origin DIR.")
    return compare("".join(folders) or ".", selection, shown)


def compare(folder: str, selection: Selection, shown: Shown) -> int:
    """Compare worktrees or branches, and print the result."""
    with progress("Comparing"):
        repository = opened(folder, only_commits=not selection.worktrees)
        candidates = find_candidates(repository, selection)
    return compare_found(repository, candidates, selection, shown)


def compare_found(
    repository: Repository | str, candidates: Candidates, selection: Selection, shown: Shown
) -> int:
    """Compare candidates of a repository, or of the folder that all began as; print the result."""
    candidates = for_issue(candidates, shown.issue)
    verdicts, bad = read_verdicts(shown.verdicts)
    interrupted = False
    if shown.run is not None:
        runs = run_checks(
            candidates,
            repository,
            selection,
            run=shown.run,
            timeout=shown.timeout,
            task=shown.batch,
        )
        verdicts += runs.verdicts
        interrupted = runs.interrupted
    begin_parsing()
    with progress("Comparing"):
        worktrees = compare_candidates(
            repository if isinstance(repository, str) else repository.top,
            candidates,
            batch=shown.batch,
            ignored=tuple(glob for glob in shown.ignore_path or IGNORED if glob),
            threshold=DISTANCE if shown.threshold is None else shown.threshold,
            linkage=shown.linkage or LINKAGE,
            intent=shown.intent,
            verdicts=verdicts,
        )
    if shown.html is not None:
        from excise_server.report.html_groups import worktrees_page

        write_text(shown.html, worktrees_page(worktrees))
    if shown.as_json:
        print(json_text(worktrees_document(worktrees)))
    else:
        from excise_server.report.tables import candidate_lines

        show(partial(candidate_lines, worktrees))
    say_left_out(bad)
    if worktrees.candidates.rejected:
        say_rejected(worktrees)
    if interrupted:
        return 130
    return 1 if worktrees.candidates.rejected or bad else 0


def say_rejected(worktrees: Review) -> None:
    """Report on standard error which candidates were left out, and why."""
    for name, rejected in zip(
        rejected_names(worktrees), worktrees.candidates.rejected, strict=True
    ):
        say(f"left out: {SourceError(rejected.reason, name=name, hint=rejected.hint)}")


def opened(folder: str, *, only_commits: bool = False) -> Repository:
    """Open the repository of a folder that the user named.

    Raises SourceError if it is not a folder, or is in no repository that can be used.

    - ``only_commits``: whether nothing but commits is read, so that it may be bare.
    """
    real = os.path.realpath(folder)
    if not os.path.isdir(real):
        reason = "it is not a folder" if os.path.exists(real) else "no such folder"
        raise SourceError(reason, name=folder, hint="name a folder of a git repository")
    try:
        return open_commits(real) if only_commits else open_folder(real, [real])
    except SourceError as error:
        hint = error.hint or "name a folder of a working tree"
        raise SourceError(error.reason, name=folder, hint=hint) from error


def read_candidates(
    repo: str, origin: str | None, names: Sequence[str], selection: Selection, hint: str = ""
) -> tuple[str, Candidates]:
    """Return the top folder of what candidates change, and the candidates.

    Raises click.UsageError if an origin has no folders, or options about git. Raises
    excise_server.sources.SourceError if the repository or the origin cannot be read.

    - ``origin``: without a repository, the folder from which all candidates were copied.
    - ``names``: the only candidates of the repository; with an origin, the folders that were copied
      from it.
    - ``hint``: how the command takes these folders, if not as arguments.
    """
    if origin is None:
        with progress("Reading"):
            repository = opened(repo)
            return repository.top, chosen_candidates(find_candidates(repository, selection), names)
    if selection != Selection(only=selection.only) or repo != ".":
        raise click.UsageError("--origin reads plain folders: drop the options about git.")
    if not names:
        raise click.UsageError(f"--origin needs the folders that began as it{hint}.")
    with progress("Reading"):
        return os.path.realpath(origin), find_folders(origin, names, only=selection.only)
