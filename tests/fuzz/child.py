"""One process that tries inputs of one target, and may die of them.

    python -m tests.fuzz.child TARGET FOLDER SEED SECONDS INPUTS CORPUS
    python -m tests.fuzz.child TARGET FILE

The first form tries the corpus from its input number CORPUS on (-1: none of it), and then random
inputs, until time or their number is up. Each is written to FOLDER/current before it is tried, and
its number to FOLDER/number. The second form tries one file. A timer of CPU time, which not even a
kernel outlives, ends an input that costs too much.
"""

import itertools
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.targets import TARGETS, Target

MEMORY = 6 << 30
"""Bytes of address space: a text that wants more is a finding and not the machine's end."""


def tried(target: Target, data: bytes) -> None:
    signal.setitimer(signal.ITIMER_PROF, target.seconds)
    target.check(data)


def drawn(target: Target, seed: int) -> Iterator[bytes]:
    choice = random.Random(seed)
    while True:
        yield target.make(choice)


def explore(target: Target, folder: Path, inputs: Iterator[bytes], end: float) -> None:
    """Try inputs until their end, the time's, or that of the process that started this one."""
    parent = os.getppid()
    current, counter = folder / "current", folder / "number"
    for number, data in enumerate(inputs, start=1):
        current.write_bytes(data)
        counter.write_text(str(number))
        tried(target, data)
        if time.monotonic() > end or os.getppid() != parent:
            break


def main(name: str, path: str, *numbers: str) -> None:
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    if "libasan" not in Path("/proc/self/maps").read_text():  # it reserves terabytes
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    if not numbers:
        tried(TARGETS[name], Path(path).read_bytes())
        return
    target, (seed, seconds, most, first) = TARGETS[name], numbers
    corpus = () if int(first) < 0 else itertools.islice(target.corpus(), int(first), None)
    inputs = itertools.chain(corpus, itertools.islice(drawn(target, int(seed)), int(most)))
    explore(target, Path(path), inputs, time.monotonic() + float(seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
