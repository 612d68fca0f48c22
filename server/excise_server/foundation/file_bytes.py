"""The bytes of a file as lines, as a text for tokens and eyes, and what only the bytes tell. Pure.

Bytes are the truth, text is a view: a line that is UTF-8 is read so, and any other line as latin-1,
line by line, so that one wrong byte changes the reading of its own line alone. Two lines with one
text may then be different bytes, which is why nothing is written from a text.

A file has lines of bytes if each of its bytes below 128 is ASCII. UTF-16, UTF-32 and binary data
have none: such a file is taken as a whole or not at all.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from excise.errors import BinaryTextError, UndecodableTextError
from excise.text import byte_lines, decode, normalise, raw_lines
from excise_server.foundation.escape import DEFAULT_IGNORABLE

SHA1_DIGITS, SHA256_DIGITS = 40, 64
"""How many digits the names of objects have in a repository of SHA-1, and in one of SHA-256."""

_ENDS = {b"\n": "LF", b"\r\n": "CRLF", b"\r": "CR"}

_MARK = re.compile(rb"(?:\xef\xbb\xbf){0,2}")  # the text is without both
_WIDE = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_INVISIBLE = re.compile("|".join(f"([{characters}])" for characters in DEFAULT_IGNORABLE.values()))
_ANY_INVISIBLE = re.compile(f"[{''.join(DEFAULT_IGNORABLE.values())}]")  # much faster on a file


@dataclass(frozen=True, slots=True)
class ByteLines:
    r"""A file as lines of bytes.

    - ``mark``: its byte order mark, or nothing.
    - ``lines``: with their line ends, as many as the text has.
    - ``encoding``: ``ascii``, ``utf-8``, ``latin-1`` if no line with other bytes is UTF-8, or
      ``mixed``.
    - ``end``: the line end that all its lines have; nothing if there are several kinds or none.

    >>> ByteLines.of(b"a\r\nb")
    ByteLines(mark=b'', lines=[b'a\r\n', b'b'], encoding='ascii', end=b'\r\n')
    """

    mark: bytes
    lines: list[bytes]
    encoding: str
    end: bytes

    @classmethod
    def of(cls, data: bytes) -> ByteLines | None:
        """Split a file, or return None if it has no lines of bytes."""
        if _wide(data) or b"\0" in data:
            return None
        mark = _mark(data)
        lines = byte_lines(data[len(mark) :])
        kinds = [end for end, count in _ends(data).items() if count]
        return cls(mark, lines, _encoding(data), kinds[0] if len(kinds) == 1 else b"")


def text_of_bytes(data: bytes) -> str | None:
    """Return the normalised text of a file, or None for binary data."""
    try:
        return normalise(decode(data))
    except UndecodableTextError:
        if b"\0" in data:
            return None
        if _wide(data):
            return normalise(data.decode("latin-1"))
        return normalise("".join(map(read_line, byte_lines(data[len(_mark(data)) :]))))
    except BinaryTextError:
        return None


def blob_ids(data: bytes) -> tuple[str, str]:
    """Return the ids that git gives a text, in repositories of SHA-1 and of SHA-256.

    >>> blob_ids(b"")[0]
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    return blob_name(data, SHA1_DIGITS), blob_name(data, SHA256_DIGITS)


def blob_name(data: bytes, digits: int) -> str:
    """Return the name of the blob that holds such bytes."""
    kind = "sha1" if digits == SHA1_DIGITS else "sha256"
    return hashlib.new(kind, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _mark(data: bytes) -> bytes:
    match = _MARK.match(data)
    return match[0] if match else b""


def _wide(data: bytes) -> str:
    """Return the encoding that a byte order mark names, if it is UTF-16 or UTF-32."""
    return next((name for mark, name in _WIDE.items() if data.startswith(mark)), "")


def read_line(line: bytes) -> str:
    """Return the text of a line: UTF-8, or else latin-1."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _encoding(data: bytes) -> str:
    if name := _wide(data):
        return name
    if data.isascii():
        return "ascii"
    if not (unread := _not_utf8(data)):
        return "utf-8"
    body = data[len(_mark(data)) :]
    beyond = sum(1 for line in byte_lines(body) if not line.isascii())
    return "latin-1" if beyond == len(unread) else "mixed"


def _not_utf8(data: bytes) -> list[bytes]:
    return [] if _is_utf8(data) else [line for line in byte_lines(data) if not _is_utf8(line)]


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _ends(data: bytes) -> dict[bytes, int]:
    """Return how many lines have which line end."""
    if _wide(data):
        try:
            data = decode(data).encode("utf-8", "surrogatepass")
        except (BinaryTextError, UndecodableTextError):
            return dict.fromkeys(_ENDS, 0)
    returns = data.count(b"\r")
    crlf = data.count(b"\r\n") if returns else 0
    return {b"\n": data.count(b"\n") - crlf, b"\r\n": crlf, b"\r": returns - crlf}


# --- facts ---------------------------------------------------------------------------------------


def byte_facts(old: bytes | None, new: bytes) -> tuple[str, ...]:
    r"""Return what changes in the bytes of a text beside its lines.

    - ``old``: the file before; None if it is created.

    >>> byte_facts(b"a\nb\n", b"\xef\xbb\xbfa\r\nb\r\n")
    ('adds a byte order mark', 'converts line ends from LF to CRLF')
    >>> byte_facts("é\n".encode(), b"\xe9\n")
    ('converts the file from utf-8 to latin-1',)
    >>> byte_facts("é\n".encode(), b"\xc3\xa9\n\xe8\n")
    ('adds a byte that is not UTF-8',)
    >>> byte_facts(b"a\n", "a\u202e\u200b\u2066\n".encode())
    ('has 3 invisible characters in added lines: 2 bidi controls, 1 zero-width character',)
    """
    if old == new:
        return ()
    texts = text_of_bytes(old or b""), text_of_bytes(new)
    if texts[0] is None or texts[1] is None:
        return ()
    facts = *_encodings(old, new), *_line_ends(old or b"", new)
    return (*facts, *_invisible(texts[0], texts[1]))


def _encodings(old: bytes | None, new: bytes) -> Iterator[str]:
    before, after = _encoding(old or b""), _encoding(new)
    if before in _WIDE.values() or after in _WIDE.values():
        if old is None:
            yield f"is {after}"
        elif before != after:
            yield f"converts the file from {before} to {after}"
        elif old[:2] != new[:2]:
            yield f"converts the file to {after} of another byte order"
        return
    if _mark(old or b"") != _mark(new):
        yield "removes the byte order mark" if not _mark(new) else "adds a byte order mark"
    if (before, after) in (("utf-8", "latin-1"), ("latin-1", "utf-8")) or (
        before == "mixed" and after in ("utf-8", "latin-1")
    ):
        before = "mixed encodings" if before == "mixed" else before
        yield f"converts the file from {before} to {after}"
    elif (before, after) == ("latin-1", "mixed"):
        yield "adds lines in utf-8 to a file in latin-1"
    elif before != "latin-1":
        bytes_before, bytes_after = _foreign(old or b""), _foreign(new)
        if (count := bytes_after - bytes_before) > 0:
            added = "a byte that is" if count == 1 else f"{count:,} bytes that are"
            yield f"adds {added} not UTF-8"


def _foreign(data: bytes) -> int:
    """Return how many bytes beyond ASCII lie in lines that are not UTF-8."""
    return sum(len(line) - len(bytes(b for b in line if b < 128)) for line in _not_utf8(data))


def _line_ends(old: bytes, new: bytes) -> Iterator[str]:
    before, after = (
        {end: count for end, count in _ends(data).items() if count} for data in (old, new)
    )
    if not before or not after or before.keys() == after.keys():
        return
    if len(after) == 1:
        now = _ENDS[next(iter(after))]
        was = _ENDS[next(iter(before))] if len(before) == 1 else "mixed ones"
        yield f"converts line ends from {was} to {now}"
        return
    for end in after.keys() - before.keys():
        yield f"adds {_count(after[end], f'{_ENDS[end]} line end')}"


def _invisible(old: str, new: str) -> Iterator[str]:
    if new.isascii() or not _ANY_INVISIBLE.search(new):
        return
    lines = [
        Counter(x for x in raw_lines(text) if not x.isascii() and _INVISIBLE.search(x))
        for text in (new, old)
    ]
    counts = Counter(
        match.lastindex or 0
        for line in (lines[0] - lines[1]).elements()
        for match in _INVISIBLE.finditer(line)
    )
    if not counts:
        return
    kinds = [
        _count(counts[n], kind) for n, kind in enumerate(DEFAULT_IGNORABLE, start=1) if counts[n]
    ]
    total = _count(counts.total(), "invisible character")
    yield f"has {total} in added lines: {', '.join(kinds)}"


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
