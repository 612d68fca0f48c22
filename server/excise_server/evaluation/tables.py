"""What protocols print: tables for people, documents, CSV and LaTeX for programs."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from excise.evaluation.statistics import Interval
from excise_server.evaluation.run import Document
from excise_server.foundation.escape import printable
from excise_server.records.lines import BadLine

SHOWN = 5
"""The most bad lines and failures that are named on standard error."""

_SURE = 0.05
"""p-value below which a difference is printed bold."""


class Report(NamedTuple):
    """What a protocol found: for programs, for people, for standard error, and files to write.

    ``text`` is printed in place of the document and the parts.
    """

    document: Document
    parts: Iterable[RenderableType]
    remarks: Sequence[str]
    failed: bool
    files: Mapping[str, str] = {}
    text: str | None = None


def first_remarks(heading: str, texts: Sequence[str], rest: str) -> list[str]:
    """Return a remark on each of the first texts, and one that counts the others."""
    remarks = [f"{heading}: {text}" for text in texts[:SHOWN]]
    if len(texts) > SHOWN:
        remarks.append(f"{heading}: {len(texts) - SHOWN:,} more; --format json {rest}")
    return remarks


def left_out(bad: Sequence[BadLine]) -> list[str]:
    """Return what is said of the first bad lines."""
    return [f"left out: line {line.number}: {line.reason}" for line in bad[:SHOWN]]


def plain_table(*heads: str, no_wrap: bool = False) -> RichTable:
    """Return a table without lines, whose first column is aligned left and the others right."""
    table = RichTable(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for index, head in enumerate(heads):
        table.add_column(head, justify="right" if index else "left", no_wrap=no_wrap)
    return table


def short(value: float | None, digits: int = 3) -> str:
    """Return a number in some digits, without a lone 0 before the point (–: undefined).

    >>> short(60.927), short(0.5), short(-0.25), short(-0.0001), short(1e21), short(math.inf)
    ('60.927', '.500', '-.250', '.000', '1.000e+21', 'inf')
    """
    if value is None:
        return "–"
    shown = f"{value:.{digits}{'e' if 1e15 <= abs(value) < math.inf else 'f'}}"
    if not shown.strip("-0."):
        shown = shown.removeprefix("-")
    return re.sub(r"^(-?)0\.", r"\1.", shown)


def between(bounds: Interval | None) -> str:
    """Return an interval (–: none)."""
    return "–" if bounds is None else f"[{short(bounds[0])}, {short(bounds[1])}]"


def number_text(value: float | None, style: str = "") -> Text:
    """Return a correlation (–: undefined)."""
    return Text(short(value), "dim" if value is None else style)


# --- for people ----------------------------------------------------------------------------------


def evaluation_table(document: Document, width: int) -> Iterable[RenderableType]:
    """Yield the results of an evaluation: the table, then remarks.

    Columns that do not fit the width are left out, the least important first, and named.
    """
    n, measures = document["n"], document["measures"]
    share = document["n_changed"] / n if n else 0.0
    yield Text(
        f"{n:,} outputs ({document['distinct']:,} distinct) of {document['tasks']:,} tasks"
        f"; {document['labelled']:,} with a label; {share:.0%} differ from their origin (B ≠ O)",
        "bold",
    )
    if any(entry["pearson"] is not None for entry in measures.values()):
        names = order(measures)
        columns = [_Column("measure", 0, [Text(name) for name in names])]
        columns += _columns([measures[name] for name in names], document["against"])
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
            heads = ", ".join(left_out)
            yield Text(f"not shown at this width: {heads} (--format json, csv)", "dim")
    else:
        shown = {"mean_ci": "95 %", "mean_ci_task": "95 % by task"}
        shown = {k: h for k, h in shown.items() if any(k in entry for entry in measures.values())}
        table = plain_table("measure", "mean", *shown.values())
        for name, entry in measures.items():
            bounds = (between(entry.get(key)) for key in shown)
            table.add_row(name, "–" if entry["mean"] is None else f"{entry['mean']:.4f}", *bounds)
        yield table
    # Each reason for missing correlations once, with its measures.
    for subset, outputs in (("", lambda entry: entry), ("B ≠ O: ", itemgetter("changed"))):
        about: dict[str, list[str]] = {}
        for name, entry in measures.items():
            if (reason := outputs(entry).get("undefined")) is not None:
                about.setdefault(reason, []).append(name)
        for reason, names in about.items():
            who = "all measures" if len(names) == len(measures) else ", ".join(names)
            yield Text(f"no correlation: {subset}{who}: {reason}", "yellow")
    yield Text(printable(document["signature"]), "dim", overflow="fold")


class _Column(NamedTuple):
    """A column: its head, its rank (a larger one is left out sooner), a cell for each measure."""

    head: str
    rank: int
    cells: list[Text]

    @property
    def width(self) -> int:
        return max(map(cell_len, (self.head, *(cell.plain for cell in self.cells)))) + 2


def _columns(entries: Sequence[Document], against: str | None) -> list[_Column]:
    def numbers(key: str, style: str = "") -> list[Text]:
        return [number_text(entry[key], style) for entry in entries]

    columns = [
        _Column("r", 1, numbers("pearson", "bold")),
        _Column("95 %", 2, [Text(between(entry["ci"]), "dim") for entry in entries]),
        _Column("95 % by task", 5, [Text(between(entry["ci_task"]), "dim") for entry in entries]),
        _Column("rho", 6, numbers("spearman")),
        _Column("r, B ≠ O", 3, numbers("pearson_changed")),
        _Column("r, distinct", 11, numbers("pearson_distinct")),
        _Column("r, distinct B ≠ O", 12, numbers("pearson_distinct_changed")),
    ]
    if all("prefix" in entry for entry in entries):
        prefixed = [entry["prefix"] for entry in entries]
        cells = [number_text(entry["pearson"]) for entry in prefixed]
        columns.append(_Column("r, prefix", 4, cells))
        columns.append(_Column("moved", 7, [Text(f"{entry['moved']:,}") for entry in prefixed]))
    if against:
        tests = [entry.get("difference", {}) for entry in entries]
        cells = [number_text(test.get("value")) for test in tests]
        columns.append(_Column(f"minus {against}", 8, cells))
        columns.append(_Column("p", 9, [_p(test.get("p")) for test in tests]))
        columns.append(_Column("p by task", 10, [_p(test.get("p_task")) for test in tests]))
    return columns


def _p(value: float | None) -> Text:
    return number_text(value, "bold" if value is not None and value < _SURE else "dim")


def order(measures: Document) -> list[str]:
    """Return the names of measures, the strongest correlation first, undefined ones last."""
    r = {name: entry["pearson"] for name, entry in measures.items()}
    return sorted(r, key=lambda name: 2.0 if r[name] is None else -abs(r[name]))


# --- for programs --------------------------------------------------------------------------------

_HEAD = (
    "measure,n,mean,pearson,ci_low,ci_high,ci_task_low,ci_task_high,spearman,n_changed,"
    "pearson_changed,pearson_distinct,pearson_distinct_changed,prefix_pearson,prefix_moved,"
    "difference,p,p_task,undefined,signature\n"
)


def csv_text(document: Document) -> str:
    """Return a line per measure, in which an undefined number is an empty field."""
    out = io.StringIO(_HEAD)
    out.seek(0, io.SEEK_END)
    writer = csv.writer(out, lineterminator="\n")
    for name, entry in document["measures"].items():
        row = [
            *(name, entry["n"], entry["mean"], entry["pearson"]),
            *(entry["ci"] or (None, None)),
            *(entry["ci_task"] or (None, None)),
            *(entry["spearman"], entry["changed"]["n"], entry["pearson_changed"]),
            *(entry["pearson_distinct"], entry["pearson_distinct_changed"]),
            *(entry.get("prefix", {}).get(key) for key in ("pearson", "moved")),
            *(entry.get("difference", {}).get(key) for key in ("value", "p", "p_task")),
            *(entry.get("undefined"), entry["signature"]),
        ]
        writer.writerow(["" if value is None else value for value in row])
    return out.getvalue()


def latex_text(document: Document) -> str:
    """Return a table for LaTeX with the package ``booktabs``, the best measure first."""
    measures = document["measures"]
    head = ["Measure", "$r$", r"95\,\% CI", r"95\,\% CI (tasks)", r"$\rho$", r"$r$, $B \neq O$"]
    head += ["$r$, prefix"] if any("prefix" in entry for entry in measures.values()) else []
    rows = []
    for name in order(measures):
        entry = measures[name]
        numbers = [short(entry["pearson"]), between(entry["ci"]), between(entry["ci_task"])]
        numbers += [short(entry["spearman"]), short(entry["pearson_changed"])]
        numbers += [short(entry["prefix"]["pearson"])] if "prefix" in entry else []
        cells = [text.replace("-", "$-$").replace("–", "--") for text in numbers]
        rows.append(" & ".join((name, *cells)) + r" \\")
    return "\n".join(
        (
            f"% {document['signature']}",
            f"% n = {document['n']}, tasks = {document['tasks']}",
            rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
            r"\toprule",
            " & ".join(head) + r" \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
        )
    )
