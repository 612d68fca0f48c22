"""Source text in a narrow column: indentation that all share is left out, long lines hang."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from excise_server.foundation.escape import source_text

__all__ = ["Source", "shared_indentation"]

_HANG = 2
"""Columns by which the continuation of a long line is indented further."""


@dataclass(frozen=True, slots=True)
class Source:
    """A piece of source text, highlighted within its first and last line."""

    before: str
    piece: str
    after: str
    drop: int = 0
    """Characters of indentation left out of every line."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines, wrapped to the column."""
        text = Text(tab_size=1)
        for part, style in ((self.before, "dim"), (self.piece, "bold"), (self.after, "dim")):
            text.append(source_text(part), style)
        for line in text.split("\n", allow_blank=True):
            yield from _wrapped(line[_dropped(line.plain, self.drop) :], console, options.max_width)

    def unwrapped(self) -> list[str]:
        """Return the lines without the indentation that all share."""
        return [line[_dropped(line, self.drop) :] for line in self.lines]

    @property
    def lines(self) -> list[str]:
        """The lines as they are printed, with their indentation."""
        return source_text(f"{self.before}{self.piece}{self.after}").split("\n")


def shared_indentation(pieces: Iterable[Source]) -> int:
    """Return how much indentation all lines of all pieces have in common."""
    lines = [line for piece in pieces for line in piece.lines if line.strip()]
    return min((_indentation(line) for line in lines), default=0)


def _indentation(line: str) -> int:
    # A tab is shown as an arrow here.
    return len(line) - len(line.lstrip(" "))


def _dropped(line: str, drop: int) -> int:
    return min(drop, _indentation(line))


def _wrapped(line: Text, console: Console, width: int) -> Iterable[Text]:
    hang = min(_indentation(line.plain) + _HANG, width // 2)
    if line.cell_len <= width:
        yield line
        return
    first, *_ = line.wrap(console, width)
    yield first
    rest = line[len(first.plain) :]
    skip = len(rest.plain) - len(rest.plain.lstrip(" "))
    for part in rest[skip:].wrap(console, width - hang):
        yield Text(" " * hang) + part
