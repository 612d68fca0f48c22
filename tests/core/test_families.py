"""Families: edits near each other, whatever their place in a function and their new names."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from excise import ScoreMatrix
from excise.families import NEAR, families, near
from excise.pairwise import ChangeSet

ORIGIN = """\
class Client:
    def __init__(self, user, key):
        self.user = user
        self.key = key

    def header(self, realm):
        nonce = self.next_nonce()
        path = self.path or "/"
        if realm is None:
            realm = ""
        secret = f"{self.user}:{realm}:{self.key}"
        digest = hashed(secret)
        return f'user="{self.user}", realm="{realm}", path="{path}", digest="{digest}", n="{nonce}"'
"""
SECRET = '        secret = f"{self.user}:{realm}:{self.key}"\n'
NONCE = "        nonce = self.next_nonce()\n"


def decoding(
    user="user",
    key="key",
    at=NONCE,
    comment="",
    text="{0}.decode() if isinstance({0}, bytes) else {0}",
):
    """Return a revision that decodes both in one method, under these names, before a line."""
    helpers = "".join(
        f"        {name} = {text.format(value)}\n"
        for name, value in ((user, "self.user"), (key, "self.key"))
    )
    edited = ORIGIN.replace(at, f"{comment}{helpers}{at}")
    edited = edited.replace("{self.user}:{realm}:{self.key}", f"{{{user}}}:{{realm}}:{{{key}}}")
    return edited.replace('user="{self.user}"', f'user="{{{user}}}"')


FIVE = {
    "plain": decoding(),
    "underscores": decoding("_user", "_key"),
    "later": decoding(at=SECRET),
    "told": decoding(at=SECRET, comment="        # Bytes cannot be formatted.\n"),
    "turned": decoding(text="{0} if isinstance({0}, str) else {0}.decode()"),
}
OTHER = ORIGIN.replace(
    "        self.user = user\n",
    "        if isinstance(user, bytes):\n"
    "            user = user.decode()\n"
    "        self.user = user\n",
)


def matrix_of(texts, origin=ORIGIN):
    return ScoreMatrix.from_texts(origin, texts, path="client.py")


def named(matrix, **options):
    return [{matrix.ids[index] for index in family} for family in families(matrix, **options)]


def test_five_ways_to_mend_one_method_are_a_family_and_another_place_is_none():
    matrix = matrix_of({**FIVE, "elsewhere": OTHER})
    assert named(matrix) == [set(FIVE), {"elsewhere"}]
    # By their texts no group has all five.
    assert min(matrix.values[0, :5]) < 0.5


def test_change_sets_have_the_families_of_their_code():
    sets = {
        name: ChangeSet(
            {"client.py": text, "test_client.py": name * 9}, facets={"test_client.py": "tests"}
        )
        for name, text in {**FIVE, "elsewhere": OTHER}.items()
    }
    matrix = ScoreMatrix.from_change_sets({"client.py": ORIGIN}, sets)
    assert named(matrix) == [set(FIVE), {"elsewhere"}]
    moved = {"a": {"one.py": "x = 1\n"}, "b": {"two.py": "x = 1\n"}}
    change_sets = {name: ChangeSet(texts) for name, texts in moved.items()}
    assert named(ScoreMatrix.from_change_sets({}, change_sets)) == [{"a"}, {"b"}]


@pytest.mark.parametrize("names", [("user", "key"), ("u", "k"), ("_a", "_b")])
def test_neither_a_new_name_nor_the_place_in_a_function_counts(names):
    a = matrix_of([decoding(), decoding(*names, at=SECRET)])
    assert a.statements(0) == a.statements(1)
    assert families(a, similarity=1.0) == ((0, 1),)


def test_the_function_counts_and_so_does_an_old_name():
    f, g = "def f(a):\n    return a\n", "def g(a):\n    return a\n"
    logging = [text.replace("return", "log(a)\n    return") for text in (f, g)]
    matrix = matrix_of({"one": logging[0] + g, "other": f + logging[1]}, f + g)
    assert named(matrix, similarity=0.01) == [{"one"}, {"other"}]
    origin = "def f(a, b):\n    return a\n"
    matrix = matrix_of([origin.replace("return a", f"return {name} + 1") for name in "ab"], origin)
    assert matrix.statements(0) != matrix.statements(1)


def grams_by_hand(changed):
    """Return the n-grams of changed statements, as a slow reader counts them."""
    grams: Counter[tuple[object, ...]] = Counter()
    for (path, sign, (function, tokens)), count in changed.items():
        for _ in range(count):
            for start in range(len(tokens)):
                for stop in range(start + 1, min(start + 4, len(tokens)) + 1):
                    grams[path, sign, function, tokens[start:stop]] += 1
    return grams


LINES = st.sampled_from(
    [
        "    x = 1\n",
        "    y = x\n",
        "    log(a)\n",
        "    return a\n",
        "    if a:\n        b()\n",
        "    # hm\n",
    ]
)
FUNCTION = st.lists(LINES, max_size=6).map(
    lambda lines: "".join(["def f(a):\n", *lines, "    pass\n"])
)


@pytest.mark.slow
@given(FUNCTION, st.lists(FUNCTION, min_size=1, max_size=6), st.sampled_from([0.3, NEAR, 1.0]))
@settings(max_examples=60, deadline=None)
def test_a_family_has_only_near_edits_and_each_revision_is_in_one(origin, texts, similarity):
    matrix = matrix_of(texts, origin)
    found = families(matrix, similarity=similarity)
    assert sorted(index for family in found for index in family) == list(range(len(texts)))
    grams = [grams_by_hand(matrix.statements(index)) for index in range(len(texts))]
    family_of = {index: family for family in found for index in family}
    for i, a in enumerate(grams):
        for j, b in enumerate(grams[:i]):
            both, total = (a & b).total(), a.total() + b.total()
            value = 2 * both / total if total else 0.0
            assert near(a, b) == near(b, a) == value
            is_same = matrix.level(i, j) is not None
            if is_same:
                assert family_of[i] is family_of[j]
            if family_of[i] is family_of[j]:
                assert is_same or value >= similarity
    # Whoever is asked for some only gets what these alone would give.
    some = range(0, len(texts), 2)
    alone = matrix_of([texts[index] for index in some], origin)
    renumbered = tuple(
        tuple(2 * index for index in family) for family in families(alone, similarity=similarity)
    )
    assert families(matrix, list(some), similarity=similarity) == renumbered


def test_texts_that_no_grammar_reads_are_compared_by_lines():
    origin = "one two\nthree\n"
    texts = {"a": "one two\nthree four\n", "b": "zero\none two\nthree four\n", "c": "one two\n"}
    matrix = ScoreMatrix.from_texts(origin, texts)
    assert named(matrix, similarity=0.7) == [{"a", "b"}, {"c"}]


@pytest.mark.parametrize(
    ("path", "origin", "bound"),
    [
        ("a.go", "package a\n\nfunc f(x int) int {\n\treturn x\n}\n", "{0} := x + g(x)"),
        ("a.js", "function f(x) {\n  return x\n}\n", "const {0} = x + g(x);"),
        ("A.java", "class A {\n  int f(int x) {\n    return x;\n  }\n}\n", "int {0} = x + g(x);"),
        ("a.rs", "fn f(x: i32) -> i32 {\n    return x;\n}\n", "let {0} = x + g(x);"),
    ],
)
def test_new_names_are_blind_in_other_languages(path, origin, bound):
    texts = [
        origin.replace("return x", f"{bound.format(name)}\n  return {name} * {name}")
        for name in ("y", "z")
    ]
    matrix = ScoreMatrix.from_texts(origin, texts, path=path)
    assert families(matrix, similarity=1.0) == ((0, 1),)
