"""The doubling rule: no input of n bytes costs more than a + b n log n.

A cost is CPU seconds of this process, the least of a few runs, and only ever compared with another
cost of the same run: four times the input may cost little more than four times as much, where
quadratic work costs sixteen times.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

Input = TypeVar("Input")

FACTOR = 4
MOST = 9.0
"""Times the cost for four times the input: halfway, as factors go, from n log n to n squared."""

LEAST_COST = 0.008
"""CPU seconds under which a clock and caches say more than the input does."""

RUNS = 3


class Growth(NamedTuple):
    """What inputs of n and of four times n cost."""

    n: int
    small: float
    large: float

    @property
    def factor(self) -> float:
        return self.large / self.small

    @property
    def is_too_fast(self) -> bool:
        return self.factor > MOST


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


def growth(
    make: Callable[[int], Input], run: Callable[[Input], object], *, first: int, last: int
) -> Iterator[Growth]:
    """Yield what is paid for four times the input, for every n from `first` that costs enough."""
    n = first
    while n <= last:
        small = make(n)
        # One run rules most sizes out.
        if cost(run, small, 1) >= LEAST_COST and (paid := cost(run, small)) >= LEAST_COST:
            large = make(FACTOR * n)
            yield Growth(n, paid, cost(run, large, 1 if paid > 0.1 else RUNS))
        n *= 2


def assert_grows(
    make: Callable[[int], Input], run: Callable[[Input], object], *, first: int = 64, last: int
) -> None:
    """Fail if work grows faster than the rule allows, at the least n that costs enough.

    Other work on the machine may spoil caches once; it makes nothing quadratic three times.
    """
    seen = []
    for _ in range(3):
        measured = next(growth(make, run, first=first, last=last), None)
        if measured is None or not measured.is_too_fast:
            return
        seen.append(measured)
    text = ", ".join(f"{each.factor:.0f} times at {each.n}" for each in seen)
    raise AssertionError(f"four times the input costs {text}, at most {MOST:.0f} times is allowed")


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
