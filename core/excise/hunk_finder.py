"""The search for hunks: texts are read line by line once, and then compared by line numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import sub
from typing import TYPE_CHECKING

from excise.errors import Cancelled
from excise.hunks import Hunk, Hunks, Key, Variant
from excise.kernels._walk import CancelFlag
from excise.line_matches import Matched, Reading, Stretches, match_lines, reading_of, stretches
from excise.preparation import Preparation, Prepared
from excise.text import Text
from excise.tokens import Vocabulary

if TYPE_CHECKING:
    from array import array

    from excise.line_matches import Ints, Mask

__all__ = ["HunkFinder", "Side"]

Readings = Sequence[tuple[Preparation, Prepared, bool]]


@dataclass(frozen=True, slots=True)
class Side:
    """One revision: its index, its normalised text, and how its pairs read it.

    ``readings`` are (preparation, the text as it was aligned with the origin there, whether by raw
    lines).
    """

    index: int
    text: str
    readings: Readings


@dataclass(frozen=True, slots=True)
class _Lines:
    """A text by lines: where they start, with the length of the text, and names of equal lines.

    ``hollow`` tells which hold no token for any reading.
    """

    text: str
    starts: Sequence[int]
    names: array[int]
    hollow: bytes

    def between(self, start: int, stop: int) -> str:
        """Return the lines from one to another (exclusive) as one text."""
        return self.text[self.starts[start] : self.starts[stop]]


@dataclass(frozen=True, slots=True)
class _Known:
    """The lines of a revision. The readings are kept because their identity is its key."""

    readings: Readings
    lines: _Lines
    matched: Matched


class HunkFinder:
    """Finds the hunks of one origin, and keeps the lines of the revisions of the last call."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._vocabulary = Vocabulary()
        self._origin: dict[Key, Reading] = {}
        self._known: dict[tuple[object, ...], _Known] = {}

    def find(self, origin: str, sides: Sequence[Side], cancel: CancelFlag | None = None) -> Hunks:
        """Return the hunks of some revisions of the origin, which is the same at every call.

        Raises
        ------
        excise.errors.Cancelled
            When the flag was raised by `cancel`.
        """
        import numpy as np

        text = Text(origin)
        exact = self._vocabulary.intern(text.lines)
        names = np.array(exact, np.int32)
        # Both attributes are replaced at the end: if two threads find hunks of one matrix, the
        # later one wins, and either result is right.
        of_origin: dict[Key, Reading] = {}
        readings: dict[tuple[object, ...], _Known] = {}
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
                    of_origin[key] = self._origin.get(key) or _of_origin(text, *key)
            readings[name] = self._known.get(name) or self._read(side, names, of_origin)
        self._origin, self._known = of_origin, readings
        revisions = [readings[name] for name in names_of]
        hollow = _hollow([*of_origin.values()], len(names))
        lines = _Lines(origin, text.starts, exact, hollow.tobytes())
        found = stretches(len(names), [revision.matched for revision in revisions])
        trim_end = not any(reading.is_raw for reading in of_origin.values())
        hunks = _hunks([lines, *(revision.lines for revision in revisions)], sides, found, trim_end)
        first = found.lo[0][found.is_changed]
        return Hunks(
            text, list(hunks), {key: _starts(reading, first) for key, reading in of_origin.items()}
        )

    def _read(self, side: Side, origin: Ints, of_origin: dict[Key, Reading]) -> _Known:
        import numpy as np

        text = Text(side.text)
        exact = self._vocabulary.intern(text.lines)
        names = np.array(exact, np.int32)
        pairs = [
            (of_origin[preparation, is_raw], _reading(text, preparation, prepared, is_raw))
            for preparation, prepared, is_raw in side.readings
        ]
        hollow = _hollow([reading for _, reading in pairs], len(names))
        lines = _Lines(side.text, text.starts, exact, hollow.tobytes())
        return _Known(side.readings, lines, match_lines((origin, names), pairs))


def _of_origin(text: Text, preparation: Preparation, is_raw: bool) -> Reading:
    prepared = preparation.raw() if is_raw else preparation
    return _reading(text, preparation, prepared.origin, is_raw)


def _reading(text: Text, preparation: Preparation, prepared: Prepared, is_raw: bool) -> Reading:
    rows = preparation.rows(text.normalised)
    slid = preparation.options.anchored
    return reading_of(prepared, len(text.lines), rows, slid=slid, is_raw=is_raw)


def _hollow(readings: Sequence[Reading], count: int) -> Mask:
    """Return which of so many lines hold no token for any reading."""
    import numpy as np

    hollow: Mask = np.ones(count, bool)
    for reading in readings:
        if not reading.is_raw:
            hollow &= reading.hollow
    return hollow


def _hunks(
    texts: Sequence[_Lines], sides: Sequence[Side], changed: Stretches, trim_end: bool
) -> Iterator[Hunk]:
    """Yield the stretches that are changed as hunks; the first text is the origin."""
    indices = [side.index for side in sides]
    at = changed.is_changed
    bounds = zip(changed.lo[:, at].T.tolist(), changed.hi[:, at].T.tolist(), strict=True)
    differing, kept = changed.differs[:, at].T, ~changed.differs[:, at].T
    for (lo, hi), differs, keeps in zip(bounds, differing.tolist(), kept.tolist(), strict=True):
        head, tail = _shared(texts, lo, hi, trim_end)
        if head or tail:
            lo, hi = [line + head for line in lo], [line - tail for line in hi]
        spans = tuple(zip(lo, hi, strict=True))
        text = texts[0].between(*spans[0])
        members: dict[str, list[int]] = {}
        if unchanged := list(compress(indices, keeps)):
            members[text] = unchanged
        for row in compress(range(len(sides)), differs):
            variant_text = texts[row + 1].between(*spans[row + 1])
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


def _starts(origin: Reading, first_lines: Ints) -> list[int]:
    """Return the first token of each hunk, as regions count tokens."""
    units: list[int] = origin.first[first_lines].tolist()
    return units if origin.starts is None else [origin.starts[unit] for unit in units]
