"""Lines of the origin that revisions keep, by the alignments that scores are made of.

A *reading* is one text as aligned by one preparation, in units (tokens, or lines with a key at
``line``, or raw lines). A line with units is *kept* if all of them are matched to all units of one
line of the revision, and both lines have the same text.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from excise.preparation import Prepared

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ints = npt.NDArray[np.int32]
    Mask = npt.NDArray[np.bool_]

__all__ = ["Matched", "Reading", "Stretches", "match_lines", "reading_of", "stretches"]


@dataclass(frozen=True, slots=True)
class Reading:
    """One text in units of a preparation.

    Attributes
    ----------
    first
        The first unit of every line of the exact text, and the number of units.
    edits
        The alignment with the origin, flat, in units; empty for the origin itself.
    is_raw
        Whether the units are raw lines (guard 2), of which blank lines are units, too.
    starts
        The first token of every unit, if units are not tokens.
    """

    first: Ints
    edits: Ints
    is_raw: bool
    starts: array[int] | None

    @property
    def hollow(self) -> Mask:
        """Which lines have no unit."""
        none: Mask = self.first[1:] == self.first[:-1]
        return none


def reading_of(
    prepared: Prepared, n_lines: int, rows: Sequence[int] | None, *, slid: bool, is_raw: bool
) -> Reading:
    """Return the reading of a text with so many lines.

    Parameters
    ----------
    rows
        The lines of the text that were prepared, if comments were dropped before.
    slid
        Whether regions are made from the slid alignment.
    """
    import numpy as np

    first = prepared.lines.first
    if prepared.units.starts is not None:
        sizes = (np.frombuffer(prepared.lines.ids, np.int32) >= 0).astype(np.int32)
    else:
        bounds = np.frombuffer(first, np.int32)
        sizes = bounds[1:] - bounds[:-1]
    sizes_of_lines = np.zeros(n_lines, np.int32)
    if rows is None:
        sizes_of_lines[:] = sizes[:n_lines]
    else:
        sizes_of_lines[list(rows)] = sizes[: len(rows)]
    edits = prepared.slid if slid else prepared.edits
    return Reading(
        np.concatenate(([0], np.cumsum(sizes_of_lines))).astype(np.int32),
        np.array(edits, np.int32),
        is_raw,
        prepared.units.starts,
    )


@dataclass(frozen=True, slots=True)
class Matched:
    """A revision, line by line of the origin.

    Attributes
    ----------
    line
        The revision's line for each line of the origin; -1: not kept by all readings alike.
    ids
        Names of the exact lines of origin and revision: equal names mean equal lines.
    readings
        Pairs of readings (origin, revision).
    """

    line: Ints
    ids: tuple[Ints, Ints]
    readings: Sequence[tuple[Reading, Reading]]


def match_lines(ids: tuple[Ints, Ints], readings: Sequence[tuple[Reading, Reading]]) -> Matched:
    """Return which lines with units the readings of a revision keep, all alike."""
    import numpy as np

    origin, revision = ids
    line = _kept(*readings[0])
    for pair in readings[1:]:
        line = np.where(line == _kept(*pair), line, -1)
    line[line >= 0] = np.where(origin[line >= 0] == revision[line[line >= 0]], line[line >= 0], -1)
    return Matched(line, ids, readings)


def _kept(origin: Reading, revision: Reading) -> Ints:
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


@dataclass(frozen=True, slots=True)
class Stretches:
    """The stretches between lines that all revisions keep.

    Attributes
    ----------
    lo, hi
        The lines (from, to; exclusive) of each stretch: a row for the origin, then one for each
        revision.
    differs
        Whether the lines differ from the origin's: a row for each revision.
    is_changed
        Whether some revision changes a stretch, in its lines or in its units.
    """

    lo: Ints
    hi: Ints
    differs: Mask
    is_changed: Mask


def stretches(n_lines: int, revisions: Sequence[Matched]) -> Stretches:
    """Cut the origin at the lines that all revisions keep."""
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
        differs[row - 1] = _differs(revision, (inside, of_line), lo[[0, row]], hi[[0, row]])
        for origin, reading in revision.readings:
            is_edited[np.searchsorted(origin.first[lo[0]], reading.edits[0::4], "right") - 1] = True
    return Stretches(lo, hi, differs, is_edited | differs.any(axis=0))


def _differs(
    revision: Matched,
    inside: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]],
    lo: Ints,
    hi: Ints,
) -> Mask:
    """Return the stretches in which a revision has other lines.

    Parameters
    ----------
    inside
        The lines of the origin inside of stretches, and the stretch of each.
    lo, hi
        Of the origin and of the revision.
    """
    differs: Mask = (hi[0] - lo[0]) != (hi[1] - lo[1])
    lines, of_line = inside
    alike = ~differs[of_line]
    lines, of_line = lines[alike], of_line[alike]
    theirs = lo[1][of_line] + lines - lo[0][of_line]
    differs[of_line[revision.ids[0][lines] != revision.ids[1][theirs]]] = True
    return differs
