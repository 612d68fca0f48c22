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


def document(found: Evaluation, skipped: Mapping[str, str], rejected: list[Document]) -> Document:
    """Return the document of ``excise eval --json`` (docs/evaluation.md)."""
    settings = found.settings
    names = [measure.name for measure in settings.measures]
    return {
        "schema": SCHEMA,
        "signature": signature(settings),
        "n": found.n,
        "tasks": found.tasks,
        "distinct": found.distinct,
        "labelled": found.labelled,
        "n_changed": found.n_changed,
        "against": settings.against,
        "measures": {name: _measure(found, at) for at, name in enumerate(names)},
        "skipped": dict(skipped),
        "failed": [asdict(failure) for failure in found.failures],
        "rejected": rejected,
    }


def _measure(found: Evaluation, at: int) -> Document:
    entry = {**_numbers(found.plain, at), "signature": found.plain.signatures[at]}
    if found.prefixed is not None and found.moved is not None:
        entry["prefix"] = {**_numbers(found.prefixed, at), "moved": found.moved[at]}
    return entry


def _numbers(table: Table, at: int) -> Document:
    every, changed = table.every[at], table.changed[at]
    entry = _correlation(every)
    entry["pearson_changed"] = changed.pearson
    entry["pearson_distinct"] = table.distinct[at].pearson
    entry["pearson_distinct_changed"] = table.distinct_changed[at].pearson
    return entry | {"changed": _correlation(changed)}


def _correlation(one: Correlation) -> Document:
    entry: Document = {"n": one.n, "mean": one.mean}
    entry |= {key: getattr(one, key) for key in _POINTS}
    if one.undefined is not None:
        entry["undefined"] = one.undefined
    if one.difference is not None:
        entry["difference"] = asdict(one.difference)
    return entry


# --- tables for other programs -------------------------------------------------------------------

_HEAD = (
    "measure,n,mean,pearson,ci_low,ci_high,ci_task_low,ci_task_high,spearman,n_changed,"
    "pearson_changed,pearson_distinct,pearson_distinct_changed,prefix_pearson,prefix_moved,"
    "difference,p,p_task,undefined,signature\n"
)


def csv_text(found: Evaluation) -> str:
    """Return a line per measure, in which an undefined number is an empty field."""
    out = io.StringIO(_HEAD)
    out.seek(0, io.SEEK_END)
    writer = csv.writer(out, lineterminator="\n")
    for at, measure in enumerate(found.settings.measures):
        writer.writerow(_csv_row(found, measure.name, at))
    return out.getvalue()


def _csv_row(found: Evaluation, name: str, at: int) -> list[object]:
    one, changed = found.plain.every[at], found.plain.changed[at]
    prefixed = found.prefixed.every[at].pearson if found.prefixed else None
    moved = found.moved[at] if found.moved else None
    d = one.difference
    row = [
        *(name, one.n, one.mean, one.pearson),
        *(one.ci or (None, None)),
        *(one.ci_task or (None, None)),
        *(one.spearman, changed.n, changed.pearson),
        *(found.plain.distinct[at].pearson, found.plain.distinct_changed[at].pearson),
        *(prefixed, moved),
        *((d.value, d.p, d.p_task) if d else (None, None, None)),
        *(one.undefined, found.plain.signatures[at]),
    ]
    return ["" if value is None else value for value in row]


def latex_text(found: Evaluation) -> str:
    """Return a table for LaTeX with the package ``booktabs``, the best measure first."""
    prefixed = found.prefixed
    head = ["Measure", "$r$", r"95\,\% CI", r"95\,\% CI (tasks)", r"$\rho$", r"$r$, $B \neq O$"]
    rows = []
    for at in order(found.plain):
        one = found.plain.every[at]
        name = found.settings.measures[at].name
        cells = [name, _r(one.pearson), _ci(one.ci), _ci(one.ci_task), _r(one.spearman)]
        cells.append(_r(found.plain.changed[at].pearson))
        if prefixed:
            cells.append(_r(prefixed.every[at].pearson))
        rows.append(" & ".join(cells) + r" \\")
    head += ["$r$, prefix"] if prefixed else []
    lines = [
        f"% {signature(found.settings)}",
        f"% n = {found.n}, tasks = {found.tasks}",
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
    found = [one.pearson for one in table.every]
    return sorted(range(len(found)), key=lambda at: _strength(found[at]))


def _strength(r: float | None) -> float:
    return 2.0 if r is None else -abs(r)


def _r(value: float | None) -> str:
    if value is None:
        return "--"
    return f"{value:.3f}".replace("0.", ".", 1).replace("-", "$-$")


def _ci(bounds: Interval | None) -> str:
    return "--" if bounds is None else f"[{_r(bounds[0])}, {_r(bounds[1])}]"
