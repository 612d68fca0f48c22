"""Tables of records: TSV off a terminal, and rows with shortened ids on one.

In a pipe or file, a record is one line, its cells are separated by tabs, and nothing is cut.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from excise_server.report.fitting import filled

__all__ = ["UNWRAPPED", "Records", "name_column"]

UNWRAPPED = 1 << 20
"""Columns of a console that is not a terminal: no line is longer."""

_LENGTHS = (60, 40, 28, 20, 12)
"""Columns to which names are cut, one after the other, until the table fits."""

_BARS = " ━╌"


@dataclass(frozen=True, slots=True)
class Records:
    """A table that fits.

    Attributes
    ----------
    build
        Makes the table, with names cut to so many columns.
    is_grouped
        Whether a blank first cell repeats the one above; it is written out in a pipe or file.
    """

    build: Callable[[int], Table]
    is_grouped: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table, or its lines."""
        if not console.is_terminal:
            yield from self._lines()
            return
        for length in (UNWRAPPED, *_LENGTHS):
            table = self.build(length)
            width = Measurement.get(console, options.update(width=UNWRAPPED), table).minimum
            if width <= options.max_width:
                yield table
                return
        yield from self._stacked(options.max_width)

    def _stacked(self, width: int) -> RenderResult:
        """Yield the cells of each row one after the other, for a terminal of few columns."""
        columns = self.build(min(_LENGTHS[-1], width // 2)).columns
        heads = [str(column.header) for column in columns]
        for row in zip(*(column.cells for column in columns), strict=True):
            cells = [str(cell).rstrip(_BARS) for cell in row]
            parts = [
                Text(f"{head} {cell}".strip())
                for head, cell in zip(heads, cells, strict=True)
                if cell
            ]
            yield from filled(parts, width, Text(), ", ")

    def _lines(self) -> RenderResult:
        above = ""
        columns = self.build(UNWRAPPED).columns
        for row in zip(*((column.header, *column.cells) for column in columns), strict=True):
            cells = [str(cell.plain if isinstance(cell, Text) else cell) for cell in row]
            if self.is_grouped:
                above = cells[0] = cells[0] or above
            yield Segment("\t".join(cell.rstrip(_BARS) for cell in cells))
            yield Segment.line()


def name_column(table: Table, head: str, names: list[str]) -> None:
    """Add a column of names, which are never wrapped."""
    longest = max((len(name) for name in (head, *names)), default=0)
    table.add_column(head, no_wrap=True, overflow="ellipsis", min_width=min(longest, UNWRAPPED))
