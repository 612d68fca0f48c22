"""What 0/0 decides: Excision Score's formula and SARI under each convention (docs/evaluation.md).

``EXCISE_DATA=DIR python benchmarks/conventions.py`` prints the table. No guards here: the formula
alone, on the counts of the library.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from statistics import mean

import numpy as np
from evaluation import SETS
from measure import rows

import excise
from excise.evaluation import Item
from excise.evaluation.statistics import pearson

Counts = tuple[int, int, int]
"""Of one order of one operation: in both, in the reference, in the hypothesis."""

Operations = tuple[Sequence[Counts], Sequence[Counts], Sequence[Counts]]
LANGUAGES = ("python", "js", "java", "go", "cpp", "rust")


def ratio(part: int, whole: int, empty: Fraction | None) -> Fraction | None:
    """Return a fraction, or what stands for 0/0 (None: nothing)."""
    return Fraction(part, whole) if whole else empty


def f1(counts: Counts, empty: Fraction | None) -> Fraction | None:
    """Return the F of precision and recall, each with its own 0/0."""
    both, a, b = counts
    if empty is None:
        return Fraction(2 * both, a + b) if a + b else None
    p, r = ratio(both, b, empty), ratio(both, a, empty)
    assert p is not None
    assert r is not None
    return 2 * p * r / (p + r) if p + r else Fraction(0)


def precision(counts: Counts, empty: Fraction | None) -> Fraction | None:
    """Return the precision; with nothing for 0/0, 0 where the other side has some."""
    both, a, b = counts
    if empty is None:
        return ratio(both, b, Fraction(0) if a else None)
    return ratio(both, b, empty)


def score(operations: Operations, empty: Fraction | None) -> float:
    """Return the mean of keep, add and delete."""
    keep, add, delete = operations
    parts = [
        defined([f1(counts, empty) for counts in keep]),
        defined([f1(counts, empty) for counts in add]),
        defined([precision(counts, empty) for counts in delete]),
    ]
    value = defined(parts)
    return 1.0 if value is None else float(value)


def defined(values: Iterable[Fraction | None]) -> Fraction | None:
    """Return the mean of what is defined."""
    found = [value for value in values if value is not None]
    return sum(found, Fraction(0)) / len(found) if found else None


def es(item: Item) -> Operations:
    """Return the counts of Excision Score."""
    origin, (reference, *_), hypothesis = item.texts
    counts = excise.excision_score(
        origin=origin,
        reference=reference,
        hypothesis=hypothesis,
        comments=item.comments,
        language=item.language,
    ).counts
    return tuple(
        [(c.anywhere, c.a, c.b) for c in part] for part in (counts.keep, counts.add, counts.delete)
    )  # type: ignore[return-value]


def sari(item: Item) -> Operations:
    """Return the counts of SARI on multisets of words, one reference."""
    words = [text.lower().split() for text in (item.origin, item.references[0], item.hypothesis)]
    keep, add, delete = [], [], []
    for n in (1, 2, 3, 4):
        o, a, b = (Counter(zip(*(text[at:] for at in range(n)), strict=False)) for text in words)
        for into, x, y in ((keep, o & a, o & b), (add, a - o, b - o), (delete, o - a, o - b)):
            into.append(((x & y).total(), x.total(), y.total()))
    return keep, add, delete


def main() -> None:
    """Print the table as Markdown."""
    fixes = [item for name in LANGUAGES for item in rows(f"humanevalfix_{name}.jsonl")]
    chosen = ("octocoder", "python", "java")
    print(f"| formula | 0/0 | do-nothing | reproduction | {' | '.join(chosen)} |")
    print("|---|---|---|---|---|---|---|")
    for name, count in (("ES", es), ("SARI", sari)):
        for label, empty in (("left out", None), ("0", Fraction(0)), ("1", Fraction(1))):
            idle, same = (ends(fixes, count, empty, which) for which in ("origin", "reference"))
            r = [f"{agreement(one, count, empty):.3f}" for one in chosen]
            print(f"| {name} | {label} | {idle:.3f} | {same:.3f} | {' | '.join(r)} |")


def ends(
    fixes: Sequence[dict[str, str]],
    count: Callable[[Item], Operations],
    empty: Fraction | None,
    which: str,
) -> float:
    """Return the mean score of an echo of the origin, or of the reference."""
    return mean(score(count(read(item, item[which])), empty) for item in fixes)


def agreement(name: str, count: Callable[[Item], Operations], empty: Fraction | None) -> float:
    """Return Pearson's r with the verdicts of a set."""
    outputs, items = SETS[name]
    by_id = {item["id"]: item for item in rows(items)}
    found = list(rows("labelled", outputs))
    x = [score(count(read(by_id[one["id"]], one["revision"])), empty) for one in found]
    y, w = ([float(one[key]) for one in found] for key in ("passed", "count"))
    r = pearson(np.array(x), np.array(y), np.array(w))
    assert r is not None
    return r


def read(item: dict[str, str], hypothesis: str) -> Item:
    """Return an item with comments dropped, as the paper does."""
    return Item.of(
        origin=item["origin"],
        reference=item["reference"],
        hypothesis=hypothesis,
        language=item["language"],
        comments="drop",
    )


if __name__ == "__main__":
    main()
