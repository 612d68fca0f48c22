"""Measuring: ratios within one run, memory, instructions under callgrind; and the data at hand."""

from __future__ import annotations

import gc
import gzip
import json
import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

HERE = Path(__file__).resolve().parent
Clock = Callable[[], float]
T = TypeVar("T")


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


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return what work returns, and the seconds of the processor that it took."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def seconds_of_children() -> float:
    """Return the seconds of the processor that all processes have used that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def percentiles(values: Sequence[float], form: str) -> str:
    """Return p50, p95 and the maximum, each in a format, or a dash without any value."""
    if not values:
        return "-"
    ordered = sorted(values)
    shown = (ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)], ordered[-1])
    return " / ".join(format(value, form) for value in shown)


# --- memory --------------------------------------------------------------------------------------


def peak() -> int:
    """Return the peak resident size of this process in kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


class Ballast:
    """Fills what this process had and gave back, so that the peak tells what comes next."""

    def __init__(self) -> None:
        gc.collect()
        with open("/proc/self/status") as status:
            resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
        self.held = bytearray(max(0, peak() - resident) * 1024)
        self.before = peak()

    def raised(self) -> int:
        """Return by how many kilobytes the peak was raised; at least one page."""
        return max(peak() - self.before, 4)


def peak_kilobytes(mode: str) -> int:
    """Return how much the peak memory of a fresh process grows while it does what memory.py can.

    Modes are "ours" and "theirs", which align shape c, and "lexical": the score of 1,000,000 lines.
    """
    done = subprocess.run(
        [sys.executable, str(HERE / "memory.py"), mode], check=True, capture_output=True, text=True
    )
    return int(done.stdout)


# --- instructions --------------------------------------------------------------------------------


def instructions(*arguments: str, kernel: str | None = None) -> int:
    """Count the instructions of Python with these arguments, or of a kernel there alone."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        toggled = [f"--toggle-collect={kernel}"] if kernel else []
        command = ["valgrind", "--tool=callgrind", *toggled, f"--callgrind-out-file={out}"]
        # Sets and dictionaries are in the same order every time.
        environment = dict(os.environ, PYTHONHASHSEED="0")
        command += [sys.executable, *arguments]
        subprocess.run(command, check=True, capture_output=True, env=environment)
        total = re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)
    if total is None:
        raise SystemExit("callgrind wrote no total")
    return int(total[1])


# --- where and on what ---------------------------------------------------------------------------


def data(*names: str) -> Path:
    """Return a file or folder of the data at hand, or end with how to name them."""
    path = Path(os.environ.get("EXCISE_DATA", ""), *names)
    if "EXCISE_DATA" not in os.environ or not path.exists():
        raise SystemExit(f"EXCISE_DATA must name the folder that holds {'/'.join(names)}")
    return path


def rows(*names: str) -> Iterator[dict[str, Any]]:
    """Yield the records of a file of the data: JSON lines, gzipped or not."""
    path = data(*names)
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as lines:
        yield from map(json.loads, lines)


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
