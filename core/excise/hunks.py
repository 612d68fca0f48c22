"""Hunks: where the exact texts of revisions differ, and the regions of their pairs in each.

A *hunk* is a maximal run of origin lines that some revision changes, by the alignments that the
scores are made of: no text is aligned again. Between two hunks is a line that every revision keeps,
with its tokens and its exact text, so every divergent region of every pair lies in one hunk.

A *reading* is one text as aligned by one preparation, in units (tokens, or lines with a key at
``line``, or raw lines). A line with units is *kept* if all of them are matched to all units of one
line of the revision, and both lines have the same text.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import sub
from typing import TYPE_CHECKING, NamedTuple, overload

from excise.display import short
from excise.errors import Cancelled
from excise.excision import Score
from excise.kernels._walk import CancelFlag
from excise.preparation import Preparation, Prepared, PreparedOrigin
from excise.regions import EditCounts, Outline
from excise.text import Text
from excise.tokens import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ints = npt.NDArray[np.int32]
    Mask = npt.NDArray[np.bool_]

Key = tuple[PreparedOrigin, bool]
"""A preparation, and whether it is read by raw lines (guard 2)."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One exact text of a hunk, and the revisions that have it (by index, ascending)."""

    members: tuple[int, ...]
    text: str

    def __repr__(self) -> str:
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

    - ``hunk``: index of the hunk.
    - ``counts``: n-grams of the divergent regions inside, keep by region, add and delete by place.
    - ``share``: the part of all n-grams (orders 1 to 4) of the pair's divergent regions that lie
      here.
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
        return f"<Hunks {len(self._hunks)}>"

    @overload
    def __getitem__(self, index: int) -> Hunk: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hunk, ...]: ...
    def __getitem__(self, index: int | slice) -> Hunk | tuple[Hunk, ...]:
        return self._hunks[index]

    def __len__(self) -> int:
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


Readings = Sequence[tuple[Preparation, Prepared, bool]]


@dataclass(frozen=True, slots=True)
class AlignedRevision:
    """One revision: its index, its normalised text, and how its pairs read it.

    ``readings`` are (preparation, the text as it was aligned with the origin there, whether by raw
    lines).
    """

    index: int
    text: str
    readings: Readings


@dataclass(frozen=True, slots=True)
class _Reading:
    """One text in units of a preparation.

    - ``first``: the first unit of every line of the exact text, and the number of units.
    - ``edits``: the alignment with the origin, flat, in units; empty for the origin itself.
    - ``is_raw``: whether the units are raw lines (guard 2), of which blank lines are units, too.
    - ``starts``: the first token of every unit, if units are not tokens.
    """

    first: Ints
    edits: Ints
    is_raw: bool
    starts: array[int] | None


@dataclass(frozen=True, slots=True)
class _Lines:
    """A text by lines: names of equal lines, and which hold no token for any reading."""

    text: Text
    names: array[int]
    hollow: bytes


@dataclass(frozen=True, slots=True)
class _Revision:
    """A revision, line by line of the origin.

    - ``side``: kept because the identity of its readings is the key by which this is known.
    - ``ids``: names of the exact lines of origin and revision: equal names mean equal lines.
    - ``readings``: pairs of readings (origin, revision).
    - ``line``: the revision's line for each line of the origin; -1: not kept by all readings alike.
    """

    side: AlignedRevision
    lines: _Lines
    ids: tuple[Ints, Ints]
    readings: Sequence[tuple[_Reading, _Reading]]
    line: Ints


class HunkFinder:
    """Finds the hunks of one origin, and keeps the lines of the revisions of the last call."""

    def __init__(self) -> None:
        self._vocabulary = Vocabulary()
        self._origin: dict[Key, _Reading] = {}
        self._known: dict[tuple[object, ...], _Revision] = {}

    def find(
        self, origin: str, sides: Sequence[AlignedRevision], cancel: CancelFlag | None = None
    ) -> Hunks:
        """Return the hunks of some revisions of the origin, which is the same at every call.

        Raises excise.errors.Cancelled when the flag was raised by `cancel`.
        """
        import numpy as np

        text = Text(origin)
        exact = self._vocabulary.intern(text.lines)
        names = np.array(exact, np.int32)
        # Both attributes are replaced at the end: if two threads find hunks of one matrix, the
        # later one wins, and either result is right.
        of_origin: dict[Key, _Reading] = {}
        readings: dict[tuple[object, ...], _Revision] = {}
        names_of = [
            (side.text, *((id(prepared), raw) for _, prepared, raw in side.readings))
            for side in sides
        ]
        for name, side in zip(names_of, sides, strict=True):
            if cancel is not None and cancel.cancelled and not cancel.timed_out:
                raise Cancelled("cancelled while making hunks")
            for preparation, _, is_raw in side.readings:
                key = preparation, is_raw
                if key not in of_origin:
                    prepared = preparation.raw() if is_raw else preparation
                    of_origin[key] = self._origin.get(key) or _reading_of(
                        text, preparation, prepared.origin, is_raw
                    )
            readings[name] = self._known.get(name) or self._read(side, names, of_origin)
        self._origin, self._known = of_origin, readings
        revisions = [readings[name] for name in names_of]
        lines = _Lines(text, exact, _hollow([*of_origin.values()], len(names)))
        stretches = _stretches(len(names), revisions)
        trim_end = not any(reading.is_raw for reading in of_origin.values())
        texts = [lines, *(revision.lines for revision in revisions)]
        hunks = list(_hunks(texts, sides, stretches, trim_end))
        first = stretches[0][0]
        return Hunks(text, hunks, {key: _starts(own, first) for key, own in of_origin.items()})

    def _read(
        self, side: AlignedRevision, origin: Ints, of_origin: dict[Key, _Reading]
    ) -> _Revision:
        import numpy as np

        text = Text(side.text)
        exact = self._vocabulary.intern(text.lines)
        names = np.array(exact, np.int32)
        pairs = [
            (of_origin[preparation, is_raw], _reading_of(text, preparation, prepared, is_raw))
            for preparation, prepared, is_raw in side.readings
        ]
        lines = _Lines(text, exact, _hollow([reading for _, reading in pairs], len(names)))
        # Which lines with units all readings keep, all alike (-1: others).
        line = _kept(*pairs[0])
        for pair in pairs[1:]:
            line = np.where(line == _kept(*pair), line, -1)
        line[line >= 0] = np.where(origin[line >= 0] == names[line[line >= 0]], line[line >= 0], -1)
        return _Revision(side, lines, (origin, names), pairs, line)


def _reading_of(text: Text, preparation: Preparation, prepared: Prepared, is_raw: bool) -> _Reading:
    """Return the reading of a text by a preparation, or by its raw lines."""
    import numpy as np

    if prepared.units.starts is not None:
        sizes = (np.frombuffer(prepared.lines.ids, np.int32) >= 0).astype(np.int32)
    else:
        bounds = np.frombuffer(prepared.lines.first, np.int32)
        sizes = bounds[1:] - bounds[:-1]
    n_lines = len(text.lines)
    sizes_of_lines = np.zeros(n_lines, np.int32)
    rows = preparation.rows(text.normalised)  # that were prepared, if comments were dropped before
    if rows is None:
        sizes_of_lines[:] = sizes[:n_lines]
    else:
        sizes_of_lines[rows] = sizes[: len(rows)]
    # Regions are made from the slid alignment where they have places.
    edits = prepared.slid if preparation.options.anchored else prepared.edits
    return _Reading(
        np.concatenate(([0], np.cumsum(sizes_of_lines))).astype(np.int32),
        np.array(edits, np.int32),
        is_raw,
        prepared.units.starts,
    )


def _hollow(readings: Sequence[_Reading], count: int) -> bytes:
    """Return which of so many lines hold no token for any reading."""
    import numpy as np

    hollow: Mask = np.ones(count, bool)
    for reading in readings:
        if not reading.is_raw:
            hollow &= reading.first[1:] == reading.first[:-1]
    return hollow.tobytes()


def _kept(origin: _Reading, revision: _Reading) -> Ints:
    """Return the line with exactly the units of each line of the origin, or -1."""
    import numpy as np

    start, stop = origin.first[:-1], origin.first[1:]
    o_lo, o_hi, _, a_hi = (revision.edits[row::4] for row in range(4))
    before = np.searchsorted(o_lo, start, "right")  # edits that begin at the line, or before it
    through = np.searchsorted(o_lo, stop - 1, "right") > before
    ends = np.concatenate(([0], o_hi))[before]
    unit = start + np.concatenate(([0], a_hi - o_hi))[before]
    line = np.searchsorted(revision.first, unit, "right") - 1
    line = np.clip(line, 0, max(len(revision.first) - 2, 0))
    is_kept = (start < stop) & ~through & (ends <= start)
    if len(revision.first) > 1:
        is_kept &= revision.first[line] == unit
        is_kept &= revision.first[line + 1] == unit + stop - start
    result: Ints = np.where(is_kept & (len(revision.first) > 1), line, -1).astype(np.int32)
    return result


def _stretches(n_lines: int, revisions: Sequence[_Revision]) -> tuple[Ints, Ints, Mask]:
    """Cut the origin at the lines that all revisions keep.

    Returns: of the stretches that some revision changes, in its lines or in its units, the lines
    from and to (exclusive), a row for the origin and one for each revision; and whether the lines
    differ from the origin's, a row for each revision.
    """
    import numpy as np

    kept = np.ones(n_lines, bool)
    for revision in revisions:
        kept &= revision.line >= 0
    between, inside = np.flatnonzero(kept).astype(np.int32), np.flatnonzero(~kept)
    lo = np.zeros((len(revisions) + 1, len(between) + 1), np.int32)
    hi = np.zeros_like(lo)
    differs = np.zeros((len(revisions), len(between) + 1), bool)
    lo[0, 1:], hi[0, :-1], hi[0, -1] = between + 1, between, n_lines
    is_edited = np.zeros(len(between) + 1, bool)
    of_line = np.searchsorted(lo[0], inside, "right") - 1
    for row, revision in enumerate(revisions, 1):
        line = revision.line[between]
        lo[row, 1:], hi[row, :-1], hi[row, -1] = line + 1, line, len(revision.ids[1])
        other = differs[row - 1]
        other[:] = (hi[0] - lo[0]) != (hi[row] - lo[row])
        alike = ~other[of_line]
        lines, at = inside[alike], of_line[alike]
        other[at[revision.ids[0][lines] != revision.ids[1][lo[row][at] + lines - lo[0][at]]]] = True
        for origin, reading in revision.readings:
            is_edited[np.searchsorted(origin.first[lo[0]], reading.edits[0::4], "right") - 1] = True
    is_changed = is_edited | differs.any(axis=0)
    return lo[:, is_changed], hi[:, is_changed], differs[:, is_changed]


def _hunks(
    texts: Sequence[_Lines],
    sides: Sequence[AlignedRevision],
    stretches: tuple[Ints, Ints, Mask],
    trim_end: bool,
) -> Iterator[Hunk]:
    """Yield the stretches that are changed as hunks; the first text is the origin."""
    indices = [side.index for side in sides]
    rows = (plane.T.tolist() for plane in (*stretches, ~stretches[2]))
    for lo, hi, differs, keeps in zip(*rows, strict=True):
        head, tail = _shared(texts, lo, hi, trim_end)
        if head or tail:
            lo, hi = [line + head for line in lo], [line - tail for line in hi]
        spans = tuple(zip(lo, hi, strict=True))
        text = texts[0].text.between(*spans[0])
        members: dict[str, list[int]] = {}
        if unchanged := list(compress(indices, keeps)):
            members[text] = unchanged
        for row in compress(range(len(sides)), differs):
            variant_text = texts[row + 1].text.between(*spans[row + 1])
            members.setdefault(variant_text, []).append(indices[row])
        variants = [
            Variant(tuple(revisions), variant_text) for variant_text, revisions in members.items()
        ]
        variants.sort(key=lambda variant: (-len(variant.members), variant.members))
        yield Hunk(*spans[0], text, tuple(variants), spans[1:])


def _shared(
    texts: Sequence[_Lines], lo: Sequence[int], hi: Sequence[int], trim_end: bool
) -> tuple[int, int]:
    """Return how many blank lines all texts have at the start of a hunk, and at its end.

    Alignments of raw lines, which read blank lines, match those at the start first: the ones at the
    end are left out only where nothing is read by raw lines.
    """
    if lo[0] == hi[0]:
        return 0, 0
    # Most hunks begin and end with text: one look at the origin is enough.
    hollow = texts[0].hollow
    trim_end = trim_end and hollow[hi[0] - 1] == 1
    if not (hollow[lo[0]] or trim_end):
        return 0, 0
    most = min(map(sub, hi, lo))
    head = _common(texts, lo, 1, most)
    tail = _common(texts, [stop - 1 for stop in hi], -1, most - head) if trim_end else 0
    return head, tail


def _common(texts: Sequence[_Lines], lines: Sequence[int], step: int, most: int) -> int:
    """Return how many lines without tokens all texts share, from these lines on."""
    for count in range(most):
        name = texts[0].names[lines[0] + step * count]
        for text, line in zip(texts, lines, strict=True):
            place = line + step * count
            if not text.hollow[place] or text.names[place] != name:
                return count
    return most


def _starts(origin: _Reading, first_lines: Ints) -> list[int]:
    """Return the first token of each hunk, as regions count tokens."""
    units: list[int] = origin.first[first_lines].tolist()
    return units if origin.starts is None else [origin.starts[unit] for unit in units]
