"""The words for what two patches have in common (section 6a), also if that is only an issue."""

from __future__ import annotations

from excise.patches import Likeness
from excise.patches.pool import pooled
from excise.patches.related import Level, Relation
from excise_server.duplicates.find import LEVEL_WORDS
from excise_server.report.words import SHARE_ELSEWHERE, digits


def said(likeness: Likeness) -> str:
    """Return how two patches relate: "overlaps"."""
    return said_of(likeness.word, in_another_file=likeness.in_another_file)


def said_of(word: str, *, in_another_file: bool, for_another_part: bool = False) -> str:
    """Return the same of what is known of a likeness: its word, and where."""
    if for_another_part:
        return f"{word}, for another part"
    return f"{word}, in another file" if in_another_file else word


def parts(likeness: Likeness) -> str:
    """Return the parts that add up to the score."""
    total = pooled(likeness.operations)
    moved = 2 * (total.anywhere - total.here)
    text = f"{2 * total.here:,} of {total.a + total.b:,} n-grams match at the same place"
    return f"{text}, {moved:,} elsewhere (these count {SHARE_ELSEWHERE})" if moved else text


def cosines(what: float, where: float, why: float | None) -> str:
    """Return the three cosines of a pair, or two without a message.

    >>> cosines(0.32, 0.81, None)
    'what .32  where .81'
    """
    shown = (("what", what), ("where", where), ("why", why))
    return "  ".join(
        f"{name} {digits(value).removeprefix('0')}" for name, value in shown if value is not None
    )


def related_words(relation: Relation, level: Level | None = None) -> str:
    """Return the level and the cosines of a pair, shown next to the similarity of its edits.

    - ``level``: what is known of it, if that is more than the cosines tell.

    >>> related_words(Relation(0.9, 0.8, 0.5))
    'likely the same issue (what .90  where .80  why .50)'
    """
    words = LEVEL_WORDS[level or relation.level] or "not about the same issue, as far as is known"
    return f"{words} ({cosines(relation.what, relation.where, relation.why)})"
