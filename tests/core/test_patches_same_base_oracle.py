"""Patches of one tree against the slow oracle: as whole texts, and of what the patches show."""

from __future__ import annotations

import difflib
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from tests.reference import oracle
from tests.reference.budget import examples
from tests.reference.same_base import compare
from tests.reference.triples import SEEDS, TEXT_TRIPLES, text_triple

from excise.patches import parse
from excise.patches.same_base import compare_on_one_base

CONTEXTS = 0, 1, 3, 99
NO_LINE_END = "\n\\ No newline at end of file\n"


def unified(origin, revision, name="x.c", context=3):
    """Write a diff as git does."""
    sides = ([*text.split("\n")] for text in (origin, revision))
    lines = [[f"{line}\n" for line in side[:-1]] + [line for line in side[-1:] if line]
             for side in sides]  # fmt: skip
    diff = difflib.unified_diff(*lines, f"a/{name}", f"b/{name}", n=context)
    return "".join(line if line[-1] == "\n" else line + NO_LINE_END for line in diff).encode()


def said_by_the_library(a, b):
    likeness = compare_on_one_base(a, b)
    shares = likeness.shares
    contained = shares.a_in_b, shares.b_in_a
    notes = frozenset(likeness.notes)
    return likeness.exact, shares.anchored, shares.anywhere, contained, likeness.word, notes


def said_by_the_oracle(verdict):
    return (
        verdict.exact,
        verdict.anchored,
        verdict.anywhere,
        verdict.contained,
        verdict.word,
        frozenset(verdict.notes),
    )


def is_symmetric(a, b):
    value, anchored, anywhere, (a_in_b, b_in_a), *rest = said_by_the_library(a, b)
    return said_by_the_library(b, a) == (value, anchored, anywhere, (b_in_a, a_in_b), *rest)


@examples(150)
@given(TEXT_TRIPLES)
def test_patches_with_all_lines_score_as_whole_texts(texts):
    r"""But for a `\r\n`, which a patch shows as a changed line, and reading a text drops."""
    origin, a, b = (text.removeprefix("\ufeff").replace("\r\n", "\n") for text in texts)
    patches = [parse(unified(origin, text, context=99)) for text in (a, b)]
    if all(patch.files for patch in patches):
        whole = oracle.similarity(origin, a, b)
        assert said_by_the_library(*patches) == said_by_the_oracle(whole)
        assert is_symmetric(*patches)


@st.composite
def pairs_of_patches(draw):
    """Draw patches of one tree of one or two files, each with its own number of context lines."""
    seed = draw(SEEDS)
    rng = Random(seed.getrandbits(64))
    files = [text_triple(rng) for _ in range(rng.choice((1, 1, 2)))]
    contexts = draw(st.tuples(*2 * [st.sampled_from(CONTEXTS)]))
    return [
        parse(
            b"".join(
                unified(texts[0], texts[side], f"{n}.c", context) for n, texts in enumerate(files)
            )
        )
        for side, context in zip((1, 2), contexts, strict=True)
    ]


@examples(300)
@given(pairs_of_patches())
def test_the_library_is_the_oracle(patches):
    a, b = patches
    assert is_symmetric(a, b)
    if set(a.paths) & set(b.paths):
        assert said_by_the_library(a, b) == said_by_the_oracle(compare(a, b))
    elif a.files and b.files:
        assert said_by_the_library(a, b) == (0, 0, 0, (0, 0), "different", {"no common file"})


def test_an_open_last_line_is_white_space():
    """One patch adds the last line end, the other one does, too, and strips a space elsewhere."""
    origin, ended, stripped = "one \n\ntwo", "one \n\ntwo\n", "one\n\ntwo\n"
    a, b = (parse(unified(origin, text)) for text in (ended, stripped))
    value, *_, word, notes = said_by_the_library(a, b)
    assert (0 < value < 1, word, notes) == (True, "contains", {"whitespace-only"})


def test_moved_white_space_alone_is_no_edit():
    """The equal lines are matched crosswise, and yet no token changes: guard 3."""
    origin, idle, changed = "  one\n\none\n", "one\n  one\n", "  one\ntwo\none\n"
    a, b = (parse(unified(origin, text)) for text in (idle, changed))
    assert said_by_the_library(a, b) == (0, 0, 0, (0, 0), "different", set())


def test_hunks_that_meet_at_a_blank_line_are_one_insertion():
    """A patch without context cuts an insertion at a blank line; the other one shows that line."""
    origin = "zero\n\nlast\n"
    revision = "zero\none\n\ntwo\nlast\n"
    a, b = (parse(unified(origin, revision, context=lines)) for lines in (0, 3))
    assert said_by_the_library(a, b)[:5] == (1, 1, 1, (1, 1), "same")


def test_equal_header_facts_contain_each_other():
    """Two binary files that differ have the same facts, and nobody may call them the same."""
    header = (
        "diff --git a/x.png b/x.png\nindex {}..{} 100644\nBinary files a/x.png and b/x.png differ\n"
    )
    a, b = (parse(header.format("1" * 7, digit * 7).encode()) for digit in "23")
    assert said_by_the_library(a, b)[:5] == (1, 1, 1, (1, 1), "contains")
