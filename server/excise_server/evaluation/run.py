"""A whole evaluation: distinct outputs are scored once, then all and the edited ones correlated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

import numpy as np

from excise.evaluation import Measure
from excise.evaluation.correlation import Correlation, Plan, correlations
from excise.evaluation.data import Record
from excise.evaluation.statistics import Floats, Sample
from excise_server.evaluation.journal import Journal
from excise_server.evaluation.pool import score_all
from excise_server.evaluation.scoring import Job, Row, Scored, key_of

__all__ = ["Evaluation", "Failure", "Settings", "Table", "evaluate"]

Advance = Callable[[float], None]
Progress = Callable[[str, float], AbstractContextManager[Advance]]

_SAME = 1e-9
"""Difference of two values of a measure that counts as none."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of an evaluation."""

    measures: tuple[Measure, ...]
    comments: str = "keep"
    resamples: int = 1000
    cluster_by: str = "id"
    shared_prefix: bool = False
    seed: int = 0
    against: str | None = None
    jobs: int = 1


@dataclass(frozen=True, slots=True)
class Failure:
    """An output that a measure has no value of, and why."""

    task: str
    measure: str
    reason: str


@dataclass(frozen=True, slots=True)
class Table:
    """Correlations of the same outputs, one for each measure, in the order of the settings.

    Attributes
    ----------
    every, changed
        All outputs, each as often as it occurred, and those that differ from their origin.
    distinct, distinct_changed
        The same with each distinct output counted once, without intervals.
    signatures
        The signature of each measure, as it ran.
    """

    every: tuple[Correlation, ...]
    changed: tuple[Correlation, ...]
    distinct: tuple[Correlation, ...]
    distinct_changed: tuple[Correlation, ...]
    signatures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The results of an evaluation.

    Attributes
    ----------
    n, n_changed
        The number of outputs, each as often as it occurred, and of those that differ from their
        origin.
    distinct, tasks
        The number of distinct outputs, and of tasks (or clusters).
    moved
        With a prefix, the number of distinct outputs whose value changed, for each measure.
    """

    settings: Settings
    n: int
    n_changed: int
    distinct: int
    tasks: int
    labelled: int
    plain: Table
    prefixed: Table | None
    moved: tuple[int, ...] | None
    failures: tuple[Failure, ...] = ()
    outdated: tuple[str, ...] = ()


@dataclass(slots=True)
class _Column:
    """The values of one job: shape (rows, measures), and the signatures seen."""

    values: Floats
    changed: list[bool]
    signatures: list[set[str]] = field(default_factory=list)


def evaluate(
    records: Iterable[Record], settings: Settings, progress: Progress, journal: Journal | None
) -> Evaluation:
    """Score every distinct output by every measure and correlate the values with the labels."""
    rows = _distinct(records)
    failures: list[Failure] = []
    job = Job(settings.measures, settings.comments)
    plain = _values(rows, job, settings, progress, journal, failures)
    prefixed = None
    if settings.shared_prefix:
        job = replace(job, seed=settings.seed)
        prefixed = _values(rows, job, settings, progress, journal, failures)
        prefixed.changed = plain.changed
    with ThreadPoolExecutor(settings.jobs) as threads:
        tables = [
            _table(rows, column, settings, progress, threads) if column else None
            for column in (plain, prefixed)
        ]
    assert tables[0] is not None
    return Evaluation(
        settings,
        n=sum(record.count for record in rows),
        n_changed=sum(r.count for r, new in zip(rows, plain.changed, strict=True) if new),
        distinct=len(rows),
        tasks=len({record.cluster for record in rows}),
        labelled=sum(record.count for record in rows if record.label is not None),
        plain=tables[0],
        prefixed=tables[1],
        moved=_moved(plain, prefixed) if prefixed else None,
        failures=tuple(failures),
        outdated=tuple(sorted(journal.outdated)) if journal else (),
    )


def _distinct(records: Iterable[Record]) -> list[Record]:
    """Merge records that differ in nothing but their count."""
    counts: dict[Record, int] = {}
    for record in records:
        alone = record if record.count == 1 else replace(record, count=1)
        counts[alone] = counts.get(alone, 0) + record.count
    return [replace(record, count=count) for record, count in counts.items()]


# --- values --------------------------------------------------------------------------------------


def _values(
    records: Sequence[Record],
    job: Job,
    settings: Settings,
    progress: Progress,
    journal: Journal | None,
    failures: list[Failure],
) -> _Column:
    keys = [key_of(record, job) for record in records]
    scores: dict[str, Scored] = {} if journal is None else {**journal.known}
    rows = _wanted(keys, records, job, scores)
    label = "Scoring" if job.seed is None else "Scoring with the prefix"
    with progress(label, len(rows)) as advance:
        for done, scored in enumerate(score_all(job, rows, settings.jobs), start=1):
            if journal is not None and not scored.errors:
                journal.add([scored])
            scores[scored.key] = _merged(scores.get(scored.key), scored)
            advance(done)
    return _column(keys, records, job, scores, failures)


def _wanted(
    keys: Sequence[str], records: Sequence[Record], job: Job, scores: Mapping[str, Scored]
) -> list[Row]:
    """Return the distinct texts that lack a value."""
    rows: dict[str, Row] = {}
    for key, record in zip(keys, records, strict=True):
        if key in rows:
            continue
        have = scores[key].values if key in scores else {}
        missing = tuple(
            index for index, measure in enumerate(job.measures) if measure.name not in have
        )
        if missing:
            rows[key] = Row(key, record, missing)
    return list(rows.values())


def _merged(old: Scored | None, new: Scored) -> Scored:
    if old is None:
        return new
    return Scored(
        new.key,
        old.changed if new.changed is None else new.changed,
        old.values | new.values,
        old.signatures | new.signatures,
        new.errors,
    )


def _column(
    keys: Sequence[str],
    records: Sequence[Record],
    job: Job,
    scores: Mapping[str, Scored],
    failures: list[Failure],
) -> _Column:
    names = [measure.name for measure in job.measures]
    values = np.full((len(keys), len(names)), np.nan)
    signatures: list[set[str]] = [set() for _ in names]
    for row, (key, record) in enumerate(zip(keys, records, strict=True)):
        scored = scores[key]
        for index, name in enumerate(names):
            if name in scored.values:
                values[row, index] = scored.values[name]
                signatures[index].add(scored.signatures[name])
        failures += [Failure(record.task, name, why) for name, why in scored.errors.items()]
    return _Column(values, [bool(scores[key].changed) for key in keys], signatures)


def _moved(plain: _Column, prefixed: _Column) -> tuple[int, ...]:
    defined = ~np.isnan(plain.values) & ~np.isnan(prefixed.values)
    apart = np.abs(np.where(defined, plain.values - prefixed.values, 0.0)) > _SAME
    return tuple(int(count) for count in apart.sum(axis=0))


# --- correlations --------------------------------------------------------------------------------


def _table(
    records: Sequence[Record],
    column: _Column,
    settings: Settings,
    progress: Progress,
    threads: ThreadPoolExecutor,
) -> Table:
    sample = _sample(records, column.values)
    edits = sample.only(np.array(column.changed, dtype=np.bool_))
    names = [measure.name for measure in settings.measures]
    against = names.index(settings.against) if settings.against else None
    distances = frozenset(
        index for index, measure in enumerate(settings.measures) if not measure.larger_is_better
    )
    plan = Plan(settings.resamples, settings.seed, against, distances, map=threads.map)
    with progress("Resampling", 4 * settings.resamples) as advance:
        every = correlations(sample, replace(plan, done=advance))
        offset = 2 * settings.resamples
        changed = correlations(edits, replace(plan, done=lambda count: advance(offset + count)))
    points = Plan(0)
    return Table(
        every,
        changed,
        correlations(sample.distinct(), points),
        correlations(edits.distinct(), points),
        tuple(
            _signature(seen, measure.signature(settings.comments))
            for seen, measure in zip(column.signatures, settings.measures, strict=True)
        ),
    )


def _sample(records: Sequence[Record], values: Floats) -> Sample:
    numbers: dict[str, int] = {}
    return Sample(
        values,
        np.array([np.nan if r.label is None else r.label for r in records], dtype=np.float64),
        np.array([r.count for r in records], dtype=np.float64),
        np.array([numbers.setdefault(r.cluster, len(numbers)) for r in records], dtype=np.int64),
    )


def _signature(signatures: set[str], default: str) -> str:
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
