"""`excise eval --protocol`: editeval, simplification and commit messages."""

from __future__ import annotations

import json

import pytest
from tests.server.command import excise, one_line

for needed in ("rapidfuzz", "sacrebleu", "rouge_score"):
    pytest.importorskip(needed, reason="pip install '.[eval]'")


def lines(*records) -> str:
    return "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in records)


EXAMPLES = [
    {"id": "1", "input": "He go .", "edits": ["He goes .", "He went ."], "tasks": "fluency"},
    {"id": "2", "input": "It is so .", "edits": ["It is ."], "tasks": "clarity"},
]
FEW = ("--measures", "em,nes")
EDITEVAL = ("eval", "--protocol", "editeval")
PAIRED = ("eval", "--protocol", "simplification")


def test_editeval_scores_the_copy_baseline_by_task():
    ran = excise(*EDITEVAL, "-", *FEW, "--json", stdin=lines(*EXAMPLES))
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["tasks"]["fluency"]["nes"] == pytest.approx(1 - 2 / 9)
    assert ran.json["average"]["em"] == 0
    shown = excise(*EDITEVAL, "-", *FEW, stdin=lines(*EXAMPLES)).out.split("\n")
    assert [line.split()[0] for line in shown[:4]] == ["task", "fluency", "clarity", "average"]


def test_editeval_takes_predictions_by_id_and_counts_what_has_none(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text(lines({"id": "1", "prediction": "He went ."}))
    arguments = (*EDITEVAL, "-", *FEW, "--predictions", str(path))
    ran = excise(*arguments, "--json", stdin=lines(*EXAMPLES))
    assert ran.code == 1
    assert ran.json["tasks"] == {"fluency": {"n": 1, "em": 1.0, "nes": 1.0}}
    assert ran.json["without_prediction"] == 1
    assert "1 examples have no prediction" in ran.err


def test_editeval_names_bad_lines():
    ran = excise(*EDITEVAL, "-", *FEW, "--json", stdin=lines(*EXAMPLES, {"id": "3"}, "{"))
    assert ran.code == 1
    assert [one["line"] for one in ran.json["rejected"]] == [3, 4]
    one_line(excise(*EDITEVAL, "-", *FEW, stdin="\n"), "nothing to score")


PAIRS = [
    {"before": "a b c d", "after": "a c d", "split": "train"},
    {"before": "a b c d", "after": "a x c d e", "split": "train"},
    {"before": "a b c d e", "after": "b c d e a", "split": "test"},
    {"before": "p q", "after": "r s t", "split": "test"},
]


def test_simplification_counts_and_compares_splits():
    found = excise(*PAIRED, "-", "--json", stdin=lines(*PAIRS)).json
    assert found["splits"]["train"] | {"change": 0} == {
        "n": 2,
        "change": 0,
        "insert": 1,
        "delete": 1,
        "replace": 1,
        "move": 0,
    }
    assert found["splits"]["train"]["change"] == pytest.approx((25 + 40) / 2)
    assert found["splits"]["test"]["move"] == 1
    assert {(one["split"], one["from"]) for one in found["divergences"]} == {
        ("train", "test"),
        ("test", "train"),
    }
    assert "infinite" in excise(*PAIRED, "-", stdin=lines(*PAIRS)).out


def test_simplification_drops_what_is_poorly_aligned_and_deals_anew(tmp_path):
    out = tmp_path / "out.jsonl"
    arguments = ("--drop-poor", "25", "--split", "stratified", "--attempts", "50", "--json")
    ran = excise(*PAIRED, "-", *arguments, "--out", str(out), stdin=lines(*PAIRS))
    assert ran.json["dropped"] == 1
    assert ran.json["spread"] >= 0
    written = [json.loads(line) for line in out.read_text().split("\n")[:-1]]
    assert [one["before"] for one in written] == [one["before"] for one in PAIRS[:3]]
    assert sorted(one["split"] for one in written) == ["test", "train", "train"]
    again = excise(*PAIRED, "-", *arguments, stdin=lines(*PAIRS))
    assert again.json == ran.json


def test_simplification_names_what_it_cannot_read():
    ran = excise(*PAIRED, "-", "--json", stdin=lines(*PAIRS, {"before": 1}, "[]"))
    assert (ran.code, len(ran.json["rejected"])) == (1, 2)
    one_line(excise(*PAIRED, "-", stdin="{}\n"), "no pair to analyse", "line 1")
    one_line(excise(*PAIRED, "-", "--drop-poor", "100", stdin=lines(*PAIRS)), "no pair is")


MESSAGES = [
    {"id": 1, "prediction": "Fix bug", "reference": "Fix bug", "ratings": [4, 4, 4]},
    {"id": 2, "prediction": "Fix bug", "reference": "fix bug .", "ratings": [3, 4, 4]},
    {"id": 3, "prediction": "Add test", "reference": "Remove file", "ratings": [0, 0, 1]},
    {"id": 4, "prediction": "Add test", "reference": "Add a test", "ratings": [3, 2, 3]},
]


@pytest.mark.slow
def test_commit_messages_get_the_table_of_measures_and_that_of_factors():
    arguments = ("--protocol", "commit-messages", "--measures", "rouge1,em", "--bootstrap", "20")
    ran = excise("eval", *arguments, "-", "--json", stdin=lines(*MESSAGES))
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["n"] == 4
    assert ran.json["measures"]["rouge1"]["spearman"] > 0
    rouge = ran.json["factors"]["word"]["rouge1"]
    assert set(rouge) == {"plain", "case", "punctuation"}
    assert rouge["case"]["with"]["spearman"] >= rouge["case"]["without"]["spearman"]
    shown = excise("eval", *arguments, "-", stdin=lines(*MESSAGES)).out
    assert "without > with each factor (BLEU of characters)" in shown


@pytest.mark.slow
def test_messages_without_ratings_are_named():
    bad = {"id": 5, "prediction": "a", "reference": "b"}
    arguments = ("eval", "--protocol", "commit-messages", "-", "--measures", "em", "--json")
    ran = excise(*arguments, stdin=lines(*MESSAGES, bad))
    assert ran.code == 1
    assert ran.json["rejected"][0]["reason"] == "'ratings' is not a list of at least one number"


def test_an_option_of_another_protocol_is_refused():
    for why, *arguments in (
        ("--split belongs to --protocol simplification.", "editeval", "--split", "random"),
        ("--execute belongs to --protocol correlation.", "commit-messages", "--execute"),
        ("commit-messages or editeval.", "simplification", "--json", "--measures", "em"),
        ("'texts' is not one of", "texts"),
    ):
        ran = excise("eval", "-", "--protocol", *arguments, stdin="")
        assert (ran.code, ran.out, why in ran.err) == (2, "", True), ran.err
