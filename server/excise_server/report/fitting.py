"""Text that fits a terminal: lines break between parts, and long parts lose their middle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

__all__ = ["INDENT", "Sentence", "cut", "filled", "sentence"]

INDENT = 5
"""Columns before a line that continues the line above."""


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


def filled(parts: Sequence[Text], width: int, start: Text, between: str) -> Iterator[Text]:
    """Yield the parts in lines of the width, which end only between two parts."""
    indent = min(start.cell_len, INDENT)
    line, begun = start.copy(), False
    for part in parts:
        if begun and line.cell_len + 2 * len(between.rstrip()) + 1 + part.cell_len > width:
            yield line.append(between.rstrip(), "not bold")
            line, begun = Text(" " * indent), False
        line = Text.assemble(line, between if begun else "", part)
        begun = True
    if begun:
        yield line


def sentence(start: Text, text: str, out: Console) -> Iterator[Text]:
    """Yield a sentence in lines that fit a terminal, with long paths or ids shortened."""
    if not out.is_terminal:
        yield Text.assemble(start, text)
        return
    words = [Text(cut(word, out.width - INDENT)) for word in text.split(" ")]
    yield from filled(words, out.width, start, " ")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that is fitted when it is printed, and stays one line off a terminal."""

    start: Text
    text: str
    style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield its lines."""
        for line in sentence(self.start, self.text, console):
            line.stylize_before(self.style)
            yield line
