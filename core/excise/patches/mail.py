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
from email.parser import BytesParser

from excise.patches.model import MAX_TEXT, Budget, Message, Patch, PatchError, Series
from excise.patches.parse import parse

MAX_MESSAGE = 25_000_000
"""Largest message read, in bytes: 25 MB."""

MAX_HEADER = 10_000
"""Characters of a header that are read; no real one has as many."""

MAX_HEADERS = 64_000
"""Bytes of all headers of a mail or part, once each is cut to those that are read."""

MAX_DEPTH = 20
"""Multiparts and attached mails inside each other; git writes one."""

MAX_PARTS = 1000
"""Parts of one mail."""

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

    - ``data``: the file.
    - ``as_utf8``: whether it was decoded already: then what no transfer encoding hides is UTF-8,
      whatever charset a header names.

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
        mail = mail_of(piece[envelope:end] + b"\n\n", budget, headers_only=True)
    except PatchError as reason:
        return Message(number, line, error=str(reason))
    try:
        if _is_plain(mail):
            body = _readable(mail, piece[body_at:], as_utf8)
            first = line + piece.count(b"\n", 0, body_at)
        else:
            whole = mail_of(piece[envelope:], budget)
            body = b"\n".join(_texts_of(whole, as_utf8))
            first = 1
        patch, error = _parsed(body, first)
        if "short of its count" in error and _parameter(mail, "format") == "flowed":
            error = f"format=flowed damaged the patch: {error}"
        text = _text_of(body)
    except PatchError as reason:
        error = str(reason)
    except _ODD as reason:
        error = f"not a readable mail: {reason}"
    subject = _header(mail, "Subject")
    series, title = series_of(subject)
    thread = _ID.findall(_header(mail, "References")) + _ID.findall(_header(mail, "In-Reply-To"))
    return Message(
        number,
        line,
        message_id=next(iter(_ID.findall(_header(mail, "Message-ID"))), ""),
        author=_header(mail, "From"),
        date=_header(mail, "Date"),
        subject=subject,
        title=title,
        series=series,
        references=tuple(dict.fromkeys(thread)),  # the first one first
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


# --- the standard library's parser, with limits
#
# Costs are limited in form and in units of work, never in time: whether a mail is read depends on
# its bytes alone, and not on the machine or its load.


class _Part(Mail):
    """A mail or a part of one, which counts what was read so far."""

    def __init__(self, budget: Budget, count: list[int]) -> None:
        super().__init__()
        self.budget, self.count = budget, count
        self.depth = self.size = 0

    def set_raw(self, name: str, value: str) -> None:
        """Take a header, cut to what is read of one."""
        # Both have parameters, and reading those takes time quadratic in their number: every ";"
        # is looked for from the first one on, to see whether it stands in quotes.
        if name.lower() in ("content-type", "content-disposition"):
            if len(name) + len(value) > MAX_HEADER:
                raise PatchError(
                    f"its Content-Type or Content-Disposition has over {MAX_HEADER:,} characters"
                )
            self.budget.spend(len(value) * value.count(";"))
        self.size += len(f"{name}: \n") + min(len(value), MAX_HEADER)
        if self.size > MAX_HEADERS:
            raise PatchError(f"its headers have over {MAX_HEADERS // 1000} kB")
        super().set_raw(name, value[:MAX_HEADER])

    def attach(self, payload: Mail | str) -> None:
        """Take a part."""
        assert isinstance(payload, _Part)
        payload.depth = self.depth + 1
        self.count[0] += 1
        if payload.depth > MAX_DEPTH:
            raise PatchError(f"its parts are nested over {MAX_DEPTH} deep")
        if self.count[0] >= MAX_PARTS:
            raise PatchError(f"it has over {MAX_PARTS:,} parts")
        super().attach(payload)


def mail_of(data: bytes, budget: Budget, *, headers_only: bool = False) -> Mail:
    """Return a mail as the standard library reads it, or raise PatchError where it has too much.

    `budget` is what its headers may cost.
    """
    count = [0]
    parser = BytesParser(lambda: _Part(budget, count))
    return parser.parsebytes(data, headersonly=headers_only)


# --- bodies

_ASCII_ALIKE = ("iso8859", "cp125", "cp866", "koi8", "gb", "big5", "euc", "shift", "mac", "latin")
"""Encodings whose bytes below 128 are ASCII: only these are converted."""

_AS_IT_IS = frozenset({"", "us-ascii", "ascii", "utf-8", "utf8", "unknown-8bit"})
_PLAIN_ENCODINGS = frozenset({"", "7bit", "8bit", "binary"})


def _is_plain(mail: Mail) -> bool:
    """Whether the body is the bytes that follow the header, as they stand."""
    encoding = str(mail.get("Content-Transfer-Encoding", "")).strip().lower()
    return mail.get_content_maintype() != "multipart" and encoding in _PLAIN_ENCODINGS


def _texts_of(mail: Mail, as_utf8: bool) -> Iterator[bytes]:
    for part in mail.walk():
        name = str(part.get_filename() or "").lower()
        is_text = part.get_content_type() != "text/html" and part.get_content_maintype() == "text"
        if not (is_text or name.endswith((".patch", ".diff"))):
            continue
        encoding = str(part.get("Content-Transfer-Encoding", "")).strip().lower()
        data = part.get_payload(decode=True)
        is_odd = any("Base64" in type(defect).__name__ for defect in part.defects)
        if isinstance(data, bytes) and encoding == "base64" and is_odd:
            raise PatchError("the body is not valid base64")
        yield _readable(part, data if isinstance(data, bytes) else b"", as_utf8)


def _parameter(part: Mail, name: str) -> str:
    """Return a parameter of the content type of a part, in lower case."""
    return str(part.get_param(name, "") or "").lower()


def _readable(part: Mail, data: bytes, as_utf8: bool) -> bytes:
    """Return a text in UTF-8, or as it is if it cannot be converted (it is read as latin-1 then).

    - ``as_utf8``: whether what no transfer encoding hides is UTF-8 already.
    """
    if _parameter(part, "format") == "flowed":
        data = _unflowed(data, _parameter(part, "delsp") == "yes")
    charset = _parameter(part, "charset")
    if (as_utf8 and _is_plain(part)) or charset in _AS_IT_IS or data.isascii():
        return data
    try:
        name = codecs.lookup(charset).name
        if not name.startswith(_ASCII_ALIKE):
            return data
        return data.decode(name).encode()
    except (LookupError, ValueError):
        return data


def _unflowed(data: bytes, delsp: bool) -> bytes:
    """Undo format=flowed (RFC 3676): join soft line ends, take the stuffed space away.

    As git does: a line of a patch that ends in a blank was broken there.
    """
    lines: list[list[bytes]] = []
    soft = False
    for line in data.split(b"\n"):
        content = line.rstrip(b"\r")
        content = content[1:] if content.startswith(b" ") else content
        goes_on, soft = soft, content.endswith(b" ") and content != b"-- "
        kept = content[:-1] if soft and delsp else content
        if goes_on:
            lines[-1].append(kept)
        else:
            lines.append([kept])
    return b"\n".join(b"".join(pieces) for pieces in lines)


# --- subjects

_BRACKETS = re.compile(r"\s*(?:(?:re|aw|fwd?):\s*)*\[([^\[\]]{0,200})\]\s*", re.IGNORECASE)
_REPLY = re.compile(r"\s*(?:(?:re|aw|fwd?):\s*)+", re.IGNORECASE)
_VERSION = re.compile(r"(?:^|[\s,]|PATCH[-_ ]?)v(\d{1,4})\b", re.IGNORECASE)
_LAST_VERSION = re.compile(r"\s*[(\[]v(\d{1,4})[)\]]\s*$", re.IGNORECASE)
"""Behind a title: ``mm: fix it (v5)``."""
_PLACE = re.compile(r"(?:^|\s|,)(\d{1,4})\s*(?:/|of)\s*(\d{1,4})\b")


def series_of(subject: str) -> tuple[Series, str]:
    """Return what the brackets of a subject say, and the title behind them.

    >>> series_of("Re: [PATCH net-next v3 02/7] mm: fix it")
    (Series(version=3, index=2, total=7, numbered=True), 'mm: fix it')
    >>> series_of("[PATCH-V2 1/1] mm: fix it")[0].version, series_of("[PATCH] mm: fix it (v5)")
    (2, (Series(version=5, index=0, total=0, numbered=False), 'mm: fix it'))
    """
    said, end = [], 0
    while (match := _BRACKETS.match(subject, end)) is not None:
        said.append(match[1])
        end = match.end()
    if not said and (match := _REPLY.match(subject)) is not None:
        end = match.end()
    tags = " ".join(said)
    version, place = _VERSION.search(tags), _PLACE.search(tags)
    title = subject[end:]
    if (last := _LAST_VERSION.search(title[-40:])) is not None:
        version, title = version or last, title[: len(title) - len(last[0])]
    series = Series(
        version=int(version[1]) if version else 1,
        index=int(place[1]) if place else 0,
        total=int(place[2]) if place else 0,
        numbered=place is not None,
    )
    return series, " ".join(title.split())
