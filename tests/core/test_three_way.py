"""The exact three-way alignment of equation 3, and the two forms that stand in for it."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from tests.reference import triples
from tests.reference.budget import examples
from tests.reference.exact import MOST_CELLS, TooLargeError, three_way_lcs
from tests.reference.oracle import excision_score
from tests.reference.regions import conserved
from tests.reference.streams import given as ready_made


@given(triple=triples.TOKEN_TRIPLES)
@examples(200)
def test_no_form_has_more_columns_than_the_exact_one(triple):
    streams = [ready_made(tokens) for tokens in triple]
    options = {"granularity": "token", "symmetric": False}
    columns = conserved(*streams, lcs="exact", **options)
    assert all(len({tokens[i] for tokens, i in zip(triple, c, strict=True)}) == 1 for c in columns)
    assert all(all(map(int.__lt__, one, other)) for one, other in pairwise(columns))
    for lcs in ("star", "paper"):
        assert len(conserved(*streams, lcs=lcs, **options)) <= len(columns)


def is_within(wanted, tokens):
    left = iter(tokens)
    return all(token in left for token in wanted)


@given(triple=triples.SEEDS.map(lambda rng: triples.token_triple(rng, longest=6)))
@examples(100)
def test_no_common_subsequence_is_longer(triple):
    """Tried one by one, from the longest: nothing shared with the table."""
    shortest = min(triple, key=len)
    sizes = range(len(shortest), -1, -1)
    tried = (wanted for size in sizes for wanted in combinations(shortest, size))
    longest = next(w for w in tried if all(is_within(w, tokens) for tokens in triple))
    assert len(three_way_lcs(*triple)) == len(longest)


@pytest.mark.parametrize(
    ("texts", "lengths"), [(("aa", "ab", "ba"), (0, 1, 1)), (("ab", "ba", "bb"), (0, 0, 1))]
)
def test_the_forms_can_be_shorter(texts, lengths):
    streams = [ready_made(list(text)) for text in texts]
    options = {"granularity": "token", "symmetric": False}
    kinds = ("star", "paper", "exact")
    assert tuple(len(conserved(*streams, lcs=lcs, **options)) for lcs in kinds) == lengths


def test_the_oracle_scores_by_it():
    """A keeps b, as B does, which only the exact alignment sees."""
    found = excision_score(*(list(text) for text in ("ab", "ba", "bb")), lcs="exact")
    assert [region.tokens for region in found.regions] == [(("a",), (), ()), ((), ("a",), ("b",))]


def test_a_table_of_too_many_cells_is_refused():
    size = round(MOST_CELLS ** (1 / 3)) + 1
    texts = [[f"{side}{i}" for i in range(size)] for side in "xyz"]
    with pytest.raises(TooLargeError):
        three_way_lcs(*texts)
    shared = ["s"] * 1000
    shared = ["s"] * 1000
    assert len(three_way_lcs([*shared, "x"], [*shared, "y"], shared)) == 1000
