"""Reading what maintainers get: mailboxes, format-patch files, single mails, plain patches.

Bytes in; opening files is the caller's. One bad message never stops the others: it is returned
with its error.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from email.errors import MessageError
from email.header import decode_header
from email.message import Message as Mail
from email.parser import BytesHeaderParser

from excise.patches.body import body_of, is_plain, joined_body
from excise.patches.costs import MAX_HEADER, Budget, readable_head
from excise.patches.errors import PatchError
from excise.patches.model import MAX_TEXT, Message, Patch
from excise.patches.parse import parse
from excise.patches.parts import parts_of
from excise.patches.subject import series_of

__all__ = ["MAX_MESSAGE", "pieces", "read", "read_piece"]

MAX_MESSAGE = 25_000_000
"""Largest message read, in bytes: 25 MB."""

_FROM = re.compile(rb":\d\d(?::\d\d)?(?: [A-Z]{1,5}| [+-]\d{4})? (?:19[789]|[2-9]\d)\d+\s*$")
_HEADER = re.compile(rb"[!-9;-~]{1,76}:")
_KNOWN = re.compile(
    rb"^(?:subject|from|date|message-id|received|return-path|delivered-to):", re.I | re.M
)
_COMMIT = re.compile(rb"^commit [0-9a-f]{40}\b[^\n]*\nAuthor:", re.M)
_TEXT_END = re.compile(rb"^(?:---(?: .*)?\r?$|diff |Index: |\*\*\* )", re.M)
_FOLD = re.compile(r"\r?\n(?=[ \t])")
_ID = re.compile(r"<[^<>\s]{1,998}>")
# Of host names: no mail has them, and decoding takes time quadratic in the length.
_NO_CHARSETS = frozenset({"punycode", "idna"})
# What the standard library raises on headers nobody should have written.
_ODD = (MessageError, ValueError, LookupError, TypeError, AttributeError, OverflowError)


def read(data: bytes, *, as_utf8: bool = False) -> tuple[Message, ...]:
    r"""Read every message of a file: an mbox, one mail, several patches in a row, a bare diff.

    Parameters
    ----------
    data : bytes
        The file.
    as_utf8 : bool
        Whether it was decoded already: then what no transfer encoding hides is UTF-8, whatever
        charset a header names.

    Examples
    --------
    >>> mail = b"From: A <a@b>\nSubject: [PATCH v2 1/2] x: y\n\nWhy.\n---\n"
    >>> found, = read(mail + b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-- \n2.40\n")
    >>> found.title, found.series.version, found.patch.paths
    ('x: y', 2, ('x',))
    """
    return tuple(
        read_piece(number, line, piece, as_utf8=as_utf8)
        for number, (line, piece) in enumerate(pieces(data), start=1)
    )


def pieces(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Cut a file into its messages, each with the number of its first line."""
    starts = list(_mbox_starts(data))
    if not starts and data.startswith(b"commit "):
        starts = [match.start() for match in _COMMIT.finditer(data)]
    if not starts or data[: starts[0]].strip():
        starts.insert(0, 0)
    line, before = 1, 0
    for start, stop in zip(starts, [*starts[1:], len(data)], strict=True):
        line += data.count(b"\n", before, start)
        before = start
        yield line, data[start:stop]


def _mbox_starts(data: bytes) -> Iterator[int]:
    """Yield where a line ``From ... hour:minute ... year`` begins, as git mailsplit reads it."""
    place = 0 if data.startswith(b"From ") else data.find(b"\nFrom ") + 1 or -1
    while place >= 0:
        end = data.find(b"\n", place, place + 1000)
        line = data[place : end if end >= 0 else place + 1000]
        if _FROM.search(line[-60:]):
            yield place
        place = data.find(b"\nFrom ", place) + 1 or -1


def read_piece(number: int, line: int, piece: bytes, *, as_utf8: bool = False) -> Message:
    """Read one of the `pieces` of a file."""
    if len(piece) > MAX_MESSAGE:
        size = f"{len(piece) / 1e6:.1f} MB"
        reason = f"the message has {size}, limit {MAX_MESSAGE // 1_000_000} MB"
        return Message(number, line, error=reason)
    envelope = (piece.find(b"\n") + 1 or len(piece)) if piece.startswith(b"From ") else 0
    if not piece[envelope:].strip():
        return Message(number, line, error="an empty message")
    if not _is_mail(piece[envelope : envelope + 8192]):
        return _bare(number, line, piece)
    if b"\r" in piece and piece.count(b"\r\n") == piece.count(b"\n"):
        # As mail travels: where every line ends so, headers too, it says nothing of the file.
        piece = piece.replace(b"\r\n", b"\n")
        envelope = (piece.find(b"\n") + 1 or len(piece)) if envelope else 0
    return _mail(number, line, piece, envelope, as_utf8)


def _is_mail(start: bytes) -> bool:
    if not _HEADER.match(start):
        return False
    if b"\r" in start:
        start = start.replace(b"\r\n", b"\n")
    head = start.partition(b"\n\n")[0]
    return _KNOWN.search(head) is not None


def _bare(number: int, line: int, piece: bytes) -> Message:
    """Read a piece without mail headers, such as one of `git log -p`."""
    author = subject = date = text = ""
    if _COMMIT.match(piece):
        head = _text_of(piece[:4096])  # an indented line of the diff is not of the message
        lines = head.split("\n")
        author = next((x[8:] for x in lines if x.startswith("Author: ")), "")
        date = next((x[6:].strip() for x in lines if x.startswith("Date: ")), "")
        subject = next((x.strip() for x in lines if x.startswith("    ")), "")
        text = "\n".join(x[4:] for x in lines if x.startswith("    "))
    patch, error = _parsed(piece, line)
    _, title = series_of(subject)
    return Message(
        number, line, author=author, date=date, subject=subject, title=title,
        patch=patch, error=error, text=text,
    )  # fmt: skip


def _mail(number: int, line: int, piece: bytes, envelope: int, as_utf8: bool) -> Message:
    ends = [
        at for at in (piece.find(b"\n\n", envelope), piece.find(b"\n\r\n", envelope)) if at >= 0
    ]
    end = min(ends, default=len(piece))
    body_at = end + (3 if piece.startswith(b"\n\r\n", end) else 2)
    patch, error, text = Patch(), "", ""
    budget = Budget(len(piece))
    try:
        head = readable_head(piece[envelope:end] + b"\n\n", budget)
        mail = BytesHeaderParser().parsebytes(head)
    except PatchError as reason:
        return Message(number, line, error=str(reason))
    try:
        if is_plain(mail):
            body = body_of(mail, piece[body_at:], as_utf8=as_utf8)
            first = line + piece.count(b"\n", 0, body_at)
        else:
            body, first = joined_body(parts_of(piece[envelope:], budget), as_utf8=as_utf8), 1
        patch, error = _parsed(body, first)
        error = error or _damaged(mail, patch)
        text = _text_of(body)
    except PatchError as reason:
        error = str(reason)
    except _ODD as reason:
        error = f"not a readable mail: {reason}"
    subject = _header(mail, "Subject")
    series, title = series_of(subject)
    return Message(
        number,
        line,
        message_id=next(iter(_ID.findall(_header(mail, "Message-ID"))), ""),
        author=_header(mail, "From"),
        date=_header(mail, "Date"),
        subject=subject,
        title=title,
        series=series,
        references=_references(mail),
        patch=Patch() if error else patch,
        error=error,
        text=text,
    )


def _text_of(body: bytes) -> str:
    """Return what a mail says before its patch: up to a line ``---``, as git cuts it, or a diff."""
    start = body[: 4 * MAX_TEXT]
    end = _TEXT_END.search(start)
    return start[: end.start() if end else None].decode("utf-8", "replace").strip()[:MAX_TEXT]


def _parsed(body: bytes, first: int) -> tuple[Patch, str]:
    try:
        return parse(body, first), ""
    except PatchError as error:
        return Patch(), str(error)


def _damaged(mail: Mail, patch: Patch) -> str:
    """Return the error where undoing format=flowed did not give a patch that adds up."""
    if str(mail.get_param("format", "") or "").lower() != "flowed":
        return ""
    short = next((warned for warned in patch.warnings if "short" in warned.what), None)
    return f"format=flowed damaged the patch: {short}" if short else ""


def _references(mail: Mail) -> tuple[str, ...]:
    """Return the messages that this one answers, the thread's first one first."""
    found = _ID.findall(_header(mail, "References")) + _ID.findall(_header(mail, "In-Reply-To"))
    return tuple(dict.fromkeys(found))


def _header(mail: Mail, name: str) -> str:
    """Return a header decoded, on one line, with bytes of unknown charsets read as latin-1."""
    try:
        value = mail.get(name, "")
        if isinstance(value, str):
            # Decoding takes time quadratic in the number of encoded words, and loses the blank
            # where a line was folded.
            value = _FOLD.sub("", value[:MAX_HEADER])
        text = value
        if not isinstance(value, str) or "=?" in value or not value.isascii():
            pieces = decode_header(value)
            text = "".join(_decoded(piece, charset) for piece, charset in pieces)
    except _ODD:
        text = str(mail.get(name, "")).encode("utf-8", "replace").decode()
    return " ".join(text.split())


def _decoded(piece: bytes | str, charset: str | None) -> str:
    data = piece.encode("utf-8", "surrogateescape") if isinstance(piece, str) else piece
    for encoding in (charset, "utf-8"):
        try:
            if encoding and codecs.lookup(encoding).name not in _NO_CHARSETS:
                return data.decode(encoding)
        except (LookupError, ValueError):
            continue
    return data.decode("latin-1")
