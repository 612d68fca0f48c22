"""Divergent regions for people: their tokens, their places in the text, and the edits there."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from excise.alignment import Region
from excise.display import short
from excise.edits import EditCounts, count_edits, n_grams
from excise.preparation import Prepared

__all__ = [
    "DivergentRegion",
    "Outline",
    "Segment",
    "bounds_of",
    "count",
    "divergent_regions",
    "outlines",
]

Sides = tuple[Prepared, Prepared, Prepared]


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
        """Return the text, or how many tokens there are, and where."""
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
        """Return the parts of the three texts."""
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
    return tuple(
        _describe(region, sides, size / total, place)
        for region, size, place in zip(regions, sizes, places, strict=True)
        if size
    )


def _describe(region: Region, sides: Sides, share: float, place: int) -> DivergentRegion:
    tokens = [side.units.tokens for side in sides]
    origin, a, b = (
        _segment(side, region[2 * row], region[2 * row + 1]) for row, side in enumerate(sides)
    )
    counts = count_edits(array("i", region), *tokens)
    return DivergentRegion(origin, a, b, counts, share, place)


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
