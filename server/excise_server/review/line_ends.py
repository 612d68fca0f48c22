"""The bytes of an edited text: unchanged lines keep theirs, and new lines are encoded alike. Pure.

Reviews compare normalised texts. When one is written back to a file, the file keeps its line ends,
byte order mark and encoding.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter

from excise.alignment import align
from excise.errors import BinaryTextError, UndecodableTextError
from excise.text import decode, normalise, raw_lines
from excise.tokens import Vocabulary
from excise_server.foundation.inputs import SourceError

__all__ = ["edited_bytes"]

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def edited_bytes(data: bytes, text: str) -> bytes:
    r"""Return the bytes of a file whose text has become another one.

    Parameters
    ----------
    data
        The file before; not binary.
    text
        The new text, normalised. A line that the file has keeps its bytes. A new line ends like the
        line before it, or else like most lines.

    Raises
    ------
    SourceError
        If the encoding of the file cannot represent the text.

    Examples
    --------
    >>> edited_bytes(b"a\r\nb\nc", "a\nx\nc\ny")
    b'a\r\nx\r\nc\r\ny'
    """
    mark, codec, decoded = _read(data)
    lines = _LINE.findall(decoded)
    ends = [line[len(line.rstrip("\r\n")) :] for line in lines]
    usual = next((end for end, _ in Counter(filter(None, ends)).most_common(1)), "\n")
    before, after = raw_lines(normalise(decoded)), raw_lines(text)
    old_index = dict(_kept(before, after))
    result: list[str] = []
    end = next((end for end in ends if end), usual)
    for index, line in enumerate(after):
        if index in old_index:
            new = lines[old_index[index]]
            end = ends[old_index[index]] or end
        else:
            new = line.removesuffix("\n") + (end if line.endswith("\n") else "")
        if new[:1] == "\n" and result and result[-1].endswith("\r"):
            result[-1] = f"{result[-1][:-1]}\n"  # two line ends that would be read as one
        result.append(new)
    try:
        return mark + "".join(result).encode(codec)
    except UnicodeEncodeError as error:
        raise SourceError(f"its encoding, {codec}, has no {error.object[error.start]!a}") from error


def _read(data: bytes) -> tuple[bytes, str, str]:
    """Return the byte order mark, the encoding and the text."""
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return mark, codec, data.removeprefix(mark).decode(codec)
    try:
        return b"", "utf-8", decode(data)
    except (UndecodableTextError, BinaryTextError):
        return b"", "latin-1", data.decode("latin-1")


def _kept(before: list[str], after: list[str]) -> list[tuple[int, int]]:
    """Return the lines of the new text that the old one has: new and old indices."""
    vocabulary = Vocabulary()
    alignment = align(vocabulary.intern(before), vocabulary.intern(after))
    return [(new, old) for old, new in alignment.pairs]
