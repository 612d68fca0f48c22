"""The canonical alignment (section 2): laws for both implementations, the oracle as the judge."""

from functools import cache
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from tests.reference import triples
from tests.reference.budget import examples, scaled
from tests.reference.implementations import IMPLEMENTATIONS

pytestmark = pytest.mark.slow

ORACLE, CORE = IMPLEMENTATIONS["oracle"], IMPLEMENTATIONS["core"]
ALPHABETS = (2, 3, 5, 10, 30, 100, 1000)
GRANULARITY = pytest.mark.parametrize("granularity", ["token", "line", "nested"])
LANGUAGE = pytest.mark.parametrize("language", [None, "python"])
PAIRS = triples.TOKEN_TRIPLES.map(lambda triple: triple[:2])


def lcs_length(x, y):
    """By the recursion of the textbook, top down: nothing shared with the oracle's table."""

    @cache
    def length(i, j):
        if not i or not j:
            return 0
        if x[i - 1] == y[j - 1]:
            return length(i - 1, j - 1) + 1
        return max(length(i - 1, j), length(i, j - 1))

    return length(len(x), len(y))


def judge(origin, revision):
    """The library must return the oracle's pairs, bit for bit, in both directions."""
    for x, y in ((origin, revision), (revision, origin)):
        assert CORE.align(x, y) == ORACLE.align(x, y), (x, y)


@given(pair=PAIRS)
@examples(300)
def test_pairs_are_a_common_subsequence_and_a_longest(implementation, pair):
    origin, revision = pair
    pairs = implementation.align(origin, revision)
    assert all(origin[i] == revision[j] for i, j in pairs)
    assert all(i < k and j < m for (i, j), (k, m) in pairwise(pairs))
    assert len(pairs) == lcs_length(tuple(origin), tuple(revision))


@given(pair=PAIRS)
@examples(200)
def test_other_names_for_the_tokens_change_nothing(implementation, pair):
    origin, revision = pair
    names = {token: -i for i, token in enumerate(sorted({*origin, *revision}, reverse=True))}
    renamed = [[names[token] for token in tokens] for tokens in pair]
    assert implementation.align(*renamed) == implementation.align(origin, revision)


@given(pair=PAIRS, shared=triples.TOKEN_TRIPLES.map(lambda triple: triple[0]))
@examples(200)
def test_a_shared_prefix_is_matched_first(implementation, pair, shared):
    origin, revision = pair
    pairs = implementation.align(shared + origin, shared + revision)
    size = len(shared)
    moved = [(size + i, size + j) for i, j in implementation.align(origin, revision)]
    assert pairs == [(i, i) for i in range(size)] + moved


@pytest.mark.parametrize(
    ("origin", "revision", "pairs"),
    [
        ("", "", []),
        ("a", "", []),
        ("", "a", []),
        ("aa", "a", [(0, 0)]),  # the prefix is stripped first
        ("ba", "aba", [(0, 1), (1, 2)]),  # then the suffix
        ("xaay", "zaw", [(1, 1)]),  # the walk drops the last token of the origin first
        ("xay", "zaaw", [(1, 1)]),  # and of the revision second
        ("xaby", "zbaw", [(1, 2)]),  # dropping from the origin goes before dropping from A
    ],
)
def test_choices_worked_out_by_hand(implementation, origin, revision, pairs):
    assert implementation.align(list(origin), list(revision)) == pairs


MOVED = ("a p q r s\nk\nb\n", "b\nk\np q r s\n")
QUOTED = ("'''\nx = 1\n'''\n", "x = 1\n")


@pytest.mark.parametrize(
    ("texts", "language", "granularity", "pairs"),
    [
        (MOVED, None, "token", [(1, 2), (2, 3), (3, 4), (4, 5)]),
        (MOVED, None, "line", [(1, 1)]),
        (MOVED, None, "nested", [(5, 1)]),  # nothing matches across the matched line k
        (("a\n\n\nb\n", "a\n \nb\n"), None, "line", [(0, 0), (1, 1)]),  # blank: not aligned
        (("a b\n\nc d\n", "a x\n\ny d\n"), None, "nested", [(0, 0), (3, 3)]),
        (("a\nb\n", "b a\n"), None, "nested", [(0, 1)]),  # the last of the origin goes first
        (QUOTED, "python", "line", [(1, 0)]),
        (QUOTED, "python", "nested", []),  # the key is the same, the tokens are not
    ],
)
def test_texts_worked_out_by_hand(implementation, texts, language, granularity, pairs):
    options = {"language": language, "granularity": granularity}
    assert implementation.align(*texts, **options) == pairs


def unrelated(rng, names):
    """Up to 60 tokens each."""
    longest = rng.choice((4, 12, 30, 60))
    return triples.sequence(rng, names, longest), triples.sequence(rng, names, longest)


def near(rng, names):
    """Up to 60 tokens, and an edited copy."""
    origin = triples.sequence(rng, names, 60)
    return origin, triples.near_copy(rng, origin, names, rng.randint(0, 5))


def long_and_near(rng, names):
    """Up to 400 tokens, and an edited copy."""
    origin = [rng.choice(names) for _ in range(rng.randint(150, 400))]
    return origin, triples.near_copy(rng, origin, names, rng.randint(1, 6))


def few_and_many(rng, names):
    return triples.sequence(rng, names, 5), triples.sequence(rng, names, 300)


def around_the_machine_word(rng, names):
    """Where rows of bits fill a word, or nearly."""
    size = rng.choice((63, 64, 65, 127, 128, 129, 193))
    origin = [rng.choice(names) for _ in range(size)]
    return origin, [rng.choice(names) for _ in range(rng.randint(size - 3, size + 3))]


@pytest.mark.parametrize("symbols", ALPHABETS)
@pytest.mark.parametrize(
    ("draw", "count"),
    [(unrelated, 1200), (near, 300), (long_and_near, 10), (few_and_many, 30),
     (around_the_machine_word, 15)],
)  # fmt: skip
def test_the_oracle_judges_sequences(draw, count, symbols):
    """So many pairs of each kind and alphabet, bit for bit, in both directions."""
    names, rng = triples.alphabet(symbols), Random(symbols)
    for _ in range(scaled(count)):
        judge(*draw(rng, names))


@given(pair=PAIRS)
@examples(300)
def test_the_oracle_judges_and_hypothesis_shrinks(pair):
    judge(*pair)


@GRANULARITY
@LANGUAGE
@given(triple=triples.TEXT_TRIPLES)
@examples(150)
def test_the_oracle_judges_texts(granularity, language, triple):
    """3 granularities x 2 tokenisers x 150 texts x 2 revisions."""
    origin, *revisions = triple
    for revision in revisions:
        options = {"granularity": granularity, "language": language}
        assert CORE.align(origin, revision, **options) == ORACLE.align(origin, revision, **options)


@given(pair=PAIRS)
@examples(200)
def test_edits_are_the_maximal_runs_without_a_pair(pair):
    import excise

    origin, revision = pair
    found = excise.align(origin, revision)
    assert (found.n_origin, found.n_revision) == (len(origin), len(revision))
    columns = [(-1, -1), *found.pairs, (len(origin), len(revision))]
    gaps = [
        (o + 1, next_o, a + 1, next_a)
        for (o, a), (next_o, next_a) in pairwise(columns)
        if (o + 1, a + 1) != (next_o, next_a)
    ]
    assert [(e.o_lo, e.o_hi, e.a_lo, e.a_hi) for e in found.edits] == gaps
