"""The exact three-way alignment of equation 3, and the two forms that stand in for it."""

from itertools import combinations, pairwise

from hypothesis import given
from tests.reference import triples
from tests.reference.budget import examples
from tests.reference.exact import three_way_lcs
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
