"""The content of a line for ``excise score --jsonl``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from excise_server.records.fields import identity, optional, references, text
from excise_server.records.lines import BadLine, read_records

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
    for _, record in read_records(stream, _score_record, name):
        yield record


def _score_record(number: int, value: dict[str, Any]) -> ScoreRecord:
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
