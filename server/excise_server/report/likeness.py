"""The words for what two patches have in common (section 6a), also if that is only an issue."""

from __future__ import annotations

from excise.agreement import CONTAINS, DIFFERENT, ELSEWHERE, OVERLAPS, SAME
from excise.patches import Likeness
from excise.patches.pool import pooled
from excise.patches.related import Relation
from excise_server.duplicates.find import LEVEL_WORDS
from excise_server.report.words import SHARE_ELSEWHERE, digits
from excise_server.report.words import beside as beside_it

__all__ = ["beside", "cosines", "parts", "related_words", "said", "said_of", "short"]


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
    total = pooled(likeness.operations)
    anchored_of_both, moved, size = (
        2 * total.here,
        2 * (total.anywhere - total.here),
        total.a + total.b,
    )
    text = f"{anchored_of_both:,} of {size:,} n-grams match at the same place"
    return f"{text}, {moved:,} elsewhere (these count {SHARE_ELSEWHERE})" if moved else text


def _in_another_file(is_there: bool, phrase: str) -> str:
    return f"{phrase}, in another file" if is_there else phrase


def cosines(what: float, where: float, why: float | None) -> str:
    """Return the three cosines of a pair, or two without a message.

    >>> cosines(0.32, 0.81, None)
    'what .32  where .81'
    """
    shown = (("what", what), ("where", where), ("why", why))
    return "  ".join(f"{name} {short(value)}" for name, value in shown if value is not None)


def short(value: float) -> str:
    """Return a cosine or a score in two digits, without the zero before the point."""
    return digits(value).removeprefix("0")


def related_words(relation: Relation) -> str:
    """Return the level and the cosines of a pair, shown next to the similarity of its edits.

    >>> related_words(Relation(0.9, 0.8, 0.5))
    'likely the same issue (what .90  where .80  why .50)'
    """
    words = LEVEL_WORDS[relation.level] or "not about the same issue, as far as is known"
    return f"{words} ({cosines(relation.what, relation.where, relation.why)})"
