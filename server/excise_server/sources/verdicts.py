"""Files of verdicts: JSON lines, or the JUnit XML of a test runner, which is not trusted.

XML is read by expat alone, within limits. A document with a type declaration is refused: without
one, there are no entities to expand and no names of other files.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import IO
from xml.parsers import expat

import msgspec

from excise_server.foundation.files import file_error, read_bytes
from excise_server.foundation.inputs import SourceError, first_few
from excise_server.review.verdicts import Verdict

_MAX_DEPTH = 100
_MAX_TAG = 1_000_000
_MAX_SUITES = 10_000
_MAX_NAME = 200
_KEPT_NAMES = 3
_NOTHING_RAN = "no test ran"


@dataclass(slots=True)
class Suite:
    """An outermost ``testsuite``, with the tests of all suites in it."""

    name: str
    tests: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    failing: list[str] = field(default_factory=list)

    def add(self, suite: Suite) -> None:
        """Add the counts of another suite."""
        self.tests += suite.tests
        self.failed += suite.failed
        self.skipped += suite.skipped
        self.seconds += suite.seconds
        self.failing += suite.failing

    def verdict(self, candidate: str, check: str) -> Verdict:
        """Return the verdict on a candidate, or on the one that the suite is named after."""
        ran = self.tests - self.skipped
        reason = "" if ran or self.failed else _NOTHING_RAN
        if self.failed:
            names = first_few(self.failing, _KEPT_NAMES)
            reason = f"{self.failed:,} of {max(ran, self.failed):,} tests failed"
            reason += f": {names}" if names else ""
        return Verdict(
            candidate=candidate or self.name,
            check=check,
            passed=False if self.failed else True if ran else None,
            seconds=round(self.seconds, 3),
            reason=reason,
        )


def read_junit(start: bytes, stream: IO[bytes], limit: int) -> list[Suite]:
    """Return the suites of a document that have tests.

    Raises SourceError if it is not JUnit XML, is cut off, declares a type or an entity, or is over
    a limit.

    - ``start``: the bytes that were already read from the stream.
    """
    return _parsed(start, stream, limit).suites


def read_tests(folder: str, path: str) -> dict[str, bool]:
    """Return whether each test passed, by its name, from a JUnit file in a folder.

    Raises SourceError if it cannot be read, or leads out of the folder.
    """
    stream = io.BytesIO(read_bytes(os.path.join(folder, path), [folder]))
    return _parsed(b"", stream, MAX_FILE).outcomes


def _parsed(start: bytes, stream: IO[bytes], limit: int) -> _JUnitReader:
    reader = _JUnitReader()
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse
    parser.EntityDeclHandler = _refuse
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    try:
        size = 0
        for chunk in _chunks(start, stream, limit):
            parser.Parse(chunk, False)
            size += len(chunk)
            # Expat reads an incomplete tag again with every chunk, at quadratic cost.
            if size - parser.CurrentByteIndex > _MAX_TAG:
                raise SourceError(f"a tag or comment over {_MAX_TAG / 1e6:g} MB")
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise SourceError(f"incomplete XML: {error}") from error
    except (LookupError, ValueError) as error:  # an unknown encoding
        raise SourceError(f"unreadable XML: {error}") from error
    if not reader.is_junit:
        raise SourceError("not JUnit XML: no testsuite in it")
    return reader


def _refuse(*_: object) -> None:
    raise SourceError("XML with a document type or entities is not read")


def _chunks(start: bytes, stream: IO[bytes], limit: int) -> Iterator[bytes]:
    read = len(start)
    yield start
    while chunk := stream.read(1 << 16):
        read += len(chunk)
        if read > limit:
            raise SourceError(f"over {limit / 1e6:g} MB")
        yield chunk


class _JUnitReader:
    """The state of the parser's handlers."""

    def __init__(self) -> None:
        self.is_junit = False
        self.outcomes: dict[str, bool] = {}
        self._by_name: dict[str, Suite] = {}
        self._suite: Suite | None = None
        self._said = 0  # how many tests failed, by the outermost suite's own count
        self._depths: list[str] = []
        self._test: tuple[str, bool, bool] | None = None  # name, failed, skipped

    @property
    def suites(self) -> list[Suite]:
        return list(self._by_name.values())

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        kind = tag.rpartition(":")[2]
        self._depths.append(kind)
        if len(self._depths) > _MAX_DEPTH:
            raise SourceError(f"XML nested over {_MAX_DEPTH} levels deep")
        self.is_junit |= kind in ("testsuite", "testsuites")
        if kind == "testsuite" and self._suite is None:
            self._suite = Suite(attributes.get("name", "")[:_MAX_NAME])
            self._said = sum(_number(attributes.get(key, "")) for key in ("failures", "errors"))
        elif kind == "testcase":
            suite = self._within()
            suite.tests += 1
            suite.seconds += _seconds(attributes.get("time", ""))
            self._test = attributes.get("name", "")[:_MAX_NAME], False, False
        elif self._test is not None and kind in ("failure", "error", "skipped"):
            name, failed, skipped = self._test
            self._test = name, failed or kind != "skipped", skipped or kind == "skipped"
        elif self._suite is not None and kind in ("failure", "error"):  # its set-up
            self._suite.failed += 1

    def _within(self) -> Suite:
        if self._suite is None:
            raise SourceError("not JUnit XML: a testcase outside of any testsuite")
        return self._suite

    def end(self, tag: str) -> None:
        kind = self._depths.pop()
        if kind == "testcase" and self._test is not None:
            suite, (name, failed, skipped) = self._within(), self._test
            suite.failed += failed
            suite.skipped += skipped and not failed
            if failed or not skipped:  # one of several of a name that fails decides
                self.outcomes[name] = self.outcomes.get(name, True) and not failed
            if failed and len(suite.failing) <= _KEPT_NAMES:
                suite.failing.append(name)
            self._test = None
        elif kind == "testsuite" and "testsuite" not in self._depths:
            suite = self._within()
            suite.failed = max(suite.failed, self._said)
            if suite.name in self._by_name:
                self._by_name[suite.name].add(suite)
            else:
                self._by_name[suite.name] = suite
            if len(self._by_name) > _MAX_SUITES:
                raise SourceError(f"more than {_MAX_SUITES:,} test suites")
            self._suite = None


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _seconds(text: str) -> float:
    """Return the seconds of an attribute, or 0 if it says nothing that can be added."""
    try:
        seconds = float(text.replace(",", ""))
    except ValueError:
        return 0.0
    return seconds if 0 <= seconds < 1e9 else 0.0


MAX_FILE = 100_000_000
"""Longest file of verdicts, in bytes: 100 MB."""

_MAX_LINE = 1_000_000
_MAX_VERDICTS = 100_000
_MAX_BAD = 20
_HINT = 'give JUnit XML, or lines of {"candidate": ID, "check": NAME, "passed": true}'


def read_verdicts(
    options: Sequence[str], folders: Sequence[str] = ()
) -> tuple[list[Verdict], list[str]]:
    """Read the files that the user named.

    Raises SourceError if a file cannot be read, is outside, is over a limit, or is neither.

    - ``options``: each ``FILE``, ``CANDIDATE=FILE`` for one whose verdicts are all about one
      candidate, or ``-`` for standard input.
    - ``folders``: where a server reads, which has no standard input; a path is relative to the
      first of them. None: anywhere.

    Returns: the verdicts, and the lines that were left out, with the reasons.
    """
    verdicts: list[Verdict] = []
    bad: list[str] = []
    for option in options:
        candidate, equals, path = option.partition("=")
        if not equals or os.path.exists(os.path.join(*folders[:1], option)):
            candidate, path = "", option
        name = "standard input" if path == "-" and not folders else path
        try:
            with _opened(path, folders) as stream:
                verdicts += _read(stream, candidate, name, bad)
        except SourceError as error:
            raise SourceError(error.reason, name=name, hint=error.hint) from error
        except (OSError, ValueError) as error:
            raise file_error(path, error).named(name) from error
        if len(verdicts) > _MAX_VERDICTS:
            raise SourceError(f"more than {_MAX_VERDICTS:,} verdicts", name=name)
    return verdicts, bad


@contextmanager
def _opened(path: str, folders: Sequence[str]) -> Iterator[IO[bytes]]:
    if folders:
        yield io.BytesIO(read_bytes(os.path.join(folders[0], path), folders))
        return
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
            reason = "not UTF-8" if isinstance(error, UnicodeDecodeError) else f"not JSON: {error}"
            reason = str(error) if isinstance(error, msgspec.ValidationError) else reason
            bad.append(f"{name}, line {number}: {reason}")
            if len(bad) > _MAX_BAD:
                raise SourceError(f"more than {_MAX_BAD} bad lines, such as {bad[0]}") from error
            continue
        yield msgspec.structs.replace(verdict, candidate=candidate) if candidate else verdict


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
