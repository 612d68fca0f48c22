"""The order of suggestions by the page docs/ranking.md alone: slow, by comparing each with each."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Candidate:
    """What is known of a revision."""

    similarities: tuple[float, ...]
    """To each of the others."""
    size: int
    code: str
    no_op: bool = False
    codeless: bool = False
    errors: bool = False
    lost: bool = False


def ranks(candidates, intent):
    """Return the rank of each candidate: one more than stand before it."""

    def level(own):
        if own.no_op:
            return "no-op"
        if own.codeless:
            return "codeless"
        return "broken" if own.errors or (own.lost and intent == "fix") else "whole"

    def is_before(a, b):
        levels = ["whole", "broken", "codeless", "no-op"]
        if level(a) != level(b):
            return levels.index(level(a)) < levels.index(level(b))
        makers = [
            sum((other.code, level(other)) == (own.code, level(own)) for other in candidates)
            for own in (a, b)
        ]
        if makers[0] != makers[1]:
            return makers[0] > makers[1]
        near = [sum(map(Fraction, own.similarities)) for own in (a, b)]
        if intent == "change" and near[0] != near[1]:
            return near[0] > near[1]
        return a.size < b.size

    return [1 + sum(is_before(other, own) for other in candidates) for own in candidates]
