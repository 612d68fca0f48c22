"""The decision at each hunk, derived from the text in the editor. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from excise.text import Text, raw_lines
from excise_server.editor.analysis import Analysis

__all__ = ["Decision", "DecisionKind", "decisions_of", "next_undecided", "with_kept"]

DecisionKind = Literal["origin", "variant", "mixed", "edited"]


@dataclass(frozen=True, slots=True)
class Decision:
    """The editor's text in a hunk, compared with the origin and the variants.

    ``kind`` is ``origin`` or ``variant`` if it is exactly that text (``variant`` is its index),
    ``mixed`` if each line comes from one of them, else ``edited``. A hunk with the origin's text is
    decided only if the user said that it stays.
    """

    kind: DecisionKind
    variant: int | None
    decided: bool


def with_kept(analysis: Analysis) -> Analysis:
    """Return an analysis in which the hunks that the user wants to keep are also decided."""
    kept = analysis.snapshot.kept
    if not kept:
        return analysis
    spans = [(hunk.lo, hunk.hi) for hunk in analysis.hunks]
    pairs = zip(analysis.decided, spans, strict=True)
    return replace(analysis, decided=tuple(decided or span in kept for decided, span in pairs))


def decisions_of(analysis: Analysis) -> tuple[Decision, ...]:
    """Return the decision at each hunk; without a buffer, all have the origin's text."""
    shown = Text.of(analysis.snapshot.shown)
    return tuple(
        _decision(shown.between(site.lo, site.hi), hunk.text, texts, decided)
        for hunk, site, decided in zip(
            analysis.hunks, analysis.sites, analysis.decided, strict=True
        )
        for texts in [[variant.text for variant in hunk.variants]]
    )


def next_undecided(decisions: Sequence[Decision], after: int | None = None) -> int | None:
    """Return the next hunk that is not decided, from the first again after the last."""
    start = 0 if after is None else after + 1
    order = [*range(start, len(decisions)), *range(min(start, len(decisions)))]
    return next((index for index in order if not decisions[index].decided), None)


def _decision(shown: str, origin: str, variants: list[str], decided: bool) -> Decision:
    if shown == origin:
        return Decision("origin", None, decided)
    if shown in variants:
        return Decision("variant", variants.index(shown), decided)
    variant_lines = {line for text in (origin, *variants) for line in raw_lines(text)}
    return Decision(
        "mixed" if variant_lines.issuperset(raw_lines(shown)) else "edited", None, decided
    )
