"""Change sets: one number with single files, equal to the slow oracle, whatever stands beside."""

from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import change_sets as oracle
from tests.reference.budget import scaled
from tests.reference.triples import text_triple

from excise import ChangeSet, ScoreMatrix, syntax
from excise.errors import Unparsable

LINES = st.lists(
    st.sampled_from(["a = 1", "b  = 2 ", "    c(a)", "", "d", "if a:", "\tb", "é = 'x  y'"]),
    max_size=9,
).map(lambda lines: "".join(f"{line}\n" for line in lines))
PLANES = ("values", "anchored", "anywhere", "contained")
PYTHON, TEXT = "a.py", "notes.txt"


def matrix_of(origin, *change_sets, **options):
    named = {
        str(index): files if isinstance(files, ChangeSet) else ChangeSet(files)
        for index, files in enumerate(change_sets)
    }
    return ScoreMatrix.from_change_sets(origin, named, **options)


@given(origin=LINES, revisions=st.lists(LINES, max_size=5), path=st.sampled_from([PYTHON, TEXT]))
def test_one_file_has_the_numbers_of_its_texts(origin, revisions, path):
    texts = ScoreMatrix.from_texts(origin, revisions, path=path)
    # Change sets of one file all have it in common, also where one of them leaves it as it is.
    sets = [ChangeSet({path: text}, {path: ()}) for text in revisions]
    matrix = matrix_of({path: origin}, *sets)
    for plane in PLANES:
        assert np.array_equal(getattr(matrix, plane), getattr(texts, plane)), plane
    for i, j in combinations(range(len(revisions)), 2):
        if not (texts.no_ops[i] and texts.no_ops[j]):  # of nothing there is nothing to say
            assert matrix.word(i, j) == texts.word(i, j)
    assert matrix.edit_sizes == texts.edit_sizes
    assert matrix.unchanged == texts.unchanged
    again = ScoreMatrix.from_texts(origin, revisions, path=path, readings=matrix.readings)
    assert all(np.array_equal(getattr(again, plane), getattr(texts, plane)) for plane in PLANES)
    assert (again.signature, again.notes) == (texts.signature, texts.notes)
    found, expected = again.hunks(), texts.hunks()
    assert list(found) == list(expected)
    for i, j in combinations(range(len(revisions)), 2):
        assert list(found.counts(again.pair(i, j))) == list(expected.counts(texts.pair(i, j)))


def test_what_was_read_is_not_read_again(monkeypatch):
    origin = "def f(a):\n    return a\n"
    texts = [origin + f"x = {number}\n" for number in range(3)]
    matrix = matrix_of({PYTHON: origin}, *({PYTHON: text} for text in texts))
    parsed, parse = [], syntax.parse
    monkeypatch.setattr(
        syntax, "parse", lambda text, *more, **options: (parsed.append(text), parse(text, *more))[1]
    )
    new = [*texts[1:], origin + "y\n"]
    scratch = ScoreMatrix.from_texts(origin, new, path=PYTHON)
    assert parsed == [origin, *new]
    parsed.clear()
    again = ScoreMatrix.from_texts(origin, new, path=PYTHON, readings=matrix.readings)
    assert parsed == new[2:]
    assert np.array_equal(again.values, scratch.values)


@pytest.mark.parametrize("seed", range(4))
def test_several_files_are_what_the_oracle_says(seed):
    rng = Random(seed)
    for _ in range(scaled(60)):
        triples = [text_triple(rng) for _ in range(rng.randint(1, 3))]
        paths = [rng.choice(["{}.py", "{}.txt", "{}.c"]).format(i) for i in range(len(triples))]
        grammars = [{".py": "python", ".c": "c"}.get(path[1:]) for path in paths]
        expected = oracle.compare(
            [(*triple, grammar) for triple, grammar in zip(triples, grammars, strict=True)]
        )
        origin, a, b = ({path: t[side] for path, t in zip(paths, triples, strict=True)}
                        for side in range(3))  # fmt: skip
        matrix = matrix_of(origin, a, b)
        if a == b == origin:
            continue
        assert matrix.values[0, 1] == matrix.values[1, 0] == float(expected.exact)
        assert matrix.anchored[0, 1] == pytest.approx(float(expected.anchored), abs=1e-15)
        assert matrix.anywhere[0, 1] == pytest.approx(float(expected.anywhere), abs=1e-15)
        if matrix.level(0, 1) is None:
            assert matrix.word(0, 1) == expected.word


@given(st.lists(st.tuples(LINES, LINES, LINES), min_size=2, max_size=6), LINES, LINES)
def test_a_pair_has_one_number_whatever_stands_beside_it(others, x, y):
    origin = {PYTHON: x, TEXT: y, "c.js": x + y}
    sets = [dict(zip(origin, texts, strict=True)) for texts in others]
    together = matrix_of(origin, *sets)
    for i, j in combinations(range(len(sets)), 2):
        alone = matrix_of(origin, sets[j], sets[i])
        for plane in PLANES[:3]:
            assert getattr(together, plane)[i, j] == getattr(alone, plane)[0, 1]
        assert together.contained[i, j] == alone.contained[1, 0]
        assert together.word(i, j) == alone.word(0, 1)


def test_a_file_that_only_one_edits_counts():
    origin = {"a.py": "x = 1\n", "b.py": "y = 1\n"}
    matrix = matrix_of(origin, {"a.py": "x = 2\n"}, {"a.py": "x = 2\n", "b.py": "y = 2\n"})
    assert 0 < matrix.values[0, 1] < 1
    assert matrix.word(0, 1) == "overlaps"
    assert matrix.contained.tolist() == [[1.0, 1.0], [0.5, 1.0]]


def test_what_stands_in_another_file_counts_a_quarter():
    guard = "if x is None:\n    return None\n"
    origin = {"a.py": "def f(x):\n    pass\n", "b.py": "def g(x):\n    pass\n", "c.py": ""}
    first = {"a.py": origin["a.py"] + guard, "c.py": "z = 1\n"}
    second = {"b.py": origin["b.py"] + guard, "c.py": "z = 1\n"}
    here = matrix_of(origin, first, dict(first))
    elsewhere = matrix_of(origin, first, second)
    assert here.values[0, 1] == 1
    assert elsewhere.anywhere[0, 1] == 1 > elsewhere.values[0, 1] > elsewhere.anchored[0, 1]
    assert elsewhere.word(0, 1) == "overlaps"


def test_no_file_in_common_is_nothing_in_common():
    edit = "y = 2\n"
    matrix = matrix_of({"a.py": "x\n", "b.py": "x\n"}, {"a.py": "x\n" + edit}, {"b.py": edit})
    assert matrix.values[0, 1] == 0
    assert matrix.word(0, 1) == "different"


def test_a_file_created_under_two_names_is_one_file():
    text = "def f():\n    return 1\n"
    names = matrix_of({}, {"a.py": text}, {"b.py": text}, {"b.py": text + "x = 1\n"})
    assert names.values[0, 1] == 1
    assert names.word(0, 1) == "overlaps"  # a name is a part of a program
    assert 0 < names.values[1, 2] < 1
    assert names.values[0, 2] == 0  # neither a name nor a text in common


@pytest.mark.parametrize(
    ("a", "b", "value", "word"),
    [
        ({"run": ("mode 100755",)}, {"run": ("mode 100755",)}, 1, "identical"),
        ({"run": ("mode 100755",)}, {"run": ("mode 100644",)}, 0, "different"),
        ({"run": ("mode 100755",)}, {"stop": ("mode 100755",)}, 0, "different"),
        ({}, {"run": ("mode 100755",)}, 0, "different"),
        ({}, {}, 1, "identical"),
    ],
)
def test_facts_are_compared_where_there_is_no_text(a, b, value, word):
    matrix = matrix_of({}, ChangeSet(facts=a), ChangeSet(facts=b))
    assert matrix.values[0, 1] == matrix.values[1, 0] == value
    assert matrix.word(0, 1) == word
    assert matrix.no_ops == (not a, not b)


def test_facts_do_not_change_what_texts_say():
    text = {"a.py": "x = 2\n"}
    matrix = matrix_of({"a.py": "x = 1\n"}, ChangeSet(text, {"a.py": ("mode 100755",)}), text)
    assert matrix.values[0, 1] == 1


def test_white_space_is_compared_over_all_files():
    origin = {"a.py": "x = 1\ny = 2\n", "b.txt": "u v\n"}
    spaced = {"a.py": "x  = 1\ny = 2\n", "b.txt": "u  v\n"}
    half = {"a.py": "x  = 1\ny = 2\n", "b.txt": "u v\n"}
    matrix = matrix_of(origin, spaced, half, {"a.py": "x = 3\ny = 2\n"})
    assert 0 < matrix.values[0, 1] < 1
    assert matrix.values[0, 2] == 0
    assert matrix.notes[:2] == (("whitespace-only",),) * 2


def test_the_origin_may_be_deleted_and_be_created():
    origin = {"a.py": "x = 1\n"}
    deleted = ChangeSet({"a.py": ""}, {"a.py": ("deleted",)})
    matrix = matrix_of(origin, deleted, deleted, {"a.py": "x = 2\n"})
    assert matrix.values[0, 1] == 1
    assert matrix.values[0, 2] < 1


def test_one_unreadable_text_makes_its_own_pairs_lexical(monkeypatch):
    from excise.preparation import Preparation

    read = Preparation.revision

    def refuse(self, content, cancel=None):
        if self.reading.grammar and "BAD" in content:
            raise Unparsable("the parser refuses it")
        return read(self, content, cancel)

    monkeypatch.setattr(Preparation, "revision", refuse)
    origin = {"a.py": "x = f(1)\n", "b.py": "y = 1\n"}
    sets = [
        {"a.py": "x = f(2)\n", "b.py": "y = 2\n"},
        {"a.py": "x = f(2, 3)\n"},
        {"a.py": "x = f(2)  # BAD\n", "b.py": "y = 2\n"},
    ]
    matrix = matrix_of(origin, *sets)
    alone = matrix_of(origin, *sets[:2])
    assert matrix.values[0, 1] == alone.values[0, 1]
    assert matrix.notes == ((), (), ("a.py: lexical tokens: the parser refuses it",))
    pair = matrix_of(origin, sets[2], sets[0])
    assert matrix.values[0, 2] == pair.values[0, 1] > 0
    assert "|tok:python@0.13.0/2+lexical|basis:origin|" in matrix.signature
    assert matrix.edit_sizes[2] > 0


def test_pairs_with_unreadable_texts_are_read_together(monkeypatch):
    """How often such a text is read does not depend on how many others there are."""
    from excise.preparation import Preparation

    read, unreadable = Preparation.revision, []

    def refuse(self, content, cancel=None):
        if "BAD" in content:
            unreadable.append(content)
        if self.reading.grammar and "BAD" in content:
            raise Unparsable("the parser refuses it")
        return read(self, content, cancel)

    monkeypatch.setattr(Preparation, "revision", refuse)
    origin = {"a.py": "x = f(1)\n", "b.py": "y = 1\n", "c.py": "z = 1\n"}
    bad = [{"a.py": "x = 2  # BAD\n"}, {"a.py": "x = 3  # BAD\n", "b.py": "y = 3\n"},
           {"a.py": "x = 2\n", "c.py": "z = 3  # BAD\n"}]  # fmt: skip
    good = [{"a.py": f"x = f({n})\n", "b.py": f"y = 2 + {n}\n"} for n in range(2, 22)]
    reads = []
    for sets in (bad + good[:5], bad + good[:10], bad + good):
        unreadable.clear()
        matrix = matrix_of(origin, *sets)
        reads.append(len(unreadable))
    assert reads[0] == reads[1] == reads[2]
    for i, j in combinations(range(6), 2):
        pair = matrix_of(origin, sets[i], sets[j])
        for plane in PLANES:
            own, alone = getattr(matrix, plane), getattr(pair, plane)
            assert (own[i, j], own[j, i]) == (alone[0, 1], alone[1, 0]), plane
        assert matrix.word(i, j) == pair.word(0, 1)


def test_an_origin_that_no_grammar_reads_is_told_to_those_who_edit_it():
    large = "".join(f"x{number} = {number}\n" for number in range(90_000))
    origin = {"large.py": large, "a.py": "y = 1\n"}
    matrix = matrix_of(origin, {"large.py": large + "z = 1\n"}, {"a.py": "y = 2\n"})
    assert matrix.notes == (("large.py: lexical tokens: over 1,000,000 bytes",), ())


def test_a_lone_unreadable_text_is_in_the_signature():
    large = "".join(f"x{number} = {number}\n" for number in range(90_000))
    matrix = matrix_of({}, {"large.py": large})
    assert "+lexical|" in matrix.signature
    assert matrix.edit_sizes[0] >= 270_000


def test_a_large_created_file_costs_the_others_nothing():
    large = "".join(f"x{number} = {number}\n" for number in range(90_000))
    matrix = matrix_of({"a.py": "y = 1\n"}, {"large.py": large}, {"a.py": "y = 2\n"})
    assert "over 1,000,000 bytes" in " ".join(matrix.notes[0])
    assert matrix.values[0, 1] == 0
