"""The longest common subsequence of three sequences, exactly: the alignment of equation 3 itself.

``star`` and ``paper`` (section 3) are two ways not to pay for it: a table of O(l^3) cells.

    EXCISE_DATA=DIR python -m tests.reference.exact

counts how often either is shorter on real triples.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path

from tests.reference import streams
from tests.reference.lcs import common_prefix
from tests.reference.regions import Column, conserved

MOST_CELLS = 60_000
"""Largest table, of what is left without what all three have at both ends."""

Sequences = tuple[Sequence[Hashable], Sequence[Hashable], Sequence[Hashable]]


class TooLargeError(ValueError):
    """The table would have more than `MOST_CELLS` cells."""


def three_way_lcs(three: Sequences) -> list[Column]:
    """The places of a longest common subsequence in each of three sequences.

    Of several, that of the walk of section 2: from the end, drop the last of the first sequence if
    that costs nothing, else of the second, else of the third, else match all.
    """
    prefix = shared(three)
    rest: Sequences = tuple(one[prefix:] for one in three)
    suffix = shared(tuple(one[::-1] for one in rest))
    x, y, z = (one[: len(one) - suffix] for one in rest)
    ends = [prefix + len(one) for one in (x, y, z)]
    return [
        *((i, i, i) for i in range(prefix)),
        *(tuple(prefix + place for place in column) for column in walk_back(x, y, z)),
        *(tuple(end + i for end in ends) for i in range(suffix)),
    ]


def shared(three: Sequences) -> int:
    x, y, z = three
    return min(common_prefix(x, y), common_prefix(x, z))


def walk_back(x: Sequence[Hashable], y: Sequence[Hashable], z: Sequence[Hashable]) -> list[Column]:
    if (len(x) + 1) * (len(y) + 1) * (len(z) + 1) > MOST_CELLS:
        raise TooLargeError
    plane = [[0] * (len(z) + 1) for _ in range(len(y) + 1)]
    table = [plane]
    for token in x:
        below, plane = plane, [[0] * (len(z) + 1)]
        for j, other in enumerate(y):
            row = [0]
            for k, third in enumerate(z):
                if token == other == third:
                    row.append(below[j][k] + 1)
                else:
                    row.append(max(below[j + 1][k + 1], plane[j][k + 1], row[k]))
            plane.append(row)
        table.append(plane)
    i, j, k = len(x), len(y), len(z)
    columns: list[Column] = []
    while i and j and k:
        if table[i - 1][j][k] == table[i][j][k]:
            i -= 1
        elif table[i][j - 1][k] == table[i][j][k]:
            j -= 1
        elif table[i][j][k - 1] == table[i][j][k]:
            k -= 1
        else:
            i, j, k = i - 1, j - 1, k - 1
            columns.append((i, j, k))
    return columns[::-1]


# --- on real triples -----------------------------------------------------------------------------


def real_triples(data: Path) -> Iterator[tuple[str, str, str, str]]:
    """The grammar, origin, reference and hypothesis of each distinct output of a model."""
    for items, outputs in (
        ("humanevalfix_python.jsonl", "hef_python_octocoder.jsonl"),
        ("humanevalfix_python.jsonl", "hef_python_astraios.jsonl"),
        ("humanevalfix_python.jsonl", "hef_python_many_models_dev.jsonl.gz"),
        ("humanevalfix_java.jsonl", "hef_java_astraios.jsonl"),
        ("canitedit_dev.jsonl", "canitedit_18models_dev.jsonl.gz"),
    ):
        by_id = {item["id"]: item for item in rows(data / items)}
        texts = {(row["id"], row["revision"]) for row in rows(data / "labelled" / outputs)}
        for name, hypothesis in sorted(texts):
            item = by_id[name]
            yield item["language"], item["origin"], item["reference"], hypothesis


def rows(path: Path) -> Iterator[dict]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def main() -> None:
    """Count the triples in which all three differ, and those where a form falls short."""
    counts: dict[str, Counter] = {granularity: Counter() for granularity in ("token", "line")}
    for grammar, *texts in dict.fromkeys(real_triples(Path(os.environ["EXCISE_DATA"]))):
        three = [streams.from_text(streams.normalise(text), grammar) for text in texts]
        for granularity, seen in counts.items():
            values = [[unit.value for unit in streams.units(one, granularity)] for one in three]
            if any(
                one == other for one, other in zip(values, values[1:] + values[:1], strict=True)
            ):
                continue  # every way finds the same
            try:
                longest = len(three_way_lcs(tuple(values)))
            except TooLargeError:
                seen["too large"] += 1
                continue
            seen["triples"] += 1
            for lcs in ("star", "paper"):
                options = {"granularity": granularity, "lcs": lcs, "symmetric": False}
                found = len(conserved(*three, **options))
                assert found <= longest
                seen[lcs] += found < longest
    for granularity, seen in counts.items():
        total = seen["triples"]
        print(f"{granularity}: {total:,} triples, {seen['too large']:,} more are too large")
        for lcs in ("star", "paper"):
            print(f"    {lcs} is shorter in {seen[lcs]:,} ({seen[lcs] / total:.1%})")


if __name__ == "__main__":
    sys.exit(main())
