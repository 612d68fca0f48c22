"""The note of what a worker parses, in memory that outlives it.

The worker writes it before a parser gets a text, and its parent reads it when the worker has died.
"""

from __future__ import annotations

import mmap
import os
import re
import tempfile
from dataclasses import dataclass

__all__ = ["Note", "Parsing", "digest_of"]

_SIZE = 128
_DIGEST = 32
_NOTHING, _INSIDE = 0, 1
_GRAMMAR = re.compile(rb"[a-z0-9_]{1,64}")


def digest_of(data: bytes) -> bytes:
    """Return what names the bytes of a text."""
    from hashlib import sha256

    return sha256(data).digest()


@dataclass(frozen=True, slots=True)
class Parsing:
    """A text that a parser has: the digest of its bytes, and the grammar."""

    digest: bytes
    grammar: str


class Note:
    """The shared page: a byte of state, the digest, the length of the grammar's name, the name."""

    def __init__(self, descriptor: int | None = None) -> None:
        """Map the page of a descriptor, or make one.

        Raises
        ------
        OSError
            If there is no room for it.
        """
        if descriptor is None:
            with tempfile.TemporaryFile() as file:
                file.truncate(_SIZE)
                descriptor = os.dup(file.fileno())
        self.descriptor = descriptor
        try:
            self._page = mmap.mmap(descriptor, _SIZE)
        except (ValueError, OSError) as error:
            os.close(descriptor)
            raise OSError(f"no page to share: {error}") from error

    def begin(self, digest: bytes, grammar: str) -> None:
        """Note that a parser is about to get a text."""
        name = grammar.encode()[:64]
        self._page[0] = _NOTHING
        self._page[1 : 1 + _DIGEST] = digest
        self._page[1 + _DIGEST] = len(name)
        self._page[2 + _DIGEST : 2 + _DIGEST + len(name)] = name
        self._page[0] = _INSIDE

    def end(self) -> None:
        """Note that it has returned."""
        self._page[0] = _NOTHING

    def read(self) -> Parsing | None:
        """Return what a parser has now; None where none runs, or the page is damaged."""
        page = self._page[:]
        length = page[1 + _DIGEST]
        name = page[2 + _DIGEST : 2 + _DIGEST + length]
        if page[0] != _INSIDE or len(name) != length or not _GRAMMAR.fullmatch(name):
            return None
        return Parsing(page[1 : 1 + _DIGEST], name.decode())

    def close(self) -> None:
        """Let go of the page."""
        self._page.close()
        os.close(self.descriptor)
