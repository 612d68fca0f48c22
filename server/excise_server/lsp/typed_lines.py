"""Lines that are being typed, which have no mark of a hunk and no lens until the keyboard rests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from lsprotocol import types as t

from excise_server.editor.document import document_key

__all__ = ["TypedLines"]

REST = 2.0
"""Seconds after the last key until a line counts as finished."""


class TypedLines:
    """The lines of each document that are being typed.

    Parameters
    ----------
    rested : callable
        Receives the key of a document whose marks were held back, when they can be shown.
    """

    def __init__(self, rested: Callable[[str], None]) -> None:
        """Start with nothing typed."""
        self._rested = rested
        self._lines: dict[str, frozenset[int]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._held: set[str] = set()

    def note(self, uri: str, changes: Iterable[t.TextDocumentContentChangeEvent]) -> None:
        """Note the lines that an edit changed. An edit larger than a key's is not typing."""
        key, lines = document_key(uri), set[int]()
        for change in changes:
            if (line := _typed(change)) is None:
                # The marks held back are published with the analysis that this edit causes.
                self.forget(uri)
                return
            lines.add(line)
        if not lines:
            return
        self._stop(key)
        self._lines[key] = frozenset(lines)
        loop = asyncio.get_running_loop()
        self._timers[key] = loop.call_later(REST, self.rest, uri)

    def rest(self, uri: str) -> None:
        """Note that typing in a document has ended: it was saved, or time has passed."""
        key = document_key(uri)
        self._stop(key)
        self._lines.pop(key, None)
        if key in self._held:
            self._held.discard(key)
            self._rested(key)

    def forget(self, uri: str) -> None:
        """Forget a document that is closed."""
        key = document_key(uri)
        self._stop(key)
        self._lines.pop(key, None)
        self._held.discard(key)

    def holds(self, key: str, shown: t.Range) -> bool:
        """Whether a mark has to wait because its line is being typed."""
        if not any(shown.start.line <= line <= shown.end.line for line in self._lines.get(key, ())):
            return False
        self._held.add(key)
        return True

    def _stop(self, key: str) -> None:
        if (timer := self._timers.pop(key, None)) is not None:
            timer.cancel()


def _typed(change: t.TextDocumentContentChangeEvent) -> int | None:
    """Return the line that a key left the cursor on, or None for any other edit."""
    if not isinstance(change, t.TextDocumentContentChangePartial):
        return None
    start, end, breaks = change.range.start.line, change.range.end.line, change.text.count("\n")
    is_enter = breaks == 1 and not change.text.strip()
    if end - start > 1 or (breaks and not is_enter):
        return None
    return start + breaks
