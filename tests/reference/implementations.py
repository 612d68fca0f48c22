"""One face for the oracle and the library, so that the same tests run on both."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from tests.reference import oracle
from tests.reference.score import Verdict

Document = str | Sequence[Hashable]
Segments = tuple[tuple[Hashable, ...], ...]


@dataclass(frozen=True)
class Outcome:
    """What both implementations say about a triple."""

    exact: Fraction
    value: float
    regions: tuple[Segments, ...]
    whitespace_only: bool


class Implementation(Protocol):
    """An aligner and the two forms of the score; ``language`` None means lexical tokens."""

    def align(self, origin: Document, revision: Document, **options: Any) -> list: ...

    def directed(self, origin: Document, a: Document, b: Document, **options: Any) -> Outcome: ...

    def symmetric(self, origin: Document, a: Document, b: Document, **options: Any) -> Outcome: ...


class Oracle:
    """The slow oracle of this folder."""

    def align(self, origin, revision, *, language=None, **options):
        return oracle.align(origin, revision, grammar=language, **options)

    def directed(self, origin, a, b, *, language=None, **options):
        return judged(oracle.excision_score(origin, a, b, grammar=language, **options))

    def symmetric(self, origin, a, b, *, language=None, **options):
        return judged(oracle.similarity(origin, a, b, grammar=language, **options))


def judged(verdict: Verdict) -> Outcome:
    regions = tuple(region.tokens for region in verdict.regions)
    return Outcome(verdict.exact, float(verdict.exact), regions, verdict.whitespace_only)


class Core:
    """The library."""

    def align(self, origin, revision, **options):
        import excise

        return list(excise.align(origin, revision, **options).pairs)

    def directed(self, origin, a, b, **options):
        import excise

        return scored(excise.excision_score(origin=origin, reference=a, hypothesis=b, **options))

    def symmetric(self, origin, a, b, **options):
        import excise

        return scored(excise.similarity(origin=origin, a=a, b=b, **options))


def scored(score: Any) -> Outcome:
    regions = tuple(
        (tuple(r.origin.tokens), tuple(r.a.tokens), tuple(r.b.tokens)) for r in score.regions
    )
    return Outcome(score.exact, score.value, regions, "whitespace-only" in score.notes)


IMPLEMENTATIONS = {"oracle": Oracle(), "core": Core()}
