"""``excise eval``: how well measures agree with a label, on one's own data."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from excise.signature import COMMENTS
from excise_server.cli.progress import Advance, progress
from excise_server.cli.streams import console, say
from excise_server.sources import SourceError

if TYPE_CHECKING:
    from excise.evaluation import Measure
    from excise.evaluation.data import Record
    from excise_server.evaluation.reading import BadLine, Line
    from excise_server.evaluation.run import Evaluation, Settings

__all__ = ["command"]

_SHOWN = 5
"""Bad lines and failures that are named one by one on standard error."""

_PIPED = 200
"""Columns of a table that no terminal cuts."""


@dataclass(frozen=True, slots=True)
class _Output:
    """What to print, and where to draw."""

    json: bool
    csv: bool
    latex: bool
    plot: str | None


@click.command("eval", short_help="Correlate measures with a label, on your own data.")
@click.argument("data", metavar="DATA.jsonl")
@click.option(
    "--measures",
    "names",
    metavar="all|LIST",
    default="all",
    show_default=True,
    help="Measures to compute, separated by commas.",
)
@click.option(
    "--comments",
    type=click.Choice(COMMENTS),
    default="keep",
    show_default=True,
    help="Whether comments count; the paper drops them.",
)
@click.option(
    "--bootstrap",
    metavar="N",
    type=click.IntRange(0, 1_000_000),
    default=1000,
    show_default=True,
    help="Resamples for the intervals; 0: none.",
)
@click.option(
    "--cluster-by",
    metavar="KEY",
    default="id",
    show_default=True,
    help="Key of the records whose groups are resampled as a whole.",
)
@click.option("--shared-prefix", is_flag=True, help="Also with a random text before all three.")
@click.option(
    "--against", metavar="NAME", help="Compare every measure with this one: differences, p-values."
)
@click.option("--seed", type=click.IntRange(0, 2**63), default=0, show_default=True)
@click.option(
    "--jobs", metavar="N", type=click.IntRange(1, 1024), help="Processes; default: cores."
)
@click.option("--resume", metavar="FILE", help="Keep a journal there, and go on from it.")
@click.option("--wordnet", metavar="DIR", help="Folder of WordNet, for METEOR and its kin.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/evaluation.md).")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, a line a measure.")
@click.option("--latex", "as_latex", is_flag=True, help="Print a LaTeX table.")
@click.option("--plot", metavar="FILE", help="Also draw it: .png, .pdf or .svg.")
def command(
    *,
    data: str,
    names: str,
    comments: str,
    bootstrap: int,
    cluster_by: str,
    shared_prefix: bool,
    against: str | None,
    seed: int,
    jobs: int | None,
    resume: str | None,
    wordnet: str | None,
    as_json: bool,
    as_csv: bool,
    as_latex: bool,
    plot: str | None,
) -> int:
    """Score outputs by the measures of the field; correlate each with the label.

    DATA.jsonl (- is standard input; gzip is unpacked) holds a record a line: {"id", "language" or
    "path", "origin", "reference" (a text or a list), "hypothesis", "label" (0/1 or a number),
    "count" (how often this output occurred)}. Records with one id are outputs of one task.
    docs/evaluation.md explains every column.
    """
    from excise_server.evaluation.pool import cores
    from excise_server.evaluation.run import Settings

    out = _Output(as_json, as_csv, as_latex, plot)
    _check(out)
    measures, skipped = _measures(names, against, wordnet)
    settings = Settings(
        measures=measures,
        comments=comments,
        resamples=bootstrap,
        cluster_by=cluster_by,
        shared_prefix=shared_prefix,
        seed=seed,
        against=against and against.strip().lower(),
        jobs=jobs or cores(),
    )
    return _run(data, settings, resume, out, skipped)


def _check(out: _Output) -> None:
    """Refuse before any work what would fail after it."""
    if out.json + out.csv + out.latex > 1:
        raise click.UsageError("--json, --csv and --latex exclude each other.")
    if out.plot is None:
        return
    from excise_server.evaluation import plot

    if not out.plot.lower().endswith(plot.FORMATS):
        raise click.UsageError(f"--plot takes a file named {' or '.join(plot.FORMATS)}.")
    folder = os.path.dirname(out.plot) or "."
    if not os.path.isdir(folder):
        raise click.UsageError(f"--plot: there is no folder {folder}.")
    if (why := plot.missing()) is not None:
        raise SourceError(why)


def _measures(
    names: str, against: str | None, wordnet: str | None
) -> tuple[tuple[Measure, ...], dict[str, str]]:
    """Return the measures asked for that can run here, and why the others cannot."""
    from excise.errors import OptionError
    from excise.evaluation import measure, measures
    from excise_server.evaluation.resources import resources

    if not names.replace(",", "").strip():
        raise click.UsageError("--measures names no measure.")
    world = resources(wordnet)
    chosen = [name for name in names.split(",") if name.strip()]
    try:
        every = [name.strip().lower() for name in chosen] == ["all"]
        asked = measures(None if every else chosen, world)
        other = measure(against, world) if against else None
    except OptionError as error:
        raise click.UsageError(f"{error}.") from error
    if other is not None and other.name not in {one.name for one in asked}:
        asked = (*asked, other)
    skipped = {one.name: why for one in asked if (why := one.missing()) is not None}
    able = tuple(one for one in asked if one.name not in skipped)
    for name, why in skipped.items():
        say(f"left out: {name}: {why}")
    if not able:
        raise SourceError("none of the measures can run here")
    if other is not None and other.name in skipped:
        raise click.UsageError(f"--against {other.name}: {skipped[other.name]}.")
    return able, skipped


def _run(
    data: str, settings: Settings, resume: str | None, out: _Output, skipped: dict[str, str]
) -> int:
    from excise_server.evaluation.journal import Journal
    from excise_server.evaluation.run import evaluate

    records, bad = _read(data, settings.cluster_by)
    if not records:
        why = f"line {bad[0].number}: {bad[0].reason}" if bad else "it has no lines"
        raise SourceError("no record to evaluate", name=data, hint=why)
    signatures = {one.name: one.signature(settings.comments) for one in settings.measures}
    journal = Journal(resume, signatures) if resume else None
    try:
        found = evaluate(records, settings, _progress, journal)
    except KeyboardInterrupt:
        if resume:
            say(f"interrupted; the same command goes on from {resume}")
        raise
    finally:
        if journal is not None:
            journal.close()
    _print(found, out, skipped, bad)
    _complain(found, bad)
    return 1 if bad or found.failures else 0


def _read(data: str, cluster_by: str) -> tuple[list[Record], list[BadLine]]:
    from excise_server.evaluation.reading import Line, opened, read_records

    good: list[Record] = []
    bad: list[BadLine] = []
    with opened(data) as stream, progress("Reading") as advance:
        found: Line | BadLine
        for found in read_records(stream, cluster_by):
            if isinstance(found, Line):
                good.append(found.record)
            else:
                bad.append(found)
            advance(found.number)
    return good, bad


def _progress(label: str, total: float) -> AbstractContextManager[Advance]:
    return progress(label, total)


def _print(found: Evaluation, out: _Output, skipped: dict[str, str], bad: list[BadLine]) -> None:
    from excise_server.evaluation.documents import csv_text, document, latex_text
    from excise_server.evaluation.plot import write_plot
    from excise_server.evaluation.tables import evaluation_table
    from excise_server.report.documents import json_text

    if out.plot is not None:
        write_plot(found, out.plot)
    if out.json:
        rejected = [{"line": one.number, "id": one.id, "reason": one.reason} for one in bad]
        print(json_text(document(found, skipped, rejected)))
    elif out.csv:
        print(csv_text(found), end="")
    elif out.latex:
        print(latex_text(found))
    else:
        to = console()
        if not to.is_terminal:
            to.width = _PIPED
        for part in evaluation_table(found, to.width):
            to.print(part)


def _complain(found: Evaluation, bad: list[BadLine]) -> None:
    """Name on standard error what was left out; all of it is in the JSON."""
    for name in found.outdated:
        say(f"{name}: the journal has it under another signature; computed anew")
    lines = [f"line {one.number}: {one.reason}" for one in bad]
    failed = [f"{one.task}: {one.measure}: {one.reason}" for one in found.failures]
    for what, items in (("record left out", lines), ("no value", failed)):
        for text in items[:_SHOWN]:
            say(f"{what}: {text}")
        if len(items) > _SHOWN:
            say(f"{what}: {len(items) - _SHOWN:,} more; --json names them all")
