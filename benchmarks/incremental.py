"""What is not done twice (`make bench`): ratios within one run, in seconds of the processor."""

from __future__ import annotations

import gc
import typing
from dataclasses import replace
from itertools import cycle, islice
from statistics import median

import msgspec
import workloads
from measure import peak, timed

from excise import CancelFlag
from excise.patches import Pool, group, parse
from excise.text import Revision
from excise_server.editor.analysis import Analysis, Analyst, Snapshot
from excise_server.processes.parsers import Guard
from excise_server.wire.worker import WorkFrame
from excise_server.workers.scored import pack

COPIES = 12_001
ROUNDS = 5
SHAPES = (20, 3_000), (64, 2_000)
"""Candidates and lines."""
PATCH = b"""--- a/x.c
+++ b/x.c
@@ -1,3 +1,3 @@
 a();
-b(x, y);
+c(x, y, z);
 d();
"""


def candidates(count: int, lines: int) -> tuple[str, list[str]]:
    """Return a Python text of so many lines, and others that differ from it in 11 places."""
    whole = workloads.lines_of(typing, 2_000)
    source = list(islice(cycle(whole), lines))
    texts = ["\n".join(workloads.edited(source, 11, workloads.SEED + n)) for n in range(count)]
    return "\n".join(source), texts


class Review:
    """Candidates of a long Python file, as a worker of the server analyses them."""

    def __init__(self, count: int, lines: int) -> None:
        """Analyse them for the first time."""
        self.origin, self.texts = candidates(count + ROUNDS, lines)
        self.revisions = [Revision(str(n), text) for n, text in enumerate(self.texts[:count])]
        self.analyst = Analyst()
        self.buffer = self.origin
        self.analysis, self.first = timed(self.analyse)

    def analyse(self) -> Analysis:
        """Analyse what is there now."""
        snapshot = Snapshot(
            "file:///a.py", self.origin, tuple(self.revisions), "python", buffer=self.buffer
        )
        return self.analyst.analyse(snapshot, CancelFlag())

    def rewritten(self) -> float:
        """Return the seconds after one candidate's file was rewritten: the median."""
        times = []
        for n, text in enumerate(self.texts[-ROUNDS:]):
            at = n % len(self.revisions)
            self.revisions[at] = replace(self.revisions[at], text=text)
            self.analysis, spent = timed(self.analyse)
            times.append(spent)
        return median(times)

    def key(self, guard: Guard) -> tuple[int, int, int, float]:
        """Return texts parsed, pairs scored, bytes that a worker sends, and seconds."""
        before = guard.parses, self.analyst.pairs
        self.buffer = self.buffer.replace("\n", " \n", 1)
        analysis, spent = timed(self.analyse)
        message = pack(analysis, 1, WorkFrame(0, 0, 0), 1, whole=False)
        sent = len(msgspec.msgpack.encode(message))
        return guard.parses - before[0], self.analyst.pairs - before[1], sent, spent


def show(count: int, lines: int, guard: Guard) -> None:
    """Print what a rewritten candidate and a key cost among so many, beside the first analysis."""
    alone, many = Review(1, lines), Review(count, lines)
    beside, only = many.rewritten(), alone.rewritten()
    parses, pairs, sent, spent = many.key(guard)
    print(f"{count} candidates of {lines:,} lines:")
    print(f"  first analysis: {many.first * 1e3:,.0f} ms")
    print(f"  one rewritten: {beside * 1e3:,.0f} ms, 1/{many.first / beside:.0f} of that; ", end="")
    print(f"the only one: {only * 1e3:,.0f} ms; {count} against 1: {beside / only:.1f}")
    print(f"  a key: {spent * 1e3:.0f} ms, {parses} texts parsed, {pairs} pairs scored, ", end="")
    print(f"{sent:,} bytes from the worker")


def main() -> None:
    """Print all rows."""
    guard = Guard()
    guard.install()
    gc.disable()  # as in a worker, which collects while nobody asks
    for count, lines in SHAPES:
        show(count, lines, guard)
    pool, patch = Pool(), parse(PATCH)
    _, read = timed(lambda: [pool.add(patch) for _ in range(COPIES)])
    groups, spent = timed(lambda: group(pool))
    print(
        f"{COPIES:,} copies of a patch: counted in {read * 1e3:,.0f} ms, {len(groups)} group in ",
        end="",
    )
    print(f"{spent * 1e3:,.0f} ms")
    print(f"at most {peak() >> 10:,} MB")


if __name__ == "__main__":
    main()
