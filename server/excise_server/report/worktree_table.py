"""Candidates for people: a table for each task, and a line for every other fact.

In a pipe or file, a candidate is one line of any length. On a terminal, a table that is too wide
first has its names cut in the middle, and then uses several short lines for each candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from excise_server.candidates.worktrees import Review
from excise_server.foundation.escape import printable, visible
from excise_server.foundation.inputs import first_few
from excise_server.report.tables import (
    INDENT,
    UNWRAPPED,
    Records,
    Sentence,
    cut,
    filled,
    signature_text,
)
from excise_server.report.words import plural
from excise_server.report.worktrees import CandidateRow, candidate_rows, group_lines, worktree_facts
from excise_server.review.kinds import KINDS

__all__ = ["about_worktrees", "candidate_tables"]

_LENGTHS = (40, 28, 20)
"""Columns to which names are cut, one after the other, until the table fits."""

_NUMBERS = ("rank", "tokens")
_STACKED = 28
"""Most columns of a name if a candidate takes several lines."""


def candidate_tables(worktrees: Review, out: Console) -> Iterator[RenderableType]:
    """Yield a table for every batch of several candidates, and one for those that are alone."""
    every, lines = candidate_rows(worktrees), list(group_lines(worktrees))
    for heading, about, numbers in _parts(worktrees):
        yield Sentence(Text(heading, "bold"), about)
        for index, number, size, text in lines:
            if index in numbers and worktrees.batches[index].is_ranked:
                start = f"  group {number}, {size:,} of {len(worktrees.batches[index].ranking):,}: "
                yield Sentence(Text(start), printable(text))
        rows = [row for n in numbers for row in every[n]]
        if not out.is_terminal:
            table = _table(rows, worktrees, UNWRAPPED, out)
            yield Records(lambda _, table=table: table)  # type: ignore[misc]
            yield ""
            continue
        for length in (UNWRAPPED, *_LENGTHS):
            table = _table(rows, worktrees, length, out)
            if (
                Measurement.get(out, out.options.update(width=UNWRAPPED), table).maximum
                <= out.width
            ):
                yield table
                break
        else:
            yield from _stacked(rows, out.width)
        yield ""


def _parts(worktrees: Review) -> Iterator[tuple[str, str, list[int]]]:
    """Yield the heading of each table, what follows it, and the batches in it."""
    everyone = len(worktrees.batches)
    for n, ranked in enumerate(worktrees.batches):
        if not ranked.is_ranked:
            continue
        batch = ranked.batch
        number = f"Batch {n + 1} of {everyone}" if everyone > 1 else "One batch"
        task = f" ({printable(batch.task)})" if batch.task else ""
        paths = [printable(visible(path)) for path in batch.shared]
        shared = f"; {first_few(paths)}" if paths else ""
        groups = plural(len(ranked.clusters), "group")
        yield f"{number}{task}: ", f"{len(ranked.ranking):,} candidates in {groups}{shared}", [n]
    if alone := [n for n, ranked in enumerate(worktrees.batches) if not ranked.is_ranked]:
        head = f"Batch {alone[0] + 1} of {everyone}" if everyone > 1 else "One batch"
        if len(alone) > 1:
            to = "and" if len(alone) == 2 else "to"
            head = f"Batches {alone[0] + 1} {to} {alone[-1] + 1} of {everyone}"
        tasks = ", each with a task of its own" if len(alone) > 1 else ""
        about = f"{plural(len(alone), 'candidate')}{tasks}: listed, not ranked"
        yield f"{head}: ", about, alone


def _table(rows: Sequence[CandidateRow], worktrees: Review, length: int, out: Console) -> Table:
    """Return the table in which a candidate is one line, without columns that say nothing."""
    ranked = any(row.entry.rank for row in rows)
    checked = any(row.checks for row in rows)
    batches = not out.is_terminal and len(worktrees.batches) > 1
    kinds = [k for k in KINDS if k == "code" or any(row.entry.lines[k].files for row in rows)]
    columns: list[tuple[bool, str, Callable[[CandidateRow], RenderableType]]] = [
        (batches, "batch", lambda row: str(row.entry.batch)),
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


def _stacked(rows: Sequence[CandidateRow], width: int) -> Iterator[Text]:
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
    yield signature_text(worktrees.signature)
