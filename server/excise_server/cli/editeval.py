"""``excise editeval``: predictions of text edits, scored by task as EditEval does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from excise_server.cli.eval_steps import choose
from excise_server.cli.progress import progress
from excise_server.cli.streams import console, say
from excise_server.foundation.inputs import SourceError
from excise_server.records.lines import BadLine, read_all

if TYPE_CHECKING:
    from excise.evaluation.editeval import Example, TaskScore

__all__ = ["command"]

_NOTHING = "nothing to score"
_DEFAULT = "sari-easse,gleu,em,em-diff,rouge1,update-rouge1,ibleu"


@click.command("editeval", short_help="Score text edits by task (EditEval).")
@click.argument("data", metavar="DATA.jsonl")
@click.option(
    "--predictions",
    metavar="FILE",
    help='Lines {"id", "prediction"}; without it: the copy baseline, which changes nothing.',
)
@click.option(
    "--measures", "names", metavar="all|LIST", default=_DEFAULT, show_default=True, help="Which."
)
@click.option(
    "--references",
    type=click.Choice(("best", "measure")),
    default="best",
    show_default=True,
    help="The best gold edit alone, or all by the measure's own convention.",
)
@click.option("--wordnet", metavar="DIR", help="Folder of WordNet, for METEOR and its kin.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/evaluation.md).")
def command(
    *,
    data: str,
    predictions: str | None,
    names: str,
    references: str,
    wordnet: str | None,
    as_json: bool,
) -> int:
    """Score predictions of text edits by task, and averaged over tasks.

    DATA.jsonl holds an example a line: {"id", "input", "edits" (a list), "tasks" (fluency, clarity,
    ...), "retrieved_documents" (optional)}, as EditEval writes them.
    """
    from excise.evaluation.editeval import read_example, task_scores

    measures, skipped = choose(names, None, wordnet)
    examples, bad = read_all(data, lambda _, value: read_example(value), _NOTHING)
    predict: Callable[[Example], str | None] = lambda example: example.input  # noqa: E731
    missing = 0
    if predictions is not None:
        texts, bad_predictions = _predictions(predictions)
        bad += bad_predictions
        missing = sum(example.id not in texts for example in examples)
        predict = lambda example: texts.get(example.id)  # noqa: E731
    with progress("Scoring"):
        scores = task_scores(examples, measures, predict, best=references == "best")
    if not scores:
        raise SourceError("no example has a prediction", name=predictions or data)
    _show(scores, skipped, bad, missing, as_json)
    for line in bad[:5]:
        say(f"left out: line {line.number}: {line.reason}")
    if missing:
        say(f"{missing:,} examples have no prediction and do not count")
    return 1 if bad or missing else 0


def _predictions(path: str) -> tuple[dict[str, str], list[BadLine]]:
    from excise.evaluation.data import RecordError

    def read(_: int, value: dict[str, Any]) -> tuple[str, str]:
        if "id" not in value or not isinstance(value.get("prediction"), str):
            raise RecordError("'id' is missing, or 'prediction' is not a string")
        return str(value["id"]), value["prediction"]

    pairs, bad = read_all(path, read, _NOTHING)
    return dict(pairs), bad


def _show(
    scores: tuple[TaskScore, ...],
    skipped: dict[str, str],
    bad: list[BadLine],
    missing: int,
    as_json: bool,
) -> None:
    if as_json:
        from excise_server.evaluation.documents import SCHEMA
        from excise_server.report.documents import json_text

        *tasks, average = scores
        document = {
            "schema": SCHEMA,
            "tasks": {score.task: {"n": score.n, **score.means} for score in tasks},
            "average": {"n": average.n, **average.means},
            "skipped": skipped,
            "without_prediction": missing,
            "rejected": [{"line": line.number, "reason": line.reason} for line in bad],
        }
        print(json_text(document))
        return
    from rich.table import Table

    from excise_server.foundation.escape import printable

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for head in ("task", "n", *scores[0].means):
        table.add_column(head, justify="left" if head == "task" else "right")
    for score in scores:
        cells = [f"{value:.3f}" for value in score.means.values()]
        table.add_row(printable(score.task), f"{score.n:,}", *cells)
    out = console()
    if not out.is_terminal:
        out.width = 200
    out.print(table)
