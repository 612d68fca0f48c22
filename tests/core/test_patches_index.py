"""What the narrow arrays of an index have no room for is kept all the same."""

from __future__ import annotations

from array import array

import pytest
from tests.reference.patch_places import compare

from excise.kernels._matches import pair
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


def test_blocks_beyond_fifteen_bits():
    """Each block is in a file of its own, and the last 100 are at other places."""
    n = 33_000
    index = Index()
    for heading in (1, 2):
        blocks = array("i")
        for at in range(n):
            blocks.extend((at, at, at, at, at + 1, heading if at >= n - 100 else 0, 0))
        index.add(array("i", [at % 7 for at in range(n)]), blocks, array("i"), array("i"))
    assert pair(index, 0, 1, True)[4:8] == (n - 100, n, n, n)
