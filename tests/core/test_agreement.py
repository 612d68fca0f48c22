"""Two texts that are not known to be one program overlap or differ, at each bound of section 6a."""

from fractions import Fraction

import pytest
from tests.reference.words import word

from excise.agreement import SAME, WORDS, Shares, overlaps


@pytest.mark.parametrize(
    ("anchored", "anywhere", "a_in_b", "b_in_a", "is_part"),
    [
        (100, 100, 100, 100, True),
        (0, 100, 0, 0, True),
        (90, 95, 0, 24, True),
        (91, 95, 0, 24, False),
        (0, 94, 0, 0, False),
        (10, 10, 25, 0, True),
        (10, 10, 0, 25, True),
        (10, 10, 24, 24, False),
        (0, 0, 0, 0, False),
    ],
)
def test_what_two_texts_have_in_common(anchored, anywhere, a_in_b, b_in_a, is_part):
    shares = Shares(*(Fraction(n, 100) for n in (anchored, anywhere, a_in_b, b_in_a)))
    assert overlaps(shares) is is_part
    slow = word(
        is_equal=False,
        is_idle=False,
        anchored=shares.anchored,
        anywhere=shares.anywhere,
        contained=(shares.a_in_b, shares.b_in_a),
    )
    assert slow == ("overlaps" if is_part else "different")


def test_no_word_of_texts_says_the_same():
    everything = {"anchored": Fraction(1), "anywhere": Fraction(1), "contained": (Fraction(1),) * 2}
    said = {
        word(is_equal=is_equal, is_idle=is_idle, **everything)
        for is_equal in (True, False)
        for is_idle in (True, False)
    }
    assert said == set(WORDS) - set(SAME) == {"overlaps", "different"}
