"""What the narrow arrays of an index have no room for is kept all the same."""

from __future__ import annotations

import random
from array import array
from collections import defaultdict

import pytest
from tests.reference.patch_blocks import blocks, components, submission
from tests.reference.patch_places import compare

from excise.kernels._matches import pair, places
from excise.kernels._patches import Index
from excise.patches import Pool, parse


def patch(*hunks):
    """Return a patch that inserts some lines into x.c, at headings."""
    whole = ["--- a/x.c", "+++ b/x.c"]
    for heading, lines in hunks:
        whole += [f"@@ -0,0 +1,{len(lines)} @@ {heading}", *(f"+{line}" for line in lines)]
    return "\n".join([*whole, ""]).encode()


def assert_as_by_the_oracle(*patches):
    pool = Pool(ignored=())
    for text in patches:
        pool.add(parse(text))
    exact = float(compare(*patches).exact)
    assert pool.score(0, 1) == exact
    assert pool.near(0.0) == [(0, 1, exact)]


@pytest.mark.parametrize(("often", "other"), [(254, 255), (255, 256), (70_000, 300)])
def test_an_n_gram_as_often_as_no_byte_can_say(often, other):
    assert_as_by_the_oracle(
        patch(("f", ["x " * often, "y"]), ("g", ["z x"])),
        patch(("f", ["x " * other]), ("h", ["z x"])),
    )


def test_n_grams_that_are_in_many_blocks():
    """Of 120 blocks each has the same 310 n-grams: their list is longer than 15 bits can count."""
    words = [" ".join(f"w{at}" for at in range(80))]
    both = [(f"f{at}", words) for at in range(118)]
    assert_as_by_the_oracle(
        patch(*both, ("left", words), ("f118", ["w1"])),
        patch(("right", words), ("f118", ["w1 w2"]), *both[::-1]),
    )


HEADINGS = ("", "int f(a)", "int g(a)", "class C:")


def repeating(choice, hunks, edits):
    """Return a patch of many blocks, around which the same few lines stand again and again."""
    whole = ["--- a/x.c", "+++ b/x.c"]
    for _ in range(hunks):
        topic = choice.randrange(6)
        kept = ["}", "    {", f"    a{topic} b;", f"    c{topic} d{topic};"]
        kept += [f"int g{topic}(b)"] if choice.randrange(2) else []
        body = []
        for number in range(edits):
            body += [f" {choice.choice(kept)}" for _ in range(choice.randrange(1, 7))]
            body += [f"+n{number % 7};"] if choice.randrange(3) else ["-    x;"]
        old, new = (sum(line[0] != mark for line in body) for mark in "+-")
        whole += [f"@@ -1,{old} +1,{new} @@ {choice.choice(HEADINGS)}", *body]
    return "\n".join([*whole, ""]).encode()


@pytest.mark.parametrize("seed", range(8))
def test_many_blocks_of_few_kinds_stand_where_the_oracle_has_them(seed):
    """Over a thousand pairs of blocks: these are compared by their kinds."""
    choice = random.Random(seed)
    a, b = repeating(choice, 3 + seed, 12), repeating(choice, 9 - seed, 14)
    pool = Pool(ignored=())
    for text in (a, b):
        pool.add(parse(text))
    found = places(pool.index, 0, 1, True)
    sides = [blocks(submission(text), "name") for text in (a, b)]
    assert len(sides[0]) * len(sides[1]) > 1024
    assert list(map(len, found)) == list(map(len, sides))
    expected = sorted(sorted([*map(id, of_a), *map(id, of_b)]) for of_a, of_b in components(*sides))
    numbered = defaultdict(list)
    for numbers, side in zip(found, sides, strict=True):
        for number, block in zip(numbers, side, strict=True):
            numbered[number].append(id(block))
    assert sorted(map(sorted, numbered.values())) == expected
    assert len(expected) > 1


def test_blocks_beyond_fifteen_bits():
    """Each block is in a file of its own, and the last 100 are at other places."""
    n = 33_000
    index = Index()
    for heading in (1, 2):
        blocks = array("i")
        for at in range(n):
            blocks.extend((at, at, at, at, at + 1, heading if at >= n - 100 else 0, 0))
            blocks.extend((-1, 0, 0))
        index.add(array("i", [at % 7 for at in range(n)]), blocks, array("i"), array("i"))
    assert pair(index, 0, 1, True)[4:8] == (n - 100, n, n, n)
