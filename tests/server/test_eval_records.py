"""Records: what is read, what is refused, and the random shared prefix."""

from __future__ import annotations

from functools import partial

import pytest

from excise_server.evaluation.scoring import read_item, with_prefix
from excise_server.foundation.inputs import SourceError
from excise_server.records.outputs import read_record as read_line

read_record = partial(read_line, 1)

RECORD = {"id": 7, "language": "python", "origin": "a", "reference": "b", "hypothesis": "c"}


def test_what_is_optional_has_a_value():
    record = read_record(RECORD)
    assert (record.label, record.count, record.references, record.path) == (None, 1, ("b",), None)
    assert record.task == record.cluster == "7"


def test_a_number_and_its_text_are_two_ids():
    assert read_record(RECORD).task != read_record(RECORD | {"id": "7"}).task


def test_another_key_can_name_the_cluster():
    assert read_record(RECORD | {"project": "x"}, "project").cluster == "x"
    with pytest.raises(SourceError, match="'project' is missing"):
        read_record(RECORD, "project")


@pytest.mark.parametrize(("label", "value"), [(True, 1.0), (0, 0.0), (2.5, 2.5), (None, None)])
def test_labels_are_verdicts_or_grades(label, value):
    assert read_record(RECORD | {"label": label}).label == value


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"origin": None}, "'origin' is not a string"),
        ({"reference": []}, "'reference' is an empty list"),
        ({"reference": ["a", 1]}, r"'reference\[1\]' is not a string"),
        ({"hypothesis": "a\0b"}, "'hypothesis' is binary: NUL character at offset 1"),
        ({"hypothesis": "\ud800"}, r"lone surrogate U\+D800 at offset 0"),
        ({"label": "yes"}, "'label' is not a number"),
        ({"label": float("nan")}, "'label' is not a finite number"),
        ({"label": 10**400}, "'label' is not a finite number"),
        ({"count": 0}, "'count' is not a whole number from 1"),
        ({"count": 1.5}, "'count' is not a whole number from 1"),
        ({"count": True}, "'count' is not a whole number from 1"),
        ({"id": None}, "'id' is neither a string nor a number"),
        ({"id": float("inf")}, "'id' is not a finite number"),
        ({"language": 3}, "'language' is not a string"),
    ],
)
def test_another_shape_is_refused_with_its_field(change, reason):
    with pytest.raises(SourceError, match=reason):
        read_record(RECORD | change)


@pytest.mark.parametrize("key", ["id", "origin", "reference", "hypothesis"])
def test_a_missing_field_is_named(key):
    with pytest.raises(SourceError, match=f"'{key}' is missing"):
        read_record({name: value for name, value in RECORD.items() if name != key})


def test_the_prefix_is_the_papers_and_the_same_for_all_three():
    item = read_item(read_record(RECORD | {"reference": ["b", "d"]}))
    longer = with_prefix(item, "7", 0)
    prefix = longer.origin.removesuffix("a")
    assert 2000 <= len(prefix) <= 3000
    assert prefix.endswith("\n")
    assert set(prefix) == set("abcdef \n")
    assert longer.references == (prefix + "b", prefix + "d")
    assert longer.hypothesis == prefix + "c"
    assert with_prefix(item, "7", 0) == longer
    assert with_prefix(item, "7", 1) != longer
    assert with_prefix(item, "8", 0) != longer


def test_comments_go_before_the_prefix_comes():
    text = "x = 1  # one\n\n\ny = 2\n"
    record = read_record(RECORD | {"origin": text, "hypothesis": text, "reference": text})
    item = read_item(record, "drop")
    longer = with_prefix(item, "7", 0)
    assert item.origin == "x = 1\ny = 2\n"
    assert longer.origin.endswith("\nx = 1\ny = 2\n")
    assert len(longer.origin) >= 2000 + len(item.origin)
    assert longer.comments == "keep"
