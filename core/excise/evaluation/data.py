"""Records to evaluate: outputs of models with an origin, references and a label."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from excise.errors import ExciseError
from excise.evaluation.base import Item
from excise.text import WHITE

__all__ = ["Record", "RecordError", "differs", "read_item", "read_record", "with_prefix"]

MAX_COUNT = 1_000_000_000


class RecordError(ExciseError, ValueError):
    """A record does not have the shape that `read_record` describes. The message says where."""


@dataclass(frozen=True, slots=True)
class Record:
    """One output, how often it occurred, and its label.

    Attributes
    ----------
    task
        The text of the id, which records of one task share.
    cluster
        The group by which outputs are resampled: the task, unless another key is chosen.
    label
        The verdict (0 or 1) or a grade; None without one.
    """

    task: str
    cluster: str
    origin: str
    references: tuple[str, ...]
    hypothesis: str
    label: float | None = None
    count: int = 1
    language: str | None = None
    path: str | None = None


def read_record(value: Mapping[str, Any], cluster_by: str = "id") -> Record:
    """Read a record that JSON gave.

    Parameters
    ----------
    value
        ``{"id", "language" or "path", "origin", "reference" (text or list of texts),
        "hypothesis", "label" (optional), "count" (optional, 1)}``.
    cluster_by
        The key of the record that names its cluster.

    Raises
    ------
    RecordError
        If a field is missing or of another kind.

    Examples
    --------
    >>> read_record({"id": 1, "origin": "a", "reference": "b", "hypothesis": "c"}).references
    ('b',)
    """
    return Record(
        task=_name(value, "id"),
        cluster=_name(value, cluster_by),
        origin=_text(value, "origin"),
        references=_references(value),
        hypothesis=_text(value, "hypothesis"),
        label=_label(value.get("label")),
        count=_count(value.get("count", 1)),
        language=_optional(value, "language"),
        path=_optional(value, "path"),
    )


def read_item(record: Record, comments: str = "keep") -> Item:
    """Return a record in the form that measures use."""
    return Item.of(
        origin=record.origin,
        reference=record.references,
        hypothesis=record.hypothesis,
        language=record.language,
        path=record.path,
        comments=comments,
    )


def differs(item: Item) -> bool:
    """Whether the hypothesis is more than an echo of its origin (the B != O of the tables).

    White space at the ends of the text does not count. Edits of comments count, whatever
    ``comments`` is.
    """
    origin, _, hypothesis = item.texts
    return origin.strip(WHITE) != hypothesis.strip(WHITE)


def with_prefix(item: Item, task: str, seed: int) -> Item:
    """Return the item with a random text before its origin, references and hypothesis alike.

    The text has 2,000 to 3,000 characters of ``abcdef``, space and line end, and ends in a line
    end (paper, section 4). It follows from task and seed; comments were dropped before.
    """
    prefix = _prefix(task, seed)
    longer = Item.of(
        origin=prefix + item.origin,
        reference=[prefix + text for text in item.references],
        hypothesis=prefix + item.hypothesis,
        language=item.language,
        path=item.path,
    )
    return replace(longer, notes=item.notes)


def _prefix(task: str, seed: int) -> str:
    chance = random.Random(f"{seed}:{task}")  # noqa: S311 - a sample, not a secret
    return "".join(chance.choices("abcdef \n", k=chance.randint(2_000, 3_000) - 1)) + "\n"


# --- the fields ----------------------------------------------------------------------------------


def _name(value: Mapping[str, Any], key: str) -> str:
    if key not in value:
        raise RecordError(f"'{key}' is missing")
    identity = value[key]
    if isinstance(identity, bool) or not isinstance(identity, str | int | float):
        raise RecordError(f"'{key}' is neither a string nor a number")
    if isinstance(identity, float) and not math.isfinite(identity):
        raise RecordError(f"'{key}' is not a finite number")
    # As JSON, so that the ids 1 and "1" remain different. Other strings stay as they are.
    return (
        identity
        if isinstance(identity, str) and not identity[:1].isdigit()
        else json.dumps(identity)
    )


def _text(value: Mapping[str, Any], key: str) -> str:
    if key not in value:
        raise RecordError(f"'{key}' is missing")
    return _checked(value[key], key)


def _checked(text: object, name: str) -> str:
    if not isinstance(text, str):
        raise RecordError(f"'{name}' is not a string")
    if (nul := text.find("\0")) >= 0:
        raise RecordError(f"'{name}' is binary: NUL character at offset {nul}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        place = f"U+{ord(text[error.start]):04X} at offset {error.start}"
        raise RecordError(f"'{name}' is not Unicode text: lone surrogate {place}") from error
    return text


def _references(value: Mapping[str, Any]) -> tuple[str, ...]:
    references = value.get("reference")
    if not isinstance(references, list):
        return (_text(value, "reference"),)
    if not references:
        raise RecordError("'reference' is an empty list")
    return tuple(
        _checked(reference, f"reference[{index}]") for index, reference in enumerate(references)
    )


def _label(raw: object) -> float | None:
    if raw is None:
        return None
    if not isinstance(raw, bool | int | float):
        raise RecordError("'label' is not a number (0 or 1, or a grade)")
    try:
        label = float(raw)
    except OverflowError:
        label = math.inf
    if not math.isfinite(label):
        raise RecordError("'label' is not a finite number")
    return label


def _count(count: object) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_COUNT:
        raise RecordError(f"'count' is not a whole number from 1 to {MAX_COUNT:,}")
    return count


def _optional(value: Mapping[str, Any], key: str) -> str | None:
    text = value.get(key)
    if text is not None and not isinstance(text, str):
        raise RecordError(f"'{key}' is not a string")
    return text or None
