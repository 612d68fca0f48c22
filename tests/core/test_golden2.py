"""The cases of tests/cases/golden2.json: places, by hand (section 4a) and for whole texts."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

GOLDEN = json.loads((Path(__file__).parents[1] / "cases" / "golden2.json").read_text("utf-8"))
CASES, TEXT_CASES = GOLDEN["cases"], GOLDEN["text_cases"]
BY_NAME = pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
TEXT_BY_NAME = pytest.mark.parametrize("case", TEXT_CASES, ids=lambda case: case["name"])
GRANULARITY = pytest.mark.parametrize("granularity", ["token", "line", "nested"])


def test_every_case_is_here():
    assert len(CASES) == 12
    assert len(TEXT_CASES) == 5


@BY_NAME
@GRANULARITY
def test_sequences(placed_implementation, case, granularity):
    if granularity == "line" and "lines" in case:
        pytest.skip("the case is about tokens of one line")
    options = {"granularity": granularity}
    if "lines" in case:
        options["lines"] = tuple(case["lines"])
    as_expected(placed_implementation, case, case["expect"], **options)


@TEXT_BY_NAME
@GRANULARITY
def test_texts(placed_implementation, case, granularity):
    options = {"granularity": granularity, "language": case["language"]}
    as_expected(placed_implementation, case, case["expect"][granularity], **options)


def as_expected(implementation, case, expect, **options):
    """Both orders of the arguments give what the case says, and the same but for the sides."""
    for a, b in ("AB", "BA"):
        triple = case["O"], case[a], case[b]
        found = implementation.symmetric(*triple, place="anchored", **options)
        assert found.exact == Fraction(expect["placed"])
        assert found.value == float(Fraction(expect["placed"]))
        pooled = implementation.symmetric(*triple, place="pooled", **options)
        assert pooled.exact == Fraction(expect["pooled"])
        if "anchored" in expect:
            assert found.anchored == Fraction(expect["anchored"])
            assert found.anywhere == Fraction(expect["anywhere"])
        if "word" in expect:
            assert found.word == expect["word"]
        assert found.notes == frozenset(expect.get("notes", ()))
