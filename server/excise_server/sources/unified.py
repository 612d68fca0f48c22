r"""Unified diffs, read and applied strictly: by counts and bytes, never by looking around. Pure.

A hunk applies at the line it names, to exactly the lines it shows, or not at all. Lines end with
``\n`` only, as git counts them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["FileDiff", "Hunk", "PatchError", "apply", "parse"]

_HUNK = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_INDEX = re.compile(rb"index ([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})(?: ([0-7]{6}))?")
_ESCAPE = re.compile(rb'\\(?:([0-7]{3})|([abtnvfr"\\]))')
_ESCAPES = dict(zip(b"abtnvfr", b"\a\b\t\n\v\f\r", strict=True))
_PREFIXES = (b"a/", b"b/", b"c/", b"i/", b"o/", b"w/")


class PatchError(ValueError):
    """A patch is malformed, or does not apply; the message names the hunk and the line."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk: where it starts on each side, and its lines with their signs (`` ``, -, +)."""

    old_start: int
    new_start: int
    lines: tuple[tuple[bytes, bytes], ...]
    line: int
    """Where it stands in the patch, from 1."""

    @property
    def old(self) -> list[bytes]:
        """The lines before."""
        return [text for sign, text in self.lines if sign != b"+"]

    @property
    def new(self) -> list[bytes]:
        """The lines after."""
        return [text for sign, text in self.lines if sign != b"-"]


@dataclass(slots=True)
class FileDiff:
    """What a patch says of one file. A path of None is ``/dev/null``; ``problem`` says why not.

    ``old_path`` and ``new_path`` have no ``a/`` and ``b/``; the ids are empty where the patch has
    no ``index`` line.
    """

    line: int
    old_path: bytes | None = b""
    new_path: bytes | None = b""
    old_id: str = ""
    new_id: str = ""
    problem: str = ""
    hunks: list[Hunk] = field(default_factory=list)


def parse(data: bytes) -> list[FileDiff]:
    """Return what a patch says of each file; text around the diffs is passed over.

    A malformed diff has a ``problem``; those after it are read all the same.
    """
    *lines, last = data.split(b"\n")
    reader = _Reader([line + b"\n" for line in lines] + ([last] if last else []))
    return list(reader.files())


def apply(hunks: list[Hunk], text: bytes) -> bytes:
    """Return the text with every hunk applied exactly where it says.

    Raises
    ------
    PatchError
        At the first line that is not what the hunk shows.
    """
    *complete, last = text.split(b"\n")
    lines = [line + b"\n" for line in complete] + ([last] if last else [])
    out: list[bytes] = []
    position = 0
    for number, hunk in enumerate(hunks, start=1):
        start = hunk.old_start - 1 if hunk.old else hunk.old_start
        where = f"hunk {number} (line {hunk.line} of the patch)"
        if start < position:
            raise PatchError(f"{where} starts at line {hunk.old_start}, inside the one before")
        _check_lines(lines, start, hunk.old, where)
        out += lines[position:start]
        if hunk.new_start != len(out) + bool(hunk.new):
            raise PatchError(f"{where} names line {hunk.new_start} of the result, but it is not")
        out += hunk.new
        position = start + len(hunk.old)
    out += lines[position:]
    if any(not line.endswith(b"\n") for line in out[:-1]):
        raise PatchError("a line without a line end would not be the last one")
    return b"".join(out)


def _check_lines(lines: list[bytes], start: int, expected: list[bytes], where: str) -> None:
    if start > len(lines):
        raise PatchError(f"{where} starts at line {start + 1}, the text has {len(lines)}")
    for offset, line in enumerate(expected):
        here = start + offset
        if here >= len(lines):
            raise PatchError(f"{where} needs line {here + 1}, the text has {len(lines)}")
        if lines[here] != line:
            same = lines[here].rstrip(b"\r\n") == line.rstrip(b"\r\n")
            what = "line end" if same else "text"
            raise PatchError(f"{where} does not apply: another {what} at line {here + 1}")


class _Reader:
    """Lines of a patch, read forwards once."""

    def __init__(self, lines: list[bytes]) -> None:
        self._lines, self._at = lines, 0

    def files(self) -> Iterator[FileDiff]:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith(b"diff --git "):
                yield self._file(header=True)
            elif line.startswith((b"diff --cc ", b"diff --combined ")):
                path = _path(line.split(b" ", 2)[2].rstrip(b"\r\n"), prefixed=False)
                problem = "the combined diff of a merge"
                yield FileDiff(self._at + 1, path, path, problem=problem)
                self._at += 1
            elif line.startswith(b"--- ") and self._peek(1).startswith(b"+++ "):
                yield self._file(header=False)
            else:
                self._at += 1

    def _peek(self, ahead: int = 0) -> bytes:
        at = self._at + ahead
        return self._lines[at] if at < len(self._lines) else b""

    def _file(self, *, header: bool) -> FileDiff:
        diff = FileDiff(self._at + 1)
        if header:
            both = _both_paths(self._peek()[len(b"diff --git ") :].rstrip(b"\r\n"))
            diff.old_path = diff.new_path = both
            self._at += 1
            self._header(diff)
        if self._peek().startswith(b"--- ") and self._peek(1).startswith(b"+++ "):
            diff.old_path = _path(self._peek()[4:].rstrip(b"\r\n"))
            diff.new_path = _path(self._peek(1)[4:].rstrip(b"\r\n"))
            self._at += 2
        try:
            while found := _HUNK.match(self._peek()):
                diff.hunks.append(self._hunk(found))
        except PatchError as error:
            diff.problem = str(error)
        return diff

    def _header(self, diff: FileDiff) -> None:
        """Read the lines between ``diff --git`` and ``---``."""
        while self._at < len(self._lines):
            line = self._peek().rstrip(b"\r\n")
            if found := _INDEX.fullmatch(line):
                diff.old_id, diff.new_id = found[1].decode(), found[2].decode()
                if found[3] in (b"120000", b"160000"):
                    diff.problem = "a link or a submodule, no text"
            elif line.startswith(b"new file mode "):
                diff.old_path = None
            elif line.startswith(b"deleted file mode "):
                diff.new_path = None
            elif line.startswith((b"rename from ", b"copy from ")):
                diff.old_path = _path(line.split(b" ", 2)[2], prefixed=False)
            elif line.startswith((b"rename to ", b"copy to ")):
                diff.new_path = _path(line.split(b" ", 2)[2], prefixed=False)
            elif line.startswith((b"GIT binary patch", b"Binary files ")):
                diff.problem = "a binary patch"
            elif not line.startswith(
                (b"old mode ", b"new mode ", b"similarity index ", b"dissimilarity index ")
            ):
                return
            self._at += 1

    def _hunk(self, found: re.Match[bytes]) -> Hunk:
        """Read as many lines as the hunk's header counts."""
        line = self._at + 1
        old, new = (int(found[group]) if found[group] is not None else 1 for group in (2, 4))
        self._at += 1
        lines: list[tuple[bytes, bytes]] = []
        while old > 0 or new > 0:
            text = self._peek()
            # Some mailers drop the space of an empty line; git reads it as one as well.
            sign, rest = (b" ", text) if text == b"\n" else (text[:1], text[1:])
            if sign == b"\\" and lines:
                self._no_end(lines)
                continue
            old, new = old - (sign in b" -"), new - (sign in b" +")
            if sign not in (b" ", b"-", b"+") or old < 0 or new < 0:
                where = f"line {self._at + 1} of the patch"
                raise PatchError(f"{where}: the hunk at line {line} is not as long as it says")
            if not rest.endswith(b"\n"):
                raise PatchError("the patch is cut short: its last line has no line end")
            lines.append((sign, rest))
            self._at += 1
        if self._peek().startswith(b"\\ ") and lines:
            self._no_end(lines)
        return Hunk(int(found[1]), int(found[3]), tuple(lines), line)

    def _no_end(self, lines: list[tuple[bytes, bytes]]) -> None:
        r"""Take ``\ No newline at end of file``: the line before has no line end."""
        sign, text = lines[-1]
        lines[-1] = (sign, text.removesuffix(b"\n"))
        self._at += 1


def _path(text: bytes, *, prefixed: bool = True) -> bytes | None:
    r"""Return the path that a header line names; None for ``/dev/null``.

    >>> _path(b'"a/\\303\\244 b.py"'), _path(b"b/a b.py\t"), _path(b"/dev/null")
    (b'\xc3\xa4 b.py', b'a b.py', None)
    """
    if text.startswith(b'"') and (end := text.rfind(b'"')) > 0:
        path = _ESCAPE.sub(_unescaped, text[1:end])
    else:
        path = text.split(b"\t", 1)[0]
    if not prefixed:
        return path
    if path == b"/dev/null":
        return None
    return path[2:] if path.startswith(_PREFIXES) else path


def _unescaped(found: re.Match[bytes]) -> bytes:
    if found[1] is not None:
        return bytes([int(found[1], 8) & 0xFF])
    return bytes([_ESCAPES.get(found[2][0], found[2][0])])


def _both_paths(text: bytes) -> bytes:
    """Return the path of ``a/X b/X``; empty if the two differ (a rename names them by itself).

    >>> _both_paths(b"a/x y b/x y"), _both_paths(b"a/x b/y")
    (b'x y', b'')
    """
    middle = len(text) // 2
    first, second = _path(text[:middle]), _path(text[middle + 1 :])
    return first if first and first == second else b""
