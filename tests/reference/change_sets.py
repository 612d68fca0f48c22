"""Change sets of several files (section 8, whole texts at hand): the slow oracle.

Files are aligned one by one; regions and places are those of all files, and what is added and
deleted matches anywhere in them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.reference.counts import ELSEWHERE, OPERATIONS, placed_counts
from tests.reference.oracle import document
from tests.reference.places import places
from tests.reference.score import (
    Options,
    Streams,
    containment,
    equal,
    guarded,
    mean,
    operation_values,
    regions_of,
)
from tests.reference.streams import given as given_stream
from tests.reference.words import Contained, word

OPTIONS = Options(deletion="f1", place="anchored")


@dataclass(frozen=True)
class Compared:
    """What is reported of two change sets."""

    exact: Fraction
    anchored: Fraction
    anywhere: Fraction
    contained: Contained
    word: str


def compare(files: Sequence[tuple[str, str, str, str | None]]) -> Compared:
    """Compare two change sets that touch at least one file both: origin, A, B, grammar of each."""
    streams = [tuple(document(text, file[3]) for text in file[:3]) for file in files]
    raw = [tuple(given_stream(side.raw) for side in sides) for sides in streams]
    same_text = all(a.raw == b.raw for _, a, b in streams)
    if not same_text and is_idle(streams, 1) and is_idle(streams, 2):
        streams = raw  # guard 2
    guard = decided(streams, same_text)
    placed = counted(streams)
    if guard is None and not any(c.by_a or c.by_b for name in OPERATIONS for c in placed[name]):
        placed = counted(raw)

    def value(elsewhere: Fraction | int) -> Fraction:
        counts = {
            name: tuple(count.count(Fraction(elsewhere)) for count in of_orders)
            for name, of_orders in placed.items()
        }
        return guarded(mean(operation_values(counts, "f1").values()), guard, 0)

    contained = containment(placed)
    said = word(
        is_equal=guard in (1, 4),
        is_idle=guard == 3,
        anchored=value(0),
        anywhere=value(1),
        contained=contained,
    )
    return Compared(value(ELSEWHERE), value(0), value(1), contained, said)


def is_idle(streams: Sequence[Streams], side: int) -> bool:
    """Whether a change set leaves the tokens of every file."""
    return all(equal(sides[side], sides[0], "nested") for sides in streams)


def decided(streams: Sequence[Streams], same_text: bool) -> int | None:
    """Guards 1, 3 and 4, over all files."""
    if same_text:
        return 1
    if is_idle(streams, 1) or is_idle(streams, 2):
        return 3
    return 4 if all(equal(a, b, "nested") for _, a, b in streams) else None


def counted(streams: Sequence[Streams]):
    """The counts of all files: keep by region, the rest by place, matches anywhere over all."""
    regions, all_places = [], []
    for sides in streams:
        own = regions_of(sides, OPTIONS)
        all_places += [
            tuple(len(regions) + number for number in place)
            for place in places(own, sides[0], "nested")
        ]
        regions += own
    return placed_counts(regions, all_places)
