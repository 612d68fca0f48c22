"""The order of suggestions by the page docs/ranking.md alone: slow, by comparing each with each."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, eq=False)
class Candidate:
    """What is known of a revision."""

    similarities: tuple[float, ...]
    """To each of the others."""
    size: int
    code: str
    no_op: bool = False
    codeless: bool = False
    errors: bool = False
    kinds: frozenset[str] = frozenset({"code"})
    """What the files are for that it changes; none for a no-op."""


LEVELS = ["whole", "broken", "codeless", "no-op"]


def ranks(candidates, intent):
    """Return the rank of each candidate: one more than stand before it."""

    def level(own):
        if own.no_op:
            return "no-op"
        if own.codeless:
            return "codeless"
        return "broken" if own.errors else "whole"

    changes_code = any("code" in own.kinds for own in candidates)

    def is_apart(own):
        return changes_code and bool(own.kinds) and "code" not in own.kinds

    def place(own):
        """Those apart stand behind the codeless and before no-ops, as if they were alone."""
        return (2.5 if is_apart(own) else LEVELS.index(level(own)), LEVELS.index(level(own)))

    def is_before(a, b):
        if place(a) != place(b):
            return place(a) < place(b)
        makers = [
            sum((other.code, place(other)) == (own.code, place(own)) for other in candidates)
            for own in (a, b)
        ]
        if makers[0] != makers[1]:
            return makers[0] > makers[1]
        near = [
            sum(
                Fraction(similarity)
                for similarity, other in zip(
                    own.similarities, [c for c in candidates if c is not own], strict=True
                )
                if is_apart(other) == is_apart(own) and level(other) in ("whole", "broken")
            )
            for own in (a, b)
        ]
        if intent == "change" and near[0] != near[1]:
            return near[0] > near[1]
        return a.size < b.size

    return [1 + sum(is_before(other, own) for other in candidates) for own in candidates]
