"""Fields of a record, checked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from excise_server.foundation.inputs import SourceError, check_text

__all__ = ["identity", "optional", "references", "text"]


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


def optional(record: Mapping[str, Any], key: str) -> str | None:
    """Return a string, or None if it is absent, null or empty, or raise `SourceError`."""
    value = record.get(key)
    if value is not None and not isinstance(value, str):
        raise SourceError(f"'{key}' is not a string")
    return value or None


def identity(record: Mapping[str, Any], key: str) -> str | int | float:
    """Return a name, which is a string or a finite number, or raise `SourceError`."""
    if key not in record:
        raise SourceError(f"'{key}' is missing")
    name = record[key]
    if isinstance(name, bool) or not isinstance(name, str | int | float):
        raise SourceError(f"'{key}' is neither a string nor a number")
    if isinstance(name, float) and not math.isfinite(name):
        raise SourceError(f"'{key}' is not a finite number")
    return name


def references(
    record: Mapping[str, Any], read: Callable[[Mapping[str, Any], str], str] = text
) -> tuple[tuple[str, ...], bool]:
    """Return the references, of which each is `read`, and whether they are given as a list."""
    value = record.get("reference")
    if not isinstance(value, list):
        return (read(record, "reference"),), False
    if not value:
        raise SourceError("'reference' is an empty list")
    named = {f"reference[{index}]": item for index, item in enumerate(value)}
    return tuple(read(named, name) for name in named), True
