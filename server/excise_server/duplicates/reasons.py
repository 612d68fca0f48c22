"""The reasons why two patches are related: a few of their own lines and words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import msgspec

from excise.patches import Patch
from excise.patches.blocks import text_of
from excise.patches.evidence import Bag, Evidence, place_of
from excise.patches.features import IGNORED, compared

__all__ = ["SharedLine", "SharedReasons", "reasons_of", "undoes"]

UNDONE = 0.9
"""Share of the changed lines of both that one undoes, from which it reverts the other."""

TELLING = 12
"""The fewest letters and digits of an added line that is a reason by itself."""

PLACES = 3
WORDS = 3
LONGEST = 160
"""The most characters of a line that are shown."""


class SharedLine(msgspec.Struct, frozen=True, kw_only=True):
    """An old line that both touch, where the first of the pair has it."""

    path: str
    line: int
    text: str


class SharedReasons(msgspec.Struct, frozen=True, kw_only=True):
    """The shared parts of a pair with the most weight."""

    where: list[SharedLine]
    what: list[str]
    """A line that both add, else sub-tokens with their signs: ``+retry``."""
    why: list[str]


def reasons_of(
    patch: Patch, other: Patch, a: Evidence, b: Evidence, is_common: Callable[[str], bool]
) -> SharedReasons:
    """Return the reasons of a pair.

    Parameters
    ----------
    patch, other
        The patches, of which lines are shown.
    a, b
        Their evidence.
    is_common
        Whether a term of ``where`` is in so many patches that it is not a reason.
    """
    places = _heaviest(a.where, b.where, len(a.where.terms))
    lines = _lines(patch, {term for term in places if "\0" in term and not is_common(term)})
    where = [lines[term] for term in places if term in lines][:PLACES]
    added = _added(patch, other)
    words = _heaviest(a.what, b.what, 8)
    what = added or [word for word in words if word[:1] in "+-" and not _is_part(word, words)]
    why = _heaviest(a.why, b.why, 8)
    why_words = [word for word in why if not _is_part(word, why)]
    return SharedReasons(where=where, what=what[:WORDS], why=why_words[:WORDS])


def undoes(patch: Patch, other: Patch) -> bool:
    """Whether one patch deletes nearly all lines that the other adds, and the reverse."""
    (added, deleted), (other_added, other_deleted) = _changed(patch), _changed(other)
    mirrored = (added & other_deleted).total() + (deleted & other_added).total()
    alike = (added & other_added).total() + (deleted & other_deleted).total()
    total = sum(lines.total() for lines in (added, deleted, other_added, other_deleted))
    return mirrored > alike and 2 * mirrored >= UNDONE * total


def _changed(patch: Patch) -> tuple[Counter[str], Counter[str]]:
    """Return the lines added and deleted, stripped, that are not blank."""
    lines: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for pair in compared(patch, IGNORED)[0]:
        for hunk in pair.hunks:
            for line in text_of(hunk.lines):
                if line[:1] != " " and (bare := line[1:].strip()):
                    lines[line[:1] == "-"][bare] += 1
    return lines


def _heaviest(a: Bag, b: Bag, most: int) -> list[str]:
    """Return the shared terms with the largest products of weights, equal ones by name."""
    weight_of = dict(zip(b.terms, b.weights, strict=True))
    shared = [
        (w * weight_of[t], t) for t, w in zip(a.terms, a.weights, strict=True) if t in weight_of
    ]
    return [term for _, term in sorted(shared, key=lambda pair: (-pair[0], pair[1]))[:most]]


def _is_part(word: str, others: Iterable[str]) -> bool:
    """Whether a word is part of another word in the list."""
    return any(word != longer and word.lstrip("+-") in longer and word[0] == longer[0]
               for longer in others)  # fmt: skip


def _lines(patch: Patch, wanted: set[str]) -> dict[str, SharedLine]:
    """Return the first line of each place."""
    first_lines: dict[str, SharedLine] = {}
    for pair in compared(patch, IGNORED)[0]:
        path = pair.old or pair.path
        for hunk in pair.hunks:
            number = hunk.old_start
            for line in text_of(hunk.lines):
                place = place_of(path, line)
                if place in wanted and place not in first_lines:
                    first_lines[place] = SharedLine(
                        path=path, line=number, text=line[1:].strip()[:LONGEST]
                    )
                number += line[:1] != "+"
    return first_lines


def _added(patch: Patch, other: Patch) -> list[str]:
    """Return the longest line that both add, if it has enough letters to be meaningful."""
    lines = _changed(patch)[0].keys() & _changed(other)[0].keys()
    telling = [line for line in lines if sum(map(str.isalnum, line)) >= TELLING]
    return [f"+{max(telling, key=lambda line: (len(line), line))[:LONGEST]}"] if telling else []
