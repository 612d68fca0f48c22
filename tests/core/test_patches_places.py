"""Patches by their edits, placed by heading and context (section 8): cases by hand and laws."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.patch_texts import bodies, hunk
from tests.reference.budget import examples
from tests.reference.patch_blocks import name_in
from tests.reference.patches import score as pooled_score

from excise.agreement import SAME
from excise.patches import parse
from excise.patches.blocks import function_in

GUARD = ["+    if (c == NULL) {", '+        log_error("closed");', "+        return -1;", "+    }"]


def in_header(*lines, **options):
    return hunk(
        " static int read_header(struct conn *c)",
        " {",
        *lines,
        "     c->state = HEADER;",
        "     parse_fields(c);",
        heading="void reset(struct conn *c)",
        **options,
    )


def in_body(*lines, **options):
    return hunk(
        "     size_t left = c->length;",
        *lines,
        "     while (left > 0)",
        "         left -= pull(c, left);",
        heading="static int read_body(struct conn *c)",
        **options,
    )


def test_the_same_guard_in_two_functions_is_another_edit(compare_patches):
    found = compare_patches(in_header(*GUARD), in_body(*GUARD))
    assert found.exact == Fraction(1, 4)
    assert (found.anchored, found.anywhere) == (0, 1)
    assert found.contained == (0, 0)
    assert found.word == "overlaps"


def test_the_same_guard_on_a_newer_tree_is_at_its_place(compare_patches):
    newer = hunk(
        " {",
        *GUARD,
        "     c->state = c->early ? EARLY : HEADER;",
        "     parse_fields(c);",
        heading="void reset(struct conn *c)",
        start=90,
    )
    found = compare_patches(in_header(*GUARD), newer)
    assert found.exact == found.anchored == found.anywhere == 1
    assert found.contained == (1, 1)
    assert found.word == "overlaps"  # it does not stand between the same two lines


def test_a_guard_in_both_functions_contains_one_of_them(compare_patches):
    both = in_header(*GUARD) + in_body(*GUARD)
    found = compare_patches(in_body(*GUARD), both)
    assert found.exact == found.anchored == Fraction(2, 3)
    assert found.contained == (1, Fraction(1, 2))
    assert found.word == "overlaps"


EQUAL, OPEN, DIFFERENT = ("f", "f"), ("f", ""), ("f", "g")


@pytest.mark.parametrize(
    ("headings", "a", "b", "together"),
    [
        (EQUAL, "s u v w x y z", "s a b c d e f g h i", True),
        (EQUAL, "s t", "u v", False),
        (EQUAL, "s t", "", True),
        (EQUAL, "", "", True),
        (EQUAL, "s t", "} }", True),
        (OPEN, "s u v w x", "s a b c d e f", True),
        (OPEN, "s u v w x y", "s a b c d e f", False),
        (OPEN, "s t", "", True),
        (("", ""), "s u v w x", "s a b c d", True),
        (("", ""), "s u v w x y", "s a b c d e", False),
        (DIFFERENT, "s t", "s u v", True),
        (DIFFERENT, "s t u v w", "s t x y z", False),
        (DIFFERENT, "s t", "", False),
        (DIFFERENT, "}", "}", False),
    ],
)
def test_heading_and_context_make_a_place(compare_patches, headings, a, b, together):
    """Each word stands on one of the six lines around the block; three more would be cut off."""
    patches = []
    for heading, words in zip(headings, (a, b), strict=True):
        rows = split_in_six(words)
        patches.append(hunk(*rows[:3], "+n();", *rows[3:], heading=heading))
    for x, y in (patches, patches[::-1]):
        found = compare_patches(x, y)
        assert found.anywhere == 1
        assert found.anchored == together
        assert found.exact == (1 if together else Fraction(1, 4))


def split_in_six(words):
    """Six context lines: the first five words alone, all others on the last line."""
    listed = words.split()
    return [f" {' '.join(row)}" for row in (*([word] for word in listed[:5]), listed[5:])]


def test_only_the_nearest_lines_are_context(compare_patches):
    """Three on each side; blank lines and inserted ones are passed over, deleted ones are not."""
    own = hunk(" one", " two", "", " ", " three", "+n();", " four", " five", " six", heading="f")
    near = hunk(" one", " q", " q", "+n();", " q", " q", " q", heading="f")
    far = hunk(" one", " q", " q", " q", "+n();", " q", " q", " q", heading="f")
    inserted = hunk(" q", "+one", " q", " q", "+n();", " q", heading="f")
    deleted = hunk(" q", "-one", " q", " q", "+n();", " q", heading="f")
    assert compare_patches(own, near).anchored == 1
    assert compare_patches(own, far).anchored == 0
    assert compare_patches(own, inserted).contained[0] == 0
    assert compare_patches(own, deleted).contained[0] == 1


def test_places_are_joined_transitively(compare_patches):
    """A's two blocks share no context; one of B's stands at both, so that all are one place."""
    apart = hunk(" a b", "+n", heading="f") + hunk(" c d", "+m", heading="g")
    elsewhere = hunk(" c d", "+n", heading="g")
    assert compare_patches(apart, elsewhere).counts["add"][:2] == (0, 1)
    joining = hunk(" a b", "-z", " c d")
    assert compare_patches(apart, elsewhere + joining).counts["add"][:2] == (1, 1)


def test_n_grams_match_within_one_operation_only(compare_patches):
    found = compare_patches(hunk(" f(x);", "+n();"), hunk(" f(x);", "-n();"))
    assert found.exact == found.anywhere == 0
    assert found.word == "different"


def test_white_space_beside_an_edit_is_worth_nothing(compare_patches):
    idle = in_header("-  return 1;", "+    return 1;")
    for x, y in ((idle, in_body(*GUARD)), (in_body(*GUARD), idle)):
        found = compare_patches(x, y)
        assert found.exact == found.anchored == found.anywhere == 0
        assert found.word == "different"


def test_edits_of_white_space_are_raw_lines_with_places(compare_patches):
    space = ("-  left = 1;", "+    left = 1;")
    assert compare_patches(in_header(*space), in_header(*space)).word == "identical"
    moved = compare_patches(in_header(*space), in_header(*space, start=9))
    assert (moved.exact, moved.word) == (1, "identical")
    elsewhere = compare_patches(in_header(*space), in_body(*space))
    assert elsewhere.exact == Fraction(1, 4)
    assert elsewhere.word == "overlaps"
    assert elsewhere.notes == {"whitespace-only"}


def test_a_rename_is_rescued_and_never_the_same(compare_patches):
    found = compare_patches(in_header(*GUARD), in_header(*GUARD, name="y.c"))
    assert found.exact == found.anchored == 1
    assert found.notes == {"in another file"}
    assert found.word == "overlaps"


def test_a_rename_is_rescued_at_the_same_place_only(compare_patches):
    """The context lines of two files agree, but the guard goes from one function to the other."""
    frames = [in_header, in_body]
    a, b = (
        b"".join(
            frame(*(GUARD if frame is edited else ["+    tick();"]), name=name) for frame in frames
        )
        for edited, name in ((in_header, "x.c"), (in_body, "y.c"))
    )
    found = compare_patches(a, b)
    assert found.notes == {"in another file"}
    assert found.anywhere == 1
    assert found.anchored < Fraction(1, 2)
    assert compare_patches(a, b, key="none") == replace(found, notes=frozenset())


def test_header_facts_are_equal_or_not(compare_patches):
    mode = b"diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"
    other = mode.replace(b"run", b"walk")
    assert compare_patches(mode, mode).word == "identical"
    for pair in ((mode, other), (mode, mode + other), (mode, in_body(*GUARD)), (mode, b"")):
        found = compare_patches(*pair)
        assert (found.exact, found.word) == (0, "different")


# --- laws ----------------------------------------------------------------------------------------

_LINE = st.sampled_from(
    ["foo(a);", "bar(a, b);", "  foo(a);", "", " ", "return 0;", "x = 1;", "}", "if (x)", "y"]
)
_BODY = bodies(_LINE, 12, "  +-")
_FILE = st.builds(
    lambda body, name, heading: hunk(*body, name=name, heading=heading),
    _BODY,
    st.sampled_from(["x.c", "d/x.c", "y.c"]),
    st.sampled_from(["", "", "f", "g", " f  "]),
)
_PATCH = st.lists(_FILE, min_size=1, max_size=4).map(b"".join)
_KEY = st.sampled_from(["name", "none"])


@given(a=_PATCH, b=_PATCH, key=_KEY)
@examples(150)
def test_anchored_value_and_anywhere(compare_patches, a, b, key):
    found = compare_patches(a, b, key=key)
    assert 0 <= found.anchored <= found.exact <= found.anywhere <= 1
    assert found.exact == (3 * found.anchored + found.anywhere) / 4
    assert found.word not in SAME or found.anchored == 1


@given(a=_PATCH, b=_PATCH, key=_KEY)
@examples(150)
def test_exchanging_the_patches_changes_nothing(compare_patches, a, b, key):
    found, other = compare_patches(a, b, key=key), compare_patches(b, a, key=key)
    for name in ("exact", "anchored", "anywhere", "word", "notes"):
        assert getattr(found, name) == getattr(other, name)
    assert found.contained == other.contained[::-1]


@given(a=_PATCH, b=_PATCH)
@examples(150)
def test_places_only_take_away(compare_patches, a, b):
    """What the search relies on: no value with places is above the one without."""
    found = compare_patches(a, b)
    pooled = pooled_score(parse(a), parse(b))
    assert found.exact <= found.anywhere <= pooled


def twin(heading, *above, name="x.c"):
    """A guard under six lines of context that look alike in many functions."""
    return hunk(
        *(f" {line}" for line in above),
        "     struct conn *c = get(p);",
        "     int n = 0;",
        "     lock(c);",
        *GUARD,
        "     n = pull(c, c->length);",
        "     unlock(c);",
        "     return n;",
        heading=heading,
        name=name,
    )


@pytest.mark.parametrize(
    ("headings", "together"),
    [
        (("static int read_body(struct conn *p)", "static int read_tail(struct conn *p)"), False),
        (("static int read_body(struct conn *p)", "static int read_body(struct pipe *p)"), True),
        (("static int pull(struct conn *p)", "static int read_tail(struct conn *p)"), True),
        (("def read_body(self, p):", "def read_tail(self, p):"), False),
        (("func (c *Conn) Body(p int) {", "func (c *Conn) Tail(p int) {"), False),
        (("pub(crate) fn body<T: Read>(p: T) {", "pub(crate) fn tail<T: Read>(p: T) {"), False),
        (("public int body(Conn p) {", "public int tail(Conn p) {"), False),
        (("class Reader(Base):", "def read_body(self, p):"), True),
        (("struct conn {", "static int read_body(struct conn *p)"), True),
        (("void f(x)" + " " * 200 + "// \xe9", "void\tg(x)\r"), False),
        (("", "static int read_body(struct conn *p)"), True),
        (("", ""), True),
        (("static int f(int a)", "static int f(int b)"), True),
    ],
)
def test_twin_functions_are_two_places_unless_one_may_be_a_new_name(
    compare_patches, headings, together
):
    a, b = (twin(heading) for heading in headings)
    for x, y in ((a, b), (b, a)):
        found = compare_patches(x, y)
        assert found.exact == (1 if together else Fraction(1, 4))


def test_a_function_that_begins_or_ends_in_the_hunk_is_not_that_of_the_heading(compare_patches):
    """What stands between functions has the heading of whichever is before it."""
    body, tail = "static int body(int p)", "static int tail(int p)"
    behind = twin(body, "}"), twin(tail, "}")
    assert compare_patches(*behind).exact == 1
    inside = twin("int other(void)", body), twin("int another(void)", body)
    assert compare_patches(*inside).exact == 1
    assert compare_patches(twin("int other(void)", body), twin(body)).exact == 1
    assert compare_patches(twin("int other(void)", body), twin(tail)).exact == Fraction(1, 4)
    assert compare_patches(twin(body, "int tail;", "}", tail), twin(tail)).exact == 1


_PIECES = st.sampled_from(
    [*"()<>[]*&~.$:,;{}= \t", "::", "func", "pub", "def", "fn", "class", "record", "pull", "int",
     "é", "x1", "sub", "function"]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=9).map("".join) | st.lists(_PIECES, max_size=9).map(" ".join))
def test_the_name_in_a_heading_is_the_oracles(heading):
    assert function_in(heading) == (name_in(heading) or "")
