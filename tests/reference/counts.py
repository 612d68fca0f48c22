"""N-grams of regions: what two revisions keep, add and delete (sections 4 and 4a)."""

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import NamedTuple

from tests.reference.places import Place
from tests.reference.regions import Region

ORDERS = (1, 2, 3, 4)
OPERATIONS = ("keep", "add", "delete")
ELSEWHERE = Fraction(1, 4)
"""What an n-gram counts that both revisions add or delete, but at different places."""

Count = tuple[Fraction | int, int, int]  # n-grams in common, by A, by B


class Placed(NamedTuple):
    """N-grams in common at the same place, in common anywhere, by A, by B."""

    here: int
    anywhere: int
    by_a: int
    by_b: int

    def count(self, elsewhere: Fraction) -> Count:
        """What is in common, when what matches only elsewhere counts ``elsewhere`` each."""
        return self.here + (self.anywhere - self.here) * elsewhere, self.by_a, self.by_b


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


def changed(operation: str, regions: list[Region], n: int) -> tuple[Counter, Counter]:
    """X_A and X_B, pooled over regions: A - O and B - O (add) or O - A and O - B (delete)."""
    o, a, b = pooled(regions, n)
    return (a - o, b - o) if operation == "add" else (o - a, o - b)


def count_changed(operation: str, regions: list[Region], n: int) -> Count:
    """Count the n-grams of an operation in common, by A and by B."""
    by_a, by_b = changed(operation, regions, n)
    return (by_a & by_b).total(), by_a.total(), by_b.total()


def count_keep(regions: list[Region], n: int) -> Count:
    """Count A and O, B and O, and all three: region by region, the counts summed."""
    both = by_a = by_b = 0
    for region in regions:
        o, a, b = (ngrams(segment, n) for segment in region.tokens)
        both += (a & o & b).total()
        by_a += (a & o).total()
        by_b += (b & o).total()
    return both, by_a, by_b


def operation_counts(regions: list[Region]) -> dict[str, tuple[Count, ...]]:
    """The counts of each operation at each order, pooled over regions."""
    return {
        "keep": tuple(count_keep(regions, n) for n in ORDERS),
        "add": tuple(count_changed("add", regions, n) for n in ORDERS),
        "delete": tuple(count_changed("delete", regions, n) for n in ORDERS),
    }


def count_placed(operation: str, regions: list[Region], places: list[Place], n: int) -> Placed:
    """Count the n-grams of an operation place by place, and what is in common over all places."""
    here = 0
    all_by_a: Counter = Counter()
    all_by_b: Counter = Counter()
    for place in places:
        by_a, by_b = changed(operation, [regions[i] for i in place], n)
        here += (by_a & by_b).total()
        all_by_a += by_a
        all_by_b += by_b
    return Placed(here, (all_by_a & all_by_b).total(), all_by_a.total(), all_by_b.total())


def placed_counts(regions: list[Region], places: list[Place]) -> dict[str, tuple[Placed, ...]]:
    """The counts of each operation at each order; what is kept is kept at its place."""
    keep = []
    for n in ORDERS:
        both, by_a, by_b = count_keep(regions, n)
        keep.append(Placed(both, both, by_a, by_b))
    return {
        "keep": tuple(keep),
        "add": tuple(count_placed("add", regions, places, n) for n in ORDERS),
        "delete": tuple(count_placed("delete", regions, places, n) for n in ORDERS),
    }
