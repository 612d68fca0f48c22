"""What JSON objects say: revisions of one origin, and outputs of models with references."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from excise_server.foundation.inputs import RevisionSet, SourceError, check_text
from excise_server.records.lines import identity, json_object

MAX_COUNT = 1_000_000_000
_STDIN = "standard input"


def text(record: Mapping[str, Any], key: str) -> str:
    """Return a text that `check_text` accepts, or raise `SourceError`."""
    if key not in record:
        raise SourceError(f"'{key}' is missing")
    if not isinstance(value := record[key], str):
        raise SourceError(f"'{key}' is not a string")
    try:
        return check_text(value)
    except SourceError as error:
        raise SourceError(f"'{key}': {error.reason}") from error


def _optional(record: Mapping[str, Any], key: str) -> str | None:
    """Return a string, or None if it is absent, null or empty, or raise `SourceError`."""
    value = record.get(key)
    if value is not None and not isinstance(value, str):
        raise SourceError(f"'{key}' is not a string")
    return value or None


def _references(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the references, of which there may be a list."""
    value = record.get("reference")
    if not isinstance(value, list):
        return (text(record, "reference"),)
    if not value:
        raise SourceError("'reference' is an empty list")
    named = {f"reference[{index}]": item for index, item in enumerate(value)}
    return tuple(text(named, name) for name in named)


# --- for rank -------------------------------------------------------------------------------------


def read_revision_set(data: bytes) -> RevisionSet:
    """Read ``{"origin", "language" or "path", "revisions": [{"id", "text"}]}``.

    A revision whose text cannot be scored is rejected. A document of another shape is an error.

    Raises SourceError if the document is not of that shape, or its origin cannot be scored.
    """
    try:
        record = json_object(data)
        origin = text(record, "origin")
        entries = record.get("revisions")
        if not isinstance(entries, list):
            raise SourceError("'revisions' is not a list")
        ids = [_revision_id(entry, index) for index, entry in enumerate(entries)]
        language, path = _optional(record, "language"), _optional(record, "path")
    except SourceError as error:
        hint = error.hint or 'give {"origin": TEXT, "revisions": [{"id": ID, "text": TEXT}, ...]}'
        raise SourceError(error.reason, name=_STDIN, hint=hint) from error

    def read(place: int) -> str:
        return text(entries[place], "text")

    return RevisionSet.of(_STDIN, origin, ids, read, language, path)


def _revision_id(entry: Any, index: int) -> str:  # noqa: ANN401
    if not isinstance(entry, dict):
        raise SourceError(f"revisions[{index}] is not an object")
    value = entry.get("id")
    if not isinstance(value, str) or not value:
        raise SourceError(f"'id' of revisions[{index}] must be a non-empty string")
    return value


# --- for eval ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Record:
    """One output, how often it occurred, and its label.

    - ``task``: the text of the id, which records of one task share.
    - ``cluster``: the group by which outputs are resampled: what "task" names, else the id, unless
      another key is chosen.
    - ``label``: the verdict (0 or 1) or a grade; None without one.
    - ``line``, ``value``: the number of its line, and the object that it was read from.
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


def read_record(number: int, value: Mapping[str, Any], cluster_by: str | None = None) -> Record:
    """Read the record of a line, or raise `SourceError`; a key of it names the cluster.

    ``{"id", "task" (optional), "language" or "path", "origin", "reference" (text or list of texts),
    "hypothesis", "label" (optional), "count" (optional, 1)}``.
    """
    record = _record(number, value, cluster_by or ("id" if value.get("task") is None else "task"))
    label, count = read_label(value.get("label")), value.get("count", 1)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_COUNT:
        raise SourceError(f"'count' is not a whole number from 1 to {MAX_COUNT:,}")
    return replace(record, label=label, count=count)


def _record(number: int, value: Mapping[str, Any], cluster_by: str) -> Record:
    return Record(
        task=_name(value, "id"),
        cluster=_name(value, cluster_by),
        origin=text(value, "origin"),
        references=_references(value),
        hypothesis=text(value, "hypothesis"),
        language=_optional(value, "language"),
        path=_optional(value, "path"),
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
