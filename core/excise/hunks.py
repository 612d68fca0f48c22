"""Hunks: where the exact texts of revisions differ, and the regions of their pairs in each.

A *hunk* is a maximal run of origin lines that some revision changes, by the alignments that the
scores are made of: no text is aligned again. Between two hunks stands a line that every revision
keeps, with its tokens and its exact text; so every divergent region of every pair lies in one hunk.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, overload

from excise._walk import CancelFlag
from excise.display import short
from excise.edits import EditCounts
from excise.errors import Cancelled
from excise.excision import Score
from excise.line_matches import Matched, Reading, Stretches, match_lines, reading_of, stretches
from excise.preparation import Preparation, Prepared, PreparedOrigin
from excise.regions import Outline
from excise.text import Text
from excise.tokens import Vocabulary

if TYPE_CHECKING:
    from excise.line_matches import Mask

__all__ = ["Hunk", "HunkCounts", "Hunks", "Key", "Variant", "find_hunks"]


Key = tuple[PreparedOrigin, bool]
"""A preparation, and whether it is read by raw lines (guard 2)."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One exact text of a hunk, and the revisions that have it (by index, ascending)."""

    members: tuple[int, ...]
    text: str

    def __repr__(self) -> str:
        """Return the members and the beginning and end of the text."""
        return f"<Variant of {self.members} {short(self.text)}>"


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines ``lo`` to ``hi`` (exclusive) of the origin, and what the revisions have instead.

    Attributes
    ----------
    text
        The origin's lines; a hunk without any is a gap before line ``lo``.
    variants
        Most members first.
    spans
        The lines (from, to) of each of the revisions, in their order.
    """

    lo: int
    hi: int
    text: str
    variants: tuple[Variant, ...]
    spans: tuple[tuple[int, int], ...]

    def __repr__(self) -> str:
        """Return the lines, the origin's text and how many texts stand instead."""
        lines = f"lines {self.lo} to {self.hi}"
        return f"<Hunk {lines} {short(self.text)} {len(self.variants)} variants>"

    @property
    def agree(self) -> int:
        """How many revisions share the most frequent variant."""
        return len(self.variants[0].members)

    @property
    def unchanged(self) -> int:
        """How many revisions leave the origin's text."""
        return sum(len(v.members) for v in self.variants if v.text == self.text)


class HunkCounts(NamedTuple):
    """The counts of two revisions in one hunk.

    Attributes
    ----------
    hunk
        Index of the hunk.
    counts
        N-grams of the divergent regions inside, keep by region, add and delete by place.
    share
        The part of all n-grams (orders 1 to 4) of the pair's divergent regions that lie here.
    """

    hunk: int
    counts: EditCounts
    share: float


class Hunks(Sequence[Hunk]):
    """The hunks of some revisions, in the order of the origin."""

    __slots__ = ("_hunks", "_origin", "_starts")

    def __init__(
        self, origin: Text, hunks: Sequence[Hunk], starts: Mapping[Key, list[int]]
    ) -> None:
        """Take the hunks, and where each starts for every reading of the origin, in tokens."""
        self._origin, self._hunks, self._starts = origin, tuple(hunks), starts

    def __repr__(self) -> str:
        """Return how many there are."""
        return f"<Hunks {len(self._hunks)}>"

    @overload
    def __getitem__(self, index: int) -> Hunk: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hunk, ...]: ...
    def __getitem__(self, index: int | slice) -> Hunk | tuple[Hunk, ...]:
        """Return a hunk, or some of them."""
        return self._hunks[index]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._hunks)

    def home(self, score: Score, region: Outline) -> int:
        """Return the index of the hunk that holds a region of two of these revisions.

        Parameters
        ----------
        score
            From `ScoreMatrix.pair` of the matrix that the hunks are of.
        region
            One of its outlines.

        Notes
        -----
        With ``lcs=paper`` a region can reach over several hunks: the one where it begins.
        """
        starts = self._starts[score.reading]
        return max(bisect_right(starts, region.bounds.o_lo) - 1, 0)

    def first_tokens(self, reading: Key) -> Sequence[int]:
        """Return the first token of each hunk in the origin, as it was read."""
        return self._starts[reading]

    def counts(self, score: Score) -> Iterator[HunkCounts]:
        """Yield the counts of a pair in every hunk that holds regions of it.

        What both do alike in different hunks counts nowhere here.
        """
        regions: dict[int, list[Outline]] = {}
        for outline in score.outlines:
            regions.setdefault(self.home(score, outline), []).append(outline)
        sizes = {home: sum(o.n_grams for o in inside) for home, inside in regions.items()}
        total = sum(sizes.values())
        for home, inside in regions.items():
            yield HunkCounts(home, score.count(inside), sizes[home] / total)

    def apply(self, chosen: Mapping[int, str]) -> str:
        """Return the normalised origin with a text in each of some hunks, named by their index."""
        lines = list(self._origin.lines)
        for index in sorted(chosen, reverse=True):
            lines[self._hunks[index].lo : self._hunks[index].hi] = [chosen[index]]
        return "".join(lines)


@dataclass(frozen=True, slots=True)
class Side:
    """One revision: its index, its text, and how its pairs read it.

    ``readings`` are (preparation, the text as it was aligned with the origin there, whether by raw
    lines).
    """

    index: int
    text: Text
    readings: Sequence[tuple[Preparation, Prepared, bool]]


def find_hunks(origin: Text, sides: Sequence[Side], cancel: CancelFlag | None = None) -> Hunks:
    """Return the hunks of some revisions of an origin.

    Raises
    ------
    excise.errors.Cancelled
        When the flag was raised by `cancel`.
    """
    vocabulary = Vocabulary()
    origin_ids = vocabulary.intern(origin.lines)
    of_origin: dict[Key, Reading] = {}
    matched: list[Matched] = []
    for side in sides:
        if cancel is not None and cancel.cancelled and not cancel.timed_out:
            raise Cancelled("cancelled while making hunks")
        pairs = []
        for preparation, prepared, is_raw in side.readings:
            if (key := (preparation, is_raw)) not in of_origin:
                own = preparation.raw() if is_raw else preparation
                of_origin[key] = _reading(origin, preparation, own.origin, is_raw)
            pairs.append((of_origin[key], _reading(side.text, preparation, prepared, is_raw)))
        matched.append(match_lines((origin_ids, vocabulary.intern(side.text.lines)), pairs))
    found = stretches(len(origin.lines), matched)
    texts = [origin, *(side.text for side in sides)]
    hollow = _hollow(of_origin.values(), matched)
    trim_end = not any(reading.is_raw for reading in of_origin.values())
    hunks = [
        _hunk(texts, _trimmed(texts, hollow, [lines, *spans], trim_end), sides)
        for lines, spans in found.changed()
    ]
    return Hunks(origin, hunks, {key: _starts(of_origin[key], found) for key in of_origin})


def _reading(text: Text, preparation: Preparation, prepared: Prepared, is_raw: bool) -> Reading:
    rows = preparation.rows(text.normalised)
    slid = preparation.options.anchored
    return reading_of(prepared, len(text.lines), rows, slid=slid, is_raw=is_raw)


def _hollow(origin: Iterable[Reading], matched: Sequence[Matched]) -> list[Mask]:
    """Return which lines of the texts hold no token for any reading."""
    import numpy as np

    texts = [origin, *((reading for _, reading in side.readings) for side in matched)]
    return [
        np.logical_and.reduce([reading.hollow for reading in readings if not reading.is_raw])
        for readings in texts
    ]


def _trimmed(
    texts: Sequence[Text], hollow: Sequence[Mask], spans: list[tuple[int, int]], trim_end: bool
) -> list[tuple[int, int]]:
    """Leave out the blank lines that all texts have at the start of a hunk, or at its end.

    Alignments of raw lines, which read blank lines, match those at the start first: the ones at the
    end are left out only where nothing is read by raw lines.
    """
    most = min(stop - start for start, stop in spans)
    head = _common(texts, hollow, [start for start, _ in spans], 1, most)
    tail = 0
    if trim_end:
        tail = _common(texts, hollow, [stop - 1 for _, stop in spans], -1, most - head)
    return [(start + head, stop - tail) for start, stop in spans]


def _common(
    texts: Sequence[Text], hollow: Sequence[Mask], lines: Sequence[int], step: int, most: int
) -> int:
    """Return how many lines without tokens all texts share, from these lines on."""
    for count in range(most):
        at = [line + step * count for line in lines]
        if len({text.lines[line] for text, line in zip(texts, at, strict=True)}) > 1:
            return count
        if not all(empty[line] for empty, line in zip(hollow, at, strict=True)):
            return count
    return most


def _hunk(texts: Sequence[Text], spans: Sequence[tuple[int, int]], sides: Sequence[Side]) -> Hunk:
    members: dict[str, list[int]] = {}
    for side, span in zip(sides, spans[1:], strict=True):
        members.setdefault(side.text.between(*span), []).append(side.index)
    variants = [Variant(tuple(who), text) for text, who in members.items()]
    variants.sort(key=lambda variant: (-len(variant.members), variant.members))
    return Hunk(*spans[0], texts[0].between(*spans[0]), tuple(variants), tuple(spans[1:]))


def _starts(origin: Reading, found: Stretches) -> list[int]:
    """Return the first token of each hunk, as regions count tokens."""
    units: list[int] = origin.first[found.lo[found.is_changed]].tolist()
    return units if origin.starts is None else [origin.starts[unit] for unit in units]
