"""The content of a line for ``excise eval``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import IO, Any

from excise.evaluation.data import Record, RecordError, read_record
from excise_server.foundation.inputs import MAX_BYTES
from excise_server.records import lines

__all__ = ["Line", "read_line", "read_records"]

Read = Callable[[Mapping[str, Any]], Record]


@dataclass(frozen=True, slots=True)
class Line:
    """A line with a record: its number, the record, and the object that it was read from."""

    number: int
    record: Record
    value: Mapping[str, Any]


def read_records(stream: IO[bytes], read: Read = read_record) -> Iterator[Line | lines.BadLine]:
    """Yield a record for each line that is not blank. A bad line never stops the others.

    ``read`` makes a record of a JSON object, or raises `RecordError`.
    """
    for _, line in lines.read_records(stream, partial(read_line, read)):
        yield line


def read_line(read: Read, number: int, value: Mapping[str, Any]) -> Line:
    """Return the record of a line.

    Raises
    ------
    RecordError
        If ``read`` raises it, or a text is too long.
    """
    record = read(value)
    for text in (record.origin, *record.references, record.hypothesis):
        if len(text) > MAX_BYTES or len(text.encode()) > MAX_BYTES:
            raise RecordError(f"a text is over the limit of {MAX_BYTES // 1_000_000} MB")
    return Line(number, record, value)
