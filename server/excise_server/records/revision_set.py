"""One JSON document with an origin and its revisions."""

from __future__ import annotations

from typing import Any

from excise.text import Revision
from excise_server.foundation.inputs import Rejected, RevisionSet, SourceError, unique_ids
from excise_server.records.fields import optional, text
from excise_server.records.lines import json_object

__all__ = ["read_revision_set"]


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
