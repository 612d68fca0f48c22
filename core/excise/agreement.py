"""The word for what two revisions or two patches have in common (definition, section 6a)."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

__all__ = [
    "CONTAINS",
    "DIFFERENT",
    "ELSEWHERE",
    "MOVED",
    "NEARLY_ALL",
    "OVERLAPS",
    "SAME",
    "SOME",
    "WORDS",
    "Shares",
    "word_of",
]

SAME = "same"
ELSEWHERE = "same text elsewhere"
CONTAINS = "contains"
OVERLAPS = "overlaps"
DIFFERENT = "different"
WORDS = (SAME, ELSEWHERE, CONTAINS, OVERLAPS, DIFFERENT)
"""The words, in the order in which they are tried."""

NEARLY_ALL = Fraction(95, 100)
MOVED = Fraction(5, 100)
SOME = Fraction(25, 100)


class Shares(NamedTuple):
    """How much a pair has in common, as fractions in [0, 1].

    ``anchored`` counts matches at one place only, ``anywhere`` all of them. ``a_in_b`` is the share
    of the n-grams added and deleted by A that B has at the same place; ``b_in_a`` the reverse.
    """

    anchored: Fraction
    anywhere: Fraction
    a_in_b: Fraction
    b_in_a: Fraction


def word_of(shares: Shares, *, equal: bool = False) -> str:
    """Return the first word of section 6a that holds for a pair.

    Parameters
    ----------
    equal
        Whether a guard found the two equal (1 or 4): no counts alone make a pair the same.

    Examples
    --------
    >>> half, whole, none = Fraction(1, 2), Fraction(1), Fraction(0)
    >>> word_of(Shares(half, half, whole, Fraction(1, 3)))
    'contains'
    >>> word_of(Shares(none, whole, none, none))
    'same text elsewhere'
    """
    if equal:
        return SAME
    if shares.anywhere >= NEARLY_ALL and shares.anywhere - shares.anchored >= MOVED:
        return ELSEWHERE
    larger = max(shares.a_in_b, shares.b_in_a)
    if larger >= NEARLY_ALL:
        return CONTAINS
    return OVERLAPS if larger >= SOME else DIFFERENT
