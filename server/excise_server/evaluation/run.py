"""A whole evaluation: distinct outputs are scored once, then all and the edited ones correlated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np

from excise.evaluation import Measure
from excise.evaluation.statistics import Correlation, Floats, Resampling, Sample, correlations
from excise_server.evaluation.journal import Journal
from excise_server.evaluation.scoring import Job, OutputValues, Row, key_of, score_all
from excise_server.records.outputs import Record

SCHEMA = 1
"""Version of the shape of the documents of evaluations."""

Document = dict[str, Any]

Progress = Callable[[str, float | None], AbstractContextManager[Callable[[float], None]]]

_SAME = 1e-9
"""Difference of two values of a measure that counts as none."""


class EvalSettings(NamedTuple):
    """The settings of an evaluation."""

    measures: tuple[Measure, ...]
    comments: str = "keep"
    resamples: int = 1000
    cluster_by: str | None = None
    shared_prefix: bool = False
    seed: int = 0
    against: str | None = None
    jobs: int = 1


class _JobValues(NamedTuple):
    """The values of one job: shape (rows, measures), and the signatures seen."""

    values: Floats
    changed: list[bool]
    signatures: list[set[str]]


def evaluate(
    records: Iterable[Record], settings: EvalSettings, progress: Progress, journal: Journal | None
) -> Document:
    """Score every distinct output by every measure and correlate the values with the labels.

    Returns: the document of ``excise eval --format json`` (docs/evaluation.md), of which tables and
    figures are views. Whoever chose the measures and read the records says what was skipped and
    rejected.
    """
    # Records that differ in nothing but their count are one.
    counts: dict[Record, int] = {}
    for record in records:
        alone = record if record.count == 1 else replace(record, count=1)
        counts[alone] = counts.get(alone, 0) + record.count
    rows = [replace(record, count=count) for record, count in counts.items()]
    failed: list[Document] = []
    plain = _values(rows, Job(settings.comments), settings, progress, journal, failed)
    prefixed = None
    if settings.shared_prefix:
        job = Job(settings.comments, settings.seed)
        prefixed = _values(rows, job, settings, progress, journal, failed)
        prefixed = prefixed._replace(changed=plain.changed)
    names = [measure.name for measure in settings.measures]
    with ThreadPoolExecutor(settings.jobs) as threads:
        entries = _correlated(rows, plain, settings, progress, threads)
        for entry, measure, seen in zip(entries, settings.measures, plain.signatures, strict=True):
            entry["signature"] = _joined(seen, measure.signature(settings.comments))
        if prefixed is not None:
            beside = _correlated(rows, prefixed, settings, progress, threads)
            defined = ~np.isnan(plain.values) & ~np.isnan(prefixed.values)
            apart = np.abs(np.where(defined, plain.values - prefixed.values, 0.0)) > _SAME
            for entry, other, moved in zip(entries, beside, apart.sum(axis=0), strict=True):
                entry["prefix"] = other | {"moved": int(moved)}
    named = "id" if all(record.value.get("task") is None for record in rows) else "task"
    return {
        "schema": SCHEMA,
        "signature": (
            f"eval|comments:{settings.comments}|bootstrap:{settings.resamples}"
            f"|cluster:{settings.cluster_by or named}|prefix:{'2000-3000' if prefixed else 'no'}"
            f"|seed:{settings.seed}|v:1"
        ),
        "n": sum(record.count for record in rows),
        "tasks": len({record.cluster for record in rows}),
        "distinct": len(rows),
        "labelled": sum(record.count for record in rows if record.label is not None),
        "n_changed": sum(r.count for r, new in zip(rows, plain.changed, strict=True) if new),
        "against": settings.against,
        "measures": dict(zip(names, entries, strict=True)),
        "skipped": {},
        "failed": failed,
        "rejected": [],
    }


# --- values --------------------------------------------------------------------------------------


def _values(
    records: Sequence[Record],
    job: Job,
    settings: EvalSettings,
    progress: Progress,
    journal: Journal | None,
    failed: list[Document],
) -> _JobValues:
    """Score the distinct texts that lack a value, and return the values of all."""
    keys = [key_of(record, job) for record in records]
    scores: dict[str, OutputValues] = {} if journal is None else dict(journal.known)
    rows: dict[str, Row] = {}
    for key, record in zip(keys, records, strict=True):
        have = scores[key].values if key in scores else {}
        wanted = tuple(measure for measure in settings.measures if measure.name not in have)
        if wanted and key not in rows:
            rows[key] = Row(key, record, wanted)
    label = "Scoring" if job.seed is None else "Scoring with the prefix"
    with progress(label, len(rows)) as advance:
        for done, new in enumerate(score_all(job, list(rows.values()), settings.jobs), start=1):
            if journal is not None and not new.errors:
                journal.add(new)
            if (old := scores.get(new.key)) is not None:
                new.changed = old.changed if new.changed is None else new.changed
                new.values = old.values | new.values
                new.signatures = old.signatures | new.signatures
            scores[new.key] = new
            advance(done)
    values = np.full((len(keys), len(settings.measures)), np.nan)
    signatures: list[set[str]] = [set() for _ in settings.measures]
    for number, (key, record) in enumerate(zip(keys, records, strict=True)):
        scored = scores[key]
        for index, measure in enumerate(settings.measures):
            if measure.name in scored.values:
                values[number, index] = scored.values[measure.name]
                signatures[index].add(scored.signatures[measure.name])
        failed += [
            {"task": record.task, "measure": name, "reason": why}
            for name, why in scored.errors.items()
        ]
    return _JobValues(values, [bool(scores[key].changed) for key in keys], signatures)


# --- correlations --------------------------------------------------------------------------------


def _correlated(
    records: Sequence[Record],
    column: _JobValues,
    settings: EvalSettings,
    progress: Progress,
    threads: ThreadPoolExecutor,
) -> list[Document]:
    """Return the entry of each measure: all outputs, those that differ, each distinct one once."""
    clusters: dict[str, int] = {}
    sample = Sample(
        column.values,
        np.array([np.nan if r.label is None else r.label for r in records], dtype=np.float64),
        np.array([r.count for r in records], dtype=np.float64),
        np.array([clusters.setdefault(r.cluster, len(clusters)) for r in records], dtype=np.int64),
    )
    edits = sample.only(np.array(column.changed, dtype=np.bool_))
    names = [measure.name for measure in settings.measures]
    against = names.index(settings.against) if settings.against else None
    distances = frozenset(
        index for index, measure in enumerate(settings.measures) if not measure.larger_is_better
    )
    plan = Resampling(settings.resamples, settings.seed, against, distances, map=threads.map)
    with progress("Resampling", 4 * settings.resamples) as advance:
        every = correlations(sample, replace(plan, done=advance))
        offset = 2 * settings.resamples
        changed = correlations(edits, replace(plan, done=lambda count: advance(offset + count)))
    distinct, distinct_changed = (
        correlations(rows.distinct(), Resampling(0)) for rows in (sample, edits)
    )
    return [
        {
            **_entry(all_of_them),
            "pearson_changed": edited.pearson,
            "pearson_distinct": once.pearson,
            "pearson_distinct_changed": edited_once.pearson,
            "changed": _entry(edited),
        }
        for all_of_them, edited, once, edited_once in zip(
            every, changed, distinct, distinct_changed, strict=True
        )
    ]


_OPTIONAL = ("undefined", "difference", "mean_ci", "mean_ci_task")


def _entry(correlation: Correlation) -> Document:
    entry = asdict(correlation)
    optional = {key: entry.pop(key) for key in _OPTIONAL}
    return entry | {key: value for key, value in optional.items() if value is not None}


def _joined(signatures: set[str], default: str) -> str:
    """Join the signatures of a measure; where they differ, all values appear, as ``tok:a+b``."""
    if len(signatures) < 2:
        return next(iter(signatures), default)
    parts = [signature.split("|") for signature in sorted(signatures)]
    if len(set(map(len, parts))) > 1:
        return " or ".join(sorted(signatures))
    joined = []
    for fields in zip(*parts, strict=True):
        distinct = sorted(set(fields))
        key, _, _ = distinct[0].partition(":")
        values = [field.partition(":")[2] for field in distinct]
        joined.append(distinct[0] if len(distinct) == 1 else f"{key}:{'+'.join(values)}")
    return "|".join(joined)
