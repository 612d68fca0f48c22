"""Tables and lines for people. Every text passes `printable`, and nothing is read as markup.

On a terminal, lines break between parts and long parts lose their middle. In a pipe or file, a
record is one line, its cells are separated by tabs, and nothing is cut. A table of candidates that
is too wide first has its names cut, and then uses several short lines for each candidate.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from excise import Cluster, Ranked, Score, ScoreMatrix
from excise.excision import WHITESPACE_ONLY
from excise_server.foundation.escape import printable, visible
from excise_server.foundation.inputs import RevisionSet, first_few
from excise_server.report.families import FamilyBlock
from excise_server.report.words import DISAGREE, digits, disagree, level_words, order_words, plural
from excise_server.report.worktrees import CandidateRow, candidate_rows, families_of, worktree_facts
from excise_server.review.kinds import KINDS

if TYPE_CHECKING:
    from excise_server.candidates.worktrees import Review

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


def matrix_table(matrix: ScoreMatrix, width: int) -> Iterable[RenderableType]:
    """Yield the matrix in tables that fit the width, with the rows' numbers as column titles."""
    k = len(matrix.ids)
    digits = len(str(k))
    names = [printable(name) for name in matrix.ids]
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
                cells = [
                    Text("1", "dim") if i == j else number(float(matrix.values[i, j]))
                    for j in shown
                ]
                table.add_row(str(i + 1), cut(name, label), *cells)
            return table

        yield Records(build)


def rank_table(ranking: Sequence[Ranked], intent: str, revision_set: RevisionSet) -> RenderableType:
    """Return the order of suggestions, with what decided it."""
    read = revision_set.notes_by_id

    def build(length: int) -> Table:
        names = [cut(printable(ranked.id), length) for ranked in ranking]
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
        table.add_column("rank", justify="right")
        name_column(table, "revision", names)
        table.add_column("tokens", justify="right")
        table.add_column("why", overflow="fold")
        for name, ranked in zip(names, ranking, strict=True):
            notes = [note for note in ranked.notes if note != WHITESPACE_ONLY]
            why = [*ranked.why, *notes, *read.get(ranked.id, ())]
            table.add_row(
                str(ranked.rank),
                Text(name, "bold" if ranked.rank == 1 else ""),
                str(ranked.edit_size),
                printable("; ".join(why)),
            )
        return table

    if not ranking:
        return Records(build)
    below = [f"order  {order_words(intent)}"] + [DISAGREE] * disagree(ranking)
    return Group(Records(build), *(Text(line, "dim") for line in below))


def cluster_table(matrix: ScoreMatrix, clusters: Sequence[Cluster]) -> RenderableType:
    """Return the clusters, with ● for the representative, to which numbers and words refer."""

    def build(length: int) -> Table:
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
        table.add_column("cluster", justify="right")
        table.add_column("", width=1)
        name_column(table, "revision", [cut(printable(name), length) for name in matrix.ids])
        table.add_column("similarity", no_wrap=True)
        table.add_column("to ●")
        for place, cluster in enumerate(clusters, start=1):
            best = cluster.representative
            name = Text(cut(printable(matrix.ids[best]), length), "bold")
            table.add_row(str(place), Text("●", "green"), name, Text(), "")
            for index in (index for index in cluster.members if index != best):
                value = float(matrix.values[best, index])
                similarity = Text.assemble(number(value), " ", bar(value, 10))
                name = Text(cut(printable(matrix.ids[index]), length))
                table.add_row("", "", name, similarity, matrix.word(index, best))
        return table

    return Records(build, is_grouped=True)


def reasons_about(lines: Sequence[str]) -> list[Sentence]:
    """Return a line for each cluster that something sets apart."""
    return [
        Sentence(Text(f"cluster {number}: ", "dim"), printable(line))
        for number, line in enumerate(lines, start=1)
        if line
    ]


def notes_about(matrix: ScoreMatrix, revision_set: RevisionSet) -> list[Sentence]:
    """Return a line for each note, with the revisions that it is about."""
    about: dict[str, list[str]] = {}
    pairs = [
        (name, note)
        for name, matrix_notes in zip(matrix.ids, matrix.notes, strict=True)
        for note in matrix_notes
    ]
    for name, note in [*pairs, *revision_set.notes]:
        about.setdefault(note, []).append(name)
    lines = []
    for note, names in about.items():
        everyone = len(names) == len(matrix.ids)
        lines.append(f"{'all' if everyone else ', '.join(names)}: {note}")
    return notes_text("note", lines)


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


# --- candidates -----------------------------------------------------------------------------------

_NAME_LENGTHS = (40, 28, 20)
"""Columns to which names are cut, one after the other, until the table fits."""

_NUMBERS = ("rank", "tokens")
_STACKED = 28
"""Most columns of a name if a candidate takes several lines."""


def candidate_lines(worktrees: Review, out: Console) -> Iterator[RenderableType]:
    """Yield the tables of candidates, and below them all other facts."""
    yield from candidate_tables(worktrees, out)
    if not worktrees.batches:
        yield "No candidate changes anything: there is nothing to compare."
    yield from about_worktrees(worktrees, out)


def candidate_tables(worktrees: Review, out: Console) -> Iterator[RenderableType]:
    """Yield a table for every batch of several candidates, and one for those that are alone."""
    every, families = candidate_rows(worktrees), families_of(worktrees)
    for heading, about, numbers in _parts(worktrees):
        yield Sentence(Text(heading, "bold"), about)
        for number in numbers:
            if worktrees.batches[number].is_ranked:
                for family in families[number]:
                    yield from family_rows(family)
        rows = [row for n in numbers for row in every[n]]
        if not out.is_terminal:
            table = _candidate_table(rows, worktrees, UNWRAPPED, out)
            yield Records(lambda _, table=table: table)  # type: ignore[misc]
            yield ""
            continue
        for length in (UNWRAPPED, *_NAME_LENGTHS):
            table = _candidate_table(rows, worktrees, length, out)
            if (
                Measurement.get(out, out.options.update(width=UNWRAPPED), table).maximum
                <= out.width
            ):
                yield table
                break
        else:
            yield from _stacked_candidates(rows, out.width)
        yield ""


def family_rows(family: FamilyBlock) -> Iterator[RenderableType]:
    """Yield the lines of a family: what tells it apart, and each of its edits."""
    yield Sentence(Text("  "), printable(family.head))
    for line in family.lines:
        yield _changed_line(5, line)
    for edit in family.edits:
        names = ", ".join(map(printable, edit.names))
        facts = "; ".join(map(printable, edit.facts))
        yield Sentence(Text("     "), f"{names}{': ' * bool(facts)}{facts}")
        if edit.line:
            yield _changed_line(9, edit.line)


def _changed_line(indent: int, line: str) -> Text:
    style = "green" if line.startswith("+") else "red"
    return Text.assemble(" " * indent, (printable(line), style), no_wrap=True, overflow="ellipsis")


def _parts(worktrees: Review) -> Iterator[tuple[str, str, list[int]]]:
    """Yield the heading of each table, what follows it, and the batches in it."""
    everyone = len(worktrees.batches)
    for n, ranked in enumerate(worktrees.batches):
        if not ranked.is_ranked:
            continue
        batch = ranked.batch
        number = f"Task {n + 1} of {everyone}" if everyone > 1 else "One task"
        task = f" ({printable(batch.task)})" if batch.task else ""
        paths = [printable(visible(path)) for path in batch.shared]
        shared = f"; {first_few(paths)}" if paths else ""
        families = plural(len(worktrees.families[n]), "family")
        yield f"{number}{task}: ", f"{len(ranked.ranking):,} candidates in {families}{shared}", [n]
    if alone := [n for n, ranked in enumerate(worktrees.batches) if not ranked.is_ranked]:
        head = f"Task {alone[0] + 1} of {everyone}" if everyone > 1 else "One task"
        if len(alone) > 1:
            to = "and" if len(alone) == 2 else "to"
            head = f"Tasks {alone[0] + 1} {to} {alone[-1] + 1} of {everyone}"
        tasks = ", each with a task of its own" if len(alone) > 1 else ""
        about = f"{plural(len(alone), 'candidate')}{tasks}: listed, not ranked"
        yield f"{head}: ", about, alone


def _candidate_table(
    rows: Sequence[CandidateRow], worktrees: Review, length: int, out: Console
) -> Table:
    """Return the table in which a candidate is one line, without columns that say nothing."""
    ranked = any(row.entry.rank for row in rows)
    checked = any(row.checks for row in rows)
    batches = not out.is_terminal and len(worktrees.batches) > 1
    kinds = [k for k in KINDS if k == "code" or any(row.entry.lines[k].files for row in rows)]
    columns: list[tuple[bool, str, Callable[[CandidateRow], RenderableType]]] = [
        (batches, "task", lambda row: str(row.entry.batch)),
        (ranked, "group", lambda row: str(row.entry.cluster)),
        (ranked, "", _mark),
        (True, "candidate", lambda row: _label(row, length)),
        (any(map(_branch, rows)), "branch", lambda row: cut(_branch(row), length)),
        (any(row.behind for row in rows), "base", lambda row: row.behind),
        (checked, "checks", _checks),
        *((True, kind, partial(_lines, kind)) for kind in kinds),
        (True, "what it is", lambda row: Text(_says(row, length))),
        (ranked, "rank", lambda row: str(row.entry.rank)),
        (True, "tokens", lambda row: f"{row.entry.edit_size:,}"),
    ]
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for is_shown, head, _ in columns:
        if is_shown and head in _NUMBERS:
            table.add_column(head, no_wrap=True, justify="right", style="dim")
        elif is_shown:
            table.add_column(head, no_wrap=True, overflow="ignore")
    for row in rows:
        table.add_row(*(cell(row) for is_shown, _, cell in columns if is_shown))
    return table


def _stacked_candidates(rows: Sequence[CandidateRow], width: int) -> Iterator[Text]:
    """Yield several lines for each candidate, which break only between parts."""
    longest = max(cell_len(_label(row, _STACKED).plain) for row in rows)
    for row in rows:
        label, says, branch = _label(row, _STACKED), _says(row, _STACKED), _branch(row)
        number = f"{row.entry.cluster:>2} " if row.entry.rank else "   "
        top = Text.assemble(number, _mark(row) if row.stands else " ", " ", label)
        if top.cell_len - label.cell_len + longest + 2 + cell_len(says) <= width:
            yield Text.assemble(top, " " * (longest - label.cell_len + 2), says)
        else:
            yield top
            words = [Text(cut(word, width - INDENT)) for word in says.split(" ")]
            yield from filled(words, width, Text(" " * INDENT), " ")
        parts = [
            _checks(row) if row.checks else Text(),
            Text(cut(branch, width - 8) if branch != label.plain else ""),
            Text(row.behind),
            *(Text.assemble(f"{k} ", _lines(k, row)) for k in KINDS if row.entry.lines[k].files),
            Text(f"rank {row.entry.rank}" if row.entry.rank else "", "dim"),
            Text(f"tokens {row.entry.edit_size:,}", "dim"),
        ]
        yield from filled([part for part in parts if part], width, Text(" " * INDENT), ", ")


def _checks(row: CandidateRow) -> Text:
    return Text(printable(row.checks or "-"), ("green", "yellow", "red")[row.level])


def _mark(row: CandidateRow) -> Text:
    return Text("●" if row.stands else "", "green")


def _label(row: CandidateRow, length: int) -> Text:
    text = cut(printable(row.entry.label), length)
    return Text(text, "bold" if row.entry.rank == 1 else "")


def _branch(row: CandidateRow) -> str:
    return printable(visible(row.candidate.place))


def _says(row: CandidateRow, length: int) -> str:
    return printable(row.says(lambda label: cut(printable(label), length)))


def _lines(kind: str, row: CandidateRow) -> Text:
    lines = row.entry.lines[kind]
    if lines.added or lines.deleted:
        return Text.assemble((f"+{lines.added:,}", "green"), " ", (f"-{lines.deleted:,}", "red"))
    return Text(plural(lines.files, "file") if lines.files else "")


def about_worktrees(worktrees: Review, out: Console) -> Iterator[RenderableType]:
    """Yield all other facts, a line each, the order and the signature last."""
    for head, parts in worktree_facts(worktrees):
        start = Text(f"{head}: ", "dim")
        if len(parts) == 1 or not out.is_terminal:
            yield Sentence(start, ", ".join(parts))
        else:
            names = [Text(cut(part, out.width - INDENT)) for part in parts]
            yield from filled(names, out.width, start, ", ")
    yield SignatureText(worktrees.signature)
