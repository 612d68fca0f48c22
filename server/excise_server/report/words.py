"""Words and numbers that people read: values, pairs (section 6a of the definition), the order.

Only the word "same" claims sameness. "contains" has a direction, which the phrases give.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from excise import Ranked, ScoreMatrix
from excise.agreement import CONTAINS, NEARLY_ALL
from excise.excision import PLACED

__all__ = [
    "DISAGREE",
    "SHARE_ELSEWHERE",
    "beside",
    "between",
    "digits",
    "disagree",
    "order_words",
    "plural",
]
__all__ += ["word_beside", "words_of"]

SHARE_ELSEWHERE = {4: "a quarter", 2: "half"}.get(
    sum(PLACED), f"{PLACED[1]} of {sum(PLACED)} parts"
)
"""What an n-gram in common counts for that does not stand at the same place."""


def plural(count: int, noun: str) -> str:
    """Return "1 n-gram", "2,000 n-grams"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def digits(value: float | None) -> str:
    """Return a value in two digits, or – if it is undefined.

    A value below 1 is never 1.00, and a value above 0 never 0.00.

    >>> [digits(value) for value in (1.0, 0.996, 0.994, 0.25, 0.001, 0.0, None)]
    ['1.00', '>.99', '0.99', '0.25', '<.01', '0.00', '–']
    """
    if value is None:
        return "–"
    shown = f"{value:.2f}"
    if shown == "1.00" and value < 1:
        return ">.99"
    return "<.01" if shown == "0.00" and value > 0 else shown


def between(word: str, contained: tuple[float, float], a: str, b: str) -> str:
    """Return the phrase for A and B, of which each has so much of the other's edit at its place.

    >>> between("contains", (1.0, 0.4), "a", "b"), between("overlaps", (0.5, 0.4), "a", "b")
    ('b contains a', 'overlaps')
    """
    if word != CONTAINS:
        return word
    a_in_b, b_in_a = (share >= float(NEARLY_ALL) for share in contained)
    if a_in_b and b_in_a:
        return "each contains the other"
    return f"{b} contains {a}" if a_in_b else f"{a} contains {b}"


def beside(word: str, contained: tuple[float, float]) -> str:
    """Return the phrase for a member (A) next to its representative (B), as `between`.

    >>> beside("contains", (0.4, 1.0)), beside("contains", (1.0, 0.4)), beside("same", (1.0, 1.0))
    ('contains it', 'contained in it', 'same')
    """
    if word != CONTAINS:
        return word
    in_it, has_it = (share >= float(NEARLY_ALL) for share in contained)
    if in_it and has_it:
        return "each contains the other"
    return "contained in it" if in_it else "contains it"


class _Worded(Protocol):
    """A matrix that has a word for each pair."""

    @property
    def ids(self) -> tuple[str, ...]: ...
    def word(self, i: int, j: int, /) -> str: ...


def word_beside(matrix: ScoreMatrix, best: int, index: int) -> str:
    """Return the word for a member of a cluster next to its representative."""
    contained = float(matrix.contained[index, best]), float(matrix.contained[best, index])
    return beside(matrix.word(index, best), contained)


def words_of(matrix: _Worded) -> list[list[str]]:
    """Return the words of all pairs, in the shape of the matrix."""
    every = range(len(matrix.ids))
    return [[matrix.word(i, j) for j in every] for i in every]


DISAGREE = "they disagree: read, or run excise worktrees --run 'COMMAND'"
"""What is said where no two make the same edit: no order says much of that."""

_NEXT = {
    "fix": "then fewer tokens",
    "change": "then what is nearest to the others, then fewer tokens",
}
_OTHER = {
    "fix": "for any other change: --intent change",
    "change": "for a bug fix: --intent fix",
}


def order_words(intent: str) -> str:
    """Return the rule that decided an order.

    >>> order_words("fix").partition(":")[0]
    'intent fix (for any other change'
    """
    whole = "whole edits first, then the edit that more make"
    return f"intent {intent} ({_OTHER[intent]}): {whole}, {_NEXT[intent]}"


def disagree(ranking: Sequence[Ranked]) -> bool:
    """Whether several whole edits are ranked, and nobody makes one that another makes."""
    whole = [r for r in ranking if not (r.no_op or r.stub or r.broken)]
    return len(whole) > 1 and all(ranked.makers == 1 for ranked in whole)
