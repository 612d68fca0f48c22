"""The words for what two patches have in common (section 6a)."""

from __future__ import annotations

from excise.agreement import CONTAINS, DIFFERENT, ELSEWHERE, OVERLAPS, SAME
from excise.patches import EditsLikeness, Likeness
from excise.patches.likeness import pooled
from excise_server.report.words import beside as beside_it
from excise_server.report.words import digits

__all__ = ["beside", "parts", "said", "said_of"]


def said(likeness: Likeness) -> str:
    """Return how a patch (b) relates to another one (a), in a row about (b): "contains it"."""
    contained = likeness.contained_in_a, likeness.contained_in_b
    return said_of(likeness.word, contained, in_another_file=likeness.in_another_file)


def said_of(word: str, contained: tuple[float, float], *, in_another_file: bool) -> str:
    """Return the same of what is known of a likeness: its word, and what each contains."""
    return _in_another_file(in_another_file, beside_it(word, contained))


def beside(likeness: Likeness, other: str) -> str:
    """Return how a patch (b) relates to another one (a), in a sentence: "contains #4"."""
    shares = likeness.shares
    contains = "is contained in" if shares.b_in_a > shares.a_in_b else "contains"
    phrases = {
        SAME: f"same as {other}",
        ELSEWHERE: f"same text elsewhere: {other}",
        CONTAINS: f"{contains} {other}",
        OVERLAPS: f"overlaps {other}",
        DIFFERENT: f"different, nearest is {other}",
    }
    return _in_another_file(likeness.in_another_file, phrases[likeness.word])


def parts(likeness: Likeness) -> str:
    """Return the parts that add up to the score."""
    if not isinstance(likeness, EditsLikeness):
        shares = likeness.shares
        anchored, anywhere = digits(float(shares.anchored)), digits(float(shares.anywhere))
        return (
            f"{anchored} at the same places, {anywhere} wherever it stands (a quarter of the rest)"
        )
    total = pooled(likeness.operations)
    anchored_of_both, moved, size = (
        2 * total.here,
        2 * (total.anywhere - total.here),
        total.a + total.b,
    )
    text = f"{anchored_of_both:,} of {size:,} n-grams match at the same place"
    return f"{text}, {moved:,} elsewhere (these count a quarter)" if moved else text


def _in_another_file(is_there: bool, phrase: str) -> str:
    return f"{phrase}, in another file" if is_there else phrase
