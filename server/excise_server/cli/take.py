"""``excise take``: the chosen parts of candidates, as one git patch or in the working tree."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import click
import msgspec

from excise_server.candidates.take import take_from_review
from excise_server.candidates.written import Checkout, opened_checkout
from excise_server.cli.candidate_options import (
    batch_option,
    given_options,
    selection_options,
)
from excise_server.cli.progress import progress
from excise_server.cli.streams import say
from excise_server.cli.worktrees import opened, read_candidates
from excise_server.foundation.escape import source_text, visible
from excise_server.foundation.files import file_error
from excise_server.foundation.inputs import SourceError
from excise_server.foundation.processes import held_signals
from excise_server.git.worktree_files import SHA256_DIGITS
from excise_server.report.documents import json_text
from excise_server.report.take import take_document, undone_document
from excise_server.review.mixes import BrokenMixError
from excise_server.review.taking import Plan, Taken, choices_named, choices_planned
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
@click.option("--anyway", is_flag=True, help="Also take a mix that cannot work: see below.")
@click.option("--write", is_flag=True, help="Change the files of this checkout, all or none.")
@click.option("--undo", is_flag=True, help="Undo the last --write of this checkout.")
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
    anyway: bool,
    write: bool,
    undo: bool,
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

    A mix is checked: it is refused if it does not parse, or (Python) if a name is missing or a
    method fell out of its class, although the origin and the whole candidates are fine. The message
    names the hunk that is missing; --anyway takes the mix all the same. A mix that passes parses,
    and no name is missing: that it works is not checked.

    --write changes the files of this checkout instead, and prints the command that undoes it. Your
    other edits in these files stay. If one of them is on the lines of a hunk, nothing is written.
    The command never stages or commits. --undo also undoes what was interrupted, and keeps what you
    edited since; if that is on the same lines, nothing is undone.
    """
    if undo:
        if choices or plan is not None or among or digest is not None or conflicts or write:
            raise click.UsageError("--undo undoes all of the last take: give no choices with it.")
        return _undo(repo, origin, as_json=as_json)
    if (plan is None) is not bool(choices):
        raise click.UsageError("name a CANDIDATE, or give a --plan FILE, and not both.")
    if plan is not None and (digest is not None or conflicts or anyway):
        raise click.UsageError("a --plan has its own digest, conflicts and anyway.")
    planned = None if plan is None else _read_plan(plan)
    if not write or origin is not None:
        _make_good(repo, origin)
    top, candidates = read_candidates(repo, origin, among, selection, ": --among FOLDER")
    if planned is None:
        choose = partial(choices_named, choices, in_conflict=conflicts)
    else:
        choose, digest = partial(choices_planned, planned), planned.digest
        anyway = planned.anyway
    with progress("Putting together"):
        try:
            result = take_from_review(
                candidates,
                choose,
                batch="" if batch == "all" else batch,
                digest=digest,
                anyway=anyway,
                sha256=origin is None and len(candidates.origin) == SHA256_DIGITS,
            )
        except BrokenMixError as error:
            # The choices alone are no command: the candidates were found by these options.
            options = shlex.join(given_options("plan", "conflicts"))
            mend = error.mend.replace("excise take", f"excise take {options}", 1)
            say(str(error).replace(error.mend, mend, 1) if options else str(error))
            return 1
    undo_command = _write(repo, origin, result.taken) if write else None
    if as_json:
        print(json_text(take_document(top, result, undo_command)))
    elif write:
        if undo_command is not None:
            print(undo_command)
    elif sys.stdout.isatty():
        print(source_text(result.patch.decode("utf-8", "backslashreplace")), end="")
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(result.patch)
        sys.stdout.buffer.flush()
    for note in result.taken.notes:
        say(f"note: {note}")
    if not result.taken.files:
        say("nothing to take: the target already has all of it")
    return 0


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


def _checkout(repo: str, origin: str | None) -> tuple[str, str | None]:
    """Return the top folder of the checkout and its own part of the repository, if there is one."""
    if origin is not None:
        return os.path.realpath(origin), None
    repository = opened(repo)
    return repository.top, repository.git_dir


@contextmanager
def _opened(
    top: str, git_dir: str | None, *, make: bool = True
) -> Iterator[tuple[Checkout | None, Callable[[], bool]]]:
    """Open the checkout to write, with signals held back, and say what became of earlier takes."""
    with held_signals() as stop:
        try:
            with opened_checkout(top, git_dir, cache_folder(), make=make) as checkout:
                try:
                    yield checkout, stop
                finally:
                    for note in checkout.said if checkout else ():
                        say(f"note: {note}")
        except SourceError as error:
            if not stop():
                raise
            say(str(error))
            raise click.Abort from error
        finally:
            sys.stderr.flush()  # a signal that was held back ends the process now


def _make_good(repo: str, origin: str | None) -> None:
    """Put back what an interrupted take changed, so that it is not read as somebody's edits."""
    try:
        with _opened(*_checkout(repo, origin), make=False):
            pass
    except SourceError as error:
        say(f"note: {error}")


def _write(repo: str, origin: str | None, taken: Taken) -> str | None:
    """Write the files, and return the command that undoes it, unless there was nothing to do."""
    top, git_dir = _checkout(repo, origin)
    with _opened(top, git_dir) as (checkout, stop):
        assert checkout is not None
        written = checkout.write(taken.files, stop)
        for change in written:
            say(f"{change.status}: {visible(change.path)}")
        where = ["--origin", top] if origin is not None else ["--repo", top] if repo != "." else []
        undo = shlex.join(["excise", "take", "--undo", *where])
        if written and stop():
            say(f"interrupted when all files were written: {undo}")
    if not written:
        say("nothing was written: the files already have this content")
        return None
    return undo


def _undo(repo: str, origin: str | None, *, as_json: bool) -> int:
    """Undo the last take, or say that this command has just put back one that was interrupted."""
    top, git_dir = _checkout(repo, origin)
    with _opened(top, git_dir, make=False) as (checkout, stop):
        if checkout is None:
            raise SourceError("nothing to undo: no take of this checkout is known")
        if (plan := checkout.rolled_back) is None:
            plan, files = checkout.undo(stop)
        else:
            files = [edit.reversed for edit in plan.edits]
        notes = [*checkout.said]
        for file in files:
            say(f"{file.status}: {visible(file.path)}")
    if not files:
        say("nothing was undone: the files already are as before")
    if as_json:
        print(json_text(undone_document(top, plan.utc, files, notes)))
    return 0
