"""The order of suggestions: what it is made of, what never happens, what it does not depend on."""

from __future__ import annotations

from itertools import pairwise
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from excise import ScoreMatrix, rank

ORIGIN = "def f(x):\n    y = x\n    return y\n"
FIX = ORIGIN.replace("y = x", "y = x + 1")
TEXTS = st.lists(st.sampled_from("ab \n"), max_size=12).map("".join)


def ranked(origin, texts, **options):
    return {r.id: r for r in rank(ScoreMatrix.from_texts(origin, texts, **options))}


def python(**texts):
    return ranked(ORIGIN, texts, language="python")


def order(found):
    return [name for name, _ in sorted(found.items(), key=lambda entry: entry[1].rank)]


def test_the_score_is_made_of_the_numbers_shown():
    found = python(a=FIX, b=FIX + "z = 1\n", c="def f(x:\n", d=ORIGIN)
    assert [r.syntax_errors for r in found.values()].count(True) == 1
    for r in found.values():
        expected = 3 * r.agreement - log(4 + r.edit_size) - 3 * bool(r.broken)
        assert r.score == pytest.approx(expected, abs=1e-11)


def test_agreement_outweighs_a_slightly_larger_edit():
    one = ORIGIN.replace("return y", "return x")
    found = python(lonely=one, first=FIX, second=FIX)
    assert found["lonely"].edit_size <= found["first"].edit_size
    assert order(found)[-1] == "lonely"


def test_of_two_the_smaller_edit_leads_as_both_agree_alike():
    found = python(large=FIX + "z = 1\nprint(z)\n", small=FIX)
    assert order(found) == ["small", "large"]
    assert found["small"].agreement == found["large"].agreement


def test_syntax_errors_introduced_lower_a_revision():
    broken = ORIGIN.replace("return y", "return y(")
    whole = ORIGIN.replace("return y", "return y, x")
    found = python(broken=broken, whole=whole, fix=FIX)
    assert found["broken"].syntax_errors
    assert found["broken"].edit_size < found["whole"].edit_size
    assert order(found)[-1] == "broken"


def test_no_agreement_makes_up_for_broken_syntax():
    """Four equal broken revisions stand below a lone whole one of their size."""
    broken = {f"broken{at}": ORIGIN.replace("return y", "return y(") for at in range(4)}
    found = python(**broken, whole=ORIGIN.replace("= x", "= f"))
    assert order(found)[0] == "whole"


def test_errors_that_the_origin_has_too_are_not_introduced():
    found = ranked("f(\n", {"a": "f(1\n", "b": "g(\n"}, language="python")
    assert not any(r.syntax_errors for r in found.values())
    assert all("syntax errors: origin, revision" in r.notes for r in found.values())


def test_without_a_grammar_nothing_is_known_of_syntax():
    found = ranked(ORIGIN, {"a": "def f(x:\n"})
    assert not found["a"].syntax_errors


def test_edits_then_white_space_then_no_ops():
    found = python(idle=ORIGIN, white="def f(x):\n    y  =  x\n    return y\n", huge="(" * 500)
    assert order(found) == ["huge", "white", "idle"]
    assert found["white"].score > found["huge"].score
    assert [found[name].no_op for name in order(found)] == [False, False, True]


def test_none_and_a_lone_one():
    assert rank(ScoreMatrix.from_texts("a", [])) == ()
    (lone,) = rank(ScoreMatrix.from_texts("a", ["a b"]))
    assert (lone.rank, lone.agreement, lone.score) == (1, None, pytest.approx(-log(5)))


def test_no_ops_alone_all_tie():
    found = python(a=ORIGIN, b=ORIGIN, c=ORIGIN)
    assert {r.rank for r in found.values()} == {1}
    assert all(r.no_op for r in found.values())


def test_three_hundred_revisions_in_groups():
    """Groups of 150, 100 and 50 equal texts: three scores, each exact in its group."""
    words = ["one"] * 150 + ["two"] * 100 + ["six"] * 50
    found = rank(ScoreMatrix.from_texts("a b c d", [f"a {word} c d" for word in words]))
    assert [r.rank for r in found] == [1] * 150 + [151] * 100 + [251] * 50
    assert len({r.score for r in found}) == 3


@given(TEXTS, st.lists(TEXTS, max_size=7), st.randoms(use_true_random=False))
def test_rank_and_score_do_not_depend_on_the_order_of_revisions(origin, texts, random):
    named = [(str(at), text) for at, text in enumerate(texts)]
    before = ranked(origin, dict(named))
    random.shuffle(named)
    after = ranked(origin, dict(named))
    for name, r in before.items():
        assert (after[name].rank, after[name].score) == (r.rank, r.score)
        assert after[name].agreement == r.agreement


@given(TEXTS, st.lists(TEXTS, max_size=6), st.data())
def test_equal_texts_share_a_rank(origin, texts, data):
    twin = data.draw(st.sampled_from(texts)) if texts else ""
    found = ranked(origin, {**{str(at): text for at, text in enumerate(texts)}, "a": twin})
    for at, text in enumerate(texts):
        if text == twin:
            assert (found[str(at)].rank, found[str(at)].score) == (
                found["a"].rank,
                found["a"].score,
            )


@given(TEXTS, st.lists(TEXTS, max_size=7))
def test_the_laws_of_the_order(origin, texts):
    matrix = ScoreMatrix.from_texts(origin, texts)
    found = rank(matrix)
    assert sorted(r.index for r in found) == list(range(len(texts)))
    for above, below in pairwise(found):
        assert matrix.unchanged[above.index] <= matrix.unchanged[below.index]
        assert above.no_op <= below.no_op
        same = matrix.unchanged[above.index] == matrix.unchanged[below.index]
        if same and above.no_op == below.no_op:
            assert above.score >= below.score
            assert (above.rank == below.rank) == (above.score == below.score)
            if above.rank == below.rank:
                assert above.index < below.index
    for place, r in enumerate(found, start=1):
        assert r.rank == place or r.rank == found[place - 2].rank


@given(TEXTS, st.lists(TEXTS, min_size=2, max_size=7))
def test_agreement_is_the_mean_similarity_to_the_others(origin, texts):
    matrix = ScoreMatrix.from_texts(origin, texts)
    for r in rank(matrix):
        others = np.delete(matrix.values[r.index], r.index)
        assert r.agreement == pytest.approx(others.mean(), abs=1e-12)


@given(TEXTS, st.lists(TEXTS, max_size=7))
def test_more_agreement_and_a_smaller_edit_never_rank_lower(origin, texts):
    found = [r for r in rank(ScoreMatrix.from_texts(origin, texts)) if r.edit_size]
    for a in found:
        for b in found:
            if len(texts) > 1 and a.agreement >= b.agreement and a.edit_size <= b.edit_size:
                assert a.rank <= b.rank
