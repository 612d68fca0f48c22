"""Which patch of a series became which one: each word, by what the patches change."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.server.test_since_laws import patch_of

from excise.patches import Patch, joined, parse
from excise_server.review.since import DROPPED, NEW, SAME
from excise_server.review.versions import (
    AMENDED,
    REORDERED,
    SPLIT,
    SQUASHED,
    SeriesPatch,
    paired_patches,
)

LINES = [f"line {number}\n" for number in range(60)]


def edit(path: str = "a.c", **lines: str) -> Patch:
    """Return a patch of sixty lines: ``l7="seven\\n"``."""
    new = list(LINES)
    for name, line in lines.items():
        new[int(name[1:])] = line
    return patch_of("".join(LINES), "".join(new), path)


def series(*patches: Patch, titles: Sequence[str] = ()) -> list[SeriesPatch]:
    names = titles or [f"patch {n}" for n in range(len(patches))]
    return [
        SeriesPatch(n, title, lambda patch=patch: patch)
        for n, (title, patch) in enumerate(zip(names, patches, strict=True), start=1)
    ]


def said(
    old: Sequence[SeriesPatch], new: Sequence[SeriesPatch]
) -> list[tuple[str, int | None, int | None]]:
    return [
        (pair.status, pair.old and pair.old.number, pair.new and pair.new.number)
        for pair in paired_patches(old, new)
    ]


A = edit(l3="int alpha(void) { return 1; }\n")
B = edit(l20="int beta(struct device *dev) { return 2; }\n")
C = edit("c.c", l40="int gamma(char *name, int length) { return 3; }\n")
A2 = edit(l3="int alpha(int more) { return 1; }\n")


def test_versions_pair_by_content_whatever_their_numbers_and_titles_are():
    assert said(series(A, B, C), series(C, A)) == [
        (SAME, 3, 1), (REORDERED, 1, 2), (DROPPED, 2, None),
    ]  # fmt: skip
    # Titles that changed places are titles.
    crossed = series(A, B, titles=["one", "two"]), series(A2, B, titles=["two", "one"])
    assert said(*crossed) == [(AMENDED, 1, 1), (SAME, 2, 2)]
    assert said(series(A, titles=["up"]), series(B, C, titles=["down", "off"])) == [
        (NEW, None, 1), (NEW, None, 2), (DROPPED, 1, None),
    ]  # fmt: skip


def test_a_title_decides_what_contents_leave_open():
    mine, other = (edit(f"{name}.c", l3="call(one, two);\n") for name in "xy")
    rewritten = edit("x.c", l3="other(three);\n")
    assert said(series(other, mine, titles=["y", "x"]), series(rewritten, titles=["x"])) == [
        (AMENDED, 2, 1), (DROPPED, 1, None),
    ]  # fmt: skip


def test_a_new_file_may_have_another_name():
    lines = "".join(f"int value_{n} = {n};\n" for n in range(9))
    one, other = (
        Patch(tuple(replace(pair, old=None) for pair in patch_of("", lines, path).files))
        for path in ("a.c", "b.c")
    )
    assert said(series(one), series(other, titles=["b"])) == [(AMENDED, 1, 1)]
    # Small edits of other files are no versions of each other, though they look alike.
    scaled = [
        patch_of(
            f"int f{n}(void)\n{{\n\treturn {n};\n}}\n",
            f"int f{n}(void)\n{{\n\treturn 10 * {n};\n}}\n",
            f"f{n}.c",
        )
        for n in (2, 4)
    ]
    assert said(series(scaled[0]), series(scaled[1], titles=["b"])) == [
        (NEW, None, 1), (DROPPED, 1, None),
    ]  # fmt: skip


def test_the_number_decides_between_equal_contents():
    assert said(series(A, A, A), series(A, A)) == [(SAME, 1, 1), (SAME, 2, 2), (DROPPED, 3, None)]


def test_an_amended_patch_stays_where_the_others_can_have_moved():
    pairs = paired_patches(series(A, C), series(C, A2))
    assert [(pair.status, pair.is_moved) for pair in pairs] == [(REORDERED, True), (AMENDED, False)]
    c2 = edit("c.c", l40="int gamma(char *name, long length) { return 3; }\n")
    pairs = paired_patches(series(A, C), series(c2, A2))
    assert sorted((p.status, p.is_moved) for p in pairs) == [(AMENDED, False), (AMENDED, True)]


def test_squashed_is_what_went_into_another_patch():
    both = edit(
        l3="int alpha(void) { return 1; }\n", l20="int beta(struct device *dev) { return 2; }\n"
    )
    for titles in (["patch 0", "patch 2"], ["patch 1", "patch 2"], ["x", "y"]):
        words = said(series(A, B, C), series(both, C, titles=titles))
        assert sorted(word for word, _, _ in words) == [SAME, SAME, SQUASHED]
        assert [new for word, _, new in words if word == SQUASHED] == [1]
    # All of them, also in more pieces than are alike.
    many = [edit(f"{n}.c", l3=f"int alpha{n}(void) {{ return {n}; }}\n") for n in range(6)]
    words = said(series(*many), series(joined(many), titles=["all"]))
    assert sorted(word for word, _, _ in words) == [SAME, *[SQUASHED] * 5]
    # A fix that undoes lines of the first patch.
    fix = patch_of("".join(LINES).replace("line 3\n", "first\n"), "".join(LINES), "a.c")
    first = edit(l3="first\n", l30="int delta(int a, int b, int c);\n")
    assert said(series(first, fix), series(edit(l30="int delta(int a, int b, int c);\n"))) == [
        (SAME, 1, 1), (SQUASHED, 2, 1),
    ]  # fmt: skip


def test_what_was_squashed_and_amended_is_both():
    both = edit(
        l3="int alpha(void) { return 1; }\n",
        l20="int beta(struct device *dev) { return 3; }\n",
        l50="int epsilon(void);\n",
    )
    words = said(series(A, B), series(both))
    assert sorted(word for word, _, _ in words) == [AMENDED, SQUASHED]


def test_split_is_what_came_out_of_another_patch():
    both = joined([C, A])  # the larger part is its version
    assert said(series(both, B), series(C, B, A)) == [(SAME, 1, 1), (SAME, 2, 2), (SPLIT, 1, 3)]
    many = [edit(f"{n}.c", l3=f"int alpha{n}(void) {{ return {n}; }}\n") for n in range(6)]
    words = said(series(joined(many), titles=["all"]), series(*many))
    assert sorted(word for word, _, _ in words) == [SAME, *[SPLIT] * 5]


def test_an_edit_that_is_elsewhere_too_is_no_trace():
    guard = "\tif (!priv)\n\t\treturn;\n"
    twins = [edit(l3=guard, l2="void foo_suspend()\n"), edit(l33=guard, l32="void foo_resume()\n")]
    assert said(series(*twins), series(twins[1])) == [(SAME, 2, 1), (DROPPED, 1, None)]
    # Braces and blank lines say nothing.
    one = edit(l3="}\n\n\treturn ret;\n", l10="int something(struct device *dev)\n{\n")
    other = edit("a.c", l40="}\n\n\treturn ret;\n", l50="long unrelated(const char *name)\n{\n")
    assert said(series(one, B), series(B, other)) == [
        (SAME, 2, 1), (NEW, None, 2), (DROPPED, 1, None),
    ]  # fmt: skip


def test_a_file_of_the_same_name_is_another_file():
    arm, mips = (edit(f"{name}/head.S", l3="distinct paths for the boot CPU\n") for name in "xy")
    assert said(series(arm, mips, titles=["x", "y"]), series(mips, titles=["y"])) == [
        (SAME, 2, 1), (DROPPED, 1, None),
    ]  # fmt: skip
    more = edit("y/head.S", l3="distinct paths for the boot CPU\n", l40="and others\n")
    assert said(series(arm, mips, titles=["x", "y"]), series(more, titles=["y"])) == [
        (AMENDED, 2, 1), (DROPPED, 1, None),
    ]  # fmt: skip


def test_header_facts_are_edits():
    move = parse(
        b"diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"
        b"diff --git a/z b/z\nold mode 100644\nnew mode 100755\n"
    )
    parts = [Patch((pair,)) for pair in move.files]
    assert sorted(word for word, *_ in said(series(move), series(*parts))) == [SAME, SPLIT]
    assert sorted(word for word, *_ in said(series(*parts), series(move))) == [SAME, SQUASHED]
    assert said(series(*parts), series(parts[1])) == [(SAME, 2, 1), (DROPPED, 1, None)]
    assert said(series(Patch()), series(Patch(), A)) == [(SAME, 1, 1), (NEW, None, 2)]


@given(st.permutations(range(6)), st.sets(st.integers(0, 5), max_size=3))
def test_patches_are_paired_in_any_order_and_what_is_gone_is_said(order, gone):
    def patch(number: int, more: Mapping[str, str]) -> Patch:
        own = {"l4": f"edit({number}, one, two, three, four);\n"}
        return edit(f"{number}.c", **(own | more))

    old = series(*(patch(number, {}) for number in range(6)))
    kept = [number for number in order if number not in gone]
    new = series(
        *(patch(number, {"l5": "more(1);\n"} if number == 3 else {}) for number in kept),
        titles=[f"patch {number}" for number in kept],
    )
    pairs = paired_patches(old, new)
    assert [pair.new for pair in pairs if pair.new] == new
    assert {pair.old.number - 1 for pair in pairs if pair.status == DROPPED} == gone
    for pair in pairs:
        if pair.new:
            assert pair.old is not None
            assert pair.old.title == pair.new.title
            assert (pair.status == AMENDED) == (pair.new.title == "patch 3")
    stay = [pair.old.number for pair in pairs if pair.new and not pair.is_moved]
    assert stay == sorted(stay)
    is_sorted = kept == sorted(kept)
    assert any(pair.is_moved for pair in pairs) != is_sorted
