"""The lines of a hunk, shown once, and how each variant differs from them.

Pure. Lines that a variant shares with the reference are named, not repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import excise
from excise.lexical import tokenise
from excise.text import raw_lines
from excise_server.foundation.changes import differing_lines
from excise_server.report.review_shapes import ReviewHunkEntry

__all__ = [
    "MAX_LINES",
    "ORIGIN",
    "Folding",
    "HunkLines",
    "ShownBlock",
    "ShownLine",
    "differing_tokens",
    "file_lines",
    "folded",
    "hunk_lines",
]

ORIGIN = ""
"""The id of the origin, which is not a candidate."""

MAX_LINES = 400
"""Most lines of one text of a hunk that is shown completely."""

_EDGE = 10
"""The number of lines shown at the start and at the end of a longer text."""

MAX_MARKED = 200_000
"""Most characters of a reference and a variant together whose differing tokens are marked."""

_SHORT = 2
"""Most lines in common that are repeated, because naming them would take as much room."""

Marks = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Folding:
    """What to fold, and the candidate to compare texts with.

    Attributes
    ----------
    against
        The id of a candidate, or `ORIGIN`.
    is_whole
        Whether to show everything: hunks on which all agree, generated files and long texts.
    """

    against: str = ORIGIN
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class ShownLine:
    r"""A line of a block.

    Attributes
    ----------
    sign
        Empty for a line of the reference, ``+`` for one that differs from it, a blank for one that
        does not, ``=`` for several of these, which ``text`` names, and ``\`` for a remark.
    number
        The number of a line of the origin, from 1, or 0 for other lines.
    text
        The line without its line end.
    marks
        Ranges (from, to, exclusive) of characters whose tokens the other text lacks, if it has
        other tokens of this line.
    """

    sign: str
    text: str
    number: int = 0
    marks: Marks = ()


@dataclass(frozen=True, slots=True)
class ShownBlock:
    """One text of a hunk and the ids of its candidates, with `ORIGIN` if the origin has it."""

    ids: tuple[str, ...]
    lines: tuple[ShownLine, ...]
    added: int
    deleted: int


@dataclass(frozen=True, slots=True)
class HunkLines:
    """A hunk as it is shown.

    Attributes
    ----------
    reference
        The text that all others are compared with.
    others
        The other texts, most candidates first.
    is_agreed
        Whether all of several candidates have the same text here.
    """

    reference: ShownBlock
    others: tuple[ShownBlock, ...]
    is_agreed: bool


def hunk_lines(hunk: ReviewHunkEntry, members: Sequence[str], against: str = ORIGIN) -> HunkLines:
    """Return a hunk as it is shown, against the origin or the text of a candidate.

    Parameters
    ----------
    members
        The ids of all candidates of the batch.
    against
        The id of a candidate; if it is in no variant, the origin's text is the reference.
    """
    texts = [((ORIGIN, *hunk.unchanged), hunk.origin)]
    texts += [(tuple(variant.ids), variant.text) for variant in hunk.variants]
    chosen = next((index for index, (ids, _) in enumerate(texts) if against in ids), 0)
    ids, reference = texts.pop(chosen)
    first = hunk.lo + 1 if chosen == 0 else 0
    others = [_block(who, reference, text, first) for who, text in texts]
    lost = {span for _, marks in others for span in marks}
    lines = _lines("", reference, frozenset(lost), first)
    is_agreed = len(members) > 1 and len(hunk.variants) == 1
    return HunkLines(
        ShownBlock(ids, tuple(lines), 0, 0),
        tuple(block for block, _ in others),
        is_agreed and len(hunk.variants[0].ids) == len(members),
    )


def folded(lines: Sequence[ShownLine], folding: Folding) -> Iterator[ShownLine | int]:
    """Yield the lines of a text, or the first, the last and a count of those between."""
    hidden = len(lines) - 2 * _EDGE
    if len(lines) <= MAX_LINES or folding.is_whole:
        yield from lines
        return
    yield from lines[:_EDGE]
    yield hidden
    yield from lines[-_EDGE:]


def file_lines(text: str) -> list[ShownLine]:
    """Return the lines of a file that some candidate deletes."""
    return [
        ShownLine("", line.removesuffix("\n"), number)
        for number, line in enumerate(raw_lines(text), start=1)
    ]


Spans = frozenset[tuple[int, int]]


def _block(ids: tuple[str, ...], reference: str, text: str, first: int) -> tuple[ShownBlock, Spans]:
    """Return a variant compared with the reference, and the tokens of the reference it lacks."""
    old, new = raw_lines(reference), raw_lines(text)
    missing, gained = differing_tokens(reference, text)
    every = _lines("+", text, gained, 0)
    shown: list[ShownLine] = []
    position = before = added = deleted = 0
    for o_lo, o_hi, a_lo, a_hi in differing_lines(old, new):
        shown += _common(every[position:a_lo], before, first)
        shown += every[a_lo:a_hi]
        added, deleted = added + a_hi - a_lo, deleted + o_hi - o_lo
        position, before = a_hi, o_hi
    shown += _common(every[position : len(new)], before, first)
    if old and new and old[-1].endswith("\n") != new[-1].endswith("\n"):
        ending = "with" if new[-1].endswith("\n") else "without"
        shown.append(ShownLine("\\", f"{ending} a line end at the end of the file"))
    return ShownBlock(ids, tuple(shown), added, deleted), missing


def _common(lines: Sequence[ShownLine], before: int, first: int) -> Iterator[ShownLine]:
    """Yield lines in common with the reference, the first of them after so many of its lines."""
    if len(lines) <= _SHORT:
        for index, line in enumerate(lines):
            yield ShownLine(" ", line.text, first + before + index if first else 0)
    elif first:
        yield ShownLine("=", f"{first + before}-{first + before + len(lines) - 1}")
    else:
        yield ShownLine("=", f"{len(lines)} lines")


def _lines(sign: str, text: str, spans: Spans, first: int) -> list[ShownLine]:
    """Return the lines of a text, with the characters in the spans marked."""
    ordered = sorted(spans)
    lines, start, position = [], 0, 0
    for number, line in enumerate(raw_lines(text)):
        stop = start + len(line)
        marks = []
        while position < len(ordered) and ordered[position][0] < stop:
            marks.append((ordered[position][0] - start, ordered[position][1] - start))
            position += 1
        shown = line.removesuffix("\n")
        lines.append(ShownLine(sign, shown, first + number if first else 0, _partial(shown, marks)))
        start = stop
    return lines


def _partial(line: str, marks: Sequence[tuple[int, int]]) -> Marks:
    """Join marks that are separated only by blanks, or return none if they cover the whole line."""
    joined: list[tuple[int, int]] = []
    for lo, hi in marks:
        if joined and not line[joined[-1][1] : lo].strip():
            joined[-1] = joined[-1][0], hi
        else:
            joined.append((lo, hi))
    outside = "".join(
        line[lo:hi]
        for lo, hi in zip([0, *(hi for _, hi in joined)], [*(lo for lo, _ in joined), len(line)],
                          strict=True)
    )  # fmt: skip
    return tuple(joined) if outside.strip() else ()


def differing_tokens(reference: str, text: str) -> tuple[Spans, Spans]:
    """Return the spans of tokens that the other text lacks: in the reference, and in the text."""
    if not reference or not text or len(reference) + len(text) > MAX_MARKED:
        return frozenset(), frozenset()
    old, new = tokenise(reference), tokenise(text)
    lost: set[tuple[int, int]] = set()
    gained: set[tuple[int, int]] = set()
    for edit in excise.align(reference, text).edits:
        lost.update(zip(old.starts[edit.o_lo : edit.o_hi], old.ends[edit.o_lo : edit.o_hi],
                        strict=True))  # fmt: skip
        gained.update(zip(new.starts[edit.a_lo : edit.a_hi], new.ends[edit.a_lo : edit.a_hi],
                          strict=True))  # fmt: skip
    return frozenset(lost), frozenset(gained)
