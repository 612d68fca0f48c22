"""What must hold of every score (sections 4a, 6a and 7): laws for the oracle and the library."""

from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import assume, given
from tests.reference import counts, oracle, regions, score, streams, triples
from tests.reference.budget import examples, scaled
from tests.reference.implementations import IMPLEMENTATIONS

ORACLE = IMPLEMENTATIONS["oracle"]
GRANULARITY = pytest.mark.parametrize("granularity", ["token", "line", "nested"])
LANGUAGE = pytest.mark.parametrize("language", [None, "python"])
FORM = pytest.mark.parametrize("form", ["directed", "symmetric"])
CHOICE = pytest.mark.parametrize(
    "choice",
    [
        {"lcs": "star", "place": "pooled"},
        {"lcs": "paper", "place": "pooled"},
        {"lcs": "star", "place": "anchored"},
    ],
    ids=["pooled", "paper", "anchored"],
)
TOKENS = triples.TOKEN_TRIPLES.map(lambda triple: triple[0])
ROWS = ("regions", "spans")


@CHOICE
@GRANULARITY
@given(triple=triples.TOKEN_TRIPLES)
@examples(100)
def test_laws_on_sequences(implementation, choice, granularity, triple):
    all_laws(implementation, triple, granularity=granularity, **choice)


@CHOICE
@GRANULARITY
@LANGUAGE
@given(triple=triples.TEXT_TRIPLES)
@examples(30)
def test_laws_on_texts(implementation, choice, granularity, language, triple):
    all_laws(implementation, triple, granularity=granularity, language=language, **choice)


@GRANULARITY
@given(triple=triples.TOKEN_TRIPLES, rng=triples.SEEDS)
@examples(60)
def test_laws_on_sequences_with_lines(implementation, granularity, triple, rng):
    lines = tuple(triples.line_numbers(rng, len(tokens)) for tokens in triple)
    options = {"granularity": granularity, "place": "anchored"}
    anchored_value_and_anywhere(implementation, triple, lines=lines, **options)
    origin, a, b = triple
    one = implementation.symmetric(origin, a, b, lines=lines, **options)
    other = implementation.symmetric(origin, b, a, lines=(lines[0], lines[2], lines[1]), **options)
    assert exchanged(one) == other


def all_laws(implementation, triple, **options):
    bounds_hold(implementation, triple, **options)
    origin, a, b = triple
    one, other = (implementation.symmetric(origin, *pair, **options) for pair in ((a, b), (b, a)))
    assert one.value.hex() == other.value.hex()
    assert exchanged(one) == other
    if options["place"] == "anchored":
        anchored_value_and_anywhere(implementation, triple, **options)


def bounds_hold(implementation, triple, **options):
    """In [0, 1]; 1 for a revision and itself; 0 beside the origin, whichever comes first."""
    origin, a, b = triple
    is_placed = options["place"] == "anchored"
    for form in (implementation.directed, implementation.symmetric):
        assert 0 <= form(origin, a, b, **options).exact <= 1
        idle = [] if same_document(origin, a) else [(a, origin), (origin, a)]
        said = [("overlaps", 1, (a, a)), *(("different", 0, pair) for pair in idle)]
        for word, exact, pair in said:
            found = form(origin, *pair, **options)
            assert found.exact == exact
            if is_placed:
                assert (found.word, found.anchored, found.anywhere) == (word, exact, exact)


def same_document(x, y):
    return streams.normalise(x) == streams.normalise(y) if isinstance(x, str) else x == y


def anchored_value_and_anywhere(implementation, triple, **options):
    """Both forms are linear in what counts as common."""
    for form in (implementation.directed, implementation.symmetric):
        found = form(*triple, **options)
        assert 0 <= found.anchored <= found.exact <= found.anywhere <= 1
        assert found.value == float(found.exact)
        assert all(0 <= share <= 1 for share in found.contained)
        assert sorted(number for place in found.places for number in place) == list(
            range(len(found.regions))
        )
        assert found.exact == (3 * found.anchored + found.anywhere) / 4


def exchanged(found):
    """The outcome of a triple, said of the triple with A and B exchanged."""
    swapped = {name: tuple((o, b, a) for o, a, b in getattr(found, name)) for name in ROWS}
    swapped["counts"] = tuple(
        tuple((both, b, a) for both, a, b in of_orders) for of_orders in found.counts
    )
    contained = found.contained and found.contained[::-1]
    return replace(found, contained=contained, **swapped)


@LANGUAGE
@given(triple=triples.TEXT_TRIPLES)
@examples(150)
def test_texts_are_never_called_the_same(implementation, language, triple):
    """Neither by a guard nor because all that is counted agrees: a level says it, or nobody."""
    options = {"language": language, "place": "anchored"}
    found = implementation.symmetric(*triple, **options)
    origin, a, b = (oracle.document(text, language) for text in triple)
    assert found.word in ("overlaps", "different")
    if a.raw == b.raw or a.tokens == b.tokens != origin.tokens:
        assert found.word == "overlaps"


def test_the_same_edits_in_another_order_are_not_called_the_same(implementation):
    """All n-grams agree, at one place (a region of A and one of B exchange two insertions)."""
    origin, a, b = "abcd", "aXbYcd", "aYbXcd"
    found = implementation.symmetric(*map(list, (origin, a, b)), place="anchored")
    assert found.anchored == 1
    assert found.contained == (1, 1)
    assert found.word == "overlaps"


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
@CHOICE
@given(triple=triples.TOKEN_TRIPLES, shared=TOKENS)
@examples(150)
def test_a_shared_prefix_changes_nothing(implementation, form, choice, triple, shared):
    measure = getattr(implementation, form)
    longer = measure(*[shared + tokens for tokens in triple], **choice)
    assert replace(longer, spans=()) == replace(measure(*triple, **choice), spans=())


def one_starts_the_other(x, y):
    return x[: len(y)] == y or y[: len(x)] == x


def ends_kept(origin, revision):
    """Tell whether the slid alignment matches the last tokens."""
    pairs = regions.align_slid(streams.given(origin), streams.given(revision), "nested")
    return pairs[-1:] == [(len(origin) - 1, len(revision) - 1)]


@pytest.mark.slow
@FORM
@CHOICE
@given(triple=triples.TOKEN_TRIPLES, shared=TOKENS)
@examples(200)
def test_a_shared_suffix_changes_nothing(implementation, form, choice, triple, shared):
    """Unless the origin is a prefix of a revision, or a revision of the origin.

    The third LCS of ``paper`` has the same exception for what A and B keep of the origin; with
    places, no run may stand at the end, where it can slide into the suffix.
    """
    origin, a, b = triple
    if choice["place"] == "anchored":
        assume(ends_kept(origin, a))
        assume(ends_kept(origin, b))
    else:
        assume(not one_starts_the_other(origin, a))
        assume(not one_starts_the_other(origin, b))
    if choice["lcs"] == "paper":
        kept = ([origin[i] for i, _ in ORACLE.align(origin, revision)] for revision in (a, b))
        assume(not one_starts_the_other(*kept))
    measure = getattr(implementation, form)
    assert measure(*[tokens + shared for tokens in triple], **choice) == measure(*triple, **choice)


def edit_distance(x, y):
    row = list(range(len(y) + 1))
    for i, token in enumerate(x):
        above, row = row, [i + 1]
        for j, other in enumerate(y):
            row.append(min(above[j] + (token != other), above[j + 1] + 1, row[j] + 1))
    return row[-1]


def qualifying_triple(rng, names):
    """Draw a triple and the same one further on along Property 4; None if it does not qualify."""
    origin = triples.sequence(rng, names, 30)
    a, b = (triples.near_copy(rng, origin, names, rng.randint(1, 3)) for _ in range(2))
    conserved = regions.conserved(
        *map(streams.given, (origin, a, b)), granularity="token", lcs="star", symmetric=False
    )
    if a == b or not conserved:
        return None
    further = list(origin)
    further[rng.choice(conserved)[0]] = "fresh"
    before = {edit_distance(origin, a), edit_distance(origin, b)}
    after = {edit_distance(further, a), edit_distance(further, b)}
    if len(before) > 1 or len(after) > 1 or not min(before) < min(after):
        return None
    return (origin, a, b), (further, a, b)


@pytest.mark.slow
@FORM
@pytest.mark.parametrize(("place", "most"), [("pooled", 0.02), ("anchored", 0.015)])
def test_property_4_more_matching_edits_are_more_similar(implementation, form, place, most):
    """The further the origin is from both revisions, the more edits they share.

    A qualifying triple: an origin of up to 30 tokens over 20 symbols; A and B two copies of it,
    each after one to three random edits; A differs from B. One conserved token of the origin
    (kept by A and by B) becomes a fresh symbol; ED(O, A) = ED(O, B) before and after, and larger
    after, as the paper asks. Then the score must not fall. It does in 1.3 %: most
    often where the new column touches a divergent region (about half of these) or the change moves
    the alignment elsewhere (about four in ten). The fewer symbols the more often (5 % over 3, 1.3 %
    over 12, 0.2 % over 100): their number is part of this law. With places it falls in .8 %
    directed, .6 % symmetric over 20 symbols.
    """
    rng, names = Random(4), triples.alphabet(20)
    fell = drawn = 0
    measure = getattr(implementation, form)
    while drawn < scaled(500):
        if (pair := qualifying_triple(rng, names)) is not None:
            drawn += 1
            before, after = (measure(*triple, place=place).exact for triple in pair)
            fell += after < before
    assert fell <= most * drawn


def words_of(lines):
    """A text of lines that share no word."""
    return [[f"w{i}x{j}" for j in range(size)] for i, size in enumerate(lines)]


def edit_line(rng, words, side, number):
    """Edit one line with words that nothing else has; also returns lines to stand behind it."""
    fresh = [f"{side}{number}y{j}" for j in range(rng.randint(1, 3))]
    kind = rng.choice(("delete", "replace", "insert", "word", "behind"))
    at = rng.randrange(len(words))
    return {
        "delete": [],
        "replace": [fresh],
        "insert": [[*words[:at], *fresh, *words[at:]]],
        "word": [[*words[:at], fresh[0], *words[at + 1 :]]],
        "behind": [words, fresh],
    }[kind]


def disjoint_edits(rng):
    """O, A and B: A and B each edit a run of lines, with an untouched line between the runs."""
    lines = words_of(rng.randint(1, 4) for _ in range(rng.randint(5, 9)))
    cut = rng.randint(1, len(lines) - 2)
    sides = {"a": range(cut), "b": range(cut + 1, len(lines))}
    revisions = []
    for side, run in sides.items():
        edited = set(rng.sample(run, rng.randint(1, len(run))))
        revisions.append(
            [
                words
                for i, line in enumerate(lines)
                for words in (edit_line(rng, line, side, i) if i in edited else [line])
            ]
        )
    rng.shuffle(revisions)
    return ["".join(" ".join(words) + "\n" for words in some) for some in (lines, *revisions)]


@pytest.mark.parametrize("granularity", ["token", "nested"])
@CHOICE
@given(triple=triples.SEEDS.map(disjoint_edits))
@examples(80)
def test_edits_of_disjoint_lines_score_0(implementation, granularity, choice, triple):
    """Every word stands once and every new word is new: none of the exceptions can apply."""
    for form in (implementation.directed, implementation.symmetric):
        found = form(*triple, granularity=granularity, **choice)
        assert found.exact == 0
        if choice["place"] == "anchored":
            assert (found.anywhere, found.word) == (0, "different")


def disjoint_statements(rng):
    """The same as python statements; only names change, so that the rest parses alike."""
    names = words_of(3 for _ in range(rng.randint(3, 8)))
    cut = rng.randint(1, len(names) - 1)
    revisions = [[list(line) for line in names] for _ in range(2)]
    for lines, run in zip(revisions, (range(cut), range(cut, len(names))), strict=True):
        for number in rng.sample(run, rng.randint(1, len(run))):
            lines[number][rng.randrange(3)] += "new"
    rng.shuffle(revisions)
    return [
        "if x:\n" + "".join("    {} = {}({})\n".format(*line) for line in some)
        for some in (names, *revisions)
    ]


@pytest.mark.parametrize("granularity", ["token", "nested"])
@LANGUAGE
@given(triple=triples.SEEDS.map(disjoint_statements))
@examples(60)
def test_new_names_on_disjoint_lines_score_0(implementation, granularity, language, triple):
    for form in (implementation.directed, implementation.symmetric):
        assert form(*triple, granularity=granularity, language=language).exact == 0


def indented(text, lines):
    rows = text.split("\n")
    return "\n".join(f"  {row}" if i in lines else row for i, row in enumerate(rows))


@GRANULARITY
@pytest.mark.parametrize("language", [None, "javascript"])
@given(rng=triples.SEEDS)
@examples(60)
def test_unrelated_reindentations_score_0(implementation, granularity, language, rng):
    """Two revisions indent disjoint lines of a text whose lines all differ."""
    size = rng.randint(3, 9)
    origin = "".join(f"w{i}(x{i});\n" for i in range(size))
    cut = rng.randint(1, size - 2)
    a = indented(origin, set(rng.sample(range(cut), rng.randint(1, cut))))
    b = indented(origin, set(rng.sample(range(cut + 1, size), rng.randint(1, size - cut - 1))))
    found = implementation.symmetric(origin, a, b, granularity=granularity, language=language)
    assert found.whitespace_only
    assert found.exact == 0


@GRANULARITY
@given(triple=triples.TOKEN_TRIPLES, rng=triples.SEEDS)
@examples(60)
def test_equal_tokens_over_other_line_breaks_score_1(implementation, granularity, triple, rng):
    """Guard 4, where the two revisions change a token and break their lines as they like."""
    origin, a, _ = triple
    assume(origin != a)
    one, other = ("".join(token + rng.choice((" ", "\n", "\n\n  ")) for token in a) for _ in "12")
    for form in (implementation.directed, implementation.symmetric):
        assert form("\n".join(origin), one, other, granularity=granularity).exact == 1


def test_paper_alignment_has_no_places():
    with pytest.raises(ValueError, match="pooled only"):
        score.Options(lcs="paper", place="anchored")
