"""A revision of an older text replayed onto a newer one: a three-way merge by exact lines.

What a revision did to its base is done again to the origin, so that many revisions with different
bases can be scored on one origin. Both alignments with the base are canonical and slid down
(definition, section 4a), so that a block that has already landed is at the same line of the base in
both, and is not inserted twice.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import NamedTuple, TypeVar

from excise.alignment import Edit, Edits
from excise.display import short
from excise.kernels._lcs import edits as lcs_edits
from excise.kernels._places import slide
from excise.kernels._walk import CancelFlag
from excise.text import Text
from excise.tokens import Vocabulary

BOTH_INSERT = "both insert here"
ALREADY = "already in the origin"
LINE_ENDS = "line ends or a byte order mark differ; compared without them"

ORIGIN, REVISION = 0, 1
Line = TypeVar("Line")


class Conflict(NamedTuple):
    """Lines of the base that origin and revision both change, each in its own way.

    Attributes
    ----------
    base, origin, revision
        The lines (from, to; 0-based, exclusive) of each text.
    origin_text, revision_text
        What the two have there; the replayed text has the revision's.
    """

    base: tuple[int, int]
    origin: tuple[int, int]
    revision: tuple[int, int]
    origin_text: str
    revision_text: str


@dataclass(frozen=True, slots=True)
class Replayed:
    r"""A revision replayed onto another origin.

    Attributes
    ----------
    text
        Normalised: line ends are ``\n``, and there is no byte order mark.
    conflicts
        In the order of the base.
    notes
        ``both insert here`` where the two insert different lines between the same two lines of the
        base; ``already in the origin`` for a revision of which nothing is left to do; what differs
        in line ends only.
    """

    text: str
    conflicts: tuple[Conflict, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        """Return the beginning and end of the text, how many conflicts there are, and the notes."""
        notes = "".join(f", {note}" for note in self.notes)
        return f"<Replayed {short(self.text)} {len(self.conflicts)} conflicts{notes}>"


def replay(base: str, origin: str, revision: str, *, cancel: CancelFlag | None = None) -> Replayed:
    r"""Do to the origin what a revision did to its base. Total, and pure.

    Edits of the origin and of the revision conflict if they change a common line of the base, or if
    one inserts strictly inside what the other changes; then the revision's lines are taken, and the
    conflict is reported. Equal edits are taken once. Edits that only touch are both made; of two
    different insertions between the same lines the origin's comes first. Of a revision that the
    origin holds already nothing is done.

    Parameters
    ----------
    base
        The text that the revision started from.
    origin
        The current version of the base.
    revision
        The text to replay.

    Raises
    ------
    excise.errors.Cancelled
        If the flag is raised meanwhile.

    Notes
    -----
    Near linear in the lines, unless the texts have little in common (How it is computed, "Replay").
    The line end of the last line is not part of that line: it is merged by itself, so that two
    texts without one can both grow at their end.

    Examples
    --------
    >>> replay("a\nb\nc\n", "new\na\nb\nc\n", "a\nb\nC\n").text
    'new\na\nb\nC\n'
    >>> replay("a\nb\n", "a\nb\none\n", "a\nb\ntwo\n")
    <Replayed 'a\nb\none\ntwo\n' 0 conflicts, both insert here>
    """
    return Replayer(base, origin, cancel=cancel).replay(revision)


class Replayer:
    """A base and its newer version, which are read once for all revisions of the base.

    - ``base``, ``origin``, ``cancel``: as for `replay`.
    """

    def __init__(self, base: str, origin: str, *, cancel: CancelFlag | None = None) -> None:
        self._written = base, origin
        self._texts = Text.of(base), Text.of(origin)
        self._origin = _bare(self._texts[1])
        self._sides = _Sides(_bare(self._texts[0]), self._origin, cancel)

    def replay(self, revision: str) -> Replayed:
        """Replay one revision.

        Raises excise.errors.Cancelled if the flag is raised meanwhile.
        """
        (base, origin), text = self._texts, Text.of(revision)
        lines = _bare(text)
        replayed = _replayed(self._sides, lines)
        merged = spliced(self._origin, lines, replayed.edits)
        # Whether the last line has its line end: the side that changed this decides.
        is_ended = (text if text.is_ended != base.is_ended else origin).is_ended
        result = "\n".join(merged)
        # A blank last line is nothing without its line end.
        result += "\n" if merged and (is_ended or not merged[-1]) else ""
        notes = replayed.notes
        if result == origin.normalised and text.normalised != base.normalised:
            notes = (*notes, ALREADY)
        if _line_ends_differ((*self._written, revision)):
            notes = (*notes, LINE_ENDS)
        return Replayed(result, replayed.conflicts, notes)


def _bare(text: Text) -> list[str]:
    lines = text.normalised.split("\n")
    return lines if lines[-1] else lines[:-1]


@dataclass(frozen=True, slots=True)
class ReplayedLines:
    """A revision replayed by its lines alone, whatever else their caller knows of each line.

    - ``edits``: in order: lines of the origin (from, to) and the lines of the revision in their
      place.
    - ``kept``: runs of lines that all three have: the first line in base, origin and revision, and
      how many lines.
    - ``conflicts``, ``notes``: as in `Replayed`.
    """

    edits: tuple[Edit, ...]
    kept: tuple[tuple[int, int, int, int], ...]
    conflicts: tuple[Conflict, ...]
    notes: tuple[str, ...]


def replay_lines(
    base: Sequence[str],
    origin: Sequence[str],
    revision: Sequence[str],
    *,
    cancel: CancelFlag | None = None,
) -> ReplayedLines:
    """Do to the origin's lines what a revision did to those of its base, as `replay` does.

    Lines are only compared, so that bytes can be merged by what their lines say.

    - ``base``, ``origin``, ``revision``: lines without their line ends.

    Raises excise.errors.Cancelled if the flag is raised meanwhile.

    >>> replayed = replay_lines(["a", "b"], ["new", "a", "b"], ["a", "B"])
    >>> replayed.edits, replayed.kept
    ((Edit(o_lo=2, o_hi=3, a_lo=1, a_hi=2),), ((0, 1, 0, 1),))
    """
    return _replayed(_Sides(base, origin, cancel), revision)


def _replayed(sides: _Sides, revision: Sequence[str]) -> ReplayedLines:
    merge = _Merge(sides, revision)
    has_landed = merge.has_landed()
    edits = tuple(merge.edits())
    if has_landed:
        return ReplayedLines((), tuple(merge.kept), (), ())
    return ReplayedLines(edits, tuple(merge.kept), tuple(merge.conflicts), tuple(merge.notes))


def spliced(origin: Sequence[Line], revision: Sequence[Line], edits: Iterable[Edit]) -> list[Line]:
    """Return the origin's lines with those of the revision in place of some.

    >>> spliced("abc", "xy", [Edit(1, 2, 0, 2)])
    ['a', 'x', 'y', 'c']
    """
    result: list[Line] = []
    line = 0
    for edit in edits:
        result += origin[line : edit.o_lo]
        result += revision[edit.a_lo : edit.a_hi]
        line = edit.o_hi
    return result + list(origin[line:])


class _Overlap(NamedTuple):
    """Edits that conflict, directly or through others: those of the origin, of the revision.

    A group of one side only has no conflict.
    """

    lo: int
    hi: int
    edits: tuple[list[Edit], list[Edit]]


class _Sides:
    """The lines of a base and of its newer version, aligned."""

    def __init__(
        self, base: Sequence[str], origin: Sequence[str], cancel: CancelFlag | None
    ) -> None:
        self.base, self.origin, self.cancel = base, origin, cancel
        self._vocabulary = Vocabulary()
        self.units = self._vocabulary.intern(base), self._vocabulary.intern(origin)
        self.edits = self._edits(self.units[1])

    def aligned(self, lines: Sequence[str]) -> tuple[array[int], list[Edit]]:
        """Return the units of other lines, and their edits of the base."""
        units = self._vocabulary.intern(lines)
        return units, self._edits(units)

    def _edits(self, units: array[int]) -> list[Edit]:
        edits = lcs_edits(self.units[0], units, cancel=self.cancel)
        return Edits(slide(edits, self.units[0], None, units, None)).maximal()

    @cached_property
    def occurrences(self) -> Counter[int]:
        """How often each line is in base and origin. Lines that the origin keeps are in both."""
        return Counter(chain(*self.units))


class _Merge:
    """One merge, line by line of the base."""

    def __init__(self, sides: _Sides, revision: Sequence[str]) -> None:
        self._shared, self._sides = sides, (sides.origin, revision)
        self._units, edits = sides.aligned(revision)
        self._edits = sides.edits, edits
        self.kept: list[tuple[int, int, int, int]] = []
        self.conflicts: list[Conflict] = []
        self.notes: list[str] = []

    def has_landed(self) -> bool:
        """Whether the origin holds the whole revision already.

        That is so if the revision lies on a shortest path from the base to the origin. Alignments
        alone cannot tell, if lines repeat or other lines were inserted next to the same block.
        """
        origin, revision = self._edits
        rest = _size(origin) - _size(revision)
        if rest < 0 or not revision or any(map(self._is_undone, revision)):
            return False
        shared = self._shared
        way = lcs_edits(self._units, shared.units[ORIGIN + 1], cancel=shared.cancel)
        return rest == _size(Edits(way))

    def _is_undone(self, edit: Edit) -> bool:
        """Whether the origin keeps the lines of an edit and around it, which are nowhere else."""
        lo, hi = edit.o_lo - 1, edit.o_hi + 1
        after = bisect_right(self._edits[ORIGIN], lo, key=itemgetter(1))
        if after < len(self._edits[ORIGIN]) and self._edits[ORIGIN][after].o_lo < hi:
            return False
        around = self._shared.units[0][max(lo, 0) : hi]
        return all(self._shared.occurrences[unit] == 2 for unit in around)

    def edits(self) -> Iterator[Edit]:
        """Yield the edits of the origin, and fill in the rest of the result."""
        line = in_origin = in_revision = 0
        inserted: tuple[int, tuple[int, int]] | None = None  # before which line; lines of origin
        end = len(self._shared.base)
        for group in [*_groups(*self._edits), _Overlap(end, end, ([], []))]:
            if length := group.lo - line:
                self.kept.append((line, in_origin, in_revision, length))
            starts = in_origin + length, in_revision + length
            o, r = (
                _span(group, side) if group.edits[side] else (start, start + group.hi - group.lo)
                for side, start in enumerate(starts)
            )
            if group.edits[REVISION]:
                ours, theirs = self._sides[ORIGIN][slice(*o)], self._sides[REVISION][slice(*r)]
                is_made = False  # whether the origin has it already
                if group.edits[ORIGIN]:
                    is_made = ours == theirs
                    if not is_made:
                        base, texts = (group.lo, group.hi), (_ended(ours), _ended(theirs))
                        self.conflicts.append(Conflict(base, o, r, *texts))
                elif group.lo == group.hi and inserted is not None and inserted[0] == group.lo:
                    # The origin's insertion there may hold the revision's one among others.
                    beside = self._sides[ORIGIN][slice(*inserted[1])]
                    is_made = f"\n{_ended(theirs)}" in f"\n{_ended(beside)}"
                    if not is_made and BOTH_INSERT not in self.notes:
                        self.notes.append(BOTH_INSERT)
                if not is_made:
                    yield Edit(*o, *r)
            if group.lo == group.hi and group.edits[ORIGIN]:
                inserted = group.lo, o
            line, in_origin, in_revision = group.hi, o[1], r[1]


def _groups(origin: list[Edit], revision: list[Edit]) -> Iterator[_Overlap]:
    """Yield the edits in the order of the base, those that conflict together.

    Sorted by their lines, an edit conflicts with one before it if and only if it begins before that
    one ends: an insertion at the first line of another edit comes before it, and one at its end
    begins where it ends.
    """
    group: _Overlap | None = None
    sided = [*((edit, ORIGIN) for edit in origin), *((edit, REVISION) for edit in revision)]
    for edit, side in sorted(sided, key=lambda item: (item[0][:2], item[1])):
        if group is None or edit.o_lo >= group.hi:
            if group is not None:
                yield group
            group = _Overlap(edit.o_lo, edit.o_hi, ([], []))
        group.edits[side].append(edit)
        group = group._replace(hi=max(group.hi, edit.o_hi))
    if group is not None:
        yield group


def _span(group: _Overlap, side: int) -> tuple[int, int]:
    """Return the lines of a text that replace the group's lines of the base."""
    first, last = group.edits[side][0], group.edits[side][-1]
    return first.a_lo - (first.o_lo - group.lo), last.a_hi + (group.hi - last.o_hi)


def _line_ends_differ(texts: Collection[str]) -> bool:
    if not any("\r" in text or text.startswith("\ufeff") for text in texts):
        return False  # as nearly always
    styles = []
    for text in texts:
        crlf = text.count("\r\n")
        styles_found = (text.count("\n") > crlf, crlf > 0, text.count("\r") > crlf)
        if any(styles_found):
            styles.append((*styles_found, text.startswith("\ufeff")))
    return len(set(styles)) > 1


def _ended(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _size(edits: Iterable[Edit]) -> int:
    return sum(edit.o_hi - edit.o_lo + edit.a_hi - edit.a_lo for edit in edits)
