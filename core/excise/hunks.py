"""Hunks: where the exact texts of revisions differ, and the regions of their pairs in each.

A *hunk* is a maximal run of origin lines that some revision changes, by the alignments that the
scores are made of: no text is aligned again. Between two hunks is a line that every revision keeps,
with its tokens and its exact text, so every divergent region of every pair lies in one hunk.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

from excise.display import short
from excise.edits import EditCounts
from excise.excision import Score
from excise.preparation import PreparedOrigin
from excise.regions import Outline
from excise.text import Text

__all__ = ["Hunk", "HunkCounts", "Hunks", "Key", "Variant"]


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
        """Return the lines, the origin's text and the number of variants."""
        lines = f"lines {self.lo} to {self.hi}"
        return f"<Hunk {lines} {short(self.text)} {len(self.variants)} variants>"

    @property
    def agree(self) -> int:
        """The number of revisions that share the most frequent variant."""
        return len(self.variants[0].members)

    @property
    def unchanged(self) -> int:
        """The number of revisions that leave the origin's text."""
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
        """Return the index of the hunk that contains a region of two of these revisions.

        Parameters
        ----------
        score
            A score from `ScoreMatrix.pair` of the same matrix as the hunks.
        region
            One of its outlines.

        Notes
        -----
        With ``lcs=paper``, a region can span several hunks. The first of them is returned.
        """
        starts = self._starts[score.reading]
        return max(bisect_right(starts, region.bounds.o_lo) - 1, 0)

    def first_tokens(self, reading: Key) -> Sequence[int]:
        """Return the first token of each hunk in the origin, as it was read."""
        return self._starts[reading]

    def counts(self, score: Score) -> Iterator[HunkCounts]:
        """Yield the counts of a pair in every hunk that has regions of it.

        Equal edits in different hunks are not counted here.
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
