"""The one interface of the measures: names, signatures, pickling, what is refused."""

import pickle

import pytest

from excise.errors import OptionError
from excise.evaluation import MEASURES, Item, measure, measures


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_has_a_docstring_a_source_and_a_signature(name):
    found = MEASURES[name]
    assert found.name == name
    assert found.description
    assert found.source
    assert found.signature("drop") != found.signature("keep")
    assert found.low < found.high


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_survives_pickling(name):
    again = pickle.loads(pickle.dumps(MEASURES[name]))
    assert again == MEASURES[name]


def test_an_unknown_name_is_told_its_neighbours():
    with pytest.raises(OptionError, match=r"did you mean.*sari"):
        measure("sarri")
    with pytest.raises(OptionError, match="the measures are: es-nested, es-line"):
        measure("§§§")


def test_names_are_read_as_people_write_them():
    assert measure(" ES-Nested ").name == "es-nested"
    assert [found.name for found in measures(["em", "nes", "em"])] == ["em", "nes"]
    assert [found.name for found in measures()] == list(MEASURES)


def test_without_a_reference_there_is_nothing_to_measure():
    with pytest.raises(OptionError, match="at least one reference"):
        Item.of(origin="a", reference=[], hypothesis="a")


@pytest.mark.parametrize("field", ["origin", "reference", "hypothesis"])
def test_what_is_no_text_is_refused_by_name(field):
    texts = {"origin": "a", "reference": ["a"], "hypothesis": "a"}
    texts[field] = [None] if field == "reference" else None
    with pytest.raises(OptionError, match=f"{field}.*NoneType; it must be text"):
        Item.of(**texts)


def test_all_measures_see_the_same_text():
    item = Item.of(origin="\ufeffa\r\n", reference="b\r", hypothesis="c # d\n\n", comments="keep")
    assert (item.origin, item.references, item.hypothesis) == ("a\n", ("b\n",), "c # d\n\n")
    item = Item.of(
        origin="a", reference="b", hypothesis="c # d\n\n", language="python", comments="drop"
    )
    assert item.hypothesis == "c\n"
    assert not item.notes
    item = Item.of(origin="a", reference="b", hypothesis="c # d \n\n", comments="drop")
    assert item.hypothesis == "c # d\n"
    assert item.notes == ("comments kept: no grammar to find them",)
