"""Tables and lines for people. Every text passes `printable`, and nothing is read as markup.

On a terminal, lines break between parts and long parts lose their middle. In a pipe or file, a
record is one line, its cells are separated by tabs, and nothing is cut.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from msgspec import UNSET
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from excise import Score
from excise.excision import WHITESPACE_ONLY
from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import first_few
from excise_server.report.words import DISAGREE, digits, level_words, order_words
from excise_server.wire import documents as d

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


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that is fitted when it is printed, and stays one line off a terminal."""

    start: Text
    text: str
    style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield its lines, on a terminal with long paths or ids shortened."""
        lines = [Text.assemble(self.start, self.text)]
        if console.is_terminal:
            words = [Text(cut(word, console.width - INDENT)) for word in self.text.split(" ")]
            lines = list(filled(words, console.width, self.start, " "))
        for line in lines:
            line.stylize_before(self.style)
            yield line


_LENGTHS = (60, 40, 28, 20, 12)
"""Columns to which names are cut, one after the other, until the table fits."""

_BARS = " ━╌"


@dataclass(frozen=True, slots=True)
class Records:
    """A table that fits.

    - ``is_grouped``: whether a blank first cell repeats the one above; it is written out in a pipe
      or file.
    """

    build: Callable[[int], Table]
    is_grouped: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not console.is_terminal:
            above = ""
            columns = self.build(UNWRAPPED).columns
            for row in zip(*((column.header, *column.cells) for column in columns), strict=True):
                cells = [str(cell.plain if isinstance(cell, Text) else cell) for cell in row]
                if self.is_grouped:
                    above = cells[0] = cells[0] or above
                yield Segment("\t".join(cell.rstrip(_BARS) for cell in cells))
                yield Segment.line()
            return
        for length in (UNWRAPPED, *_LENGTHS):
            table = self.build(length)
            width = Measurement.get(console, options.update(width=UNWRAPPED), table).minimum
            if width <= options.max_width:
                yield table
                return
        columns = self.build(min(_LENGTHS[-1], options.max_width // 2)).columns
        heads = [str(column.header) for column in columns]
        for row in zip(*(column.cells for column in columns), strict=True):
            cells = [str(cell).rstrip(_BARS) for cell in row]
            parts = [
                Text(f"{head} {cell}".strip())
                for head, cell in zip(heads, cells, strict=True)
                if cell
            ]
            yield from filled(parts, options.max_width, Text(), ", ")


def name_column(table: Table, head: str, names: list[str]) -> None:
    """Add a column of names, which are never wrapped."""
    longest = max((len(name) for name in (head, *names)), default=0)
    table.add_column(head, no_wrap=True, overflow="ellipsis", min_width=min(longest, UNWRAPPED))


_STYLES = ((0.75, "green"), (0.5, "yellow"), (0.25, "dark_orange"), (0.0, "red"))
_CELL = 5
"""Columns of a similarity in a matrix, with the gap."""


def number(value: float | None) -> Text:
    """Return a value of the score in two digits (`digits`), coloured."""
    return Text(digits(value), "dim" if value is None else _style(value))


def bar(value: float | None, width: int = 12) -> Text:
    """Return a value in [0, 1] as a bar."""
    filled = round((value or 0.0) * width)
    return Text.assemble(("━" * filled, _style(value or 0.0)), ("╌" * (width - filled), "dim"))


def summary(score: Score, title: str, names: tuple[str, str]) -> RenderableType:
    """Return the score, its operations, the word for A and B, its notes and its signature."""
    table = Table.grid(padding=(0, 2))
    bold = number(score.value)
    bold.stylize("bold")
    table.add_row(Text(title, "bold"), bold, bar(score.value, 24))
    for name in ("keep", "add", "delete"):
        value: float | None = getattr(score, name)
        undefined = Text("undefined: neither revision has any", "dim")
        table.add_row(f"  {name}", number(value), undefined if value is None else bar(value, 24))
    level, (a, b) = score.level, names
    if level is None:
        line = Text(score.text_word, "bold")
    else:
        word = level_words(level.word, level.renamed, f"{{}} in {a} is {{}} in {b}")
        line = Text(printable(word), "bold green")
    if score.anchored != score.anywhere:
        line.append(": at the same place ", "not bold").append_text(number(float(score.anchored)))
        line.append(", anywhere ", "not bold").append_text(number(float(score.anywhere)))
    notes = notes_text("note", score.notes)
    return Group(table, line, *notes, SignatureText(score.signature))


_MOST_PAIRS = 10
"""Most pairs of which the words are listed; JSON, Markdown and HTML have all."""


def compare_lines(document: d.CompareDocument, out: Console) -> Iterator[RenderableType]:
    """Yield the numbers and words of all pairs, the order, and the clusters, if there are any."""
    matrix, names = document.matrix, document.revisions
    assert matrix is not UNSET
    yield from _matrix_table(names, matrix.similarity, out.width)
    pairs = [*combinations(range(len(names)), 2)]
    if len(pairs) <= _MOST_PAIRS:
        yield Text()
        for i, j in pairs:
            score = number(matrix.similarity[i][j])
            yield Text.assemble((f"{i + 1} and {j + 1}  ", "dim"), score, f"  {matrix.words[i][j]}")
    yield Text()
    yield from _order_table(document)
    groups = [] if document.clusters is UNSET else document.clusters.groups
    if groups:
        yield Text()
        yield _cluster_table(groups, names, matrix.similarity)
    for place, line in enumerate(map(reasons_text, groups), start=1):
        if line:
            yield Sentence(Text(f"cluster {place}: ", "dim"), printable(line))
    about: dict[str, list[str]] = {}
    for name, notes in document.notes.items():
        for note in notes:
            about.setdefault(note, []).append(name)
    yield from notes_text("note", (
        f"{'all' if len(who) == len(names) else ', '.join(who)}: {note}"
        for note, who in about.items()
    ))  # fmt: skip
    yield SignatureText(document.signature)


def reasons_text(group: d.ClusterEntry) -> str:
    """Return the facts about a group as one line, with names where they apply only to some."""
    return "; ".join(
        reason.text
        if len(reason.members) == len(group.members)
        else f"{first_few(reason.members)}: {reason.text}"
        for reason in group.reasons
    )


def _matrix_table(
    revisions: Sequence[str], values: d.Values, width: int
) -> Iterable[RenderableType]:
    """Yield the matrix in tables that fit the width, with the rows' numbers as column titles."""
    k = len(revisions)
    digits = len(str(k))
    names = [printable(name) for name in revisions]
    label = min(max(map(cell_len, names), default=0), max(20, width // 2))
    columns = max(1, (width - digits - label - 3) // _CELL)
    for first in range(0, max(k, 1), columns):
        shown = range(first, min(k, first + columns))

        def build(_: int, shown: range = shown) -> Table:
            table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
            table.add_column("", justify="right", style="dim")
            table.add_column("", no_wrap=True, min_width=label)
            for j in shown:
                table.add_column(
                    str(j + 1), justify="right", min_width=_CELL - 1, header_style="dim"
                )
            for i, name in enumerate(names):
                cells = [Text("1", "dim") if i == j else number(values[i][j]) for j in shown]
                table.add_row(str(i + 1), cut(name, label), *cells)
            return table

        yield Records(build)


def _order_table(document: d.CompareDocument) -> Iterator[RenderableType]:
    ranking = document.ranking or []

    def build(length: int) -> Table:
        names = [cut(printable(ranked.id), length) for ranked in ranking]
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
        table.add_column("rank", justify="right")
        name_column(table, "revision", names)
        table.add_column("tokens", justify="right")
        table.add_column("why", overflow="fold")
        for name, ranked in zip(names, ranking, strict=True):
            notes = [note for note in ranked.notes if note != WHITESPACE_ONLY]
            table.add_row(
                str(ranked.rank),
                Text(name, "bold" if ranked.rank == 1 else ""),
                str(ranked.edit_size),
                printable("; ".join([*ranked.why, *notes])),
            )
        return table

    yield Records(build)
    if ranking:
        yield Text(f"order  {order_words(str(document.intent))}", "dim")
        yield from [Text(DISAGREE, "dim")] * (document.disagree is True)


def _cluster_table(
    groups: Sequence[d.ClusterEntry], revisions: Sequence[str], values: d.Values
) -> RenderableType:
    """Return the clusters, with ● for the representative, to which numbers and words refer."""
    index = {name: place for place, name in enumerate(revisions)}

    def build(length: int) -> Table:
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
        table.add_column("cluster", justify="right")
        table.add_column("", width=1)
        name_column(table, "revision", [cut(printable(name), length) for name in revisions])
        table.add_column("similarity", no_wrap=True)
        table.add_column("to ●")
        for place, group in enumerate(groups, start=1):
            best = group.representative
            name = Text(cut(printable(best), length), "bold")
            table.add_row(str(place), Text("●", "green"), name, Text(), "")
            for member, word in zip(group.members, group.words, strict=True):
                if member != best:
                    value = values[index[best]][index[member]]
                    similarity = Text.assemble(number(value), " ", bar(value, 10))
                    table.add_row("", "", Text(cut(printable(member), length)), similarity, word)
        return table

    return Records(build, is_grouped=True)


def notes_text(label: str, notes: Iterable[str]) -> list[Sentence]:
    """Return a line for each note."""
    return [Sentence(Text(f"{label}: ", "yellow"), printable(note), "yellow") for note in notes]


@dataclass(frozen=True, slots=True)
class SignatureText:
    """The signature, which belongs to every number.

    On a terminal that is too narrow, it breaks between its keys. In a pipe it is one line.
    """

    signature: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line, shown = "", printable(self.signature)
        width = options.max_width if console.is_terminal else len(shown) + 1
        for key in shown.split("|"):
            if line and len(line) + len(key) + 2 > width:
                yield Text(f"{line}|", "dim")
                line = key
            else:
                line = f"{line}|{key}" if line else key
        yield Text(line, "dim", no_wrap=True, overflow="ignore")


def _style(value: float) -> str:
    return next(style for least, style in _STYLES if value >= least)
