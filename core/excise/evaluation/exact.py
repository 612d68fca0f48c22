"""Exact match, and the edit distances of characters."""

from __future__ import annotations

from collections import Counter
from difflib import unified_diff

from excise.evaluation.base import Item, Measure, Value, best, missing_library
from excise.text import normalise, raw_lines


def em(item: Item) -> Value:
    """Exact match: 1 where the hypothesis is a reference, character by character, else 0.

    Any reference will do.
    """
    return best(item.references, lambda reference: float(item.hypothesis == reference))


def em_diff(item: Item) -> Value:
    """EM-Diff of EditEval (Dwivedi-Yu et al. 2022): exact match of changed lines. In [0, 1].

    The lines of a diff with the origin (difflib, no context, ``-`` or ``+`` before each; a line
    end is part of its line) that both share, as multisets, over the larger number of them; the
    best reference counts. 0/0: neither changes anything: 1 (the published code gives 0).
    """
    by_hypothesis = _changes(item.origin, item.hypothesis)

    def score(reference: str) -> float:
        by_reference = _changes(item.origin, reference)
        larger = max(by_hypothesis.total(), by_reference.total())
        return (by_hypothesis & by_reference).total() / larger if larger else 1.0

    return best(item.references, score)


def _changes(origin: str, revision: str) -> Counter[str]:
    lines = unified_diff(raw_lines(origin), raw_lines(revision), n=0)
    return Counter(line for index, line in enumerate(lines) if index > 1 and line[0] in "-+")


def ed(item: Item) -> Value:
    """Levenshtein distance in characters, by rapidfuzz. In [0, inf); smaller is better.

    The nearest reference counts.
    """
    from rapidfuzz.distance import Levenshtein

    return best(
        item.references, lambda text: float(Levenshtein.distance(item.hypothesis, text)), min
    )


def nes(item: Item) -> Value:
    """Normalised edit similarity: 1 - distance / length of the longer, by rapidfuzz. In [0, 1].

    The nearest reference counts. 0/0: both empty: 1.
    """
    from rapidfuzz.distance import Levenshtein

    return best(
        item.references, lambda text: Levenshtein.normalized_similarity(item.hypothesis, text)
    )


_RAPIDFUZZ = "rapidfuzz"

REWRITE = 0.8
"""From this normalised edit distance on, a text is called a rewrite: the tau of the paper."""

SHORTEST, MOST_CELLS = 40, 10**10
"""Characters of an origin below which nothing is called a rewrite; largest table of a distance."""


def rewrite_note(origin: str, hypothesis: str) -> str | None:
    """Say that a text is a rewrite of its origin, if it is, and if rapidfuzz is installed.

    docs/evaluation.md says how `REWRITE` was chosen.
    """
    cells = len(origin) * len(hypothesis)
    if len(origin) < SHORTEST or cells > MOST_CELLS or missing_library(_RAPIDFUZZ) is not None:
        return None
    from rapidfuzz.distance import Levenshtein

    distance = Levenshtein.normalized_distance(normalise(origin), normalise(hypothesis))
    shown = f"{distance:.2f}".removeprefix("0")
    return f"rewrite: NED {shown} of the origin" if distance >= REWRITE else None


MEASURES = (
    Measure(score=em, source="folklore; EditEval appendix C", key="em|v:1"),
    Measure(
        score=em_diff,
        source="Dwivedi-Yu et al. 2022 (EditEval), appendix C",
        key="em-diff|diff:difflib|unit:line|context:0|0/0:1|v:1",
        needs_origin=True,
    ),
    Measure(
        score=ed,
        source="Levenshtein 1966",
        key="ed|unit:char|v:1",
        high=float("inf"),
        larger_is_better=False,
        several="min",
        package=_RAPIDFUZZ,
    ),
    Measure(
        score=nes,
        source="Levenshtein 1966, divided by the longer length",
        key="nes|unit:char|norm:max|0/0:1|v:1",
        package=_RAPIDFUZZ,
    ),
)
