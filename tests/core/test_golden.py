"""The cases worked out by hand, on the oracle and on the library, under every choice.

One test is one case: the choices that must not change its numbers are tried in a row.
"""

import json
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

GOLDEN, GOLDEN2 = (
    json.loads((Path(__file__).parents[1] / "cases" / name).read_text("utf-8"))
    for name in ("golden.json", "golden2.json")
)
CASES = [*GOLDEN["cases"], *GOLDEN["examples"]]
GRANULARITIES = ("token", "line", "nested")
# On ready-made tokens each choice only changes the way. (``paper`` aligns once more, in units.)
CHOICES = [(granularity, "star") for granularity in GRANULARITIES]
CHOICES += [("nested", "paper"), ("line", "paper")]


def by_name(cases):
    return pytest.mark.parametrize("case", cases, ids=lambda case: case["name"])


def regions_of(case):
    """The regions of a case; one whose segments are all empty counts as none."""
    sides = [[tuple(segment) for segment in case["regions"][name]] for name in "OAB"]
    return tuple(region for region in zip(*sides, strict=True) if any(region))


def test_every_case_is_here():
    sizes = [len(cases) for cases in (CASES, GOLDEN2["cases"], GOLDEN2["text_cases"])]
    assert sizes == [23, 12, 5]


@by_name(CASES)
def test_pooled(implementation, case):
    origin, a, b = case["O"], case["A"], case["B"]
    for granularity, lcs in CHOICES:
        options = {"granularity": granularity, "lcs": lcs}
        found = implementation.directed(origin, a, b, **options)
        assert found.exact == Fraction(case["es_paper_P"]), options
        assert found.value == float(Fraction(case["es_paper_P"])), options
        assert found.regions == regions_of(case), options
        one = implementation.symmetric(origin, a, b, **options)
        other = implementation.symmetric(origin, b, a, **options)
        assert one.exact == other.exact == Fraction(case["es_symmetric_F"]), options
    if swapped := case.get("es_paper_P_swapped"):
        assert implementation.directed(origin, b, a).exact == Fraction(swapped)


@by_name(GOLDEN["line_cases"])
def test_text_that_shares_tokens_with_its_fix(implementation, case):
    origin, a = ("\n".join(case[name]) + "\n" for name in "OA")
    assert case["B"] == "=O"
    for granularity in GRANULARITIES:
        found = implementation.directed(origin, a, origin, granularity=granularity)
        assert found.exact == case["expect"], granularity


@by_name([*GOLDEN2["cases"], *GOLDEN2["text_cases"]])
def test_places(placed_implementation, case):
    """Both orders of the arguments give what the case says: by place, and for whole texts."""
    options = {"language": case["language"]} if "language" in case else {}
    if "lines" in case:
        options["lines"] = tuple(case["lines"])
    for granularity, (a, b) in product(GRANULARITIES, ("AB", "BA")):
        if granularity == "line" and "lines" in case:
            continue  # the case is about tokens of one line
        expect = case["expect"][granularity] if "language" in case else case["expect"]
        options["granularity"] = granularity
        triple = case["O"], case[a], case[b]
        found = placed_implementation.symmetric(*triple, place="anchored", **options)
        assert found.exact == Fraction(expect["placed"]), options
        assert found.value == float(Fraction(expect["placed"]))
        pooled = placed_implementation.symmetric(*triple, place="pooled", **options)
        assert pooled.exact == Fraction(expect["pooled"]), options
        if "anchored" in expect:
            assert found.anchored == Fraction(expect["anchored"]), options
            assert found.anywhere == Fraction(expect["anywhere"])
        if "word" in expect:
            assert found.word == expect["word"]
        assert found.notes == frozenset(expect.get("notes", ()))
