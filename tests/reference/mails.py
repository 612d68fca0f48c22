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


def parts(data: bytes, most: int) -> list:
    """Return a mail and all parts of it, each before its own parts."""
    return described(itertools.islice(message_from_bytes(data).walk(), most))
