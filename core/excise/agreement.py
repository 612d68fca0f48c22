"""The word for what two revisions or two patches have in common (definition, section 6a).

The first three say that they are the same program, by rules without numbers (`excise.levels`); the
others are about texts.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

IDENTICAL = "identical"
CODE = "same code"
NAMES = "same up to names"
OVERLAPS = "overlaps"
DIFFERENT = "different"
WORDS = (IDENTICAL, CODE, NAMES, OVERLAPS, DIFFERENT)
"""The words, in the order in which they are tried."""

SAME = WORDS[:3]
"""The words that say that two are the same program."""

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


def overlaps(shares: Shares) -> bool:
    """Whether two edits that are not known to be the same have a part in common.

    That is a quarter of one of them at the same place, or nearly all of it elsewhere.

    >>> half, whole, none = Fraction(1, 2), Fraction(1), Fraction(0)
    >>> [overlaps(Shares(none, half, share, none)) for share in (whole, none)]
    [True, False]
    """
    if shares.anywhere >= NEARLY_ALL and shares.anywhere - shares.anchored >= MOVED:
        return True
    return max(shares.a_in_b, shares.b_in_a) >= SOME
