"""Laws of the order of suggestions, over what is given outright and over both kinds of matrices."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.ranking import Candidate, ranks

from excise import ChangeSet, ScoreMatrix, rank
from excise.facts import EditFacts

INTENTS = st.sampled_from(["fix", "change"])


@dataclass(frozen=True)
class Given:
    """What a ranking is made of, said outright."""

    ids: tuple[str, ...]
    values: np.ndarray
    notes: tuple[tuple[str, ...], ...]
    edited: tuple[dict[str, int], ...]
    kinds: tuple[dict[str, str], ...]
    no_ops: tuple[bool, ...]
    unchanged: tuple[bool, ...]
    facts_beside: tuple[dict[str, tuple[str, ...]], ...]
    whitespace_only: tuple[bool, ...]
    codes: tuple[str, ...]
    facts: tuple[EditFacts, ...]

    def only(self, indices):
        return Given(
            **{
                name: tuple(getattr(self, name)[i] for i in indices)
                for name in self.__annotations__
                if name != "values"
            },
            values=self.values[np.ix_(indices, indices)],
        )


@st.composite
def given_outright(draw):
    count = draw(st.integers(0, 6))
    values = np.eye(count)
    for i in range(count):
        for j in range(i):
            values[i, j] = values[j, i] = draw(st.integers(0, 8)) / 8
    levels = draw(st.lists(st.sampled_from("eeeeswn"), min_size=count, max_size=count))
    facts = [
        EditFacts(
            same_program=level == "s" or (level in "wn" and draw(st.booleans())),
            errors=draw(st.sampled_from([(), (), (), ("uses x",)])),
        )
        for level in levels
    ]
    kinds = st.sampled_from([("code",)] * 3 + [("code", "tests"), ("tests",), ("docs", "scratch")])
    changed = [() if level == "n" else draw(kinds) for level in levels]
    return Given(
        ids=tuple(map(str, range(count))),
        values=values,
        notes=tuple(tuple(["note"] * draw(st.integers(0, 2))) for _ in levels),
        edited=tuple(
            {kind: draw(st.sampled_from([0, 1, 4, 5, 6, 30])) for kind in own} for own in changed
        ),
        kinds=tuple({kind: kind for kind in own} for own in changed),
        no_ops=tuple(level == "n" for level in levels),
        unchanged=tuple(level in "wn" for level in levels),
        facts_beside=({},) * count,
        whitespace_only=tuple(level == "w" for level in levels),
        codes=tuple(draw(st.sampled_from("abc")) for _ in levels),
        facts=tuple(facts),
    )


ORIGIN = "def f(x):\n    y = x\n    return y\n\n\ndef g(x):\n    return f(x) + 1\n"
EDITS = [
    ORIGIN,
    ORIGIN + "# done\n",
    ORIGIN.replace("y = x", "y  =  x"),
    ORIGIN.replace("y = x", "y = x + 1"),
    ORIGIN.replace("y = x", "y = x + 1  # one more"),
    ORIGIN.replace("y = x", "y = x + 2"),
    ORIGIN.replace("return y\n", "return [y, x]\n"),
    ORIGIN.replace("return y\n", "return [y, x, x]\n"),
    ORIGIN.replace("return y", "return z"),
    ORIGIN.replace("return y", "return y("),
    ORIGIN[: ORIGIN.index("\n\ndef g")],
    "",
]


@st.composite
def compared(draw):
    """Draw real texts, compared as revisions of a file or as change sets of two."""
    texts = draw(st.lists(st.sampled_from(EDITS), max_size=6))
    if draw(st.booleans()):
        return ScoreMatrix.from_texts(ORIGIN, texts, language="python")
    beside = draw(st.lists(st.sampled_from(["b = 1\n", "b = 2\n"]), min_size=6, max_size=6))
    facets = draw(st.sampled_from([{}, {"b.py": "tests"}]))
    return ScoreMatrix.from_change_sets(
        {"a.py": ORIGIN, "b.py": "b = 1\n"},
        {
            f"c{number}": ChangeSet({"a.py": text, "b.py": other}, facets=facets)
            for number, (text, other) in enumerate(zip(texts, beside, strict=False))
        },
    )


MATRICES = given_outright() | compared().map(
    lambda matrix: Given(**{name: getattr(matrix, name) for name in Given.__annotations__})
)


def apart(matrix):
    """Return who changes no file of code where somebody does, by index."""
    if not any("code" in own.values() for own in matrix.kinds):
        return set()
    return {i for i, own in enumerate(matrix.kinds) if own and "code" not in own.values()}


def standing(matrix, intent):
    """Return who is behind whole ones, by index.

    0 whole, 1 broken, 2 no code in files of code, 3 other files alone, 4 no-ops.
    """
    beside = apart(matrix)
    return {
        r.index: 4
        if r.no_op
        else 3
        if r.index in beside
        else 2
        if matrix.unchanged[r.index] or r.stub
        else 1
        if r.broken
        else 0
        for r in rank(matrix, intent=intent)
    }


def size(matrix, i):
    of_code = [n for path, n in matrix.edited[i].items() if matrix.kinds[i][path] == "code"]
    return sum(of_code or matrix.edited[i].values())


@given(MATRICES, INTENTS)
def test_the_order_is_that_of_the_page(matrix, intent):
    candidates = [
        Candidate(
            similarities=tuple(np.delete(matrix.values[i], i)),
            size=size(matrix, i),
            kinds=frozenset(matrix.kinds[i].values()),
            code=matrix.codes[i],
            no_op=matrix.no_ops[i],
            codeless=matrix.unchanged[i] or facts.is_stub,
            errors=bool(facts.errors),
        )
        for i, facts in enumerate(matrix.facts)
    ]
    ranking = rank(matrix, intent=intent)
    assert [r.rank for r in sorted(ranking, key=lambda r: r.index)] == ranks(candidates, intent)
    assert [(r.rank, r.index) for r in ranking] == sorted((r.rank, r.index) for r in ranking)


@given(MATRICES, INTENTS)
def test_more_makers_of_an_edit_never_stand_below_fewer_and_broken_ones_are_last(matrix, intent):
    level = standing(matrix, intent)
    ranking = rank(matrix, intent=intent)
    for above, below in pairwise(ranking):
        assert level[above.index] <= level[below.index]
        if level[above.index] == level[below.index] != 3:
            assert above.makers >= below.makers


@given(MATRICES, INTENTS, st.data())
def test_adding_one_reorders_only_those_that_are_made_equally_often(matrix, intent, data):
    """In a fix nobody, in a change only two made equally often, for the one that is nearer."""
    count = len(matrix.ids)
    if count < 3:
        return
    added = data.draw(st.integers(0, count - 1))
    kept = [i for i in range(count) if i != added]
    before = {kept[r.index]: r for r in rank(matrix.only(kept), intent=intent)}
    after = {r.index: r for r in rank(matrix, intent=intent)}
    level = standing(matrix, intent)

    def makes(i):
        return (matrix.codes[i], level[i]) == (matrix.codes[added], level[added])

    for i in kept:
        for j in kept:
            if makes(i) or makes(j) or before[i].rank > before[j].rank:
                continue
            if after[i].rank <= after[j].rank and before[i].rank < before[j].rank:
                continue
            was, now = (
                (found[i].rank > found[j].rank) - (found[i].rank < found[j].rank)
                for found in (before, after)
            )
            if was != now:
                assert intent == "change"
                assert before[i].makers == before[j].makers
                nearer = matrix.values[added, j] - matrix.values[added, i]
                assert nearer * (now - was) > 0


@given(MATRICES, INTENTS)
def test_who_changes_no_code_has_no_vote_and_stands_behind_all_who_do(matrix, intent):
    beside = apart(matrix)
    ranking = rank(matrix, intent=intent)
    kept = [i for i in range(len(matrix.ids)) if i not in beside]
    without = rank(matrix.only(kept), intent=intent)
    assert [
        (r.index, r.makers, r.why) for r in ranking if r.index not in beside and not r.no_op
    ] == [(kept[r.index], r.makers, r.why) for r in without if not r.no_op]
    alone = rank(matrix.only(sorted(beside)), intent=intent)
    assert [r.index for r in ranking if r.index in beside] == [
        sorted(beside)[r.index] for r in alone
    ]
    first = min((r.rank for r in ranking if r.index in beside), default=len(matrix.ids) + 1)
    assert all(r.rank < first for r in ranking if r.index not in beside and not r.no_op)
    assert all(r.stub for r in ranking if r.index in beside)


@given(MATRICES, INTENTS, st.randoms(use_true_random=False))
def test_the_order_of_input_and_the_ids_change_nothing(matrix, intent, random):
    shuffled = list(range(len(matrix.ids)))
    random.shuffle(shuffled)
    again = matrix.only(shuffled)
    renamed = replace(again, ids=tuple(f"other {name}" for name in again.ids))
    before = {
        r.index: (r.rank, r.makers, r.mean_similarity, r.why) for r in rank(matrix, intent=intent)
    }
    after = {
        shuffled[r.index]: (r.rank, r.makers, r.mean_similarity, r.why)
        for r in rank(renamed, intent=intent)
    }
    assert after == before


@given(MATRICES, INTENTS)
def test_mean_similarity_is_that_to_the_others_and_never_nan(matrix, intent):
    for r in rank(matrix, intent=intent):
        if len(matrix.ids) < 2:
            assert r.mean_similarity is None
        else:
            others = np.delete(matrix.values[r.index], r.index)
            assert r.mean_similarity == pytest.approx(others.mean(), abs=1e-11)
