"""Places (section 4a): regions that stand for overlapping hunks of A and B."""

from itertools import combinations

from tests.reference.regions import Region
from tests.reference.streams import Stream, units

Place = tuple[int, ...]  # the numbers of its regions
Touch = tuple[set[int], bool]  # the numbers of lines, and whether the region lies between lines


def touched(region: Region, origin: Stream, granularity: str) -> Touch:
    """The lines of O that a region touches, as numbers among its lines with tokens.

    Reading: at ``line`` a line without a key that holds tokens (white space in a string) is no
    unit and in no region, but it is a line with tokens and has a number.
    Reading: an empty line of a text has none, and a region of such lines touches what one without
    tokens would.
    """
    empty = {n for n, key in enumerate(origin.keys) if key is None and only_a_line_end(origin, n)}
    number = {line: at for at, line in enumerate(sorted(set(origin.lines) - empty))}
    line_of = [number.get(unit.line) for unit in units(origin, granularity)]
    start, stop = region.origin_units
    inside = {line for line in line_of[start:stop] if line is not None}
    if inside:
        return inside, False
    before = [line for line in line_of[:start] if line is not None][-1:]
    behind = [line for line in line_of[stop:] if line is not None][:1]
    lies_in_a_line = before == behind != []
    return {*before, *behind}, not lies_in_a_line


def only_a_line_end(origin: Stream, line: int) -> bool:
    """Tell whether all that stands on a line is the empty line of a text."""
    return [origin.tokens[i] for i in origin.tokens_on(line)] == ["\n"]


def edits_both(x: Region, y: Region) -> bool:
    """Tell whether one revision's segments differ from O's in both regions."""
    return any(x.tokens[side] != x.tokens[0] and y.tokens[side] != y.tokens[0] for side in (1, 2))


def belong_together(x: Region, y: Region, x_touch: Touch, y_touch: Touch) -> bool:
    """The relation whose transitive closure makes places."""
    x_lines, x_between = x_touch
    y_lines, y_between = y_touch
    if x_lines & y_lines and not (x_between and y_between):
        return True
    near = any(abs(one - other) <= 1 for one in x_lines for other in y_lines)
    return near and edits_both(x, y)


def places(regions: list[Region], origin: Stream, granularity: str) -> list[Place]:
    """The places in order of their first region, each as the numbers of its regions."""
    touches = [touched(region, origin, granularity) for region in regions]
    place_of = list(range(len(regions)))
    for i, j in combinations(range(len(regions)), 2):
        if belong_together(regions[i], regions[j], touches[i], touches[j]):
            joined, gone = sorted((place_of[i], place_of[j]))
            place_of = [joined if place == gone else place for place in place_of]
    return [
        tuple(i for i, place in enumerate(place_of) if place == name)
        for name in sorted(set(place_of))
    ]
