"""Values that others published, or that a few lines by hand give: each says where it is from."""

from __future__ import annotations

import math

import pytest

from excise.evaluation import measure
from excise.evaluation.gleu import corpus_gleu
from excise.evaluation.message_bleu import CC_HIGH, tokens_bleu

ORIGIN = "About 95 species are currently accepted ."
REFERENCES = (
    "About 95 species are currently known .",
    "About 95 species are now accepted .",
    "95 species are now accepted .",
)


def value(name, hypothesis, references=REFERENCES, origin=ORIGIN):
    return measure(name)(origin=origin, reference=references, hypothesis=hypothesis).value


# What SARI.py of cocoxu/simplification prints for the examples in it.
SARI = {
    "About 95 you now get in .": 0.2682782411698074,
    "About 95 species are now agreed .": 0.5889995423074248,
    "About 95 species are currently agreed .": 0.5071608864657479,
}


@pytest.mark.parametrize("hypothesis", SARI)
def test_sari_is_that_of_the_authors_script(hypothesis):
    assert value("sari", hypothesis) == pytest.approx(SARI[hypothesis], abs=1e-12)


def test_sari_of_easse_is_the_value_in_the_tests_of_editeval():
    assert value("sari-easse", "About 95 you now get in .") == pytest.approx(31.35, abs=0.005)


def test_gleu_of_a_corpus_is_the_value_in_the_tests_of_editeval():
    """src/tests/test_metrics.py of facebookresearch/EditEval: .168629, 500 rounds."""
    hypotheses = ["About 95 species are currently known .", "About 95 you now get in ."]
    found = corpus_gleu([ORIGIN] * 2, [list(REFERENCES)] * 2, hypotheses)
    assert found == pytest.approx(0.168629, abs=5e-7)


def test_ibleu_of_a_copy_is_the_value_in_the_tests_of_editeval():
    """The same file: .8 = .9 - .1, all three texts being equal (and of four words or more)."""
    text = "one two three four"
    assert value("ibleu", text, text, text) == pytest.approx(0.8, abs=1e-12)


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


def test_ter_counts_a_moved_run_once():
    """Snover et al. 2006, section 2: a shift of any run costs one edit; by hand: 2 of 8 words."""
    reference = "one two three four five six seven eight"
    hypothesis = "five six one two three nine four seven eight"
    assert value("ter", hypothesis, reference) == pytest.approx(2 / 8, abs=1e-12)
    assert value("ter", reference, reference) == 0


def test_edit_distance_of_the_textbook():
    assert value("ed", "kitten", "sitting") == 3
    assert value("nes", "kitten", "sitting") == pytest.approx(1 - 3 / 7, abs=1e-12)


def test_em_diff_counts_shared_changes():
    r"""EditEval, appendix C: one of two changed lines shared, of at most four: by hand."""
    origin, reference, hypothesis = "a\nb\nc\n", "a\nB\nC\n", "a\nB\nc\n"
    assert value("em-diff", hypothesis, reference, origin) == 2 / 4
    assert value("em-diff", reference, reference, origin) == 1
    assert value("em-diff", origin, reference, origin) == 0


def test_who_rightly_changes_nothing_scores_one_in_em_diff():
    """The published code gives 0 where neither text changes anything: a copy of a copy is right."""
    assert value("em-diff", "a\n", "a\n", "a\n") == 1


def test_diffbleu_compares_diffs_and_nothing_else():
    """Equal diffs score 1 however much is shared; a diff against none scores 0."""
    shared = "".join(f"line {at}\n" for at in range(50))
    origin, reference = shared + "a b c d\n", shared + "a b x d\n"
    assert value("diffbleu", reference, reference, origin) == pytest.approx(1)
    assert value("diffbleu", origin, reference, origin) == 0
    assert value("diffbleu", origin, origin, origin) == 1


def test_sanslcs_bleu_sees_no_deletion():
    """Example 3 of the Excision Score paper: K R_A against K R_B leaves R_A and R_B: 0."""
    assert value("sanslcs-bleu", "k q", "k p", "d k r") == 0
    assert value("sanslcs-bleu", "k p", "k p", "d k r") == pytest.approx(1)
    assert value("sanslcs-bleu", "k", "k", "d k r") == 1


def test_update_rouge_of_what_is_replaced():
    """EditEval's update_rouge.py: a replaced sentence, reproduced: 1; no new ones at all: 1."""
    for name in ("update-rouge1", "update-rouge2", "update-rougeL"):
        found = value(name, "Nothing is left", "Nothing is left", "An old text")
        assert found == pytest.approx(1)
    assert value("update-rouge1", "It rains.", "It rains.", "It rains.") == 1
    assert value("update-rouge1", "It rains.", "It rains. It snows.", "It rains.") == 0
    # By hand: of two new words each, one is shared.
    assert value("update-rouge1", "A. It pours.", "A. It snows.", "A.") == pytest.approx(0.5)
