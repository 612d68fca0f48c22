"""The doubling rule: no input of n bytes costs more than a + b n log n.

A cost is CPU seconds of this process, the least of several runs, and only ever compared with
another cost of the same run: four times the input may cost little more than four times as much,
where quadratic work costs sixteen times.
"""

import gc
import time
from collections.abc import Callable
from typing import TypeVar

Input = TypeVar("Input")

FACTOR = 4
MOST = 9.0
"""Times the cost for four times the input: halfway, as factors go, from n log n to n squared."""

LEAST_COST = 0.008
"""CPU seconds under which a clock and caches say more than the input does."""

RUNS = 3

MOST_RUNS = 12
"""Runs of each size before work is said to grow too fast."""


def cost(run: Callable[[Input], object], argument: Input, runs: int = RUNS) -> float:
    """Return the least CPU seconds that a call takes."""
    least = float("inf")
    gc.disable()
    try:
        for _ in range(runs):
            start = time.process_time()
            run(argument)
            least = min(least, time.process_time() - start)
    finally:
        gc.enable()
    return least


def assert_grows(
    make: Callable[[int], Input], run: Callable[[Input], object], *, first: int = 64, last: int
) -> None:
    """Fail if work grows faster than the rule allows, at the least n that costs enough.

    While it seems to, both sizes are run again in turn: other work on the machine disturbs both,
    and the least of many runs was disturbed least. It makes nothing quadratic.
    """
    n = first
    # One run rules most sizes out.
    while cost(run, small := make(n), 1) < LEAST_COST or (paid := cost(run, small)) < LEAST_COST:
        n *= 2
        if n > last:
            return
    large = make(FACTOR * n)
    for_large = float("inf")
    for _ in range(MOST_RUNS):
        for_large = min(for_large, cost(run, large, 1))
        if for_large <= MOST * paid:
            return
        paid = min(paid, cost(run, small, 1))
    times = f"{for_large / paid:.0f} times for four times the input at {n}"
    raise AssertionError(f"costs {times}, at most {MOST:.0f} times is allowed")


def assert_light(
    make: Callable[[int], bytes],
    run: Callable[[bytes], object],
    plain: bytes,
    *,
    first: int = 64,
    last: int,
    most: float = 25.0,
) -> None:
    """Fail if a byte of an input costs `most` times one of a plain input.

    What is quadratic up to a limit, as in a line of at most 4,000 characters, only shows so.
    """
    n = first
    while n <= last:
        data = make(n)
        if cost(run, data, 1) >= LEAST_COST and (paid := cost(run, data)) >= LEAST_COST:
            times = paid / len(data) / (cost(run, plain) / len(plain))
            assert times <= most, f"a byte costs {times:.0f} times one of a plain mail"
        n *= 2
