"""What stands between a text and its parser in a process that may die of it.

The library says, by auditing events, which text a parser is about to get: it is noted in memory
that outlives the process, where its parent reads it; refused if it has ended a process before; and
given a limit of CPU seconds that also ends a parser which looks at no flag. Memory and CPU time are
the only limits: numbers must not depend on the load. The library is loaded by a `Guard` alone, as a
command that forks has none before.
"""

from __future__ import annotations

import mmap
import os
import re
import signal
import sys
from dataclasses import dataclass
from typing import Any

__all__ = ["SIZE", "Guard", "Note", "Parsing", "limit_memory", "scratch_file", "shared_page"]

SIZE = 128
"""Bytes of a note."""

_MEMORY = 8 << 30
"""Bytes of addresses of a worker: a 10 MB text as one node a character takes some 3 GB."""

_DIGEST = 32
_NOTHING, _INSIDE = 0, 1
_GRAMMAR = re.compile(rb"[a-z0-9_]{1,64}")


@dataclass(frozen=True, slots=True)
class Parsing:
    """A text that a parser has: the digest of its bytes, and the grammar."""

    digest: bytes
    grammar: str

    @property
    def name(self) -> bytes:
        """What names it among quarantined texts: the digest and, behind it, the grammar."""
        return self.digest + self.grammar.encode()


class Note:
    """A shared page: a byte of state, the digest, the length of the grammar's name, the name."""

    def __init__(self, page: mmap.mmap) -> None:
        """Take a page of at least `SIZE` bytes."""
        self._page = page

    def begin(self, parsing: Parsing) -> None:
        """Note that a parser is about to get a text."""
        name = parsing.grammar.encode()[:64]
        self._page[0] = _NOTHING
        self._page[1 : 1 + _DIGEST] = parsing.digest
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
        descriptor = scratch_file("excise-note")
        os.ftruncate(descriptor, SIZE)
    try:
        return Note(mmap.mmap(descriptor, SIZE)), descriptor
    except ValueError as error:
        raise OSError(f"cannot share a page: {error}") from error


def scratch_file(name: str) -> int:
    """Return the descriptor of a new file that has no path: in memory, where the system can."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create(name)
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def limit_memory() -> None:
    """Let what would fill the machine end this process; leave no core file of people's texts."""
    try:
        import resource
    except ImportError:
        return
    for kind, wanted in ((resource.RLIMIT_AS, _MEMORY), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY or wanted < hard:
            resource.setrlimit(kind, (wanted, hard if kind == resource.RLIMIT_AS else wanted))


class Guard:
    """Refuses, notes and limits; installed for the life of a process.

    Parameters
    ----------
    note : Note, optional
        Where the parent reads what is being parsed.
    limited : bool
        Whether a parser that takes too long ends the process: only where it may die.
    """

    def __init__(self, note: Note | None = None, *, limited: bool = False) -> None:
        """Refuse nothing yet."""
        from excise.reading import PARSER_SECONDS

        self._note = note
        self._limited = limited and hasattr(signal, "setitimer")
        self._seconds = 1.5 * PARSER_SECONDS  # for the parser to stop by itself
        self._refused: set[bytes] = set()
        self.parses = 0
        """How many texts parsers got."""
        self.everything = False
        """Whether no text may reach a parser."""

    def install(self) -> None:
        """See what parsers get from now on; this cannot be taken back."""
        sys.addaudithook(self._heard)

    def refuse(self, names: tuple[bytes, ...]) -> None:
        """Keep these texts from their parsers: digest and grammar of each."""
        self._refused.update(names)

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "excise.parse":
            self._begin(*arguments)
        elif event == "excise.parsed":
            if self._limited:
                signal.setitimer(signal.ITIMER_PROF, 0)
            if self._note is not None:
                self._note.end()

    def _begin(self, grammar: str, data: bytes) -> None:
        from hashlib import sha256

        from excise.errors import Unparsable

        if self.everything:
            raise Unparsable(
                f"a process died over these texts, and the parser of {grammar} with it"
            )
        parsing = Parsing(sha256(data).digest(), grammar)
        if parsing.name in self._refused:
            raise Unparsable(f"the parser of {grammar} failed on this text")
        self.parses += 1
        if self._note is not None:
            self._note.begin(parsing)
        if self._limited:
            signal.setitimer(signal.ITIMER_PROF, self._seconds)
