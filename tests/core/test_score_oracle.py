"""The oracle judges the library's scores: fractions, counts, regions and places, bit for bit."""

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from tests.reference import oracle, score, triples
from tests.reference.budget import examples, scaled
from tests.reference.implementations import IMPLEMENTATIONS

pytestmark = pytest.mark.slow

ORACLE, CORE = IMPLEMENTATIONS["oracle"], IMPLEMENTATIONS["core"]
GRANULARITY = pytest.mark.parametrize("granularity", ["token", "line", "nested"])
LANGUAGE = pytest.mark.parametrize("language", [None, "python"])
LCS = pytest.mark.parametrize("lcs", ["star", "paper"])
FORM = pytest.mark.parametrize(
    ("lcs", "place"), [("star", "pooled"), ("star", "anchored"), ("paper", "pooled")]
)
PLACE = pytest.mark.parametrize("place", ["pooled", "anchored"])


def agree(triple, **options):
    """The library gives the oracle's fractions, counts and regions; its float is the nearest."""
    for deletion in ("precision", "f1"):
        found = CORE.directed(*triple, deletion=deletion, **options)
        assert found == ORACLE.directed(*triple, deletion=deletion, **options)
        assert found.value == float(found.exact)
    found = CORE.symmetric(*triple, **options)
    assert found == ORACLE.symmetric(*triple, **options)
    assert found.value == float(found.exact)


@FORM
@GRANULARITY
@given(triple=triples.TOKEN_TRIPLES)
@examples(300)
def test_the_oracle_judges_sequences(lcs, place, granularity, triple):
    agree(triple, lcs=lcs, place=place, granularity=granularity)


@FORM
@GRANULARITY
@LANGUAGE
@given(triple=triples.TEXT_TRIPLES)
@examples(120)
def test_the_oracle_judges_texts(lcs, place, granularity, language, triple):
    agree(triple, lcs=lcs, place=place, granularity=granularity, language=language)


@PLACE
@GRANULARITY
@LANGUAGE
@given(triple=triples.TEXT_TRIPLES)
@examples(40)
def test_the_oracle_judges_dropped_comments(place, granularity, language, triple):
    agree(triple, place=place, granularity=granularity, language=language, comments="drop")


@FORM
@pytest.mark.parametrize("symbols", [2, 3, 6, 20, 200])
def test_the_oracle_judges_longer_sequences(lcs, place, symbols):
    """3 x 5 alphabets x 40 triples of up to 120 tokens, with up to 8 edits."""
    names, rng = triples.alphabet(symbols), Random(symbols)
    for _ in range(scaled(40)):
        origin = triples.sequence(rng, names, 120)
        a, b = (triples.near_copy(rng, origin, names, rng.randint(1, 8)) for _ in range(2))
        agree((origin, a, b), lcs=lcs, place=place)


@LCS
@GRANULARITY
@given(triple=triples.TEXT_TRIPLES)
@examples(60)
def test_the_oracle_judges_each_region_alone(lcs, granularity, triple):
    """The counts of one region, and its share of the n-grams of all."""
    import excise

    origin, a, b = triple
    options = {"lcs": lcs, "granularity": granularity}
    found = excise.similarity(origin=origin, a=a, b=b, place="pooled", **options).regions
    expected = oracle.similarity(*triple, place="pooled", **options).regions
    sizes = [
        sum(score.ngrams(segment, n).total() for segment in region.tokens for n in score.ORDERS)
        for region in expected
    ]
    for one, region, size in zip(found, expected, sizes, strict=True):
        counts = score.operation_counts([region])
        judged = {name: getattr(one.counts, name) for name in counts}
        assert {
            name: tuple((count.here, count.a, count.b) for count in of_orders)
            for name, of_orders in judged.items()
        } == counts
        assert one.share == float(Fraction(size, sum(sizes)))
