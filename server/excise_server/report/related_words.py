"""The words for whether two patches are about one issue."""

from __future__ import annotations

from excise.patches.related import Relation
from excise_server.duplicates.find import LEVEL_WORDS
from excise_server.report.digits import digits

__all__ = ["cosines", "related_words", "short"]


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
