"""The cases of tests/cases/golden.json, worked out by hand, on the oracle and on the library."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

GOLDEN = json.loads((Path(__file__).parents[1] / "cases" / "golden.json").read_text("utf-8"))
CASES = [*GOLDEN["cases"], *GOLDEN["examples"]]
BY_NAME = pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
LCS = pytest.mark.parametrize("lcs", ["star", "paper"])
GRANULARITIES = ("token", "line", "nested")
GRANULARITY = pytest.mark.parametrize("granularity", GRANULARITIES)


def triple(case):
    return case["O"], case["A"], case["B"]


def regions_of(case):
    """The regions of a case; one whose segments are all empty counts as none."""
    sides = [[tuple(segment) for segment in case["regions"][name]] for name in "OAB"]
    return tuple(region for region in zip(*sides, strict=True) if any(region))


def test_every_case_is_here():
    assert len(GOLDEN["cases"]) == 22
    assert len(CASES) == 23


@BY_NAME
@LCS
@GRANULARITY
def test_directed(implementation, case, lcs, granularity):
    found = implementation.directed(*triple(case), lcs=lcs, granularity=granularity)
    assert found.exact == Fraction(case["es_paper_P"])
    assert found.value == float(Fraction(case["es_paper_P"]))


@BY_NAME
@LCS
@GRANULARITY
def test_symmetric(implementation, case, lcs, granularity):
    origin, a, b = triple(case)
    found = implementation.symmetric(origin, a, b, lcs=lcs, granularity=granularity)
    swapped = implementation.symmetric(origin, b, a, lcs=lcs, granularity=granularity)
    assert found.exact == swapped.exact == Fraction(case["es_symmetric_F"])


@BY_NAME
@LCS
def test_regions(implementation, case, lcs):
    assert implementation.directed(*triple(case), lcs=lcs).regions == regions_of(case)


@pytest.mark.parametrize("case", GOLDEN["examples"], ids=lambda case: case["name"])
def test_arguments_swapped(implementation, case):
    origin, a, b = triple(case)
    assert implementation.directed(origin, b, a).exact == Fraction(case["es_paper_P_swapped"])


@pytest.mark.parametrize("case", GOLDEN["line_cases"], ids=lambda case: case["name"])
@GRANULARITY
def test_text_that_shares_tokens_with_its_fix(implementation, case, granularity):
    origin, a = ("\n".join(case[name]) + "\n" for name in "OA")
    assert case["B"] == "=O"
    found = implementation.directed(origin, a, origin, granularity=granularity)
    assert found.exact == case["expect"]
