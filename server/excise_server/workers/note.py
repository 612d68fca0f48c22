"""The note of what a process parses, in memory that outlives it.

The process writes it before a parser gets a text, and its parent reads it when that has died.
"""

from __future__ import annotations

import mmap
import os
import re
from dataclasses import dataclass

__all__ = ["SIZE", "Note", "Parsing", "digest_of", "shared_page"]

SIZE = 128
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
    """A shared page: a byte of state, the digest, the length of the grammar's name, the name."""

    def __init__(self, page: mmap.mmap) -> None:
        """Take a page of at least `SIZE` bytes."""
        self._page = page

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
        page = self._page[:SIZE]
        length = page[1 + _DIGEST]
        name = page[2 + _DIGEST : 2 + _DIGEST + length]
        if page[0] != _INSIDE or len(name) != length or not _GRAMMAR.fullmatch(name):
            return None
        return Parsing(page[1 : 1 + _DIGEST], name.decode())

    def close(self) -> None:
        """Let go of the page."""
        self._page.close()


def shared_page(descriptor: int | None = None) -> tuple[Note, int]:
    """Return a note on the page of a descriptor, or on a new one, and the descriptor.

    Raises
    ------
    OSError
        If there is no memory for the page.
    """
    if descriptor is None:
        if hasattr(os, "memfd_create"):
            descriptor = os.memfd_create("excise-note")
        else:
            import tempfile

            with tempfile.TemporaryFile() as file:
                descriptor = os.dup(file.fileno())
        os.ftruncate(descriptor, SIZE)
    try:
        return Note(mmap.mmap(descriptor, SIZE)), descriptor
    except ValueError as error:
        raise OSError(f"cannot share a page: {error}") from error
