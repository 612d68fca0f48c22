"""Hunks: the exact texts compose, and every divergent region lies in one of them."""

from itertools import combinations, pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import hunks as oracle
from tests.reference import oracle as documents
from tests.reference.budget import examples
from tests.reference.triples import SEEDS, text_triple

import excise
from excise.hunk_pairs import count_scores
from excise.signature import GRANULARITIES
from excise.text import Text, normalise

# Few different lines, so that duplicates, blank lines and white space only matter often; form
# feed, NEL and U+2028 end no line; the last line often has no end.
LINE = st.sampled_from(["a", "b", "  a", "b  ", "", " ", "c\x0cd", "e\u2028f", "x\u0085", "😋"])
END = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])
TEXT = st.builds(
    lambda lines, last: "".join(line + end for line, end in lines) + last,
    st.lists(st.tuples(LINE, END), max_size=8),
    st.sampled_from(["", "", "a", "z"]),
)
WILD = st.tuples(TEXT, TEXT, TEXT, TEXT)


def four(rng: Random) -> tuple[str, str, str, str]:
    """Draw an origin and three revisions of it, Python now and then."""
    origin, a, b = text_triple(rng)
    return origin, a, b, rng.choice((a.replace("a", "b", 1), b.replace("\n", " \n", 2), origin))


TEXTS = st.one_of(WILD, SEEDS.map(four))
GRANULARITY = st.sampled_from(GRANULARITIES)
LANGUAGE = st.sampled_from([None, "python"])
COMMENTS = st.sampled_from(["keep", "keep", "drop"])
PLACE = st.sampled_from(["anchored", "anchored", "pooled"])
CHOICES = st.fixed_dictionaries(
    {"granularity": GRANULARITY, "language": LANGUAGE, "comments": COMMENTS, "place": PLACE}
)


def variant_of(hunk: excise.Hunk, index: int) -> str:
    return next(v.text for v in hunk.variants if index in v.members)


@given(TEXTS, CHOICES)
@examples(300)
def test_all_variants_of_a_revision_give_exactly_its_text(texts, choices):
    origin, *revisions = texts
    hunks = excise.ScoreMatrix.from_texts(origin, revisions, **choices).hunks()
    for index, text in enumerate(revisions):
        every = {at: variant_of(hunk, index) for at, hunk in enumerate(hunks)}
        assert hunks.apply(every) == normalise(text)
        for hunk in hunks:
            assert Text.of(text).between(*hunk.spans[index]) == variant_of(hunk, index)
    assert hunks.apply({}) == normalise(origin)
    assert hunks.apply({at: hunk.text for at, hunk in enumerate(hunks)}) == normalise(origin)


@given(TEXTS, CHOICES, st.lists(st.integers(0, 2), min_size=12, max_size=12))
@examples(200)
def test_variants_of_different_revisions_compose(texts, choices, picks):
    """What is taken of each stands side by side, exactly as in its revision."""
    origin, *revisions = texts
    hunks = excise.ScoreMatrix.from_texts(origin, revisions, **choices).hunks()
    chosen = {
        at: variant_of(hunk, pick)
        for at, (hunk, pick) in enumerate(zip(hunks, picks, strict=False))
    }
    own = Text.of(origin)
    expected, line = [], 0
    for at, hunk in enumerate(hunks):
        expected += [own.between(line, hunk.lo), chosen.get(at, hunk.text)]
        line = hunk.hi
    assert hunks.apply(chosen) == "".join([*expected, own.between(line, len(own.lines))])


@given(TEXTS, CHOICES)
@examples(300)
def test_every_region_lies_in_one_hunk(texts, choices):
    """Its tokens stand on the lines of the hunk, in the origin and in both revisions."""
    origin, *revisions = texts
    matrix = excise.ScoreMatrix.from_texts(origin, revisions, **choices)
    hunks = matrix.hunks()
    if choices["comments"] == "drop":
        return  # the library names the lines of the text that is left: the next test
    for i, j in combinations(range(len(revisions)), 2):
        score = matrix.pair(i, j)
        for outline, region in zip(score.outlines, score.regions, strict=True):
            home = hunks[hunks.home(score, outline)]
            spans = (home.lo, home.hi), home.spans[i], home.spans[j]
            for segment, (start, stop) in zip(
                (region.origin, region.a, region.b), spans, strict=True
            ):
                if segment.tokens:
                    assert start <= segment.lines[0] < segment.lines[1] <= stop


@given(TEXTS, CHOICES)
@examples(200)
def test_the_counts_of_the_hunks_sum_up_to_no_less_than_the_pair(texts, choices):
    origin, *revisions = texts
    matrix = excise.ScoreMatrix.from_texts(origin, revisions, **choices)
    hunks = matrix.hunks()
    for i, j in combinations(range(len(revisions)), 2):
        score = matrix.pair(i, j)
        found = list(hunks.counts(score))
        assert [each.hunk for each in found] == sorted({each.hunk for each in found})
        assert sum(each.share for each in found) == pytest.approx(1.0 if score.outlines else 0.0)
        # What moves between two hunks of one place cancels in the place, and in neither hunk.
        alone = len(score.places) == len(score.outlines)
        for operation in ("keep", "add", "delete"):
            for order in range(4):
                whole = getattr(score.counts, operation)[order]
                parts = [getattr(each.counts, operation)[order] for each in found]
                for side in ("a", "b"):
                    total = sum(getattr(part, side) for part in parts)
                    assert total >= getattr(whole, side)
                    if operation == "keep" or alone:
                        assert total == getattr(whole, side)


@given(TEXTS, CHOICES, st.sampled_from([[0, 1, 2], [2, 0, 1], [2, 1], [1], []]))
@examples(300)
def test_all_pairs_at_once_are_what_each_pair_is_alone(texts, choices, order):
    """The kernel against the plain way over `ScoreMatrix.pair` and `Hunks.counts`, bit for bit."""
    origin, *revisions = texts
    matrix = excise.ScoreMatrix.from_texts(origin, revisions, **choices)
    hunks = matrix.hunks(sorted(order))
    found = matrix.in_hunks(hunks, order)
    scores = [
        ((first, second), matrix.pair(order[first], order[second]))
        for first, second in combinations(range(len(order)), 2)
    ]
    alone = count_scores(hunks, order, scores)
    assert found.entries.tolist() == alone.entries.tolist()
    assert (found.order, found.bounds) == (alone.order, alone.bounds)


def test_all_pairs_of_the_paper_alignment_are_counted_one_by_one():
    matrix = excise.ScoreMatrix.from_texts("a\nk\nb\n", ["a\nk\nc\n", "d\nk\nb\n"], lcs="paper")
    assert len(matrix.in_hunks(matrix.hunks()).entries) == 2


def test_a_text_that_no_parser_gets_shares_no_reading_with_the_others():
    """Pairs with it are lexical, the others are not: each is found in the hunks of all."""
    origin = "def f(a):\n    return a\n" * 2
    texts = [origin.replace("return", word, 1) for word in ("yield", "print")]
    texts.append(origin + "# " + "x" * 1_000_000)
    matrix = excise.ScoreMatrix.from_texts(origin, texts, language="python")
    hunks = matrix.hunks()
    pairs = list(combinations(range(3), 2))
    alone = count_scores(hunks, range(3), ((pair, matrix.pair(*pair)) for pair in pairs))
    found = matrix.in_hunks(hunks)
    assert found.entries.tolist() == alone.entries.tolist()
    assert len(set(found.entries["hunk"].tolist())) == len(hunks) == 2


def test_counting_pairs_in_hunks_stops_when_it_is_told_to():
    matrix = excise.ScoreMatrix.from_texts("a\nk\nb\n", ["a\nk\nc\n", "d\nk\nb\n"])
    cancel = excise.CancelFlag()
    cancel.cancel()
    with pytest.raises(excise.Cancelled):
        matrix.in_hunks(matrix.hunks(), cancel=cancel)
    assert len(matrix.in_hunks(matrix.hunks(), cancel=excise.CancelFlag(0)).entries) == 2


@given(TEXTS, CHOICES)
@examples(200)
def test_between_hunks_stands_a_line_that_all_keep(texts, choices):
    origin, *revisions = texts
    hunks = excise.ScoreMatrix.from_texts(origin, revisions, **choices).hunks()
    lines = Text.of(origin).lines
    for hunk, after in pairwise(hunks):
        assert hunk.hi < after.lo
    for hunk in hunks:
        assert sorted(i for v in hunk.variants for i in v.members) == [0, 1, 2]
        for text, (start, stop) in zip(revisions, hunk.spans, strict=True):
            own = Text.of(text).lines
            assert hunk.lo == start == 0 or own[start - 1] == lines[hunk.lo - 1]
            assert (hunk.hi, stop) == (len(lines), len(own)) or own[stop] == lines[hunk.hi]


@given(TEXTS, GRANULARITY, LANGUAGE)
@examples(300)
def test_the_library_and_the_oracle_agree(texts, granularity, language):
    """Where no pair is compared by raw lines, which are one more reading."""
    matrix = excise.ScoreMatrix.from_texts(
        texts[0], texts[1:], granularity=granularity, language=language
    )
    if matrix._standings.by_lines.any():
        return
    origin, *revisions = (documents.document(text, language) for text in texts)
    expected = oracle.hunks(origin, revisions, granularity)
    found = [oracle.Hunk((hunk.lo, hunk.hi), hunk.spans) for hunk in matrix.hunks()]
    assert found == expected


def test_some_of_the_revisions_have_hunks_of_their_own():
    matrix = excise.ScoreMatrix.from_texts("a\nb\nc\n", ["A\nb\nc\n", "a\nb\nC\n", "a\nb\nD\n"])
    (hunk,) = matrix.hunks([1, 2])
    assert (hunk.lo, hunk.hi, hunk.text) == (2, 3, "c\n")
    assert [(v.members, v.text) for v in hunk.variants] == [((1,), "C\n"), ((2,), "D\n")]


def test_variants_are_grouped_most_frequent_first():
    texts = ["a\nB\nc\n", "a\nb\nc\n", "a\nB\nc\n"]
    (hunk,) = excise.ScoreMatrix.from_texts("a\nb\nc\n", texts).hunks()
    assert [(v.members, v.text) for v in hunk.variants] == [((0, 2), "B\n"), ((1,), "b\n")]
    assert (hunk.lo, hunk.hi, hunk.agree, hunk.unchanged) == (1, 2, 2, 1)


def test_a_comment_alone_is_a_hunk_without_regions_where_comments_are_dropped():
    origin = "# a\nx = 1\n\n# b\ny = 2\n"
    texts = [origin.replace("# b", "# c"), origin.replace("y = 2", "y = 3")]
    matrix = excise.ScoreMatrix.from_texts(origin, texts, language="python", comments="drop")
    (hunk,) = matrix.hunks()
    assert (hunk.lo, hunk.hi) == (3, 5)
    assert [v.text for v in hunk.variants] == ["# c\ny = 2\n", "# b\ny = 3\n"]


def test_ready_made_sequences_have_no_hunks():
    with pytest.raises(excise.OptionError, match="no lines of text"):
        excise.ScoreMatrix.from_texts(list("abc"), [list("ab")]).hunks()
