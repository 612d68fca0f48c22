"""Messages of a mailbox as ``git format-patch`` writes them, and patches that are no mail. Pure."""

from __future__ import annotations

import email
import email.errors
import email.header
import re
from dataclasses import dataclass
from email.message import Message

from excise_server.sources.unified import PatchError

__all__ = ["Letter", "letters"]

# A line that starts a message ends with a date as C's asctime writes it.
_FROM = re.compile(
    rb"^From [^\n]{1,300}? [A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\r?\n",
    re.MULTILINE,
)
_MAX_MULTIPARTS = 20  # The parser's work grows with the depth; git writes one.
_HEADER = re.compile(
    rb"(?:From|Subject|Date|Message-ID|Return-Path|Received|MIME-Version): ?", re.I
)


@dataclass(frozen=True, slots=True)
class Letter:
    """One message: its subject, empty for a patch that is no mail, and the bytes of its texts."""

    subject: str
    bodies: tuple[bytes, ...]


def letters(data: bytes) -> list[Letter]:
    """Return the messages of a mailbox or a single mail; anything else is one letter as it is.

    Raises
    ------
    PatchError
        If a message is nested more deeply than mail is.
    """
    if _FROM.match(data):
        starts = [found.start() for found in _FROM.finditer(data)]
        ends = [*starts[1:], len(data)]
        return [
            _letter(data[lo:hi].split(b"\n", 1)[1]) for lo, hi in zip(starts, ends, strict=True)
        ]
    return [_letter(data)] if _HEADER.match(data) else [Letter("", (data,))]


def _letter(data: bytes) -> Letter:
    if data.lower().count(b"content-type: multipart/") > _MAX_MULTIPARTS:
        raise PatchError(f"a message with more than {_MAX_MULTIPARTS} multiparts")
    message = email.message_from_bytes(data)
    bodies = [_body(part) for part in message.walk() if not part.is_multipart()]
    return Letter(_subject(message), tuple(bodies))


def _body(part: Message) -> bytes:
    """Return the bytes of a text, decoded from base64 or quoted-printable."""
    if part.get_content_maintype() != "text":
        return b""
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _subject(message: Message) -> str:
    try:
        subject = str(
            email.header.make_header(email.header.decode_header(message["Subject"] or ""))
        )
    except (email.errors.HeaderParseError, LookupError, ValueError):
        subject = str(message["Subject"])
    return " ".join(subject.encode("utf-8", "backslashreplace").decode().split())
