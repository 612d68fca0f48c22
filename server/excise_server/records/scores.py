"""The content of a line for ``excise score --jsonl``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from excise_server.foundation.inputs import SourceError
from excise_server.records.fields import optional, text
from excise_server.records.lines import BadLine, read_lines

__all__ = ["ScoreRecord", "read_score_records"]


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


def read_score_records(stream: IO[bytes], name: str = "") -> Iterator[ScoreRecord | BadLine]:
    """Yield one record per line that is not blank. A bad line never stops the others.

    Raises
    ------
    SourceError
        If the stream, of this name, cannot be read.
    """
    for number, value in read_lines(stream, name):
        yield value if isinstance(value, BadLine) else _score_record(number, value)


def _score_record(number: int, value: dict[str, Any]) -> ScoreRecord | BadLine:
    record_id = None
    try:
        record_id = _record_id(value)
        references, several = _references(value)
        return ScoreRecord(
            line=number,
            id=record_id,
            origin=text(value, "origin"),
            references=references,
            hypothesis=text(value, "hypothesis"),
            language=optional(value, "language"),
            path=optional(value, "path"),
            several=several,
            task=_task(value),
        )
    except SourceError as error:
        return BadLine(number, record_id, error.reason)


def _record_id(record: dict[str, Any]) -> str | int | float:
    if "id" not in record:
        raise SourceError("'id' is missing")
    return _name(record["id"], "id")


def _task(record: dict[str, Any]) -> str | int | float | None:
    value = record.get("task")
    return None if value is None else _name(value, "task")


def _name(value: object, key: str) -> str | int | float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise SourceError(f"'{key}' is neither a string nor a number")
    if isinstance(value, float) and not math.isfinite(value):
        raise SourceError(f"'{key}' is not a finite number")
    return value


def _references(record: dict[str, Any]) -> tuple[tuple[str, ...], bool]:
    value = record.get("reference")
    if not isinstance(value, list):
        return (text(record, "reference"),), False
    if not value:
        raise SourceError("'reference' is an empty list")
    named = {f"reference[{index}]": item for index, item in enumerate(value)}
    return tuple(text(named, name) for name in named), True
