"""The protocol ``editeval``: edits of texts by instruction, as EditEval has them.

(Dwivedi-Yu et al. 2022.) An example has an id, the input, the gold edits, the kind of task, and
documents to draw from (for updating alone). The published data name them ``id``, ``input``,
``edits``, ``tasks``, ``retrieved_documents``; the paper's own words for the last three are read,
too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from statistics import fmean, pstdev
from typing import Any, NamedTuple

import numpy as np

from excise.evaluation import Item, Measure
from excise_server.evaluation.run import SCHEMA, Document, Progress
from excise_server.evaluation.tables import Report, left_out, plain_table, short
from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import SourceError
from excise_server.records.lines import read_all

DEFAULT = "sari-easse,gleu,em,em-diff,rouge1,update-rouge1,ibleu"
"""The measures of EditEval."""

ALIASES = {
    "gold_edits": "edits",
    "task": "tasks",
    "task_type": "tasks",
    "reference_documents": "retrieved_documents",
}
"""Other names of fields, the later first, which count where the published one is absent."""


class Example(NamedTuple):
    """One text to edit, and its edits by people."""

    id: str
    input: str
    edits: tuple[str, ...]
    task: str
    documents: tuple[str, ...] = ()


def editeval(
    data: str,
    measures: Sequence[Measure],
    progress: Progress,
    *,
    predictions: str | None,
    best: bool,
    skipped: Mapping[str, str],
) -> Report:
    """Score the predictions of a file, or the copy baseline, by task, in order of first appearance.

    An example without a prediction is left out. Predictions by several prompts are averaged over
    these, with their spread beside it. The average over tasks is unweighted.

    - ``best``: whether the best gold edit counts, each taken alone (EditEval, appendix C), or all
      of them by each measure's own convention.
    """
    nothing = "nothing to score"
    examples, bad = read_all(data, lambda _, value: read_example(value), nothing)
    answers: dict[str, list[str | None]] = {"": [example.input for example in examples]}
    if predictions is not None:
        found, more = read_all(predictions, _prediction, nothing)
        bad += more
        texts: dict[str, dict[str, str]] = {}
        for prompt, name, text in found:
            texts.setdefault(prompt, {})[name] = text
        answers = {p: [own.get(example.id) for example in examples] for p, own in texts.items()}
    missing = sum(text is None for own in answers.values() for text in own)
    with progress("Scoring", None):
        values = []  # for each prompt the scores of examples that have a prediction, by task
        for own in answers.values():
            by_task: dict[str, list[dict[str, float]]] = {}
            for example, predicted in zip(examples, own, strict=True):
                if predicted is not None:
                    scored = {m.name: _score(m, example, predicted, best) for m in measures}
                    by_task.setdefault(example.task, []).append(scored)
            values.append(by_task)
    prompts = [_by_task(by_task) for by_task in values]
    if not any(scores["tasks"] for scores in prompts):
        raise SourceError("no example has a prediction", name=predictions or data)
    names = [measure.name for measure in measures]
    document = {
        "schema": SCHEMA,
        **_over_prompts([scores for scores in prompts if scores["tasks"]]),
        "correlations": _correlations(
            names, [row for one in values for r in one.values() for row in r]
        ),
        "skipped": skipped,
        "without_prediction": missing,
        "rejected": [{"line": line.number, "reason": line.reason} for line in bad],
    }
    if len(prompts) > 1:
        averages = {prompt: one["average"] for prompt, one in zip(answers, prompts, strict=True)}
        # The largest and least average over prompts, and their deviation over their mean.
        spread = {}
        for name in names:
            means = [row[name] for row in averages.values() if row]
            mean = fmean(means)
            cv = pstdev(means) / mean if mean else None
            spread[name] = {"max": max(means), "min": min(means), "cv": cv}
        document |= {"prompts": averages, "spread": spread}
    table = plain_table("task", "n", *(measure.name for measure in measures))
    for task, row in (*document["tasks"].items(), ("average", document["average"])):
        table.add_row(printable(task), f"{row['n']:,}", *(f"{row[name]:.3f}" for name in names))
    for kind in ("max", "min", "cv") if "spread" in document else ():
        cells = (short(document["spread"][name][kind]) for name in names)
        table.add_row(f"{kind} over prompts", str(len(prompts)), *cells)
    parts = [table]
    defined = [
        r for row in document["correlations"].values() for r in row.values() if r is not None
    ]
    if len(names) > 1 and defined:
        beside = plain_table("correlation", *names)
        for name in names:
            beside.add_row(name, *(short(document["correlations"][name][other]) for other in names))
        parts.append(beside)
    remarks = left_out(bad)
    if missing:
        wanted = len(examples) * len(answers)
        remarks.append(f"{missing:,} of {wanted:,} predictions are missing and do not count")
    return Report(document, parts, remarks, bool(bad or missing))


def _by_task(values: Mapping[str, list[dict[str, float]]]) -> Document:
    """Return ``{"tasks": {task: row}, "average": row}``, of which a row has ``n`` and the means."""
    tasks = {task: {"n": len(rows)} | _means(rows) for task, rows in values.items()}
    if not tasks:
        return {"tasks": {}, "average": {}}
    every = tasks.values()
    return {"tasks": tasks, "average": _means(every) | {"n": sum(row["n"] for row in every)}}


def _over_prompts(scores: Sequence[Document]) -> Document:
    """Average over prompts, and add up their examples."""
    names = dict.fromkeys(task for one in scores for task in one["tasks"])
    every = {task: [one["tasks"][task] for one in scores if task in one["tasks"]] for task in names}
    tasks = {task: _means(rows) | {"n": sum(r["n"] for r in rows)} for task, rows in every.items()}
    averages = [one["average"] for one in scores]
    return {"tasks": tasks, "average": _means(averages) | {"n": sum(r["n"] for r in averages)}}


def _correlations(names: Sequence[str], rows: Sequence[Mapping[str, float]]) -> Document:
    """Return Pearson's r of each two measures over all predictions (None: one is constant)."""
    table = np.array([[row[name] for name in names] for row in rows])
    with np.errstate(invalid="ignore", divide="ignore"):
        found = (
            np.atleast_2d(np.corrcoef(table, rowvar=False))
            if len(rows) > 1
            else np.full((len(names),) * 2, np.nan)
        )
    return {
        name: {
            other: None if np.isnan(r) else float(r) for other, r in zip(names, row, strict=True)
        }
        for name, row in zip(names, found, strict=True)
    }


def _means(rows: Collection[Mapping[str, float]]) -> dict[str, float]:
    return {name: fmean(row[name] for row in rows) for name in next(iter(rows))}


def _score(measure: Measure, example: Example, predicted: str, best: bool) -> float:
    groups = [(edit,) for edit in example.edits] if best else [example.edits]
    items = (Item.of(origin=example.input, reference=g, hypothesis=predicted) for g in groups)
    values = [measure.of(item).value for item in items]
    return max(values) if measure.larger_is_better else min(values)


# --- the format ----------------------------------------------------------------------------------


def read_example(value: Mapping[str, Any]) -> Example:
    """Read an example that JSON gave, or raise `SourceError`."""
    if not isinstance(value.get("id"), str | int) or isinstance(value.get("id"), bool):
        raise SourceError("'id' is missing, or neither a string nor a number")
    value = {name: value[alias] for alias, name in ALIASES.items() if alias in value} | dict(value)
    edits = _texts(value, "edits")
    if not edits:
        raise SourceError("'edits' is an empty list")
    for field in ("input", "tasks"):
        if field not in value:
            raise SourceError(f"'{field}' is missing")
        _text(value[field], field)
    documents: tuple[str, ...] = ()
    if value.get("retrieved_documents") is not None:
        documents = _texts(value, "retrieved_documents")
    return Example(str(value["id"]), value["input"], edits, value["tasks"], documents)


def _prediction(_: int, value: dict[str, Any]) -> tuple[str, str, str]:
    if "id" not in value or not isinstance(value.get("prediction"), str):
        raise SourceError("'id' is missing, or 'prediction' is not a string")
    return str(value.get("prompt", "")), str(value["id"]), value["prediction"]


def _text(text: object, name: str) -> str:
    if not isinstance(text, str):
        raise SourceError(f"'{name}' is not a string")
    return text


def _texts(value: Mapping[str, Any], field: str) -> tuple[str, ...]:
    if field not in value:
        raise SourceError(f"'{field}' is missing")
    texts = value[field]
    if isinstance(texts, str):
        return (texts,)
    if not isinstance(texts, list):
        raise SourceError(f"'{field}' is neither a string nor a list of them")
    return tuple(_text(text, f"{field}[{index}]") for index, text in enumerate(texts))
