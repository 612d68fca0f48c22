"""Reading records to evaluate: lines of JSON, gzipped or not, from a file or standard input."""

from __future__ import annotations

import gzip
import io
import json
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from excise.evaluation.data import Record, RecordError, read_record
from excise_server.foundation.files import file_error
from excise_server.foundation.inputs import MAX_BYTES, SourceError
from excise_server.sources.records import MAX_JSON

__all__ = ["BadLine", "Line", "opened", "read_lines", "read_records", "unpacked"]

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Line:
    """A line that holds a record: its number, the record, and the object that it was read from."""

    number: int
    record: Record
    value: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that holds none, and why; ``id`` where it has one."""

    number: int
    id: str | int | float | None
    reason: str


def read_records(
    stream: IO[bytes], read: Callable[[Mapping[str, Any]], Record] = read_record
) -> Iterator[Line | BadLine]:
    """Yield a record for each line that is not blank; a bad line never stops the others.

    ``read`` makes a record of a JSON object, or raises `RecordError`.
    """
    for number, value in read_lines(stream):
        if isinstance(value, BadLine):
            yield value
            continue
        try:
            record = read(value)
            _check_size(record)
            yield Line(number, record, value)
        except RecordError as error:
            found = value.get("id")
            name = found if isinstance(found, str | int | float) else None
            yield BadLine(number, name, str(error))


def read_lines(stream: IO[bytes]) -> Iterator[tuple[int, dict[str, Any] | BadLine]]:
    """Yield each line that is not blank with its number, as a JSON object or as a bad line."""
    number = 0
    while line := stream.readline(MAX_JSON + 1):
        number += 1
        if len(line) > MAX_JSON:
            while line and not line.endswith(b"\n"):
                line = stream.readline(1 << 20)
            limit = f"limit {MAX_JSON // 1_000_000} MB"
            yield number, BadLine(number, None, f"too long, {limit}")
        elif line.strip():
            yield number, _object(number, line)


def _object(number: int, line: bytes) -> dict[str, Any] | BadLine:
    try:
        value = json.loads(line.decode("utf-8-sig").rstrip("\r\n"))
    except UnicodeDecodeError as error:
        reason = f"not utf-8: byte 0x{line[error.start]:02x} at {error.start}"
    except json.JSONDecodeError as error:
        reason = f"not JSON: {error.msg} at column {error.colno}"
    except RecursionError:
        reason = "not usable JSON: nested too deep"
    except ValueError as error:  # an integer of more digits than Python converts
        reason = f"not usable JSON: {error}"
    else:
        if isinstance(value, dict):
            return value
        reason = "not a JSON object"
    return BadLine(number, None, reason)


def _check_size(record: Record) -> None:
    for text in (record.origin, *record.references, record.hypothesis):
        if len(text) > MAX_BYTES or len(text.encode()) > MAX_BYTES:
            raise RecordError(f"a text is over the limit of {MAX_BYTES // 1_000_000} MB")


# --- where the bytes come from -------------------------------------------------------------------


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """Open a file of records; ``-`` is standard input; gzip is seen by its first bytes.

    Raises
    ------
    SourceError
        If it cannot be opened, or its gzip ends too early or is broken.
    """
    try:
        if path == "-":
            yield unpacked(sys.stdin.buffer)
        else:
            with open(path, "rb") as file:
                yield unpacked(file)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        hint = "it is cut off or damaged: fetch it again"
        raise SourceError(f"broken gzip: {error}", name=path, hint=hint) from error
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise file_error(path, error).named(path) from error


def unpacked(stream: IO[bytes]) -> IO[bytes]:
    """Return the stream, through gzip if that is what it holds."""
    buffered = stream if hasattr(stream, "peek") else io.BufferedReader(stream)  # type: ignore[type-var]
    if buffered.peek(2)[:2] == _GZIP:
        return gzip.GzipFile(fileobj=buffered, mode="rb")  # type: ignore[return-value]
    return buffered
