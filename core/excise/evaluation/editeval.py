"""The format of EditEval (Dwivedi-Yu et al. 2022): edits of texts by instruction, of seven kinds.

An example has five core fields: an id, the input, the gold edits, the kind of task, and documents
to draw from (for updating alone). The published data name them ``id``, ``input``, ``edits``,
``tasks``, ``retrieved_documents``; the paper's own words for the last three are read, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from types import MappingProxyType
from typing import Any

from excise.evaluation.base import Item, Measure
from excise.evaluation.data import RecordError

__all__ = ["PROMPTS", "Example", "TaskScore", "as_object", "prompt", "read_example", "task_scores"]

FIELDS = {
    "input": ("input",),
    "edits": ("edits", "gold_edits"),
    "task": ("tasks", "task_type", "task"),
    "documents": ("retrieved_documents", "reference_documents"),
}

PROMPTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "fluency": ("Correct the grammar and spelling", "Mend what is ungrammatical here"),
        "clarity": ("Say this more clearly", "Make this text easier to read"),
        "coherence": ("Tie these sentences together", "Give this text a clear thread"),
        "neutralization": ("Take the opinions out", "Say this without taking sides"),
        "paraphrasing": ("Say the same in other words", "Put this differently"),
        "simplification": ("Say this in simpler words", "Make this plainer"),
        "updating": ("Bring this up to date", "Add what the documents know and this lacks"),
    }
)
"""Instructions by kind of task, in our own words (the published ones are their authors')."""


@dataclass(frozen=True, slots=True)
class Example:
    """One text to edit, and its edits by people."""

    id: str
    input: str
    edits: tuple[str, ...]
    task: str
    documents: tuple[str, ...] = ()


def read_example(value: Mapping[str, Any]) -> Example:
    """Read an example that JSON gave.

    Raises
    ------
    RecordError
        If a field is missing or of another kind.

    Examples
    --------
    >>> read_example({"id": "1", "input": "a", "edits": ["b"], "tasks": "fluency"}).documents
    ()
    """
    if not isinstance(value.get("id"), str | int) or isinstance(value.get("id"), bool):
        raise RecordError("'id' is missing, or neither a string nor a number")
    edits = _texts(value, "edits")
    if not edits:
        raise RecordError("'edits' is an empty list")
    return Example(
        str(value["id"]),
        _text(_found(value, "input"), "input"),
        edits,
        _text(_found(value, "task"), "tasks"),
        _texts(value, "documents", optional=True),
    )


def as_object(example: Example) -> dict[str, Any]:
    """Return an example as JSON has it, under the published names."""
    return {
        "id": example.id,
        "input": example.input,
        "edits": list(example.edits),
        "tasks": example.task,
        "retrieved_documents": list(example.documents),
    }


def prompt(example: Example, instruction: str, head: str = "Task") -> str:
    r"""Return the prompt for a model: instruction, input, numbered documents, and the output label.

    Examples
    --------
    >>> prompt(Example("1", "He go.", ("He goes.",), "fluency"), "Correct the grammar")
    'Task: Correct the grammar\nInput: He go.\nOutput:'
    """
    lines = [f"{head}: {instruction}", f"Input: {example.input}"]
    if example.documents:
        numbered = (f"[{index}] {text}" for index, text in enumerate(example.documents))
        lines.append(f"Reference: {' '.join(numbered)}")
    return "\n".join((*lines, "Output:"))


# --- scores --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TaskScore:
    """The mean of each measure over the examples of a task that have a prediction."""

    task: str
    n: int
    means: Mapping[str, float]


def task_scores(
    examples: Iterable[Example],
    measures: Sequence[Measure],
    predict: Callable[[Example], str | None] = lambda example: example.input,
    *,
    best: bool = True,
) -> tuple[TaskScore, ...]:
    """Score predictions by task, in order of first appearance, then their unweighted mean.

    Parameters
    ----------
    examples
        At least one example.
    measures
        From `excise.evaluation.measures`.
    predict
        The prediction for an example, None to leave it out; the copy baseline unless given.
    best
        Whether the best gold edit counts, each taken alone (EditEval, appendix C); otherwise
        several gold edits count by each measure's own convention.
    """
    values: dict[str, list[dict[str, float]]] = {}
    for example in examples:
        predicted = predict(example)
        if predicted is not None:
            scores = {
                measure.name: _score(measure, example, predicted, best) for measure in measures
            }
            values.setdefault(example.task, []).append(scores)
    names = [measure.name for measure in measures]
    tasks = [
        TaskScore(task, len(rows), {name: fmean(row[name] for row in rows) for name in names})
        for task, rows in values.items()
    ]
    if not tasks:
        return ()
    mean = {name: fmean(task.means[name] for task in tasks) for name in names}
    return (*tasks, TaskScore("average", sum(task.n for task in tasks), mean))


def _score(measure: Measure, example: Example, predicted: str, best: bool) -> float:
    groups = [(edit,) for edit in example.edits] if best else [example.edits]
    items = (Item.of(origin=example.input, reference=g, hypothesis=predicted) for g in groups)
    values = [measure.of(item).value for item in items]
    return max(values) if measure.larger_is_better else min(values)


# --- fields --------------------------------------------------------------------------------------


def _found(value: Mapping[str, Any], field: str) -> object:
    for name in FIELDS[field]:
        if name in value:
            return value[name]
    raise RecordError(f"'{FIELDS[field][0]}' is missing")


def _text(text: object, name: str) -> str:
    if not isinstance(text, str):
        raise RecordError(f"'{name}' is not a string")
    return text


def _texts(value: Mapping[str, Any], field: str, *, optional: bool = False) -> tuple[str, ...]:
    name = FIELDS[field][0]
    if optional and all(value.get(alias) is None for alias in FIELDS[field]):
        return ()
    texts = _found(value, field)
    if isinstance(texts, str):
        return (texts,)
    if not isinstance(texts, list):
        raise RecordError(f"'{name}' is neither a string nor a list of them")
    return tuple(_text(text, f"{name}[{index}]") for index, text in enumerate(texts))
