"""Pairwise alignment, conserved columns and divergent regions (sections 2 and 3)."""

from collections.abc import Hashable
from dataclasses import dataclass

from tests.reference.exact import Column, three_way_lcs
from tests.reference.lcs import Pairs, canonical_lcs
from tests.reference.slides import Side, slid
from tests.reference.streams import Stream, units


@dataclass(frozen=True)
class Region:
    """Three segments between two conserved columns, as tokens and as token numbers.

    ``origin_units`` are the first unit of O in the region and the one behind its last.
    """

    tokens: tuple[tuple[Hashable, ...], ...]
    numbers: tuple[tuple[int, ...], ...]
    origin_units: tuple[int, int]


def align(origin: Stream, revision: Stream, granularity: str) -> Pairs:
    """Pairs of equal units of origin and revision."""
    if granularity == "nested":
        return align_nested(origin, revision)
    left = [unit.value for unit in units(origin, granularity)]
    right = [unit.value for unit in units(revision, granularity)]
    return canonical_lcs(left, right)


def align_slid(origin: Stream, revision: Stream, granularity: str) -> Pairs:
    """Align, then slide; at ``line`` the lines with a key are the units, each a line of its own."""
    sides = []
    for stream in (origin, revision):
        rows = units(stream, granularity)
        sides.append(Side([unit.value for unit in rows], [unit.line for unit in rows]))
    return slid(align(origin, revision, granularity), *sides)


def align_nested(origin: Stream, revision: Stream) -> Pairs:
    """Lines first (equal in key and tokens), then the tokens of each run between matched lines."""
    pairs: Pairs = []
    o_from = a_from = 0
    for o_line, a_line in [*matched_lines(origin, revision), (None, None)]:
        o_to, a_to = first_token_on(origin, o_line), first_token_on(revision, a_line)
        run = canonical_lcs(origin.tokens[o_from:o_to], revision.tokens[a_from:a_to])
        pairs += [(o_from + i, a_from + j) for i, j in run]
        o_from, a_from = o_to, a_to
        if o_line is not None and a_line is not None:
            on_line = list(zip(origin.tokens_on(o_line), revision.tokens_on(a_line), strict=True))
            pairs += on_line
            o_from, a_from = o_from + len(on_line), a_from + len(on_line)
    return pairs


def matched_lines(origin: Stream, revision: Stream) -> Pairs:
    """Canonical LCS over the lines that are not blank, as line numbers."""
    o_lines, a_lines = origin.keyed_lines(), revision.keyed_lines()
    found = canonical_lcs(
        [key_and_tokens(origin, line) for line in o_lines],
        [key_and_tokens(revision, line) for line in a_lines],
    )
    return [(o_lines[i], a_lines[j]) for i, j in found]


def key_and_tokens(stream: Stream, line: int) -> Hashable:
    """What makes two lines equal at ``nested``."""
    return stream.keys[line], tuple(stream.tokens[i] for i in stream.tokens_on(line))


def first_token_on(stream: Stream, line: int | None) -> int:
    """The number of the first token not before a line; behind the last token for None."""
    if line is None:
        return len(stream.tokens)
    return sum(1 for other in stream.lines if other < line)


def conserved_star(kept_a: dict[int, int], kept_b: dict[int, int]) -> list[Column]:
    """A column is conserved iff both revisions keep the same origin position."""
    return [(o, kept_a[o], kept_b[o]) for o in sorted(kept_a.keys() & kept_b.keys())]


def conserved_paper(
    values: list[Hashable], kept_a: dict[int, int], kept_b: dict[int, int]
) -> list[Column]:
    """LCS of the two kept subsequences of the origin, embedded in the origin through A."""
    by_a, by_b = sorted(kept_a), sorted(kept_b)
    pairs = canonical_lcs([values[o] for o in by_a], [values[o] for o in by_b])
    return [(by_a[p], kept_a[by_a[p]], kept_b[by_b[q]]) for p, q in pairs]


def conserved(
    origin: Stream,
    a: Stream,
    b: Stream,
    *,
    granularity: str,
    lcs: str,
    symmetric: bool,
    place: str = "pooled",
) -> list[Column]:
    """The conserved columns, as unit numbers of origin, A and B.

    ``exact`` asks no pairwise alignment; at ``nested`` it takes tokens, as at ``token``.
    """
    if lcs == "exact":
        return three_way_lcs(
            *([unit.value for unit in units(one, granularity)] for one in (origin, a, b))
        )
    aligned = align_slid if place == "anchored" else align
    kept_a, kept_b = (dict(aligned(origin, side, granularity)) for side in (a, b))
    if lcs == "star":
        return conserved_star(kept_a, kept_b)
    values = [unit.value for unit in units(origin, granularity)]
    if symmetric and sorted(kept_b) < sorted(kept_a):
        swapped = conserved_paper(values, kept_b, kept_a)
        return [(o, in_a, in_b) for o, in_b, in_a in swapped]
    return conserved_paper(values, kept_a, kept_b)


def divergent_regions(
    streams: tuple[Stream, Stream, Stream], columns: list[Column], granularity: str
) -> list[Region]:
    """What lies between two consecutive conserved columns, where any segment has a unit."""
    sides = [units(stream, granularity) for stream in streams]
    starts = [(0, 0, 0), *((o + 1, a + 1, b + 1) for o, a, b in columns)]
    stops = [*columns, tuple(len(side) for side in sides)]
    regions = []
    for start, stop in zip(starts, stops, strict=True):
        runs = [side[lo:hi] for side, lo, hi in zip(sides, start, stop, strict=True)]
        if any(runs):
            numbers = tuple(tuple(i for unit in run for i in unit.tokens) for run in runs)
            tokens = tuple(
                tuple(stream.tokens[i] for i in some)
                for stream, some in zip(streams, numbers, strict=True)
            )
            regions.append(Region(tokens, numbers, (start[0], stop[0])))
    return regions
