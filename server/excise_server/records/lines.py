"""Lines of JSON objects from a file or standard input, gzipped or not, and their fields."""

from __future__ import annotations

import gzip
import io
import json
import math
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any, TypeVar

from excise.errors import ExciseError
from excise_server.foundation.files import file_error
from excise_server.foundation.inputs import SourceError, check_text

__all__ = ["MAX_JSON", "BadLine", "json_object", "name_in", "opened", "optional"]
__all__ += ["read_all", "read_lines", "read_records", "text"]

MAX_JSON = 200_000_000
"""Longest JSON document, and longest line of JSONL, in bytes: 200 MB."""

_LIMIT = f"limit {MAX_JSON // 1_000_000} MB"
_GZIP = b"\x1f\x8b"

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line without a valid record, and why (``id`` if it has one)."""

    number: int
    id: str | int | float | None
    reason: str


def read_all(
    path: str,
    read: Callable[[int, dict[str, Any]], R],
    nothing: str,
    advance: Callable[[int], None] = lambda number: None,
) -> tuple[list[R], list[BadLine]]:
    """Read every record of a file, like `read_records`, and return the bad lines as well.

    Raises
    ------
    SourceError
        If the file cannot be read, or has no record, for which ``nothing`` is the message.
    """
    good: list[R] = []
    bad: list[BadLine] = []
    with opened(path) as stream:
        for number, record in read_records(stream, read, path):
            if isinstance(record, BadLine):
                bad.append(record)
            else:
                good.append(record)
            advance(number)
    if not good:
        hint = f"line {bad[0].number}: {bad[0].reason}" if bad else "it has no lines"
        raise SourceError(nothing, name=path, hint=hint)
    return good, bad


def read_records(
    stream: IO[bytes], read: Callable[[int, dict[str, Any]], R], name: str = ""
) -> Iterator[tuple[int, R | BadLine]]:
    """Yield the number and the record of each line that is not blank.

    ``read`` makes a record of a line's number and object, or raises `ExciseError` or `SourceError`.
    """
    for number, value in read_lines(stream, name):
        if isinstance(value, BadLine):
            yield number, value
            continue
        try:
            yield number, read(number, value)
        except (ExciseError, SourceError) as error:
            identity = None
            with suppress(SourceError):
                identity = name_in(value, "id")
            yield number, BadLine(number, identity, str(error))


def read_lines(stream: IO[bytes], name: str = "") -> Iterator[tuple[int, dict[str, Any] | BadLine]]:
    """Yield each line that is not blank with its number, as a JSON object or as a bad line.

    One line is held at a time, so memory does not grow with the file.

    Raises
    ------
    SourceError
        If the stream, of this name, cannot be read, or its gzip ends too early or is broken.
    """
    number = 0
    while line := _read_line(stream, name):
        number += 1
        if len(line) > MAX_JSON:
            while line and not line.endswith(b"\n"):
                line = _read_line(stream, name, 1 << 20)
            yield number, BadLine(number, None, f"too long, {_LIMIT}")
        elif line.strip():
            try:
                yield number, json_object(line.removesuffix(b"\n").removesuffix(b"\r"))
            except SourceError as error:
                yield number, BadLine(number, None, error.reason)


def json_object(data: bytes) -> dict[str, Any]:
    """Return the object in a JSON text.

    Raises
    ------
    SourceError
        As `json_value`, and if the value is not an object.
    """
    value = json_value(data)
    if not isinstance(value, dict):
        raise SourceError("not a JSON object")
    return value


def json_value(data: bytes) -> Any:  # noqa: ANN401 - JSON is anything until it is checked
    """Return the value of a JSON text.

    Raises
    ------
    SourceError
        If it is too long, not UTF-8, not JSON, or nothing that Python can hold.
    """
    if len(data) > MAX_JSON:
        raise SourceError(f"too long, {_LIMIT}", hint="give fewer revisions at a time")
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise SourceError(f"not utf-8: byte 0x{data[error.start]:02x} at {error.start}") from error
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        raise SourceError(f"not JSON: {error.msg} at {line}column {error.colno}") from error
    except RecursionError as error:
        raise SourceError("not usable JSON: nested too deep") from error
    except ValueError as error:  # an integer of more digits than Python converts
        raise SourceError(f"not usable JSON: {error}") from error


# --- where the bytes come from -------------------------------------------------------------------


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """Open a file of records (``-``: standard input). Gzip is recognised by its first bytes.

    Raises
    ------
    SourceError
        If it cannot be opened.
    """
    if path == "-":
        yield _unpacked(sys.stdin.buffer, path)
        return
    try:
        file = open(path, "rb")  # noqa: SIM115 - an error in the block is not one of this file
    except (OSError, ValueError) as error:
        raise file_error(path, error).named(path) from error
    with file:
        yield _unpacked(file, path)


def _unpacked(stream: IO[bytes], name: str) -> IO[bytes]:
    """Return the stream, unpacked if it is gzipped."""
    buffered = stream if hasattr(stream, "peek") else io.BufferedReader(stream)  # type: ignore[type-var]
    try:
        packed = buffered.peek(2)[:2] == _GZIP
    except OSError as error:
        raise file_error(name, error).named(name) from error
    return gzip.GzipFile(fileobj=buffered, mode="rb") if packed else buffered  # type: ignore[return-value]


def _read_line(stream: IO[bytes], name: str, most: int | None = None) -> bytes:
    try:
        return stream.readline(MAX_JSON + 1 if most is None else most)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        hint = "it is cut off or damaged: fetch it again"
        raise SourceError(f"broken gzip: {error}", name=name, hint=hint) from error
    except OSError as error:
        raise file_error(name, error).named(name) from error


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


def name_in(record: dict[str, Any], key: str) -> str | int | float:
    """Return a value that names something.

    Raises
    ------
    SourceError
        If it is neither a string nor a finite number.
    """
    value = record.get(key)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise SourceError(f"'{key}' is neither a string nor a number")
    if isinstance(value, float) and not math.isfinite(value):
        raise SourceError(f"'{key}' is not a finite number")
    return value
