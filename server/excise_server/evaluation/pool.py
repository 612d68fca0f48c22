"""Scoring on all cores: rows of work in spawned processes, which work on every system."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait as wait_for

from excise_server.evaluation.scoring import Job, Row, Scored, score_rows

__all__ = ["score_all"]

_FEW = 12
"""Rows below which starting processes costs more than it saves."""
_CHUNK = 8
_DIED = "the process that scored it died (out of memory?)"


def score_all(job: Job, rows: Sequence[Row], jobs: int) -> Iterator[Scored]:
    """Yield the values of every row, in the order in which they are computed.

    A row whose worker dies twice, the second time alone, becomes an error of its own.
    """
    if jobs < 2 or len(rows) < _FEW:
        for row in rows:
            yield from score_rows(job, [row])
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
    while waiting:
        pool = ProcessPoolExecutor(
            max_workers=min(jobs, len(waiting)),
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
        )
        try:
            yield from _fed(pool, job, waiting, jobs, lost)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _fed(
    pool: ProcessPoolExecutor, job: Job, waiting: deque[list[Row]], jobs: int, lost: list[Row]
) -> Iterator[Scored]:
    """Keep the workers busy with little in the air, until all is done or the pool breaks."""
    flying: dict[Future[list[Scored]], list[Row]] = {}
    broken = False
    while (waiting and not broken) or flying:
        while waiting and not broken and len(flying) < (2 * jobs if jobs > 1 else 1):
            chunk = waiting.popleft()
            try:
                flying[pool.submit(score_rows, job, chunk)] = chunk
            except BrokenProcessPool:
                waiting.appendleft(chunk)
                broken = True
        done, _ = wait(flying, return_when=FIRST_COMPLETED)
        for future in done:
            chunk = flying.pop(future)
            try:
                yield from future.result()
            except BrokenProcessPool:
                broken = True
                lost.extend(chunk)


def _begin() -> None:
    """Leave an interrupt to the parent, and end with it however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()


def _follow(sentinel: int) -> None:
    wait_for([sentinel])
    os._exit(1)
