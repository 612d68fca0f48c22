"""Every formula against a slow second implementation, on random texts of few words."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction
from nltk.translate.bleu_score import sentence_bleu as nltk_bleu
from tests.core.evaluation import oracles

from excise.errors import OptionError
from excise.evaluation import Item, measure
from excise.evaluation.edits_bleu import changed_lines
from excise.evaluation.message_bleu import tokens_bleu
from excise.evaluation.rouge import rouge_l
from excise.evaluation.sari import corpus_sari_easse

pytestmark = pytest.mark.slow

words = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=8)
filled = words.filter(bool)
several = st.lists(words, min_size=1, max_size=3)
letters = st.text("abc \n", max_size=12)


def value(name, hypothesis, *references, origin=()):
    texts = [" ".join(reference) for reference in references]
    found = measure(name)(origin=" ".join(origin), reference=texts, hypothesis=" ".join(hypothesis))
    return found.value


def close(expected):
    return pytest.approx(expected, abs=1e-9)


@given(words, several, words)
def test_sari(origin, references, hypothesis):
    expected = oracles.sari(origin, references, hypothesis)
    assert value("sari", hypothesis, *references, origin=origin) == close(expected)


@given(words, several, words)
def test_sari_easse(origin, references, hypothesis):
    expected = oracles.sari_easse(origin, references, hypothesis)
    assert value("sari-easse", hypothesis, *references, origin=origin) == close(expected)


@given(words, several, words)
def test_sari_of_a_corpus_of_one_text_or_of_the_same_twice_is_that_text_s(
    origin, references, hypothesis
):
    texts = [" ".join(reference) for reference in references]
    item = Item.of(origin=" ".join(origin), reference=texts, hypothesis=" ".join(hypothesis))
    expected = oracles.sari_easse(origin, references, hypothesis)
    assert corpus_sari_easse([item]) == corpus_sari_easse([item, item]) == close(expected)


def test_sari_of_a_corpus_sums_counts_first():
    """By hand, words only: one text right, one wrong: add F(1, 2, 2) of words, not (1 + 0) / 2."""
    items = [
        Item.of(origin="a", reference="b", hypothesis=hypothesis) for hypothesis in ("b", "c d")
    ]
    # Words: keep 0, add 1 of 3 and 1 of 2, delete 2 of 2; pairs: one is new, none is right.
    add = 2 * (1 / 3) * (1 / 2) / (1 / 3 + 1 / 2)
    assert corpus_sari_easse(items) == close(100 * (add + 1) / 12)
    with pytest.raises(OptionError, match="at least one text"):
        corpus_sari_easse([])


@given(filled, st.lists(filled, min_size=1, max_size=3))
def test_bleu(hypothesis, references):
    expected = oracles.bleu(hypothesis, references, smooth="exp")
    assert value("bleu", hypothesis, *references) == close(expected)


@given(filled, filled, filled)
def test_ibleu(origin, reference, hypothesis):
    expected = 0.9 * oracles.bleu(hypothesis, [reference], "exp")
    expected -= 0.1 * oracles.bleu(hypothesis, [origin], "exp")
    assert value("ibleu", hypothesis, reference, origin=origin) == close(expected)


@given(letters, letters)
def test_edit_distance(a, b):
    distance = oracles.levenshtein(a, b)
    assert measure("ed")(origin="", reference=a, hypothesis=b).value == distance
    longer = max(len(a), len(b))
    expected = 1 - distance / longer if longer else 1
    assert measure("nes")(origin="", reference=a, hypothesis=b).value == close(expected)


@given(filled, filled, st.sampled_from(["rouge1", "rouge2", "rougeL"]))
def test_rouge(hypothesis, reference, kind):
    expected = oracles.rouge(" ".join(hypothesis), " ".join(reference), kind)
    assert value(kind, hypothesis, reference) == close(expected)


@given(filled, filled)
def test_rouge_of_long_texts_is_the_same_number(hypothesis, reference):
    expected = oracles.rouge(" ".join(hypothesis), " ".join(reference), "rougeL")
    assert rouge_l(reference, hypothesis) == close(expected)


@given(words, filled, filled)
def test_gleu(origin, reference, hypothesis):
    expected = oracles.gleu(origin, reference, hypothesis)
    assert value("gleu", hypothesis, reference, origin=origin) == close(expected)


@pytest.mark.filterwarnings("ignore:[^a]*The hypothesis contains")
@given(filled, st.lists(filled, min_size=1, max_size=3), st.sampled_from(["none", "neighbours"]))
def test_message_bleu_is_nltks(hypothesis, references, smoothing):
    """Nltk's method 0 leaves 1e-77 where an order has no match; this is 0 here."""
    method = {"none": "method0", "neighbours": "method5"}[smoothing]
    expected = nltk_bleu(
        references, hypothesis, smoothing_function=getattr(SmoothingFunction(), method)
    )
    assert tokens_bleu(hypothesis, references, smoothing=smoothing) == close(expected)


@given(letters, letters, letters)
def test_diffbleu_is_bleu_of_changed_lines(origin, reference, hypothesis):
    """The lines of no common subsequence: as many as the textbook's LCS leaves."""
    for revision in (reference, hypothesis):
        old, new = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (origin, revision))
        common = oracles.lcs(old, new)
        found = changed_lines(origin, revision).split("\n")[:-1]
        assert sum(line[0] == "-" for line in found) == len(old) - common
        assert sum(line[0] == "+" for line in found) == len(new) - common


@given(words, words, words)
def test_sanslcs_bleu_of_lists_that_share_nothing_is_bleu(origin, reference, hypothesis):
    """Without a common token nothing is stripped: plain BLEU of the two revisions."""
    origin = [word.upper() for word in origin]
    found = value("sanslcs-bleu", hypothesis, reference, origin=origin)
    if not hypothesis and not reference:
        assert found == 1
    elif not hypothesis or not reference:
        assert found == 0
    else:
        assert found == close(oracles.bleu(hypothesis, [reference], "exp"))
