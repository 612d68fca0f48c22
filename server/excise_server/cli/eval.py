"""``excise eval``: outputs scored by the measures of the field, by one of four protocols."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import closing, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from excise.signature import COMMENTS
from excise_server.cli.options import choice_option
from excise_server.cli.progress import progress
from excise_server.cli.streams import say, wide_console, write_text
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

_MEASURES = {"names", "wordnet"}
_LABELLED = _MEASURES | {"comments", "bootstrap", "shared_prefix", "against", "seed", "jobs"}
_LABELLED |= {"resume", "as_csv", "as_latex", "plot"}

# The options of each protocol, besides those of all.
_PROTOCOLS = {
    "correlation": _LABELLED | {"cluster_by", "execute", "timeout", "labels"},
    "commit-messages": _LABELLED,
    "editeval": _MEASURES | {"predictions", "references"},
    "simplification": {"drop_poor", "split", "attempts", "seed", "bins", "out"},
}
_OF_ALL = {"data", "protocol", "as_json"}


@click.command("eval")
@click.argument("data", metavar="DATA.jsonl")
@choice_option(
    "--protocol",
    tuple(_PROTOCOLS),
    "correlation",
    "What DATA.jsonl holds, and what is made of it (see above).",
)
@click.option(
    "--measures",
    "names",
    metavar="all|LIST",
    help="Measures to compute, separated by commas; default: all, or those of EditEval.",
)
@click.option("--wordnet", metavar="DIR", help="Folder of WordNet, for METEOR and its kin.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/evaluation.md).")
@choice_option("--comments", COMMENTS, "keep", "Whether comments count; the paper drops them.")
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
@click.option("--execute", is_flag=True, help="Run the records' tests for the labels (see above).")
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(0.1, 3600),
    default=10.0,
    show_default=True,
    help="Of --execute, for each output.",
)
@click.option("--labels", metavar="FILE", help="Of --execute: write the labelled records there.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, a line a measure.")
@click.option("--latex", "as_latex", is_flag=True, help="Print a LaTeX table.")
@click.option("--plot", metavar="FILE", help="Also draw it: .png, .pdf or .svg.")
@click.option(
    "--predictions",
    metavar="FILE",
    help='Of editeval: lines {"id", "prediction"}; without it: the copy baseline.',
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
    "--split",
    ("keep", "random", "stratified"),
    "keep",
    "Of simplification: keep the splits, or make new ones of the same sizes.",
)
@click.option(
    "--attempts",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="Of simplification: random splits that stratified tries.",
)
@click.option("--bins", type=click.IntRange(2, 10_000), default=20, show_default=True)
@click.option(
    "--out",
    metavar="FILE",
    help="Of simplification: write the pairs, with their new splits, there.",
)
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    data: str,
    protocol: str,
    as_json: bool,
    **given: Any,  # noqa: ANN401 - the options of protocols, which are arguments of their functions
) -> int:
    """Score outputs by the measures of the field, as a protocol has it.

    DATA.jsonl (- is standard input; gzip is unpacked) holds a record a line.

    correlation: each measure beside the label. {"id", "language" or "path", "origin", "reference"
    (a text or a list), "hypothesis", "label" (0/1 or a number), "count" (how often this output
    occurred)}. Records with one id are outputs of one task. With --execute the label is whether
    "tests" (Python; after "import_" and "test_setup") pass. THIS RUNS CODE FROM THE RECORDS, in a
    sandbox, on Linux only.

    commit-messages: {"id", "prediction", "reference", "ratings" (a list of numbers)}; the table of
    factors (case, punctuation, length, ...) comes on top.

    editeval: predictions of text edits by task, and averaged over tasks. {"id", "input", "edits"
    (a list), "tasks" (fluency, clarity, ...), "retrieved_documents" (optional)}, as EditEval writes
    them.

    simplification: what pairs of texts do, word by word, and how their splits differ. {"before",
    "after", "split" (train, test, ...; optional)}. stratified tries many (--attempts) random splits
    and keeps the one whose operations are spread most evenly.

    docs/evaluation.md explains every column.
    """
    for parameter in context.command.params:
        name = parameter.name or ""
        typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if typed and name not in _OF_ALL | _PROTOCOLS[protocol]:
            owners = " or ".join(owner for owner in _PROTOCOLS if name in _PROTOCOLS[owner])
            raise click.UsageError(f"{parameter.opts[0]} belongs to --protocol {owners}.")
    own = {name: given[name] for name in _PROTOCOLS[protocol]}
    if protocol == "simplification":
        from excise_server.evaluation.simplification import simplification

        report = simplification(data, progress, **own)
    elif protocol == "editeval":
        report = _editeval(data, **own)
    else:
        report = _correlation(data, as_json, protocol == "commit-messages", **own)
    for path, content in report.files.items():
        write_text(path, content)
    if report.text is not None:
        print(report.text, end="")
    elif as_json:
        from excise_server.wire.documents import json_text

        print(json_text(report.document))
    else:
        out = wide_console(_PIPED)
        for part in report.parts:
            out.print(part)
    for remark in report.remarks:
        say(remark)
    return 1 if report.failed else 0


def _editeval(
    data: str, *, names: str | None, wordnet: str | None, predictions: str | None, references: str
) -> Report:
    from excise_server.evaluation.editeval import DEFAULT, editeval

    measures, skipped = _choose(DEFAULT if names is None else names, None, wordnet)
    best = references == "best"
    return editeval(data, measures, progress, predictions=predictions, best=best, skipped=skipped)


def _correlation(
    data: str,
    as_json: bool,
    messages: bool,
    *,
    names: str | None,
    wordnet: str | None,
    comments: str,
    bootstrap: int,
    shared_prefix: bool,
    against: str | None,
    seed: int,
    jobs: int | None,
    resume: str | None,
    as_csv: bool,
    as_latex: bool,
    plot: str | None,
    cluster_by: str = "id",
    execute: bool = False,
    timeout: float = 0.0,
    labels: str | None = None,
) -> Report:
    if as_json + as_csv + as_latex > 1:
        raise click.UsageError("--json, --csv and --latex exclude each other.")
    if labels and not execute:
        raise click.UsageError("--labels belongs to --execute.")
    if plot is not None:
        _check_plot(plot)
    measures, skipped = _choose("all" if names is None else names, against, wordnet)

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
        against=against and against.strip().lower(),
        jobs=jobs or usable_cores(),
    )
    if execute:
        from excise_server.processes.sandbox import check_guards

        say("warning: --execute runs code from the records, in a sandbox (docs/evaluation.md)")
        for note in check_guards():
            say(f"note: {note}")
    read = read_pair if messages else partial(read_record, cluster_by=cluster_by)
    with progress("Reading") as advance:
        records, bad = read_all(data, read, "no record to evaluate", advance)
    extra: Document = {}
    if execute:
        records, extra = _executed(records, settings.jobs, timeout, labels)
    signatures = {measure.name: measure.signature(comments) for measure in measures}
    journal = Journal(resume, signatures) if resume else None
    with nullcontext() if journal is None else closing(journal):
        try:
            document = evaluate(records, settings, progress, journal)
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

        synonyms = resources(wordnet, wanted=["synonyms"]).synonyms
        extra = {"factors": {unit: factors(records, synonyms, unit) for unit in UNITS}}
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
    text = tables.csv_text(document) if as_csv else None
    return tables.Report(
        document | extra,
        (*tables.evaluation_table(document, wide_console(_PIPED).width), *parts),
        remarks,
        bool(bad or failed or extra.get("not_executed")),
        text=f"{tables.latex_text(document)}\n" if as_latex else text,
    )


def _check_plot(path: str) -> None:
    """Refuse before any work what would fail after it."""
    from excise_server.evaluation import plot

    if not path.lower().endswith(plot.FORMATS):
        raise click.UsageError(f"--plot takes a file named {' or '.join(plot.FORMATS)}.")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise click.UsageError(f"--plot: there is no folder {folder}.")
    if (why := plot.MATPLOTLIB.missing()) is not None:
        raise SourceError(why)


def _choose(
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


def _executed(
    records: list[Record], jobs: int, timeout: float, path: str | None
) -> tuple[list[Record], Document]:
    """Run the tests of every record, and return the records with their verdicts as labels."""
    from excise_server.evaluation.labelling import counts, label, labelled_lines
    from excise_server.evaluation.tables import first_remarks

    with progress("Running tests", len(records)) as advance:
        labelled = label(records, jobs, timeout, advance)
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
