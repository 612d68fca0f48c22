"""Candidates for people: a table for each task, and a line for every other fact.

In a pipe or file, a candidate is one line of any length. On a terminal, a table that is too wide
first has its names cut in the middle, and then uses several short lines for each candidate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from excise_server.candidates.worktrees import Worktrees
from excise_server.foundation.escape import printable, visible
from excise_server.foundation.inputs import first_few
from excise_server.report.candidate_rows import (
    CandidateRow,
    Lines,
    candidate_rows,
)
from excise_server.report.fitting import INDENT, cut, filled, sentence
from excise_server.report.group_words import group_lines
from excise_server.report.records import UNWRAPPED, Records
from excise_server.report.tables import plural, signature_text
from excise_server.report.worktree_facts import worktree_facts
from excise_server.review.kinds import KINDS

__all__ = ["UNWRAPPED", "about_worktrees", "candidate_tables"]

_LENGTHS = (40, 28, 20)
"""Columns to which names are cut, one after the other, until the table fits."""

_STACKED = 28
"""Most columns of a name if a candidate takes several lines."""


def candidate_tables(worktrees: Worktrees, out: Console) -> Iterator[RenderableType]:
    """Yield a table for every batch of several candidates, and one for those that are alone."""
    for heading, about, numbers in _parts(worktrees):
        yield from sentence(Text(heading, "bold"), about, out)
        for number in numbers:
            yield from _groups(worktrees, number, out)

        def rows(length: int, numbers: Sequence[int] = numbers) -> list[CandidateRow]:
            every = candidate_rows(worktrees, lambda label: cut(printable(label), length))
            return [row for n in numbers for row in every[n][1]]

        if not out.is_terminal:
            yield Records(partial(_whole, _table(rows(UNWRAPPED), worktrees, UNWRAPPED, out)))
            yield ""
            continue
        for length in (UNWRAPPED, *_LENGTHS):
            table = _table(rows(length), worktrees, length, out)
            if _width(table, out) <= out.width:
                yield table
                break
        else:
            yield from _stacked(rows(_STACKED), out.width)
        yield ""


def _whole(table: Table, _: int) -> Table:
    return table


def _groups(worktrees: Worktrees, index: int, out: Console) -> Iterator[Text]:
    """Yield what sets each group of a batch apart."""
    batch = worktrees.batches[index]
    if not batch.is_ranked:
        return
    first = 1 + sum(len(before.clusters) for before in worktrees.batches[:index])
    for number, size, text in group_lines(worktrees, index, batch, first):
        start = f"  group {number}, {size:,} of {len(batch.ranking):,}: "
        yield from sentence(Text(start), printable(text), out)


def _width(table: Table, out: Console) -> int:
    return Measurement.get(out, out.options.update(width=UNWRAPPED), table).maximum


def _parts(worktrees: Worktrees) -> Iterator[tuple[str, str, list[int]]]:
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


def _table(rows: Sequence[CandidateRow], worktrees: Worktrees, length: int, out: Console) -> Table:
    """Return the table in which a candidate is one line."""
    kinds = [k for k in KINDS if k == "code" or any(row.lines[k].files for row in rows)]
    ranked = any(row.is_ranked for row in rows)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    heads = ["batch"] * (not out.is_terminal and len(worktrees.batches) > 1)
    heads += ["group", ""] if ranked else []
    heads += ["candidate"]
    heads += ["branch"] if any(map(_branch, rows)) else []
    heads += ["base"] if any(row.behind for row in rows) else []
    heads += ["checks"] if any(row.checks for row in rows) else []
    heads += [*kinds, "what it is"]
    numbers = ["rank", "tokens"] if ranked else ["tokens"]
    for head in heads:
        table.add_column(head, no_wrap=True, overflow="ignore")
    for head in numbers:
        table.add_column(head, no_wrap=True, justify="right", style="dim")
    for row in rows:
        cells: dict[str, RenderableType] = {
            "batch": str(row.batch),
            "group": str(row.group),
            "": _mark(row),
            "candidate": _label(row, length),
            "branch": cut(_branch(row), length),
            "base": row.behind,
            "checks": _checks(row),
            **{kind: _lines(row.lines[kind]) for kind in kinds},
            "what it is": Text(printable(row.says)),
            **_numbers(row),
        }
        table.add_row(*(cells[head] for head in (*heads, *numbers)))
    return table


def _stacked(rows: Sequence[CandidateRow], width: int) -> Iterator[Text]:
    """Yield several lines for each candidate, which break only between parts."""
    longest = max(cell_len(_label(row, _STACKED).plain) for row in rows)
    for row in rows:
        label = _label(row, _STACKED)
        says = printable(row.says)
        number = f"{row.group:>2} " if row.is_ranked else "   "
        top = Text.assemble(number, _mark(row) if row.stands else " ", " ", label)
        if top.cell_len - label.cell_len + longest + 2 + cell_len(says) <= width:
            yield Text.assemble(top, " " * (longest - label.cell_len + 2), says)
        else:
            yield top
            words = [Text(cut(word, width - INDENT)) for word in says.split(" ")]
            yield from filled(words, width, Text(" " * INDENT), " ")
        branch = [cut(_branch(row), width - 8)] if _branch(row) != label.plain else []
        lines = [
            Text.assemble(f"{kind} ", _lines(row.lines[kind]))
            for kind in KINDS
            if row.lines[kind].files
        ]
        facts = [Text(fact) for fact in (*branch, row.behind) if fact]
        facts = [_checks(row), *facts] if row.checks else facts
        numbers = [Text(f"{key} {value}", "dim") for key, value in _numbers(row).items()]
        parts = facts + lines + numbers
        yield from filled(parts, width, Text(" " * INDENT), ", ")


def _checks(row: CandidateRow) -> Text:
    return Text(printable(row.checks or "-"), ("green", "yellow", "red")[row.level])


def _mark(row: CandidateRow) -> Text:
    return Text("●" if row.stands else "", "green")


def _label(row: CandidateRow, length: int) -> Text:
    text = cut(printable(visible(row.candidate.label)), length)
    return Text(text, "bold" if row.is_ranked and row.ranked.rank == 1 else "")


def _branch(row: CandidateRow) -> str:
    return printable(visible(row.candidate.place))


def _lines(lines: Lines) -> Text:
    if lines.added or lines.deleted:
        return Text.assemble((f"+{lines.added:,}", "green"), " ", (f"-{lines.deleted:,}", "red"))
    return Text(plural(lines.files, "file") if lines.files else "")


def _numbers(row: CandidateRow) -> dict[str, str]:
    tokens = {"tokens": f"{row.ranked.edit_size:,}"}
    if not row.is_ranked:
        return tokens
    return {"rank": str(row.ranked.rank), **tokens}


def about_worktrees(worktrees: Worktrees, out: Console) -> Iterator[RenderableType]:
    """Yield all other facts, a line each, the order and the signature last."""
    for head, parts in worktree_facts(worktrees):
        start = Text(f"{head}: ", "dim")
        if len(parts) == 1 or not out.is_terminal:
            yield from sentence(start, ", ".join(parts), out)
        else:
            names = [Text(cut(part, out.width - INDENT)) for part in parts]
            yield from filled(names, out.width, start, ", ")
    yield signature_text(worktrees.signature)
