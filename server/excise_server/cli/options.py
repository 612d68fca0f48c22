"""The options that several commands have."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from excise import languages
from excise.errors import OptionError
from excise.ranking import INTENT, INTENTS
from excise.reading import PARSER_SECONDS
from excise.signature import Options, measure_parts
from excise.signature import measure_options as measure_choices
from excise_server.wire.sources import SOURCES


def _codec(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse anything except a text encoding before any file is read."""
    try:
        if value is not None:
            # Not codecs.lookup: "hex" and the like are also codecs, from bytes to bytes.
            io.TextIOWrapper(io.BytesIO(), encoding=value)
    except (LookupError, ValueError) as error:
        raise click.BadParameter(f"{value!r} is not a text encoding (try latin-1)") from error
    return value


def _language(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse an unknown language. One that a record or an editor names gets a note instead."""
    try:
        languages.check(value, None)
    except OptionError as error:
        raise click.BadParameter(str(error)) from error
    return value


_Decorator = Callable[[Any], Any]


def choice_option(
    name: str, words: Sequence[str], default: str, help: str, *names: str
) -> _Decorator:
    """Return an option that takes one of some words, and shows its default."""
    kind = click.Choice(words)
    return click.option(name, *names, type=kind, default=default, show_default=True, help=help)


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """The measure that the command line names, and how its texts are read (None: by themselves).

    - ``parts``: what was asked for by its keys, some of which only the texts decide.
    - ``options``: the choices of the definition.
    """

    parts: dict[str, str]
    options: Options
    language: str | None
    encoding: str | None

    @property
    def is_directed(self) -> bool:
        """Whether the first of two revisions is the reference of the other one."""
        return self.options.deletion == "precision"

    @property
    def scoring(self) -> dict[str, Any]:
        """The arguments that every score of the command has, whatever its texts are."""
        names = ("granularity", "lcs", "comments", "place")
        chosen = {name: getattr(self.options, name) for name in names}
        return chosen | {"timeout": PARSER_SECONDS, "strict": False}


def _measure(ctx: click.Context, param: click.Parameter, value: str) -> dict[str, str]:
    try:
        parts = measure_parts(value)
        measure_choices(parts)
    except OptionError as error:
        raise click.BadParameter(str(error)) from error
    return parts


measure_option = click.option(
    "--measure",
    metavar="SIGNATURE",
    default="",
    callback=_measure,
    help="The form of the score: a signature as it is printed, or parts of it (lcs:paper|del:p).",
)
language_option = click.option(
    "--language",
    metavar="NAME",
    callback=_language,
    help="Grammar, language id or extension; overrides file names and records.",
)
intent_option = choice_option(
    "--intent", INTENTS, INTENT, "A bug fix, where fewer tokens come first, or any other change."
)
format_option = choice_option(
    "--format",
    ("text", "markdown", "json", "html"),
    "text",
    "For people, for a comment or a prompt, for programs (docs/json.md), for a browser.",
)


def measure_options(function: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of a measure, passed to it as one `MeasureOptions`."""

    @wraps(function)
    def with_choices(
        *,
        measure: dict[str, str],
        language: str | None,
        encoding: str | None,
        **arguments: Any,  # noqa: ANN401
    ) -> int:
        chosen = MeasureOptions(measure, measure_choices(measure), language, encoding)
        return function(chosen, **arguments)

    encoding_option = click.option(
        "--encoding",
        metavar="NAME",
        callback=_codec,
        help="Encoding of the files; default: byte order mark, else UTF-8.",
    )
    return measure_option(language_option(encoding_option(with_choices)))


def asked_jobs() -> int | None:
    """Return the number of processes that ``EXCISE_JOBS`` asks for."""
    text = os.environ.get("EXCISE_JOBS", "").strip()
    if not text:
        return None
    if not (text.isdecimal() and 1 <= int(text) <= 256):
        raise click.UsageError(f"EXCISE_JOBS is a number from 1 to 256, not {text!r}.")
    return int(text)


verbose_option = click.option(
    "--verbose", "-v", is_flag=True, help="All of it, with all numbers and signatures."
)
output_option = click.option("--output", "-o", metavar="FILE", help="Write it to a file.")
path_option = click.option(
    "--path", metavar="GLOB", multiple=True, help="Show the hunks of files so named."
)
onto_option = click.option(
    "--onto",
    metavar="REV",
    default="",
    help="What they are made for: a commit, if not the one above.",
)


def source_option(name: str, *, multiple: bool) -> _Decorator:
    """Return the option that chooses candidates of one source, alike in all commands."""
    source = SOURCES[name]
    metavar = "PATH" if source.has_folders else "PATTERN"
    return click.option(f"--{name}", metavar=metavar, multiple=multiple, help=source.help)


repo_option = click.option(
    "--repo", metavar="DIR", default=".", help="The repository.  [default: this one]"
)
