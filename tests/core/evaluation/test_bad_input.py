"""What nobody sends on purpose: every measure has a number in its range, or says why not."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp
from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

from excise.evaluation import (
    MEASURES,
    MeasureUnavailableError,
    Resources,
    base,
    measure,
    measures,
)

pytestmark = pytest.mark.slow

LOCAL = [name for name in MEASURES if MEASURES[name].resource in (None, "synonyms")]
WORLD = Resources(synonyms=lambda word: {word})

SIMILARITIES = [name for name in LOCAL if MEASURES[name].larger_is_better]


def value(name, origin, reference, hypothesis, **more):
    found = measure(name, WORLD)(origin=origin, reference=reference, hypothesis=hypothesis, **more)
    known = MEASURES[name]
    assert math.isfinite(found.value)
    assert known.low - 1e-9 <= found.value <= known.high + 1e-9, name
    assert found.signature
    return found.value


@pytest.mark.parametrize("name", LOCAL)
@pytest.mark.parametrize("texts", [("a b d\n", ""), ("", "a b d\n")])
def test_an_empty_reference_or_hypothesis_has_a_value(name, texts):
    found = value(name, "a b c\n", *texts)
    if name in ("em", "nes", "bleu", "chrf", "gleu", "rouge1", "rougeL", "meteor", "bleu-norm"):
        assert found == 0
    if name == "ter":
        assert found == 1


@pytest.mark.parametrize("name", LOCAL)
@pytest.mark.parametrize("origin", ["", "a b c d e\n"])
def test_two_empty_revisions_are_equal(name, origin):
    found = value(name, origin, "", "")
    if name in ("ed", "ter"):
        assert found == 0
    elif name.startswith("sari"):  # 0/0 = 0: nothing is kept or added
        assert found <= MEASURES[name].high / 3 + 1e-9
    elif name == "ibleu":  # .9 for being equal, less .1 where the origin is empty too
        assert found == pytest.approx(0.9 if origin else 0.8)
    else:
        assert found == 1


@pytest.mark.parametrize("name", LOCAL)
def test_where_nothing_was_to_change_doing_nothing_is_right(name):
    text = "one two three four five six\n"
    found = value(name, text, text, text)
    if name in ("ed", "ter"):
        assert found == 0
    elif name.startswith("sari"):  # kept: 1; nothing added or deleted: 0
        assert found == pytest.approx(MEASURES[name].high / 3)
    elif name.startswith(("meteor", "ibleu")):
        assert found > 0.79
    else:
        assert found >= 1 - 1e-9


@pytest.mark.parametrize("name", SIMILARITIES)
def test_the_reference_itself_is_the_best_there_is(name):
    origin, reference = "a b c d e f\ng h i j k l\n", "a b c x e f\ng h i j k l\nm n o p\n"
    itself = value(name, origin, reference, reference)
    for other in (origin, "a b c x e f\ng h i j k l\n", "q r s t\n", "", reference + "y z\n"):
        assert value(name, origin, reference, other) <= itself + 1e-9


STRANGE = {
    "non-ASCII": ("Grüße, 世界 ½", "Grüsse, 世界 ½", "Grüße, Welt ½"),
    "lone surrogates": ("a \ud800 b", "a \udfff b", "a \ud800 c \udcff"),
    "control characters": ("a\x00b\x1b[31m\x07", "a\x00c\x1b[0m", "\x0b\x0c\x1c\x85\u2028a"),
    "bidirectional": ("if \u202e x", "if \u2066 y \u2069", "if \u202e y"),
    "line ends": ("\ufeffa\r\nb\r\n", "a\nc\n", "a\rc\r"),
    "white space only": (" \n\t\n", "\n\n\n", "   "),
    "one character": ("a", "b", "c"),
    "astral": ("𝒳 = 1", "𝒳 = 2", "𝒴 = 2"),
}


@pytest.mark.parametrize("name", LOCAL)
@pytest.mark.parametrize("case", STRANGE)
@pytest.mark.parametrize("comments", ["keep", "drop"])
def test_strange_characters_have_values(name, case, comments):
    for hypothesis in STRANGE[case]:
        origin, reference, _ = STRANGE[case]
        value(name, origin, reference, hypothesis, language="python", comments=comments)


ANY = st.text(st.characters(codec=None, exclude_categories=()), max_size=12)


@pytest.mark.parametrize("name", LOCAL)
@given(ANY, ANY, ANY)
def test_any_text_has_a_value(name, origin, reference, hypothesis):
    value(name, origin, reference, hypothesis)


@pytest.mark.parametrize("name", LOCAL)
def test_a_megabyte_has_a_value(name):
    long = "".join(f"call_{at % 977}(x, {at})\n" for at in range(60_000))
    assert len(long) > 1_000_000
    value(name, "call_1(x, 1)\n", "call_2(x, 1)\n", long, language="python")


def test_sacrebleu_does_not_keep_long_texts():
    """Its tokenisers cache 65,536 lines each, however long: with files, gigabytes."""
    caches = [
        tokeniser.__call__.cache_info
        for tokeniser in (Tokenizer13a, TokenizerRegexp, TercomTokenizer)
    ]
    long = "x = 1\n" * 100
    for name in ("bleu", "ibleu", "ter", "sari-easse", "bleu-norm"):
        value(name, long + "a\n", long, long + "b\n")
        assert not any(info().currsize for info in caches), name
        value(name, "a\n", "c\n", "b\n")
        assert any(info().currsize for info in caches), name


def test_ter_says_when_texts_are_too_long_for_it():
    long = "word " * 1500
    with pytest.raises(MeasureUnavailableError, match="1,500 words beside 1,500 are too many"):
        value("ter", "", long, long)


@pytest.mark.parametrize("name", LOCAL)
def test_several_references_are_at_least_as_good_as_the_worst(name):
    """By each measure's own convention; for the best-of ones exactly the best."""
    origin, hypothesis = "a b c d e\n", "a b x d e\n"
    references = ["q r s t u\n", "a b x d e f\n", "", hypothesis]
    singles = [value(name, origin, reference, hypothesis) for reference in references]
    found = measure(name, WORLD)(origin=origin, reference=references, hypothesis=hypothesis)
    if MEASURES[name].several == "max":
        assert found.value == max(singles)
        if found.reference is not None:
            assert singles[found.reference] == found.value
    elif MEASURES[name].several == "min":
        assert found.value == min(singles)
    elif MEASURES[name].several == "mean":
        assert found.value == pytest.approx(sum(singles) / 4)
    one = measure(name, WORLD)(origin=origin, reference=hypothesis, hypothesis=hypothesis)
    assert one.reference is None


@pytest.mark.parametrize("name", LOCAL)
def test_one_reference_twice_changes_nothing(name):
    origin, reference, hypothesis = "a b c d\n", "a b x d\n", "a y x d\n"
    once = value(name, origin, [reference], hypothesis)
    assert value(name, origin, [reference, reference], hypothesis) == pytest.approx(once)


def test_a_library_that_is_not_there_is_named_with_the_command():
    assert base.missing_library("no-such-package") == (
        "no-such-package is not installed; install the extra 'eval': pip install '.[eval]' in a "
        "clone of excise, or pip install 'FILE.whl[eval]' with its wheel"
    )
    by_it = replace(MEASURES["bleu"], package="no-such-package")
    assert "|no-such-package:none|" in by_it.signature()


@pytest.mark.parametrize("name", [name for name in LOCAL if MEASURES[name].package])
def test_without_its_library_a_measure_is_left_out_by_name(name, monkeypatch):
    monkeypatch.setattr(base, "find_spec", lambda module: None)
    found = measure(name, WORLD)
    assert "is not installed; install the extra 'eval': pip install '.[eval]'" in found.missing()
    with pytest.raises(MeasureUnavailableError, match=f"^{name}: {found.package}"):
        found(origin="", reference="a", hypothesis="b")


@pytest.mark.parametrize("name", ["codebleu", "bertscore", "lens"])
def test_what_runs_elsewhere_says_what_it_lacks(name):
    assert measure(name).missing()
    told = Resources(missing={name: "install it: just so"})
    with pytest.raises(MeasureUnavailableError, match=f"{name}: install it: just so"):
        measure(name, told)(origin="", reference="a", hypothesis="b", language="python")


def test_codebleu_refuses_a_language_it_does_not_know():
    world = Resources(codebleu=lambda *_: 1.0)
    with pytest.raises(MeasureUnavailableError, match="does not know haskell; it knows c, cpp"):
        measure("codebleu", world)(origin="", reference="a", hypothesis="b", language="haskell")
    with pytest.raises(MeasureUnavailableError, match="does not know no language"):
        measure("codebleu", world)(origin="", reference="a", hypothesis="b")


def test_what_runs_elsewhere_is_not_asked_about_nothing():
    world = Resources(codebleu=lambda *_: math.nan, bertscore=lambda *_: math.nan)
    for found in measures(["codebleu", "bertscore"], world):
        fixed = {"origin": "a", "language": "python"}
        assert found(reference="", hypothesis=" \n", **fixed).value == 1
        assert found(reference="a", hypothesis="", **fixed).value == 0
        assert found(reference=["", " "], hypothesis="a", **fixed).value == 0
