"""``excise review``: the candidates of a task side by side, file by file and hunk by hunk."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial

import click

from excise_server.candidates.chosen import for_issue
from excise_server.candidates.worktrees import compare_candidates
from excise_server.cli.candidate_options import (
    batch_option,
    intent_option,
    issue_option,
    selection_options,
)
from excise_server.cli.options import choice_option, output_option, repo_option
from excise_server.cli.progress import progress
from excise_server.cli.streams import show
from excise_server.cli.verdicts import say_left_out, verdict_option
from excise_server.cli.worktrees import opened, read_candidates, say_rejected
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import SourceError
from excise_server.git.checkouts import Selection
from excise_server.report.review import chosen_hunks, review_document
from excise_server.report.review_parts import ORIGIN, Folding
from excise_server.review.candidate import Candidate
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
@click.option("--path", metavar="GLOB", multiple=True, help="Show only files so named.")
@click.option(
    "--hunk",
    metavar="PATH[#LINES]",
    multiple=True,
    help="Show only this hunk, as the review names it, or this file.",
)
@click.option(
    "--against",
    metavar="CANDIDATE",
    default="",
    help="Show the others against its text, not against the origin's.",
)
@click.option(
    "--whole", is_flag=True, help="Fold nothing: what all agree on, generated files, long texts."
)
@choice_option(
    "--format",
    ("text", "markdown", "json", "html"),
    "text",
    "For people, for a comment or a prompt, for programs (docs/json.md), for a browser.",
)
@output_option
def command(
    *,
    candidates: tuple[str, ...],
    repo: str,
    origin: str | None,
    batch: str,
    issue: str,
    intent: str,
    verdicts: tuple[str, ...],
    path: tuple[str, ...],
    hunk: tuple[str, ...],
    against: str,
    whole: bool,
    format: str,
    output: str | None,
    selection: Selection,
) -> int:
    """Show what every CANDIDATE (default: all of them) changes, each hunk once.

    A hunk is a run of lines of the origin (HEAD of this checkout) that at least one candidate
    changes. It shows the origin's lines, and then each variant with the candidates that have it,
    the most frequent first. Lines of the origin start with their number, and lines that differ
    start with a plus sign; = 12-20 stands for lines of the origin. A hunk on which all agree is one
    line.

    Candidates are found, replayed onto the origin and grouped as by excise worktrees. The hunks are
    those of the chosen candidates. PATH#LINES names a hunk by the lines of the origin, and PATH#12+
    names an insertion by the line before it.
    """
    top, every = read_candidates(repo, origin, candidates, selection)
    every = for_issue(every, issue)
    judged, bad = read_verdicts(verdicts)
    with progress("Comparing"):
        compared = compare_candidates(
            top, every, batch="" if batch == "all" else batch, intent=intent, verdicts=judged
        )
        document = chosen_hunks(review_document(compared), path, hunk)
    folding = Folding(_id_of(document, against), whole)
    # Views are imported late: most import rich, which the help does not need.
    if format == "json":
        show(json_text(document), output)
    elif format == "html":
        from excise_server.report.html_review import review_page

        show(review_page(document, folding), output)
    elif format == "markdown":
        from excise_server.report import markdown_pages

        show(markdown_pages.review_page(document, folding), output)
    else:
        from excise_server.report.review_text import review_lines

        show(partial(review_lines, document, folding), output)
        is_partial = path or hunk or origin is not None or output is not None
        if candidates and not is_partial and sys.stdout.isatty() and not os.environ.get("CI"):
            _note_shown(repo, document, folding, compared.candidates.found)
    say_left_out(bad)
    say_rejected(compared)
    return 1 if compared.candidates.rejected or bad else 0


def _note_shown(
    repo: str, document: ReviewDocument, folding: Folding, candidates: Sequence[Candidate]
) -> None:
    """Remember candidates as looked at, if nothing of them was folded."""
    from excise_server.memory.reviewed import note_reviewed
    from excise_server.report.review_text import review_lines
    from excise_server.report.tables import plain_text

    if "--whole shows all)" not in plain_text(partial(review_lines, document, folding)):
        for candidate in candidates:
            note_reviewed(opened(repo), candidate, "excise review")


def _id_of(document: ReviewDocument, name: str) -> str:
    """Return the id of the candidate that others are shown against.

    Raises SourceError if the review has no candidate of that name.
    """
    if not name:
        return ORIGIN
    entries = [entry for batch in document.batches for entry in batch.candidates]
    named = [e.id for e in entries if name in (e.id, e.label, e.branch, e.id.partition(":")[2])]
    if len(named) != 1:
        labels = ", ".join(entry.label for entry in entries[:8])
        raise SourceError(f"no candidate is called {visible(name)}", hint=f"there are {labels}")
    return named[0]
