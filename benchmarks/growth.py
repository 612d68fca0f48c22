"""How time grows with lines, edits and revisions (`make bench`): tables with fitted exponents.

Seconds are those of the processor, the least of several runs. The exponent is the slope of a
straight line through the logarithms, least squares: 1 is linear, 2 quadratic. It is fitted to the
larger half of the sizes, where constant costs no longer hide it. Growth with the number of patches
is in `patches_scale.py`.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import workloads
from measure import timed

from excise import ScoreMatrix
from excise.kernels import _counts, _lcs
from excise_server.foundation.changes import Side, patch_files
from excise_server.review.candidate import Candidate
from excise_server.review.taking import Choice, take

ROUNDS = 3
Work = Callable[[], object]


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Return the slope of log cost over log size, for the larger half of the sizes."""
    start = len(sizes) // 2
    slope, _ = np.polyfit(np.log(sizes[start:]), np.log(costs[start:]), 1)
    return float(slope)


def ints(lines: list[str], texts: Sequence[list[str]]) -> tuple[array[int], list[array[int]]]:
    """Return the tokens of an origin and of its revisions as ints of one vocabulary."""
    names: dict[str, int] = {}
    origin, *revisions = (
        workloads.interned(workloads.tokens(text), names) for text in (lines, *texts)
    )
    return origin, revisions


def by_lines() -> Iterator[tuple[int, Work]]:
    """Two revisions of n lines of C, 10 edits each, read without a grammar and scored."""
    for size in (2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000):
        lines = workloads.c_lines(size)
        texts = (workloads.edited(lines, 10, seed, workloads.C) for seed in (1, 2))
        origin, *revisions = ("\n".join(text) for text in (lines, *texts))
        yield size, partial(ScoreMatrix.from_texts, origin, revisions)


def by_edits() -> Iterator[tuple[int, Work]]:
    """The alignment of 30,000 lines of C, as tokens, with a revision that has d edits."""
    lines = workloads.c_lines()
    for size in (4, 16, 64, 256, 1_024):
        origin, (revision,) = ints(lines, [workloads.edited(lines, size, code=workloads.C)])
        yield size, partial(_lcs.edits, origin, revision)


def by_revisions() -> Iterator[tuple[int, Work]]:
    """All pairs of k revisions of b, from ints, place by place."""
    lines = workloads.text_b().split("\n")
    sizes = 32, 64, 128, 256, 512
    texts = [workloads.edited(lines, 11, seed) for seed in range(sizes[-1])]
    origin, revisions = ints(lines, texts)
    places = array("i", (token // 8 for token in range(len(origin))))
    for size in sizes:
        yield size, partial(pairs, origin, revisions[:size], places)


def pairs(origin: array[int], revisions: list[array[int]], places: array[int]) -> None:
    """Score all pairs."""
    aligned = [(_lcs.edits(origin, revision), revision, None) for revision in revisions]
    batch = _counts.Batch(origin, None, aligned, places)
    batch.rows(0, 1, np.zeros((4, len(revisions), len(revisions))))


def by_texts() -> Iterator[tuple[int, Work]]:
    """The matrix of k revisions of b from text, by the grammar."""
    texts = workloads.revisions_of_b(64)
    for size in (4, 8, 16, 32, 64):
        work = partial(ScoreMatrix.from_texts, language="python")
        yield size, partial(work, workloads.text_b(), texts[:size])


def by_hunks() -> Iterator[tuple[int, Work]]:
    """A take of n hunks, one by one, of a candidate that edits every fourth line."""
    for size in (625, 1_250, 2_500, 5_000, 10_000):
        lines = [f"value_{number} = {number}" for number in range(4 * size)]
        edited = [f"{line} + 1" if at % 4 == 1 else line for at, line in enumerate(lines)]
        old, new = ({"a.txt": side("\n".join(text) + "\n")} for text in (lines, edited))
        candidate = Candidate("a", "a", "", "", old=old, new=new)
        choices = [Choice("a", "a.txt", (at, at + 1)) for at in range(1, 4 * size, 4)]
        yield size, partial(take, [[candidate]], choices)


def by_renames() -> Iterator[tuple[int, Work]]:
    """The files of a candidate that moves n files of 100 lines and changes a line of each.

    Of more than 200, only those are renamed whose bytes stay.
    """
    lines, rng = workloads.text_b().split("\n"), random.Random(workloads.SEED)
    for size in (25, 50, 100, 200):
        texts = [[f"{rng.choice(lines)} {rng.random()}" for _ in range(100)] for _ in range(size)]
        old = {f"old/{at}.py": side("\n".join(text)) for at, text in enumerate(texts)}
        new = {f"new/{at}.py": side("\n".join(["x", *text[1:]])) for at, text in enumerate(texts)}
        yield size, partial(patch_files, old, new)


def side(text: str) -> Side:
    """Return a file with a text."""
    return Side("100644", text.encode())


def main() -> None:
    """Print a table for each of them."""
    for unit, workload in (
        ("lines", by_lines),
        ("edits", by_edits),
        ("revisions", by_revisions),
        ("revisions", by_texts),
        ("hunks", by_hunks),
        ("renames", by_renames),
    ):
        rows = [(size, min(timed(work)[1] for _ in range(ROUNDS))) for size, work in workload()]
        print(f"\n{workload.__doc__}\n\n| {unit} | ms | us for each |\n|---|---|---|")
        for size, cost in rows:
            print(f"| {size:,} | {cost * 1e3:,.2f} | {cost / size * 1e6:,.1f} |")
        print(f"\nexponent: {exponent(*zip(*rows, strict=True)):.2f}")


if __name__ == "__main__":
    main()
