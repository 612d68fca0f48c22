"""The steps of ``excise eval``: choose, read, execute, evaluate, show."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from excise_server.cli.progress import Advance, progress
from excise_server.cli.streams import console, say
from excise_server.foundation.inputs import SourceError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from excise.evaluation import Measure
    from excise.evaluation.data import Record
    from excise_server.evaluation.run import Evaluation, Settings
    from excise_server.records.evaluated import Line
    from excise_server.records.lines import BadLine

__all__ = [
    "Output",
    "check",
    "choose",
    "complain",
    "executed",
    "factors",
    "load",
    "reader",
    "run",
    "show",
    "warn",
]

_SHOWN = 5
"""The most bad lines and failures that are named on standard error."""

_PIPED = 200
"""The width of a table that is not printed to a terminal."""


@dataclass(frozen=True, slots=True)
class Output:
    """The output to print, and where to draw."""

    json: bool
    csv: bool
    latex: bool
    plot: str | None


def check(out: Output) -> None:
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


def choose(
    names: str, against: str | None, wordnet: str | None
) -> tuple[tuple[Measure, ...], dict[str, str]]:
    """Return the measures asked for that can run here, and why the others cannot."""
    from excise.errors import OptionError
    from excise.evaluation import measure as measure_named
    from excise.evaluation import measures
    from excise_server.evaluation.resources import resources

    if not names.replace(",", "").strip():
        raise click.UsageError("--measures names no measure.")
    requested = [name for name in names.split(",") if name.strip()]
    try:
        every = [name.strip().lower() for name in requested] == ["all"]
        selected = measures(None if every else requested)
        baseline = measure_named(against) if against else None
    except OptionError as error:
        raise click.UsageError(f"{error}.") from error
    if baseline is not None and baseline.name not in {measure.name for measure in selected}:
        selected = (*selected, baseline)
    # Only the necessary interpreters are started: one with torch takes seconds.
    world = resources(wordnet, wanted={measure.resource for measure in selected})
    selected = tuple(measure.having(world) for measure in selected)
    skipped = {measure.name: why for measure in selected if (why := measure.missing()) is not None}
    able = tuple(measure for measure in selected if measure.name not in skipped)
    for name, why in skipped.items():
        say(f"left out: {name}: {why}")
    if not able:
        raise SourceError("none of the measures can run here")
    if baseline is not None and baseline.name in skipped:
        raise click.UsageError(f"--against {baseline.name}: {skipped[baseline.name]}.")
    return able, skipped


def reader(cluster_by: str, messages: bool) -> Callable[[Mapping[str, Any]], Record]:
    """Return the function that makes a record of a JSON object."""
    from excise.evaluation.commit_messages import read_pair
    from excise.evaluation.data import read_record

    return read_pair if messages else partial(read_record, cluster_by=cluster_by)


def load(
    data: str, read: Callable[[Mapping[str, Any]], Record]
) -> tuple[list[Line], list[BadLine]]:
    """Read the records, and return the bad lines as well."""
    from excise_server.records.evaluated import read_line
    from excise_server.records.lines import read_all

    with progress("Reading") as advance:
        return read_all(data, partial(read_line, read), "no record to evaluate", advance)


def run(records: list[Record], settings: Settings, resume: str | None) -> Evaluation:
    """Evaluate, with a journal where one was named."""
    from excise_server.evaluation.journal import Journal
    from excise_server.evaluation.run import evaluate

    signatures = {
        measure.name: measure.signature(settings.comments) for measure in settings.measures
    }
    journal = Journal(resume, signatures) if resume else None
    try:
        return evaluate(records, settings, _progress, journal)
    except KeyboardInterrupt:
        if resume:
            say(f"interrupted; the same command continues from {resume}")
        raise
    finally:
        if journal is not None:
            journal.close()


def warn() -> None:
    """Warn that code will run, or refuse if it cannot be guarded."""
    from excise_server.evaluation.sandbox import check_guards

    say("warning: --execute runs code from the records, in a sandbox (docs/evaluation.md)")
    for note in check_guards():
        say(f"note: {note}")


def executed(
    lines: list[Line], jobs: int, timeout: float, path: str | None
) -> tuple[list[Line], dict[str, object]]:
    """Run the tests of every record, and return the records with their verdicts as labels."""
    from excise_server.cli.output import write_text
    from excise_server.evaluation.labelling import label, labelled_lines

    with progress("Running tests", len(lines)) as advance:
        done = label(lines, jobs, timeout, advance)
    refused = [outcome for outcome in done.lines if outcome.verdict is None]
    for outcome in refused[:_SHOWN]:
        say(f"not executed: line {outcome.line.number}: {outcome.reason}")
    if len(refused) > _SHOWN:
        say(f"not executed: {len(refused) - _SHOWN:,} more; --json counts them")
    slow = f", of which {done.timed_out:,} timed out" if done.timed_out else ""
    say(f"tests: {done.passed:,} outputs pass, {done.failed:,} do not{slow}")
    if done.agree + done.disagree:
        say(f"tests: {done.agree:,} agree with the label that was there, {done.disagree:,} do not")
    if path is not None:
        write_text(path, "".join(f"{line}\n" for line in labelled_lines(done)))
    keys = ("passed", "failed", "timed_out", "agree", "disagree")
    counts = {key: getattr(done, key) for key in keys}
    return [outcome.line for outcome in done.lines], {
        "executed": counts,
        "not_executed": len(refused),
    }


def factors(
    pairs: list[Record], wordnet: str | None
) -> tuple[list[RenderableType], dict[str, object]]:
    """Return the tables of the factors of commit messages, and their document."""
    from excise.evaluation.commit_messages import UNITS, factors
    from excise_server.evaluation.messages import factor_document, factor_table
    from excise_server.evaluation.resources import resources

    synonyms = resources(wordnet, wanted=["synonyms"]).synonyms
    tables = {unit: factors(pairs, synonyms, unit) for unit in UNITS}
    shown = [factor_table(table, unit) for unit, table in tables.items()]
    return shown, {"factors": factor_document(tables)}


def _progress(label: str, total: float) -> AbstractContextManager[Advance]:
    return progress(label, total)


def show(
    evaluation: Evaluation,
    out: Output,
    skipped: dict[str, str],
    bad: list[BadLine],
    parts: list[RenderableType],
    extra: dict[str, object],
) -> None:
    """Print what came out, and draw it."""
    from excise_server.evaluation.documents import csv_text, document, latex_text
    from excise_server.evaluation.plot import write_plot
    from excise_server.evaluation.tables import evaluation_table
    from excise_server.report.documents import json_text

    if out.plot is not None:
        write_plot(evaluation, out.plot)
    if out.json:
        rejected = [{"line": line.number, "id": line.id, "reason": line.reason} for line in bad]
        print(json_text(document(evaluation, skipped, rejected) | extra))
    elif out.csv:
        print(csv_text(evaluation), end="")
    elif out.latex:
        print(latex_text(evaluation))
    else:
        to = console()
        if not to.is_terminal:
            to.width = _PIPED
        for part in (*evaluation_table(evaluation, to.width), *parts):
            to.print(part)


def complain(evaluation: Evaluation, bad: list[BadLine]) -> None:
    """Report on standard error which records were left out. The JSON has all of them."""
    for name in evaluation.outdated:
        say(f"{name}: the journal has it under another signature; computed again")
    lines = [f"line {line.number}: {line.reason}" for line in bad]
    failures = [f"{lost.task}: {lost.measure}: {lost.reason}" for lost in evaluation.failures]
    for heading, items in (("record left out", lines), ("no value", failures)):
        for text in items[:_SHOWN]:
            say(f"{heading}: {text}")
        if len(items) > _SHOWN:
            say(f"{heading}: {len(items) - _SHOWN:,} more; --json names them all")
