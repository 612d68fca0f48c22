"""``excise take``: the chosen parts of candidates, as one git patch or in the working tree."""

from __future__ import annotations

import os
import secrets
import shlex
import sys
import time
from functools import partial
from pathlib import Path

import click
import msgspec

from excise_server.candidates.take import TakenFromReview, take_from_review
from excise_server.candidates.written import write_files
from excise_server.cli.candidate_options import batch_option, selection_options
from excise_server.cli.progress import progress
from excise_server.cli.reviewed import read_candidates
from excise_server.cli.streams import say
from excise_server.foundation.escape import source_text
from excise_server.foundation.files import file_error
from excise_server.foundation.inputs import SourceError
from excise_server.foundation.paths import visible
from excise_server.git.worktree_files import SHA256_DIGITS
from excise_server.report.documents import json_text
from excise_server.report.take import take_document
from excise_server.review.choices import Plan, choices_named, choices_planned
from excise_server.review.taking import Taken
from excise_server.sources.candidates import Selection
from excise_server.workers.quarantine import cache_folder

__all__ = ["command"]

_MAX_PLAN = 10_000_000


@click.command("take", short_help="Put together what you choose of candidates, as one patch.")
@click.argument("choices", nargs=-1, metavar="[CANDIDATE [PATH[#LINES]]...]...")
@click.option("--repo", metavar="DIR", default=".", help="The repository.  [default: this one]")
@click.option(
    "--plan", metavar="FILE", help="Take what a program chose (docs/json.md); - to read it."
)
@click.option("--digest", metavar="DIGEST", help="Only if the review still has this digest.")
@click.option(
    "--among", metavar="CANDIDATE", multiple=True, help="The review was of these candidates only."
)
@click.option(
    "--origin", metavar="DIR", help="The folder that folders without git (--among) began as."
)
@click.option("--conflicts", is_flag=True, help="Also take parts that conflict with the target.")
@click.option("--write", is_flag=True, help="Change the files of this checkout, all or none.")
@selection_options
@batch_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs (docs/json.md).")
def command(
    *,
    choices: tuple[str, ...],
    repo: str,
    plan: str | None,
    digest: str | None,
    among: tuple[str, ...],
    origin: str | None,
    conflicts: bool,
    write: bool,
    as_json: bool,
    batch: str,
    selection: Selection,
) -> int:
    """Print one git patch of what you choose, made for HEAD of this checkout.

    \b
      excise take claude-a                         all of a candidate
      excise take claude-a a.py b.py#12-20         a file and a hunk of it
      excise take claude-a a.py#3-8 codex-b b.py   some of two candidates
      excise take claude-a | git apply             the same, applied to your files

    A hunk is named by the lines of the origin, as excise review shows it. Nothing is taken if two
    choices overlap, or if the target has changed the same lines since (--conflicts takes these).
    If a file has the name of a candidate, write ./NAME.

    --write changes the files of this checkout instead, and prints the command that undoes it. Your
    other edits in these files stay. If one of them is on the lines of a hunk, nothing is written.
    The command never stages or commits.
    """
    if (plan is None) is not bool(choices):
        raise click.UsageError("name a CANDIDATE, or give a --plan FILE, and not both.")
    if plan is not None and (digest is not None or conflicts):
        raise click.UsageError("a --plan has its own digest, and says which conflicts it takes.")
    planned = None if plan is None else _read_plan(plan)
    top, candidates = read_candidates(repo, origin, among, selection, ": --among FOLDER")
    if planned is None:
        choose = partial(choices_named, choices, in_conflict=conflicts)
    else:
        choose, digest = partial(choices_planned, planned), planned.digest
    with progress("Putting together"):
        result = take_from_review(
            candidates,
            choose,
            batch="" if batch == "all" else batch,
            digest=digest,
            sha256=origin is None and len(candidates.origin) == SHA256_DIGITS,
        )
    return _hand_over(top, result, write=write, as_json=as_json)


def _read_plan(path: str) -> Plan:
    name = "standard input" if path == "-" else path
    try:
        if path == "-":
            data = sys.stdin.buffer.read(_MAX_PLAN + 1)
        else:
            with open(path, "rb") as file:
                data = file.read(_MAX_PLAN + 1)
    except (OSError, ValueError) as error:
        raise file_error(path, error).named(name) from error
    hint = 'give {"digest": DIGEST, "choices": [{"candidate": ID, "path": PATH, "hunk": "3-8"}]}'
    if len(data) > _MAX_PLAN:
        raise SourceError(f"over {_MAX_PLAN // 1_000_000} MB", name=name, hint=hint)
    try:
        return msgspec.json.decode(data, type=Plan)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SourceError(f"not a plan: {error}", name=name, hint=hint) from error


def _hand_over(top: str, result: TakenFromReview, *, write: bool, as_json: bool) -> int:
    """Write the files, or print the patch."""
    taken = result.taken
    undo = _write(top, taken) if write else None
    if as_json:
        print(json_text(take_document(top, result, undo)))
    elif write:
        if undo is not None:
            print(undo)
    elif sys.stdout.isatty():
        print(source_text(result.patch.decode("utf-8", "backslashreplace")), end="")
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(result.patch)
        sys.stdout.buffer.flush()
    for note in taken.notes:
        say(f"note: {note}")
    if not taken.files:
        say("nothing to take: the target already has all of it")
    return 0


def _write(top: str, taken: Taken) -> str | None:
    """Write the files, and return the command that undoes it, unless there was nothing to do."""
    cache = cache_folder()
    if cache is None:
        raise SourceError("no folder to save the undo patch in", hint="set HOME or XDG_CACHE_HOME")
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-{secrets.token_hex(2)}.patch"
    file = cache / "undo" / name
    written = write_files(top, taken.files, file)
    for change in written:
        say(f"{change.edit.status}: {visible(change.edit.path)}")
    if not written:
        say("nothing was written: the files already have this content")
        return None
    return _command(top, file)


def _command(top: str, file: Path) -> str:
    """Return a command that also works in a folder of another repository.

    There git would look for the paths from the top of that repository, and do nothing.
    """
    apply = ["git", "-C", top, "apply", "--whitespace=nowarn", str(file)]
    if not os.path.lexists(os.path.join(top, ".git")):
        apply = ["env", f"GIT_CEILING_DIRECTORIES={os.path.dirname(top)}", *apply]
    return shlex.join(apply)
