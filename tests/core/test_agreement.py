"""The word for a pair: the first of section 6a that holds, at each of its bounds."""

from __future__ import annotations

from fractions import Fraction

import pytest

from excise.agreement import CONTAINS, DIFFERENT, ELSEWHERE, OVERLAPS, Shares, word_of


@pytest.mark.parametrize(
    ("anchored", "anywhere", "a_in_b", "b_in_a", "word"),
    [
        (100, 100, 100, 100, CONTAINS),
        (0, 100, 0, 0, ELSEWHERE),
        (90, 95, 90, 94, ELSEWHERE),
        (91, 95, 90, 94, OVERLAPS),
        (0, 94, 0, 0, DIFFERENT),
        (90, 95, 100, 90, ELSEWHERE),
        (40, 40, 95, 20, CONTAINS),
        (40, 40, 20, 95, CONTAINS),
        (40, 40, 94, 20, OVERLAPS),
        (10, 10, 25, 0, OVERLAPS),
        (10, 10, 24, 24, DIFFERENT),
        (0, 0, 0, 0, DIFFERENT),
    ],
)
def test_the_first_word_that_holds(anchored, anywhere, a_in_b, b_in_a, word):
    shares = Shares(*(Fraction(n, 100) for n in (anchored, anywhere, a_in_b, b_in_a)))
    assert word_of(shares) == word
    assert word_of(shares, equal=True) == "same"


def test_only_a_guard_says_same():
    everything = Shares(*[Fraction(1)] * 4)
    assert word_of(everything) == "contains"
