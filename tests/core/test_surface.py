"""What somebody meets who imports the library: a version, short reprs, tables, clear errors."""

import pickle
import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import excise

ROOT = Path(__file__).parent.parent.parent
LONG = "def f(x):\n    return x\n" * 300
EVIL = "<script>alert(1)</script>\x1b[31m\u202e&"
SHORT = 300
ELEMENTS = {"div", "p", "pre", "code", "b", "i", "br", "table", "thead", "tbody", "tr", "th", "td"}


def test_the_version_is_that_of_the_distribution():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert excise.__version__ == project["version"]
    assert f"\nversion: {excise.__version__}\n" in citation


class Series:
    """What a table's column is: no Sequence, and a text only by its parts."""

    def __init__(self, texts):
        self._texts = np.array(texts, dtype=object)

    def __iter__(self):
        return iter(self._texts)

    def __len__(self):
        return len(self._texts)


@pytest.fixture(scope="module")
def matrix():
    texts = {"a": LONG.replace("return x", "return y"), "b": LONG.replace("x", "z"), "c": LONG}
    return excise.ScoreMatrix.from_texts(LONG, texts, language="python")


@pytest.fixture(scope="module")
def values(matrix):
    score = matrix.pair(0, 1)
    hunks = matrix.hunks()
    change = excise.ChangeSet({f"{number}.py": LONG for number in range(100)})
    changes = excise.ScoreMatrix.from_change_sets({"a.py": "x\n"}, {"one": change, "two": change})
    return [
        *(matrix, score, score.regions[0], score.regions[0].origin, hunks, hunks[0]),
        *(hunks[0].variants[0], excise.cluster(matrix)[0], excise.rank(matrix)[0], change, changes),
        *(excise.Text(LONG), excise.Revision("a", LONG), excise.replay(LONG, LONG, "x\n" + LONG)),
    ]


def test_reprs_are_short(values):
    assert {
        type(value).__name__: len(repr(value)) for value in values if len(repr(value)) > SHORT
    } == {}


def test_scores_can_be_sent(matrix):
    origin, a, b = "def f():\n    return 1\n", "def f():\n    return 2 # x\n", "def f(): return 3\n"
    for options in ({}, {"granularity": "line"}, {"language": "python", "comments": "drop"}):
        score = excise.similarity(origin=origin, a=a, b=b, **options)
        again = pickle.loads(pickle.dumps(score))
        assert (again.exact, again.signature, again.word) == (
            score.exact, score.signature, score.word,
        )  # fmt: skip
        assert again.regions == score.regions
        assert again.contained == score.contained
    again = pickle.loads(pickle.dumps(matrix))
    assert (again.values == matrix.values).all()
    assert (again.ids, again.signature, again.word(0, 1)) == (
        matrix.ids, matrix.signature, matrix.word(0, 1),
    )  # fmt: skip


@pytest.mark.parametrize("of", [list, tuple, iter, np.array, Series])
def test_texts_in_any_sequence_are_references(of):
    texts = ["a c", "a d"]
    score = excise.excision_score(origin="a b", reference=of(texts), hypothesis="a d")
    assert (score.value, score.reference) == (1.0, 1)


@pytest.mark.parametrize("reference", [["a", 1], np.array([1.0]), {"a": 1}, 5, None, b"a"])
def test_what_is_no_text_is_no_reference_for_one(reference):
    with pytest.raises(excise.ContentError, match="reference"):
        excise.excision_score(origin="a b", reference=reference, hypothesis="a d")


def test_clusters_have_ids(matrix):
    groups = excise.cluster(matrix, threshold=0)
    assert [(group.ids, group.name) for group in groups] == [((name,), name) for name in matrix.ids]


class Tags(HTMLParser):
    """The names of all elements, and all text."""

    def __init__(self, page: str):
        super().__init__()
        self.tags, self.text = set(), ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert {name for name, _ in attrs} <= {"style"}

    def handle_data(self, data):
        self.text += data


def test_tables_for_notebooks_are_inert():
    texts = {EVIL: f"a\n{EVIL}\n", "b": "a\nc\n", "c": f"a\n{EVIL}\n"}
    matrix = excise.ScoreMatrix.from_texts("a\n", texts)
    changes = {name: excise.ChangeSet({"a": text}) for name, text in texts.items()}
    for shown in (
        matrix,
        matrix.pair(0, 1),
        excise.cluster(matrix),
        excise.ScoreMatrix.from_change_sets({"a": "a\n"}, changes),
    ):
        page = shown._repr_html_()
        read = Tags(page)
        assert read.tags <= ELEMENTS
        assert "<script>alert(1)</script>\\x1b[31m\\u202e&" in read.text
        assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", page)


def test_a_table_of_many_is_cut():
    texts = {str(number): f"a {number}" for number in range(100)}
    page = excise.ScoreMatrix.from_texts("a", texts)._repr_html_()
    assert "70 more revisions" in page
    assert len(page) < 300_000


MATRIX = excise.ScoreMatrix.from_texts("a", {"x": "b"})
WRONG = [
    (lambda: excise.similarity(origin=None, a="x", b="y"), "origin is None"),
    (lambda: excise.similarity(origin="x", a=3, b="y"), "a is of type int"),
    (lambda: excise.similarity(origin="x", a="y", b=b"z"), "b is bytes; decode it"),
    (lambda: excise.similarity(origin="x", a="y", b={"z"}), "b is of type set"),
    (lambda: excise.similarity(origin=[["x"]], a=["y"], b=["z"]), "origin holds tokens that"),
    (lambda: excise.similarity(origin="x", a="y", b="z", language=3), "language is int"),
    (lambda: excise.similarity(origin="x", a="y", b="z", path=Path("z.py")), "path is PosixPath"),
    (
        lambda: excise.excision_score(origin="x", reference=None, hypothesis="y"),
        "reference is None",
    ),
    (lambda: excise.excision_score(origin="x", reference=["y", None], hypothesis="y"), "reference"),
    (lambda: excise.align("x", None), "revision is None"),
    (lambda: excise.ScoreMatrix.from_texts("x", "abc"), "revisions is of type str"),
    (lambda: excise.ScoreMatrix.from_texts("x", None), "revisions is of type NoneType"),
    (lambda: excise.ScoreMatrix.from_texts("x", {"k": 1.5}), "revision 'k' is of type float"),
    (lambda: MATRIX.replaced("x", None), "revision 'x' is None"),
    (lambda: excise.cluster([[1.0]]), "matrix is of type list"),
    (lambda: excise.rank(None), "matrix is of type NoneType"),
]


@pytest.mark.parametrize(("call", "says"), WRONG, ids=[says for _, says in WRONG])
def test_what_is_not_a_text_is_a_clear_error(call, says):
    with pytest.raises(excise.ContentError, match=says):
        call()


@pytest.mark.parametrize(
    ("language", "says"),
    [("pyhton", "'python'"), ("klingon", "'text' means lexical"), ("type script", "'typescript'")],
)
def test_an_unknown_language_is_a_clear_error(language, says):
    with pytest.raises(excise.OptionError, match=says):
        excise.similarity(origin="x", a="y", b="z", language=language)
    with pytest.raises(excise.OptionError, match=says):
        excise.align("x", "y", language=language)
    lenient = excise.similarity(origin="x", a="y", b="z", language=language, strict=False)
    assert lenient.notes == (f"lexical tokens: no grammar for {language!r}",)


@pytest.mark.parametrize("language", [None, "", "Python", ".py", "c++", "text", "plaintext"])
def test_known_languages_are_none(language):
    assert excise.similarity(origin="x", a="y", b="y", language=language).value == 1
