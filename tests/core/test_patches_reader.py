"""Patches as ints, read line by line, against the same patches read as objects."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.budget import one_in

from excise.patches import parse, read
from excise.patches.features import BLOCK, IGNORED, NO_HEADING, NO_NAME, Reader, compared
from excise.patches.model import FilePair, Hunk, Patch

LINES = st.sampled_from(
    [b"foo(a);", b"bar(a);", b"  foo(a);", b"foo(a); ", b"", b" \t\v\f", b"return 0;\r", b"\r",
     b"x = 1;", b"}", b"}}}}", b"if (x)", "é = 'ü'".encode(), b"\xe9 = 1", b"\xff", b"a\x00b",
     "a\u2028b\x85".encode(), b"\x1c\x1d x", b"@@ -1 +1 @@", b"-- ", b"\xed\xa0\x80 = 1", b"\xc3",
     "\u00a0".encode(), "\u3000 \U0001f600 x".encode(), b"\t\x0c y\r"]
)  # fmt: skip
BODIES = st.lists(
    st.tuples(st.sampled_from([b" ", b"+", b"-"]), LINES), min_size=1, max_size=12
).filter(lambda body: any(kind != b" " for kind, _ in body))
NAMES = st.sampled_from([b"x.c", b"d/x.c", b"y.c", b"go.sum", b"CHANGES.md"])
HEADINGS = st.sampled_from([b"", b"f(void)", b"\xe9", b"foo(a);", b"{", b"struct \xe9 bar {"])


def hunk(body, heading):
    old = sum(kind != b"+" for kind, _ in body)
    new = sum(kind != b"-" for kind, _ in body)
    lines = b"".join(kind + line + b"\n" for kind, line in body)
    return b"@@ -1,%d +1,%d @@ %s\n" % (old, new, heading) + lines


def file(name, hunks):
    return b"--- a/%s\n+++ b/%s\n" % (name, name) + b"".join(hunks)


FILES = st.builds(file, NAMES, st.lists(st.builds(hunk, BODIES, HEADINGS), min_size=1, max_size=3))
MODES = st.just(b"diff --git a/m b/m\nold mode 100644\nnew mode 100755\n")
PATCHES = st.lists(FILES | MODES, max_size=3).map(b"".join)


def spelled(edits, vocabularies):
    """Return edits with what their ints stand for, as each reader has ints of its own."""
    tokens, names, lines = (vocabulary.items() for vocabulary in vocabularies)
    rows = [edits.blocks[at : at + BLOCK] for at in range(0, len(edits.blocks), BLOCK)]
    spell = [tokens[token] for token in edits.tokens]
    return (
        [(names[name], spell[o_lo:o_hi], spell[a_lo:a_hi],
          None if heading == NO_HEADING else lines[heading], own,
          None if function == NO_NAME else tokens[function], spell[start:stop])
         for name, o_lo, o_hi, a_lo, a_hi, heading, own, function, start, stop in rows],
        [(lines[edits.around[at]], edits.around[at + 1]) for at in range(0, len(edits.around), 2)],
        [lines[line] for line in edits.context],
        edits.notes,
    )  # fmt: skip


class SlowReader(Reader):
    """Reads every patch as objects, as it does those that change white space alone."""

    def edits(self, patch, ignored=IGNORED):
        return self._as_objects(*compared(patch, ignored))


def assert_equal(patches, ignored):
    fast, slow = Reader(), SlowReader()
    pairs = [(fast.edits(patch, ignored), slow.edits(patch, ignored)) for patch in patches]
    for own, other in pairs:
        assert spelled(own, fast.vocabularies) == spelled(other, slow.vocabularies)


@given(st.lists(PATCHES, min_size=1, max_size=4), st.sampled_from([(), IGNORED]))
def test_ints_stand_for_what_objects_are(texts, ignored):
    assert_equal([parse(text) for text in texts], ignored)


@given(st.lists(st.text("aC./lockNEWSminjs-\n", max_size=9) | st.sampled_from(
    ["a.lock", "d/go.sum", "NEWS.d/x", "NEWS", "x/CHANGELOG.md", "CHANGES.\nx", "a.min.js"]
)))  # fmt: skip
def test_the_names_ignored_by_default_are_those_of_its_globs(names):
    patch = Patch(tuple(FilePair(name, name) for name in names))
    assert compared(patch, IGNORED) == compared(patch, list(IGNORED))


# Hunks that no parser makes: any first character, or none.
MARKS = st.sampled_from([b" ", b"+", b"-", b"", b"x", b"\\", "é".encode(), b"\xe9", b"\xff\x80"])
TEXTS = st.lists(st.builds(bytes.__add__, MARKS, LINES | st.binary(max_size=6)), max_size=8)
HUNKS = st.builds(lambda lines, heading: Hunk(1, 1, b"\n".join(lines), 1, heading=heading),
                  TEXTS, HEADINGS)  # fmt: skip


@given(st.lists(st.lists(HUNKS, max_size=3), min_size=1, max_size=3))
def test_any_lines_are_read_as_objects_are(patches):
    found = [Patch((FilePair("x.c", "x.c", tuple(hunks)),)) for hunks in patches]
    assert_equal(found, ())


def test_lines_of_five_megabytes_are_read_as_objects_are():
    line = b"x" * 2_500_000 + b" = \x00" + "é".encode() * 1_250_000
    text = b" a\n-" + line + b"\n+" + line + b";\n\\ No newline at end of file\n"
    found = parse(b"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n" + text)
    assert found.files[0].hunks[0].new_open
    assert_equal([found], ())


@pytest.mark.slow
def test_kernel_patches_are_read_alike(excise_data):
    patches = []
    with gzip.open(excise_data / "kernel_versions_dev.jsonl.gz") as lines:
        for row in map(json.loads, lines):
            patches += [read(c["patch"].encode("latin-1"))[0].patch for c in row["candidates"]]
    assert_equal(one_in(4, patches), IGNORED)


@pytest.mark.slow
def test_patches_of_agents_are_read_alike(excise_data):
    patches = []
    with gzip.open(excise_data / "swebench_lite_agents_dev.jsonl.gz") as lines:
        for row in map(json.loads, lines):
            patches += [parse(c["patch"].encode()) for c in row["candidates"]]
    assert_equal(one_in(4, patches), IGNORED)
