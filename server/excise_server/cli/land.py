"""``excise land``: candidates of different tasks together, as a patch, in files, or a branch."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr
from functools import partial

import click

from excise_server.candidates.landing import land_candidates
from excise_server.candidates.scratch import checked_links, scratch_copy
from excise_server.cli.candidate_options import Asked, candidate_options
from excise_server.cli.options import output_option, verbose_option
from excise_server.cli.progress import progress
from excise_server.cli.review import opened, read_candidates
from excise_server.cli.streams import say, show
from excise_server.cli.take import make_good, write_taken
from excise_server.cli.verdicts import run_on_mix, verdict_option
from excise_server.foundation.changes import Side
from excise_server.foundation.escape import printable, shown_name
from excise_server.foundation.inputs import SourceError
from excise_server.git.branches import NewCommit, check_branch, make_branch, written
from excise_server.git.repository import Repository
from excise_server.report.blocks import markdown, terminal
from excise_server.report.land import MOST, land_blocks, land_document
from excise_server.report.markdown import LONGEST_PAGE
from excise_server.report.tables import plain_text
from excise_server.review.git_patch import FileEdit
from excise_server.review.landing import Landing
from excise_server.sources.candidates import SAVED
from excise_server.sources.verdicts import read_verdicts
from excise_server.wire.documents import json_text


@click.command("land")
@click.argument("candidates", nargs=-1, metavar="[CANDIDATE...]")
@candidate_options
@verdict_option
@click.option("--anyway", is_flag=True, help="Also land what breaks, conflicts or fails.")
@click.option("--write", is_flag=True, help="Change the files of this checkout, all or none.")
@click.option("--branch", metavar="NAME", help="Make a branch with a commit for each candidate.")
@click.option(
    "--format",
    type=click.Choice(("text", "markdown", "json")),
    help="The page, or all of it for programs (docs/json.md).  [default: see below]",
)
@output_option
@verbose_option
def command(
    asked: Asked,
    *,
    candidates: tuple[str, ...],
    verdicts: tuple[str, ...],
    anyway: bool,
    write: bool,
    branch: str | None,
    format: str | None,
    output: str | None,
    verbose: bool,
) -> int:
    """Put candidates of different tasks together, and say what fits and what does not.

    \b
      excise land                          what fits, and why the rest does not
      excise land | git apply              the same, applied to your files
      excise land alpha beta               these two, in this order if they fit
      excise land --branch together        a new branch, one commit for each

    Without CANDIDATE, one of each task lands: the one that passes (--verdicts), or the only one. A
    task with several is undecided, and listed: name all that should land.

    They land in the order in which the fewest collide. What changes the same lines as another
    collides, unless both only add what may stand in any order: imports, functions, methods, keys,
    entries of changelogs. What removes a name that another begins to use, or that the target uses
    in another file, breaks it. Both are left out, with the reason, and the exit code is 1.

    The union is checked as excise take checks a mix. --run COMMAND runs on it in a scratch copy
    (what git ignores is not there), with your rights. If it does not pass, it is run on fewer
    candidates until it is known with which one it fails, and nothing is written. --anyway lands
    what breaks, is in conflict with the target or fails, with a note.

    The page is printed on a terminal. Elsewhere, and with -o, the union is written as a patch, and
    the page goes to standard error; --format chooses.

    --write changes the files of this checkout; excise take --undo undoes it. --branch makes a new
    branch on top of the target, without touching your files: each commit has the author, the date
    and the message of its candidate, or yours if it is not committed.
    """
    repo, origin, run = asked.repo, asked.origin, asked.run
    if write and branch is not None:
        raise click.UsageError("--write changes your files, --branch does not: give one of them.")
    if origin is not None and not (run is None and branch is None):
        raise click.UsageError("--run and --branch need a repository: leave out --origin.")
    if branch is not None and asked.selection.onto == SAVED:
        raise click.UsageError("--branch begins at a commit: leave out --onto saved.")
    repository = None if origin is not None else opened(repo)
    if repository is not None and branch is not None:
        check_branch(repository, branch)
    if not write or origin is not None:
        make_good(repo, origin)
    top, every = read_candidates(
        asked, candidates if origin else (), sought=() if origin else candidates
    )
    judged, bad = read_verdicts(verdicts)
    with progress("Putting together"):
        landing = land_candidates(
            repository,
            every,
            () if origin else candidates,
            task=asked.task,
            verdicts=judged,
            anyway=anyway,
        )
    notes = list[str]()
    is_good = True
    if run is not None and repository is not None and landing.order:
        problem = _run(repository, landing, run, asked)
        notes.append(problem or f"{printable(run)}: passes")
        is_good = anyway or not problem
    undo, commits = None, list[str]()
    if is_good and write:
        undo = write_taken(repo, origin, landing.taken)
    if is_good and repository is not None and branch is not None and landing.order:
        commits = make_branch(
            repository, branch, landing.taken.origin, _commits(repository, landing)
        )
    document = land_document(
        top, landing, every.rejected, undo=undo, branch=branch if commits else None,
        commits=commits, notes=notes,
    )  # fmt: skip
    most = len(document.landed) + len(document.left_out) + len(document.notes) if verbose else MOST
    blocks = list(land_blocks(document, max(most, MOST)))
    if format == "json":
        show(json_text(document), output)
    elif format == "markdown":
        show(markdown(blocks, LONGEST_PAGE, "excise land -v"), output)
    elif format == "text" or (output is None and (write or branch or sys.stdout.isatty())):
        show(partial(terminal, blocks), output)
    else:
        print(plain_text(partial(terminal, blocks)), file=sys.stderr)
        if is_good:
            _write_patch(landing.taken.patch, output)
    for each in every.rejected:
        say(f"left out: {SourceError(each.reason, name=shown_name(each.id), hint=each.hint)}")
    for line in bad:
        say(f"left out: {line}")
    is_all = not (landing.left_out or landing.undecided or every.rejected or bad)
    return 0 if is_all and is_good else 1


def _write_patch(patch: bytes, output: str | None) -> None:
    if output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(patch)
        sys.stdout.buffer.flush()
        return
    try:
        with open(output, "wb") as file:
            file.write(patch)
    except OSError as error:
        raise SourceError(f"cannot write {output}: {error.strerror or error}") from error


def _run(repository: Repository, landing: Landing, run: str, asked: Asked) -> str:
    """Run a command on the union, and return with which candidate it fails, or an empty string."""
    order, steps, origin = landing.order, landing.taken.steps, landing.taken.origin
    linked = checked_links(repository, origin, asked.link)

    def reason_with(count: int) -> str:
        files = dict[str, FileEdit]()
        for step in steps[:count]:
            files |= step
        changed = [file for file in files.values() if file.is_edit]
        with scratch_copy(repository, origin, changed, linked) as (folder, left_out):
            for path in left_out if count == len(steps) else ():
                say(f"not in the scratch copy: {shown_name(path)}")
            return run_on_mix(folder, run, asked.timeout)

    if not (reason := reason_with(len(steps))):
        return ""
    words = f"{printable(run)}: {reason}"
    with redirect_stderr(io.StringIO()):
        if reason_with(0):
            return f"{words}; it does not pass on the target, either"
        passing, failing = 0, len(steps)
        while failing - passing > 1:
            middle = (passing + failing) // 2
            passing, failing = (passing, middle) if reason_with(middle) else (middle, failing)
    label = shown_name(order[failing - 1].label)
    before = "on the target alone" if not passing else f"with the {passing} before it"
    return f"{words}; it fails with {label}, and passes {before}"


def _commits(repository: Repository, landing: Landing) -> list[NewCommit]:
    commits = []
    names = dict[str, str]()
    for candidate, step in zip(landing.order, landing.taken.steps, strict=True):
        files: dict[str, Side | None] = {}
        for path, edit in step.items():
            files[names.get(path, path)] = None
            names[path] = edit.path
        files |= {edit.path: edit.new for edit in step.values() if edit.new is not None}
        own = candidate.written
        if own is None and candidate.commit and candidate.base and not candidate.uncommitted:
            own = written(repository, candidate.base, candidate.commit)
        if own is None:
            title = candidate.given if candidate.kind in ("patch", "run") else ""
            commits.append(NewCommit(files, f"{shown_name(title or candidate.label)}\n"))
        else:
            commits.append(NewCommit(files, own.message, own.author, own.mail, own.date))
    return commits
