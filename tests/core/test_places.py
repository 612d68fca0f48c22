"""Places and words: matrices agree with pairs, slides are linear, no score says the same."""

from array import array
from itertools import combinations

import pytest
from hypothesis import given
from tests.reference import triples
from tests.reference.budget import examples

import excise
from excise.agreement import DIFFERENT, IDENTICAL, OVERLAPS, SAME, WORDS
from excise.kernels import _places
from excise.text import normalise

GRANULARITY = pytest.mark.parametrize("granularity", ["token", "line", "nested"])
LANGUAGE = pytest.mark.parametrize("language", [None, "python"])


@GRANULARITY
@LANGUAGE
@pytest.mark.parametrize("place", ["anchored", "pooled"])
@given(first=triples.TEXT_TRIPLES, second=triples.TEXT_TRIPLES)
@examples(40)
def test_a_matrix_says_of_a_pair_what_the_pair_says(granularity, language, place, first, second):
    origin, *revisions = [*first, *second[1:], first[0]]
    options = {"granularity": granularity, "language": language, "place": place}
    matrix = excise.ScoreMatrix.from_texts(origin, revisions, **options)
    assert matrix.contained.diagonal().tolist() == [1.0] * len(revisions)
    for i, j in combinations(range(len(revisions)), 2):
        pair = excise.similarity(origin=origin, a=revisions[i], b=revisions[j], **options)
        assert matrix.values[i, j] == matrix.values[j, i] == pair.value
        assert matrix.anchored[i, j] == matrix.anchored[j, i] == float(pair.anchored)
        assert matrix.anywhere[i, j] == matrix.anywhere[j, i] == float(pair.anywhere)
        assert (matrix.contained[i, j], matrix.contained[j, i]) == tuple(map(float, pair.contained))
        assert matrix.word(i, j) == matrix.word(j, i) == pair.word
        assert matrix.pair(i, j).exact == pair.exact


def flat(counts):
    """The fields of all counts in a row: operation, order, field."""
    return [
        n for cells in (counts.keep, counts.add, counts.delete) for count in cells for n in count
    ]


@GRANULARITY
@given(triple=triples.TEXT_TRIPLES)
@examples(100)
def test_places_and_what_matches_elsewhere_add_up(granularity, triple):
    origin, a, b = triple
    score = excise.similarity(origin=origin, a=a, b=b, granularity=granularity)
    totals = [sum(fields) for fields in zip(*(flat(p.counts) for p in score.places), strict=True)]
    whole = flat(score.counts)
    for cell in range(0, 48, 4):
        assert (totals or [0] * 48)[cell : cell + 3] == list(whole[cell : cell + 3])
    moved = sum(count.anywhere - count.here for count in (*score.counts.add, *score.counts.delete))
    assert sum(match.n_grams for match in score.elsewhere) == moved
    assert sorted(i for place in score.places for i in place.regions) == list(
        range(len({i for place in score.places for i in place.regions}))
    )


@GRANULARITY
@LANGUAGE
@given(triple=triples.TEXT_TRIPLES)
@examples(100)
def test_only_a_level_says_that_two_are_the_same(granularity, language, triple):
    origin, a, b = triple
    options = {"granularity": granularity, "language": language}
    score = excise.similarity(origin=origin, a=a, b=b, **options)
    assert score.word in WORDS
    assert (score.word in SAME) == (score.level is not None)
    assert (score.word == IDENTICAL) == (normalise(a) == normalise(b))
    assert score.text_word in (OVERLAPS, DIFFERENT)
    if language is None:
        assert score.word in (IDENTICAL, OVERLAPS, DIFFERENT)
    if score.level is None:
        assert score.word == score.text_word


def test_the_word_is_that_of_the_anchored_form():
    origin = "f(\n    a,\n)\ng(\n    a,\n)\n"
    a, b = origin.replace("a,", "b,", 1), "f(\n    a,\n)\ng(\n    b,\n)\n"
    triple = {"origin": origin, "a": a, "b": b}
    anchored = excise.similarity(**triple)
    pooled = excise.similarity(**triple, place="pooled")
    directed = excise.excision_score(origin=origin, reference=a, hypothesis=b)
    paper = excise.similarity(**triple, lcs="paper")
    assert {score.word for score in (anchored, pooled, directed, paper)} == {anchored.word}
    assert pooled.value > anchored.value
    assert "place:pooled" in paper.signature


def test_unknown_places_are_refused():
    with pytest.raises(excise.OptionError, match="place is 'near'"):
        excise.similarity(origin="a", a="b", b="c", place="near")
    with pytest.raises(excise.OptionError, match="with lcs 'paper'"):
        excise.similarity(origin="a", a="b", b="c", place="anchored", lcs="paper")


def test_tokens_with_lines_are_checked():
    with pytest.raises(excise.OptionError, match="1 lines for 2 tokens"):
        excise.Tokens(["a", "b"], [0])
    with pytest.raises(excise.OptionError, match="never decrease"):
        excise.Tokens(["a", "b"], [1, 0])


def test_a_run_slides_to_the_end_of_ten_thousand_equal_lines():
    n = 10_000
    units, line = array("i", [7] * 2 * n), array("i", range(0, 2 * n + 1, 2))
    longer, its_lines = array("i", [7] * (2 * n + 2)), array("i", range(0, 2 * n + 3, 2))
    slid = _places.slide(array("i", [0, 0, 0, 2]), units, line, longer, its_lines)
    assert list(slid) == [2 * n, 2 * n, 2 * n, 2 * n + 2]


@pytest.mark.parametrize("place", [[0, 0, 0, 1], [2, 2, 2, 3]])
def test_half_a_line_does_not_slide(place):
    origin = array("i", [1, 1, 1, 1]), array("i", [0, 2, 4])
    revision = array("i", [1, 1, 1, 1, 1]), array("i", [0, 2, 5])
    edits = array("i", place)
    assert _places.slide(edits, *origin, *revision) is edits


def test_counting_refuses_places_that_are_not_numbered_in_order():
    from excise.kernels._counts import count

    regions, tokens = array("i", [0, 1, 0, 1, 0, 1]), array("i", [1])
    with pytest.raises(ValueError, match="numbered 0, 1"):
        count(regions, tokens, tokens, tokens, array("i", [1]))
    with pytest.raises(ValueError, match="every region"):
        count(regions, tokens, tokens, tokens, array("i", [0, 0]))
