"""Values that others published, or that a few lines by hand give: each says where it is from."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats

from excise.evaluation import measure
from excise.evaluation.gleu import corpus_gleu
from excise.evaluation.message_bleu import CC_HIGH, tokens_bleu

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


@pytest.mark.slow
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
