"""Which change block's n-grams match which other block's, so that parts add up to the score."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

__all__ = ["Flows", "Grams", "flows"]

Grams = Counter[tuple[Hashable, ...]]
Sides = tuple[Sequence[Grams], Sequence[Grams]]
Places = tuple[Sequence[int], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Flows:
    """Matched n-grams of two patches, block by block, each n-gram matched once.

    ``here[side][block]`` are matched at the same place; ``elsewhere[side][block]`` counts those
    that are not by the block of the other side.
    """

    here: tuple[list[int], list[int]]
    elsewhere: tuple[list[Counter[int]], list[Counter[int]]]


def flows(grams: Sides, places: Places, beside: Iterable[tuple[int, int]]) -> Flows:
    """Match all n-grams that two patches have in common.

    Parameters
    ----------
    grams, places
        Of the blocks of both patches: their n-grams, and numbers that are equal at one place.
    beside
        Blocks (of A, of B) that are read side by side: these are matched first, then all others at
        one place, then the rest.
    """
    left = [Counter(block) for block in grams[0]], [Counter(block) for block in grams[1]]
    found = Flows(
        ([0] * len(left[0]), [0] * len(left[1])),
        ([Counter() for _ in left[0]], [Counter() for _ in left[1]]),
    )

    def matched(x: int, y: int, n: int) -> None:
        if places[0][x] == places[1][y]:
            found.here[0][x] += n
            found.here[1][y] += n
        else:
            found.elsewhere[0][x][y] += n
            found.elsewhere[1][y][x] += n

    aligned = list(beside)
    for together in (True, False):
        for x, y in aligned:
            if (places[0][x] == places[1][y]) is together:
                both = left[0][x] & left[1][y]
                left[0][x] -= both
                left[1][y] -= both
                matched(x, y, both.total())
        _match(left, places if together else None, matched)
    return found


def _match(
    left: tuple[list[Grams], list[Grams]],
    places: Places | None,
    matched: Callable[[int, int, int], None],
) -> None:
    """Match what is left in the order of the blocks: at one place, or anywhere."""
    waiting: dict[Hashable, list[int]] = defaultdict(list)
    for y in reversed(range(len(left[1]))):
        for gram in left[1][y]:
            waiting[gram, places and places[1][y]].append(y)
    for x, grams in enumerate(left[0]):
        taken: Grams = Counter()
        for gram, count in grams.items():
            others = waiting.get((gram, places and places[0][x]))
            while others and taken[gram] < count:
                y = others[-1]
                n = min(count - taken[gram], left[1][y][gram])
                taken[gram] += n
                left[1][y][gram] -= n
                matched(x, y, n)
                if left[1][y][gram] == 0:
                    del left[1][y][gram]
                    others.pop()
        grams -= taken
