"""Only the newest snapshot of a document is worked on, and only its result is delivered."""

import asyncio
import threading

import pytest

from excise import CancelFlag, Cancelled
from excise_server.lsp.scheduler import Scheduler

pytestmark = pytest.mark.asyncio

NEVER = 3600.0
"""A pause that no test sits out: it is cut short by waiting for the result."""


class Bench:
    """A scheduler whose snapshots are numbers, with a record of what was done."""

    def __init__(self, work=lambda number, cancel: number * 10, delay: float = NEVER) -> None:
        self.number = 0
        self.delivered: list[object] = []
        self.scheduler: Scheduler[int, int] = Scheduler(
            mint=lambda key: self.number or None,
            work=work,
            deliver=lambda key, snapshot, outcome: self.delivered.append((key, snapshot, outcome)),
            delay=delay,
        )

    def change(self, key: str = "a") -> None:
        self.number += 1
        self.scheduler.changed(key)

    async def close(self, *delivered: object) -> None:
        """Stop, when this was delivered and nothing else."""
        assert self.delivered == [*delivered]
        assert self.scheduler.close(timeout=60)


class Held:
    """Work that goes on until it is let go."""

    def __init__(self) -> None:
        self.started, self.finish = threading.Event(), threading.Event()

    def __call__(self, number: int, cancel: CancelFlag) -> int:
        self.started.set()
        self.finish.wait(60)
        return number


async def test_many_changes_are_one_run_of_the_newest():
    bench = Bench()
    for _ in range(100):
        bench.change()
    await bench.scheduler.settled("a")
    await bench.close(("a", 100, 1000))


async def test_a_change_stops_the_run_it_makes_stale():
    started, flags = threading.Event(), []

    def work(number: int, cancel: CancelFlag) -> int:
        flags.append(cancel)
        started.set()
        while number == 1:
            cancel.check()  # raises once the run is stale
        return number

    bench = Bench(work, delay=0.0)
    bench.change()
    waiting = asyncio.create_task(bench.scheduler.settled("a"))
    await asyncio.to_thread(started.wait, 60)
    bench.change()
    await waiting
    assert [flag.cancelled for flag in flags] == [True, False]
    await bench.close(("a", 2, 2))


async def test_a_stale_result_is_dropped_even_if_it_arrives():
    work = Held()
    bench = Bench(work, delay=0.0)
    bench.change()
    waiting = asyncio.create_task(bench.scheduler.settled("a"))
    await asyncio.to_thread(work.started.wait, 60)
    bench.change()
    work.finish.set()
    await waiting
    await bench.close(("a", 2, 2))


async def test_who_waits_may_give_up_and_others_still_get_the_result():
    work = Held()
    bench = Bench(work)
    bench.change()
    one, two = (asyncio.create_task(bench.scheduler.settled("a")) for _ in range(2))
    await asyncio.to_thread(work.started.wait, 60)
    one.cancel()
    work.finish.set()
    await two
    assert one.cancelled()
    await bench.close(("a", 1, 1))


async def test_a_failure_is_delivered_and_the_thread_goes_on():
    def work(number: int, cancel: CancelFlag) -> int:
        if number == 1:
            raise Cancelled("on purpose")
        return number

    bench = Bench(work)
    for key in "ab":
        bench.change(key)
        await bench.scheduler.settled(key)
    (_, _, failure), success = bench.delivered
    assert isinstance(failure, Cancelled)
    assert success == ("b", 2, 2)
    await bench.close(*bench.delivered)


async def test_nothing_to_mint_settles_at_once():
    bench = Bench()
    bench.scheduler.changed("a")
    await bench.scheduler.settled("a")
    await bench.scheduler.settled("never heard of")
    await bench.close()


async def test_a_failed_preparation_does_not_stop_the_work():
    def prepare() -> None:
        raise ImportError("on purpose")

    bench = Bench()
    bench.scheduler.start(prepare)
    bench.change()
    await bench.scheduler.settled("a")
    await bench.close(("a", 1, 10))


async def test_work_that_does_not_end_is_left_behind_after_the_timeout():
    work = Held()
    bench = Bench(work, delay=0.0)
    bench.change()
    await asyncio.to_thread(work.started.wait, 60)
    assert not bench.scheduler.close(timeout=0.01)
    work.finish.set()
    await bench.close()
