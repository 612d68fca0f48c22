"""A revision of an older text replayed onto a newer one: a three-way merge by exact lines.

What a revision did to its base is done again to the origin, so that many revisions with different
bases can be scored on one origin. Whether the two are in conflict is git's rule: edits of the two
sides that share a line of the base or adjoin are in conflict, unless they are equal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from excise.alignment import Edit, Edits
from excise.display import short
from excise.kernels._merges import merge_edits
from excise.kernels._walk import CancelFlag
from excise.text import Text, raw_lines
from excise.tokens import Vocabulary

ALREADY = "already in the origin"
LINE_ENDS = "line ends or a byte order mark differ; compared without them"

ORIGIN, REVISION = 0, 1
Line = TypeVar("Line")


class Conflict(NamedTuple):
    """Lines of the base that origin and revision both change, or beside each other.

    Attributes
    ----------
    base, origin, revision
        The lines (from, to; 0-based, exclusive) of each text.
    origin_text, revision_text
        What the two have there.
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
        Normalised: line ends are ``\n``, and there is no byte order mark. If there are conflicts,
        it is nobody's text: good for numbers and places, and never to be shown, checked or written.
    conflicts
        In the order of the base.
    notes
        ``already in the origin`` for a revision of which nothing is left to do; what differs in
        line ends only.
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

    Edits of the origin and of the revision conflict, as in git, if they change a common line of the
    base or adjoin, unless they are equal: equal edits are taken once. The text of a conflict has
    both where they only adjoin, of two insertions the origin's first, and the revision's lines
    where they overlap.

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
    A last line without its line end is another line than one with it.

    Examples
    --------
    >>> replay("a\nb\nc\n", "new\na\nb\nc\n", "a\nb\nC\n").text
    'new\na\nb\nC\n'
    >>> replay("a\nb\n", "a\nb\none\n", "a\nb\ntwo\n")
    <Replayed 'a\nb\none\ntwo\n' 1 conflicts>
    """
    return Replayer(base, origin, cancel=cancel).replay(revision)


class Replayer:
    """A base and its newer version, which are read once for all revisions of the base.

    - ``base``, ``origin``, ``cancel``: as for `replay`.
    """

    def __init__(self, base: str, origin: str, *, cancel: CancelFlag | None = None) -> None:
        self._written = base, origin
        self._base, self._origin = (Text.of(text).normalised for text in (base, origin))
        self._lines = raw_lines(self._origin)
        self._sides = _Sides(raw_lines(self._base), self._lines, cancel)

    def replay(self, revision: str) -> Replayed:
        """Replay one revision.

        Raises excise.errors.Cancelled if the flag is raised meanwhile.
        """
        text = Text.of(revision).normalised
        lines = raw_lines(text)
        replayed = _replayed(self._sides, lines)
        result = _ended(spliced(self._lines, lines, replayed.edits))
        notes: tuple[str, ...] = ()
        if not replayed.conflicts and result == self._origin and text != self._base:
            notes = (ALREADY,)
        if _line_ends_differ((*self._written, revision)):
            notes = (*notes, LINE_ENDS)
        return Replayed(result, replayed.conflicts, notes)


@dataclass(frozen=True, slots=True)
class ReplayedLines:
    """A revision replayed by its lines alone, whatever else their caller knows of each line.

    - ``edits``: in order: lines of the origin (from, to) and the lines of the revision in their
      place.
    - ``kept``: runs of lines that all three have: the first line in base, origin and revision, and
      how many lines.
    - ``conflicts``: as in `Replayed`.
    """

    edits: tuple[Edit, ...]
    kept: tuple[tuple[int, int, int, int], ...]
    conflicts: tuple[Conflict, ...]


def replay_lines(
    base: Sequence[str],
    origin: Sequence[str],
    revision: Sequence[str],
    *,
    cancel: CancelFlag | None = None,
) -> ReplayedLines:
    r"""Do to the origin's lines what a revision did to those of its base, as `replay` does.

    Lines are only compared, so that bytes can be merged by what their lines say.

    - ``base``, ``origin``, ``revision``: lines with their line ends, which the last may lack.

    Raises excise.errors.Cancelled if the flag is raised meanwhile.

    >>> replayed = replay_lines(["a\n", "b\n"], ["new\n", "a\n", "b\n"], ["a\n", "B\n"])
    >>> replayed.edits, replayed.kept
    ((Edit(o_lo=2, o_hi=3, a_lo=1, a_hi=2),), ((0, 1, 0, 1),))
    """
    return _replayed(_Sides(base, origin, cancel), revision)


def _replayed(sides: _Sides, revision: Sequence[str]) -> ReplayedLines:
    merge = _Merge(sides, revision)
    edits = tuple(merge.edits())
    return ReplayedLines(edits, tuple(merge.kept), tuple(merge.conflicts))


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
    """Edits that meet, directly or through others: the origin's, and the revision's.

    Of one side only if the other side leaves these lines as they are.
    """

    lo: int
    hi: int
    edits: tuple[list[Edit], list[Edit]]


class _Sides:
    """The lines of a base and of its newer version, and the edits that git sees between them."""

    def __init__(
        self, base: Sequence[str], origin: Sequence[str], cancel: CancelFlag | None
    ) -> None:
        self.base, self.origin, self._cancel = base, origin, cancel
        self._vocabulary = Vocabulary()
        self._units = self._vocabulary.intern(base)
        self.edits = self.aligned(origin)

    def aligned(self, lines: Sequence[str]) -> list[Edit]:
        """Return what other lines edit of the base."""
        units, cancel = self._vocabulary.intern(lines), self._cancel
        return [*Edits(merge_edits(self._units, units, len(self._vocabulary), cancel=cancel))]


class _Merge:
    """One merge, line by line of the base."""

    def __init__(self, sides: _Sides, revision: Sequence[str]) -> None:
        self._end, self._sides = len(sides.base), (sides.origin, revision)
        self._edits = sides.edits, sides.aligned(revision)
        self.kept: list[tuple[int, int, int, int]] = []
        self.conflicts: list[Conflict] = []

    def edits(self) -> Iterator[Edit]:
        """Yield the edits of the origin, and fill in the rest of the result."""
        line, ends = 0, (0, 0)
        for meeting in [*_meetings(*self._edits, 0), _Overlap(self._end, self._end, ([], []))]:
            length = meeting.lo - line
            if length:
                self.kept.append((line, *ends, length))
            starts = ends[ORIGIN] + length, ends[REVISION] + length
            o, r = _spans(meeting, starts)
            line, ends = meeting.hi, (o[1], r[1])
            if not meeting.edits[REVISION]:
                continue
            if not meeting.edits[ORIGIN]:
                yield Edit(*o, *r)
                continue
            texts = self._sides[ORIGIN][slice(*o)], self._sides[REVISION][slice(*r)]
            if texts[ORIGIN] == texts[REVISION]:
                continue
            self.conflicts.append(
                Conflict((meeting.lo, meeting.hi), o, r, *(_ended(text) for text in texts))
            )
            yield from self._in_conflict(meeting, starts)

    def _in_conflict(self, meeting: _Overlap, starts: tuple[int, int]) -> Iterator[Edit]:
        """Yield what makes a text of a conflict: both sides where they do not overlap."""
        line, ends = meeting.lo, starts
        beside = -1, ""  # before which line of the base the origin inserted, and what
        for overlap in _meetings(*meeting.edits, 1):
            starts = ends[ORIGIN] + overlap.lo - line, ends[REVISION] + overlap.lo - line
            o, r = _spans(overlap, starts)
            line, ends = overlap.hi, (o[1], r[1])
            theirs = self._sides[REVISION][slice(*r)]
            ours = self._sides[ORIGIN][slice(*o)]
            if not overlap.edits[REVISION]:
                beside = overlap.hi, f"\n{_ended(ours)}" if overlap.lo == overlap.hi else ""
                continue
            if overlap.edits[ORIGIN]:
                is_made = ours == theirs
            else:  # the origin's insertion there may hold the revision's one among others
                is_at_one_place = overlap.lo == overlap.hi == beside[0]
                is_made = is_at_one_place and f"\n{_ended(theirs)}" in beside[1]
            if not is_made:
                yield Edit(*o, *r)


def _meetings(origin: list[Edit], revision: list[Edit], least: int) -> Iterator[_Overlap]:
    """Yield the edits in the order of the base, those together that meet.

    - ``least``: how many lines of the base two edits have in common that meet: 0 if they adjoin.
    """
    meeting: _Overlap | None = None
    sided = [*((edit, ORIGIN) for edit in origin), *((edit, REVISION) for edit in revision)]
    for edit, side in sorted(sided, key=lambda item: (item[0][:2], item[1])):
        if meeting is None or edit.o_lo > meeting.hi - least:
            if meeting is not None:
                yield meeting
            meeting = _Overlap(edit.o_lo, edit.o_hi, ([], []))
        meeting.edits[side].append(edit)
        meeting = meeting._replace(hi=max(meeting.hi, edit.o_hi))
    if meeting is not None:
        yield meeting


def _spans(meeting: _Overlap, starts: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the lines of origin and revision in place of a meeting's lines of the base.

    - ``starts``: where these lines begin.
    """
    o, r = (
        (start, start + meeting.hi - meeting.lo + sum(map(_growth, edits)))
        for start, edits in zip(starts, meeting.edits, strict=True)
    )
    return o, r


def _growth(edit: Edit) -> int:
    return edit.a_hi - edit.a_lo - edit.o_hi + edit.o_lo


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


def _ended(lines: Sequence[str]) -> str:
    """Join lines, each of which but the last has a line end or gets one."""
    text = "".join(lines)
    if len(lines) - text.count("\n") > (not text.endswith("\n")):  # the last of one side is inside
        text = "\n".join([line.removesuffix("\n") for line in lines[:-1]] + [*lines[-1:]])
    return text
