"""Blocks, of which every page is made once, and what shows them: on a terminal, and as Markdown.

`html_page` shows them in a browser. Texts of blocks are as they came: each way escapes them.
In a pipe or file, a block is one line for each of its lines, and nothing is cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.segment import Segment, Segments
from rich.text import Text

from excise_server.foundation.changes import differing_lines
from excise_server.foundation.escape import lines_beside, printable, source_text
from excise_server.report import markdown as inline
from excise_server.report.markdown import bounded, code_span, fenced, inert
from excise_server.report.tables import UNWRAPPED, cut, filled
from excise_server.report.words import LONGEST_LINE, digits, plural
from excise_server.wire.documents import RejectedEntry

HunkOf = Callable[[str, str], Sequence["PageBlock"]]
"""Returns the hunk in which the second member of a group differs from the first one."""

Kind = Literal[
    "title", "head", "row", "fold", "names", "text", "note", "rejected", "code", "table", "matrix",
    "scores",
]  # fmt: skip

MOST_DRAWN = 40
"""Most members of a group of which a picture shows the matrix."""

Marks = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class ShownLine:
    r"""A line of code.

    - ``sign``: ``-`` for a line of the reference that somebody lacks, ``+`` for one that differs
      from it, a blank for one that does not, ``=`` for several of these, which ``text`` names,
      ``\`` for a remark, ``…`` for lines that are left out, ``<`` and ``>`` for those of one side.
    - ``number``: the number of a line of the origin, from 1, or 0 for other lines.
    - ``marks``: ranges (from, to, exclusive) of characters whose tokens the other text lacks, if it
      has other tokens of this line.
    """

    sign: str
    text: str
    number: int = 0
    marks: Marks = ()


class Cell(NamedTuple):
    """A piece of text in a line.

    - ``style``: ``head``, ``name``, ``path``, ``hunk``, ``function``, ``quoted``, ``+``, ``-``,
      ``dim``, ``warning``, ``number``, or "".
    - ``link``: the `id` of the block to which it leads in a browser.
    - ``tells``: the place of the first character that tells code from others like it.
    - ``after``: what is said of a name, in brackets behind it.
    """

    text: str
    style: str = ""
    link: str = ""
    tells: int = 0
    after: str = ""

    @property
    def behind(self) -> str:
        """What is said of a name, as it stands behind it."""
        return f" ({self.after})" if self.after else ""


class PageBlock(NamedTuple):
    """A part of a page, of its kind.

    - ``title``, ``head``: a heading, with its ``mark`` (a number or letter) before it.
    - ``row``: one line, which is cut to the width; below a ``fold`` a browser folds what is deeper.
    - ``names``: a beginning, and names with commas between them.
    - ``text``, ``note``: words; notes stand at the end of a page.
    - ``rejected``: a note that no terminal shows, as standard error says it there.
    - ``code``: ``lines``, behind ``gutter`` columns for their numbers.
    - ``table``: ``rows``, the first of which has the titles.
    - ``matrix``: the similarities ``values`` of the names in ``cells``.
    - ``scores``: a signature.

    ``depth`` is how far it is indented; deeper blocks belong to the one above. That of a heading
    is its level. The first cell of a
    row or text takes ``gutter`` columns or more.
    """

    kind: Kind
    cells: Sequence[Cell] = ()
    depth: int = 0
    mark: str = ""
    lines: Sequence[ShownLine] = ()
    gutter: int = 0
    rows: Sequence[Sequence[Cell]] = ()
    values: Sequence[Sequence[float]] = ()
    id: str = ""


def lined(lines: Iterable[str]) -> list[ShownLine]:
    """Return lines of a diff, each of which begins with its sign."""
    return [ShownLine(line[:1], line[1:]) for line in lines]


MOST_LINES = 8
"""Most lines of a hunk in which a member of a group differs."""


def differing(where: str, old: Sequence[str], new: Sequence[str]) -> list[PageBlock]:
    """Return the lines in which the second text differs from the first one, below its member."""
    lines = [
        f"{mark}{line}"
        for o_lo, o_hi, a_lo, a_hi in differing_lines(old, new)
        for mark, part in (("<", old[o_lo:o_hi]), (">", new[a_lo:a_hi]))
        for line in part
    ]
    if not lines:
        return []
    shown = lined(lines_beside(lines[:MOST_LINES], LONGEST_LINE))
    if (more := len(lines) - MOST_LINES) > 0:
        shown.append(ShownLine("…", plural(more, "more line")))
    return [words(where, "dim", depth=3), PageBlock("code", depth=3, lines=shown)]


def words(text: str, style: str = "", *, depth: int = 0, kind: Kind = "text") -> PageBlock:
    """Return a block of words alone."""
    return PageBlock(kind, (Cell(text, style),), depth)


def notes(lines: Iterable[str]) -> Iterator[PageBlock]:
    """Yield the notes at the end of a page."""
    return (words(line, "dim", kind="note") for line in lines)


def left_out(rejected: Iterable[RejectedEntry]) -> Iterator[PageBlock]:
    """Yield who was left out, and why."""
    lines = (f"left out: {each.id}: {each.reason}" for each in rejected)
    return (words(line, "dim", kind="rejected") for line in lines)


FOOT = ("note", "rejected", "scores")
"""The kinds of blocks at the end of a page."""


def split(
    blocks: Iterable[PageBlock],
) -> tuple[list[PageBlock], list[list[PageBlock]], list[PageBlock]]:
    """Return what stands above, the parts of a page, and its notes.

    A part is a heading with what is below it; on a page without these, a block at the margin.
    """
    every = list(blocks)
    foot = next((n for n, b in enumerate(every) if b.kind in FOOT), len(every))
    margin = [
        n for n, b in enumerate(every[:foot])
        if b.kind == "head" or (not b.depth and b.kind not in _INNER)
    ]  # fmt: skip
    starts = [n for n in margin if every[n].mark] or margin
    ends = [*starts[1:], foot]
    parts = [every[start:end] for start, end in zip(starts, ends, strict=False)]
    return every[: starts[0] if starts else foot], parts, every[foot:]


_INNER = ("title", "code", "matrix")


def spaced(cells: Iterable[Cell]) -> Iterator[tuple[str, Cell]]:
    """Yield the cells of a sentence, each with the gap before it."""
    first = True
    for cell in cells:
        if cell.text:
            yield "" if first or cell.text[0] == ":" else " ", cell
            first = False


# --- on a terminal -------------------------------------------------------------------------------

_STYLES = {
    "head": "bold", "name": "bold", "path": "bold cyan", "hunk": "cyan", "function": "italic",
    "quoted": "dim", "dim": "dim", "warning": "yellow", "likely": "bold red", "possibly": "yellow",
    "+": "green", "-": "red", "<": "", ">": "",
}  # fmt: skip
_STEP = 3
_ENOUGH = 40
"""Columns for code beside what it belongs to; where there are fewer it stands below."""

_LEAST = 24
"""Columns that code of a row, or names, have in a line; with less room they begin another one."""

_CELL = 5
"""Columns of a similarity in a matrix, with the gap."""


def terminal(blocks: Iterable[PageBlock], out: Console) -> Iterator[RenderableType]:
    """Yield a page line by line: on a terminal none is wider than it."""
    width = out.width if out.is_terminal else UNWRAPPED
    for block in blocks:
        if block.kind == "table":
            yield Text("")
        yield from _TERMINAL[block.kind](block, width)


def _tabbed(cells: Iterable[Text]) -> Segments:
    # A `Text` would expand its tabs.
    return Segments([Segment("\t".join(cell.plain for cell in cells)), Segment.line()])


def _shown(cell: Cell) -> Text:
    text = Text(printable(cell.text), _STYLES.get(cell.style, ""))
    return text.append(printable(cell.behind), "not bold") if cell.after else text


def _start(block: PageBlock) -> Text:
    indent = " " * (_STEP * block.depth * (block.kind != "head"))
    if block.mark and block.depth and block.kind != "head":
        return Text(f"{indent}{block.mark} ")
    return Text(f"{indent}{f'{block.mark:<{_STEP}}' if block.mark else ''}", "bold")


def _words(block: PageBlock, width: int) -> Iterator[Text]:
    """Yield words in lines that break between them, long ones without their middle."""
    start = _start(block)
    cells = [cell for cell in block.cells if cell.text]
    if block.gutter:
        first = _shown(cells.pop(0)) if block.cells[0].text else Text()
        start = Text.assemble(start, first, " " * (block.gutter + 2 - first.cell_len))
    wide = 2 if block.kind == "head" else 1
    parts = (part for gap, cell in spaced(cells) for part in (Text(gap * wide), _shown(cell)))
    line = Text().join(parts)
    if width == UNWRAPPED or not line:
        yield Text.assemble(start, line)
        return
    indent = _STEP * (block.depth + 1)
    most = width - min(start.cell_len, indent)
    broken = [
        word
        if word.cell_len <= most
        else Text(cut(word.plain, most), next((span.style for span in word.spans), ""))
        for word in line.split(" ")
    ]
    yield from filled(broken, width, start, " ", indent)


def _title(block: PageBlock, width: int) -> Iterator[Text]:
    """Yield a title, and what stands beside it at the right of the first 80 columns."""
    title, *beside = map(_shown, block.cells)
    gap = min(width, 80) - title.cell_len - sum(cell.cell_len for cell in beside)
    if beside and gap >= 2:
        yield Text.assemble(title, " " * (2 if width == UNWRAPPED else gap), *beside)
    else:
        for cell in block.cells:
            yield from _words(block._replace(cells=[cell]), width)


def fitted(cells: Sequence[Text], room: int) -> list[Text]:
    """Return cells that take so many columns together: the longest are cut in their middle."""
    sizes = sorted(cell.cell_len for cell in cells)
    if sum(sizes) <= room:
        return list(cells)
    for place, size in enumerate(sizes):
        most = max(room // (len(sizes) - place), 1)
        if size > most:
            break
        room -= size
    return [Text(cut(cell.plain, most), cell.style) for cell in cells]


def _row(block: PageBlock, width: int) -> Iterator[Text]:
    start = _start(block)
    cells = [cell for cell in block.cells if cell.text]
    shown = [_shown(cell) for cell in cells]
    shown[0].append(" " * (block.gutter - shown[0].cell_len))
    line = Text.assemble(start, Text("  ").join(shown))
    if line.cell_len <= width:
        yield line
        return
    code = [shown.pop()] if cells[-1].style in ("+", "-") else []
    room = width - start.cell_len - 2 * (len(shown) - 1)
    if sum(cell.cell_len for cell in shown) > room and code and len(shown) > 1:
        code, shown = [*shown[1:], *code], shown[:1]
    before = Text.assemble(start, Text("  ").join(fitted(shown, room)))
    rest = Text("  ").join(code)
    if code and (before.cell_len + 2 + min(rest.cell_len, _ENOUGH) > width or len(code) > 1):
        yield before
        before = Text(" " * (_STEP * (block.depth + 1) - 2))
    if code:
        room = width - before.cell_len - 2 - rest.cell_len + code[-1].cell_len
        code[-1] = _around(code[-1], cells[-1].tells, room)
        before = Text.assemble(before, "  ", Text("  ").join(code))
    before.truncate(width, overflow="ellipsis")
    yield before


def _around(code: Text, tells: int, room: int) -> Text:
    """Return a changed line of so many columns, without what stands before what tells."""
    start = min(tells - room // 4, code.cell_len - room + 3)
    if code.cell_len <= room or start <= 3:
        return code
    return Text(f"{code.plain[:2]}…{code.plain[start:]}", code.style)


def _names(block: PageBlock, width: int) -> Iterator[Text]:
    start, *names = map(_shown, block.cells)
    start = Text.assemble(_start(block), start, ": " if start else "")
    if width == UNWRAPPED:
        yield Text.assemble(start, Text(", ").join(names))
        return
    if start.cell_len > width - _LEAST:
        head = Cell(f"{block.cells[0].text}:")
        yield from _words(block._replace(kind="text", cells=[head]), width)
        start = Text(" " * _STEP * (block.depth + 1))
    most = width - start.cell_len - 1
    parts = [Text(cut(name.plain, most), name.style) for name in names]
    yield from filled(parts, width, start, ", ")


def _code(block: PageBlock, width: int) -> Iterator[Text]:
    """Yield lines behind their numbers and signs, a long one in pieces that are indented."""
    indent = " " * (_STEP * block.depth)
    for line in block.lines:
        number = f"{line.number or '':>{block.gutter}} {line.sign} " if block.gutter else line.sign
        if line.sign == "…" and block.gutter:
            number = f"{'…':>{block.gutter}}   "
        elif line.sign in ("<", ">", "…"):
            number = f"{line.sign} "
        style = _STYLES.get(line.sign, "dim")
        gutter = Text(f"{indent}{number}", "dim" if block.gutter else style)
        code, position = Text(), 0
        for lo, hi in line.marks if style != "dim" else ():
            code.append(source_text(line.text[position:lo]), style)
            code.append(source_text(line.text[lo:hi]), f"{style} reverse")
            position = hi
        code.append(source_text(line.text[position:]), style)
        room = max(width - gutter.cell_len, 1)
        while code.cell_len > room:
            fitting = min(room, len(code))
            while fitting > 1 and cell_len(code.plain[:fitting]) > room:
                fitting -= 1
            yield Text.assemble(gutter, code[:fitting])
            code, gutter = code[fitting:], Text(" " * gutter.cell_len)
        yield Text.assemble(gutter, code)


def _table(block: PageBlock, width: int) -> Iterator[RenderableType]:
    """Yield rows in columns, of which the last is folded and names lose their middle.

    In a pipe tabs are between cells. Where there is no room for columns, each cell has its title.
    """
    rows = [[_shown(cell) for cell in row] for row in block.rows]
    if width == UNWRAPPED:
        yield from map(_tabbed, rows)
        return
    sizes = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
    names = [n for n, cell in enumerate(block.rows[-1][:-1]) if cell.style != "number"]
    fixed = sum(size for n, size in enumerate(sizes[:-1]) if n not in names) + 2 * len(sizes)
    room = width - fixed - min(sizes[-1], max(width // 3, 12))
    if room < 8 * len(names):
        for row in rows[1:]:
            both = zip(rows[0], row, strict=True)
            titled = (f"{head.plain} {cell.plain}".strip() for head, cell in both)
            yield from filled([Text(cut(part, width)) for part in titled], width, Text(), ", ")
        return
    for n, cell in zip(names, fitted([Text(" " * sizes[n]) for n in names], room), strict=True):
        sizes[n] = cell.cell_len
    indent = sum(sizes[:-1]) + 2 * len(sizes[:-1])
    for row in rows:
        line = Text()
        for n, cell in enumerate(row[:-1]):
            cell = Text(cut(cell.plain, sizes[n]), cell.style)
            pad = " " * (sizes[n] - cell.cell_len)
            line = Text.assemble(line, *((cell, pad) if n in names else (pad, cell)), "  ")
        words = [
            Text(cut(word, width - indent), row[-1].style) for word in row[-1].plain.split(" ")
        ]
        for nth, part in enumerate(filled(words, width - indent, Text(), " ")):
            line = Text.assemble(" " * indent if nth else line, part)
            line.rstrip()
            yield line


def _matrix(block: PageBlock, width: int) -> Iterator[RenderableType]:
    """Yield similarities in as many tables as the width takes, with numbers as titles."""
    from excise_server.report.tables import number

    names = [printable(cell.text) for cell in block.cells]
    gutter = len(str(len(names)))
    label = min(max(map(cell_len, names), default=0), max(20, width // 2))
    columns = max(1, (width - gutter - label - 3) // _CELL)
    for first in range(0, len(names), columns):
        shown = range(first, min(len(names), first + columns))
        if width == UNWRAPPED:
            yield _tabbed([Text(), Text(), *(Text(str(j + 1)) for j in shown)])
        else:
            heads = "".join(f"{j + 1:>{_CELL}}" for j in shown)
            yield Text(" " * (gutter + 1 + label) + heads, "dim")
        for i, name in enumerate(names):
            cells = [Text("1", "dim") if i == j else number(block.values[i][j]) for j in shown]
            if width == UNWRAPPED:
                yield _tabbed([Text(str(i + 1)), Text(name), *cells])
                continue
            name = cut(name, label)
            padded = (part for c in cells for part in (" " * (_CELL - c.cell_len), c))
            gap = " " * (label - cell_len(name))
            yield Text.assemble((f"{i + 1:>{gutter}} ", "dim"), name, gap, *padded)


def _scores(block: PageBlock, width: int) -> Iterator[Text]:
    """Yield a signature, which breaks between its keys."""
    line, (cell,) = "", block.cells
    for key in printable(cell.text).split("|"):
        if line and len(line) + len(key) + 2 > width:
            yield Text(f"{line}|", "dim")
            line = key
        else:
            line = f"{line}|{key}" if line else key
    yield Text(line, "dim", no_wrap=True, overflow="ignore")


_TERMINAL = {
    "title": _title, "head": _words, "row": _row, "fold": _row, "names": _names, "text": _words,
    "note": _words, "rejected": lambda block, width: iter(()), "code": _code, "table": _table,
    "matrix": _matrix, "scores": _scores,
}  # fmt: skip


# --- as Markdown ---------------------------------------------------------------------------------


def markdown(blocks: Iterable[PageBlock], most: int, way: str) -> str:
    """Return a page as Markdown, inert whatever it contains.

    - ``most``: the characters of what stands between the title and the notes; what does not fit
      is counted, with the ``way`` to see it.
    """
    if most < UNWRAPPED:
        blocks = [block._replace(lines=_shortened(block.lines)) for block in blocks]
    top, parts, foot = split(blocks)
    shown = bounded(map(_joined, parts), most, way)
    return "\n\n".join(filter(None, (_joined(top), *shown, _joined(foot))))


def _shortened(lines: Sequence[ShownLine]) -> list[ShownLine]:
    shown = [f"{line.sign[:1]}{source_text(line.text)}" for line in lines]
    cut_off = lines_beside(shown, inline.LONGEST_LINE)
    return [replace(line, text=text[1:]) for line, text in zip(lines, cut_off, strict=True)]


def _joined(blocks: Iterable[PageBlock]) -> str:
    """Return blocks below each other, items of a list without an empty line between them."""
    parts: list[str] = []
    above = in_row = False
    for block in blocks:
        is_marked = block.kind == "row" and bool(block.mark) and not block.depth
        is_inside = block.depth > 0 and block.kind not in ("code", "head")
        in_row = is_marked or (in_row and is_inside)
        is_item = block.kind in FOOT or is_inside or is_marked
        if shown := _markdown(block):
            shown = f"  {shown}" if in_row and is_inside else shown
            parts += [("\n" if is_item and above else "\n\n") if parts else "", shown]
            above = is_item
    return "".join(parts)


_CODE = frozenset({"name", "path", "hunk", "function", "quoted", "+", "-"})


_NUMBER = re.compile(r"((?<![\w.])#\d[\d+-]*)")


def _cell(cell: Cell) -> str:
    """Return a text that means only itself; a host makes links of numbers that are no code."""
    code, plain = (code_span(cell.text), cell.behind) if cell.style in _CODE else ("", cell.text)
    parts = _NUMBER.split(plain)
    words = (code_span(part) if n % 2 else inert(part) for n, part in enumerate(parts))
    return f"{code}{''.join(words)}"


def _markdown(block: PageBlock) -> str:
    cells = [_cell(cell) for cell in block.cells if cell.text]
    line = "".join(f"{gap}{_cell(cell)}" for gap, cell in spaced(block.cells))
    item = f"{'  ' * (block.depth - 1)}- " if block.depth else ""
    item = (
        f"- **{block.mark}** " if block.mark and block.kind == "row" and not block.depth else item
    )
    match block.kind:
        case "title":
            return "\n\n".join((f"# {cells[0]}", *cells[1:]))
        case "head":
            mark = f"{block.mark}. " if block.mark else ""
            return f"{'#' * (block.depth + 2)} {mark}{line}"
        case "names":
            start, *names = cells if block.cells[0].text else ["", *cells]
            return f"{item}{f'{start}: ' if start else ''}{', '.join(names)}"
        case "note" | "rejected":
            return f"- {line}"
        case "scores":
            return f"- Scores: {code_span(block.cells[0].text)}"
        case "table":
            first, *rows = [[_cell(cell) for cell in row] for row in block.rows]
            rules = ["---:" if cell.style == "number" else "---" for cell in block.rows[-1]]
            return "\n".join(f"| {' | '.join(row)} |" for row in (first, rules, *rows))
        case "matrix":
            numbers = range(1, len(cells) + 1)
            ruler = "|---:|---|" + "---:|" * len(cells)
            lines = (
                f"| {n} | {name} | {' | '.join(map(digits, values))} |"
                for n, name, values in zip(numbers, cells, block.values, strict=True)
            )
            return "\n".join((f"| | | {' | '.join(map(str, numbers))} |", ruler, *lines))
        case "code":
            indent = "  " * block.depth
            shown = fenced(list(map(_diff_line, block.lines)), "diff")
            return "\n".join(f"{indent}{line}" for line in shown.split("\n")) if indent else shown
    return f"{item}{line}"


def _diff_line(line: ShownLine) -> str:
    if line.sign == "=":
        return f"@@ {line.text} @@"
    gap = " " * (line.sign in ("<", ">", "…"))
    return f"{line.sign}{gap}{source_text(line.text)}"
