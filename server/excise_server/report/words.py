"""The word for a pair (section 6a of the definition), in a phrase about both or one of them.

Only the word "same" claims sameness. "contains" has a direction, which these phrases give.
"""

from __future__ import annotations

from typing import Protocol

from excise import ScoreMatrix
from excise.agreement import CONTAINS, NEARLY_ALL

__all__ = ["beside", "between", "word_beside", "words_of"]


def between(word: str, contained: tuple[float, float], a: str, b: str) -> str:
    """Return the phrase for A and B.

    Parameters
    ----------
    contained
        How much of A's edit B has at the same place, and the reverse.

    Examples
    --------
    >>> between("contains", (1.0, 0.4), "a", "b")
    'b contains a'
    >>> between("overlaps", (0.5, 0.4), "a", "b")
    'overlaps'
    """
    if word != CONTAINS:
        return word
    a_in_b, b_in_a = (share >= float(NEARLY_ALL) for share in contained)
    if a_in_b and b_in_a:
        return "each contains the other"
    return f"{b} contains {a}" if a_in_b else f"{a} contains {b}"


def beside(word: str, contained: tuple[float, float]) -> str:
    """Return the phrase for a member next to its representative.

    Parameters
    ----------
    contained
        How much of the member's edit the representative has at the same place, and the reverse.

    Examples
    --------
    >>> beside("contains", (0.4, 1.0)), beside("contains", (1.0, 0.4)), beside("same", (1.0, 1.0))
    ('contains it', 'contained in it', 'same')
    """
    if word != CONTAINS:
        return word
    in_it, has_it = (share >= float(NEARLY_ALL) for share in contained)
    if in_it and has_it:
        return "each contains the other"
    return "contained in it" if in_it else "contains it"


def word_beside(matrix: ScoreMatrix, best: int, index: int) -> str:
    """Return the word for a member of a cluster next to its representative."""
    contained = float(matrix.contained[index, best]), float(matrix.contained[best, index])
    return beside(matrix.word(index, best), contained)


class _Worded(Protocol):
    """A matrix that has a word for each pair."""

    @property
    def ids(self) -> tuple[str, ...]: ...

    def word(self, i: int, j: int, /) -> str: ...


def words_of(matrix: _Worded) -> list[list[str]]:
    """Return the words of all pairs, in the shape of the matrix."""
    every = range(len(matrix.ids))
    return [[matrix.word(i, j) for j in every] for i in every]
