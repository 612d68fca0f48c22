"""N-grams, the three operations, the equation and the guards (sections 4 and 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.reference.regions import Region, conserved, divergent_regions
from tests.reference.streams import Stream, given

ORDERS = (1, 2, 3, 4)
Count = tuple[int, int, int]  # n-grams in common, by A, by B


@dataclass(frozen=True)
class Options:
    """The choices left to a caller; ``deletion=f1`` is the symmetric form of section 6."""

    granularity: str = "nested"
    lcs: str = "star"
    deletion: str = "precision"


@dataclass(frozen=True)
class Verdict:
    """The score, the operations before any guard, the regions, and the guard that decided."""

    exact: Fraction
    operations: dict[str, Fraction | None]
    counts: dict[str, tuple[Count, ...]]
    regions: list[Region]
    guard: int | None
    whitespace_only: bool


def ngrams(segment: Sequence[Hashable], n: int) -> Counter:
    """The n-grams inside one segment, as a multiset."""
    return Counter(tuple(segment[i : i + n]) for i in range(len(segment) - n + 1))


def pooled(regions: list[Region], n: int) -> list[Counter]:
    """The n-grams of O, A and B over all regions."""
    sides: list[Counter] = [Counter(), Counter(), Counter()]
    for region in regions:
        for side, segment in zip(sides, region.tokens, strict=True):
            side.update(ngrams(segment, n))
    return sides


def count_add(regions: list[Region], n: int) -> Count:
    """Count X_A = A - O and X_B = B - O, pooled over regions."""
    o, a, b = pooled(regions, n)
    return ((a - o) & (b - o)).total(), (a - o).total(), (b - o).total()


def count_delete(regions: list[Region], n: int) -> Count:
    """Count X_A = O - A and X_B = O - B, pooled over regions."""
    o, a, b = pooled(regions, n)
    return ((o - a) & (o - b)).total(), (o - a).total(), (o - b).total()


def count_keep(regions: list[Region], n: int) -> Count:
    """Count A and O, B and O, and all three: region by region, the counts summed."""
    both = by_a = by_b = 0
    for region in regions:
        o, a, b = (ngrams(segment, n) for segment in region.tokens)
        both += (a & o & b).total()
        by_a += (a & o).total()
        by_b += (b & o).total()
    return both, by_a, by_b


COUNT = {"keep": count_keep, "add": count_add, "delete": count_delete}


def fraction(part: int, whole: int) -> Fraction:
    """An empty denominator gives 0; that both sides are empty is asked for before."""
    return Fraction(part, whole) if whole else Fraction(0)


def order_value(count: Count, form: str) -> Fraction | None:
    """P or F of one order; None where both sides are empty."""
    both, by_a, by_b = count
    if by_a == by_b == 0:
        return None
    p, r = fraction(both, by_b), fraction(both, by_a)
    if form == "precision":
        return p
    return 2 * p * r / (p + r) if p + r else Fraction(0)


def mean(values: Iterable[Fraction | None]) -> Fraction | None:
    """The mean of the values that are defined; None if none is."""
    defined = [value for value in values if value is not None]
    return sum(defined, Fraction(0)) / len(defined) if defined else None


def operation_counts(regions: list[Region]) -> dict[str, tuple[Count, ...]]:
    """The counts of each operation at each order."""
    return {name: tuple(count(regions, n) for n in ORDERS) for name, count in COUNT.items()}


def operation_values(
    counts: dict[str, tuple[Count, ...]], deletion: str
) -> dict[str, Fraction | None]:
    """Keep, add and delete: the mean over the defined orders."""
    forms = {"keep": "f1", "add": "f1", "delete": deletion}
    return {
        name: mean(order_value(count, forms[name]) for count in of_orders)
        for name, of_orders in counts.items()
    }


def equal(x: Stream, y: Stream, granularity: str) -> bool:
    """Guards 2 to 4: equal token streams, or at ``line`` also equal sequences of line keys."""
    if list(x.tokens) == list(y.tokens):
        return True
    x_keys, y_keys = ([key for key in side.keys if key is not None] for side in (x, y))
    return granularity == "line" and x_keys == y_keys


def deciding_guard(origin: Stream, a: Stream, b: Stream, granularity: str) -> int | None:
    """Guards 1, 3 and 4, in this order; guard 2 changes the streams and is in `judge`."""
    if a.raw == b.raw:
        return 1
    if equal(a, origin, granularity) or equal(b, origin, granularity):
        return 3
    return 4 if equal(a, b, granularity) else None


def judge(origin: Stream, a: Stream, b: Stream, options: Options) -> Verdict:
    """Score two revisions of one origin."""
    whitespace_only = (
        a.raw != b.raw
        and equal(a, origin, options.granularity)
        and equal(b, origin, options.granularity)
    )
    if whitespace_only:  # guard 2
        origin, a, b = given(origin.raw), given(a.raw), given(b.raw)
    columns = conserved(
        origin,
        a,
        b,
        granularity=options.granularity,
        lcs=options.lcs,
        symmetric=options.deletion == "f1",
    )
    regions = divergent_regions((origin, a, b), columns, options.granularity)
    counts = operation_counts(regions)
    operations = operation_values(counts, options.deletion)
    formula = mean(operations.values())
    guard = deciding_guard(origin, a, b, options.granularity)
    by_guard = {1: Fraction(1), 3: Fraction(0), 4: Fraction(1)}
    unguarded = Fraction(1) if formula is None else formula
    exact = unguarded if guard is None else by_guard[guard]
    return Verdict(exact, operations, counts, regions, guard, whitespace_only)
