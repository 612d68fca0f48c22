"""``excise take``: the chosen parts of candidates, as one git patch or in the working tree."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import click
import msgspec

from excise_server.candidates.chosen import take_from_review
from excise_server.candidates.scratch import checked_links, scratch_copy
from excise_server.candidates.written import Checkout, opened_checkout
from excise_server.cli.candidate_options import Asked, candidate_options
from excise_server.cli.options import choice_option
from excise_server.cli.progress import progress
from excise_server.cli.review import opened, read_candidates
from excise_server.cli.streams import say
from excise_server.cli.verdicts import run_on_mix
from excise_server.foundation.escape import shown_name, source_text, visible
from excise_server.foundation.files import file_error
from excise_server.foundation.inputs import SourceError
from excise_server.processes.lifetime import held_signals
from excise_server.processes.parsers import cache_folder
from excise_server.report.take import take_document, undone_document
from excise_server.review.mixes import ANYWAY_HINT, BrokenMixError
from excise_server.review.taking import Plan, Taken, choices_named, choices_planned
from excise_server.wire.documents import json_text

_MAX_PLAN = 10_000_000


@click.command("take")
@click.argument("choices", nargs=-1, metavar="[CANDIDATE [PATH[#LINES]]...]...")
@candidate_options
@click.option(
    "--plan", metavar="FILE", help="Take what a program chose (docs/json.md); - to read it."
)
@click.option("--digest", metavar="DIGEST", help="Only if the review still has this digest.")
@click.option("--conflicts", is_flag=True, help="Write files in conflict with git's markers.")
@click.option("--split", is_flag=True, help="Take hunks without those that belong with them.")
@click.option("--anyway", is_flag=True, help="Also take a mix that cannot work: see below.")
@click.option("--write", is_flag=True, help="Change the files of this checkout, all or none.")
@click.option("--undo", is_flag=True, help="Undo the last --write of this checkout.")
@choice_option("--format", ("text", "json"), "text", "A patch, or for programs (docs/json.md).")
def command(
    asked: Asked,
    *,
    choices: tuple[str, ...],
    plan: str | None,
    digest: str | None,
    conflicts: bool,
    split: bool,
    anyway: bool,
    write: bool,
    undo: bool,
    format: str,
) -> int:
    """Print one git patch of what you choose, made for HEAD of this checkout.

    \b
      excise take claude-a                         all of a candidate
      excise take claude-a a.py b.py#12-20         a file and a hunk of it
      excise take claude-a a.py#3-8 codex-b b.py   some of two candidates
      excise take claude-a | git apply             the same, applied to your files

    A hunk is named by the lines of the origin, as excise review shows it. Nothing is taken if two
    choices conflict, or if the target has changed the same lines since (--conflicts takes such a
    file with git's markers).
    If a file has the name of a candidate, write ./NAME.

    Hunks of a candidate that share a new name belong together: one of them is taken with the
    others, and the command says so. --split takes the named ones alone.

    A mix is checked: it is refused if it does not parse, if a name is missing, or (Python) if a
    method fell out of its class, although the origin and the whole candidates are fine. The message
    names who brings that; --anyway takes the mix all the same. That a mix works is not
    checked, and a note says where names are not.

    --run COMMAND runs it on the target with the mix in a scratch copy (what git ignores is not
    there), with your rights. If it does not pass, its last lines are shown and nothing is taken;
    --anyway takes the mix all the same.

    With --origin, --only names the folders.

    --write changes the files of this checkout instead, and prints the command that undoes it. Your
    other edits in these files stay. If one of them is on the lines of a hunk, nothing is written.
    The command never stages or commits. --undo also undoes what was interrupted, and keeps what you
    edited since; if that is on the same lines, nothing is undone.
    """
    repo, origin, run = asked.repo, asked.origin, asked.run
    if undo:
        given = plan, digest, run
        if choices or conflicts or write or any(each is not None for each in given):
            raise click.UsageError("--undo undoes all of the last take: give no choices with it.")
        return _undo(repo, origin, as_json=format == "json")
    if (plan is None) is not bool(choices):
        raise click.UsageError("name a CANDIDATE, or give a --plan FILE, and not both.")
    if plan is not None and (digest is not None or conflicts or split or anyway):
        raise click.UsageError("a --plan has its own digest, conflicts, split and anyway.")
    if run is not None and origin is not None:
        raise click.UsageError("--run needs a repository: leave out --origin.")
    planned = None if plan is None else _read_plan(plan)
    if not write or origin is not None:
        make_good(repo, origin)
    folders: tuple[str, ...] = ()
    if origin is not None:
        folders = asked.selection.only
        asked = replace(asked, selection=replace(asked.selection, only=()))
    top, candidates = read_candidates(asked, folders, ": --only FOLDER", choices[:1])
    if planned is None:
        choose = partial(choices_named, choices, in_conflict=conflicts)
    else:
        choose, digest = partial(choices_planned, planned), planned.digest
        anyway, split = planned.anyway, planned.split
    with progress("Putting together"):
        try:
            result = take_from_review(
                candidates,
                choose,
                task=asked.task,
                digest=digest,
                anyway=anyway,
                split=split,
                folders=origin is not None,
            )
        except BrokenMixError as error:
            say(str(error))
            return 1
    if run is not None and result.marked:
        say(f"nothing is run: {shown_name(result.marked[0])} is in conflict; take it without --run")
        return 1
    if run is not None and result.files:
        repository = opened(repo)
        linked = checked_links(repository, result.origin, asked.link)
        with scratch_copy(repository, result.origin, result.files, linked) as (folder, left_out):
            for path in left_out:
                say(f"not in the scratch copy: {visible(path)}")
            reason = run_on_mix(folder, run, asked.timeout)
        if reason:
            say(f"the mix does not pass {run}: {reason}{'' if anyway else f'; {ANYWAY_HINT}'}")
            if not anyway:
                return 1
        else:
            say(f"the mix passes {run}")
    undo_command = write_taken(repo, origin, result) if write else None
    if origin is None and result.files:
        from excise_server.memory.reviewed import note_taken

        note_taken(opened(repo), candidates.found, result, "excise take")
    if format == "json":
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
    for note in result.notes:
        say(f"note: {note}")
    if not result.files:
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


@contextmanager
def _opened(
    repo: str, origin: str | None, *, make: bool = True
) -> Iterator[tuple[str, Checkout | None, Callable[[], bool]]]:
    """Open the checkout to write, with signals held back, and say what became of earlier takes."""
    top, git_dir = os.path.realpath(origin or ""), None
    if origin is None:
        repository = opened(repo)
        top, git_dir = repository.top, repository.git_dir
    with held_signals() as stop:
        try:
            with opened_checkout(top, git_dir, cache_folder(), make=make) as checkout:
                try:
                    yield top, checkout, stop
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


def make_good(repo: str, origin: str | None) -> None:
    """Put back what an interrupted take changed, so that it is not read as somebody's edits."""
    try:
        with _opened(repo, origin, make=False):
            pass
    except SourceError as error:
        say(f"note: {error}")


def write_taken(repo: str, origin: str | None, taken: Taken) -> str | None:
    """Write the files, and return the command that undoes it, unless there was nothing to do."""
    with _opened(repo, origin) as (top, checkout, stop):
        assert checkout is not None
        written = checkout.write(taken.files, stop)
        for change in written:
            say(f"{change.status}: {visible(change.path)}")
        where = ["--origin", top] if origin is not None else ["--repo", top] if repo != "." else []
        undo = shlex.join(["excise", "take", "--undo", *where])
        if written and stop():
            say(f"interrupted after all files were written; to undo: {undo}")
    if not written:
        say("nothing was written: the files already have this content")
        return None
    return undo


def _undo(repo: str, origin: str | None, *, as_json: bool) -> int:
    """Undo the last take, or say that this command has just put back one that was interrupted."""
    with _opened(repo, origin, make=False) as (top, checkout, stop):
        if checkout is None:
            raise SourceError("nothing to undo: no take of this checkout is known")
        if (plan := checkout.rolled_back) is None:
            plan, files = checkout.undo(stop)
        else:
            files = [edit.reversed for edit in plan.edits]
        notes = [*checkout.said]
        for file in files:
            undone = "removed" if file.status == "deleted" else "restored"
            say(f"{undone}: {visible(file.path)}")
    if not files:
        say("nothing was undone: the files already are as before")
    if as_json:
        print(json_text(undone_document(top, plan.utc, files, notes)))
    return 0
