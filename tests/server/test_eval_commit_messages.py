"""Commit messages beside ratings: published figures, and what each factor does."""

import json
from functools import partial

import pytest
from tests.server.command import excise

from excise_server.evaluation.commit_messages import METRICS, Choices, factors
from excise_server.evaluation.commit_messages import read_pair as read_line
from excise_server.evaluation.resources import resources
from excise_server.foundation.inputs import SourceError

pytestmark = pytest.mark.slow

for needed in ("sacrebleu", "rouge_score"):
    pytest.importorskip(needed, reason="pip install '.[eval]'")

read_pair = partial(read_line, 1)

PAIR = {"id": 1, "prediction": "Fix the bug", "reference": "Fix a bug", "ratings": [3, 4, 2]}

PUBLISHED = {
    "bleu4": {"plain": 0.705, "length": 0.69, "case": 0.717, "punctuation": 0.707},
    "bleu-norm": {"plain": 0.691, "length": 0.683, "case": 0.703, "punctuation": 0.699},
    "bleu-cc": {"plain": 0.681, "length": 0.683, "case": 0.691, "punctuation": 0.693},
    "meteor": {"plain": 0.748, "semantics": 0.707, "punctuation": 0.807},
    "meteor-next": {"plain": 0.761, "semantics": 0.722, "punctuation": 0.822},
    "rouge1": {"plain": 0.723, "case": 0.796, "punctuation": 0.781},
    "rouge2": {"plain": 0.443, "case": 0.485, "punctuation": 0.485},
    "rougeL": {"plain": 0.728, "case": 0.799, "punctuation": 0.781},
    "log-mnext": {"plain": 0.831},
}
"""Dey et al. 2022, table 1 and section 4.2. Of TER and of METEOR's word order see the docs."""

TURNED_OFF = {"length", "semantics"}
"""Factors that the measures have by themselves: their figure is that without."""


@pytest.fixture(scope="module")
def pairs(excise_data):
    with open(excise_data / "commit_messages_100.jsonl", encoding="utf-8") as file:
        return [read_pair(json.loads(line)) for line in file]


def test_the_published_table_is_reproduced_within_two_hundredths(pairs):
    synonyms = resources().synonyms
    if synonyms is None:
        pytest.skip(f"METEOR: {resources().missing['synonyms']}")
    found = factors(pairs, synonyms)
    for metric, figures in PUBLISHED.items():
        for factor, figure in figures.items():
            effect = found[metric][factor]
            side = effect.get("without" if factor in TURNED_OFF else "with", effect)
            assert side["spearman"] == pytest.approx(figure, abs=0.02), (metric, factor)


def test_counting_words_as_the_names_say_gives_other_figures(pairs):
    """Words are what BLEU counts; the published figures count characters."""
    words, letters = factors(pairs, None, "word"), factors(pairs, None)
    assert words["bleu4"]["plain"]["spearman"] == pytest.approx(0.197, abs=0.001)
    assert letters["bleu4"]["plain"]["spearman"] == pytest.approx(0.705, abs=0.001)
    assert words["rouge1"] == letters["rouge1"]


def test_without_synonyms_meteor_and_its_kin_are_left_out():
    found = factors([read_pair(PAIR)] * 3, None)
    assert list(found) == ["bleu4", "bleu-norm", "bleu-cc", "rouge1", "rouge2", "rougeL", "ter"]
    undefined = {"spearman": None, "pearson": None}
    assert all(effect["plain"] == undefined for effect in found.values())


def test_what_a_factor_turns_off():
    """Worked out by hand on one pair."""
    rouge = METRICS["rouge1"]
    assert rouge("Fix bug.", "fix bug", Choices(), None) == 0.0
    assert rouge("Fix bug.", "fix bug", Choices(fold=True), None) == 0.5
    assert rouge("Fix bug.", "fix bug", Choices(fold=True, punctuation=False), None) == 1.0
    assert METRICS["rouge2"]("a b c", "a b d", Choices(), None) == 0.5
    assert METRICS["rougeL"]("a x b", "a b y z", Choices(), None) == pytest.approx(4 / 7)
    assert METRICS["ter"]("a b c d", "a b c e", Choices(), None) == 0.25
    meteor = METRICS["meteor"]
    # Three words in one chunk: F = 1, penalty .5 (1/3)^3.
    assert meteor("a b c", "a b c", Choices(), str.split) == pytest.approx(1 - 0.5 / 27)
    assert meteor("a b c", "a b c", Choices(order=False), str.split) == 1.0
    assert meteor("fixed", "fixes", Choices(), str.split) == 0.5
    assert meteor("fixed", "fixes", Choices(semantics=False), str.split) == 0.0
    assert METRICS["log-mnext"]("a b c", "a b c", Choices(), str.split) == 1.0
    whole, short = "abcdefgh", "abcd"
    assert METRICS["bleu4"](short, whole, Choices(length=False), None) == 1.0
    assert METRICS["bleu4"](short, whole, Choices(), None) == pytest.approx(2.718281828**-1)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"ratings": []}, "'ratings' is not a list of at least one number"),
        ({"ratings": 3}, "'ratings' is not a list of at least one number"),
        ({"ratings": [1, "2"]}, "'label' is not a number"),
        ({"ratings": [1, None]}, "'ratings' holds null"),
        ({"ratings": [float("nan")]}, "not a finite number"),
        ({"prediction": 3}, "'hypothesis' is not a string"),
        ({"reference": None}, "'reference' is not a string"),
    ],
)
def test_another_shape_is_refused(change, reason):
    with pytest.raises(SourceError, match=reason):
        read_pair(PAIR | change)
    with pytest.raises(SourceError, match="'prediction' is missing"):
        read_pair({"id": 1})


def test_empty_messages_are_messages():
    rows = [PAIR | {"prediction": ""}, PAIR | {"reference": ""}, PAIR]
    pairs = [read_pair(row | {"ratings": [at]}) for at, row in enumerate(rows)]
    for effect in factors(pairs, str.split).values():
        rho = effect["plain"]["spearman"]
        assert rho is None or -1 <= rho <= 1


def test_the_command_prints_the_table_of_measures_and_that_of_factors():
    messages = [
        {"id": 1, "prediction": "Fix bug", "reference": "Fix bug", "ratings": [4, 4, 4]},
        {"id": 2, "prediction": "Fix bug", "reference": "fix bug .", "ratings": [3, 4, 4]},
        {"id": 3, "prediction": "Add test", "reference": "Remove file", "ratings": [0, 0, 1]},
        {"id": 4, "prediction": "Add test", "reference": "Add a test", "ratings": [3, 2, 3]},
        {"id": 5, "prediction": "a", "reference": "b"},
    ]
    lines = "".join(json.dumps(message) + "\n" for message in messages)
    command = ("eval", "--protocol", "commit-messages", "--measures", "rouge1,em")
    command += ("--bootstrap", "20", "-")
    ran = excise(*command, "--format", "json", stdin=lines)
    reason = "'ratings' is not a list of at least one number"
    assert (ran.code, ran.err) == (1, f"excise: record left out: line 5: {reason}\n")
    assert ran.json["rejected"] == [{"line": 5, "id": 5, "reason": reason}]
    assert ran.json["n"] == 4
    assert ran.json["measures"]["rouge1"]["spearman"] > 0
    rouge = ran.json["factors"]["word"]["rouge1"]
    assert set(rouge) == {"plain", "case", "punctuation"}
    assert rouge["case"]["with"]["spearman"] >= rouge["case"]["without"]["spearman"]
    shown = excise(*command, stdin=lines).out
    assert "without > with each factor (BLEU of characters)" in shown
