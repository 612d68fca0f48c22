"""When two patches without a tree are the same edit: the oracle, the laws, and what never is."""

from functools import partial
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.patch_texts import bodies, pool_of
from tests.core.patch_texts import hunk as plain_hunk
from tests.reference.budget import examples
from tests.reference.patch_blocks import submission
from tests.reference.patch_levels import level as level_slowly

from excise.agreement import CODE, DIFFERENT, IDENTICAL, OVERLAPS, SAME
from excise.patches import Pool, group, parse

READ = "static int read_body(struct conn *c)"
hunk = partial(plain_hunk, heading=READ, start=10)


def word(a, b):
    found = pool_of(a, b).likeness(0, 1)
    assert pool_of(b, a).likeness(0, 1).word == found.word
    if found.word in SAME:
        assert (found.exact, found.shares.anchored, found.in_another_file) == (1, 1, False)
    return found.word


ABOVE, BELOW = [" \tint left = c->length;"], [" \twhile (left > 0)"]


def guard(*lines, above=ABOVE, below=BELOW, **options):
    return hunk(*above, *(lines or ["+\tcheck(c, 1);"]), *below, **options)


# --- patches that are the same edit --------------------------------------------------------------


@pytest.mark.parametrize(
    ("again", "expected"),
    [
        (guard(start=90), IDENTICAL),
        (guard(above=[" \tlock(c);", *ABOVE], below=[*BELOW, " \t\tpull(c);"]), IDENTICAL),
        (guard(above=[*ABOVE, " "], below=["", *BELOW]), IDENTICAL),
        (guard(above=[" \tint left = c->length;  "]), IDENTICAL),
        (guard().replace(b"\n", b"\r\n"), IDENTICAL),
        (guard("+\tcheck(c,1);"), CODE),
        (guard("+\tcheck(c, 1);  "), CODE),
        (guard("+", "+\tcheck(c, 1);"), CODE),
        (
            guard("+\t\tcheck(c, 1);", above=[" \t\tint left = c->length;"],
                  below=[" \t\twhile (left > 0)"]),
            CODE,
        ),
    ],
)  # fmt: skip
def test_the_same_edit_again(again, expected):
    assert word(guard(), again) == expected


def test_a_patch_made_again_with_other_context_is_the_same():
    lines = [f" \tstep({n});" for n in range(6)]
    wide = hunk(*lines[:3], "+\tcheck(c);", *lines[3:])
    narrow = hunk(lines[2], "+\tcheck(c);", lines[3], start=12)
    assert word(wide, narrow) == IDENTICAL
    assert word(wide, hunk("+\tcheck(c);", start=12)) == OVERLAPS


def test_two_tools_cut_one_edit_in_different_places():
    short = guard("+}", "+void two(void)", "+{", below=[" }"], above=[" int n;"])
    long = guard("-}", "+}", "+void two(void)", "+{", "+}", below=[], above=[" int n;"])
    assert word(short, long) in SAME


def test_files_in_another_order_are_the_same():
    a, b = guard(), guard(name="y.c")
    assert word(a + b, b + a) == IDENTICAL
    assert word(a + b, a) == OVERLAPS


def test_one_hunk_or_two():
    """What stands between the blocks is context in one of them, and left out in the other."""
    first, second = ("+\tone();", "+\ttwo();")
    far = [f" \tstep({n});" for n in range(4)]
    together = hunk(" \ta();", first, *far, second, " \tb();")
    apart = (
        hunk(" \ta();", first, far[0])
        + hunk(far[-1], second, " \tb();", start=20).split(b"\n", 2)[2]
    )
    assert word(together, apart) == IDENTICAL


# --- patches that are not ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (guard(), guard("+\tcheck(c, 2);")),
        (guard(), guard("-\tcheck(c, 1);")),
        (guard(), guard(heading="static int read_tail(struct conn *c)")),
        (guard(), guard(above=[" static int tail(struct conn *c)", " {", *ABOVE])),
        (guard(), guard(above=[" \tint right = c->length;"])),
        (guard(), guard(name="y.c")),
        (guard(), guard(name="d/x.c")),
        (guard(heading=""), guard(heading="", above=[" \tlock(c);", *ABOVE])),
        (guard(heading="class Reader:"), guard(heading="class Reader:", below=[*BELOW, " x"])),
        (guard(), guard(heading="static int read_body(struct pipe *c)")),
        (guard(), guard(below=[" \t\twhile (left > 0)"])),
        (guard("+a  b", above=[" x := `", " one"], name="x.go"),
         guard("+a b", above=[" x := `", " one"], name="x.go")),
        (guard("+a ", above=[" cat <<-'EOF'", " one"], name="x.sh"),
         guard("+a", above=[" cat <<-'EOF'", " one"], name="x.sh")),
        # Between signs, or in lines that nobody can read by themselves, white space may count.
        (guard("+\ta = b - -c;"), guard("+\ta = b --c;")),
        (guard("+\ta = b / *c;"), guard("+\ta = b /*c;")),
        (guard('+\tput("a b");'), guard('+\tput("a  b");')),
        (guard('+\tput("a" , b);'), guard('+\tput("a", b);')),
        (guard("+#define f (x)"), guard("+#define f(x)")),
        (guard("+a = b", name="x.sh"), guard("+a=b", name="x.sh")),
        (guard("+a b", name="notes"), guard("+a  b", name="notes")),
        # Indentation: steps of another size, a line that leaves its block, tabs beside spaces.
        (guard("+\tcheck(c, 1);"), guard("+\t\tcheck(c, 1);")),
        (guard("+if a:", "+    b()", "+    c()", name="x.py"),
         guard("+if a:", "+    b()", "+c()", name="x.py")),
        (guard("+if a:", "+    b()", name="x.py"), guard("+if a:", "+  b()", name="x.py")),
        (guard("+\tcheck(c, 1);"),
         guard("+    check(c, 1);", above=["     int left = c->length;"],
               below=["     while (left > 0)"])),
        # Statements are lines in some languages.
        (guard("+\ta = b", "+\t-c"), guard("+\ta = b -c")),
        # A string that is open on one of the lines holds its white space.
        (guard('+x = """', "+  a", '+"""', name="x.py"),
         guard('+  x = """', "+    a", '+  """', name="x.py", above=[" \t  int left = c->length;"],
               below=[" \t  while (left > 0)"])),
        (guard("+a  b", above=[" x = '''", " one"], name="x.py"),
         guard("+a b", above=[" x = '''", " one"], name="x.py")),
        (guard("+  a", above=[" cat <<EOF", " one"], name="x.sh"),
         guard("+ a", above=[" cat <<EOF", " one"], name="x.sh")),
        (guard("+", "+a", above=[" x = '''", " one"], name="x.py"),
         guard("+a", above=[" x = '''", " one"], name="x.py")),
    ],
)  # fmt: skip
def test_another_edit_is_never_the_same(a, b):
    assert word(a, b) not in SAME


def test_a_last_line_without_a_line_end_is_not_identical():
    ended = guard(below=[])
    assert word(ended, ended + b"\\ No newline at end of file\n") == CODE


def test_a_block_moved_to_another_function_is_not_the_same():
    lines = [" \tlock(c);", " \tget(c);", "+\tcheck(c);", " \tput(c);", " \tunlock(c);"]
    a, b = (hunk(*lines, heading=f"int {name}(void)") for name in ("read_body", "read_tail"))
    assert word(a, b) == OVERLAPS
    # In a class, git's heading names no method, so that all lines around the block count.
    a, b = (
        hunk(*(x.replace("lock", name) for x in lines), name="x.py", heading="class Pool:")
        for name in ("lock", "hold")
    )
    assert word(a, b) == OVERLAPS


def test_without_words_around_it_the_number_of_a_line_is_its_place():
    a, b = (hunk("+check(c);", start=start) for start in (5, 6))
    assert (word(a, a), word(a, b)) == (IDENTICAL, OVERLAPS)
    created = a.replace(b"--- a/x.c", b"--- /dev/null").replace(b"-5,0 +5,1", b"-0,0 +1,1")
    assert word(created, created.replace(b"check(c)", b"check( c )")) == CODE
    assert word(created, a) == OVERLAPS


def test_a_rename_that_is_rescued_is_never_the_same():
    found = pool_of(guard(), guard(name="y.c")).likeness(0, 1)
    assert (found.exact, found.in_another_file, found.word) == (1, True, OVERLAPS)


def test_edits_of_white_space_are_the_same_only_as_they_are_written():
    wide, wider = guard("-  a", "+    a"), guard("-  a", "+      a")
    assert word(wide, guard("-  a", "+    a", start=90)) == IDENTICAL
    assert word(wide, wider) not in SAME
    assert word(wide, guard("-  a", "+    a", heading="int read_tail(void)")) not in SAME
    trailing = guard("-a ", "+a"), guard("-b ", "+b")
    assert word(*trailing) not in SAME
    assert word(guard("-a ", "+a", "+b"), guard("-a", "+a", "+b")) in SAME


# --- what headers say ----------------------------------------------------------------------------

MODE = b"diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"
RENAME = b"diff --git a/x.c b/y.c\nsimilarity index 100%\nrename from x.c\nrename to y.c\n"
BINARY = b"""diff --git a/x.png b/x.png
index 1234567..7654321 100644
Binary files a/x.png and b/x.png differ
"""
DATA = b"""diff --git a/x.png b/x.png
index 1234567..7654321 100644
GIT binary patch
literal 3
KcmZQzV*mgE000I6

"""


def test_header_facts():
    assert word(MODE, MODE) == word(RENAME, RENAME) == IDENTICAL
    assert word(MODE, MODE.replace(b"100755", b"100600")) == DIFFERENT
    assert word(MODE, MODE.replace(b"run", b"walk")) == DIFFERENT
    assert word(RENAME, RENAME.replace(b"y.c", b"z.c")) == DIFFERENT
    assert word(guard(), MODE + guard()) == OVERLAPS
    edit = b"--- a/run.sh\n+++ b/run.sh\n@@ -1 +1 @@\n-a\n+b\n"
    assert word(MODE + edit, edit) == OVERLAPS
    assert word(RENAME, RENAME.replace(b"x.c", b"d/x.c")) == DIFFERENT


def test_binary_data():
    assert word(BINARY, BINARY) == IDENTICAL
    assert word(DATA, DATA) == IDENTICAL
    assert word(BINARY, BINARY.replace(b"7654321", b"7654322")) not in SAME
    unnamed = BINARY.replace(b"index 1234567..7654321 100644\n", b"")
    assert word(unnamed, unnamed) == IDENTICAL
    # Nothing tells their data apart, or shows it.
    assert word(unnamed + MODE, MODE + unnamed) not in SAME
    assert word(BINARY + MODE, MODE + BINARY) == IDENTICAL


def test_a_patch_without_files():
    assert word(b"", b"") == IDENTICAL
    assert word(b"", guard()) == DIFFERENT


def test_bytes_that_are_no_text_are_compared_as_they_are():
    a, b = (guard().replace(b"check", raw) for raw in (b"\xff", b"\xfe"))
    assert (word(a, a), word(a, b)) == (IDENTICAL, OVERLAPS)


# --- laws, on patches that differ little ---------------------------------------------------------

_ROW = st.sampled_from(
    ["f(a, b);", "f(a,b);", "  f(a, b);", "\tf(a, b);", "x = 'a b'", "x = 'a  b'", "", "it's", "}",
     "g(a)  ;", "a - -b", "a --b", "int h(void)", "f(a, b);  ", "int k(void)"]
)  # fmt: skip
_BODY = bodies(_ROW, 7, "  +-+")
_HUNK = st.builds(
    lambda body, name, heading, start: hunk(*body, name=name, heading=heading, start=start),
    _BODY,
    st.sampled_from(["x.c", "x.c", "x.sh"]),
    st.sampled_from([READ, READ, "class X:", ""]),
    st.sampled_from([1, 9]),
)


def _respaced(draw, line):
    """A line of a patch with other white space, or as it is."""
    edits = [
        lambda x: x,
        lambda x: x[:1] + "  " + x[1:],
        lambda x: x + " ",
        lambda x: x.replace(", ", ","),
        lambda x: x.replace(" ", "  "),
        lambda x: x.replace("f", "g"),
    ]
    return draw(st.sampled_from([edits[0]] * 12 + edits))(line)


@st.composite
def _like(draw, patch):
    """A patch much like another one: other white space, other context, another place."""
    lines = patch.decode().split("\n")
    body = [_respaced(draw, line) for line in lines[3:-1]]
    heading = lines[2].split("@@")[2].strip()
    for end in (0, -1):
        if body and body[end][:1] == " " and draw(st.booleans()):
            del body[end]
    if draw(st.integers(0, 3)) == 0:
        body = [" step();", *body, " last();"]
    if draw(st.integers(0, 7)) == 0:
        heading = draw(st.sampled_from([READ, "int other(void)", "class X:", ""]))
    if draw(st.integers(0, 7)) == 0:
        body = [line[:1] + "\t" + line[1:] for line in body]
    name = lines[0].removeprefix("--- a/")
    return hunk(*body, name=name, heading=heading, start=draw(st.sampled_from([1, 9])))


@st.composite
def _family(draw):
    first = draw(_HUNK)
    return [first, *(draw(_like(first)) for _ in range(3))]


@given(_family())
@examples(250)
def test_the_level_is_the_oracles_and_an_equivalence_and_no_number(family):
    pool = pool_of(*family)
    for i, j in combinations(range(len(family)), 2):
        expected = level_slowly(submission(family[i]), submission(family[j]))
        assert pool.likeness(i, j).level == expected
    for words in ((IDENTICAL,), SAME):
        same = {
            (i, j)
            for i, j in product(range(len(family)), repeat=2)
            if pool.likeness(i, j).word in words
        }
        assert all((i, i) in same for i in range(len(family)))
        assert all((j, i) in same for i, j in same)
        assert all((i, m) in same for i, j in same for k, m in same if j == k)
    for i, j in product(range(len(family)), repeat=2):
        found = pool.likeness(i, j)
        if found.word in SAME:
            assert (found.exact, found.shares.anchored, pool.score(i, j)) == (1, 1, 1)
        alone = pool_of(family[i], family[j])
        assert alone.likeness(0, 1) == found


@given(_family(), st.sampled_from(["complete", "average", "single"]), st.booleans())
@examples(60)
def test_the_same_code_has_distance_zero(family, linkage, idf):
    """However small the threshold is, and with weights as well."""
    pool = Pool(ignored=(), idf=idf)
    for patch in [*family, *(hunk(" a", f"+x = {n};", name="z.c") for n in range(3))]:
        pool.add(parse(patch))
    clusters = group(pool, threshold=1e-6, linkage=linkage)
    number = {at: n for n, cluster in enumerate(clusters) for at in cluster.members}
    for i, j in combinations(range(len(pool)), 2):
        if pool.likeness(i, j).level:
            assert number[i] == number[j]
