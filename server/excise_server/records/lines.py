"""Lines of JSON objects from a file or standard input, gzipped or not."""

from __future__ import annotations

import gzip
import io
import json
import math
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any, TypeVar

from excise.errors import ExciseError
from excise_server.foundation.files import file_error
from excise_server.foundation.inputs import SourceError

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

    Without any record, ``nothing`` is the message of the `SourceError`.
    """
    good: list[R] = []
    bad: list[BadLine] = []
    with opened(path) as stream:
        for record in read_records(stream, read, path):
            if isinstance(record, BadLine):
                bad.append(record)
            else:
                good.append(record)
            advance(len(good) + len(bad))
    if not good:
        hint = f"line {bad[0].number}: {bad[0].reason}" if bad else "it has no lines"
        raise SourceError(nothing, name=path, hint=hint)
    return good, bad


def read_records(
    stream: IO[bytes], read: Callable[[int, dict[str, Any]], R], name: str = ""
) -> Iterator[R | BadLine]:
    """Yield the record of each line that is not blank. A bad line never stops the others.

    ``read`` makes a record of a line's number and object, or raises `ExciseError` or `SourceError`.
    One line is held at a time, so memory does not grow with the file. A stream, of this name, that
    cannot be read, or whose gzip ends too early or is broken, is a `SourceError`.
    """
    number = 0
    while line := _read_line(stream, name):
        number += 1
        if len(line) > MAX_JSON:
            while line and not line.endswith(b"\n"):
                line = _read_line(stream, name, 1 << 20)
            yield BadLine(number, None, f"too long, {_LIMIT}")
        elif line.strip():
            value: dict[str, Any] = {}
            record: R | BadLine
            try:
                value = json_object(line.removesuffix(b"\n").removesuffix(b"\r"))
                record = read(number, value)
            except (ExciseError, SourceError) as error:
                name_of_it = None
                with suppress(SourceError):
                    name_of_it = identity(value, "id")
                record = BadLine(number, name_of_it, str(error))
            yield record


def json_object(data: bytes) -> dict[str, Any]:
    """Return the object in a JSON text.

    Raises SourceError if it is too long, not UTF-8, not JSON, nothing that Python can hold, or not
    an object.
    """
    if len(data) > MAX_JSON:
        raise SourceError(f"too long, {_LIMIT}", hint="give fewer revisions at a time")
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise SourceError(f"not utf-8: byte 0x{data[error.start]:02x} at {error.start}") from error
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        raise SourceError(f"not JSON: {error.msg} at {line}column {error.colno}") from error
    except RecursionError as error:
        raise SourceError("not usable JSON: nested too deep") from error
    except ValueError as error:  # an integer of more digits than Python converts
        raise SourceError(f"not usable JSON: {error}") from error
    if not isinstance(value, dict):
        raise SourceError("not a JSON object")
    return value


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


# --- where the bytes come from -------------------------------------------------------------------


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """Open a file of records (``-``: standard input). Gzip is recognised by its first bytes.

    Raises SourceError if it cannot be opened.
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
