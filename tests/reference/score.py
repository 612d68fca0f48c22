"""The equation, the guards and what is reported beside the value (sections 4 to 6a)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.reference.counts import (
    ELSEWHERE,
    OPERATIONS,
    ORDERS,
    Count,
    Placed,
    ngrams,
    operation_counts,
    placed_counts,
)
from tests.reference.places import Place, places
from tests.reference.regions import Region, conserved, divergent_regions
from tests.reference.streams import Stream, given
from tests.reference.words import Contained, share, word

__all__ = ["ORDERS", "Options", "Verdict", "judge", "ngrams", "operation_counts"]

Values = dict[str, Fraction | None]
Streams = tuple[Stream, Stream, Stream]


@dataclass(frozen=True)
class Options:
    """The choices left to a caller; ``deletion=f1`` is the symmetric form of section 6."""

    granularity: str = "nested"
    lcs: str = "star"
    deletion: str = "precision"
    place: str = "pooled"

    def __post_init__(self) -> None:
        """Refuse what section 4a does not define."""
        if self.lcs == "paper" and self.place != "pooled":
            raise ValueError("lcs=paper is place=pooled only")


@dataclass(frozen=True)
class Verdict:
    """The score, the operations before any guard, the regions, and the guard that decided.

    What follows ``notes`` is None, or empty, with ``place=pooled``. ``placed`` are the counts that
    ``counts`` were made of, ``contained`` the share of A in B and of B in A.
    """

    exact: Fraction
    operations: Values
    counts: Mapping[str, tuple[Count, ...]]
    regions: list[Region]
    guard: int | None
    notes: tuple[str, ...]
    places: list[Place]
    placed: Mapping[str, tuple[Placed, ...]]
    anchored: Fraction | None
    anywhere: Fraction | None
    contained: Contained | None
    word: str | None


def fraction(part: Fraction | int, whole: int) -> Fraction:
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


def operation_values(counts: Mapping[str, tuple[Count, ...]], deletion: str) -> Values:
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


def deciding_guard(streams: Streams, granularity: str) -> int | None:
    """Guards 1, 3 and 4, in this order; guard 2 changes the streams and is in `judge`."""
    origin, a, b = streams
    if a.raw == b.raw:
        return 1
    if equal(a, origin, granularity) or equal(b, origin, granularity):
        return 3
    return 4 if equal(a, b, granularity) else None


def judge(origin: Stream, a: Stream, b: Stream, options: Options) -> Verdict:
    """Score two revisions of one origin."""
    streams = origin, a, b
    raw_lines = given(origin.raw), given(a.raw), given(b.raw)
    notes = []
    if (  # guard 2
        a.raw != b.raw
        and equal(a, origin, options.granularity)
        and equal(b, origin, options.granularity)
    ):
        streams = raw_lines
        notes.append("whitespace-only")
    guard = deciding_guard(streams, options.granularity)
    regions = regions_of(streams, options)
    if options.place == "pooled":
        return judge_pooled(regions, guard, options, notes)
    if guard is None and not is_defined(streams, regions, options):
        # Reading: raw lines that guard 2 chose, and that are rearranged, get both notes.
        streams = raw_lines
        regions = regions_of(streams, options)
        notes.append("rearranged")
    return judge_anchored(streams, regions, guard, options, notes)


def regions_of(streams: Streams, options: Options) -> list[Region]:
    """The divergent regions; of the slid alignments where places count."""
    columns = conserved(
        *streams,
        granularity=options.granularity,
        lcs=options.lcs,
        symmetric=options.deletion == "f1",
        place=options.place,
    )
    return divergent_regions(streams, columns, options.granularity)


def guarded(formula: Fraction | None, guard: int | None, undefined: int) -> Fraction:
    """What the guard says, else the mean over the operations, else ``undefined``."""
    by_guard = {1: Fraction(1), 3: Fraction(0), 4: Fraction(1)}
    if guard is not None:
        return by_guard[guard]
    return Fraction(undefined) if formula is None else formula


def judge_pooled(
    regions: list[Region], guard: int | None, options: Options, notes: Sequence[str]
) -> Verdict:
    """The paper's: add and delete pooled over regions."""
    counts = operation_counts(regions)
    operations = operation_values(counts, options.deletion)
    exact = guarded(mean(operations.values()), guard, 1)
    return Verdict(
        exact, operations, counts, regions, guard, tuple(notes), [], {}, None, None, None, None
    )


def is_defined(streams: Streams, regions: list[Region], options: Options) -> bool:
    """Tell whether any operation is defined, place by place."""
    placed = placed_counts(regions, places(regions, streams[0], options.granularity))
    return any(count.by_a or count.by_b for name in OPERATIONS for count in placed[name])


def judge_anchored(
    streams: Streams,
    regions: list[Region],
    guard: int | None,
    options: Options,
    notes: Sequence[str],
) -> Verdict:
    """Section 4a: what both revisions change counts whole at one place, a quarter elsewhere."""
    found_places = places(regions, streams[0], options.granularity)
    placed = placed_counts(regions, found_places)

    def values(elsewhere: Fraction | int) -> tuple[dict[str, tuple[Count, ...]], Values, Fraction]:
        counts = {
            name: tuple(count.count(Fraction(elsewhere)) for count in of_orders)
            for name, of_orders in placed.items()
        }
        operations = operation_values(counts, options.deletion)
        return counts, operations, guarded(mean(operations.values()), guard, 0)

    counts, operations, exact = values(ELSEWHERE)
    (_, _, anchored), (_, _, anywhere) = values(0), values(1)
    contained = containment(placed)
    said = word(
        is_equal=guard in (1, 4),
        is_idle=guard == 3,
        anchored=anchored,
        anywhere=anywhere,
        contained=contained,
    )
    return Verdict(
        exact,
        operations,
        counts,
        regions,
        guard,
        tuple(notes),
        found_places,
        placed,
        anchored,
        anywhere,
        contained,
        said,
    )


def containment(placed: Mapping[str, tuple[Placed, ...]]) -> Contained:
    """The share of the n-grams that A adds and deletes that B adds and deletes here; and of B.

    Reading: this is reported as it is where a guard decides, too.
    """
    changed = [*placed["add"], *placed["delete"]]
    here = sum(count.here for count in changed)
    return (
        share(here, sum(count.by_a for count in changed)),
        share(here, sum(count.by_b for count in changed)),
    )
