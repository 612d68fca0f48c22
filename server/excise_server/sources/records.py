"""Reading JSON: one document with an origin and its revisions, or lines of records to score."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from excise.text import Revision
from excise_server.foundation.inputs import (
    Rejected,
    RevisionSet,
    SourceError,
    check_text,
    unique_ids,
)

__all__ = ["MAX_JSON", "BadRecord", "ScoreRecord", "read_revision_set", "read_score_records"]

MAX_JSON = 200_000_000
"""Longest JSON document, and longest line of JSONL, in bytes: 200 MB."""

_LIMIT = f"limit {MAX_JSON // 1_000_000} MB"


@dataclass(frozen=True, slots=True)
class ScoreRecord:
    """One record of JSONL to score; ``id`` is echoed as it came (a string or a number)."""

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
    """What it is an answer to, where the record says so."""


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A line that cannot be scored: its id where it has one, and the error with the line number."""

    line: int
    id: str | int | float | None
    error: str


def read_score_records(stream: IO[bytes]) -> Iterator[ScoreRecord | BadRecord]:
    """Yield one record per line that is not blank; a bad line never stops the others.

    One line is held at a time, so memory does not grow with the file.
    """
    number = 0
    while line := stream.readline(MAX_JSON + 1):
        number += 1
        if len(line) > MAX_JSON:
            _skip_rest(stream, line)
            yield BadRecord(number, None, f"line {number}: too long, {_LIMIT}")
        elif line.strip():
            yield _score_record(number, line)


def read_revision_set(data: bytes, name: str = "standard input") -> RevisionSet:
    """Read ``{"origin", "language" or "path", "revisions": [{"id", "text"}]}``.

    A revision whose text cannot be scored is rejected; a document of another shape is an error.

    Raises
    ------
    SourceError
        If the document is not of that shape, or its origin cannot be scored.
    """
    try:
        record = _object(_parsed(data))
        origin = _text(record, "origin")
        entries = record.get("revisions")
        if not isinstance(entries, list):
            raise SourceError("'revisions' is not a list")
        ids = [_revision_id(entry, index) for index, entry in enumerate(entries)]
        language, path = _optional(record, "language"), _optional(record, "path")
    except SourceError as error:
        hint = error.hint or 'give {"origin": TEXT, "revisions": [{"id": ID, "text": TEXT}, ...]}'
        raise SourceError(error.reason, name=name, hint=hint) from error
    revisions, rejected, notes = [], [], []
    for entry, given, unique in zip(entries, ids, unique_ids(ids), strict=True):
        try:
            revisions.append(Revision(unique, _text(entry, "text")))
        except SourceError as error:
            rejected.append(Rejected(unique, error.reason, error.hint))
            continue
        if unique != given:
            notes.append((unique, "given more than once"))
    return RevisionSet(
        name=name,
        origin=origin,
        revisions=tuple(revisions),
        rejected=tuple(rejected),
        language=language,
        path=path,
        notes=tuple(notes),
    )


def _score_record(number: int, line: bytes) -> ScoreRecord | BadRecord:
    record_id = None
    try:
        record = _object(_parsed(line))
        record_id = _record_id(record)
        references, several = _references(record)
        return ScoreRecord(
            line=number,
            id=record_id,
            origin=_text(record, "origin"),
            references=references,
            hypothesis=_text(record, "hypothesis"),
            language=_optional(record, "language"),
            path=_optional(record, "path"),
            several=several,
            task=_task(record),
        )
    except SourceError as error:
        return BadRecord(number, record_id, f"line {number}: {error.reason}")


def _parsed(data: bytes) -> Any:  # noqa: ANN401 - JSON is anything until it is checked
    if len(data) > MAX_JSON:
        raise SourceError(f"too long, {_LIMIT}", hint="give fewer revisions at a time")
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise SourceError(f"not utf-8: byte 0x{data[error.start]:02x} at {error.start}") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}" if error.lineno > 1 else error.colno
        where = where if error.lineno > 1 else f"column {where}"
        raise SourceError(f"not JSON: {error.msg} at {where}") from error
    except RecursionError as error:
        raise SourceError("not usable JSON: nested too deep") from error
    except ValueError as error:  # an integer of more digits than Python converts
        raise SourceError(f"not usable JSON: {error}") from error


def _object(value: Any) -> dict[str, Any]:  # noqa: ANN401
    if not isinstance(value, dict):
        raise SourceError("not a JSON object")
    return value


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


def _revision_id(entry: Any, index: int) -> str:  # noqa: ANN401
    if not isinstance(entry, dict):
        raise SourceError(f"revisions[{index}] is not an object")
    value = entry.get("id")
    if not isinstance(value, str) or not value:
        raise SourceError(f"'id' of revisions[{index}] must be a non-empty string")
    return value


def _references(record: dict[str, Any]) -> tuple[tuple[str, ...], bool]:
    value = record.get("reference")
    if not isinstance(value, list):
        return (_text(record, "reference"),), False
    if not value:
        raise SourceError("'reference' is an empty list")
    named = {f"reference[{index}]": text for index, text in enumerate(value)}
    return tuple(_text(named, name) for name in named), True


def _text(record: dict[str, Any], key: str) -> str:
    if key not in record:
        raise SourceError(f"'{key}' is missing")
    if not isinstance(value := record[key], str):
        raise SourceError(f"'{key}' is not a string")
    try:
        return check_text(value)
    except SourceError as error:
        raise SourceError(f"'{key}': {error.reason}") from error


def _optional(record: dict[str, Any], key: str) -> str | None:
    value = record.get(key)
    if value is not None and not isinstance(value, str):
        raise SourceError(f"'{key}' is not a string")
    return value or None


def _skip_rest(stream: IO[bytes], line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = stream.readline(1 << 20)
