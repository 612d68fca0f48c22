"""``excise review``: the page of all candidates, or the hunks of some, side by side."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import click

from excise_server.candidates.chosen import chosen_candidates, for_issue, is_known
from excise_server.cli.candidate_options import (
    Asked,
    candidate_options,
    given_options,
    nothing_found,
)
from excise_server.cli.inputs import report_rejected
from excise_server.cli.options import (
    format_option,
    intent_option,
    output_option,
    path_option,
    verbose_option,
)
from excise_server.cli.progress import progress
from excise_server.cli.streams import say, show
from excise_server.cli.verdicts import begin_parsing, run_checks, verdict_option
from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import SourceError
from excise_server.git.checkouts import Selection
from excise_server.git.repository import Repository, open_commits, open_folder
from excise_server.memory.documents import kept_document
from excise_server.report.page import ORIGIN, Page, rejected_names
from excise_server.review.candidate import candidate_called
from excise_server.sources.candidates import Candidates, find_candidates
from excise_server.sources.folders import find_folders
from excise_server.sources.verdicts import read_verdicts
from excise_server.wire.documents import json_text


@click.command("review")
@click.argument("candidates", nargs=-1, metavar="[CANDIDATE...]")
@candidate_options
@verdict_option
@click.option(
    "--junit",
    metavar="FILE",
    default="",
    help="Where the command of --run writes JUnit XML: tests are told by name.",
)
@intent_option
@path_option
@click.option(
    "--against",
    metavar="CANDIDATE",
    default="",
    help="Show hunks against its text, not against the origin's.",
)
@format_option
@output_option
@verbose_option
def command(
    asked: Asked,
    *,
    candidates: tuple[str, ...],
    junit: str,
    intent: str,
    verdicts: tuple[str, ...],
    path: tuple[str, ...],
    against: str,
    format: str,
    output: str | None,
    verbose: bool,
) -> int:
    """Show what all candidates did, for deciding; or the hunks of every CANDIDATE that is named.

    Candidates are worktrees (as they lie there) and what options name. Each is read against the
    commit that it started from, and its edits are replayed onto HEAD of this checkout (with --onto
    saved, onto its saved files). So a stale one is compared by what it changed, not by what it
    lacks.

    Attempts at one task stand together: they are the same, half of the hunks of the smaller one
    overlap the other's, their messages name one issue, or their tool says so. A block is a group of
    similar edits, each to be read. In it those with the same code are one line. The first is the
    edit that most candidates make; of edits made equally often, what is nearest to all
    others, then fewer tokens (--intent fix: fewer tokens alone). Broken ones come after all whole
    ones, then those that change no code. Test results (--verdicts, --run) take precedence. The
    order is advice.

    With CANDIDATEs, --path or --against, hunks are shown: runs of lines of the origin that somebody
    changes, with each variant once and the candidates that have it. PATH#LINES names a hunk by the
    lines of the origin (--path PATH#LINES shows it alone), and PATH#12+ an insertion by the line
    before it. HTML and JSON have both.

    Git is only read, and only the command of --run is run, with your rights: on the target, and
    once for each same code with the same tests, on what is compared: the target with its edits. A
    worktree that started from the target is that; others have a scratch copy, into which --link
    links folders that git ignores. Its exit status alone is the verdict.
    """
    repo, selection = asked.repo, asked.selection
    top, found = read_candidates(asked, candidates)
    has_hunks = bool(candidates and asked.origin is None) or bool(path or against)
    if not found.found and format == "text":
        show("\n".join(nothing_found(selection, found)), output)
        return report_rejected(found.rejected)
    if junit and asked.run is None:
        raise click.UsageError("--junit needs --run COMMAND.")
    if os.path.isabs(junit) or ".." in junit.split("/"):
        raise click.UsageError("--junit names a file in the folder of a run, as 'report.xml' does.")
    judged, bad = read_verdicts(verdicts)
    interrupted = False
    if asked.run is not None:
        is_repository = asked.origin is None
        place = opened(repo, only_commits=not selection.worktrees) if is_repository else top
        runs = run_checks(found, place, asked, asked.run, junit)
        judged += runs.verdicts
        interrupted = runs.interrupted
    begin_parsing()
    with progress("Comparing"):
        base = candidate_called(against, found.found, reads=True).id if against else ORIGIN
        document = kept_document(top, found, task=asked.task, intent=intent, verdicts=judged)
        if path:
            from excise_server.report.review import chosen_hunks

            document = chosen_hunks(document, path)
    # A branch is found by its name.
    left_out = (
        "git",
        "verdicts",
        "run",
        "junit",
        "link",
        "timeout",
        "path",
        "against",
        "format",
        "output",
    )
    options = shlex.join(given_options(*left_out, "task", "intent", "verbose"))
    page = Page(document, verbose=verbose, options=printable(options))
    # Views are imported late: most import rich, which the help does not need.
    if format == "json":
        show(json_text(document), output)
    elif format == "html":
        from excise_server.report.overview import review_page

        show(review_page(page, base), output)
    elif format == "markdown":
        from excise_server.report.blocks import markdown
        from excise_server.report.hunk_page import hunk_blocks
        from excise_server.report.markdown import LONGEST_PAGE
        from excise_server.report.overview import WAY, overview_blocks

        shown = hunk_blocks(page, base) if has_hunks else overview_blocks(page)
        show(markdown(shown, sys.maxsize if verbose else LONGEST_PAGE, WAY), output)
    else:
        from excise_server.report.blocks import terminal
        from excise_server.report.hunk_page import SHOWS_ALL, hunk_blocks
        from excise_server.report.overview import overview_blocks
        from excise_server.report.tables import plain_text

        # The title is for a page by itself.
        blocks = [*hunk_blocks(page, base, is_named=False)][bool(page.document.tasks) :]
        hunks = partial(terminal, blocks)
        show(hunks if has_hunks else partial(terminal, overview_blocks(page)), output)
        is_partial = not candidates or path or against or asked.origin or output is not None
        is_seen = sys.stdout.isatty() and not os.environ.get("CI") and not is_partial
        # Candidates were looked at if nothing of them was folded.
        if is_seen and SHOWS_ALL not in plain_text(hunks):
            from excise_server.memory.reviewed import note_reviewed

            for candidate in found.found:
                note_reviewed(opened(repo), candidate, "excise review")
    for line in bad:
        say(f"left out: {line}")
    names = rejected_names([rejected.id for rejected in found.rejected])
    for name, rejected in zip(names, found.rejected, strict=True):
        say(f"left out: {SourceError(rejected.reason, name=name, hint=rejected.hint)}")
    if interrupted:
        return 130
    return 1 if found.rejected or bad else 0


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
        no_git = "" if only_commits else " working tree, or of no git: --origin DIR FOLDER.."
        hint = error.hint or f"name a folder of a{no_git or ' git repository'}"
        raise SourceError(error.reason, name=folder, hint=hint) from error


def read_candidates(
    asked: Asked, names: Sequence[str], hint: str = "", sought: Sequence[str] = ()
) -> tuple[str, Candidates]:
    """Return the top folder of what candidates change, and the candidates.

    Raises click.UsageError if an origin has no folders, or options about git. Raises
    excise_server.sources.SourceError if the repository or the origin cannot be read.

    - ``names``: the only candidates of the repository; with an origin, the folders that were copied
      from it.
    - ``hint``: how the command takes these folders, if not as arguments.
    - ``sought``: names that have to be among the candidates. Those that are not may be branches,
      requests or commits, as ``--git`` names them.
    """
    origin, selection = asked.origin, asked.selection
    if origin is None:
        with progress("Reading"):
            repository = opened(asked.repo, only_commits=not selection.worktrees)
            found = find_candidates(repository, selection)
            refs = [n for n in (*names, *sought) if not is_known(n, found)]
            if refs:
                git = (*selection.chosen.get("git", ()), *refs)
                wider = replace(selection, chosen={**selection.chosen, "git": git})
                with_refs = find_candidates(repository, wider)
                found = with_refs if len(with_refs.found) > len(found.found) else found
            _check_only(selection, found)
            found = for_issue(chosen_candidates(found, names, reads=True), asked.issue)
            return repository.top, found
    if selection != Selection(only=selection.only) or asked.repo != ".":
        raise click.UsageError("--origin reads plain folders: drop the options about git.")
    if not names:
        raise click.UsageError(f"--origin needs the folders that began as it{hint}.")
    with progress("Reading"):
        found = find_folders(origin, names, only=selection.only)
        _check_only(selection, found)
        return os.path.realpath(origin), for_issue(found, asked.issue)


def _check_only(selection: Selection, found: Candidates) -> None:
    if selection.only and not (found.found or found.unchanged or found.landed or found.rejected):
        globs = " ".join(shlex.quote(printable(glob)) for glob in selection.only)
        raise SourceError(f"no candidate has a name like --only {globs}")
