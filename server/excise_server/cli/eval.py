"""``excise eval``: how good outputs are, by one of five protocols."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import closing, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from excise.signature import measure_options
from excise_server.cli.options import (
    MeasureOptions,
    choice_option,
    language_option,
    measure_option,
    output_option,
)
from excise_server.cli.progress import progress
from excise_server.cli.streams import say, show, wide_console, write_text
from excise_server.foundation.inputs import SourceError
from excise_server.records.lines import read_all

if TYPE_CHECKING:
    from rich.console import RenderableType

    from excise.evaluation import Measure
    from excise_server.evaluation.run import Document
    from excise_server.evaluation.tables import Report
    from excise_server.records.outputs import Record


_PIPED = 200
"""The width of a table that is not printed to a terminal."""

_LABELLED = {"names", "measure", "bootstrap", "shared_prefix", "baseline", "seed", "resume", "plot"}

# The options of each protocol, besides those of all.
_PROTOCOLS = {
    "score": {"measure", "language", "baseline"},
    "correlation": _LABELLED | {"cluster_by", "execute", "timeout", "records"},
    "commit-messages": _LABELLED,
    "editeval": {"names", "predictions", "references"},
    "simplification": {"drop_poor", "splits", "seed", "records", "plot"},
}
_OF_ALL = {"data", "protocol", "format", "output"}
_FORMATS = {
    "score": ("text", "json", "jsonl"),
    "correlation": ("text", "json", "csv", "latex"),
    "commit-messages": ("text", "json", "csv", "latex"),
}


@click.command("eval")
@click.argument("data", metavar="FILE")
@choice_option(
    "--protocol", tuple(_PROTOCOLS), "score", "What FILE holds, and what is made of it (see above)."
)
@measure_option
@language_option
@click.option(
    "--baseline",
    metavar="FILE|MEASURE",
    help="Print differences to it: records of another system (score), or a measure.",
)
@click.option(
    "--measures",
    "names",
    metavar="all|LIST",
    help="Measures to compute, separated by commas; default: all, or those of EditEval.",
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
    help="Key of the records whose groups are resampled as a whole (default: task, else id).",
)
@click.option("--shared-prefix", is_flag=True, help="Also with a random text before all three.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63),
    default=0,
    show_default=True,
    help="Of resamples and new splits.",
)
@click.option("--resume", metavar="FILE", help="Keep a journal there, and go on from it.")
@click.option(
    "--execute",
    metavar="[LANGUAGE=COMMAND]",
    multiple=True,
    is_flag=False,
    flag_value="",
    help="Run the records' tests for the labels (see above); LANGUAGE by COMMAND.",
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(0.1, 3600),
    default=10.0,
    help="Time of a run, which is ended then.  [default: 10]",
)
@click.option(
    "--records",
    metavar="FILE",
    help="Write the records there with what was found: labels of --execute, new splits.",
)
@click.option("--plot", metavar="FILE", help="Also draw it: .png, .pdf or .svg.")
@click.option(
    "--predictions",
    metavar="FILE",
    help='Of editeval: lines {"id", "prediction", "prompt" (optional)}; without: copies.',
)
@choice_option(
    "--references",
    ("best", "measure"),
    "best",
    "Of editeval: the best gold edit alone, or all by the measure's own convention.",
)
@click.option(
    "--drop-poor",
    metavar="PERCENT",
    type=click.FloatRange(0, 100),
    default=0.0,
    help="Of simplification: leave out the pairs that change most (they are poorly aligned).",
)
@choice_option(
    "--splits",
    ("keep", "random", "stratified", "even-train", "even-rest"),
    "keep",
    "Of simplification: keep the splits, or make new ones of the same sizes.",
)
@choice_option(
    "--format",
    ("text", "json", "jsonl", "csv", "latex"),
    "text",
    "Beside text and json: jsonl (score), csv and latex (correlation, commit-messages).",
)
@output_option
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    data: str,
    protocol: str,
    format: str,
    output: str | None,
    **given: Any,  # noqa: ANN401 - the options of protocols, which are arguments of their functions
) -> int:
    """Say how good outputs are. FILE (- is standard input; gzip is unpacked) has a record a line.

    score: the Excision Score of each output, the paper's measure, and their mean with its 95 %
    interval. {"id", "language" or "path", "origin", "reference" (a text or a list), "hypothesis",
    "task" (optional)}: outputs of one task are resampled together. --format jsonl prints a line for
    each record as soon as it is scored, {"id", "error"} where it cannot be.

    correlation: the measures of the field beside a label, which the same records have: "label" (0/1
    or a number), "count" (how often this output occurred). Records with one id are outputs of one
    task. With --execute the label is whether "tests" (after "import_" and "test_setup") pass: of
    Python, and with --execute LANGUAGE=COMMAND of other languages, whose file is called program.
    THIS RUNS CODE FROM THE RECORDS, in a sandbox, on Linux only.

    commit-messages: {"id", "prediction", "reference", "ratings" (a list of numbers)}; the table of
    factors (case, punctuation, length, ...) comes on top.

    editeval: predictions of text edits by task, and averaged over tasks. {"id", "input", "edits"
    (a list), "tasks" (fluency, clarity, ...), "retrieved_documents" (optional)}, as EditEval writes
    them.

    simplification: what pairs of texts do, word by word, and how their splits differ. {"before",
    "after", "split" (train, test, ...; optional)}. stratified tries many random splits and keeps
    the one whose operations are spread most evenly over splits; even-train and even-rest keep the
    one with the most equal numbers of operations in the largest split, or in the others.

    docs/evaluation.md explains every column.
    """
    for parameter in context.command.params:
        name = parameter.name or ""
        typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if typed and name not in _OF_ALL | _PROTOCOLS[protocol]:
            owners = " or ".join(owner for owner in _PROTOCOLS if name in _PROTOCOLS[owner])
            raise click.UsageError(f"{parameter.opts[0]} belongs to --protocol {owners}.")
    formats = _FORMATS.get(protocol, ("text", "json"))
    if format not in formats:
        raise click.UsageError(f"--protocol {protocol} has --format {' or '.join(formats)}.")
    own = {name: given[name] for name in _PROTOCOLS[protocol]}
    if protocol == "score":
        from excise_server.cli.scored_records import score_lines, summarise
        from excise_server.cli.verdicts import begin_parsing

        # As in the paper, a score is directed, unless the measure says otherwise.
        measure, baseline = own["measure"], own["baseline"]
        options = measure_options(measure, "precision")
        choices = MeasureOptions(measure, options, own["language"], None)
        if format == "jsonl" and not (baseline is None and output is None):
            raise click.UsageError("--format jsonl prints lines alone: no --baseline, no --output.")
        begin_parsing()
        if format == "jsonl":
            return score_lines(data, choices)
        return summarise(data, baseline, choices, format, output)
    if protocol == "simplification":
        from excise_server.evaluation.simplification import simplification

        records, splits, plot = own.pop("records"), own.pop("splits"), own.pop("plot")
        if plot is not None:
            _check_plot(plot)
        report = simplification(data, progress, split=splits, out=records, **own)
        if plot is not None:
            from excise_server.evaluation.plot import write_plot

            write_plot(report.document, plot)
    elif protocol == "editeval":
        from excise_server.evaluation.editeval import DEFAULT, editeval

        names, best = own.pop("names"), own.pop("references") == "best"
        measures, skipped = _choose(DEFAULT if names is None else names, None)
        report = editeval(data, measures, progress, best=best, skipped=skipped, **own)
    else:
        report = _correlation(data, format, protocol == "commit-messages", **own)
    for path, content in report.files.items():
        write_text(path, content)
    if report.text is not None:
        show(report.text.removesuffix("\n"), output)
    elif format == "json":
        from excise_server.wire.documents import json_text

        show(json_text(report.document), output)
    else:
        parts = report.parts
        show(lambda out: parts, output, width=_PIPED)
    for remark in report.remarks:
        say(remark)
    return 1 if report.failed else 0


def _correlation(
    data: str,
    format: str,
    messages: bool,
    *,
    names: str | None,
    measure: dict[str, str],
    bootstrap: int,
    shared_prefix: bool,
    baseline: str | None,
    seed: int,
    resume: str | None,
    plot: str | None,
    cluster_by: str | None = None,
    execute: tuple[str, ...] = (),
    timeout: float = 0.0,
    records: str | None = None,
) -> Report:
    if records is not None and not execute:
        raise click.UsageError("--records belongs to --execute here.")
    commands = _commands(execute)
    if set(measure) - {"comments"}:
        raise click.UsageError("of --measure, measures that stand side by side have only comments.")
    comments = measure_options(measure).comments
    if plot is not None:
        _check_plot(plot)
    measures, skipped = _choose("all" if names is None else names, baseline)

    from excise_server.cli.options import asked_jobs
    from excise_server.evaluation import tables
    from excise_server.evaluation.commit_messages import UNITS, factor_tables, factors, read_pair
    from excise_server.evaluation.journal import Journal
    from excise_server.evaluation.plot import write_plot
    from excise_server.evaluation.run import EvalSettings, evaluate
    from excise_server.processes.forks import usable_cores
    from excise_server.records.outputs import read_record

    settings = EvalSettings(
        measures=measures,
        comments=comments,
        resamples=bootstrap,
        cluster_by=cluster_by,
        shared_prefix=shared_prefix,
        seed=seed,
        against=baseline and baseline.strip().lower(),
        jobs=asked_jobs() or usable_cores(),
    )
    if execute:
        from excise_server.processes.sandbox import check_guards

        say("warning: --execute runs code from the records, in a sandbox (docs/evaluation.md)")
        check_guards(commands.values())
    read = read_pair if messages else partial(read_record, cluster_by=cluster_by)
    with progress("Reading") as advance:
        outputs, bad = read_all(data, read, "no record to evaluate", advance)
    extra: Document = {}
    if execute:
        outputs, extra = _executed(outputs, settings.jobs, timeout, records, commands)
    signatures = {measure.name: measure.signature(comments) for measure in measures}
    journal = Journal(resume, signatures) if resume else None
    with nullcontext() if journal is None else closing(journal):
        try:
            document = evaluate(outputs, settings, progress, journal)
        except KeyboardInterrupt:
            if resume:
                say(f"interrupted; the same command continues from {resume}")
            raise
    document["skipped"] = skipped
    document["rejected"] = [
        {"line": line.number, "id": line.id, "reason": line.reason} for line in bad
    ]
    parts: Iterable[RenderableType] = []
    if messages:
        from excise_server.evaluation.resources import resources

        synonyms = resources(wanted=["synonyms"]).synonyms
        extra = {"factors": {unit: factors(outputs, synonyms, unit) for unit in UNITS}}
        parts = factor_tables(extra["factors"])
    if plot is not None:
        write_plot(document, plot)
    remarks = [
        f"{name}: the journal has it under another signature; computed again"
        for name in (sorted(journal.outdated) if journal is not None else ())
    ]
    lines = [f"line {line.number}: {line.reason}" for line in bad]
    failed = [f"{lost['task']}: {lost['measure']}: {lost['reason']}" for lost in document["failed"]]
    remarks += tables.first_remarks("record left out", lines, "names them all")
    remarks += tables.first_remarks("no value", failed, "names them all")
    text = tables.csv_text(document) if format == "csv" else None
    return tables.Report(
        document | extra,
        (*tables.evaluation_table(document, wide_console(_PIPED).width), *parts),
        remarks,
        bool(bad or failed or extra.get("not_executed")),
        text=f"{tables.latex_text(document)}\n" if format == "latex" else text,
    )


def _check_plot(path: str) -> None:
    """Refuse before any work what would fail after it."""
    from excise.evaluation.base import missing_library
    from excise_server.evaluation import plot

    if not path.lower().endswith(plot.FORMATS):
        raise click.UsageError(f"--plot takes a file named {' or '.join(plot.FORMATS)}.")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise click.UsageError(f"--plot: there is no folder {folder}.")
    if (why := missing_library("matplotlib")) is not None:
        raise SourceError(why)


def _choose(names: str, against: str | None) -> tuple[tuple[Measure, ...], dict[str, str]]:
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
    world = resources(wanted={measure.resource for measure in selected})
    selected = tuple(measure.having(world) for measure in selected)
    skipped = {measure.name: why for measure in selected if (why := measure.missing()) is not None}
    able = tuple(measure for measure in selected if measure.name not in skipped)
    for name, why in skipped.items():
        say(f"left out: {name}: {why}")
    if not able:
        raise SourceError("none of the measures can run here")
    if baseline is not None and baseline.name in skipped:
        raise click.UsageError(f"--baseline {baseline.name}: {skipped[baseline.name]}.")
    return able, skipped


def _commands(given: Iterable[str]) -> dict[str, str]:
    """Return the command of each grammar."""
    from excise import languages

    found = {}
    for text in filter(None, given):
        language, _, command = text.partition("=")
        grammar = languages.resolve(language.strip(), None)
        if grammar is None or not command.strip() or "\0" in command:
            raise click.UsageError(
                f"--execute {text}: write LANGUAGE=COMMAND, such as js='node program'."
            )
        if grammar in found:
            raise click.UsageError(f"--execute {text}: {language.strip()} has one already.")
        found[grammar] = command
    return found


def _executed(
    records: list[Record], jobs: int, timeout: float, path: str | None, commands: Mapping[str, str]
) -> tuple[list[Record], Document]:
    """Run the tests of every record, and return the records with their verdicts as labels."""
    from excise_server.evaluation.labelling import counts, label, labelled_lines
    from excise_server.evaluation.tables import first_remarks

    with progress("Running tests", len(records)) as advance:
        labelled = label(records, jobs, timeout, advance, commands)
    refused = [outcome for outcome in labelled if outcome.verdict is None]
    lines = [f"line {outcome.record.line}: {outcome.reason}" for outcome in refused]
    for remark in first_remarks("not executed", lines, "counts them"):
        say(remark)
    total = counts(labelled)
    slow = f", of which {total['timed_out']:,} timed out" if total["timed_out"] else ""
    say(f"tests: {total['passed']:,} outputs pass, {total['failed']:,} do not{slow}")
    if (agree := total["agree"]) + (disagree := total["disagree"]):
        say(f"tests: {agree:,} agree with the label that was there, {disagree:,} do not")
    if path is not None:
        write_text(path, "".join(labelled_lines(labelled)))
    executed = [outcome.record for outcome in labelled]
    return executed, {"executed": total, "not_executed": len(refused)}
