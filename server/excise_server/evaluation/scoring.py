"""The work of a worker process: the values of outputs by every measure. Picklable."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from excise.errors import ExciseError
from excise.evaluation import Item, Measure
from excise.evaluation.data import Record, differs, read_item, with_prefix

__all__ = ["Job", "Row", "Scored", "key_of", "score_rows"]


@dataclass(frozen=True, slots=True)
class Job:
    """The settings that are the same for every output of a run."""

    measures: tuple[Measure, ...]
    comments: str = "keep"
    seed: int | None = None
    """The seed of the shared prefix, or None without a prefix."""

    def items(self, record: Record) -> Item:
        """Return what the measures see: comments dropped first, then the prefix added."""
        item = read_item(record, self.comments)
        return item if self.seed is None else with_prefix(item, record.task, self.seed)


@dataclass(frozen=True, slots=True)
class Row:
    """An output to score, by the measures (their numbers) that it has no value of yet."""

    key: str
    record: Record
    wanted: tuple[int, ...]


@dataclass(slots=True)
class Scored:
    """The values of one output, by name of measure, and the reasons for missing values."""

    key: str
    changed: bool | None = None
    """Whether the hypothesis `differs` from the origin."""
    values: dict[str, float] = field(default_factory=dict)
    signatures: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


def key_of(record: Record, job: Job) -> str:
    """Return a digest of exactly the texts that the measures see."""
    parts = [job.comments, record.language or "", record.path or "", record.origin]
    parts += [*record.references, record.hypothesis]
    if job.seed is not None:
        parts += ["prefix", str(job.seed), record.task]
    digest = blake2b(digest_size=16)
    for text in parts:
        data = text.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def score_rows(job: Job, rows: Sequence[Row]) -> list[Scored]:
    """Score some outputs. A failure affects only its own output."""
    return [_scored(job, row) for row in rows]


def _scored(job: Job, row: Row) -> Scored:
    scored = Scored(row.key)
    try:
        item = job.items(row.record)
    except Exception as error:  # noqa: BLE001 - one output never costs the others
        reason = _reason(error)
        scored.errors = {job.measures[index].name: reason for index in row.wanted}
        return scored
    scored.changed = differs(item)
    for index in row.wanted:
        _measure(job.measures[index], item, scored)
    return scored


def _measure(measure: Measure, item: Item, scored: Scored) -> None:
    try:
        value = measure.of(item)
    except Exception as error:  # noqa: BLE001
        scored.errors[measure.name] = _reason(error)
        return
    if not math.isfinite(value.value):
        scored.errors[measure.name] = f"{value.value} is not a finite value"
        return
    scored.values[measure.name] = value.value
    scored.signatures[measure.name] = value.signature


def _reason(error: Exception) -> str:
    if isinstance(error, ExciseError):
        return str(error)
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return text if len(text) <= 200 else f"{text[:200]}..."
