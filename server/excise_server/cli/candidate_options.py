"""The options that choose candidates, alike in every command that takes some."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource

from excise_server.cli.options import onto_option, repo_option, source_option
from excise_server.foundation.escape import visible
from excise_server.foundation.files import read_text
from excise_server.foundation.inputs import first_few
from excise_server.git.checkouts import Selection
from excise_server.processes.runs import SECONDS
from excise_server.sources.candidates import Candidates
from excise_server.wire.sources import CHOSEN


def _issue(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Return the text of an issue, or of the file that a path names."""
    if "\n" not in value and os.path.lexists(value[:4096]):
        return read_text(value) or "\n"
    if re.fullmatch(r"\S*(/\S*|\.(md|txt|rst|json))", value):
        raise click.BadParameter(
            f"there is no file {value!r} (an issue may also be a sentence, or #12)"
        )
    return value


_OPTIONS = (
    repo_option,
    click.option(
        "--origin",
        metavar="DIR",
        help="Candidates are folders, which need no git, and all began as DIR.",
    ),
    *(source_option(name, multiple=True) for name in CHOSEN),
    click.option("--only", metavar="GLOB", multiple=True, help="Only candidates so named."),
    onto_option,
    click.option(
        "--base",
        metavar="NAME=REV",
        multiple=True,
        help="The commit that a candidate started from, where git's answer is wrong.",
    ),
    click.option(
        "--task",
        metavar="ID",
        default="",
        help="Only one task: its number, its tool's name for it, or a candidate in it. A,B: theirs "
        "are one task.",
    ),
    click.option(
        "--issue",
        metavar="FILE|TEXT",
        default="",
        callback=_issue,
        help="All of them are attempts at this issue: one task, whatever they have in common.",
    ),
    click.option(
        "--run",
        metavar="COMMAND",
        help="Run it with your rights; on what, and when, is said above.",
    ),
    click.option(
        "--link",
        metavar="DIR",
        multiple=True,
        help="A folder that git ignores (node_modules, .venv) and scratch copies have, too.",
    ),
    click.option(
        "--timeout",
        metavar="SECONDS",
        type=click.FloatRange(0, 1e6, min_open=True),
        help=f"Time of a run, which is ended then.  [default: {SECONDS:g}]",
    ),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """Which candidates a command takes, and what it runs for them.

    - ``repo``, ``origin``: their repository, or the folder that they were copied from.
    - ``task``, ``issue``: the only task that counts, and the issue that all are about, or empty.
    - ``run``, ``timeout``: a command, and the seconds that it has.
    - ``link``: the folders of the checkout that are linked into scratch copies for it.
    """

    repo: str
    origin: str | None
    selection: Selection
    task: str
    issue: str
    run: str | None
    timeout: float | None
    link: tuple[str, ...]


_Command = Callable[..., Any]


def candidate_options(function: _Command) -> _Command:
    """Add the options of every command that takes candidates, passed to it as `Asked`."""

    def command(
        *,
        only: tuple[str, ...],
        onto: str,
        base: tuple[str, ...],
        **arguments: Any,  # noqa: ANN401 - what click parsed
    ) -> object:
        chosen = {name: arguments.pop(name) for name in CHOSEN}
        selection = Selection(
            chosen={name: patterns for name, patterns in chosen.items() if patterns},
            only=only,
            onto=onto,
            bases=tuple(map(_own_base, base)),
        )
        own = {
            field.name: arguments.pop(field.name)
            for field in fields(Asked)
            if field.name in arguments
        }
        asked = Asked(selection=selection, **own)
        if asked.run is None and asked.timeout is not None:
            raise click.UsageError("--timeout needs --run COMMAND.")
        if asked.run is None and asked.link:
            raise click.UsageError("--link needs --run COMMAND.")
        return function(asked, **arguments)

    wrapped: _Command = wraps(function)(command)
    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped


def _own_base(option: str) -> tuple[str, str]:
    name, equals, revision = option.partition("=")
    if not (name and equals and revision):
        raise click.UsageError(
            f"--base {option!r} names no candidate: write --base NAME=REV for what one started "
            "from, or --onto REV to compare all on another commit."
        )
    return name, revision


def nothing_found(selection: Selection, candidates: Candidates) -> list[str]:
    """Return lines for people: there is no candidate, what was asked, how to name some, notes."""
    idle = [
        f"{first_few(names)} {what}"
        for names, what in (
            (candidates.unchanged, "with nothing yet"),
            ([f"{one.label} ({one.words})" for one in candidates.landed], "in the target already"),
        )
        if names
    ]
    asked = ["other worktrees of this repository"] if selection.worktrees else []
    asked += [f"--{name} {visible(each)}" for name, of in selection.chosen.items() for each in of]
    return [
        f"No candidate changes anything{f' ({first_few(idle)})' if idle else ''}.",
        f"Looked for {', '.join(asked)}.",
        "Name some: --git 'agent/*' or '#12', --patches PATH, --origin DIR FOLDER..",
        *(f"note: {visible(note)}" for note in candidates.notes),
    ]


def given_options(*left_out: str) -> list[str]:
    """Return the options that the user typed for this command, as arguments of another call.

    - ``left_out``: the names of options that the other call has not.
    """
    context = click.get_current_context()
    arguments: list[str] = []
    for option in context.command.params:
        name = option.name or ""
        typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not isinstance(option, click.Option) or not typed or name in left_out:
            continue
        if option.is_flag:
            arguments.append(option.opts[0])
            continue
        value = context.params[name]
        for each in value if option.multiple else (value,):
            arguments += [option.opts[0], str(each)]
    return arguments
