"""The peers: well-kept libraries, and Excision Score written with them the plain way.

`CounterScore` is what a careful researcher writes: rapidfuzz's true LCS alignments, kept origin
positions as sets, n-grams in `collections.Counter`. It computes our definition (`lcs:star`,
`del:f1`), and the benchmark checks that it returns our numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pygit2
from rapidfuzz.distance import LCSseq

ORDERS = range(1, 5)


def rapidfuzz_edits(origin: Sequence[object], revision: Sequence[object]) -> object:
    """Return rapidfuzz's edit operations along a true LCS."""
    return LCSseq.editops(origin, revision)


def git_minimal(origin: bytes, revision: bytes) -> object:
    """Return git's own minimal diff (xdiff), one token a line."""
    return pygit2.Patch.create_from(
        origin, revision, context_lines=0, flag=pygit2.enums.DiffOption.MINIMAL
    )


def as_lines(tokens: Sequence[int]) -> bytes:
    """Return tokens as lines, which is all that git compares."""
    return b"".join(b"%d\n" % token for token in tokens)


class CounterScore:
    """Excision Score of token sequences, with sets and counters."""

    def __init__(self, origin: list[int]) -> None:
        """Take the origin."""
        self.origin = origin

    def kept(self, revision: list[int]) -> dict[int, int]:
        """Return for every kept origin position the revision's."""
        blocks = LCSseq.opcodes(self.origin, revision)
        return {
            block.src_start + at: block.dest_start + at
            for block in blocks
            if block.tag == "equal"
            for at in range(block.src_end - block.src_start)
        }

    def similarity(
        self, a: list[int], kept_a: dict[int, int], b: list[int], kept_b: dict[int, int]
    ) -> float:
        """Return the symmetric score of two aligned revisions."""
        keep: Counter[tuple[str, int]] = Counter()
        pooled: list[Counter[tuple[int, ...]]] = [Counter(), Counter(), Counter()]
        last = (-1, -1, -1)
        conserved = sorted(kept_a.keys() & kept_b.keys())
        columns = [(at, kept_a[at], kept_b[at]) for at in conserved]
        for column in [*columns, (len(self.origin), len(a), len(b))]:
            if column[0] > last[0] + 1 or column[1] > last[1] + 1 or column[2] > last[2] + 1:
                grams = [
                    n_grams(side[before + 1 : now])
                    for side, before, now in zip((self.origin, a, b), last, column, strict=True)
                ]
                by_a, by_b = grams[0] & grams[1], grams[0] & grams[2]
                keep += tally(by_a & by_b, by_a, by_b)
                for total, found in zip(pooled, grams, strict=True):
                    total.update(found)
            last = column
        o, in_a, in_b = pooled
        add = tally((in_a - o) & (in_b - o), in_a - o, in_b - o)
        delete = tally((o - in_a) & (o - in_b), o - in_a, o - in_b)
        return mean([value for op in (keep, add, delete) if (value := operation(op)) is not None])


def n_grams(segment: list[int]) -> Counter[tuple[int, ...]]:
    """Count the 1- to 4-grams of a segment."""
    return Counter(
        tuple(segment[at : at + n]) for n in ORDERS for at in range(len(segment) - n + 1)
    )


def tally(
    both: Counter[tuple[int, ...]], a: Counter[tuple[int, ...]], b: Counter[tuple[int, ...]]
) -> Counter[tuple[str, int]]:
    """Count n-grams by side and order."""
    found: Counter[tuple[str, int]] = Counter()
    for side, grams in (("both", both), ("a", a), ("b", b)):
        for gram, number in grams.items():
            found[side, len(gram)] += number
    return found


def operation(counts: Counter[tuple[str, int]]) -> float | None:
    """Return the mean F over the defined orders."""
    values = [
        2 * counts["both", n] / (counts["a", n] + counts["b", n])
        for n in ORDERS
        if counts["a", n] or counts["b", n]
    ]
    return mean(values) if values else None


def mean(values: list[float]) -> float:
    """Return the mean; 1 of nothing."""
    return sum(values) / len(values) if values else 1.0
