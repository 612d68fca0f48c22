"""The output of an evaluation for programs: a JSON document, CSV, a LaTeX table."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from excise.evaluation.correlation import Correlation
from excise.evaluation.statistics import Interval
from excise_server.evaluation.run import Evaluation, Settings, Table

__all__ = ["SCHEMA", "csv_text", "document", "latex_text", "signature"]

SCHEMA = 1
"""Version of the shape of the documents of evaluations."""

Document = dict[str, Any]

_POINTS = ("pearson", "ci", "ci_task", "spearman", "spearman_ci", "spearman_ci_task")


def signature(settings: Settings) -> str:
    """Return the choices of the evaluation itself. Each measure has its own signature."""
    prefix = "2000-3000" if settings.shared_prefix else "no"
    return (
        f"eval|comments:{settings.comments}|bootstrap:{settings.resamples}"
        f"|cluster:{settings.cluster_by}|prefix:{prefix}|seed:{settings.seed}|v:1"
    )


def document(
    evaluation: Evaluation, skipped: Mapping[str, str], rejected: list[Document]
) -> Document:
    """Return the document of ``excise eval --json`` (docs/evaluation.md)."""
    settings = evaluation.settings
    names = [measure.name for measure in settings.measures]
    return {
        "schema": SCHEMA,
        "signature": signature(settings),
        "n": evaluation.n,
        "tasks": evaluation.tasks,
        "distinct": evaluation.distinct,
        "labelled": evaluation.labelled,
        "n_changed": evaluation.n_changed,
        "against": settings.against,
        "measures": {name: _measure(evaluation, index) for index, name in enumerate(names)},
        "skipped": dict(skipped),
        "failed": [asdict(failure) for failure in evaluation.failures],
        "rejected": rejected,
    }


def _measure(evaluation: Evaluation, index: int) -> Document:
    entry = {**_numbers(evaluation.plain, index), "signature": evaluation.plain.signatures[index]}
    if evaluation.prefixed is not None and evaluation.moved is not None:
        entry["prefix"] = {**_numbers(evaluation.prefixed, index), "moved": evaluation.moved[index]}
    return entry


def _numbers(table: Table, index: int) -> Document:
    every, changed = table.every[index], table.changed[index]
    entry = _correlation(every)
    entry["pearson_changed"] = changed.pearson
    entry["pearson_distinct"] = table.distinct[index].pearson
    entry["pearson_distinct_changed"] = table.distinct_changed[index].pearson
    return entry | {"changed": _correlation(changed)}


def _correlation(correlation: Correlation) -> Document:
    entry: Document = {"n": correlation.n, "mean": correlation.mean}
    entry |= {key: getattr(correlation, key) for key in _POINTS}
    if correlation.undefined is not None:
        entry["undefined"] = correlation.undefined
    if correlation.difference is not None:
        entry["difference"] = asdict(correlation.difference)
    return entry


# --- tables for other programs -------------------------------------------------------------------

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
    for index, measure in enumerate(evaluation.settings.measures):
        writer.writerow(_csv_row(evaluation, measure.name, index))
    return out.getvalue()


def _csv_row(evaluation: Evaluation, name: str, index: int) -> list[object]:
    correlation, changed = evaluation.plain.every[index], evaluation.plain.changed[index]
    prefixed = evaluation.prefixed.every[index].pearson if evaluation.prefixed else None
    moved = evaluation.moved[index] if evaluation.moved else None
    d = correlation.difference
    row = [
        *(name, correlation.n, correlation.mean, correlation.pearson),
        *(correlation.ci or (None, None)),
        *(correlation.ci_task or (None, None)),
        *(correlation.spearman, changed.n, changed.pearson),
        *(
            evaluation.plain.distinct[index].pearson,
            evaluation.plain.distinct_changed[index].pearson,
        ),
        *(prefixed, moved),
        *((d.value, d.p, d.p_task) if d else (None, None, None)),
        *(correlation.undefined, evaluation.plain.signatures[index]),
    ]
    return ["" if value is None else value for value in row]


def latex_text(evaluation: Evaluation) -> str:
    """Return a table for LaTeX with the package ``booktabs``, the best measure first."""
    prefixed = evaluation.prefixed
    head = ["Measure", "$r$", r"95\,\% CI", r"95\,\% CI (tasks)", r"$\rho$", r"$r$, $B \neq O$"]
    rows = []
    for index in order(evaluation.plain):
        correlation = evaluation.plain.every[index]
        name = evaluation.settings.measures[index].name
        cells = [
            name,
            _r(correlation.pearson),
            _ci(correlation.ci),
            _ci(correlation.ci_task),
            _r(correlation.spearman),
        ]
        cells.append(_r(evaluation.plain.changed[index].pearson))
        if prefixed:
            cells.append(_r(prefixed.every[index].pearson))
        rows.append(" & ".join(cells) + r" \\")
    head += ["$r$, prefix"] if prefixed else []
    lines = [
        f"% {signature(evaluation.settings)}",
        f"% n = {evaluation.n}, tasks = {evaluation.tasks}",
        rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
        r"\toprule",
        " & ".join(head) + r" \\",
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def order(table: Table) -> list[int]:
    """Return the measures, the strongest correlation first, undefined ones last."""
    coefficients = [correlation.pearson for correlation in table.every]
    return sorted(range(len(coefficients)), key=lambda index: _strength(coefficients[index]))


def _strength(r: float | None) -> float:
    return 2.0 if r is None else -abs(r)


def _r(value: float | None) -> str:
    if value is None:
        return "--"
    return f"{value:.3f}".replace("0.", ".", 1).replace("-", "$-$")


def _ci(bounds: Interval | None) -> str:
    return "--" if bounds is None else f"[{_r(bounds[0])}, {_r(bounds[1])}]"
