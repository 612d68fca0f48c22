"""``excise eval``: how well measures agree with a label, on one's own data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from excise.signature import COMMENTS
from excise_server.cli import eval_steps as steps

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["command"]


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
@click.option(
    "--commit-messages", is_flag=True, help="Records of predictions and ratings (see below)."
)
@click.option("--execute", is_flag=True, help="Run the records' tests for the labels (see below).")
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(0.1, 3600),
    default=10.0,
    show_default=True,
    help="Of --execute, for each output.",
)
@click.option("--labels", metavar="FILE", help="Of --execute: write the labelled records there.")
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
    commit_messages: bool,
    execute: bool,
    timeout: float,
    labels: str | None,
    as_json: bool,
    as_csv: bool,
    as_latex: bool,
    plot: str | None,
) -> int:
    """Score outputs by the measures of the field; correlate each with the label.

    DATA.jsonl (- is standard input; gzip is unpacked) holds a record a line: {"id", "language" or
    "path", "origin", "reference" (a text or a list), "hypothesis", "label" (0/1 or a number),
    "count" (how often this output occurred)}. Records with one id are outputs of one task.

    With --commit-messages: {"id", "prediction", "reference", "ratings" (a list of numbers)}; the
    table of factors (case, punctuation, length, ...) comes on top.

    With --execute the label is whether "tests" (Python; after "import_" and "test_setup") pass.
    THIS RUNS CODE FROM THE RECORDS, in a sandbox, on Linux only.

    docs/evaluation.md explains every column.
    """
    from excise_server.evaluation.run import Settings
    from excise_server.foundation.forks import usable_cores

    out = steps.Output(as_json, as_csv, as_latex, plot)
    steps.check(out)
    if commit_messages and execute:
        raise click.UsageError("--commit-messages and --execute exclude each other.")
    if labels and not execute:
        raise click.UsageError("--labels belongs to --execute.")
    measures, skipped = steps.choose(names, against, wordnet)
    settings = Settings(
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
        steps.warn()
    lines, bad = steps.load(data, steps.reader(cluster_by, commit_messages))
    extra: dict[str, object] = {}
    if execute:
        lines, extra = steps.executed(lines, settings.jobs, timeout, labels)
    records = [line.record for line in lines]
    evaluation = steps.run(records, settings, resume)
    parts: list[RenderableType] = []
    if commit_messages:
        parts, extra = steps.factors(records, wordnet)
    steps.show(evaluation, out, skipped, bad, parts, extra)
    steps.complain(evaluation, bad)
    return 1 if bad or evaluation.failures or extra.get("not_executed") else 0
