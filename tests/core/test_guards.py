"""The guards of the definition (section 5), in their order."""

from fractions import Fraction

import pytest

ORIGIN = "def f(a):\n    b = a\n    return b\n"
EDITED = "def f(a):\n    b = 2 * a\n    return b\n"
SPACED = "def f(a):\n    b  =  a\n    return b\n"
GRANULARITY = pytest.mark.parametrize("granularity", ["token", "line", "nested"])
LANGUAGE = pytest.mark.parametrize("language", [None, "python"])
LCS = pytest.mark.parametrize("lcs", ["star", "paper"])


def both_forms(implementation, origin, a, b, **options):
    """The outcome of the symmetric form, after asking that the directed ones give the same."""
    found = implementation.symmetric(origin, a, b, **options)
    for x, y in ((a, b), (b, a)):
        assert implementation.directed(origin, x, y, **options).exact == found.exact
    return found


@GRANULARITY
@LANGUAGE
@pytest.mark.parametrize("revision", [ORIGIN, EDITED, SPACED, ""])
def test_1_equal_texts(implementation, revision, granularity, language):
    options = {"granularity": granularity, "language": language}
    found = both_forms(implementation, ORIGIN, revision, revision, **options)
    assert found.exact == 1
    assert not found.whitespace_only


@GRANULARITY
def test_1_compares_normalised_texts(implementation, granularity):
    windows = "\ufeff" + EDITED.replace("\n", "\r\n")
    old_mac = EDITED.replace("\n", "\r")
    for other in (windows, old_mac):
        found = both_forms(implementation, ORIGIN, EDITED, other, granularity=granularity)
        assert found.exact == 1


@GRANULARITY
def test_1_form_feed_and_unicode_line_ends_are_no_line_ends(implementation, granularity):
    rest = "b\u2028c\x85d"
    origin, a, b = f"a\x0c{rest}\ne\n", f"x\x0c{rest}\ne\n", f"a\x0c{rest}y\ne\n"
    found = both_forms(implementation, origin, a, b, granularity=granularity)
    assert found.regions == ((("a", rest), ("x", rest), ("a", f"{rest}y")),)


@GRANULARITY
@LANGUAGE
@LCS
def test_2_edits_of_white_space_are_scored_as_raw_lines(implementation, granularity, language, lcs):
    first, _, third = ORIGIN.replace("\n", "\n|").split("|")[:3]
    a, b = ORIGIN.replace("f(a)", "f( a )"), ORIGIN.replace("return b", "return  b")
    options = {"granularity": granularity, "language": language, "lcs": lcs}
    found = both_forms(implementation, ORIGIN, a, b, **options)
    assert found.whitespace_only
    assert found.exact == 0
    assert found.regions == (
        ((first,), ("def f( a ):\n",), (first,)),
        ((third,), (third,), ("    return  b\n",)),
    )


@GRANULARITY
@LANGUAGE
def test_2_rewards_agreement_in_part(implementation, granularity, language):
    """Both re-space the same line, differently: the line is dropped alike, delete 1 and add 0."""
    other = ORIGIN.replace("b = a", "b   =   a")
    options = {"granularity": granularity, "language": language}
    found = both_forms(implementation, ORIGIN, SPACED, other, **options)
    assert found.whitespace_only
    assert found.exact == Fraction(1, 2)


@GRANULARITY
@LANGUAGE
def test_2_then_3_doing_nothing_beside_an_edit_of_white_space(
    implementation, granularity, language
):
    options = {"granularity": granularity, "language": language}
    found = both_forms(implementation, ORIGIN, SPACED, ORIGIN, **options)
    assert found.whitespace_only
    assert found.exact == 0


def test_2_at_line_trailing_space_is_white_space_only(implementation):
    a, b = ORIGIN.replace(":\n", ": \n"), ORIGIN.replace("b\n", "b\t\n")
    found = both_forms(implementation, ORIGIN, a, b, granularity="line")
    assert found.whitespace_only
    assert found.exact == 0


def test_2_at_line_equal_keys_are_equal_though_tokens_differ(implementation):
    """Trailing space inside a string: python sees other tokens, the line keys are the same."""
    origin = "s = '''a\nb'''\nt = '''c\nd'''\n"
    a, b = origin.replace("a\n", "a  \n"), origin.replace("c\n", "c  \n")
    at_line = both_forms(implementation, origin, a, b, granularity="line", language="python")
    assert at_line.whitespace_only
    assert at_line.exact == 0
    for granularity in ("token", "nested"):
        options = {"granularity": granularity, "language": "python"}
        found = both_forms(implementation, origin, a, b, **options)
        assert not found.whitespace_only
        assert found.exact == 0


@GRANULARITY
@LANGUAGE
@LCS
@pytest.mark.parametrize("idle", [ORIGIN, SPACED])
def test_3_doing_nothing_is_worth_nothing(implementation, idle, granularity, language, lcs):
    """An idle revision scores 0 beside an edit, also one that touches white space only."""
    options = {"granularity": granularity, "language": language, "lcs": lcs}
    assert both_forms(implementation, ORIGIN, EDITED, idle, **options).exact == 0


def test_3_at_line_an_idle_revision_with_other_blank_lines(implementation):
    idle = ORIGIN.replace("\n", "\n\n")
    assert both_forms(implementation, ORIGIN, EDITED, idle, granularity="line").exact == 0


@GRANULARITY
@pytest.mark.parametrize("language", [None, "javascript"])
def test_4_equal_tokens_over_other_line_breaks(implementation, granularity, language):
    origin = "f(a, b);\n"
    a, b = "f(a, c);\n", "f(\n  a,\n  c\n);\n"
    options = {"granularity": granularity, "language": language}
    found = both_forms(implementation, origin, a, b, **options)
    assert found.exact == 1
    assert not found.whitespace_only


def test_4_at_line_equal_keys(implementation):
    origin, a = "s = '''a\nb'''\n", "s = '''x\nb'''\n"
    b = a.replace("x\n", "x  \n")
    found = both_forms(implementation, origin, a, b, granularity="line", language="python")
    assert found.exact == 1
    for granularity in ("token", "nested"):
        options = {"granularity": granularity, "language": "python"}
        assert both_forms(implementation, origin, a, b, **options).exact < 1


@GRANULARITY
@pytest.mark.parametrize("language", [None, "javascript"])
def test_two_unrelated_reindentations_do_not_score_1(implementation, granularity, language):
    origin = "f(a);\ng(b);\nh(c);\n"
    a, b = origin.replace("f", "  f"), origin.replace("h", "  h")
    options = {"granularity": granularity, "language": language}
    found = both_forms(implementation, origin, a, b, **options)
    assert found.whitespace_only
    assert found.exact == 0


@GRANULARITY
@pytest.mark.parametrize("sequence", [[], ["a"], ["a", "b"], [None, "", 0]])
def test_ready_made_tokens(implementation, sequence, granularity):
    """No token is special: not None, not the empty string."""
    edited, other = [*sequence, "x"], [*sequence, "y"]
    options = {"granularity": granularity}
    assert both_forms(implementation, sequence, edited, edited, **options).exact == 1
    assert both_forms(implementation, sequence, edited, sequence, **options).exact == 0
    assert both_forms(implementation, sequence, edited, other, **options).exact == 0
    assert both_forms(implementation, edited, sequence, other, **options).exact == (
        both_forms(implementation, edited, sequence, other, granularity="token").exact
    )


@GRANULARITY
def test_dropped_comments_are_dropped_before_the_first_guard(implementation, granularity):
    options = {"granularity": granularity, "language": "python", "comments": "drop"}
    commented = EDITED.replace("return", "# why\n\n    return")
    assert both_forms(implementation, ORIGIN, EDITED, commented, **options).exact == 1
    idle = ORIGIN.replace("return b", "return b  # done")
    found = both_forms(implementation, ORIGIN, EDITED, idle, **options)
    assert found.exact == 0
