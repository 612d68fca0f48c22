"""The explanation of an order, printed with every order that people read."""

from __future__ import annotations

from collections.abc import Sequence

from excise import Confidence, Ranked
from excise.excision import WHITESPACE_ONLY
from excise.ranking import AGREEMENT, APART, BROKEN, SLACK, TIE_BREAK, TINY, Regime

__all__ = ["FORMULA", "confidence_words", "order_words", "said_of"]

_SIZES = f"ln({SLACK} + tokens)"
FORMULA = f"score = {AGREEMENT:g} * agreement - {_SIZES}, {BROKEN:g} less if broken"
"""The formula of the score if sizes count."""

_BY_AGREEMENT = FORMULA.replace(_SIZES, f"{TIE_BREAK:g} * {_SIZES}")
_WHY = {
    Regime.SMALL_EDIT: f"{FORMULA} (sizes count, as some edit has {TINY} tokens at most)",
    Regime.NO_AGREEMENT: f"{FORMULA} (sizes count, as no agreement reaches {APART:g})",
    Regime.AGREEMENT: f"{_BY_AGREEMENT} (every edit has over {TINY} tokens, and some agree)",
}


def order_words(ranking: Sequence[Ranked]) -> str:
    """Return the formula that decided an order, and why, or "" if there are no ranks.

    >>> order_words([])
    ''
    """
    return _WHY[ranking[0].regime] if ranking else ""


def confidence_words(confidence: Confidence) -> str:
    """Return how far agreement supports the first pick of an order."""
    level = "no" if confidence.level == "none" else confidence.level
    return f"agreement says: {level} confidence, {confidence.reason}"


def said_of(ranked: Ranked) -> list[str]:
    """Return why a revision is further down than its numbers would put it, as phrases."""
    is_stated = ranked.no_op or WHITESPACE_ONLY in ranked.notes
    stub = ["changes no code that anybody reads"] * (ranked.stub and not is_stated)
    return [*stub, *ranked.broken]
