r"""Text: decoding and normalising, in one place (definition, section 1).

Only ``\n`` ends a line, after ``\r\n`` and lone ``\r`` became ``\n``; ``str.splitlines`` is never
used, because it also breaks at form feed, NEL and U+2028.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO, StringIO
from typing import Any

from excise.display import short
from excise.errors import BinaryTextError, UndecodableTextError

WHITE = " \t\n\v\f\r"
"""White space, exactly: everything else is text."""

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


_BYTE_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision of an origin: an id (unique in its set), a label for people, its text."""

    id: str
    text: str
    label: str = ""

    def __repr__(self) -> str:
        return f"<Revision {short(self.id)} {short(self.text)}>"


@dataclass(slots=True)
class TokenList:
    """The tokens of a text in order, with their positions.

    ``tokens[i]`` is on line ``lines[i]`` (0-based, never decreasing) and is the text between
    the code points ``starts[i]`` and ``ends[i]`` of the normalised text (an INDENT or DEDENT is
    empty there; given tokens have no places). ``comments`` are the indices of those that are
    comments. ``keys[l]`` is the key of line l, None for a blank line, once somebody asks for lines.
    """

    tokens: list[Any] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    has_errors: bool = False
    comments: Sequence[int] = ()
    keys: Sequence[Hashable | None] = ()

    def part(self, start: int, stop: int) -> TokenList:
        """Return the tokens from one to another (exclusive)."""
        own = slice(start, stop)
        return TokenList(self.tokens[own], self.lines[own], self.starts[own], self.ends[own])


def decode(data: bytes, encoding: str | None = None) -> str:
    """Decode the bytes of a text: by ``encoding``, else by its BOM, else as UTF-8.

    Raises UndecodableTextError if the bytes cannot be decoded. The message names the encoding tried
    and the offset. Raises BinaryTextError if the decoded text contains a NUL character.

    >>> decode(b"\\xef\\xbb\\xbfa\\r\\n")
    'a\\r\\n'
    """
    tried = encoding or next((name for bom, name in _BOMS if data.startswith(bom)), "utf-8")
    try:
        text = data.decode(tried)
    except UnicodeDecodeError as error:
        reason = f"not {tried}: byte 0x{data[error.start]:02x} at offset {error.start}"
        raise UndecodableTextError(reason) from error
    except UnicodeError as error:  # some codecs raise it without an offset
        raise UndecodableTextError(f"not {tried}: {error}") from error
    except (LookupError, ValueError) as error:
        raise UndecodableTextError(f"unknown encoding {tried!r}") from error
    if (nul := text.find("\0")) >= 0:
        raise BinaryTextError(f"binary: NUL character at offset {nul}")
    return text


def normalise(text: str) -> str:
    r"""Drop a BOM and turn ``\r\n`` and lone ``\r`` into ``\n``.

    >>> normalise("\ufeffa\r\nb\rc\x0cd")
    'a\nb\nc\x0cd'
    """
    text = text.removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def raw_lines(text: str) -> list[str]:
    r"""Return the lines of a normalised text with their line ends.

    >>> raw_lines("a\n\nb")
    ['a\n', '\n', 'b']
    """
    return StringIO(text, newline="\n").readlines()  # which ends lines nowhere else


def shared_lines(a: Sequence[str], b: Sequence[str]) -> int:
    """Return how many first lines two texts share. Halves are compared as wholes.

    >>> shared_lines(["a", "b", "c"], ["a", "b", "d"])
    2
    """
    shared, most = 0, min(len(a), len(b))
    while shared < most:
        middle = (shared + most + 1) // 2
        if a[shared:middle] == b[shared:middle]:
            shared = middle
        else:
            most = middle - 1
    return shared


def byte_lines(data: bytes) -> list[bytes]:
    r"""Return the lines of a text that is not decoded, with their line ends.

    They end where those of the normalised text end, in every encoding whose bytes below 128 are
    ASCII (not UTF-16 and UTF-32). A byte order mark is part of the first line.

    >>> byte_lines(b"a\r\nb\r\n\xe9")
    [b'a\r\n', b'b\r\n', b'\xe9']
    """
    return _BYTE_LINE.findall(data) if b"\r" in data else BytesIO(data).readlines()


@dataclass(frozen=True)
class Text:
    r"""A normalised text, split into lines once, on first use.

    Examples
    --------
    >>> text = Text.of("\ufeffa\r\nb")
    >>> text.lines, text.is_ended
    (['a\n', 'b'], False)
    """

    normalised: str

    def __repr__(self) -> str:
        return f"<Text {short(self.normalised)}>"

    @classmethod
    def of(cls, text: str) -> Text:
        """Normalise a text."""
        return cls(normalise(text))

    @cached_property
    def lines(self) -> list[str]:
        """The lines with their line ends, as `raw_lines` has them."""
        return raw_lines(self.normalised)

    @property
    def is_ended(self) -> bool:
        """Whether the last line has its line end, which is true for an empty text."""
        return self.normalised[-1:] in ("", "\n")

    def between(self, start: int, stop: int) -> str:
        """Return the lines from one to another (exclusive) as one text."""
        return "".join(self.lines[start:stop])


def line_key(line: str) -> str:
    """Return the line without trailing white space, or "" for a blank line."""
    return line.rstrip(WHITE)


def strip_blank(text: str) -> str:
    r"""Drop trailing white space and blank lines: the last step of ``comments=drop``.

    >>> strip_blank("a  \n\n \nb\n")
    'a\nb\n'
    """
    keys = [line_key(line) for line in text.split("\n")]
    kept = [key for key in keys if key]
    # Blanks after the final line end are dropped, but not that line end.
    return "\n".join(kept) + ("\n" if kept and not keys[-1] else "")
