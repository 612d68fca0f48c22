r"""Files merged and put together as lines of bytes, which nothing decodes and encodes again. Pure.

Lines are merged by their texts, and each line of the result is the bytes of one side. Of a line
that all sides have, the bytes of the side that changed them count: so what a candidate does to
bytes alone (another encoding, other line ends) is merged line by line, like everything else.

A *conversion* changes the line end or the encoding of a whole file. It is a fact of the file, like
its mode, and no hunk. Who takes a hunk and not the conversion wants the hunk as it would be without
it: lines of a candidate that turned a CRLF file into LF get CRLF back. And where target and
candidate have parted because one of them converted the file, lines of the other one follow, so that
no merge mixes line ends or encodings in a file in which nobody mixed them. Apart from this, lines
are the candidate's bytes inside its hunks, and the target's outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from excise.replay import Conflict, ReplayedLines, replay_lines
from excise.text import raw_lines
from excise_server.foundation.changes import Side
from excise_server.foundation.file_bytes import ByteLines, read_line
from excise_server.foundation.inputs import SourceError

_TEXTS = frozenset({"utf-8", "latin-1"})


class Conversion(NamedTuple):
    """What a revision does to every line of a file: its line end and encoding, empty if neither."""

    end: bytes = b""
    encoding: str = ""

    def line(self, line: bytes) -> bytes:
        """Return a line as the conversion makes it.

        Raises SourceError if the encoding has not all of its characters.
        """
        content = line.rstrip(b"\r\n")
        end = line[len(content) :]
        if self.encoding and not content.isascii():
            try:
                content = read_line(content).encode(self.encoding)
            except UnicodeEncodeError as error:
                character = error.object[error.start]
                raise SourceError(f"its encoding, {self.encoding}, has no {character!a}") from error
        return content + (self.end or end if end else b"")

    def lines(self, lines: Sequence[bytes]) -> list[bytes]:
        """Return lines as the conversion makes them."""
        return list(map(self.line, lines)) if any(self) else list(lines)


def conversion(old: ByteLines, new: ByteLines) -> Conversion:
    r"""Return how a file was converted as a whole.

    >>> old, new = ByteLines.of(b"a\r\nb\r\n"), ByteLines.of("é\n".encode())
    >>> old and new and conversion(old, new)
    Conversion(end=b'\n', encoding='')
    """
    is_recoded = {old.encoding, new.encoding} == _TEXTS
    has_other_ends = bool(old.end and new.end) and old.end != new.end
    return Conversion(new.end if has_other_ends else b"", new.encoding if is_recoded else "")


class Merged(NamedTuple):
    """The merged bytes, nobody's if there are conflicts, and how their lines were merged."""

    data: bytes
    replayed: ReplayedLines

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """As `excise.Replayed` has them."""
        return self.replayed.conflicts


def merged_bytes(base: Side, origin: Side, revision: Side) -> Merged | None:
    """Do to the origin what a revision did to its base, or return None if one has no lines.

    Raises SourceError if a line cannot be written in the encoding that the other side gave the
    file.
    """
    b, o, r = base.lines, origin.lines, revision.lines
    if b is None or o is None or r is None:
        return None
    merged = replay_lines(*(raw_lines(side.text or "") for side in (base, origin, revision)))
    converted, drifted = _seen(conversion(b, r), b, r, merged.kept), conversion(b, o)
    if not (o.end or drifted.end):
        # The end that all lines of the base have got, whatever that of new lines is.
        kept = (line for _, at, _, count in merged.kept for line in o.lines[at : at + count])
        ends = {line[len(line.rstrip(b"\r\n")) :] for line in kept} - {b""}
        if b.end and len(ends) == 1 and b.end not in ends:
            drifted = drifted._replace(end=ends.pop())
    drifted = Conversion(
        b"" if converted.end else drifted.end, "" if converted.encoding else drifted.encoding
    )
    lines = converted.lines(o.lines)
    for b_line, o_line, r_line, count in merged.kept:
        if b.lines[b_line : b_line + count] != r.lines[r_line : r_line + count]:
            for line in range(count):
                if b.lines[b_line + line] == o.lines[o_line + line]:
                    lines[o_line + line] = r.lines[r_line + line]
    parts: list[tuple[Sequence[bytes], bool]] = []
    line = 0
    for edit in merged.edits:
        parts.append((lines[line : edit.o_lo], False))
        parts.append((drifted.lines(r.lines[edit.a_lo : edit.a_hi]), True))
        line = edit.o_hi
    parts.append((lines[line:], False))
    mark = (r if r.mark != b.mark else o).mark
    end = converted.end or o.end or r.end or b"\n"
    return Merged(mark + joined(parts, end), merged)


def _seen(
    converted: Conversion,
    base: ByteLines,
    revision: ByteLines,
    kept: Iterable[tuple[int, int, int, int]],
) -> Conversion:
    """Return a conversion as far as lines show it that the target has, too.

    Else a file could count as converted because its only line in latin-1 was replaced, and lines
    would change that only the target has.
    """
    if not any(converted):
        return converted
    pairs = [
        (base.lines[b_line + line], revision.lines[r_line + line])
        for b_line, _, r_line, count in kept
        for line in range(count)
    ]
    contents = [(before.rstrip(b"\r\n"), after.rstrip(b"\r\n")) for before, after in pairs]
    is_recoded = any(before != after for before, after in contents)
    has_other_ends = any(
        before[len(old) :] != after[len(new) :] and len(before) > len(old) and len(after) > len(new)
        for (before, after), (old, new) in zip(pairs, contents, strict=True)
    )
    return Conversion(
        converted.end if has_other_ends else b"", converted.encoding if is_recoded else ""
    )


def joined(parts: Iterable[tuple[Sequence[bytes], bool]], end: bytes) -> bytes:
    r"""Return runs of lines as one text; ``True``: a run that takes the place of others.

    - ``end``: the line end of a line that is no longer the last, if no line before it has one.

    >>> joined([([b"a\r\n", b"b"], False), ([b"c"], True)], b"\n")
    b'a\r\nb\r\nc'
    """
    runs = list(parts)
    whole = b"".join(line for lines, _ in runs for line in lines)
    if b"\r" not in whole and whole.count(b"\n") == sum(len(lines) for lines, _ in runs):
        return whole  # as nearly always: each line has the usual end
    pieces = [(line, is_new) for lines, is_new in runs for line in lines]
    result: list[bytes] = []
    was_new = False
    for place, (line, is_new) in enumerate(pieces):
        content = line.rstrip(b"\r\n")
        own = line[len(content) :]
        if not own and place < len(pieces) - 1:
            line = content + end
        if line[:1] == b"\n" and result and result[-1].endswith(b"\r"):
            # Two line ends that would be read as one. The lines of the target stay as they are.
            if was_new:
                result[-1] = result[-1][:-1] + b"\n"
            elif is_new:
                line = b"\r\n"
        end = own or end
        result.append(line)
        was_new = is_new
    return b"".join(result)
