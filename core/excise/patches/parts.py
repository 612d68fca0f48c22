"""The parts of a mail, in one pass over its bytes, however its multiparts are nested.

The cuts are those of the standard library's parser (RFC 2046, and what that parser forgives), which
recurses, and tries every open boundary at every line: 300 nested multiparts took 30 s a megabyte.
Here the open boundaries are a dictionary, and the standard library only reads the headers of each
part and decodes its text. `tests/reference/mails.py` holds this to the standard library's parts,
but for a block of a report of delivery that claims to be a multipart: it is one text here.

Costs are limited in form and in units of work, never in time: whether a mail is read depends on its
bytes alone, and not on the machine or its load.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.message import Message as Mail
from email.parser import BytesHeaderParser
from typing import NamedTuple

from excise.patches.model import Budget, PatchError

__all__ = ["MAX_HEADER", "MAX_PARTS", "parts_of", "readable_head"]

MAX_HEADER = 10_000
"""Characters of a header that are read; no real one has as many."""

MAX_HEADERS = 64_000
"""Bytes of all headers of a mail or part, once each is cut to those that are read."""

MAX_DEPTH = 20
"""Multiparts and attached mails inside each other; git writes one."""

MAX_PARTS = 1000
"""Parts of one mail."""

# As the standard library has it, a lone \r ends a line, too.
_FOLDED = rb"[^\r\n]*(?:(?:\r\n?|\n)[ \t][^\r\n]*)*"
_FIELD = re.compile(_FOLDED + rb"(?:\r\n?|\n|\Z)")
# Both have parameters, and reading those takes time quadratic in their number.
_WITH_PARAMETERS = re.compile(rb"(?<![^\r\n])content-(?:type|disposition):" + _FOLDED, re.I)
_LINE = re.compile(rb"[^\r\n]*(?:\r\n?|\n|\Z)")
_DASHES = re.compile(rb"(?<![^\r\n])--[^\r\n]*")
_END = re.compile(rb"\r\n?|\n|")
_LAST_END = re.compile(rb"(?:\r\n|\r|\n)\Z")
_HEADER_LINE = re.compile(rb"From |[!-9;-~]*:|[\t ]")


def parts_of(data: bytes, budget: Budget) -> list[Mail]:
    r"""Return a mail and all parts of it, each before its own parts, with headers and content.

    Parameters
    ----------
    data : bytes
        Headers and body of a mail.
    budget : Budget
        What its headers may cost.

    Returns
    -------
    list of email.message.Message
        Their content is a string as the standard library has it; an empty list stands for the parts
        of a multipart or of an attached mail.

    Raises
    ------
    PatchError
        If there are over `MAX_PARTS`, or `MAX_DEPTH` inside each other, or too large headers.

    Examples
    --------
    >>> mail = b"Content-Type: multipart/mixed; boundary=x\n\n--x\n\nHello\n--x--\n"
    >>> [part.get_payload() for part in parts_of(mail, Budget(len(mail)))]
    [[], 'Hello']
    """
    return _Splitter(data, budget).split()


class _Boundary(NamedTuple):
    """A line that separates or ends the parts of an open multipart."""

    start: int
    after: int
    level: int
    is_last: bool


@dataclass(frozen=True, slots=True)
class _Open:
    """A multipart whose end was not seen yet."""

    boundary: bytes
    depth: int
    default: str
    """The type of its parts that have none."""


class _Splitter:
    """One pass over the bytes, in which `at` only grows."""

    def __init__(self, data: bytes, budget: Budget) -> None:
        self.data, self.budget = data, budget
        self.at = 0
        self.parts: list[Mail] = []
        self.open: list[_Open] = []
        self.levels: dict[bytes, int] = {}
        """The level in `open` of each boundary; of two alike the outer one counts."""

    def split(self) -> list[Mail]:
        line = self.entity(0, "text/plain")
        while line is not None:
            multipart = self.open[line.level]
            self.close(line.level + (not line.is_last))
            self.at = line.after
            if line.is_last:
                line = self.next_boundary()
            else:
                self.skip_repeated(line.level)
                line = self.entity(multipart.depth + 1, multipart.default)
        return self.parts

    def close(self, level: int) -> None:
        for multipart in self.open[level:]:
            del self.levels[multipart.boundary]
        del self.open[level:]

    # --- boundaries -------------------------------------------------------------------------------

    def next_boundary(self) -> _Boundary | None:
        """Return the next line that is the boundary of an open multipart."""
        if self.levels:
            for match in _DASHES.finditer(self.data, self.at):
                line = self.boundary(match)
                if line is not None:
                    return line
        return None

    def boundary(self, match: re.Match[bytes]) -> _Boundary | None:
        line = match[0].rstrip(b" \t")
        meant = []
        if line[2:] in self.levels:
            meant.append((self.levels[line[2:]], False))
        if line.endswith(b"--") and len(line) > 3 and line[2:-2] in self.levels:
            meant.append((self.levels[line[2:-2]], True))
        if not meant:
            return None
        level, is_last = min(meant)
        return _Boundary(match.start(), _end(_END, self.data, match.end()), level, is_last)

    def skip_repeated(self, level: int) -> None:
        """Skip further boundaries of the same multipart: no part is between them."""
        while (match := _DASHES.match(self.data, self.at)) is not None:
            line = self.boundary(match)
            if line is None or line.level != level:
                break
            self.at = line.after

    # --- parts ------------------------------------------------------------------------------------

    def entity(self, depth: int, default: str) -> _Boundary | None:
        """Take a part with its content, and return the boundary after it, or None at the end."""
        is_inside = bool(self.open)
        mail, held = self.headers(depth, default)
        while mail.get_content_maintype() == "message":
            mail.set_payload([])
            if mail.get_content_type() == "message/delivery-status":
                return self.statuses(depth + 1, is_inside)
            depth += 1
            mail, held = self.headers(depth, "text/plain")
        level = self.opened(mail, depth)
        line = self.next_boundary()
        if line is not None and line.level == level and not line.is_last:
            mail.set_payload([])
            return line
        content = held + self.data[self.at : len(self.data) if line is None else line.start]
        if is_inside and mail.get_content_maintype() != "multipart":
            content = _LAST_END.sub(b"", content)  # it belongs to the boundary
        mail.set_payload(content.decode("ascii", "surrogateescape"))
        return line

    def opened(self, mail: Mail, depth: int) -> int | None:
        """Open a multipart and return its level, or None if no line can be its boundary."""
        named = mail.get_boundary() if mail.get_content_maintype() == "multipart" else None
        if named is None:
            return None
        try:
            boundary = named.encode("ascii", "surrogateescape")
        except UnicodeEncodeError:
            return None
        if boundary in self.levels:
            return None
        level = self.levels[boundary] = len(self.open)
        is_digest = mail.get_content_type() == "multipart/digest"
        default = "message/rfc822" if is_digest else "text/plain"
        self.open.append(_Open(boundary, depth, default))
        return level

    def statuses(self, depth: int, is_inside: bool) -> _Boundary | None:
        """Take the blocks of headers that a report of delivery is made of, each as a part."""
        line = self.next_boundary()
        stop = len(self.data) if line is None else line.start
        while True:
            mail, held = self.headers(depth, "text/plain", stop, is_block=True)
            while mail.get_content_maintype() == "message":
                mail.set_payload([])
                depth += 1
                mail, held = self.headers(depth, "text/plain", stop, is_block=True)
            begin = self.at
            while self.at < stop and self.data[self.at] not in b"\r\n":
                self.at = _end(_LINE, self.data, self.at)
            content = held + self.data[begin : self.at]
            self.at = _end(_END, self.data, self.at)
            is_done = self.at >= stop
            if is_done and is_inside:
                content = _LAST_END.sub(b"", content)
            mail.set_payload(content.decode("ascii", "surrogateescape"))
            if is_done:
                return line

    def headers(
        self, depth: int, default: str, stop: int | None = None, *, is_block: bool = False
    ) -> tuple[Mail, bytes]:
        """Read the headers of a part, and return it and what they say about its content."""
        if depth > MAX_DEPTH:
            raise PatchError(f"its parts are nested over {MAX_DEPTH} deep")
        if len(self.parts) >= MAX_PARTS:
            raise PatchError(f"it has over {MAX_PARTS:,} parts")
        start = self.at
        last, end = self.headers_end(len(self.data) if stop is None else stop, is_block)
        held = b""
        if last > start and self.data.startswith(b"From ", last):
            # What ends the headers and looks like the first line of a mailbox is content.
            held, end = self.data[last:end], last
        head = readable_head(self.data[start:end], self.budget)
        mail = BytesHeaderParser().parsebytes(head) if head else Mail()
        mail.set_default_type(default)
        self.parts.append(mail)
        return mail, held

    def headers_end(self, stop: int, is_block: bool) -> tuple[int, int]:
        """Move past headers and the blank line after them, and return their last line and end."""
        data, last = self.data, self.at
        while self.at < stop:
            match = _DASHES.match(data, self.at)
            if match is not None and self.boundary(match) is not None:
                break
            if _HEADER_LINE.match(data, self.at) is None:
                end = self.at
                self.at = end if is_block else _end(_END, data, end)
                return last, end
            last, self.at = self.at, _end(_LINE, data, self.at)
        return last, self.at


def _end(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    match = pattern.match(data, at)
    return at if match is None else match.end()


def readable_head(head: bytes, budget: Budget) -> bytes:
    """Return headers that the standard library reads in bounded time.

    Raises
    ------
    PatchError
        If they have too many bytes, or too many parameters.
    """
    for match in _WITH_PARAMETERS.finditer(head):
        field = match[0]
        if len(field) > MAX_HEADER:
            reason = f"its Content-Type or Content-Disposition has over {MAX_HEADER:,} characters"
            raise PatchError(reason)
        # Every ";" is looked for from the first one on, to see whether it stands in quotes.
        budget.spend(len(field) * field.count(b";"))
    if len(head) <= MAX_HEADERS:
        return head
    most = MAX_HEADER + 100
    fields = (match[0] for match in _FIELD.finditer(head))
    cut = b"".join(
        field if len(field) <= most else field[:most].rstrip(b"\r\n") + b"\n" for field in fields
    )
    if len(cut) > MAX_HEADERS:
        raise PatchError(f"its headers have over {MAX_HEADERS // 1000} kB")
    return cut
