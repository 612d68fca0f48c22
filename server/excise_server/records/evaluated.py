"""The records of ``excise eval``: outputs of models with an origin, references and a label."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from excise_server.foundation.inputs import MAX_BYTES, SourceError
from excise_server.records.fields import identity, optional, references

__all__ = ["Record", "read_label", "read_record"]

MAX_COUNT = 1_000_000_000


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
    """Read the record of a line.

    Parameters
    ----------
    value
        ``{"id", "language" or "path", "origin", "reference" (text or list of texts),
        "hypothesis", "label" (optional), "count" (optional, 1)}``.
    cluster_by
        The key of the record that names its cluster.

    Raises
    ------
    SourceError
        If a field is missing or of another kind.
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
    text = value[key]
    if not isinstance(text, str):
        raise SourceError(f"'{key}' is not a string")
    if (nul := text.find("\0")) >= 0:
        raise SourceError(f"'{key}' is binary: NUL character at offset {nul}")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        place = f"U+{ord(text[error.start]):04X} at offset {error.start}"
        raise SourceError(f"'{key}' is not Unicode text: lone surrogate {place}") from error
    if size > MAX_BYTES:
        raise SourceError(f"a text is over the limit of {MAX_BYTES // 1_000_000} MB")
    return text


def _count(count: object) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_COUNT:
        raise SourceError(f"'count' is not a whole number from 1 to {MAX_COUNT:,}")
    return count
