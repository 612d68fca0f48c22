"""Hunks that are not where they say: found as by a search of every line, and at a bounded cost."""

from __future__ import annotations

import random

import pytest
from tests.fuzz import hunks
from tests.reference.budget import scaled

from excise.patches import Applied, PatchError, apply, parse
from excise.patches.apply import Image


def everywhere(image, old, stated):
    """Return the nearest line where lines stand, of two as near the one further down."""
    middle = min(stated, len(image.lines))
    places = [at for at in range(len(image.lines) + 1) if image.fits(old, at)]
    return min(places, key=lambda at: (abs(at - middle), -at), default=None)


@pytest.mark.parametrize("seed", range(4))
def test_a_displaced_hunk_is_found_where_a_search_of_every_line_finds_it(seed, monkeypatch):
    choice, moved = random.Random(seed), 0
    for _ in range(scaled(500)):
        text, patch = hunks.drawn(choice)
        for pair in parse(patch).files:
            found = applied(pair, text)
            with monkeypatch.context() as patched:
                patched.setattr(Image, "_nearest", everywhere)
                assert applied(pair, text) == found, (text, patch)
            moved += isinstance(found, Applied) and any(found.offsets)
    assert moved


def applied(pair, text):
    try:
        return apply(pair, text)
    except PatchError as error:
        return str(error)


def test_hunks_that_fit_nearly_everywhere_are_too_costly():
    hunk = b"@@ -%d,3 +%d,3 @@\n a\n-a\n+b\n a\n"
    many = b"".join(hunk % (at, at) for at in range(2, 2002))
    (pair,) = parse(b"--- a/x\n+++ b/x\n" + many).files
    with pytest.raises(PatchError, match=r"^x: too costly to apply"):
        apply(pair, b"a\n" * 20_000)
