"""Bodies of mails: from what was sent to the bytes of the patch in it."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from email.message import Message as Mail

from excise.patches.errors import PatchError

__all__ = ["body_of", "is_plain", "joined_body"]

_ASCII_ALIKE = ("iso8859", "cp125", "cp866", "koi8", "gb", "big5", "euc", "shift", "mac", "latin")
"""Encodings whose bytes below 128 are ASCII: only these are converted."""

_AS_IT_IS = frozenset({"", "us-ascii", "ascii", "utf-8", "utf8", "unknown-8bit"})
_PLAIN_ENCODINGS = frozenset({"", "7bit", "8bit", "binary"})


def is_plain(mail: Mail) -> bool:
    """Whether the body is the bytes that follow the header, as they stand."""
    encoding = str(mail.get("Content-Transfer-Encoding", "")).strip().lower()
    return mail.get_content_maintype() != "multipart" and encoding in _PLAIN_ENCODINGS


def body_of(mail: Mail, raw: bytes, *, as_utf8: bool = False) -> bytes:
    """Return the text of a mail that `is_plain`, whose body is `raw`.

    Parameters
    ----------
    as_utf8
        Whether what is not encoded is UTF-8, whatever its charset: as an editor has a mail.
    """
    return _readable(mail, raw, as_utf8)


def joined_body(parts: Iterable[Mail], *, as_utf8: bool = False) -> bytes:
    """Return the text of a mail's parts: all text parts and patch attachments, in order.

    Raises
    ------
    PatchError
        If a part does not decode.
    """
    return b"\n".join(_readable(part, _payload(part), as_utf8) for part in parts if _is_read(part))


def _is_read(part: Mail) -> bool:
    name = str(part.get_filename() or "").lower()
    is_text = part.get_content_type() != "text/html" and part.get_content_maintype() == "text"
    return is_text or name.endswith((".patch", ".diff"))


def _payload(part: Mail) -> bytes:
    encoding = str(part.get("Content-Transfer-Encoding", "")).strip().lower()
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return b""
    if encoding == "base64" and any("Base64" in type(defect).__name__ for defect in part.defects):
        raise PatchError("the body is not valid base64")
    return data


def _readable(part: Mail, data: bytes, as_utf8: bool) -> bytes:
    flowed = str(part.get_param("format", "") or "").lower() == "flowed"
    if flowed:
        data = _unflowed(data, str(part.get_param("delsp", "") or "").lower() == "yes")
    if as_utf8 and is_plain(part):
        return data
    return _utf8(data, str(part.get_param("charset", "") or "").lower())


def _utf8(data: bytes, charset: str) -> bytes:
    """Convert a text to UTF-8, or return it unchanged if that fails (it is read as latin-1
    later).
    """
    if charset in _AS_IT_IS or data.isascii():
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
