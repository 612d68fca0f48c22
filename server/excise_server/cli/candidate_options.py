"""The options that choose candidates, alike in every command that takes some."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource

from excise.ranking import INTENT, INTENTS
from excise_server.sources.candidates import Selection

__all__ = ["batch_option", "given_options", "intent_option", "selection_options"]

_OPTIONS = (
    click.option(
        "--branches",
        metavar="PATTERN",
        multiple=True,
        help="Also branches and fetched requests (agent/*, origin/pr-*, pull/*, #12); "
        "** for branches.",
    ),
    click.option(
        "--patches",
        metavar="PATH",
        multiple=True,
        help="Also patches, mails and predictions (*.jsonl), of a file or folder.",
    ),
    click.option("--runs", metavar="PATH", multiple=True, help="The same, named as agents' runs."),
    click.option("--only", metavar="GLOB", multiple=True, help="Only candidates so named."),
    click.option(
        "--onto",
        metavar="REV",
        default="",
        help="Replay them onto it, or onto the saved files (saved), not onto HEAD.",
    ),
    click.option(
        "--base",
        metavar="NAME=REV",
        multiple=True,
        help="The commit that a candidate started from, where git's answer is wrong.",
    ),
    click.option(
        "--include-target", is_flag=True, help="Compare this checkout as a candidate, too."
    ),
    click.option("--no-untracked", is_flag=True, help="Leave out files that git does not track."),
)

batch_option = click.option(
    "--batch",
    metavar="ID|all",
    default="all",
    show_default=True,
    help="Only one batch: its number, its task, or the name of a candidate in it.",
)

intent_option = click.option(
    "--intent",
    type=click.Choice(INTENTS),
    default=INTENT,
    show_default=True,
    help="A bug fix, where fewer tokens come first, or any other change.",
)

_Command = Callable[..., Any]


def selection_options(function: _Command) -> _Command:
    """Add the options that select candidates, passed to the function as ``selection``."""

    def command(
        *,
        branches: tuple[str, ...],
        patches: tuple[str, ...],
        runs: tuple[str, ...],
        only: tuple[str, ...],
        onto: str,
        base: tuple[str, ...],
        include_target: bool,
        no_untracked: bool,
        **arguments: object,
    ) -> object:
        selection = Selection(
            branches=branches,
            patches=patches,
            runs=runs,
            only=only,
            onto=onto,
            bases=tuple(map(_own_base, base)),
            untracked=not no_untracked,
            target=include_target,
        )
        return function(selection=selection, **arguments)

    wrapped: _Command = wraps(function)(command)
    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped


def _own_base(option: str) -> tuple[str, str]:
    name, equals, revision = option.partition("=")
    if not (name and equals and revision):
        raise click.UsageError(
            f"--base {option!r} names no candidate: write --base NAME=REV for what one started "
            "from, or --onto REV to compare all on another commit (what --base REV was until 0.1)."
        )
    return name, revision


def given_options(*left_out: str) -> list[str]:
    """Return the options that the user typed for this command, as arguments of another call.

    Parameters
    ----------
    left_out
        The names of options that the other call has not.
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
