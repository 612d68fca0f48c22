"""The parts of a mail by the standard library alone: slow where multiparts nest, and recursive."""

from __future__ import annotations

import itertools
from email import message_from_bytes

HEADERS = ("Content-Type", "Content-Transfer-Encoding", "Content-Disposition", "Subject")


def described(parts):
    """Return what can be compared of parts: their type, some headers, and their decoded text."""
    return [
        (
            part.get_content_type(),
            [str(part.get(name)) for name in HEADERS],
            part.get_payload(decode=True),
        )
        for part in parts
    ]


def is_compared(data: bytes) -> bool:
    """Whether no block of a report of delivery claims to be a multipart: to us it is one text."""
    reports = (
        part
        for part in message_from_bytes(data).walk()
        if part.get_content_type() == "message/delivery-status"
    )
    return not any(
        inner.get_content_maintype() == "multipart" for part in reports for inner in part.walk()
    )


def parts(data: bytes, most: int) -> list:
    """Return a mail and all parts of it, each before its own parts."""
    return described(itertools.islice(message_from_bytes(data).walk(), most))
