"""Files of verdicts: JSON lines, or the JUnit XML of a test runner."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import IO

import msgspec

from excise_server.foundation.files import file_error
from excise_server.foundation.inputs import SourceError
from excise_server.review.verdicts import Verdict
from excise_server.sources.junit import read_junit

__all__ = ["MAX_FILE", "read_verdicts"]

MAX_FILE = 100_000_000
"""Longest file of verdicts, in bytes: 100 MB."""

_MAX_LINE = 1_000_000
_MAX_VERDICTS = 100_000
_MAX_BAD = 20
_HINT = 'give JUnit XML, or lines of {"candidate": ID, "check": NAME, "passed": true}'


def read_verdicts(options: Sequence[str]) -> tuple[list[Verdict], list[str]]:
    """Read the files that the user named.

    Parameters
    ----------
    options
        Each ``FILE``, ``CANDIDATE=FILE`` for one whose verdicts are all about one candidate, or
        ``-`` for standard input.

    Returns
    -------
    The verdicts, and the lines that were left out, with the reasons.

    Raises
    ------
    SourceError
        If a file cannot be read, is over a limit, or is neither.
    """
    verdicts: list[Verdict] = []
    bad: list[str] = []
    for option in options:
        candidate, path = _split(option)
        name = "standard input" if path == "-" else path
        try:
            with _opened(path) as stream:
                verdicts += _read(stream, candidate, name, bad)
        except SourceError as error:
            raise SourceError(error.reason, name=name, hint=error.hint) from error
        except (OSError, ValueError) as error:
            raise file_error(path, error).named(name) from error
        if len(verdicts) > _MAX_VERDICTS:
            raise SourceError(f"more than {_MAX_VERDICTS:,} verdicts", name=name)
    return verdicts, bad


def _split(option: str) -> tuple[str, str]:
    candidate, equals, path = option.partition("=")
    if not equals or os.path.exists(option):
        return "", option
    return candidate, path


@contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    with nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb") as stream:
        yield stream


def _read(stream: IO[bytes], candidate: str, name: str, bad: list[str]) -> list[Verdict]:
    """Return the verdicts of one file, by its first character."""
    start = b""
    while not start.strip(b" \t\r\n\0\xef\xbb\xbf\xfe\xff") and len(start) < _MAX_LINE:
        if not (more := stream.read(4096)):
            break
        start += more
    first = start.strip(b" \t\r\n\0\xef\xbb\xbf\xfe\xff")[:1]
    if first == b"<":
        suites = read_junit(start, stream, MAX_FILE)
        if candidate:
            for suite in suites[1:]:
                suites[0].add(suite)
            suites = suites[:1]
        return [suite.verdict(candidate, os.path.basename(name)) for suite in suites]
    if first not in (b"{", b""):
        raise SourceError("neither JSON lines nor XML", hint=_HINT)
    return list(_lines(start, stream, candidate, name, bad))


def _lines(
    start: bytes, stream: IO[bytes], candidate: str, name: str, bad: list[str]
) -> Iterator[Verdict]:
    decoder = msgspec.json.Decoder(Verdict)
    for number, line in enumerate(_split_lines(start.removeprefix(b"\xef\xbb\xbf"), stream), 1):
        if not line.strip():
            continue
        try:
            verdict = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            bad.append(f"{name}, line {number}: {_reason(error)}")
            if len(bad) > _MAX_BAD:
                raise SourceError(f"more than {_MAX_BAD} bad lines, as {bad[0]}") from error
            continue
        yield msgspec.structs.replace(verdict, candidate=candidate) if candidate else verdict


def _reason(error: Exception) -> str:
    if isinstance(error, msgspec.ValidationError):
        return str(error)
    return "not UTF-8" if isinstance(error, UnicodeDecodeError) else f"not JSON: {error}"


def _split_lines(start: bytes, stream: IO[bytes]) -> Iterator[bytes]:
    """Yield lines, with only one in memory at a time."""
    rest, read = start, len(start)
    while True:
        *lines, rest = rest.split(b"\n")
        yield from lines
        if len(rest) > _MAX_LINE:
            raise SourceError(f"a line over {_MAX_LINE // 1_000_000} MB")
        if read > MAX_FILE:
            raise SourceError(f"over {MAX_FILE / 1e6:g} MB")
        if not (more := stream.read(1 << 16)):
            yield rest
            return
        read += len(more)
        rest += more
