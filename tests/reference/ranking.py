"""The order of suggestions by the page docs/ranking.md alone: slow, and in exact fractions.

Facts about texts (stubs, what is broken) and agreements are given; see `order`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import log


@dataclass(frozen=True)
class Candidate:
    """What is known of a revision before the others are looked at."""

    similarities: tuple[float, ...]
    """To each of the others."""
    size: int
    no_op: bool = False
    white: bool = False
    stub: bool = False
    errors: bool = False
    lost: frozenset[str] = frozenset()


def order(candidates):
    """Return the score and the rank of each candidate."""
    count = len(candidates)
    levels, broken, agreements = [], [], []
    for own in candidates:
        levels.append(
            "no-op" if own.no_op else "white" if own.white else "stub" if own.stub else "edit"
        )
        missed = False
        for name in own.lost:
            losers = [other for other in candidates if name in other.lost]
            missed = missed or len(losers) <= count - len(losers)
        broken.append(own.errors or missed)
        exact = [Fraction(value) for value in own.similarities]
        agreements.append(sum(exact) / len(exact) if exact else Fraction(0))
    for level in ("edit", "stub", "white", "no-op"):
        first = [i for i in range(count) if levels[i] == level]
        if first:
            break
    else:
        return []
    whole = [i for i in first if not broken[i]] or first
    tiny = any(candidates[i].size <= 5 for i in whole)
    apart = all(agreements[i] < Fraction(0.2) for i in whole)
    weight = 1.0 if tiny or apart else 0.01
    scores = []
    for i, own in enumerate(candidates):
        score = 3 * float(agreements[i]) - weight * log(4 + own.size) - (3 if broken[i] else 0)
        scores.append(round(score, 9))
    worth = {"edit": 3, "stub": 2, "white": 1, "no-op": 0}
    keys = [(worth[levels[i]], scores[i]) for i in range(count)]
    return [(scores[i], 1 + sum(other > keys[i] for other in keys)) for i in range(count)]
