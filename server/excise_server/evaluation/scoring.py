"""The values of outputs by every measure, on all cores.

The workers are spawned processes, which work on every system, and which may die: of a fork of
``foundation/forks`` the work is done again by the parent, which would die of it, too.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import random
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from multiprocessing.connection import wait as wait_for
from typing import NamedTuple

from excise.errors import ExciseError
from excise.evaluation import Item, Measure
from excise.text import WHITE
from excise_server.records.outputs import Record

__all__ = ["Job", "Row", "Scored", "key_of", "read_item", "score_all", "with_prefix"]

_FEW = 12
"""Rows below which starting processes costs more than it saves."""
_CHUNK = 8
_DIED = "the process that scored it died (out of memory?)"


class Job(NamedTuple):
    """The settings that are the same for every output of a run."""

    measures: tuple[Measure, ...]
    comments: str = "keep"
    seed: int | None = None
    """The seed of the shared prefix, or None without a prefix."""


class Row(NamedTuple):
    """An output to score, by the measures (their numbers) that it has no value of yet."""

    key: str
    record: Record
    wanted: tuple[int, ...]


@dataclass(slots=True)
class Scored:
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


def _score_rows(job: Job, rows: Sequence[Row]) -> list[Scored]:
    """Score some outputs. A failure affects only its own output."""
    return [_scored(job, row) for row in rows]


def _scored(job: Job, row: Row) -> Scored:
    scored = Scored(row.key)
    measures = [job.measures[index] for index in row.wanted]
    try:
        item = read_item(row.record, job.comments)
        if job.seed is not None:
            item = with_prefix(item, row.record.task, job.seed)
    except Exception as error:  # noqa: BLE001 - one output never costs the others
        scored.errors = {measure.name: _reason(error) for measure in measures}
        return scored
    origin, _, hypothesis = item.texts
    # White space at the ends does not count; edits of comments do, whatever ``comments`` is.
    scored.changed = origin.strip(WHITE) != hypothesis.strip(WHITE)
    for measure in measures:
        try:
            value = measure.of(item)
        except Exception as error:  # noqa: BLE001
            scored.errors[measure.name] = _reason(error)
            continue
        if math.isfinite(value.value):
            scored.values[measure.name] = value.value
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


def score_all(job: Job, rows: Sequence[Row], jobs: int) -> Iterator[Scored]:
    """Yield the values of every row, in the order in which they are computed.

    A row whose worker dies twice, the second time alone, becomes an error of its own.
    """
    if jobs < 2 or len(rows) < _FEW:
        for row in rows:
            yield _scored(job, row)
        return
    size = max(1, min(_CHUNK, len(rows) // (4 * jobs)))
    chunks = [list(rows[start : start + size]) for start in range(0, len(rows), size)]
    lost: list[Row] = []
    yield from _pooled(job, chunks, jobs, lost)
    dead: list[Row] = []
    yield from _pooled(job, [[row] for row in lost], 1, dead)
    for row in dead:
        names = [job.measures[index].name for index in row.wanted]
        yield Scored(row.key, errors=dict.fromkeys(names, _DIED))


def _pooled(job: Job, chunks: list[list[Row]], jobs: int, lost: list[Row]) -> Iterator[Scored]:
    """Yield the results of the chunks. Rows in flight when a worker died are appended to `lost`.

    With one worker only one chunk is in the air, so that nothing else is lost with it.
    """
    waiting = deque(chunks)
    most = 2 * jobs if jobs > 1 else 1
    while waiting:
        flying: dict[Future[list[Scored]], list[Row]] = {}
        broken = False
        pool = ProcessPoolExecutor(
            max_workers=min(jobs, len(waiting)),
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
        )
        try:
            while (waiting and not broken) or flying:
                while waiting and not broken and len(flying) < most:
                    chunk = waiting.popleft()
                    try:
                        flying[pool.submit(_score_rows, job, chunk)] = chunk
                    except BrokenProcessPool:
                        waiting.appendleft(chunk)
                        broken = True
                for future in wait(flying, return_when=FIRST_COMPLETED).done:
                    chunk = flying.pop(future)
                    try:
                        yield from future.result()
                    except BrokenProcessPool:
                        broken = True
                        lost.extend(chunk)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _begin() -> None:
    """Leave an interrupt to the parent, and end with it however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()


def _follow(sentinel: int) -> None:
    wait_for([sentinel])
    os._exit(1)
