"""``excise review``: the candidates of a task side by side, file by file and hunk by hunk."""

from __future__ import annotations

from dataclasses import dataclass, replace

import click

from excise_server.candidates.worktrees import compare_candidates
from excise_server.cli.candidate_options import batch_option, intent_option, selection_options
from excise_server.cli.output import write_text
from excise_server.cli.progress import progress
from excise_server.cli.reviewed import read_candidates
from excise_server.cli.streams import console
from excise_server.cli.verdicts import say_left_out, verdict_option
from excise_server.cli.worktrees import say_rejected
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import SourceError
from excise_server.report.documents import json_text
from excise_server.report.review import chosen_hunks, review_document
from excise_server.report.review_lines import ORIGIN, Folding
from excise_server.report.review_shapes import ReviewDocument
from excise_server.sources.candidates import Candidates, Selection
from excise_server.sources.verdicts import read_verdicts

__all__ = ["command"]

_FORMATS = ("text", "markdown", "json", "html")


@dataclass(frozen=True, slots=True)
class _Shown:
    """The parts of the review to show, how, and what the candidates are for."""

    format: str
    against: str
    whole: bool
    paths: tuple[str, ...]
    hunks: tuple[str, ...]
    output: str | None
    intent: str


@click.command("review", short_help="Show what candidates change, hunk by hunk, side by side.")
@click.argument("candidates", nargs=-1, metavar="[CANDIDATE...]")
@click.option("--repo", metavar="DIR", default=".", help="The repository.  [default: this one]")
@click.option(
    "--origin",
    metavar="DIR",
    help="CANDIDATEs are folders, which need no git, and all began as DIR.",
)
@selection_options
@batch_option
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
@click.option(
    "--format",
    type=click.Choice(_FORMATS),
    default="text",
    show_default=True,
    help="For people, for a comment or a prompt, for programs (docs/json.md), for a browser.",
)
@click.option("--output", "-o", metavar="FILE", help="Write it to a file.")
def command(
    *,
    candidates: tuple[str, ...],
    repo: str,
    origin: str | None,
    batch: str,
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
    shown = _Shown(format, against, whole, path, hunk, output, intent)
    return _review(top, every, "" if batch == "all" else batch, shown, verdicts)


def _review(
    top: str, candidates: Candidates, batch: str, shown: _Shown, files: tuple[str, ...]
) -> int:
    verdicts, bad = read_verdicts(files)
    with progress("Comparing"):
        compared = compare_candidates(
            top, candidates, batch=batch, intent=shown.intent, verdicts=verdicts
        )
        document = chosen_hunks(review_document(compared), shown.paths, shown.hunks)
    _print(document, replace(shown, against=_id_of(document, shown.against)))
    say_left_out(bad)
    say_rejected(compared)
    return 1 if compared.candidates.rejected or bad else 0


def _id_of(document: ReviewDocument, name: str) -> str:
    """Return the id of the candidate that others are shown against.

    Raises
    ------
    SourceError
        If the review has no candidate of that name.
    """
    if not name:
        return ORIGIN
    entries = [entry for batch in document.batches for entry in batch.candidates]
    named = [e.id for e in entries if name in (e.id, e.label, e.branch, e.id.partition(":")[2])]
    if len(named) != 1:
        labels = ", ".join(entry.label for entry in entries[:8])
        raise SourceError(f"no candidate is called {visible(name)}", hint=f"there are {labels}")
    return named[0]


def _print(document: ReviewDocument, shown: _Shown) -> None:
    folding = Folding(shown.against, shown.whole)
    text = _written(document, shown, folding)
    if text is not None and shown.output is not None:
        write_text(shown.output, f"{text}\n")
    elif text is not None:
        print(text)
    else:
        # Imported late: they import rich, which the help does not need.
        from excise_server.report.records import UNWRAPPED
        from excise_server.report.review_text import review_lines

        out = console()
        if not out.is_terminal:
            out.width = UNWRAPPED
        for line in review_lines(document, folding, out):
            out.print(line)


def _written(document: ReviewDocument, shown: _Shown, folding: Folding) -> str | None:
    """Return the document in its format, or None for lines on the console."""
    if shown.format == "json":
        return json_text(document)
    if shown.format == "html":
        from excise_server.report.html_review import review_page

        return review_page(document, folding)
    if shown.format == "markdown":
        from excise_server.report.review_markdown import markdown_page

        return markdown_page(document, folding)
    if shown.output is None:
        return None
    from excise_server.report.review_text import text_page

    return text_page(document, folding)
