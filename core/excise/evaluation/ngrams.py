"""N-grams of a list of tokens, as the measures of the field count them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import exp, log
from statistics import fmean

Grams = Counter[tuple[str, ...]]


def grams(tokens: Sequence[str], order: int) -> Grams:
    """Count the n-grams of one order, or none if the text is shorter.

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


def f1(shared: float, ours: float, theirs: float) -> float:
    """Return the F of what two sides share, from the size of each; 0/0 is 0."""
    return harmonic(ratio(shared, ours), ratio(shared, theirs))


def geometric(shares: Iterable[float], ours: float, theirs: float) -> float:
    """Return the geometric mean of precisions, all above 0, times BLEU's penalty of brevity."""
    return exp(min(0.0, 1 - theirs / ours) + fmean(log(share) for share in shares))
