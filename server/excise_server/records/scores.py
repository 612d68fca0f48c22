"""Texts to score: records of ``score --jsonl``, one a line, and the document of ``rank -``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from excise.text import Revision
from excise_server.foundation.inputs import Rejected, RevisionSet, SourceError, unique_ids
from excise_server.records.lines import BadLine, json_object, name_in, optional, read_records, text

__all__ = ["ScoreRecord", "read_revision_set", "read_score_records"]


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
    if "id" not in value:
        raise SourceError("'id' is missing")
    identity, reference = name_in(value, "id"), value.get("reference")
    if reference == []:
        raise SourceError("'reference' is an empty list")
    references = {"reference": reference} if "reference" in value else {}
    if isinstance(reference, list):
        references = {f"reference[{index}]": item for index, item in enumerate(reference)}
    return ScoreRecord(
        line=number,
        id=identity,
        references=tuple(text(references, name) for name in references or ("reference",)),
        origin=text(value, "origin"),
        hypothesis=text(value, "hypothesis"),
        language=optional(value, "language"),
        path=optional(value, "path"),
        several=isinstance(reference, list),
        task=None if value.get("task") is None else name_in(value, "task"),
    )


def read_revision_set(data: bytes, name: str = "standard input") -> RevisionSet:
    """Read ``{"origin", "language" or "path", "revisions": [{"id", "text"}]}``.

    A revision whose text cannot be scored is rejected. A document of another shape is an error.

    Raises
    ------
    SourceError
        If the document is not of that shape, or its origin cannot be scored.
    """
    try:
        record = json_object(data)
        origin = text(record, "origin")
        entries = record.get("revisions")
        if not isinstance(entries, list):
            raise SourceError("'revisions' is not a list")
        ids = [_revision_id(entry, index) for index, entry in enumerate(entries)]
        language, path = optional(record, "language"), optional(record, "path")
    except SourceError as error:
        hint = error.hint or 'give {"origin": TEXT, "revisions": [{"id": ID, "text": TEXT}, ...]}'
        raise SourceError(error.reason, name=name, hint=hint) from error
    revisions, rejected, notes = [], [], []
    for entry, identity, unique in zip(entries, ids, unique_ids(ids), strict=True):
        try:
            revisions.append(Revision(unique, text(entry, "text")))
        except SourceError as error:
            rejected.append(Rejected(unique, error.reason, error.hint))
            continue
        if unique != identity:
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


def _revision_id(entry: Any, index: int) -> str:  # noqa: ANN401
    if not isinstance(entry, dict):
        raise SourceError(f"revisions[{index}] is not an object")
    value = entry.get("id")
    if not isinstance(value, str) or not value:
        raise SourceError(f"'id' of revisions[{index}] must be a non-empty string")
    return value
