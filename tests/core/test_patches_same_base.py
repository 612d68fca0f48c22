"""Patches of one tree score as whole files do."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excise import similarity
from excise.patches import parse
from excise.patches.same_base import compare_on_one_base


def patch(origin, revision, name="x.c", context=3):
    ends = [[line + "\n" for line in text] for text in (origin, revision)]
    lines = difflib.unified_diff(*ends, f"a/{name}", f"b/{name}", n=context)
    return "".join(lines).encode()


_LINES = st.lists(
    st.sampled_from(["f(a);", "g(a, b);", "}", "x = 1;", "x = y;", "", "return x;"]), max_size=14
)


@given(_LINES, _LINES, _LINES, st.sampled_from([0, 1, 3, 99]))
def test_whole_files_score_the_same(origin, a, b, context):
    texts = ["".join(line + "\n" for line in text) for text in (origin, a, b)]
    patches = [parse(patch(origin, text, context=99)) for text in (a, b)]
    if not (patches[0].files and patches[1].files):
        return
    found = compare_on_one_base(*patches)
    assert found.exact == compare_on_one_base(*reversed(patches)).exact
    tokens = ["".join(text.split()) for text in texts]
    if len(set(tokens)) == 3:  # blank lines alone change nothing here, and guard 2 has them
        whole = similarity(origin=texts[0], a=texts[1], b=texts[2])
        assert (found.exact, found.word) == (whole.exact, whole.word)
        assert set(found.notes) == set(whole.notes) & {"rearranged"}
        assert found.shares == (whole.anchored, whole.anywhere, *whole.contained)
    less = [parse(patch(origin, text, context=context)) for text in (a, b)]
    assert 0 <= compare_on_one_base(*less).value <= 1


def test_edits_of_other_places_and_files():
    origin = [f"line {n};" for n in range(40)]
    first, last = ["new", *origin[1:]], [*origin[:-1], "new"]
    one, other = parse(patch(origin, first)), parse(patch(origin, last))
    assert compare_on_one_base(one, one).value == 1
    assert compare_on_one_base(one, parse(patch(origin, first, name="y.c"))).notes == (
        "no common file",
    )
    assert compare_on_one_base(one, other).value < 1
    both = compare_on_one_base(one, parse(patch(origin, first) + patch(origin, last, "y.c")))
    assert 0 < both.value < 1
    assert both.files == (("x.c", "x.c"), (None, "y.c"))


@pytest.mark.parametrize(
    ("a", "b", "value"),
    [("  one;", "    one;", 0), ("  one;", "  one;", 1), ("  one;", "two;", 0)],
)
def test_white_space(a, b, value):
    patches = [parse(patch(["zero;", "one;", "end"], ["zero;", new, "end"])) for new in (a, b)]
    found = compare_on_one_base(*patches)
    assert (found.value == 1) == (value == 1)
    assert found.value >= value
    assert "basis:origin" in found.signature


def test_places_never_reach_into_another_file():
    """The same line at the end of one file and at the beginning of the next one."""
    one, two = ["a = 1;", "b = 2;"], ["c = 3;", "d = 4;"]
    first = patch(one, [*one, "new();"], "1.c") + patch(two, ["c = 5;", "d = 4;"], "2.c")
    second = patch(one, ["a = 7;", "b = 2;"], "1.c") + patch(two, ["new();", *two], "2.c")
    found = compare_on_one_base(parse(first), parse(second))
    assert sum(count.here for count in found.counts.add) == 0
    assert sum(count.anywhere for count in found.counts.add) > 0
    assert found.exact == (3 * found.shares.anchored + found.shares.anywhere) / 4


def test_a_line_that_neither_shows_lies_between():
    """Insertions before and behind one unknown line: two places."""
    origin = [f"line {n};" for n in range(9)]
    before, behind = (
        parse(patch(origin, [*origin[:at], "new();", *origin[at:]], context=0)) for at in (4, 5)
    )
    found = compare_on_one_base(before, behind)
    assert (found.shares.anchored, found.shares.anywhere) == (0, 1)
    assert (found.exact, found.word) == (0.25, "same text elsewhere")


def test_patches_of_different_trees_are_told():
    a, b = (
        parse(patch(["zero;", line, "end;"], ["zero;", line, "done;"])) for line in ("x;", "y;")
    )
    for pair in ((a, b), (b, a)):
        found = compare_on_one_base(*pair)
        assert found.notes == ("they show different lines of one file: not made from one tree",)
    assert compare_on_one_base(a, b).exact == compare_on_one_base(b, a).exact


def test_equal_texts_and_equal_results_are_the_same():
    origin, new = ["zero;", "one;", "end;"], ["zero;", "two;", "end;"]
    a, b = (parse(patch(origin, new, context=lines)) for lines in (0, 3))
    assert [compare_on_one_base(a, other).word for other in (a, b)] == ["same", "same"]
    assert compare_on_one_base(a, parse(patch(origin, ["zero;", "two;"]))).word != "same"
