"""Lines for people. On a terminal, they break between parts, and long parts lose their middle."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.text import Text

from excise_server.report.words import digits

UNWRAPPED = 1 << 20
"""Columns of a console that is not a terminal: no line is longer."""

INDENT = 5
"""Columns before a line that continues the line above."""


def plain_text(lines: Callable[[Console], Iterable[RenderableType]]) -> str:
    """Return what a file gets of lines that are made for a console: nothing wrapped or coloured."""
    out = Console(
        file=io.StringIO(), width=UNWRAPPED, no_color=True, soft_wrap=True,
        markup=False, highlight=False, emoji=False,
    )  # fmt: skip
    for line in lines(out):
        out.print(line)
    assert isinstance(out.file, io.StringIO)
    return "\n".join(line.rstrip(" ") for line in out.file.getvalue().split("\n")).rstrip("\n")


def cut(text: str, width: int) -> str:
    """Return a text of at most so many columns, without its middle if it is longer.

    >>> cut("claude refactor-the-parser", 15)
    'claude …-parser'
    """
    if cell_len(text) <= width:
        return text
    head, tail = (width - 1) // 2, width - 1 - (width - 1) // 2
    left, right = len(text), 0
    while left and cell_len(text[:left]) > head:
        left -= 1
    while right < len(text) and cell_len(text[right:]) > tail:
        right += 1
    return f"{text[:left]}…{text[right:]}"


def filled(
    parts: Sequence[Text], width: int, start: Text, between: str, indent: int = INDENT
) -> Iterator[Text]:
    """Yield the parts in lines of the width, which end only between two parts."""
    indent = min(start.cell_len, indent)
    line, begun = start.copy(), False
    for part in parts:
        if begun and line.cell_len + 2 * len(between.rstrip()) + 1 + part.cell_len > width:
            yield line.append(between.rstrip(), "not bold")
            line, begun = Text(" " * indent), False
        line = Text.assemble(line, between if begun else "", part)
        begun = True
    if begun:
        yield line


_STYLES = ((0.75, "green"), (0.5, "yellow"), (0.25, "dark_orange"), (0.0, "red"))


def number(value: float | None) -> Text:
    """Return a value of the score in two digits (`digits`), coloured."""
    return Text(digits(value), "dim" if value is None else _style(value))


def _style(value: float) -> str:
    return next(style for least, style in _STYLES if value >= least)
