"""What must hold of a score that knows places (sections 4a, 6a and 7), on random triples."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import assume, given
from tests.core.test_score_laws import disjoint_edits, qualifying_triple
from tests.reference import counts, oracle, regions, score, streams, triples
from tests.reference.budget import examples, scaled

GRANULARITY = pytest.mark.parametrize("granularity", ["token", "line", "nested"])
LANGUAGE = pytest.mark.parametrize("language", [None, "python"])
FORM = pytest.mark.parametrize("form", ["directed", "symmetric"])
TOKENS = triples.TOKEN_TRIPLES.map(lambda triple: triple[0])
ROWS = ("regions", "spans")


def all_laws(implementation, triple, **options):
    options["place"] = "anchored"
    anchored_value_and_anywhere(implementation, triple, **options)
    exchange_changes_nothing(implementation, triple, **options)
    identity_and_doing_nothing(implementation, triple, **options)


@GRANULARITY
@given(triple=triples.TOKEN_TRIPLES)
@examples(100)
def test_laws_on_sequences(placed_implementation, granularity, triple):
    all_laws(placed_implementation, triple, granularity=granularity)


@GRANULARITY
@LANGUAGE
@given(triple=triples.TEXT_TRIPLES)
@examples(40)
def test_laws_on_texts(placed_implementation, granularity, language, triple):
    all_laws(placed_implementation, triple, granularity=granularity, language=language)


@GRANULARITY
@given(triple=triples.TOKEN_TRIPLES, rng=triples.SEEDS)
@examples(60)
def test_laws_on_sequences_with_lines(placed_implementation, granularity, triple, rng):
    lines = tuple(triples.line_numbers(rng, len(tokens)) for tokens in triple)
    options = {"granularity": granularity, "place": "anchored"}
    anchored_value_and_anywhere(placed_implementation, triple, lines=lines, **options)
    origin, a, b = triple
    one = placed_implementation.symmetric(origin, a, b, lines=lines, **options)
    other = placed_implementation.symmetric(
        origin, b, a, lines=(lines[0], lines[2], lines[1]), **options
    )
    assert exchanged(one) == other


def anchored_value_and_anywhere(implementation, triple, **options):
    """Both forms are linear in what counts as common; only equal revisions are the same."""
    for form in (implementation.directed, implementation.symmetric):
        found = form(*triple, **options)
        assert 0 <= found.anchored <= found.exact <= found.anywhere <= 1
        assert found.value == float(found.exact)
        assert all(0 <= share <= 1 for share in found.contained)
        assert sorted(number for place in found.places for number in place) == list(
            range(len(found.regions))
        )
        assert found.exact == (3 * found.anchored + found.anywhere) / 4
        assert found.word != "same" or found.anchored == 1


def exchanged(found):
    """The outcome of a triple, said of the triple with A and B exchanged."""
    swapped = {name: tuple((o, b, a) for o, a, b in getattr(found, name)) for name in ROWS}
    swapped["counts"] = tuple(
        tuple((both, b, a) for both, a, b in of_orders) for of_orders in found.counts
    )
    return replace(found, contained=found.contained[::-1], **swapped)


def exchange_changes_nothing(implementation, triple, **options):
    origin, a, b = triple
    one = implementation.symmetric(origin, a, b, **options)
    assert exchanged(one) == implementation.symmetric(origin, b, a, **options)


def identity_and_doing_nothing(implementation, triple, **options):
    origin, a, _ = triple
    alike = implementation.symmetric(origin, a, a, **options)
    assert (alike.word, alike.exact, alike.anchored, alike.anywhere) == ("same", 1, 1, 1)
    if (streams.normalise(origin) if isinstance(origin, str) else origin) == (
        streams.normalise(a) if isinstance(a, str) else a
    ):
        return
    for x, y in ((a, origin), (origin, a)):
        idle = implementation.symmetric(origin, x, y, **options)
        assert (idle.word, idle.exact, idle.anchored, idle.anywhere) == ("different", 0, 0, 0)


@LANGUAGE
@given(triple=triples.TEXT_TRIPLES)
@examples(150)
def test_only_equal_revisions_are_called_the_same(placed_implementation, language, triple):
    """By guard 1 or 4; never because all that is counted agrees."""
    options = {"language": language, "place": "anchored"}
    found = placed_implementation.symmetric(*triple, **options)
    origin, a, b = (oracle.document(text, language) for text in triple)
    equal = a.raw == b.raw or a.tokens == b.tokens != origin.tokens
    assert (found.word == "same") == equal


def test_the_same_edits_in_another_order_are_not_called_the_same(placed_implementation):
    """All n-grams agree, at one place (a region of A and one of B exchange two insertions)."""
    origin, a, b = "abcd", "aXbYcd", "aYbXcd"
    found = placed_implementation.symmetric(*map(list, (origin, a, b)), place="anchored")
    assert found.anchored == 1
    assert found.contained == (1, 1)
    assert found.word == "contains"


@given(triple=triples.TOKEN_TRIPLES)
@examples(150)
def test_the_counts_of_all_places_sum_to_the_whole(triple):
    verdict = oracle.similarity(*triple)
    for operation in ("add", "delete"):
        for n in counts.ORDERS:
            alone = [
                counts.count_placed(
                    operation, [verdict.regions[i] for i in place], [tuple(range(len(place)))], n
                )
                for place in verdict.places
            ]
            whole = verdict.placed[operation][n - 1]
            assert whole.here == sum(place.here for place in alone)
            assert whole.by_a == sum(place.by_a for place in alone)
            assert whole.by_b == sum(place.by_b for place in alone)
            assert whole.here <= whole.anywhere <= min(whole.by_a, whole.by_b)


@given(triple=triples.TEXT_TRIPLES)
@examples(150)
def test_slides_move_equal_lines_only(triple):
    """A slid alignment is one of the same length, of equal tokens, and nothing moved up."""
    origin, *revisions = (oracle.document(text, "python") for text in triple)
    for revision in revisions:
        before = regions.align(origin, revision, "nested")
        after = regions.align_slid(origin, revision, "nested")
        assert len(before) == len(after)
        assert all(origin.tokens[o] == revision.tokens[a] for o, a in after)
        for (o, a), (o_next, a_next) in pairwise(after):
            assert o < o_next
            assert a < a_next
        assert all(
            o_slid <= o and a_slid <= a
            for (o, a), (o_slid, a_slid) in zip(before, after, strict=True)
        )


@FORM
@given(triple=triples.TOKEN_TRIPLES, shared=TOKENS)
@examples(150)
def test_a_shared_prefix_changes_nothing(placed_implementation, form, triple, shared):
    measure = getattr(placed_implementation, form)
    longer = measure(*[shared + tokens for tokens in triple], place="anchored")
    assert replace(longer, spans=()) == replace(measure(*triple, place="anchored"), spans=())


def ends_kept(origin, revision):
    """Tell whether the slid alignment matches the last tokens."""
    pairs = regions.align_slid(streams.given(origin), streams.given(revision), "nested")
    return pairs[-1:] == [(len(origin) - 1, len(revision) - 1)]


@FORM
@given(triple=triples.TOKEN_TRIPLES, shared=TOKENS)
@examples(150)
def test_a_shared_suffix_changes_nothing(placed_implementation, form, triple, shared):
    """Unless a run stands at the end, where it can slide into the suffix."""
    origin, a, b = triple
    assume(ends_kept(origin, a))
    assume(ends_kept(origin, b))
    measure = getattr(placed_implementation, form)
    longer = measure(*[tokens + shared for tokens in triple], place="anchored")
    assert longer == measure(*triple, place="anchored")


@pytest.mark.parametrize("granularity", ["token", "nested"])
@given(triple=triples.SEEDS.map(disjoint_edits))
@examples(60)
def test_edits_of_disjoint_lines_score_0(placed_implementation, granularity, triple):
    for form in (placed_implementation.directed, placed_implementation.symmetric):
        found = form(*triple, granularity=granularity, place="anchored")
        assert (found.exact, found.anywhere, found.word) == (0, 0, "different")


@pytest.mark.slow
@FORM
def test_property_4_more_matching_edits_are_more_similar(placed_implementation, form):
    """As `test_score_laws` has it for pooled scores, with the same generator.

    Violated: .8 % directed, .6 % symmetric over 20 symbols (pooled: 1.4 %).
    """
    rng, names = Random(4), triples.alphabet(20)
    fell = drawn = 0
    measure = getattr(placed_implementation, form)
    while drawn < scaled(1000):
        if (pair := qualifying_triple(rng, names)) is not None:
            drawn += 1
            before, after = (measure(*triple, place="anchored").exact for triple in pair)
            fell += after < before
    assert fell <= 0.015 * drawn


def test_paper_alignment_has_no_places():
    with pytest.raises(ValueError, match="pooled only"):
        score.Options(lcs="paper", place="anchored")
