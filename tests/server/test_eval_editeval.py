"""EditEval: its format, its template, and scores by task over the best gold edit."""

from __future__ import annotations

import pytest

from excise.evaluation import measures
from excise_server.evaluation.editeval import (
    PROMPTS,
    Example,
    as_object,
    prompt,
    read_example,
    task_scores,
)
from excise_server.foundation.inputs import SourceError

VALUE = {
    "id": "jfleg-test-0",
    "input": "He go home .",
    "edits": ["He goes home .", "He went home ."],
    "tasks": "fluency",
    "retrieved_documents": [],
}


def test_what_is_written_is_what_was_read():
    assert as_object(read_example(VALUE)) == VALUE
    assert read_example(as_object(read_example(VALUE))) == read_example(VALUE)


def test_the_papers_own_names_are_read_too():
    value = {"id": 1, "input": "a", "gold_edits": "b", "task_type": "updating"}
    value["reference_documents"] = ["d"]
    assert read_example(value) == Example("1", "a", ("b",), "updating", ("d",))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"id": None}, "'id' is missing"),
        ({"input": 1}, "'input' is not a string"),
        ({"edits": []}, "'edits' is an empty list"),
        ({"edits": 3}, "'edits' is neither a string nor a list"),
        ({"edits": ["a", 3]}, r"'edits\[1\]' is not a string"),
        ({"tasks": None}, "'tasks' is not a string"),
        ({"retrieved_documents": [1]}, r"'retrieved_documents\[0\]' is not a string"),
    ],
)
def test_another_shape_is_refused(change, reason):
    with pytest.raises(SourceError, match=reason):
        read_example(VALUE | change)
    with pytest.raises(SourceError, match="'edits' is missing"):
        read_example({key: found for key, found in VALUE.items() if key != "edits"})


def test_every_task_has_instructions_and_documents_are_numbered():
    assert set(PROMPTS) == {
        *("fluency", "clarity", "coherence", "neutralization"),
        *("paraphrasing", "simplification", "updating"),
    }
    example = Example("1", "a", ("b",), "updating", ("first", "second"))
    shown = prompt(example, PROMPTS["updating"][0], head="Definition")
    assert shown.startswith("Definition: ")
    assert "\nReference: [0] first [1] second\nOutput:" in shown


EXAMPLES = [
    Example("1", "a b c", ("a b d", "x y z"), "fluency"),
    Example("2", "a b c", ("a b c",), "fluency"),
    Example("3", "p q", ("p",), "clarity"),
]


def test_the_copy_baseline_by_task_and_averaged():
    fluency, clarity, average = task_scores(EXAMPLES, measures(["em", "em-diff"]))
    assert (fluency.task, fluency.n, fluency.means) == ("fluency", 2, {"em": 0.5, "em-diff": 0.5})
    assert (clarity.task, clarity.n, clarity.means) == ("clarity", 1, {"em": 0.0, "em-diff": 0.0})
    assert (average.task, average.n, average.means) == ("average", 3, {"em": 0.25, "em-diff": 0.25})


def test_the_best_gold_edit_counts_and_of_a_distance_the_nearest():
    pytest.importorskip("rapidfuzz", reason="pip install '.[eval]'")
    first = EXAMPLES[:1]
    (one, _) = task_scores(first, measures(["sari", "ed"]), lambda example: "x y z")
    alone = measures(["sari"])[0](origin="a b c", reference="x y z", hypothesis="x y z").value
    assert one.means == {"sari": alone, "ed": 0.0}
    (joint, _) = task_scores(first, measures(["sari"]), lambda example: "x y z", best=False)
    assert joint.means["sari"] < alone


def test_examples_without_a_prediction_are_left_out():
    predictions = {"2": "a b c"}
    found = task_scores(EXAMPLES, measures(["em"]), lambda example: predictions.get(example.id))
    assert [(one.task, one.n) for one in found] == [("fluency", 1), ("average", 1)]
    assert task_scores(EXAMPLES, measures(["em"]), lambda example: None) == ()
