"""EditEval: its format, and scores by task over the best gold edit."""

from __future__ import annotations

import pytest

from excise.evaluation import measures
from excise_server.evaluation.editeval import (
    Example,
    read_example,
    task_scores,
)

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
    Example("1", "a b c", ("a b d", "x y z"), "fluency"),
    Example("2", "a b c", ("a b c",), "fluency"),
    Example("3", "p q", ("p",), "clarity"),
]


def test_the_copy_baseline_by_task_and_averaged():
    assert task_scores(EXAMPLES, measures(["em", "em-diff"])) == {
        "tasks": {
            "fluency": {"n": 2, "em": 0.5, "em-diff": 0.5},
            "clarity": {"n": 1, "em": 0.0, "em-diff": 0.0},
        },
        "average": {"n": 3, "em": 0.25, "em-diff": 0.25},
    }


def test_the_best_gold_edit_counts_and_of_a_distance_the_nearest():
    pytest.importorskip("rapidfuzz", reason="pip install '.[eval]'")
    first = EXAMPLES[:1]
    found = task_scores(first, measures(["sari", "ed"]), lambda example: "x y z")["average"]
    alone = measures(["sari"])[0](origin="a b c", reference="x y z", hypothesis="x y z").value
    assert found == {"n": 1, "sari": alone, "ed": 0.0}
    joint = task_scores(first, measures(["sari"]), lambda example: "x y z", best=False)
    assert joint["average"]["sari"] < alone


def test_examples_without_a_prediction_are_left_out():
    predictions = {"2": "a b c"}
    found = task_scores(EXAMPLES, measures(["em"]), lambda example: predictions.get(example.id))
    assert found == {"tasks": {"fluency": {"n": 1, "em": 1.0}}, "average": {"n": 1, "em": 1.0}}
    nothing = task_scores(EXAMPLES, measures(["em"]), lambda example: None)
    assert nothing == {"tasks": {}, "average": {}}
