"""Records: what is read, what is refused, and the random shared prefix."""

import math
from functools import partial

import numpy as np
import pytest

from excise_server.evaluation.scoring import read_item, with_prefix
from excise_server.evaluation.tables import short
from excise_server.foundation.inputs import SourceError
from excise_server.records.outputs import read_record as read_line

read_record = partial(read_line, 1)

RECORD = {"id": 7, "language": "python", "origin": "a", "reference": "b", "hypothesis": "c"}


def test_what_is_optional_has_a_value():
    record = read_record(RECORD)
    assert (record.label, record.count, record.references, record.path) == (None, 1, ("b",), None)
    assert record.task == record.cluster == "7"


def test_a_task_that_is_named_is_the_cluster():
    assert read_record(RECORD | {"task": "x"}).cluster == "x"
    assert read_record(RECORD | {"task": "x"}, "id").cluster == "7"


@pytest.mark.parametrize("digits", [1, 3])
def test_a_number_is_printed_as_it_is(digits):
    values = [*np.linspace(-1000, 1000, 4001), *np.linspace(-2, 2, 4001), 1e15, -1e300]
    assert all(float(short(value, digits)) == float(f"{value:.{digits}f}") for value in values[:-2])
    assert [float(short(value)) for value in values[-2:]] == values[-2:]
    assert [short(value) for value in (0.5, -0.5, 0.0, -0.0)] == [".500", "-.500", ".000", ".000"]
    assert [short(value) for value in (math.inf, -math.inf, math.nan, None)] == [
        "inf", "-inf", "nan", "–",
    ]  # fmt: skip


def test_a_number_and_its_text_are_two_ids():
    assert read_record(RECORD).task != read_record(RECORD | {"id": "7"}).task


def test_another_key_can_name_the_cluster():
    assert read_record(RECORD | {"project": "x"}, "project").cluster == "x"
    with pytest.raises(SourceError, match="'project' is missing"):
        read_record(RECORD, "project")


@pytest.mark.parametrize(("label", "value"), [(True, 1.0), (0, 0.0), (2.5, 2.5), (None, None)])
def test_labels_are_verdicts_or_grades(label, value):
    assert read_record(RECORD | {"label": label}).label == value


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
