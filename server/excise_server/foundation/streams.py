"""Standard output and error that may be closed or full: an exit code, and never a traceback."""

from __future__ import annotations

import io
import os
import sys
from typing import Any


class OutputError(OSError):
    """The error for what cannot be written to standard output."""


class Output(io.FileIO):
    """Standard output (1) or standard error (2), whose lost messages change no exit code."""

    def __init__(self, stream: int) -> None:
        super().__init__(stream, "wb", closefd=False)

    def write(self, data: Any) -> int:  # noqa: ANN401 - a buffer
        """Raises OutputError if it cannot be written, BrokenPipeError if nobody reads it."""
        try:
            return os.write(self.fileno(), data)
        except BrokenPipeError:
            raise
        except OSError as error:
            if self.fileno() == 1:
                raise OutputError(error.errno, error.strerror) from error
        return memoryview(data).nbytes


def text_over(
    binary: io.BufferedReader | io.BufferedWriter, before: io.TextIOWrapper
) -> io.TextIOWrapper:
    """Return a stream of text as the one before it was set up.

    With PYTHONUNBUFFERED that one was written through to a file without a buffer. Here there is
    one, so that each line goes through by itself.
    """
    return io.TextIOWrapper(
        binary,
        encoding=before.encoding,
        errors=before.errors,
        line_buffering=before.line_buffering or before.write_through,
        write_through=before.write_through,
    )


def open_streams() -> None:
    """Open the standard streams that are closed, before a file or a pipe gets their numbers.

    Reading or writing them fails as it does for a closed one.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDONLY if number else os.O_WRONLY), number)
        before = getattr(sys, name) or open(number, "w" if number else "r", closefd=False)  # noqa: SIM115
        stream = text_over(io.BufferedWriter(Output(number)), before) if number else before
        setattr(sys, name, stream)
