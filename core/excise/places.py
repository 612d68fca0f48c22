"""Places of the origin that edits share, for people: the matches there, and those elsewhere.

The regions at one place are counted together (definition, section 4a). Equal additions or deletions
at different places count a quarter: `matches_elsewhere` says where they are, so that the parts of a
score add up.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from excise.alignment import Region
from excise.edits import EditCounts, count_edits
from excise.signature import MAX_ORDER

__all__ = ["Elsewhere", "Place", "describe_places", "matches_elsewhere"]

Gram = tuple[int, ...]
Grams = Counter[Gram]
Sides = tuple["array[int]", "array[int]", "array[int]"]


@dataclass(frozen=True, slots=True)
class Place:
    """Divergent regions whose edits overlap or touch.

    Attributes
    ----------
    regions
        Indices of the divergent regions, ascending. Places may interleave.
    counts
        N-grams kept, added and deleted here; ``here`` and ``anywhere`` are equal. The counts of all
        places add up to those of the pair.
    """

    regions: tuple[int, ...]
    counts: EditCounts


class Elsewhere(NamedTuple):
    """N-grams that both add, or both delete, at two different places.

    Attributes
    ----------
    a, b
        Indices of the place where A does it and of the place where B does.
    added, deleted
        Numbers of n-grams, of orders 1 to 4. Over all pairs of places they add up to the n-grams
        that the pair has in common anywhere, less those that it has in common here.
    """

    a: int
    b: int
    added: int
    deleted: int

    @property
    def n_grams(self) -> int:
        """The number of both kinds."""
        return self.added + self.deleted


def describe_places(
    regions: Sequence[Region], numbers: Sequence[int], tokens: Sides
) -> tuple[Place, ...]:
    """Return the places of a pair, given the place of every region (0, 1, .. by first region)."""
    members: dict[int, list[int]] = {}
    for index, number in enumerate(numbers):
        members.setdefault(number, []).append(index)
    return tuple(
        Place(tuple(chosen), _count([regions[index] for index in chosen], tokens))
        for chosen in members.values()
    )


def _count(regions: Sequence[Region], tokens: Sides) -> EditCounts:
    flat = array("i", (bound for region in regions for bound in region))
    return count_edits(flat, *tokens)


def matches_elsewhere(
    regions: Sequence[Region], places: Sequence[Place], tokens: Sides
) -> tuple[Elsewhere, ...]:
    """Return the pairs of places that add or delete the same n-grams, most n-grams first.

    An n-gram at several places of both is matched in the order of the places.
    """
    counts: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0])
    for kind, operation in enumerate((_added, _deleted)):
        only_a: dict[Gram, list[int]] = defaultdict(list)
        only_b: dict[Gram, list[int]] = defaultdict(list)
        for number, place in enumerate(places):
            grams = [_grams([regions[i] for i in place.regions], tokens, side) for side in range(3)]
            by_a, by_b = operation(*grams)
            for gram in (by_a - by_b).elements():
                only_a[gram].append(number)
            for gram in (by_b - by_a).elements():
                only_b[gram].append(number)
        for gram in only_a.keys() & only_b.keys():
            for pair in zip(only_a[gram], only_b[gram], strict=False):
                counts[pair][kind] += 1
    matches = [Elsewhere(a, b, *n_grams) for (a, b), n_grams in counts.items()]
    return tuple(sorted(matches, key=lambda match: (-match.n_grams, match)))


def _added(o: Grams, a: Grams, b: Grams) -> tuple[Grams, Grams]:
    return a - o, b - o


def _deleted(o: Grams, a: Grams, b: Grams) -> tuple[Grams, Grams]:
    return o - a, o - b


def _grams(regions: Sequence[Region], tokens: Sides, side: int) -> Grams:
    return Counter(
        gram
        for region in regions
        for gram in _segment_grams(tokens[side][region[2 * side] : region[2 * side + 1]])
    )


def _segment_grams(segment: array[int]) -> Iterator[Gram]:
    for order in range(1, MAX_ORDER + 1):
        for start in range(len(segment) - order + 1):
            yield tuple(segment[start : start + order])
