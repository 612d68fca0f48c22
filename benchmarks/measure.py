"""Measuring: ratios within one run, memory in fresh processes, instructions under callgrind."""

from __future__ import annotations

import gc
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
Clock = Callable[[], float]


@dataclass(frozen=True)
class Ratio:
    """How much longer B took than A, pair by pair: minimum, median, maximum."""

    low: float
    median: float
    high: float
    ours: float
    theirs: float

    def __str__(self) -> str:
        """Return the three ratios as a table cell."""
        return f"{self.median:,.1f} ({self.low:,.1f} to {self.high:,.1f})"


def seconds(work: Callable[[], object], repeat: int = 1, clock: Clock = time.process_time) -> float:
    """Return the seconds of one call, averaged over `repeat` calls."""
    start = clock()
    for _ in range(repeat):
        work()
    return (clock() - start) / repeat


def ratio(
    ours: Callable[[], object],
    theirs: Callable[[], object],
    rounds: int = 7,
    budget: float = 20.0,
    clock: Clock = time.process_time,
) -> Ratio:
    """Time both in turn; a round of ours is repeated until it lasts about a millisecond.

    The clock is the processor's, which other work on the machine stops; only what runs on several
    processors needs another.
    """
    repeat = max(1, int(0.001 / max(seconds(ours, 1, clock), 1e-7)))
    pairs = []
    gc.collect()
    gc.disable()
    stop = time.perf_counter() + budget
    while len(pairs) < rounds and (len(pairs) < 3 or time.perf_counter() < stop):
        pairs.append((seconds(ours, repeat, clock), seconds(theirs, 1, clock)))
    gc.enable()
    ratios = [b / a for a, b in pairs]
    return Ratio(
        min(ratios),
        statistics.median(ratios),
        max(ratios),
        statistics.median(a for a, _ in pairs),
        statistics.median(b for _, b in pairs),
    )


def peak_kilobytes(mode: str) -> int:
    """Return how much the peak memory of a fresh process grows while it does what memory.py can.

    Modes are "ours" and "theirs", which align shape c, and "lexical": the score of 1,000,000 lines.
    """
    done = subprocess.run(
        [sys.executable, str(HERE / "memory.py"), mode], check=True, capture_output=True, text=True
    )
    return int(done.stdout)


def machine() -> str:
    """Describe the machine in one line."""
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().split("\n")
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    return f"{model}; {platform.system()} {platform.machine()}; Python {platform.python_version()}"
