"""What knowing the place of an edit does: figures of docs/patches.md and docs/algorithm.md.

    python benchmarks/places.py [PAIRS [TRIPLES]]

Pairs (1,000) are patches made by git on files of the Python that runs: one guard in two functions,
and on a newer tree. Triples (18,000) are the random ones of the tests, a third of them sequences
of tokens, a third lexical texts, a third Python; listed are those whose counts all agree at one
place although the revisions are not equal. Both follow from seeds.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from same_guard import pairs
from tests.reference.triples import text_triple, token_triple

from excise import similarity
from excise.agreement import SAME
from excise.patches import Pool, group, parse
from excise.text import normalise
from excise.tokens import stream

Text = str | list[str]


def same_guard(count: int) -> None:
    """Print the words and scores of a guard in another function, and on a newer tree."""
    elsewhere: Counter[tuple[str, str]] = Counter()
    newer: Counter[tuple[str, str]] = Counter()
    together = 0
    with tempfile.TemporaryDirectory() as folder:
        for pair in pairs(count, Path(folder)):
            pool = Pool()
            for text in (pair.one, pair.other, pair.newer):
                pool.add(parse(text))
            for found, other in ((elsewhere, 1), (newer, 2)):
                likeness = pool.compare(0, other)
                found[f"{likeness.value:.2f}", likeness.word] += 1
            together += any({0, 1} <= set(cluster.members) for cluster in group(pool))
    for title, found in (("in another function", elsewhere), ("on a newer tree", newer)):
        print(f"{count} guards, {title}:")
        for (value, word), times in found.most_common():
            print(f"  {times}: {value}, {word}")
    print(f"  in one group with that of the other function: {together}")


def rearranged(count: int) -> None:
    """List random triples whose counts all agree at one place, but whose revisions are unequal."""
    kinds = ((token_triple, None), (text_triple, None), (text_triple, "python"))
    called_same = listed = 0
    for seed in range(count):
        make, language = kinds[seed % len(kinds)]
        origin, a, b = make(Random(seed))
        score = similarity(origin=origin, a=a, b=b, language=language)
        if score.anchored < 1 or are_equal(a, b, language):
            continue
        listed += 1
        called_same += score.word in SAME
        print(f"  {score.word}, notes {score.notes}:\n    {origin!r}\n    {a!r}\n    {b!r}")
    print(f"{count} random triples: {listed} with anchored 1 and unequal tokens,", end=" ")
    print(f"{called_same} of them called the same")


def are_equal(a: Text, b: Text, language: str | None) -> bool:
    """Whether two revisions have equal tokens."""
    return tokens_of(a, language) == tokens_of(b, language)


def tokens_of(text: Text, language: str | None) -> list[str]:
    return list(stream(normalise(text), language).tokens) if isinstance(text, str) else text


def main(arguments: list[str]) -> None:
    """Print both."""
    numbers = [int(argument) for argument in arguments]
    same_guard(numbers[0] if numbers else 1000)
    rearranged(numbers[1] if len(numbers) > 1 else 18000)


if __name__ == "__main__":
    main(sys.argv[1:])
