"""What stands between a text and its parser in a process that may die of it.

The library says, by auditing events, which text a parser is about to get: it is noted where the
parent can read it, refused if it has ended a process before, and given a limit of CPU seconds that
also ends a parser which looks at no flag.
"""

from __future__ import annotations

import signal
import sys
from typing import Any

from excise.errors import Unparsable
from excise.reading import PARSER_SECONDS
from excise_server.workers.note import Note, digest_of

__all__ = ["Guard"]

_LIMIT = 1.5 * PARSER_SECONDS
"""CPU seconds after which a parser that did not stop by itself ends the process."""


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
        self._note = note
        self._limited = limited and hasattr(signal, "setitimer")
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
            self._end()

    def _begin(self, grammar: str, data: bytes) -> None:
        if self.everything:
            raise Unparsable(
                f"a process died over these texts, and the parser of {grammar} with it"
            )
        digest = digest_of(data)
        if digest + grammar.encode() in self._refused:
            raise Unparsable(f"the parser of {grammar} failed on this text")
        self.parses += 1
        if self._note is not None:
            self._note.begin(digest, grammar)
        if self._limited:
            signal.setitimer(signal.ITIMER_PROF, _LIMIT)

    def _end(self) -> None:
        if self._limited:
            signal.setitimer(signal.ITIMER_PROF, 0)
        if self._note is not None:
            self._note.end()
