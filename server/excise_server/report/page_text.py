"""A review on a terminal, or as plain text: the page for deciding, or hunks as code.

The page has at most so many lines on a terminal of 80 columns as can be seen at once; -v has all.
In a pipe or file, every line of code and every sentence is one unbroken line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.text import Text

from excise_server.foundation.escape import printable
from excise_server.report.page import GroupBlock, Page
from excise_server.report.tables import UNWRAPPED, cut, filled
from excise_server.report.words import plural

FEW, FEW_LINES = 6, 15
MANY, MANY_LINES = 50, 40
"""Most lines of a page for so many candidates, on 80 columns."""

MOST_ROOMY = 3
"""Most groups of a task of which more than one line is shown."""

COLUMNS = 80
"""Columns for which these numbers are: on a narrower terminal it takes more lines."""

_INDENT = "   "


def most_lines(candidates: int) -> int:
    """Return how many lines a page may have.

    >>> [most_lines(count) for count in (1, 5, 28, 50, 200)]
    [15, 15, 28, 40, 40]
    """
    share = (min(max(candidates, FEW), MANY) - FEW) / (MANY - FEW)
    return FEW_LINES + round(share * (MANY_LINES - FEW_LINES))


# --- the page ------------------------------------------------------------------------------------


def page_lines(page: Page, out: Console) -> Iterator[RenderableType]:
    """Yield the page: tasks, groups and their edits, and what to do next."""
    shown = _Overview(page, out)
    if page.verbose:
        yield from shown.everything()
        return
    lines: list[Text] = []
    most = most_lines(len(page.entries))
    if out.is_terminal and out.width < COLUMNS:
        most = most * COLUMNS // max(out.width, 1)
    for room in _ROOMS:
        lines, is_whole = shown.lines(room, most)
        if is_whole:
            break
    yield from lines


class _Room(NamedTuple):
    """What is shown of a group: telling lines, lines of names of an edit, and edits.

    ``rows``: how many lines a single candidate has at most; 0: as a block.
    """

    telling: int = 3
    names: int = UNWRAPPED
    edits: int = UNWRAPPED
    rows: int = 0


_ROOMS = (
    *(_Room(), _Room(2), _Room(1), _Room(1, rows=2), _Room(1, rows=1), _Room(1, 2, rows=1)),
    *(_Room(1, 2, 12, rows=1), _Room(1, 2, 3, rows=1), _Room(1, 1, 2, rows=1)),
)
"""What is tried one after the other, until the page is short enough."""


_Part = tuple[list[Text], int]
"""Lines of the page that stay together, and how many candidates they have: 0 for headings."""


class _Overview:
    """The page, with so many telling lines of a group as there is room for."""

    def __init__(self, page: Page, out: Console) -> None:
        self.page = page
        self.width = out.width if out.is_terminal else UNWRAPPED
        self.half = max(12, self.width // 2 - 4)

    def everything(self) -> Iterator[Text]:
        yield from self.head()
        for part in self.parts(_Room()):
            yield from part[0]
        yield Text("")
        for line in self.page.details():
            yield from self.sentence(line)
        for line in self.page.between_tasks():
            yield from self.sentence(f"between tasks: {line}")
        for why, names in self.page.left_out():
            yield from self.sentence(f"{why}: {', '.join(names)}")
        yield from self.next()

    def next(self) -> Iterator[Text]:
        """Yield what to do next, in lines that break between sentences and commands."""
        parts = [
            Text(word)
            for part in self.page.next()
            for word in ([part] if len(part) <= self.width else part.split(" "))
        ]
        if self.width == UNWRAPPED and parts:
            yield Text(" ").join(parts)
        else:
            yield from filled(parts, self.width, Text(), " ")

    def lines(self, shown_of: _Room, most: int) -> tuple[list[Text], bool]:
        """Return at most so many lines, and whether they are all."""
        head, foot = list(self.head()), list(self.foot())
        parts = list(self.parts(shown_of))
        room = most - len(head) - len(foot)
        if sum(len(lines) for lines, _ in parts) <= room:
            return [*head, *(line for lines, _ in parts for line in lines), *foot], True
        fitting: list[_Part] = []
        for part in parts:
            if sum(len(lines) for lines, _ in (*fitting, part)) > room - 1:
                break
            fitting.append(part)
        while fitting and not fitting[-1][1]:  # a heading of nothing
            fitting.pop()
        shown = [line for lines, _ in fitting for line in lines]
        sizes = [size for _, size in parts[len(fitting) :] if size]
        more = f"and {sum(sizes):,} more by one candidate each: -v"
        if any(size > 1 for size in sizes):
            more = f"and {sum(sizes):,} more candidates in {plural(len(sizes), 'block')}: -v"
        return [*head, *shown, Text(_INDENT + more, "dim"), *foot], False

    def head(self) -> Iterator[Text]:
        title = printable(self.page.title)
        onto = f"onto {self.page.document.origin[:8]}" if self.page.entries else ""
        gap = 2 if self.width == UNWRAPPED else min(self.width, 80) - cell_len(title + onto)
        if gap >= 2:
            yield Text.assemble((title, "bold"), " " * gap, (onto, "dim"))
            return
        yield from self.sentence(title, "bold")
        if onto:
            yield Text(onto, "dim")

    def foot(self) -> Iterator[Text]:
        between = self.page.between_tasks()
        more = f"; {len(between) - 1:,} more: excise land" if len(between) > 1 else ""
        lines = [f"Between tasks: {between[0]}{more}"] if between else []
        lines.append(self.page.not_looked_at())
        shown = [text for line in lines if line for text in self.sentence(printable(line))]
        shown += self.next()
        yield from [Text(""), *shown] if shown else []

    def parts(self, room: _Room) -> Iterator[_Part]:
        several = len(self.page.document.tasks) > 1
        for task in self.page.rivals:
            if several:
                yield list(self.sentence(printable(self.page.task_head(task)), "bold")), 0
            blocks = self.page.blocks(task)
            rows = room.rows or 2
            own = room if len(blocks) <= MOST_ROOMY else room._replace(telling=1, rows=rows)
            yield from ((list(self.block(block, own)), block.size) for block in blocks)
        if self.page.alone and self.page.rivals:
            alone = plural(len(self.page.alone), "candidate")
            head = f"{alone} in tasks of their own: nobody competes; excise land says how they fit"
            if len(self.page.alone) == 1:
                head = "Alone in its task:"
            yield list(self.sentence(head, "bold")), 0
        singles = list(map(self.page.single, self.page.alone))
        pad = max((cell_len(self.label(block, self.half)) for block in singles), default=0)
        for block in singles:
            if several or room.rows:
                yield list(self.rows("", block, room.rows or 2, pad)), 1
            else:
                yield list(self.block(block, room)), 1

    def block(self, block: GroupBlock, room: _Room) -> Iterator[Text]:
        only = block.edits[0] if block.size == 1 else None
        if only is not None and room.rows:
            yield from self.rows(block.letter, block, room.rows)
            for line in block.about:
                yield from self.sentence(_INDENT + line)
            return
        head = block.head if only is None else f"{block.head}: {printable(only.names[0])}"
        start = Text.assemble((block.letter.ljust(2), "bold"), " ", head)
        place, lines = _place(block.where), block.telling(room.telling)
        joined = Text("   ").join([start, place, *map(_changed, lines)])
        if room.rows and joined.cell_len <= self.width < UNWRAPPED:
            yield joined
            lines = ()
        elif start.cell_len + 3 + place.cell_len <= self.width:
            yield Text.assemble(start, "   ", place)
        else:
            yield from self.sentence(head, first=block.letter.ljust(3))
            if place:
                yield self.fitted(Text.assemble(_INDENT, place))
        for line in lines:
            yield self.fitted(Text.assemble(_INDENT, _changed(line)))
        for edit in block.edits[: room.edits] if only is None else ():
            labels = [printable(name) for name in edit.names]
            row = Text(f"{_INDENT}{edit.says}: {', '.join(labels)}")
            joined = Text.assemble(row, "   ", _changed(edit.line))
            short = row.cell_len + 24 if room.rows == 1 else joined.cell_len
            if edit.line and short <= self.width:
                yield self.fitted(joined)
                continue
            yield from self.names(f"{edit.says}: ", labels, room.names)
            if edit.line:
                yield self.fitted(Text.assemble(_INDENT * 2, _changed(edit.line)))
        if hidden := [len(edit.ids) for edit in block.edits[room.edits :]]:
            edits = plural(len(hidden), "more edit")
            yield Text(f"{_INDENT}and {plural(sum(hidden), 'candidate')} in {edits}: -v", "dim")
        for line in block.about:
            yield from self.sentence(_INDENT + printable(line))

    def names(self, start: str, labels: Sequence[str], most: int) -> Iterator[Text]:
        """Yield names in lines that break between two of them, at most so many lines."""
        if self.width == UNWRAPPED:
            if most < UNWRAPPED and len(labels) > 12:
                labels = [*labels[:12], f"and {len(labels) - 12:,} more"]
            yield Text(f"{_INDENT}{start}{', '.join(labels)}")
            return
        longest = max(self.width - cell_len(_INDENT + start) - 1, 8)
        parts = [Text(_shorter(label, longest)) for label in labels]
        count = len(parts)
        while True:
            rest = [Text(f"and {len(parts) - count:,} more")] * (count < len(parts))
            lines = list(filled([*parts[:count], *rest], self.width, Text(_INDENT + start), ", "))
            if len(lines) <= most or count <= 1:
                break
            count -= 1
        yield from lines

    def label(self, block: GroupBlock, longest: int) -> str:
        """Return the name of a single candidate, with what is said of it, in so many columns."""
        name = printable(block.edits[0].names[0])
        return name if self.width == UNWRAPPED else _shorter(name, longest)

    def rows(self, letter: str, block: GroupBlock, most: int, pad: int = 0) -> Iterator[Text]:
        """Yield a candidate: its name, where, and the line that tells.

        It is one line, cut if ``most`` is 1. Otherwise what does not fit has a second one.
        """
        start = Text(f"{letter:<3}" if letter else "", "bold")
        told = Text().join(map(_changed, block.telling(1)))
        place = _place(block.where[:1])

        def padded(longest: int) -> str:
            label = self.label(block, longest)
            return label + " " * (pad - cell_len(label)) * (self.width < UNWRAPPED)

        whole = Text.assemble(start, padded(UNWRAPPED), "  ", place, "  ", told)
        if whole.cell_len <= self.width:
            yield whole
        elif most == 1:
            label = padded(self.half)
            longest = max(12, (self.width - cell_len(label) - 7) // 2)
            place = Text(cut(place.plain, longest)) if place.cell_len > longest else place
            yield self.fitted(Text.assemble(start, label, "  ", place, "  ", told))
        else:
            first = Text.assemble(start, self.label(block, self.width - start.cell_len))
            if first.cell_len + 2 + place.cell_len <= self.width:
                yield Text.assemble(first, "  ", place)
                yield self.fitted(Text.assemble(_INDENT, told))
                return
            yield first
            longest = max(12, self.width - len(_INDENT) - 2 - told.cell_len)
            place = Text(cut(place.plain, longest)) if place.cell_len > longest else place
            yield self.fitted(Text.assemble(_INDENT, place, "  ", told))

    def fitted(self, text: Text) -> Text:
        """Return a line that ends where the terminal does."""
        if self.width != UNWRAPPED and text.cell_len > self.width:
            text = text.copy()
            text.truncate(self.width, overflow="ellipsis")
        return text

    def sentence(self, text: str, style: str = "", first: str = "") -> Iterator[Text]:
        """Yield a sentence in lines that break between words."""
        indent = _INDENT if text.startswith(_INDENT) or first else ""
        if self.width == UNWRAPPED:
            yield Text(f"{first}{text}", style)
            return
        words = [Text(cut(word, self.width - 5), style) for word in text.strip().split(" ")]
        yield from filled(words, self.width, Text(first or indent, "bold" if first else style), " ")


def _shorter(name: str, longest: int) -> str:
    """Return a name, and in brackets what is said of it as far as there is room."""
    label, bracket, facts = name.partition(" (")
    short, said = cut(label, longest), Text(bracket + facts)
    if said.cell_len > (room := longest - cell_len(short)):
        said.truncate(max(room - 1, 0), overflow="ellipsis")
        return f"{short}{said.plain})" if said.cell_len > len(" (ab") else short
    return short + said.plain


def _place(where: Sequence[tuple[str, str]]) -> Text:
    """Return where a group changes something: the file and the function."""
    if not where:
        return Text()
    path, function = where[0]
    more = f" and {len(where) - 1:,} more" if len(where) > 1 else ""
    text = Text(printable(path), "cyan")
    if function:
        text.append("  ").append(printable(function), "italic not bold")
    return text.append(more, "dim")


def _changed(line: str) -> Text:
    return Text(printable(line), "green" if line.startswith("+") else "red")
