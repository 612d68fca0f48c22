"""Values that others published, or that a few lines by hand give: each says where it is from."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from excise.evaluation import MeasureUnavailableError, Resources, measure
from excise.evaluation.bags import TRIVIAL, trivial_ngrams
from excise.evaluation.gleu import corpus_gleu
from excise.evaluation.maxmatch import Correction, Matched, corrections, max_match
from excise.evaluation.message_bleu import CC_HIGH, tokens_bleu
from excise.evaluation.word_mover import read_vectors

pytestmark = pytest.mark.slow

ORIGIN = "About 95 species are currently accepted ."
REFERENCES = (
    "About 95 species are currently known .",
    "About 95 species are now accepted .",
    "95 species are now accepted .",
)


SHARED = "".join(f"line {at}\n" for at in range(50))
COPY = "one two three four"
NUMBERS = "one two three four five six seven eight"

VALUES = [
    # What SARI.py of cocoxu/simplification prints for the examples in it.
    ("sari", ORIGIN, REFERENCES, "About 95 you now get in .", 0.2682782411698074),
    ("sari", ORIGIN, REFERENCES, "About 95 species are now agreed .", 0.5889995423074248),
    ("sari", ORIGIN, REFERENCES, "About 95 species are currently agreed .", 0.5071608864657479),
    # The tests of EditEval: src/tests/test_metrics.py. Equal texts: .8 = .9 - .1.
    ("ibleu", COPY, COPY, COPY, 0.8),
    # Snover et al. 2006, section 2: a shift of any run costs one edit; by hand: 2 of 8 words.
    ("ter", "", NUMBERS, "five six one two three nine four seven eight", 2 / 8),
    ("ter", "", NUMBERS, NUMBERS, 0),
    # The textbook's distance.
    ("ed", "", "sitting", "kitten", 3),
    ("nes", "", "sitting", "kitten", 1 - 3 / 7),
    # EditEval, appendix C: one of two changed lines shared, of at most four: by hand.
    ("em-diff", "a\nb\nc\n", "a\nB\nC\n", "a\nB\nc\n", 2 / 4),
    ("em-diff", "a\nb\nc\n", "a\nB\nC\n", "a\nB\nC\n", 1),
    ("em-diff", "a\nb\nc\n", "a\nB\nC\n", "a\nb\nc\n", 0),
    # The published code gives 0 where neither text changes anything: a copy of a copy is right.
    ("em-diff", "a\n", "a\n", "a\n", 1),
    # Equal diffs score 1 however much is shared; a diff against none scores 0.
    ("diffbleu", SHARED + "a b c d\n", SHARED + "a b x d\n", SHARED + "a b x d\n", 1),
    ("diffbleu", SHARED + "a b c d\n", SHARED + "a b x d\n", SHARED + "a b c d\n", 0),
    ("diffbleu", SHARED + "a b c d\n", SHARED + "a b c d\n", SHARED + "a b c d\n", 1),
    # Example 3 of the Excision Score paper: K R_A against K R_B leaves R_A and R_B; no deletions.
    ("sanslcs-bleu", "d k r", "k p", "k q", 0),
    ("sanslcs-bleu", "d k r", "k p", "k p", 1),
    ("sanslcs-bleu", "d k r", "k", "k", 1),
    # EditEval's update_rouge.py: a replaced sentence, reproduced: 1; no new ones at all: 1.
    ("update-rouge1", "An old text", "Nothing is left", "Nothing is left", 1),
    ("update-rouge2", "An old text", "Nothing is left", "Nothing is left", 1),
    ("update-rougeL", "An old text", "Nothing is left", "Nothing is left", 1),
    ("update-rouge1", "It rains.", "It rains.", "It rains.", 1),
    ("update-rouge1", "It rains.", "It rains. It snows.", "It rains.", 0),
    # By hand: of two new words each, one is shared.
    ("update-rouge1", "A.", "A. It snows.", "A. It pours.", 0.5),
    # By hand: {a a b .} and {a b b .} share a, b and the point, of five in their union.
    ("jaccard", "", "a a b.", "a b b.", 3 / 5),
    # By hand: a and b are in all three texts (idf 1), c and d in one (ln 2 + 1).
    ("tfidf", "a b", "a b c", "a b d", 2 / (2 + (math.log(2) + 1) ** 2)),
    # The canonical runs of the reference are the gold edits: one of two right, one too many.
    ("m2", "a b c d e", "a x c d y", "a x c z e", 0.5),
]


@pytest.mark.parametrize(("name", "origin", "references", "hypothesis", "expected"), VALUES)
def test_a_value_is_the_known_one(name, origin, references, hypothesis, expected):
    found = measure(name)(origin=origin, reference=references, hypothesis=hypothesis)
    assert found.value == pytest.approx(expected, abs=1e-12)


def test_sari_of_easse_is_the_value_in_the_tests_of_editeval():
    texts = {"origin": ORIGIN, "reference": REFERENCES, "hypothesis": "About 95 you now get in ."}
    assert measure("sari-easse")(**texts).value == pytest.approx(31.35, abs=0.005)


def test_gleu_of_a_corpus_is_the_value_in_the_tests_of_editeval():
    """src/tests/test_metrics.py of facebookresearch/EditEval: .168629, 500 rounds."""
    hypotheses = ["About 95 species are currently known .", "About 95 you now get in ."]
    found = corpus_gleu([ORIGIN] * 2, [list(REFERENCES)] * 2, hypotheses)
    assert found == pytest.approx(0.168629, abs=5e-7)


# The example in the README of nusnlp/m2scorer, which prints P .8, R .8, F0.5 .8 for the annotators
# that it chooses: 2 of 3 right, nothing to do, 2 of 2 right with one missed.
CORRECTED = [
    ("The cat sat at mat .", "A cat sat on the mat .", [(3, 4, "on"), (4, 4, "the")], (2, 3, 2)),
    ("The dog .", "The dog .", [(1, 2, "dogs")], (0, 0, 1)),
    ("The dog .", "The dog .", [], (0, 0, 0)),
    (
        "Giant otters is an apex predator .",
        "Giant otters are apex predator .",
        [(2, 3, "are"), (3, 4, ""), (5, 6, "predators")],
        (2, 2, 3),
    ),
    # A gold edit counts once, however often its words are inserted; by hand.
    ("a b", "a x x b", [(1, 1, "x"), (2, 2, "y")], (1, 2, 2)),
    # Two unchanged words may stand inside of an edit, three may not; by hand.
    ("a b c d", "x b c y", [(0, 4, "x b c y")], (1, 1, 1)),
    ("a b c d e", "x b c d y", [(0, 5, "x b c d y")], (0, 2, 1)),
]


@pytest.mark.parametrize(("origin", "hypothesis", "gold", "expected"), CORRECTED)
def test_maxmatch_reads_the_edits_as_its_authors_do(origin, hypothesis, gold, expected):
    edits = [Correction(start, stop, tuple(words.split())) for start, stop, words in gold]
    assert max_match(origin.split(), hypothesis.split(), edits) == Matched(*expected)


def test_maxmatch_finds_every_edit_of_the_reference_itself():
    origin, reference = list("abacbda"), list("babxcdab")
    gold = corrections(origin, reference)
    assert max_match(origin, reference, gold) == Matched(len(gold), len(gold), len(gold))


def test_crystalbleu_ignores_what_its_corpus_repeats():
    """By hand: without ( and ), one of two words and the pair f (, of four pairs, match."""
    corpus = ["f()\n" for _ in range(TRIVIAL)] + ["g\n"]
    trivial = trivial_ngrams(corpus)
    assert ("(", ")", "f") in trivial
    assert len(trivial) <= TRIVIAL
    world = Resources(trivial={("(",), (")",), ("(", ")")})
    found = measure("crystalbleu", world)(origin="", reference="f(x)", hypothesis="f(y)")
    assert found.value == 0  # no n-gram of the orders 3 and 4 is shared
    texts = {"origin": "", "reference": "a b c d e ( )", "hypothesis": "a b c d x ( )"}
    shares = (4 / 5, 3 / 5, 2 / 5, 1 / 4)
    expected = math.exp(sum(map(math.log, shares)) / 4)
    assert measure("crystalbleu", world)(**texts).value == pytest.approx(expected, abs=1e-12)
    plain = Resources(trivial=frozenset())
    assert measure("crystalbleu", plain)(**texts).value == pytest.approx(
        measure("bleu4")(origin="", reference="a b c d e ( )", hypothesis="a b c d x ( )").value
    )
    for reference, hypothesis, value in (
        ("()", "()", 1),
        ("()", ")(", 0),
        ("", "", 1),
        ("f", "", 0),
    ):
        texts = {"origin": "", "reference": reference, "hypothesis": hypothesis}
        assert measure("crystalbleu", world)(**texts).value == value


VECTORS = b"4 2\nobama 0 0\npresident 3 4\nspeaks 0 1\ngreets 0 3\n"


def test_the_word_movers_distance_is_the_least_of_all_ways():
    """By hand: obama to president costs 5 and speaks to greets 2, of half the mass each."""
    vectors = read_vectors(VECTORS.splitlines(keepends=True))
    distance = measure("wmd", Resources(vectors=vectors))
    texts = {"origin": "", "reference": "Obama speaks.", "hypothesis": "The president greets!"}
    assert distance(**texts).value == pytest.approx((5 + 2) / 2)
    assert distance(**texts | {"hypothesis": "speaks, Obama"}).value == 0
    # Half of obama is there already, the rest comes from speaks: 1 times 1/6, and so on.
    texts["hypothesis"] = "obama obama speaks"
    assert distance(**texts).value == pytest.approx(1 / 6)
    assert distance(origin="", reference="?", hypothesis="!").value == 0
    with pytest.raises(MeasureUnavailableError, match="no word of one of the texts has a vector"):
        distance(origin="", reference="obama", hypothesis="nobody")


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("a 1 2\nb 1\n", "line 2 has 1 numbers instead of 2"),
        ("2 3\na 1 2\n", "line 2 has 2 numbers instead of 3"),
        ("a 1 2\nb 1 x\n", "line 2 has something else"),
        ("a 1 nan\n", "line 1 has a number that is not finite"),
        ("a\n", "line 1 has no numbers"),
        ("", "no vectors"),
    ],
)
def test_vectors_that_are_none_are_named_by_line(lines, why):
    with pytest.raises(MeasureUnavailableError, match=why):
        read_vectors(lines.encode().splitlines(keepends=True))


def test_bleu_clips_and_averages_as_papineni_has_it():
    """Papineni et al. 2002, sections 2.1 and 2.3; by hand."""
    text, reference = "x y z w x v", "x y u w x v"
    # 5 of 6 words match, 3 of 5 pairs, 1 of 4 triples, none of 3 quadruples.
    assert tokens_bleu(text.split(), [reference.split()]) == 0.0
    smoothed = math.exp(sum(map(math.log, (5 / 6, 4 / 6, 2 / 5, 1 / 4))) / 4)
    found = tokens_bleu(text.split(), [reference.split()], smoothing="plus-one")
    assert found == pytest.approx(smoothed, abs=1e-12)
    # A repeated word matches as often as one reference has it: 2 of 4, then 1 of 3, ...
    shares = (2 / 4, (1 + 1) / 4, 1 / 3, 1 / 2)
    found = tokens_bleu(["x", "x", "x", "x"], [["x", "x"], ["x"]], smoothing="plus-one")
    assert found == pytest.approx(math.exp(sum(map(math.log, shares)) / 4), abs=1e-12)
    # Shorter than the reference: exp(1 - 4 / 2).
    found = tokens_bleu(["x", "y"], [["x", "y", "z", "w"]], smoothing="plus-one")
    assert found == pytest.approx(math.exp(1 - 4 / 2), abs=1e-12)


def test_bleu_cc_of_equal_texts_is_above_one():
    """Chen and Cherry 2014, method 5: (2 + 1 + 1) / 3 and so on, by hand."""
    words = ["a", "b", "c", "d", "e", "f"]
    found = tokens_bleu(words, [words], smoothing="neighbours")
    assert found == pytest.approx((4 / 3 * 10 / 9 * 28 / 27 * 82 / 81) ** 0.25, abs=1e-12)
    assert found == pytest.approx(CC_HIGH, abs=1e-12)


# Tao et al. 2021, human evaluation of 100 pairs: Pearson and Spearman with the mean rating.
MESSAGES = {"bleu-norm": (0.6966, 0.6229), "bleu-cc": (0.5715, 0.5461)}


@pytest.mark.parametrize("name", MESSAGES)
def test_the_bleus_of_commit_messages_correlate_as_published(excise_data, name):
    """B-Moses is not here: its Spearman is met (.1970), its Pearson is .2378 beside .2444."""
    with open(excise_data / "commit_messages_100.jsonl", encoding="utf-8") as file:
        pairs = [json.loads(line) for line in file]
    values = np.array(
        [
            measure(name)(origin="", reference=row["reference"], hypothesis=row["prediction"]).value
            for row in pairs
        ]
    )
    ratings = np.array([np.mean(row["ratings"]) for row in pairs])
    found = (stats.pearsonr(values, ratings)[0], stats.spearmanr(values, ratings)[0])
    assert found == pytest.approx(MESSAGES[name], abs=0.00006)
