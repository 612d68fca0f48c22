"""Every row of the goals table, side by side with the peers in one run (`make bench`)."""

from __future__ import annotations

import sys
import time
from array import array
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import measure
import numpy as np
import peers
import workloads
from rich.console import Console
from rich.table import Table

from excise import ScoreMatrix, syntax
from excise.kernels import _counts, _lcs

K = 64
HERE = Path(__file__).resolve().parent


class Row(NamedTuple):
    """A goal, what was measured, and whether it was met."""

    goal: str
    peer: str
    wanted: float
    measured: str
    met: bool
    absolute: str


def timed(goal: str, peer: str, wanted: float, found: measure.Ratio) -> Row:
    """Make a row of a ratio."""
    absolute = f"{found.ours * 1e3:,.3f} ms / {found.theirs * 1e3:,.2f} ms"
    return Row(goal, peer, wanted, str(found), found.median >= wanted, absolute)


def alignments() -> Iterator[Row]:
    """Alignment of b and d against rapidfuzz and git; a, c and e for the record."""
    wanted = {"b": (1000, 200), "d": (3.5, 60)}
    for name in ("a", "b", "c", "c lines", "d", "e"):
        origin, revision = workloads.SHAPES[name]().ints()
        ours = partial(_lcs.edits, origin, revision)
        lists = origin.tolist(), revision.tolist()
        lines = peers.as_lines(origin), peers.as_lines(revision)
        goals = wanted.get(name, (1, 1))
        label = f"align {name} ({len(origin):,} units)"
        rapid = measure.ratio(ours, partial(peers.rapidfuzz_edits, *lists))
        yield timed(label, "rapidfuzz LCSseq.editops", goals[0], rapid)
        yield timed(
            label,
            "git (MINIMAL)",
            goals[1],
            measure.ratio(ours, partial(peers.git_minimal, *lines)),
        )


def memory() -> Iterator[Row]:
    """Extra memory to align c by tokens."""
    ours, theirs = measure.peak_kilobytes("ours"), measure.peak_kilobytes("theirs")
    found = theirs / ours
    yield Row(
        "align c, extra peak memory",
        "rapidfuzz LCSseq.editops",
        400,
        f"{found:,.0f}",
        found >= 400,
        f"{ours:,} kB / {theirs:,} kB",
    )


THREADED = 4
"""The matrix for the threads row takes the revisions so many times, or it would last too short."""


class FromInts:
    """k revisions of b as ints, scored by us and by the Counter implementation."""

    def __init__(self) -> None:
        """Make the workload."""
        texts = [workloads.text_b(), *workloads.revisions_of_b(K)]
        names: dict[str, int] = {}
        self.origin, *self.revisions = (
            workloads.interned(workloads.tokens([text]), names) for text in texts
        )
        # Eight tokens a line, as code has them: what our score by place needs beside the peer's.
        self.lines = array("i", (token // 8 for token in range(len(self.origin))))
        self.peer = peers.CounterScore(self.origin.tolist())
        self.lists = [revision.tolist() for revision in self.revisions]

    def batch(self, k: int, lines: array | None = None) -> tuple[_counts.Batch, np.ndarray]:
        """Align k revisions; with lines they are compared place by place."""
        aligned = [(_lcs.edits(self.origin, r), r, None) for r in self.revisions[:k]]
        return _counts.Batch(self.origin, None, aligned, lines), np.zeros((4, k, k))

    def ours(self, k: int) -> np.ndarray:
        """Return the matrix of k revisions, one thread."""
        batch, standings = self.batch(k, self.lines)
        batch.rows(0, 1, standings)
        return standings[0]

    def pooled(self, k: int) -> np.ndarray:
        """Return the matrix that the peer computes: pooled over the whole text."""
        batch, standings = self.batch(k)
        batch.rows(0, 1, standings)
        return standings[0]

    def theirs(self, k: int) -> list[float]:
        """Return the pairs of k revisions by the peer."""
        kept = [self.peer.kept(r) for r in self.lists[:k]]
        return [
            self.peer.similarity(self.lists[i], kept[i], self.lists[j], kept[j])
            for i in range(k)
            for j in range(i + 1, k)
        ]

    def check(self) -> None:
        """Both must compute the same numbers."""
        ours = self.pooled(6)
        assert np.allclose(ours[np.triu_indices(6, 1)], self.theirs(6), atol=1e-12)


def scores(work: FromInts) -> Iterator[Row]:
    """One triple and k = 64 from ints."""
    peer = "rapidfuzz + Counter"
    work.check()
    yield timed(
        "one triple of b, from ints",
        peer,
        500,
        measure.ratio(lambda: work.ours(2), lambda: work.theirs(2)),
    )
    yield timed(
        f"k = {K} on b, from ints",
        peer,
        1500,
        measure.ratio(lambda: work.ours(K), lambda: work.theirs(K), rounds=3),
    )


def from_text(work: FromInts) -> Iterator[Row]:
    """K = 64 from text, nested, against parsing and walking plus the peer's pipeline."""
    origin, revisions = workloads.text_b(), workloads.revisions_of_b(K)

    def ours() -> object:
        return ScoreMatrix.from_texts(origin, revisions, language="python")

    def theirs() -> object:
        for text in (origin, *revisions):
            syntax.tokenise(text, "python")
        return work.theirs(K)

    yield timed(
        f"k = {K} on b, from text, nested",
        "tree-sitter + rapidfuzz + Counter",
        60,
        measure.ratio(ours, theirs, rounds=3),
    )


def without_grammar() -> Iterator[Row]:
    """Two revisions of 1,000,000 lines without a grammar: a score, against two diffs."""
    origin, *revisions = workloads.million_lines()
    encoded = [text.encode() for text in (origin, *revisions)]
    size = sum(map(len, encoded))

    def theirs() -> object:
        return [peers.git_minimal(encoded[0], revision) for revision in encoded[1:]]

    ours = partial(ScoreMatrix.from_texts, origin, revisions)
    goal = "1,000,000 lines without a grammar, 2 edits, from text"
    yield timed(goal, "git (MINIMAL), both pairs", 1 / 3, measure.ratio(ours, theirs, rounds=3))
    extra = measure.peak_kilobytes("lexical") * 1024
    found = 4 * size / extra
    absolute = f"{extra / 1e6:,.0f} MB / {size / 1e6:,.0f} MB"
    row = "the same, extra peak memory"
    yield Row(row, "4 times the texts", 1, f"{found:,.1f}", found >= 1, absolute)


def broken() -> Iterator[Row]:
    """A revision with broken syntax, read beside others of its origin, against one bare parse."""
    for name, grammar, texts in (
        ("3,000 lines of C with macros", "c", workloads.broken_c(8)),
        ("b with a broken line", "python", workloads.broken_python(8)),
    ):
        origin, first, *others = texts
        matrix = ScoreMatrix.from_texts(origin, [first], language=grammar)

        def ours(matrix: ScoreMatrix = matrix, texts: list[str] = others) -> object:
            return [matrix.replaced("1", text) for text in texts]

        def theirs(grammar: str = grammar, texts: list[str] = others) -> object:
            return [syntax.parse(text, grammar) for text in texts]

        goal = f"a revision of {name}, from text"
        yield timed(goal, "one bare parse of it", 1 / 2, measure.ratio(ours, theirs))


def minified() -> Iterator[Row]:
    """Three texts of JavaScript on one line each, from text."""
    origin = "".join(f"function f{n}(a,b){{return a?b+{n}:g(a,'{n}')}};" for n in range(15_000))
    texts = [origin, *(origin.replace(f"b+{n}:", f"b-{n}:") for n in (3_000, 9_000))]
    size = sum(map(len, texts))
    work = partial(ScoreMatrix.from_texts, origin, texts[1:], language="javascript")
    taken = min(measure.timed(work)[1] for _ in range(3))
    found = size / taken / 1e6
    absolute = f"{taken:,.2f} s / {size / 1e3:,.0f} kB"
    row = "minified JavaScript, bytes a microsecond"
    yield Row(row, "no peer", 2, f"{found:,.1f}", found >= 2, absolute)


def threads(work: FromInts) -> Iterator[Row]:
    """The matrix with two threads against one: its rows alone, and from text."""

    def run(map_rows: object) -> object:
        standings = np.zeros((4, THREADED * K, THREADED * K))
        return list(map_rows(lambda row: batch.rows(row, 32, standings), range(32)))

    aligned = [(_lcs.edits(work.origin, r), r, None) for r in work.revisions] * THREADED
    batch = _counts.Batch(work.origin, None, aligned, work.lines)

    with ThreadPoolExecutor(2) as executor:
        found = measure.ratio(
            lambda: run(executor.map), lambda: run(map), rounds=15, clock=time.perf_counter
        )
    yield timed(f"k = {THREADED * K} on b, two threads", "one thread", 1.8, found)
    texts = workloads.revisions_of_b(K)
    matrix = partial(ScoreMatrix.from_texts, workloads.text_b(), texts, language="python")
    with ThreadPoolExecutor(2) as executor:
        found = measure.ratio(
            lambda: matrix(map=executor.map), matrix, rounds=9, clock=time.perf_counter
        )
    yield timed(f"k = {K} on b, from text, two threads", "one thread", 1.7, found)


def main() -> None:
    """Print the table, and write it where RESULTS.md can take it."""
    work = FromInts()
    table = Table(title="Ratio peer / ours: median (min to max)")
    for column in ("goal", "peer", "wanted", "measured", "", "ours / peer"):
        table.add_column(column)
    rows = []
    parts = (
        alignments(),
        memory(),
        scores(work),
        from_text(work),
        broken(),
        without_grammar(),
        minified(),
    )
    for part in (*parts, threads(work)):
        for row in part:
            rows.append(row)
            print(f"  measured: {row.goal}", file=sys.stderr)
    for row in rows:
        mark = "met" if row.met else "MISSED"
        table.add_row(row.goal, row.peer, f">= {row.wanted:.3g}", row.measured, mark, row.absolute)
    Console(width=150).print(table)
    print(measure.machine())


if __name__ == "__main__":
    main()
