"""What two patches have in common, in words (section 6a)."""

from __future__ import annotations

from excise.agreement import CONTAINS, DIFFERENT, ELSEWHERE, OVERLAPS, SAME
from excise.patches import Likeness
from excise.patches.likeness import pooled

__all__ = ["beside", "parts", "said"]


def said(likeness: Likeness) -> str:
    """Return what a patch (b) is to another one (a) in a row about it: "contains it"."""
    word = likeness.word
    return _in_another_file(likeness, f"{_contains(likeness)} it" if word == CONTAINS else word)


def beside(likeness: Likeness, other: str) -> str:
    """Return what a patch (b) is to another one (a), in a sentence: "contains #4"."""
    phrases = {
        SAME: f"same as {other}",
        ELSEWHERE: f"same text elsewhere: {other}",
        CONTAINS: f"{_contains(likeness)} {other}",
        OVERLAPS: f"overlaps {other}",
        DIFFERENT: f"different, nearest is {other}",
    }
    return _in_another_file(likeness, phrases[likeness.word])


def _contains(likeness: Likeness) -> str:
    """Return "contains", or the reverse where more of B is in A than of A in B."""
    shares = likeness.shares
    return "is contained in" if shares.b_in_a > shares.a_in_b else "contains"


def _in_another_file(likeness: Likeness, phrase: str) -> str:
    return f"{phrase}, in another file" if likeness.in_another_file else phrase


def parts(likeness: Likeness) -> str:
    """Return what the score adds up from: n-grams of both patches, here and elsewhere."""
    whole = pooled(likeness.operations)
    here, moved, size = 2 * whole.here, 2 * (whole.anywhere - whole.here), whole.a + whole.b
    text = f"{here:,} of {size:,} n-grams match at the same place"
    return f"{text}, {moved:,} elsewhere (these count a quarter)" if moved else text
