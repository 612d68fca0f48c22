"""The numbers of hunks against the numbers of the pair they are parts of."""

import ast
from contextlib import suppress
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import excise
from excise import normal_form, syntax
from excise.agreement import NAMES, SAME
from excise.signature import GRANULARITIES, Options
from excise.text import Revision
from excise_server.editor.analysis import (
    MAX_COMPARED,
    MAX_PAIRS,
    Analyst,
    Snapshot,
    compare,
    count_hunks,
)

ORIGIN = "def f(a, b):\n    x = a + b\n    return x\n\n\ndef g(a):\n    return a * 2\n"
A = ORIGIN.replace("a + b", "a - b")
BOTH = A.replace("a * 2", "a * 3")
LINE = st.sampled_from(["x = 1\n", "y = x\n", "z(y, x)\n", "\n", "x = 2\n", "    \n"])
TEXT = st.lists(LINE, max_size=7).map("".join)


def scored(origin: str, *texts: str, granularity: str = "nested"):
    revisions = tuple(map(Revision, map(str, range(len(texts))), texts))
    snapshot = Snapshot("m.py", origin, revisions, options=Options(granularity))
    comparison = compare(snapshot)
    hunks, matrix = comparison.matrix.hunks(), comparison.matrix
    return matrix, hunks, count_hunks(hunks, matrix, range(len(texts)))


def test_a_hunk_has_the_numbers_of_its_own_regions():
    _, hunks, (first, second) = scored(ORIGIN, A, BOTH)
    assert [hunk.lo for hunk in hunks] == [1, 6]
    assert first.mean.es == 1.0  # both made the same edit here
    assert second.mean.es == 0.0  # one of them made none here
    assert first.share + second.share == pytest.approx(1)


def test_a_pair_that_does_not_diverge_in_a_hunk_agrees_there():
    _, _, (first, second) = scored(ORIGIN, A, A, BOTH)
    assert [(p.a, p.b, p.es) for p in second.pairs] == [(0, 2, 0.0), (1, 2, 0.0)]
    assert second.mean.es == pytest.approx(1 / 3)
    assert first.mean.es == 1.0


@pytest.mark.parametrize(("b", "es"), [("c a b", 0.0), ("a c b", 1.0)])
def test_words_in_another_order_are_alike_only_where_the_order_is(b, es):
    texts = [f"{words}\n\nthen\n\n{end}\n" for words, end in (("a c b", "x"), (b, "y"))]
    matrix, _, (first, second) = scored("a b c\n\nthen\n\nonce\n", *texts)
    assert first.mean.es == es
    assert second.mean.es < 1
    assert matrix.word(0, 1) not in SAME


def test_an_insertion_among_blank_lines_is_one_hunk_with_the_blank_line_that_changed():
    """No line with a token is between them."""
    origin = "a()\n\n\n\n\nb()\n"
    _, (hunk,), (only,) = scored(origin, "a()\n\n\n\nnew()\n\nb()\n", "a()\n \n\n\nold()\n\nb()\n")
    assert (hunk.lo, only.share) == (1, 1.0)


@given(TEXT, TEXT, TEXT, st.sampled_from(GRANULARITIES))
def test_shares_add_up(origin: str, a: str, b: str, granularity: str):
    matrix, _, found = scored(origin, a, b, granularity=granularity)
    diverges = bool(matrix.pair(0, 1).regions)
    assert sum(s.share for s in found) == pytest.approx(1.0 if diverges else 0.0)


@given(TEXT, TEXT, TEXT)
def test_a_single_hunk_has_the_numbers_of_the_pair(origin: str, a: str, b: str):
    matrix, _, found = scored(origin, a, b)
    score = matrix.pair(0, 1)
    if len(found) == 1 and score.regions:
        numbers = found[0].pairs[0]
        assert found[0].pairs[0].share == 1.0
        values = excise.similarity(origin=origin, a=a, b=b)
        if numbers.es != score.value:
            # Only a guard may say otherwise of the whole, and then all operations are its value.
            assert score.value in (0.0, 1.0)
        else:
            assert (numbers.keep, numbers.add, numbers.delete) == (
                values.keep,
                values.add,
                values.delete,
            )


def test_of_many_revisions_the_first_in_rank_are_compared():
    texts = [ORIGIN.replace("a + b", f"a + {n}") for n in range(MAX_COMPARED + 5)]
    _, _, (only,) = scored(ORIGIN, *texts)
    assert only.compared == MAX_COMPARED
    assert only.diverging == MAX_COMPARED * (MAX_COMPARED - 1) // 2
    assert [(p.a, p.b) for p in only.pairs] == [*combinations(range(MAX_COMPARED), 2)][:MAX_PAIRS]


@given(TEXT, st.lists(TEXT, min_size=2, max_size=4))
def test_the_smallest_and_the_largest_score_are_those_of_all_pairs(origin, texts):
    _, _, found = scored(origin, *texts)
    for numbers in found:
        by_score = sorted(numbers.pairs, key=lambda pair: pair.es)
        assert (numbers.least is None) == (numbers.most is None) == (not by_score)
        if by_score:
            assert (numbers.least.es, numbers.most.es) == (by_score[0].es, by_score[-1].es)


def test_an_analyst_keeps_scores_when_only_the_buffer_changes():
    revisions = (Revision("a", A), Revision("b", BOTH))
    analyst, cancel = Analyst(), excise.CancelFlag()
    before = analyst.analyse(Snapshot("m.py", ORIGIN, revisions, buffer=ORIGIN, version=1), cancel)
    moved = analyst.analyse(
        Snapshot("m.py", ORIGIN, revisions, buffer=f"# new\n{ORIGIN}", version=2), cancel
    )
    assert moved.comparison is before.comparison
    assert (before.lines, moved.lines) == (((1, 2), (6, 7)), ((2, 3), (7, 8)))


def test_one_replaced_revision_is_scored_as_if_all_were_new():
    texts = [ORIGIN.replace("a + b", f"a + {n}") for n in range(4)]
    before = tuple(map(Revision, "abcd", texts))
    after = (*before[:2], Revision("c", BOTH), before[3])
    analyst, cancel = Analyst(), excise.CancelFlag()
    analyst.analyse(Snapshot("m.py", ORIGIN, before, "python"), cancel)
    again = analyst.analyse(Snapshot("m.py", ORIGIN, after, "python"), cancel)
    fresh = Analyst().analyse(Snapshot("m.py", ORIGIN, after, "python"), cancel)
    assert again.comparison.matrix.values.tolist() == fresh.comparison.matrix.values.tolist()
    assert again.comparison.ranking == fresh.comparison.ranking
    assert again.comparison.notes == fresh.comparison.notes
    assert (again.hunks, again.numbers) == (fresh.hunks, fresh.numbers)


def test_a_cancelled_analysis_raises():
    cancel = excise.CancelFlag()
    cancel.cancel()
    snapshot = Snapshot("m.py", ORIGIN, (Revision("a", A), Revision("b", BOTH)))
    with pytest.raises(excise.Cancelled):
        Analyst().analyse(snapshot, cancel)


@pytest.mark.slow
@pytest.mark.parametrize("labels", [("", ""), ("", "newer")], ids=["same", "relabelled"])
@pytest.mark.parametrize("stop", ["raised", "timed out"])
def test_scores_that_were_kept_do_not_look_at_the_flag_of_an_earlier_request(stop, labels):
    # Its words had not been read yet when the first request ended.
    one = ORIGIN.replace("x = a + b\n    return x", "total = a - b\n    return total")
    other = one.replace("total", "value")
    first, second = (
        Snapshot("m.py", ORIGIN, (Revision("a", one, label), Revision("b", other)), "python")
        for label in labels
    )
    earlier = excise.CancelFlag() if stop == "raised" else excise.CancelFlag(1, cpu=True)
    analyst = Analyst()
    analyst.analyse(first, earlier)
    if stop == "raised":
        earlier.cancel()
    else:
        while not earlier.timed_out:
            sum(range(100_000))
    again = analyst.analyse(second, excise.CancelFlag()).comparison.matrix
    assert again.word(0, 1) == compare(second).matrix.word(0, 1) == NAMES


def test_without_revisions_there_is_nothing_but_a_signature():
    analysis = Analyst().analyse(Snapshot("m.py", ORIGIN, (), path="m.py"), excise.CancelFlag())
    assert analysis.hunks == ()
    assert "tok:python@" in analysis.comparison.signature


def said(analysis):
    """Return all that an analysis says, in plain values."""
    matrix = analysis.comparison.matrix
    return (
        matrix.values.tolist(),
        matrix.contained.tolist(),
        analysis.comparison.ranking,
        [cluster.members for cluster in analysis.comparison.clusters],
        analysis.hunks,
        analysis.numbers,
        analysis.sites,
        analysis.given,
    )


@given(
    st.lists(TEXT, min_size=4, max_size=5),
    st.lists(st.tuples(st.integers(0, 3), TEXT, st.booleans()), max_size=5),
    st.builds(
        Options,
        granularity=st.sampled_from(GRANULARITIES),
        lcs=st.sampled_from(["star", "star", "paper"]),
        comments=st.sampled_from(["keep", "keep", "drop"]),
    ),
    st.sampled_from(["python", "text"]),
)
def test_one_edit_after_the_other_is_as_if_all_were_new(texts, edits, options, language):
    """Also where some are read by raw lines now and then, one comes back, and some are stopped."""
    analyst, cancel = Analyst(), excise.CancelFlag()
    origin, *texts = texts
    for at, text, is_stopped in [(0, texts[0], False), *edits, (0, texts[0], False)]:
        texts[at % len(texts)] = text
        revisions = tuple(map(Revision, map(str, range(len(texts))), texts))
        snapshot = Snapshot("m.py", origin, revisions, language, options=options)
        if is_stopped:
            stopped = excise.CancelFlag()
            with suppress(excise.Cancelled):
                analyst.analyse(snapshot, stopped, lambda _, flag=stopped: flag.cancel())
        else:
            again, new = (one.analyse(snapshot, cancel) for one in (analyst, Analyst()))
            assert said(again) == said(new)


def test_an_analysis_that_was_stopped_after_its_marks_is_where_the_next_one_starts():
    texts = [ORIGIN.replace("a + b", f"a + {n}") for n in range(9)]
    analyst = Analyst()
    for at in range(5):
        revisions = tuple(map(Revision, map(str, range(len(texts))), texts))
        snapshot = Snapshot("m.py", ORIGIN, revisions, "python")
        cancel, pairs = excise.CancelFlag(), analyst.pairs
        if at == 0:
            analyst.analyse(snapshot, cancel)
        else:
            with pytest.raises(excise.Cancelled):
                analyst.analyse(snapshot, cancel, lambda _, flag=cancel: flag.cancel())
            assert analyst.pairs - pairs == len(texts) - 1  # those of one revision
        texts[at] = texts[at].replace("return x", f"return x + {at}")
    last, new = (one.analyse(snapshot, excise.CancelFlag()) for one in (analyst, Analyst()))
    assert said(last) == said(new)


FUNCTION = st.sampled_from(
    [
        "def f(a, b):\n    x = a + b\n    return x\n",
        "def f(a, b):\n    total = a + b\n    return total\n",
        "def f(a, b):  # sum\n    return b + a\n",
        "def g(a):\n    return missing(a) * 2\n",
        "class C:\n    def f(self):\n        return self.x\n",
        "import os\n",
        "y = 'text'\n",
        "# a comment\n",
        "def broken(:\n",
    ]
)
MODULE = st.lists(FUNCTION, max_size=4).map("\n".join)


@given(st.lists(MODULE, min_size=2, max_size=4), st.lists(MODULE, min_size=1, max_size=4))
def test_one_origin_after_the_other_is_as_if_it_were_the_first(texts, origins):
    analyst, cancel = Analyst(), excise.CancelFlag()
    revisions = tuple(map(Revision, map(str, range(len(texts))), texts))
    pairs = list(combinations(range(len(texts)), 2))
    for origin in [*origins, origins[0]]:
        snapshot = Snapshot("m.py", origin, revisions, "python")
        again, new = (one.analyse(snapshot, cancel) for one in (analyst, Analyst()))
        assert said(again) == said(new)
        assert again.units == new.units
        matrices = again.comparison.matrix, new.comparison.matrix
        assert [matrices[0].level(*pair) for pair in pairs] == [
            matrices[1].level(*pair) for pair in pairs
        ]


def test_a_new_origin_has_only_what_it_changes_read_again(monkeypatch):
    functions = [f"def f{number}(a):\n    return a + {number}\n" for number in range(20)]
    analyst, cancel = Analyst(), excise.CancelFlag()

    def analyse(first):
        origin = first + "\n".join(functions)
        texts = [origin.replace(f"a + {number}\n", "a - 1\n") for number in range(10, 18)]
        revisions = tuple(map(Revision, "abcdefgh", texts))
        return analyst.analyse(Snapshot("m.py", origin, revisions, "python"), cancel)

    analyse("# first\n")
    parsed, parse = [], ast.parse
    made, whole_item = [], normal_form._Maker._whole_item
    with monkeypatch.context() as patch:
        patch.setattr(
            ast, "parse", lambda text, *of, **by: (parsed.append(text), parse(text, *of, **by))[1]
        )
        patch.setattr(
            normal_form._Maker, "_whole_item", lambda *of: made.append(of[1]) or whole_item(*of)
        )
        again = analyse("# second\nimport new\n")
    assert [text.strip() for text in parsed] == ["# second\nimport new"]
    assert made == []
    assert len(again.hunks) == 8


def test_other_options_are_not_answered_with_pairs_of_before():
    revisions = (Revision("a", "y = 2 # c\n"), Revision("b", "y = 2\n"))
    dropped = Snapshot(
        "m.py", "y = 2  # c\n", revisions, "python", options=Options(comments="drop")
    )
    kept = replace(dropped, options=Options())
    analyst, cancel = Analyst(), excise.CancelFlag()
    for snapshot in (dropped, kept, dropped):
        assert said(analyst.analyse(snapshot, cancel)) == said(Analyst().analyse(snapshot, cancel))


def test_no_pair_is_looked_at_alone(monkeypatch):
    """A kernel counts the hunks of all pairs; only the row of the text that changed is scored."""
    asked, pair = [], excise.ScoreMatrix.pair
    monkeypatch.setattr(
        excise.ScoreMatrix, "pair", lambda *of: (asked.append(of[1:]), pair(*of))[1]
    )
    texts = [BOTH.replace("a * 3", f"a * {number}") for number in range(8)]
    analyst, cancel = Analyst(), excise.CancelFlag()

    def analyse(**more):
        before = analyst.pairs
        revisions = tuple(map(Revision, "abcdefgh", texts))
        analyst.analyse(Snapshot("m.py", ORIGIN, revisions, "python", **more), cancel)
        return analyst.pairs - before

    assert analyse() == 28
    assert analyse(buffer="# typed\n" + ORIGIN, version=2) == 0
    texts[3] = A.replace("return x", "return -x")
    assert analyse() == 7
    assert asked == []


def test_a_text_that_comes_or_goes_has_no_other_parsed_again(monkeypatch):
    analyst, cancel, asked, parse = Analyst(), excise.CancelFlag(), [], syntax.parse
    monkeypatch.setattr(
        syntax, "parse", lambda text, *more, **by: (asked.append(text), parse(text, *more, **by))[1]
    )
    for texts, new in (
        ([A], [ORIGIN, A]),
        ([A, BOTH], [BOTH]),
        ([BOTH], []),
        ([A + "y\n", BOTH], [A + "y\n"]),
    ):
        asked.clear()
        revisions = tuple(Revision(text, text) for text in texts)
        analyst.analyse(Snapshot("m.py", ORIGIN, revisions, "python"), cancel)
        assert asked == new
