"""Time and memory of grouping many patches: real ones, repeated with seeded edits.

    EXCISE_DATA=DIR python benchmarks/patches_scale.py [N..]

Each size runs in a process of its own, which reads one patch after the other, as a mailbox gives
them. Beside 50,000, rensa's MinHash and LSH group the same texts. `RESULTS-patches.md` holds a run.
Patch n is patch n modulo 1,312 of kernel_versions_dev; from the second round on, three words of its
changed lines are replaced. Seconds are those of the processor, of one thread.
"""

from __future__ import annotations

import math
import os
import random
import re
import subprocess
import sys
import time
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from functools import partial
from typing import Any

from measure import Ballast, data, peak, rows, timed

from excise.clustering import labels
from excise.patches import DISTANCE, LINKAGE, Patch, Pool, group, read
from excise.patches.features import edited_blocks

SIZES = (1_312, 2_000, 10_000, 50_000, 100_000)
BESIDE_PEER = 50_000
DENSE = 10_000
"""Largest number of patches whose whole matrix SciPy is given."""
WORD = re.compile(rb"[A-Za-z_][A-Za-z_0-9]{3,}")
EDITS = 3
PERMUTATIONS, BANDS = 128, 32


def texts(n: int) -> Iterator[bytes]:
    """Yield n patches."""
    real = [
        candidate["patch"].encode("latin-1")
        for row in rows("kernel_versions_dev.jsonl.gz")
        for candidate in row["candidates"]
    ]
    for at in range(n):
        text = real[at % len(real)]
        yield text if at < len(real) else edited(text, random.Random(at))


def edited(text: bytes, choice: random.Random) -> bytes:
    lines = text.split(b"\n")
    changed = [
        at for at, line in enumerate(lines)
        if line[:1] in b"+-" and line[:3] not in (b"+++", b"---") and WORD.search(line)
    ]  # fmt: skip
    for at in choice.sample(changed, min(EDITS, len(changed))):
        words = list(WORD.finditer(lines[at]))
        start, stop = choice.choice(words).span()
        lines[at] = lines[at][:start] + b"word_%d" % choice.randrange(10**6) + lines[at][stop:]
    return b"\n".join(lines)


def grouped(n: int) -> None:
    """Print one row of the table."""
    import scipy.cluster.hierarchy  # noqa: F401 - counted as there from the start

    base = peak() / 1024
    pool, reading, adding = Pool(), 0.0, 0.0
    for text in texts(n):
        start = time.process_time()
        message = read(text)[0]
        middle = time.process_time()
        pool.add(message.patch)
        reading += middle - start
        adding += time.process_time() - middle
    before = peak() / 1024
    clusters, grouping = timed(lambda: group(pool))
    found = list(clusters)
    whole = reading + adding + grouping
    print(
        f"| {n:,} | {reading:.1f} | {adding:.1f} | {grouping:.1f} | {whole:.1f} | {base:.0f} "
        f"| {before:.0f} | {peak() / 1024:.0f} | {len(found):,} | {len(found[0].members):,} |"
    )


def pool_of(n: int) -> Pool:
    pool = Pool()
    for text in texts(n):
        pool.add(read(text)[0].patch)
    return pool


def ours(n: int) -> None:
    """Print by how much grouping raises the peak, and the groups."""
    pool = pool_of(n)
    import scipy.cluster.hierarchy  # noqa: F401

    filled = Ballast()
    found = group(pool)
    print(filled.raised() / 1024, hash(frozenset(frozenset(cluster.members) for cluster in found)))


def theirs(n: int) -> None:
    """The same with the whole matrix and SciPy's linkage."""
    import numpy as np

    pool = pool_of(n)
    ids: dict[str, int] = {}
    same = np.array([ids.setdefault(pool.patch_id(at), at) for at in range(n)])
    import scipy.cluster.hierarchy  # noqa: F401

    near = pool.near(0.0)
    left, right = (array("i", [pair[side] for pair in near]) for side in (0, 1))
    values = array("d", [pair[2] for pair in near])
    del near
    filled = Ballast()
    distances = np.ones((n, n))
    np.fill_diagonal(distances, 0.0)
    distances[left, right] = distances[right, left] = 1.0 - np.frombuffer(values)
    for at in range(n):
        distances[at, same == same[at]] = 0.0
    found: dict[int, list[int]] = {}
    for at, label in enumerate(labels(distances, DISTANCE, LINKAGE)):
        found.setdefault(label, []).append(at)
    print(filled.raised() / 1024, hash(frozenset(map(frozenset, found.values()))))


def peer(n: int) -> None:
    """Print the seconds of MinHash and LSH from text to groups, and how many groups it finds.

    It estimates the overlap of sets of three words, without places or counts, and joins whatever
    falls into one bucket: a floor of what grouping such texts can cost.
    """
    from rensa import RMinHash, RMinHashLSH

    seconds, sketches = 0.0, []
    for text in texts(n):
        start = time.process_time()
        sketch = RMinHash(PERMUTATIONS, 1)
        sketch.update(shingles(text))
        sketches.append(sketch)
        seconds += time.process_time() - start
    groups, grouping = timed(
        lambda: buckets(RMinHashLSH(1 - DISTANCE, PERMUTATIONS, BANDS), sketches)
    )
    print(f"{seconds + grouping:.2f} {groups}")


def shingles(text: bytes) -> list[str]:
    """Return the signed runs of three words of the changed lines."""
    found: list[str] = []
    for line in text.decode("latin-1").split("\n"):
        if line[:1] in ("+", "-") and line[:3] not in ("+++", "---"):
            words = re.findall(r"\w+|[^\w\s]", line)
            found += (" ".join(words[at : at + 3]) for at in range(max(len(words) - 2, 1)))
    return found


def buckets(index: Any, sketches: list[Any]) -> int:  # noqa: ANN401 - rensa has no types
    """Join what an index takes for alike; return the number of groups."""
    index.insert_many(sketches)
    parent = list(range(len(sketches)))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = at = parent[parent[at]]
        return at

    for at, sketch in enumerate(sketches):
        for other in index.query(sketch):
            parent[root(other)] = root(at)
    return sum(root(at) == at for at in range(len(sketches)))


def counter(n: int = 300) -> None:
    """Print what a pair costs, beside multisets of Python's Counter."""
    pool = pool_of(1312)
    features = [counted(patch) for patch in pool.patches[:n]]
    start = time.process_time()
    for i in range(n):
        for j in range(i):
            (features[i] & features[j]).total()
    slow = (time.process_time() - start) / (n * (n - 1) / 2)
    for least in (0.0, 0.45):
        fast = min(timed(partial(pool.near, least))[1] for _ in range(5)) / (1312 * 1311 / 2)
        print(f"a pair, least {least}: {fast * 1e9:.0f} ns; Counter {slow * 1e6:.0f} us;", end="")
        print(f" ratio {slow / fast:,.0f}")


def counted(patch: Patch) -> Counter[Hashable]:
    """Return the features of a patch as strings, under the name of their file."""
    found: Counter[Hashable] = Counter()
    for block in edited_blocks(patch.files)[0]:
        old, new = grams(block.old), grams(block.new)
        for operation, part in (("keep", old & new), ("add", new - old), ("delete", old - new)):
            found.update({(block.name, operation, gram): count for gram, count in part.items()})
    return found


def grams(tokens: tuple[Hashable, ...]) -> Counter[Hashable]:
    return Counter(tokens[at : at + n] for n in (1, 2, 3, 4) for at in range(len(tokens) - n + 1))


def apart(*what: str) -> str:
    """Run this file again, alone."""
    command = [sys.executable, __file__, *what]
    environment = dict(os.environ, PYTHONHASHSEED="0")
    return subprocess.run(command, check=True, capture_output=True, env=environment).stdout.decode()


def print_exponents(sizes: list[int], costs: list[list[float]]) -> None:
    """Print how reading, counting, grouping and all of it grow from each size to the next."""
    for k in range(1, len(sizes)):
        steps = math.log(sizes[k] / sizes[k - 1])
        grown = (
            math.log(max(after, 0.01) / max(before, 0.01)) / steps
            for before, after in zip(costs[k - 1], costs[k], strict=True)
        )
        print(f"exponents, {sizes[k - 1]:,} to {sizes[k]:,}:", *(f"{rate:.2f}" for rate in grown))


def main(arguments: list[str]) -> int:
    data("kernel_versions_dev.jsonl.gz")
    if arguments and arguments[0] in PARTS:
        PARTS[arguments[0]](*map(int, arguments[1:]))
        return 0
    names = "patches", "reading s", "counting s", "grouping s", "all s", "MB at the start"
    names = *names, "MB read", "MB at most", "groups", "largest"
    print(f"| {' | '.join(names)} |\n{'|---' * len(names)}|")
    sizes, costs = [int(n) for n in arguments or SIZES], []
    for n in sizes:
        row = apart("size", str(n))
        costs.append([float(cell) for cell in row.split("|")[2:6]])
        print(row, end="", flush=True)
    print_exponents(sizes, costs)
    if not arguments:
        seconds, groups = apart("peer", str(BESIDE_PEER)).split()
        print(f"\nrensa, MinHash and LSH, {BESIDE_PEER:,} patches: {seconds} s, {groups} groups")
        one, other = (apart(part, str(DENSE)).split() for part in ("ours", "theirs"))
        print(f"\ngrouping {DENSE:,} raises the peak by {float(one[0]):.0f} MB, ", end="")
        print(f"SciPy on the whole matrix by {float(other[0]):.0f} MB ", end="")
        print(f"({float(other[0]) / float(one[0]):.0f} times), same groups: {one[1] == other[1]}")
        print(apart("counter"), end="")
    return 0


PARTS: dict[str, Callable[..., None]] = {
    "size": grouped,
    "ours": ours,
    "theirs": theirs,
    "counter": counter,
    "peer": peer,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
