"""N-grams of a list of tokens, as the measures of the field count them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

__all__ = ["Grams", "grams", "harmonic", "ratio"]

Grams = Counter[tuple[str, ...]]


def grams(tokens: Sequence[str], order: int) -> Grams:
    """Count the n-grams of one order, or none if the text is shorter.

    Examples
    --------
    >>> grams(["a", "b", "a", "b"], 2)
    Counter({('a', 'b'): 2, ('b', 'a'): 1})
    """
    return Counter(zip(*(tokens[start:] for start in range(order)), strict=False))


def ratio(part: float, whole: float) -> float:
    """Return ``part / whole``, and 0 for 0/0."""
    return part / whole if whole else 0.0


def harmonic(precision: float, recall: float) -> float:
    """Return the harmonic mean, or 0 if both are 0."""
    return ratio(2 * precision * recall, precision + recall)
