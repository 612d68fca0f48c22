"""Outputs of models, with an origin and references: for ``score --jsonl``, and for ``eval``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from excise_server.foundation.inputs import MAX_BYTES, SourceError
from excise_server.records.fields import identity, optional, references, text

__all__ = ["Record", "ScoreRecord", "read_label", "read_record", "read_score_record"]

MAX_COUNT = 1_000_000_000


@dataclass(frozen=True, slots=True)
class ScoreRecord:
    """One record of JSONL to score, with its ``id`` as given (a string or a number)."""

    line: int
    id: str | int | float
    origin: str
    references: tuple[str, ...]
    hypothesis: str
    language: str | None
    path: str | None
    several: bool
    """True if the record gave a list of references."""
    task: str | int | float | None = None
    """The task that it answers, if the record has one."""


def read_score_record(number: int, value: dict[str, Any]) -> ScoreRecord:
    """Read the record of a line, or raise `SourceError`."""
    record_id = identity(value, "id")
    texts, several = references(value)
    return ScoreRecord(
        line=number,
        id=record_id,
        origin=text(value, "origin"),
        references=texts,
        hypothesis=text(value, "hypothesis"),
        language=optional(value, "language"),
        path=optional(value, "path"),
        several=several,
        task=None if value.get("task") is None else identity(value, "task"),
    )


# --- for eval ------------------------------------------------------------------------------------


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
    line, value
        The number of its line, and the object that it was read from.
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
    line: int = field(default=0, compare=False)
    value: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


def read_record(number: int, value: Mapping[str, Any], cluster_by: str = "id") -> Record:
    """Read the record of a line, or raise `SourceError`; a key of it names the cluster.

    ``{"id", "language" or "path", "origin", "reference" (text or list of texts), "hypothesis",
    "label" (optional), "count" (optional, 1)}``.
    """
    return Record(
        task=_name(value, "id"),
        cluster=_name(value, cluster_by),
        origin=_text(value, "origin"),
        references=references(value, _text)[0],
        hypothesis=_text(value, "hypothesis"),
        label=read_label(value.get("label")),
        count=_count(value.get("count", 1)),
        language=optional(value, "language"),
        path=optional(value, "path"),
        line=number,
        value=value,
    )


def read_label(raw: object) -> float | None:
    """Return a verdict or a grade, or None without one."""
    if raw is None:
        return None
    if not isinstance(raw, bool | int | float):
        raise SourceError("'label' is not a number (0 or 1, or a grade)")
    try:
        label = float(raw)
    except OverflowError:
        label = math.inf
    if not math.isfinite(label):
        raise SourceError("'label' is not a finite number")
    return label


def _name(value: Mapping[str, Any], key: str) -> str:
    name = identity(value, key)
    # As JSON, so that the ids 1 and "1" remain different. Other strings stay as they are.
    return name if isinstance(name, str) and not name[:1].isdigit() else json.dumps(name)


def _text(value: Mapping[str, Any], key: str) -> str:
    if key not in value:
        raise SourceError(f"'{key}' is missing")
    content = value[key]
    if not isinstance(content, str):
        raise SourceError(f"'{key}' is not a string")
    if (nul := content.find("\0")) >= 0:
        raise SourceError(f"'{key}' is binary: NUL character at offset {nul}")
    try:
        size = len(content.encode())
    except UnicodeEncodeError as error:
        place = f"U+{ord(content[error.start]):04X} at offset {error.start}"
        raise SourceError(f"'{key}' is not Unicode text: lone surrogate {place}") from error
    if size > MAX_BYTES:
        raise SourceError(f"a text is over the limit of {MAX_BYTES // 1_000_000} MB")
    return content


def _count(count: object) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_COUNT:
        raise SourceError(f"'count' is not a whole number from 1 to {MAX_COUNT:,}")
    return count
