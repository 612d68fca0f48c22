"""Fields of a record, checked."""

from __future__ import annotations

from typing import Any

from excise_server.foundation.inputs import SourceError, check_text

__all__ = ["optional", "text"]


def text(record: dict[str, Any], key: str) -> str:
    """Return a text that can be scored.

    Raises
    ------
    SourceError
        If it is missing, not a string, or not a text that `check_text` accepts.
    """
    if key not in record:
        raise SourceError(f"'{key}' is missing")
    if not isinstance(value := record[key], str):
        raise SourceError(f"'{key}' is not a string")
    try:
        return check_text(value)
    except SourceError as error:
        raise SourceError(f"'{key}': {error.reason}") from error


def optional(record: dict[str, Any], key: str) -> str | None:
    """Return a string, or None if it is absent, null or empty.

    Raises
    ------
    SourceError
        If it is anything else.
    """
    value = record.get(key)
    if value is not None and not isinstance(value, str):
        raise SourceError(f"'{key}' is not a string")
    return value or None
