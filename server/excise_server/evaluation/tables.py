"""What protocols print: tables for people, documents, CSV and LaTeX for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from excise.evaluation.statistics import Correlation, Interval
from excise_server.evaluation.run import Evaluation, Settings, Table
from excise_server.foundation.escape import printable
from excise_server.records.lines import BadLine

__all__ = [
    "SCHEMA",
    "SHOWN",
    "Document",
    "Report",
    "csv_text",
    "document",
    "evaluation_table",
    "latex_text",
    "left_out",
    "number_text",
    "order",
    "plain_table",
]

SCHEMA = 1
"""Version of the shape of the documents of evaluations."""

SHOWN = 5
"""The most bad lines and failures that are named on standard error."""

_SURE = 0.05
"""p-value below which a difference is printed bold."""

Document = dict[str, Any]


class Report(NamedTuple):
    """What a protocol found: for programs, for people, for standard error, and files to write."""

    document: Document
    parts: Iterable[RenderableType]
    remarks: Sequence[str]
    failed: bool
    files: Mapping[str, str] = {}


def left_out(bad: Sequence[BadLine]) -> list[str]:
    """Return what is said of the first bad lines."""
    return [f"left out: line {line.number}: {line.reason}" for line in bad[:SHOWN]]


def plain_table(*heads: str, no_wrap: bool = False) -> RichTable:
    """Return a table without lines, whose first column is aligned left and the others right."""
    table = RichTable(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for index, head in enumerate(heads):
        table.add_column(head, justify="right" if index else "left", no_wrap=no_wrap)
    return table


def _short(value: float | None) -> str:
    """Return a number in three digits, without the 0 before the point."""
    return "–" if value is None else f"{value:.3f}".replace("0.", ".", 1)


def _between(bounds: Interval | None) -> str:
    return "–" if bounds is None else f"[{_short(bounds[0])}, {_short(bounds[1])}]"


def number_text(value: float | None, style: str = "") -> Text:
    """Return a correlation (–: undefined)."""
    return Text(_short(value), "dim" if value is None else style)


# --- for people ----------------------------------------------------------------------------------


def evaluation_table(evaluation: Evaluation, width: int) -> Iterable[RenderableType]:
    """Yield the results of an evaluation: the table, then remarks.

    Columns that do not fit the width are left out, the least important first, and named.
    """
    share = evaluation.n_changed / evaluation.n if evaluation.n else 0.0
    yield Text(
        f"{evaluation.n:,} outputs ({evaluation.distinct:,} distinct) of {evaluation.tasks:,} tasks"
        f"; {evaluation.labelled:,} with a label; {share:.0%} differ from their origin (B ≠ O)",
        "bold",
    )
    every = evaluation.plain.every
    names = [measure.name for measure in evaluation.settings.measures]
    if any(correlation.pearson is not None for correlation in every):
        yield from _correlations(evaluation, width)
    else:
        table = plain_table("measure", "mean")
        for name, correlation in zip(names, every, strict=True):
            table.add_row(name, "–" if correlation.mean is None else f"{correlation.mean:.4f}")
        yield table
    # Each reason for missing correlations once, with its measures.
    for subset, columns in (("", every), ("B ≠ O: ", evaluation.plain.changed)):
        about: dict[str, list[str]] = {}
        for name, correlation in zip(names, columns, strict=True):
            if correlation.undefined is not None:
                about.setdefault(correlation.undefined, []).append(name)
        for reason, without in about.items():
            who = "all measures" if len(without) == len(columns) else ", ".join(without)
            yield Text(f"no correlation: {subset}{who}: {reason}", "yellow")
    yield Text(printable(signature(evaluation.settings)), "dim", overflow="fold")


class _Column(NamedTuple):
    """A column: its head, its rank (a larger one is left out sooner), a cell for each measure."""

    head: str
    rank: int
    cells: list[Text]

    @property
    def width(self) -> int:
        return max(map(cell_len, (self.head, *(cell.plain for cell in self.cells)))) + 2


def _correlations(evaluation: Evaluation, width: int) -> Iterable[RenderableType]:
    shown = order(evaluation.plain)
    names = [Text(evaluation.settings.measures[index].name) for index in shown]
    columns = [_Column("measure", 0, names), *_columns(evaluation, shown)]
    left_out = []
    while sum(column.width for column in columns) > width and len(columns) > 2:
        last = max(columns, key=lambda column: column.rank)
        columns.remove(last)
        left_out.append(last.head)
    table = plain_table(*(column.head for column in columns), no_wrap=True)
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*cells)
    yield table
    if left_out:
        yield Text(f"not shown at this width: {', '.join(left_out)} (--json, --csv)", "dim")


def _columns(evaluation: Evaluation, shown: list[int]) -> list[_Column]:
    def pearson(found: Sequence[Correlation], style: str = "") -> list[Text]:
        return [number_text(found[index].pearson, style) for index in shown]

    plain, prefixed = evaluation.plain, evaluation.prefixed
    every = [plain.every[index] for index in shown]
    columns = [
        _Column("r", 1, pearson(plain.every, "bold")),
        _Column("95 %", 2, [Text(_between(one.ci), "dim") for one in every]),
        _Column("95 % by task", 5, [Text(_between(one.ci_task), "dim") for one in every]),
        _Column("rho", 6, [number_text(one.spearman) for one in every]),
        _Column("r, B ≠ O", 3, pearson(plain.changed)),
        _Column("r, distinct", 11, pearson(plain.distinct)),
        _Column("r, distinct B ≠ O", 12, pearson(plain.distinct_changed)),
    ]
    if prefixed is not None and (moved := evaluation.moved) is not None:
        columns.append(_Column("r, prefix", 4, pearson(prefixed.every)))
        columns.append(_Column("moved", 7, [Text(f"{moved[index]:,}") for index in shown]))
    if evaluation.settings.against:
        tests = [one.difference for one in every]
        head = f"minus {evaluation.settings.against}"
        columns.append(_Column(head, 8, [number_text(d.value if d else None) for d in tests]))
        columns.append(_Column("p", 9, [_p(d.p if d else None) for d in tests]))
        columns.append(_Column("p by task", 10, [_p(d.p_task if d else None) for d in tests]))
    return columns


def _p(value: float | None) -> Text:
    return number_text(value, "bold" if value is not None and value < _SURE else "dim")


def order(table: Table) -> list[int]:
    """Return the measures, the strongest correlation first, undefined ones last."""
    strengths = [2.0 if one.pearson is None else -abs(one.pearson) for one in table.every]
    return sorted(range(len(strengths)), key=strengths.__getitem__)


# --- for programs --------------------------------------------------------------------------------


def signature(settings: Settings) -> str:
    """Return the choices of the evaluation itself. Each measure has its own signature."""
    prefix = "2000-3000" if settings.shared_prefix else "no"
    return (
        f"eval|comments:{settings.comments}|bootstrap:{settings.resamples}"
        f"|cluster:{settings.cluster_by}|prefix:{prefix}|seed:{settings.seed}|v:1"
    )


def document(
    evaluation: Evaluation, skipped: Mapping[str, str], rejected: Iterable[BadLine] = ()
) -> Document:
    """Return the document of ``excise eval --json`` (docs/evaluation.md)."""
    plain, prefixed, moved = evaluation.plain, evaluation.prefixed, evaluation.moved
    measures: Document = {}
    for index, measure in enumerate(evaluation.settings.measures):
        entry = {**_numbers(plain, index), "signature": plain.signatures[index]}
        if prefixed is not None and moved is not None:
            entry["prefix"] = {**_numbers(prefixed, index), "moved": moved[index]}
        measures[measure.name] = entry
    return {
        "schema": SCHEMA,
        "signature": signature(evaluation.settings),
        "n": evaluation.n,
        "tasks": evaluation.tasks,
        "distinct": evaluation.distinct,
        "labelled": evaluation.labelled,
        "n_changed": evaluation.n_changed,
        "against": evaluation.settings.against,
        "measures": measures,
        "skipped": dict(skipped),
        "failed": [failure._asdict() for failure in evaluation.failures],
        "rejected": [
            {"line": line.number, "id": line.id, "reason": line.reason} for line in rejected
        ],
    }


def _numbers(table: Table, index: int) -> Document:
    changed = table.changed[index]
    return {
        **_correlation(table.every[index]),
        "pearson_changed": changed.pearson,
        "pearson_distinct": table.distinct[index].pearson,
        "pearson_distinct_changed": table.distinct_changed[index].pearson,
        "changed": _correlation(changed),
    }


def _correlation(correlation: Correlation) -> Document:
    entry = asdict(correlation)
    optional = {key: entry.pop(key) for key in ("undefined", "difference")}
    return entry | {key: value for key, value in optional.items() if value is not None}


_HEAD = (
    "measure,n,mean,pearson,ci_low,ci_high,ci_task_low,ci_task_high,spearman,n_changed,"
    "pearson_changed,pearson_distinct,pearson_distinct_changed,prefix_pearson,prefix_moved,"
    "difference,p,p_task,undefined,signature\n"
)


def csv_text(evaluation: Evaluation) -> str:
    """Return a line per measure, in which an undefined number is an empty field."""
    out = io.StringIO(_HEAD)
    out.seek(0, io.SEEK_END)
    writer = csv.writer(out, lineterminator="\n")
    plain, prefixed = evaluation.plain, evaluation.prefixed
    for index, measure in enumerate(evaluation.settings.measures):
        one, changed, d = plain.every[index], plain.changed[index], plain.every[index].difference
        row = [
            *(measure.name, one.n, one.mean, one.pearson),
            *(one.ci or (None, None)),
            *(one.ci_task or (None, None)),
            *(one.spearman, changed.n, changed.pearson),
            *(plain.distinct[index].pearson, plain.distinct_changed[index].pearson),
            prefixed.every[index].pearson if prefixed else None,
            evaluation.moved[index] if evaluation.moved else None,
            *((d.value, d.p, d.p_task) if d else (None, None, None)),
            *(one.undefined, plain.signatures[index]),
        ]
        writer.writerow(["" if value is None else value for value in row])
    return out.getvalue()


def latex_text(evaluation: Evaluation) -> str:
    """Return a table for LaTeX with the package ``booktabs``, the best measure first."""
    plain, prefixed = evaluation.plain, evaluation.prefixed
    head = ["Measure", "$r$", r"95\,\% CI", r"95\,\% CI (tasks)", r"$\rho$", r"$r$, $B \neq O$"]
    head += ["$r$, prefix"] if prefixed else []
    rows = []
    for index in order(plain):
        one = plain.every[index]
        numbers = [_short(one.pearson), _between(one.ci), _between(one.ci_task)]
        numbers += [_short(one.spearman), _short(plain.changed[index].pearson)]
        numbers += [_short(prefixed.every[index].pearson)] if prefixed else []
        cells = [text.replace("-", "$-$").replace("–", "--") for text in numbers]
        rows.append(" & ".join((evaluation.settings.measures[index].name, *cells)) + r" \\")
    return "\n".join(
        (
            f"% {signature(evaluation.settings)}",
            f"% n = {evaluation.n}, tasks = {evaluation.tasks}",
            rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
            r"\toprule",
            " & ".join(head) + r" \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
        )
    )
