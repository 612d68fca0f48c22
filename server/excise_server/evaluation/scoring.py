"""The values of outputs by every measure, on all cores."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from typing import Any, NamedTuple

from excise.errors import ExciseError
from excise.evaluation import Item, Measure
from excise.text import WHITE
from excise_server.processes.forks import as_they_come
from excise_server.records.outputs import Record

_FEW = 12
"""Rows below which starting processes costs more than it saves."""
_DIED = "the process that scored it died (out of memory?)"


class Job(NamedTuple):
    """The settings that are the same for every output of a run."""

    comments: str = "keep"
    seed: int | None = None
    """The seed of the shared prefix, or None without a prefix."""


class Row(NamedTuple):
    """An output to score, by the measures that it has no value of yet."""

    key: str
    record: Record
    measures: tuple[Measure, ...]


@dataclass(slots=True)
class OutputValues:
    """The values of one output, by name of measure, and the reasons for missing values."""

    key: str
    changed: bool | None = None
    """Whether the hypothesis is more than an echo of its origin (the B != O of the tables)."""
    values: dict[str, float] = field(default_factory=dict)
    signatures: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


# --- one output ----------------------------------------------------------------------------------


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


def read_item(record: Record, comments: str = "keep") -> Item:
    """Return a record in the form that measures use."""
    return Item.of(
        origin=record.origin,
        reference=record.references,
        hypothesis=record.hypothesis,
        language=record.language,
        path=record.path,
        comments=comments,
    )


def with_prefix(item: Item, task: str, seed: int) -> Item:
    """Return the item with a random text before its origin, references and hypothesis alike.

    The text has 2,000 to 3,000 characters of ``abcdef``, space and line end, and ends in a line
    end (paper, section 4). It follows from task and seed; comments were dropped before.
    """
    chance = random.Random(f"{seed}:{task}")  # noqa: S311 - a sample, not a secret
    prefix = "".join(chance.choices("abcdef \n", k=chance.randint(2_000, 3_000) - 1)) + "\n"
    longer = Item.of(
        origin=prefix + item.origin,
        reference=[prefix + text for text in item.references],
        hypothesis=prefix + item.hypothesis,
        language=item.language,
        path=item.path,
    )
    return replace(longer, notes=item.notes)


def _scored(job: Job, row: Row) -> OutputValues:
    """Score an output. A failure affects only its own output."""
    scored = OutputValues(row.key)
    try:
        item = read_item(row.record, job.comments)
        if job.seed is not None:
            item = with_prefix(item, row.record.task, job.seed)
    except Exception as error:  # noqa: BLE001 - one output never costs the others
        scored.errors = {measure.name: _reason(error) for measure in row.measures}
        return scored
    origin, _, hypothesis = item.texts
    # White space at the ends does not count; edits of comments do, whatever ``comments`` is.
    scored.changed = origin.strip(WHITE) != hypothesis.strip(WHITE)
    for measure in row.measures:
        try:
            value = measure.of(item)
        except Exception as error:  # noqa: BLE001
            scored.errors[measure.name] = _reason(error)
            continue
        if math.isfinite(value.value):
            scored.values[measure.name] = float(value.value)
            scored.signatures[measure.name] = value.signature
        else:
            scored.errors[measure.name] = f"{value.value} is not a finite value"
    return scored


def _reason(error: Exception) -> str:
    if isinstance(error, ExciseError):
        return str(error)
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return text if len(text) <= 200 else f"{text[:200]}..."


# --- all of them ---------------------------------------------------------------------------------


def score_all(job: Job, rows: Sequence[Row], jobs: int) -> Iterator[OutputValues]:
    """Yield the values of every row, in the order in which they are computed.

    A row whose process dies twice, the second time alone, becomes an error of its own.
    """

    def lost(row: Row) -> dict[str, Any]:
        return {"key": row.key, "errors": {measure.name: _DIED for measure in row.measures}}

    jobs = 1 if len(rows) < _FEW else jobs
    for found in as_they_come(jobs, lambda row: asdict(_scored(job, row)), rows, lost):
        yield OutputValues(**found)
