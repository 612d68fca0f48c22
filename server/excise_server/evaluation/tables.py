"""The table of an evaluation for people."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from excise.evaluation.correlation import Correlation
from excise.evaluation.statistics import Interval
from excise_server.evaluation.documents import order, signature
from excise_server.evaluation.run import Evaluation
from excise_server.foundation.escape import printable

__all__ = ["evaluation_table", "interval_text", "number_text"]

_LIMIT = 0.05
"""p-value below which a difference is printed bold."""


def evaluation_table(evaluation: Evaluation, width: int) -> Iterable[RenderableType]:
    """Yield the results of an evaluation: the table, then remarks.

    Columns that do not fit the width are left out, the least important first, and named.
    """
    yield Text(_headline(evaluation), "bold")
    if any(correlation.pearson is not None for correlation in evaluation.plain.every):
        yield from _correlations(evaluation, width)
    else:
        yield _means(evaluation)
    yield from _undefined(evaluation)
    yield Text(printable(signature(evaluation.settings)), "dim", overflow="fold")


def _headline(evaluation: Evaluation) -> str:
    share = evaluation.n_changed / evaluation.n if evaluation.n else 0.0
    return (
        f"{evaluation.n:,} outputs ({evaluation.distinct:,} distinct) of {evaluation.tasks:,} tasks"
        f"; {evaluation.labelled:,} with a label; {share:.0%} differ from their origin (B ≠ O)"
    )


@dataclass(frozen=True, slots=True)
class _Column:
    """A column: its head, its rank (a larger one is left out sooner), a cell for each measure."""

    head: str
    rank: int
    cells: list[Text]

    @property
    def width(self) -> int:
        return max(map(cell_len, (self.head, *(cell.plain for cell in self.cells)))) + 2


def _correlations(evaluation: Evaluation, width: int) -> Iterable[RenderableType]:
    shown = order(evaluation.plain)
    names = _Column(
        "measure", 0, [Text(evaluation.settings.measures[index].name) for index in shown]
    )
    columns = [names, *_columns(evaluation, shown)]
    left_out = []
    while sum(column.width for column in columns) > width and len(columns) > 2:
        last = max(columns, key=lambda column: column.rank)
        columns.remove(last)
        left_out.append(last.head)
    table = RichTable(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for column in columns:
        table.add_column(column.head, justify="right" if column.rank else "left", no_wrap=True)
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*cells)
    yield table
    if left_out:
        yield Text(f"not shown at this width: {', '.join(left_out)} (--json, --csv)", "dim")


def _columns(evaluation: Evaluation, shown: list[int]) -> list[_Column]:
    plain, prefixed = evaluation.plain, evaluation.prefixed
    every = [plain.every[index] for index in shown]
    changed = [plain.changed[index] for index in shown]
    distinct = [plain.distinct[index] for index in shown]
    distinct_changed = [plain.distinct_changed[index] for index in shown]
    columns = [
        _Column("r", 1, [number_text(correlation.pearson, "bold") for correlation in every]),
        _Column("95 %", 2, [interval_text(correlation.ci) for correlation in every]),
        _Column("95 % by task", 5, [interval_text(correlation.ci_task) for correlation in every]),
        _Column("rho", 6, [number_text(correlation.spearman) for correlation in every]),
        _Column("r, B ≠ O", 3, [number_text(correlation.pearson) for correlation in changed]),
        _Column("r, distinct", 11, [number_text(correlation.pearson) for correlation in distinct]),
        _Column(
            "r, distinct B ≠ O",
            12,
            [number_text(correlation.pearson) for correlation in distinct_changed],
        ),
    ]
    if prefixed is not None and (moved := evaluation.moved) is not None:
        cells = [number_text(prefixed.every[index].pearson) for index in shown]
        columns.append(_Column("r, prefix", 4, cells))
        columns.append(_Column("moved", 7, [Text(f"{moved[index]:,}") for index in shown]))
    if evaluation.settings.against:
        tests = [correlation.difference for correlation in every]
        head = f"minus {evaluation.settings.against}"
        columns.append(_Column(head, 8, [number_text(d.value if d else None) for d in tests]))
        columns.append(_Column("p", 9, [_p(d.p if d else None) for d in tests]))
        columns.append(_Column("p by task", 10, [_p(d.p_task if d else None) for d in tests]))
    return columns


def _p(value: float | None) -> Text:
    if value is None:
        return Text("–", "dim")
    return Text(f"{value:.3f}".replace("0.", ".", 1), "bold" if value < _LIMIT else "dim")


def _means(evaluation: Evaluation) -> RichTable:
    table = RichTable(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("measure", no_wrap=True)
    table.add_column("mean", justify="right")
    for measure, correlation in zip(
        evaluation.settings.measures, evaluation.plain.every, strict=True
    ):
        table.add_row(measure.name, "–" if correlation.mean is None else f"{correlation.mean:.4f}")
    return table


def _undefined(evaluation: Evaluation) -> Iterable[Text]:
    """Yield each reason for missing correlations once, with its measures."""
    for subset, columns in (("", evaluation.plain.every), ("B ≠ O: ", evaluation.plain.changed)):
        about: dict[str, list[str]] = {}
        for measure, correlation in zip(evaluation.settings.measures, columns, strict=True):
            if correlation.undefined is not None:
                about.setdefault(_reason(correlation), []).append(measure.name)
        for reason, names in about.items():
            who = "all measures" if len(names) == len(columns) else ", ".join(names)
            yield Text(f"no correlation: {subset}{who}: {reason}", "yellow")


def _reason(correlation: Correlation) -> str:
    return correlation.undefined or ""


def number_text(value: float | None, style: str = "") -> Text:
    """Return a correlation in three digits, without the 0 before the point (–: undefined)."""
    if value is None:
        return Text("–", "dim")
    return Text(f"{value:.3f}".replace("0.", ".", 1), style)


def interval_text(bounds: Interval | None) -> Text:
    """Return an interval of correlations."""
    if bounds is None:
        return Text("–", "dim")
    low, high = (number_text(bound).plain for bound in bounds)
    return Text(f"[{low}, {high}]", "dim")
