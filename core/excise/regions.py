"""Divergent regions: their counts, the places that they share, and how they read for people.

The counts of kept, added and deleted n-grams are the sufficient statistics of a score (definition,
section 4). The regions at one place of the origin are counted together (section 4a). Equal
additions or deletions at different places count a quarter: `matches_elsewhere` says where they
are, so that the parts of a score add up.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from excise.alignment import Region
from excise.display import short
from excise.kernels._counts import count as count_flat
from excise.preparation import Prepared
from excise.signature import MAX_ORDER

Gram = tuple[int, ...]
Grams = Counter[Gram]
Sides = tuple[Prepared, Prepared, Prepared]
SideTokens = tuple["array[int]", "array[int]", "array[int]"]


class Count(NamedTuple):
    """N-grams of one operation and order.

    - ``here``: the number in common at the same place of the origin.
    - ``a``, ``b``: the numbers of A (the reference) and of B.
    - ``anywhere``: the number in common at any places, never less than `here`. Both are equal for
      kept n-grams, and if all regions are pooled as one place.
    """

    here: int
    a: int
    b: int
    anywhere: int

    @property
    def defined(self) -> bool:
        """Whether a side has any. An order that is empty on both sides is dropped."""
        return self.a > 0 or self.b > 0

    def common(self, weights: tuple[int, int]) -> Fraction:
        """Return the weighted number in common, by weights for here and anywhere, of their sum."""
        here, anywhere = weights
        return Fraction(here * self.here + anywhere * self.anywhere, here + anywhere)


@dataclass(frozen=True, slots=True)
class EditCounts:
    """For each operation the counts of the orders 1 to 4."""

    keep: tuple[Count, ...]
    add: tuple[Count, ...]
    delete: tuple[Count, ...]

    @property
    def defined(self) -> bool:
        """Whether any operation is defined."""
        return any(count.defined for count in (*self.keep, *self.add, *self.delete))

    @property
    def contained(self) -> tuple[Fraction, Fraction]:
        """The share of A's additions and deletions that B makes at the same place, and the reverse.

        Shares of the 1- to 4-grams in [0, 1] (definition, section 6a); 0 for a revision that adds
        and deletes nothing.
        """
        changed = [*self.add, *self.delete]
        here, by_a, by_b = (sum(count[field] for count in changed) for field in range(3))
        return Fraction(here, by_a or 1), Fraction(here, by_b or 1)


def count_edits(
    regions: array[int],
    origin: array[int],
    a: array[int],
    b: array[int],
    places: array[int] | None = None,
) -> EditCounts:
    """Count the regions (six token places each): keep by region, add and delete by place.

    - ``places``: the number of the place of every region (definition, section 4a): 0, 1, .. in the
      order of their first regions. None: all regions are one place, as in the paper.
    """
    flat = count_flat(regions, origin, a, b, places)
    cells = [Count(*flat[start : start + 4]) for start in range(0, len(flat), 4)]
    return EditCounts(
        *(tuple(cells[at : at + MAX_ORDER]) for at in range(0, len(cells), MAX_ORDER))
    )


def n_grams(length: int) -> int:
    """Return how many 1- to 4-grams a segment of that many tokens holds."""
    orders = min(length, MAX_ORDER)
    return orders * (length + 1) - orders * (orders + 1) // 2


@dataclass(frozen=True, slots=True)
class Segment:
    """One row of a divergent region: the part of one of the three texts.

    Attributes
    ----------
    tokens
        The tokens ``start`` to ``stop`` of the text's token stream.
    span
        Code points (from, to) of the text; an empty segment is a place between tokens. None for
        ready-made sequences.
    lines
        0-based lines (first, one past the last); None for ready-made sequences.
    text
        The exact source text of the span; None for ready-made sequences.
    """

    tokens: tuple[Hashable, ...]
    start: int
    stop: int
    span: tuple[int, int] | None
    lines: tuple[int, int] | None
    text: str | None

    def __repr__(self) -> str:
        if self.text is None:
            return f"<Segment {self.stop - self.start} tokens at {self.start}>"
        return f"<Segment {short(self.text)} at token {self.start}>"


@dataclass(frozen=True, slots=True)
class DivergentRegion:
    """The stretch between two consecutive conserved columns of the three-way alignment.

    ``counts`` are those of this region alone; ``share`` is its part of all n-grams (n = 1..4) that
    the divergent regions have, in [0, 1]; ``place`` is the number of its place.
    """

    origin: Segment
    a: Segment
    b: Segment
    counts: EditCounts
    share: float
    place: int

    def __repr__(self) -> str:
        return f"<DivergentRegion origin={self.origin} a={self.a} b={self.b} place={self.place}>"


class Outline(NamedTuple):
    """A divergent region without its text: made in a tenth of the time, for those who have many.

    Attributes
    ----------
    lines
        The 0-based line of the first token in O, A and B; None if a text has none there.
    n_grams
        The number of n-grams (n = 1..4) in the three.
    bounds
        The beginning and end of the region in O, A and B, in units of the granularity.
    place
        The number of its place.
    """

    lines: tuple[int | None, int | None, int | None]
    n_grams: int
    bounds: Region
    place: int


def bounds_of(flat: array[int]) -> list[Region]:
    """Return the regions of a pair (six token places each, in O, A and B)."""
    return [Region(*flat[start : start + 6]) for start in range(0, len(flat), 6)]


def outlines(flat: array[int], places: array[int], sides: Sides) -> tuple[Outline, ...]:
    """Outline the regions of a pair (six token places each, in O, A and B)."""
    o, a, b = sides
    result = []
    for region, place in zip(bounds_of(flat), places, strict=True):
        size = sum(n_grams(region[side + 1] - region[side]) for side in (0, 2, 4))
        if size:
            lines = (
                _first_line(o, region[0], region[1]),
                _first_line(a, region[2], region[3]),
                _first_line(b, region[4], region[5]),
            )
            result.append(Outline(lines, size, region, place))
    return tuple(result)


def count(chosen: Iterable[Outline], sides: Sides) -> EditCounts:
    """Return the counts of some of the regions of a pair, by place."""
    o, a, b = (side.units.tokens for side in sides)
    flat, places = array("i"), array("i")
    numbers: dict[int, int] = {}
    for outline in chosen:
        flat.extend(outline.bounds)
        places.append(numbers.setdefault(outline.place, len(numbers)))
    return count_edits(flat, o, a, b, places)


def _first_line(side: Prepared, start: int, stop: int) -> int | None:
    if start == stop:
        return None
    token = start if side.units.kept is None else side.units.kept[start]
    return bisect_right(side.lines.first, token) - 1


def divergent_regions(
    flat: array[int], places: array[int], sides: Sides
) -> tuple[DivergentRegion, ...]:
    """Describe the regions of a pair (six token places each, in O, A and B)."""
    regions = bounds_of(flat)
    sizes = [sum(n_grams(r[side + 1] - r[side]) for side in (0, 2, 4)) for r in regions]
    total = sum(sizes) or 1
    found = []
    for region, size, place in zip(regions, sizes, places, strict=True):
        if size:
            origin, a, b = (
                _segment(side, region[2 * row], region[2 * row + 1])
                for row, side in enumerate(sides)
            )
            counts = count_edits(array("i", region), *(side.units.tokens for side in sides))
            found.append(DivergentRegion(origin, a, b, counts, size / total, place))
    return tuple(found)


def _segment(side: Prepared, start: int, stop: int) -> Segment:
    kept, n_tokens = side.units.kept, len(side.lines.tokens)
    places: Sequence[int] = range(start, stop)
    if kept is not None:
        places = kept[start:stop]
        start = kept[start] if start < len(kept) else n_tokens
        stop = places[-1] + 1 if places else start
    # The place of an empty segment is the beginning of the next token.
    located = side.located(start, max(stop, min(start + 1, n_tokens)))
    tokens = tuple(located.tokens[place - start] for place in places)
    if not isinstance(side.text, str):
        return Segment(tokens, start, stop, None, None, None)
    if start < stop:
        span = located.starts[0], located.ends[-1]
        lines = located.lines[0], located.lines[-1] + 1
    else:
        place = located.starts[0] if located.tokens else len(side.text)
        line = located.lines[0] if located.tokens else len(side.lines.first) - 2
        span, lines = (place, place), (line, line)
    return Segment(tokens, start, stop, span, lines, side.text[span[0] : span[1]])


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
    regions: Sequence[Region], numbers: Sequence[int], tokens: SideTokens
) -> tuple[Place, ...]:
    """Return the places of a pair, given the place of every region (0, 1, .. by first region)."""
    members: dict[int, list[int]] = {}
    for index, number in enumerate(numbers):
        members.setdefault(number, []).append(index)
    flat = ([bound for index in chosen for bound in regions[index]] for chosen in members.values())
    counts = (count_edits(array("i", bounds), *tokens) for bounds in flat)
    return tuple(map(Place, map(tuple, members.values()), counts))


def matches_elsewhere(
    regions: Sequence[Region], places: Sequence[Place], tokens: SideTokens
) -> tuple[Elsewhere, ...]:
    """Return the pairs of places that add or delete the same n-grams, most n-grams first.

    An n-gram at several places of both is matched in the order of the places.
    """
    counts: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0])
    for kind, is_deleted in enumerate((False, True)):
        only_a: dict[Gram, list[int]] = defaultdict(list)
        only_b: dict[Gram, list[int]] = defaultdict(list)
        for number, place in enumerate(places):
            own = [regions[index] for index in place.regions]
            o, a, b = (_grams(own, tokens, side) for side in range(3))
            by_a, by_b = (o - a, o - b) if is_deleted else (a - o, b - o)
            for gram in (by_a - by_b).elements():
                only_a[gram].append(number)
            for gram in (by_b - by_a).elements():
                only_b[gram].append(number)
        for gram in only_a.keys() & only_b.keys():
            for pair in zip(only_a[gram], only_b[gram], strict=False):
                counts[pair][kind] += 1
    matches = [Elsewhere(a, b, *n_grams) for (a, b), n_grams in counts.items()]
    return tuple(sorted(matches, key=lambda match: (-match.n_grams, match)))


def _grams(regions: Sequence[Region], tokens: SideTokens, side: int) -> Grams:
    segments = (tokens[side][region[2 * side] : region[2 * side + 1]] for region in regions)
    return Counter(
        tuple(segment[start : start + order])
        for segment in segments
        for order in range(1, MAX_ORDER + 1)
        for start in range(len(segment) - order + 1)
    )
