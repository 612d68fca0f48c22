"""EditEval: its format, and scores by task over the best gold edit."""

import json

import pytest
from tests.server.command import excise

from excise.evaluation import measures
from excise_server.evaluation.editeval import Example, read_example

VALUE = {
    "id": "jfleg-test-0",
    "input": "He go home .",
    "edits": ["He goes home .", "He went home ."],
    "tasks": "fluency",
    "retrieved_documents": [],
}


def test_the_papers_own_names_are_read_too():
    value = {"id": 1, "input": "a", "gold_edits": "b", "task_type": "updating"}
    value["reference_documents"] = ["d"]
    assert read_example(value) == Example("1", "a", ("b",), "updating", ("d",))


EXAMPLES = [
    {"id": "1", "input": "a b c", "edits": ["a b d", "x y z"], "tasks": "fluency"},
    {"id": "2", "input": "a b c", "edits": ["a b c"], "tasks": "fluency"},
    {"id": "3", "input": "p q", "edits": ["p"], "tasks": "clarity"},
]


def scores(folder, examples, names, predictions=None, *options):
    """Return what the command says of each task, and on average."""
    path, answers = folder / "examples.jsonl", folder / "predictions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in examples))
    command = ["eval", str(path), "--protocol", "editeval", "--measures", names, *options]
    if predictions is not None:
        rows = [{"id": name, "prediction": text} for name, text in predictions.items()]
        answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
        command += ["--predictions", str(answers)]
    ran = excise(*command, "--format", "json")
    return {key: ran.json[key] for key in ("tasks", "average")} if ran.out else ran.err


def test_the_copy_baseline_by_task_and_averaged(tmp_path):
    assert scores(tmp_path, EXAMPLES, "em,em-diff") == {
        "tasks": {
            "fluency": {"n": 2, "em": 0.5, "em-diff": 0.5},
            "clarity": {"n": 1, "em": 0.0, "em-diff": 0.0},
        },
        "average": {"n": 3, "em": 0.25, "em-diff": 0.25},
    }


def test_the_best_gold_edit_counts_and_of_a_distance_the_nearest(tmp_path):
    pytest.importorskip("rapidfuzz", reason="pip install '.[eval]'")
    first, edited = EXAMPLES[:1], {"1": "x y z"}
    found = scores(tmp_path, first, "sari,ed", edited)["average"]
    alone = measures(["sari"])[0](origin="a b c", reference="x y z", hypothesis="x y z").value
    assert found == {"n": 1, "sari": alone, "ed": 0.0}
    joint = scores(tmp_path, first, "sari", edited, "--references", "measure")
    assert joint["average"]["sari"] < alone


def test_examples_without_a_prediction_are_left_out(tmp_path):
    found = scores(tmp_path, EXAMPLES, "em", {"2": "a b c"})
    assert found == {"tasks": {"fluency": {"n": 1, "em": 1.0}}, "average": {"n": 1, "em": 1.0}}
    nothing = scores(tmp_path, EXAMPLES, "em", {"9": "a b c"})
    assert "no example has a prediction" in nothing


def evaluated(tmp_path, predictions):
    examples = [VALUE, VALUE | {"id": "b", "edits": ["He goes home ."]}]
    path, answers = tmp_path / "examples.jsonl", tmp_path / "predictions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in examples))
    answers.write_text("".join(json.dumps(row) + "\n" for row in predictions))
    command = ("eval", str(path), "--protocol", "editeval", "--predictions", str(answers))
    return excise(*command, "--measures", "em,jaccard", "--format", "json"), excise(*command)


def test_prompts_are_averaged_and_their_spread_is_told(tmp_path):
    right, wrong = "He goes home .", "He go home ."
    texts = [(1, right, right), (2, right, wrong), (3, wrong, wrong)]
    rows = [
        {"id": name, "prediction": text, "prompt": prompt}
        for prompt, *both in texts
        for name, text in zip((VALUE["id"], "b"), both, strict=True)
    ]
    ran, shown = evaluated(tmp_path, rows)
    assert ran.code == 0
    assert ran.json["average"]["em"] == 0.5
    assert ran.json["average"]["n"] == 6
    assert {prompt: row["em"] for prompt, row in ran.json["prompts"].items()} == {
        "1": 1.0, "2": 0.5, "3": 0.0,
    }  # fmt: skip
    assert ran.json["spread"]["em"] == {
        "max": 1.0, "min": 0.0, "cv": pytest.approx((1 / 6) ** 0.5 / 0.5),
    }  # fmt: skip
    # Three of six are right, and nothing else: both measures say the same.
    assert ran.json["correlations"]["em"]["jaccard"] == pytest.approx(1)
    assert "cv over prompts" in shown.out
