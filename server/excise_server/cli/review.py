"""``excise review``: the page of all candidates, or the hunks of some, side by side."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial

import click

from excise.clustering import DISTANCE, LINKAGE
from excise.patches import IGNORED
from excise.ranking import INTENT
from excise_server.candidates.chosen import chosen_batches, chosen_candidates, for_issue
from excise_server.candidates.compared import compared
from excise_server.candidates.worktrees import compare_candidates
from excise_server.cli.candidate_options import (
    batch_option,
    intent_option,
    issue_option,
    selection_options,
)
from excise_server.cli.options import choice_option, output_option, repo_option
from excise_server.cli.progress import progress
from excise_server.cli.streams import say, show
from excise_server.cli.verdicts import (
    begin_parsing,
    run_checks,
    run_options,
    say_left_out,
    verdict_option,
)
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import SourceError
from excise_server.git.checkouts import Selection
from excise_server.git.repository import Repository, open_commits, open_folder
from excise_server.report.page import ORIGIN, Page, rejected_names
from excise_server.report.review import chosen_hunks, review_document
from excise_server.sources.candidates import Candidates, find_candidates
from excise_server.sources.folders import find_folders
from excise_server.sources.verdicts import read_verdicts
from excise_server.wire.documents import ReviewDocument, json_text


@click.command("review")
@click.argument("candidates", nargs=-1, metavar="[CANDIDATE...]")
@repo_option
@click.option(
    "--origin",
    metavar="DIR",
    help="CANDIDATEs are folders, which need no git, and all began as DIR.",
)
@selection_options
@batch_option
@issue_option
@intent_option
@verdict_option
@run_options
@click.option(
    "--path",
    metavar="GLOB",
    multiple=True,
    help="Show the hunks of files so named, or one hunk: PATH#LINES.",
)
@click.option(
    "--against",
    metavar="CANDIDATE",
    default="",
    help="Show hunks against its text, not against the origin's.",
)
@choice_option(
    "--format",
    ("text", "markdown", "json", "html"),
    "text",
    "For people, for a comment or a prompt, for programs (docs/json.md), for a browser.",
)
@output_option
@click.option(
    "--verbose", "-v", is_flag=True, help="All of it: every candidate, long texts, all numbers."
)
def command(
    *,
    candidates: tuple[str, ...],
    repo: str,
    origin: str | None,
    batch: str,
    issue: str,
    intent: str,
    verdicts: tuple[str, ...],
    run: str | None,
    timeout: float | None,
    path: tuple[str, ...],
    against: str,
    format: str,
    output: str | None,
    verbose: bool,
    selection: Selection,
) -> int:
    """Show what all candidates did, for deciding; or the hunks of every CANDIDATE that is named.

    Candidates are worktrees (as they lie there) and what options name. Each is read against the
    commit that it started from, and its edits are replayed onto HEAD of this checkout. So a stale
    one is compared by what it changed, not by what it lacks.

    Attempts at one task stand together: they are the same or near each other, half of the hunks of
    each overlap, their messages name one issue, or their tool says so. A block is a family: edits
    that are near each other, each to be read. In it those with the same code are one line. The
    first is the edit that most candidates make; of edits made equally often, what is nearest to all
    others, then fewer tokens (--intent fix: fewer tokens alone). Broken ones come after all whole
    ones, then those that change no code. Test results (--verdicts, --run) take precedence. The
    order is advice.

    With CANDIDATEs, --path or --against, hunks are shown: runs of lines of the origin that somebody
    changes, with each variant once and the candidates that have it. PATH#LINES names a hunk by the
    lines of the origin, and PATH#12+ an insertion by the line before it. HTML and JSON have both.

    Git is only read, and only the command of --run is run, with your rights, in the folder of every
    candidate.
    """
    if run is None and timeout is not None:
        raise click.UsageError("--timeout needs --run COMMAND.")
    top, found = read_candidates(repo, origin, candidates, selection)
    has_hunks = bool(candidates and origin is None) or bool(path or against)
    return print_review(
        top,
        for_issue(found, issue),
        task="" if batch == "all" else batch,
        intent=intent,
        verdicts=verdicts,
        run=run,
        timeout=timeout,
        paths=path,
        hunks_against=against if has_hunks else None,
        format=format,
        output=output,
        verbose=verbose,
    )


def print_review(
    top: str,
    candidates: Candidates,
    *,
    task: str = "",
    intent: str = INTENT,
    verdicts: Sequence[str] = (),
    run: str | None = None,
    timeout: float | None = None,
    ignored: Sequence[str] = IGNORED,
    threshold: float = DISTANCE,
    linkage: str = LINKAGE,
    paths: Sequence[str] = (),
    hunks_against: str | None = None,
    format: str = "text",
    output: str | None = None,
    verbose: bool = False,
) -> int:
    """Compare candidates that were read, print the result, and return the exit code.

    - ``run``, ``timeout``: a command to run for each candidate, and its seconds.
    - ``hunks_against``: the candidate that hunks are shown against, or empty for the origin; None
      for the page that has none.
    """
    judged, bad = read_verdicts(verdicts)
    interrupted = False
    if run is not None:
        of_task = candidates
        if task:  # only its candidates are run, and which they are takes comparing all
            begin_parsing()
            with progress("Comparing"):
                of_task = chosen_batches(candidates, compared(candidates).batches, task)[0]
        runs = run_checks(of_task.found, run, None, timeout)
        judged += runs.verdicts
        interrupted = runs.interrupted
    begin_parsing()
    with progress("Comparing"):
        review = compare_candidates(
            top, candidates, batch=task, intent=intent, verdicts=judged,
            ignored=ignored, threshold=threshold, linkage=linkage,
        )  # fmt: skip
        document = review_document(review)
        if paths:
            document = chosen_hunks(document, paths)
    _print(document, hunks_against, format, output, verbose=verbose)
    say_left_out(bad)
    names = rejected_names([rejected.id for rejected in candidates.rejected])
    for name, rejected in zip(names, candidates.rejected, strict=True):
        say(f"left out: {SourceError(rejected.reason, name=name, hint=rejected.hint)}")
    if interrupted:
        return 130
    return 1 if candidates.rejected or bad else 0


def _print(
    document: ReviewDocument,
    hunks_against: str | None,
    format: str,
    output: str | None,
    *,
    verbose: bool,
) -> None:
    page = Page(document, verbose=verbose)
    against = _id_of(document, hunks_against or "")
    # Views are imported late: most import rich, which the help does not need.
    if format == "json":
        show(json_text(document), output)
    elif format == "html":
        from excise_server.report.html_review import review_page

        show(review_page(page, against), output)
    elif format == "markdown":
        from excise_server.report.markdown_pages import review_markdown

        show(review_markdown(page, None if hunks_against is None else against), output)
    else:
        from excise_server.report.page_text import page_lines, review_lines

        lines = partial(page_lines, page)
        show(lines if hunks_against is None else partial(review_lines, page, against), output)


def _id_of(document: ReviewDocument, name: str) -> str:
    """Return the id of the candidate that others are shown against.

    Raises SourceError if the review has no candidate of that name.
    """
    if not name:
        return ORIGIN
    entries = document.candidates
    named = [e.id for e in entries if name in (e.id, e.label, e.branch, e.id.partition(":")[2])]
    if len(named) != 1:
        labels = ", ".join(entry.label for entry in entries[:8])
        raise SourceError(f"no candidate is called {visible(name)}", hint=f"there are {labels}")
    return named[0]


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
            repository = opened(repo, only_commits=not selection.worktrees)
            return repository.top, chosen_candidates(find_candidates(repository, selection), names)
    if selection != Selection(only=selection.only) or repo != ".":
        raise click.UsageError("--origin reads plain folders: drop the options about git.")
    if not names:
        raise click.UsageError(f"--origin needs the folders that began as it{hint}.")
    with progress("Reading"):
        return os.path.realpath(origin), find_folders(origin, names, only=selection.only)
