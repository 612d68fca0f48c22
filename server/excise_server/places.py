r"""Places: where the exact texts of revisions differ, and what each revision has there.

A place is what lies between two lines that the origin and *all* revisions keep exactly, blank
lines and white space included. Tokens drop white space, so an edit must not be made of tokens.

Laws (property-tested): all variants of A applied give exactly A's normalised text, in any order;
none applied gives the origin; A's variant in one place and B's in another compose.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import excise
from excise.text import normalise, raw_lines

__all__ = ["Place", "Ruler", "Variant", "apply_variants", "check", "find_places"]


@dataclass(frozen=True, slots=True)
class Variant:
    """One exact text of a place, and the revisions that have it (by index, ascending)."""

    members: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Place:
    """Lines ``lo`` to ``hi`` (exclusive) of the origin, and what the revisions have instead.

    ``text`` is the origin's; ``variants`` come most members first; ``spans`` are the lines of each
    revision. A place without lines of the origin is a gap before line ``lo``.
    """

    lo: int
    hi: int
    text: str
    variants: tuple[Variant, ...]
    spans: tuple[tuple[int, int], ...]

    @property
    def agree(self) -> int:
        """How many revisions share the most frequent variant."""
        return len(self.variants[0].members)

    @property
    def unchanged(self) -> int:
        """How many revisions leave the origin's text."""
        return sum(len(v.members) for v in self.variants if v.text == self.text)


def check(cancel: excise.CancelFlag | None) -> None:
    """Raise `excise.Cancelled` if somebody raised the flag; its deadline is not for us.

    Past the deadline the library takes a shorter way, and what follows is done all the same.
    """
    if cancel is not None and cancel.cancelled and not cancel.timed_out:
        raise excise.Cancelled("nobody waits for this any more")


def find_places(
    origin: str, revisions: Sequence[str], cancel: excise.CancelFlag | None = None
) -> tuple[Place, ...]:
    """Return the places of the revisions, in the order of the origin.

    Raises
    ------
    excise.errors.Cancelled
        When the flag was raised meanwhile.
    """
    lines = raw_lines(normalise(origin))
    texts = [raw_lines(normalise(text)) for text in revisions]
    edits = _edits_of(lines, texts, cancel)
    rulers = [Ruler(found) for found in edits]
    return tuple(
        _place(lines, texts, rulers, lo, hi)
        for lo, hi in _merged(run for found in edits for run in found)
    )


def apply_variants(origin: str, chosen: Mapping[Place, str]) -> str:
    """Return the normalised origin with a text in each of the places chosen."""
    lines = raw_lines(normalise(origin))
    for place in sorted(chosen, key=lambda place: -place.lo):
        lines[place.lo : place.hi] = [chosen[place]]
    return "".join(lines)


class Ruler:
    """Where the origin's lines stand in another text, by the edits between the two."""

    def __init__(self, edits: Sequence[excise.Edit]) -> None:
        """Take the maximal unmatched runs, ascending."""
        self._edits = edits
        self._starts = [edit.o_lo for edit in edits]

    @classmethod
    def between(cls, origin: str, text: str) -> Ruler:
        """Align two texts by their exact lines."""
        lines = raw_lines(normalise(origin))
        return cls(_edits_of(lines, [raw_lines(normalise(text))])[0])

    def cover(self, lo: int, hi: int) -> tuple[int, int]:
        """Return the other text's lines for the origin's, with all that was inserted beside them.

        For a place this is what stands between the two lines around it that everyone keeps.
        """
        before, after = self._touching(lo), self._touching(hi)
        start = before.a_lo if before is not None else lo + self._shift(lo)
        stop = after.a_hi if after is not None else hi + self._shift(hi)
        return start, stop

    def span(self, lo: int, hi: int) -> tuple[int, int]:
        """Return the other text's lines for the origin's, and nothing that was inserted beside.

        A run that reaches into the lines belongs to them as a whole; one that only touches them
        does not: what somebody types next to a place is no part of it.
        """
        before, after = self._touching(lo), self._touching(hi)
        start, stop = lo + self._shift(lo), hi + self._shift(hi)
        if before is not None:
            start = before.a_lo if lo < before.o_hi else before.a_hi
        if after is not None:
            stop = after.a_hi if hi > after.o_lo else after.a_lo
        return start, max(start, stop)

    def crosses(self, lo: int, hi: int) -> bool:
        """Tell whether some run is partly inside of these lines and partly outside."""
        for at in {max(bisect_right(self._starts, line) - 1, 0) for line in (lo, hi)}:
            for edit in self._edits[at : at + 1]:
                inside = edit.o_lo < hi and lo < edit.o_hi
                if inside and (edit.o_lo < lo or hi < edit.o_hi):
                    return True
        return False

    def _touching(self, line: int) -> excise.Edit | None:
        """Return the run with ``o_lo <= line <= o_hi``; runs never touch, so there is one."""
        at = bisect_right(self._starts, line) - 1
        return self._edits[at] if at >= 0 and line <= self._edits[at].o_hi else None

    def _shift(self, line: int) -> int:
        """Return how far the runs that begin at or before this line have moved it."""
        at = bisect_right(self._starts, line) - 1
        return self._edits[at].a_hi - self._edits[at].o_hi if at >= 0 else 0


def _edits_of(
    lines: list[str], texts: Sequence[list[str]], cancel: excise.CancelFlag | None = None
) -> list[Sequence[excise.Edit]]:
    """Align each text with the origin's exact lines; equal texts once."""
    found: dict[tuple[str, ...], Sequence[excise.Edit]] = {}
    result = []
    for text in texts:
        check(cancel)
        if (key := tuple(text)) not in found:
            found[key] = excise.align(lines, text).edits
        result.append(found[key])
    return result


def _merged(runs: Iterable[excise.Edit]) -> list[tuple[int, int]]:
    """Return the maximal runs of the origin's lines (or gaps) that some revision does not keep.

    Runs that touch are one: no line that everyone keeps stands between them.
    """
    merged: list[tuple[int, int]] = []
    for lo, hi in sorted((run.o_lo, run.o_hi) for run in runs):
        if merged and lo <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(hi, merged[-1][1]))
        else:
            merged.append((lo, hi))
    return merged


def _place(
    lines: list[str], texts: list[list[str]], rulers: list[Ruler], lo: int, hi: int
) -> Place:
    spans = tuple(ruler.cover(lo, hi) for ruler in rulers)
    members: dict[str, list[int]] = {}
    for index, (text, (start, stop)) in enumerate(zip(texts, spans, strict=True)):
        members.setdefault("".join(text[start:stop]), []).append(index)
    variants = [Variant(tuple(who), text) for text, who in members.items()]
    variants.sort(key=lambda variant: (-len(variant.members), variant.members))
    return Place(lo, hi, "".join(lines[lo:hi]), tuple(variants), spans)
