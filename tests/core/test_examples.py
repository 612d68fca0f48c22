"""Examples 1 to 4 of the paper, and what its Properties 3 and 5 say of single cases."""

from fractions import Fraction

import pytest

HALF = Fraction(1, 2)
EXAMPLE_2 = ("CTGCAATT", "CGTCAA", "CGCACT")


@pytest.mark.parametrize("shared", [0, 1, 10, 300])
def test_example_1_is_not_dominated_by_what_is_shared(implementation, shared):
    """X Y against X Z and X W: however long X is, they agree on no more than dropping Y."""
    x = [f"x{i}" for i in range(shared)]
    found = implementation.directed([*x, "y"], [*x, "z"], [*x, "w"])
    assert found.exact == HALF
    assert found.regions == ((("y",), ("z",), ("w",)),)


def test_example_1_the_model_edits_another_place(implementation):
    """Asked to replace "anim" with "bar", it replaced "veniam" with "foo": worth nothing."""
    origin = "Ut enim ad minim veniam, quis officia deserunt mollit anim id est laborum.\n"
    asked, done = origin.replace("anim", "bar"), origin.replace("veniam", "foo")
    assert implementation.directed(origin, asked, done).exact == 0
    assert implementation.symmetric(origin, asked, done).exact == 0


@pytest.mark.parametrize("lcs", ["star", "paper"])
def test_example_2_has_the_regions_of_the_paper(implementation, lcs):
    origin, a, b = map(list, EXAMPLE_2)
    expected = ((("T", "G"), ("G", "T"), ("G",)), (("A", "T", "T"), ("A",), ("C", "T")))
    assert implementation.directed(origin, a, b, lcs=lcs).regions == expected


def test_example_2_has_the_score_of_the_definition(implementation):
    origin, a, b = map(list, EXAMPLE_2)
    assert implementation.directed(origin, a, b).exact == Fraction(58, 135)
    assert implementation.directed(origin, b, a).exact == Fraction(7, 15)
    assert implementation.symmetric(origin, a, b).exact == Fraction(4, 9)
    assert implementation.symmetric(origin, b, a).exact == Fraction(4, 9)
    assert implementation.directed(origin, a, b, deletion="f1").exact == Fraction(4, 9)


@pytest.mark.parametrize("kept", [1, 2, 7])
@pytest.mark.parametrize("replaced", [1, 3])
@pytest.mark.parametrize("deleted", [0, 1, 5])
def test_examples_3_and_4_agreeing_on_deletions(implementation, deleted, kept, replaced):
    """D K R against K R_A and K R_B, D empty in Example 4: delete 1, add 0, no keep."""
    d, k, r, r_a, r_b = (
        [f"{name}{i}" for i in range(size)]
        for name, size in (
            ("d", deleted),
            ("k", kept),
            ("r", replaced),
            ("p", replaced),
            ("q", replaced),
        )
    )
    assert implementation.directed(d + k + r, k + r_a, k + r_b).exact == HALF
    assert implementation.symmetric(d + k + r, k + r_a, k + r_b).exact == HALF


@pytest.mark.parametrize("granularity", ["token", "line", "nested"])
def test_example_4_on_lines_of_text(implementation, granularity):
    origin, a, b = "k = 1\nreplaced\n", "k = 1\nfirst\n", "k = 1\nsecond\n"
    assert implementation.directed(origin, a, b, granularity=granularity).exact == HALF


@pytest.mark.parametrize("granularity", ["token", "line", "nested"])
def test_property_5_a_misplaced_insertion_matches(implementation, granularity):
    """Three lines in the origin; the same line after the first or after the second."""
    origin, a, b = "p\nq\nr\n", "p\nnew\nq\nr\n", "p\nq\nnew\nr\n"
    assert implementation.directed(origin, a, b, granularity=granularity).exact == 1
