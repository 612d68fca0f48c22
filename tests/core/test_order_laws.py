"""The order of suggestions against a slow one, and what its newer terms promise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.ranking import Candidate, order

from excise import ChangeMatrix, ChangeSet, ScoreMatrix, rank
from excise.facts import EditFacts
from excise.ranking import Regime

SIMILARITIES = st.sampled_from([0.0, 0.1, 0.19, 0.2, 0.21, 0.5, 1.0])


@dataclass(frozen=True)
class Given:
    """What a ranking is made of, said outright."""

    ids: tuple[str, ...]
    values: np.ndarray
    notes: tuple[tuple[str, ...], ...]
    edit_sizes: tuple[int, ...]
    no_ops: tuple[bool, ...]
    unchanged: tuple[bool, ...]
    syntax_errors: tuple[bool, ...]
    facts: tuple[EditFacts, ...]


@st.composite
def matrices(draw):
    count = draw(st.integers(0, 6))
    values = np.eye(count)
    for i in range(count):
        for j in range(i):
            values[i, j] = values[j, i] = draw(SIMILARITIES)
    levels = draw(st.lists(st.sampled_from("eeeswn"), min_size=count, max_size=count))
    facts = [
        EditFacts(
            same_program=level == "s" or (level in "wn" and draw(st.booleans())),
            errors=draw(st.sampled_from([(), (), ("uses x",)])),
            lost=draw(st.sampled_from([(), ("f",), ("f", "g")])),
        )
        for level in levels
    ]
    return Given(
        ids=tuple(map(str, range(count))),
        values=values,
        notes=((),) * count,
        edit_sizes=tuple(draw(st.sampled_from([0, 1, 4, 5, 6, 30])) for _ in levels),
        no_ops=tuple(level == "n" for level in levels),
        unchanged=tuple(level in "wn" for level in levels),
        syntax_errors=tuple(draw(st.booleans()) and draw(st.booleans()) for _ in levels),
        facts=tuple(facts),
    )


def candidates_of(matrix):
    return [
        Candidate(
            similarities=tuple(np.delete(matrix.values[i], i)),
            size=matrix.edit_sizes[i],
            no_op=matrix.no_ops[i],
            white=matrix.unchanged[i],
            stub=facts.same_program,
            errors=bool(facts.errors) or matrix.syntax_errors[i],
            lost=frozenset(facts.lost),
        )
        for i, facts in enumerate(matrix.facts)
    ]


@given(matrices())
def test_the_order_is_that_of_the_page(matrix):
    expected = order(candidates_of(matrix))
    for r in rank(matrix):
        score, place = expected[r.index]
        assert (r.score, r.rank) == (pytest.approx(score, abs=1e-8), place)


@given(matrices())
def test_terms_add_up_and_one_regime_holds_for_all(matrix):
    ranking = rank(matrix)
    assert len({r.regime for r in ranking}) <= 1
    for r in ranking:
        assert r.score == pytest.approx(sum(r.terms), abs=1e-11)
        assert r.terms.agreement >= 0 >= max(r.terms.size, r.terms.broken)
        assert (r.terms.broken < 0) == bool(r.broken)


@given(matrices(), st.randoms(use_true_random=False))
def test_no_term_depends_on_the_order_of_revisions(matrix, random):
    shuffled = list(range(len(matrix.ids)))
    random.shuffle(shuffled)
    again = Given(
        ids=tuple(matrix.ids[i] for i in shuffled),
        values=matrix.values[np.ix_(shuffled, shuffled)],
        notes=matrix.notes,
        edit_sizes=tuple(matrix.edit_sizes[i] for i in shuffled),
        no_ops=tuple(matrix.no_ops[i] for i in shuffled),
        unchanged=tuple(matrix.unchanged[i] for i in shuffled),
        syntax_errors=tuple(matrix.syntax_errors[i] for i in shuffled),
        facts=tuple(matrix.facts[i] for i in shuffled),
    )
    before = {r.id: (r.rank, r.terms, r.regime, r.broken) for r in rank(matrix)}
    assert {r.id: (r.rank, r.terms, r.regime, r.broken) for r in rank(again)} == before


ORIGIN = '''import os


def mean(values, default=0):
    """Return the mean."""
    total = sum(values)
    if default:
        print(default)
    return total / len(values)


class Shape:
    def area(self):
        side = self.side
        return side
'''
FIXES = [
    ORIGIN.replace("total / len(values)", "total / len(values) if values else default"),
    ORIGIN.replace("    total", "    if not values:\n        return default\n    total"),
    ORIGIN.replace("return side\n", "return side * side * self.scale\n"),
]  # fmt: skip
PLANTED = {
    "dead parameter": ORIGIN.replace("default=0", "default=0, strict=False"),
    "dead annotated parameter": ORIGIN.replace("area(self", "area(self, unit: str = 'm'"),
    "comment": ORIGIN.replace("    total", "    # the sum\n    total"),
    "comment at a line's end": ORIGIN.replace("return side", "return side  # squared?"),
    "white space": ORIGIN.replace("total = sum(", "total  =  sum( "),
    "blank lines": ORIGIN.replace("    total", "\n\n    total"),
    "unused local": ORIGIN.replace("    total", "    result = None\n    total"),
    "unused constant": ORIGIN.replace("\n\ndef", "\nEPSILON = 1e-9\n\n\ndef"),
    "unused import": ORIGIN.replace("import os\n", "import os\nimport math\n"),
    "unused attribute": ORIGIN.replace("side = self", "self.cached = None\n        side = self"),
    "docstring": ORIGIN.replace("Return the mean.", "Return the mean of some values."),
    "new docstring": ORIGIN.replace("        side =", '        """Return it."""\n        side ='),
    "private helper": ORIGIN.replace("class Shape", "def _help(x):\n    return x\n\n\nclass Shape"),
    "pass": ORIGIN.replace("    total = sum", "    pass\n    total = sum"),
    "two of them": ORIGIN.replace("default=0", "default=0, strict=False") + "# done\n",
    "no-op": ORIGIN,
}


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize(("copies", "fixes"), [(1, FIXES), (4, FIXES[:1])])
def test_a_stub_is_never_first_however_many_agree_on_it(name, copies, fixes):
    """Neither in one file nor in a change set of several."""
    texts = {f"fix{i}": text for i, text in enumerate(fixes)}
    texts |= {f"stub{i}": PLANTED[name] for i in range(copies)}
    alone = rank(ScoreMatrix.from_texts(ORIGIN, texts, language="python"))
    files = {"a.py": ORIGIN, "b.py": "x = 1\n"}
    sets = {
        key: ChangeSet({"a.py": text, **({"b.py": "x = 1  # b\n"} if "stub" in key else {})})
        for key, text in texts.items()
    }
    together = rank(ChangeMatrix.from_change_sets(files, sets))
    for ranking in (alone, together):
        assert all(r.id.startswith("fix") for r in ranking[: len(fixes)])
        assert all(r.rank > len(fixes) for r in ranking[len(fixes) :])


@pytest.mark.parametrize("name", [name for name in PLANTED if name != "no-op"])
def test_stubs_alone_are_ranked_among_themselves(name):
    ranking = rank(ScoreMatrix.from_texts(ORIGIN, [PLANTED[name]], language="python"))
    assert ranking[0].rank == 1
    assert ranking[0].stub


def test_where_every_edit_is_large_and_some_agree_the_smallest_is_not_first():
    body = "".join(f"    step_{i}(values)\n" for i in range(4))
    more = ORIGIN.replace("    total", body.replace("step_3", "last") + "    total")
    twin = ORIGIN.replace("    total", body + "    total")
    small = ORIGIN.replace("return side", "return other(side, side) + side")
    texts = {"small": small, "more": more, "twin": twin}
    ranking = rank(ScoreMatrix.from_texts(ORIGIN, texts))
    assert ranking[0].regime is Regime.AGREEMENT
    assert ranking[-1].id == "small"
    sized = rank(ScoreMatrix.from_texts(ORIGIN, {"small": small, "more": more}))
    assert (sized[0].regime, sized[0].id) == (Regime.NO_AGREEMENT, "small")


def test_a_definition_that_most_lose_is_not_missed():
    gone = ORIGIN[: ORIGIN.index("class")]
    texts = {"kept": FIXES[0], "gone": gone, "too": gone + "\n\nx = mean([1])\n"}
    ranking = {r.id: r for r in rank(ScoreMatrix.from_texts(ORIGIN, texts, language="python"))}
    assert not any(r.broken for r in ranking.values())
    texts["other"] = FIXES[1]
    ranking = {r.id: r for r in rank(ScoreMatrix.from_texts(ORIGIN, texts, language="python"))}
    assert ranking["gone"].broken == ("no longer defines Shape",)
    assert not ranking["other"].broken
