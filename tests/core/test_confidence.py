"""What agreement says of the first of an order: only what was measured, and nothing beyond."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from excise import ScoreMatrix, confidence, rank
from excise.confidence import CALIBRATIONS, SOME, STRONG, kind_of
from excise.ranking import Regime

ORIGIN = "def f(x):\n    return x\n"
FIX = ORIGIN.replace("return x", "return x + 1")
OTHER = ORIGIN.replace("return x", "return abs(x)")


def ranked(*texts):
    matrix = ScoreMatrix.from_texts(ORIGIN, texts, language="python")
    return rank(matrix), matrix.values


@pytest.mark.parametrize("table", CALIBRATIONS)
def test_more_agreement_never_says_less(table):
    assert table.rows[0].agreement == 0
    assert table.sets
    for row in table.rows:
        assert 0 <= row.low <= row.share <= row.high <= 1
    for column in ("agreement", "share", "low", "high"):
        values = [getattr(row, column) for row in table.rows]
        assert values == sorted(values)


def test_every_order_of_a_kind_has_one_table():
    for kind in ("function", "files"):
        for regime in Regime:
            assert len([own for own in CALIBRATIONS if own.fits(kind, regime)]) == 1


def test_agreement_of_many_is_strong():
    said = confidence(ranked(FIX, FIX, FIX, OTHER)[0], "function")
    assert (said.level, said.agreement) == ("strong", pytest.approx(2 / 3))
    assert said.low >= STRONG
    assert said.calibration.kind == "function"


def test_files_that_hardly_agree_have_none():
    said = confidence(ranked(FIX, OTHER)[0], "files")
    assert said.level == "none"
    assert said.low < SOME
    assert said.share is not None


@pytest.mark.parametrize(
    ("texts", "kind", "voices"),
    [
        ((FIX, FIX), None, None),
        ((FIX,), "function", None),
        ((), "function", None),
        ((ORIGIN, ORIGIN), "function", None),
        ((ORIGIN + "# x\n", ORIGIN + "# x\n"), "function", None),
        ((FIX + "(", FIX + "("), "function", None),
        ((FIX, FIX, FIX), "files", dict.fromkeys("123", "claude")),
    ],
)
def test_nothing_is_said_beyond_what_was_measured(texts, kind, voices):
    ranking, values = ranked(*texts)
    said = confidence(ranking, kind, voices=voices, values=values)
    assert said.level == "none"
    assert said.reason
    assert (said.agreement, said.share, said.low, said.calibration) == (None,) * 4


def test_candidates_of_one_tool_are_one_voice():
    """Four equal edits of one tool, and another one: agreement of two voices that differ."""
    ranking, values = ranked(FIX, FIX, FIX, FIX, OTHER)
    alone = confidence(ranking, "function")
    voices = dict.fromkeys("1234", "claude") | {"5": "codex"}
    said = confidence(ranking, "function", voices=voices, values=values)
    assert said.agreement == pytest.approx(values[0, 4])
    assert said.agreement < alone.agreement
    assert confidence(ranking, "function", voices={}, values=values) == alone


def test_voices_need_the_similarities():
    with pytest.raises(ValueError, match="similarities"):
        confidence(ranked(FIX, OTHER)[0], "files", voices={"1": "claude"})


@given(
    st.lists(st.sampled_from([FIX, OTHER, FIX + "y = f(1)\n"]), min_size=2, max_size=6),
    st.data(),
)
def test_it_does_not_depend_on_the_order_of_revisions(texts, data):
    voices = {
        str(at + 1): data.draw(st.sampled_from(["claude", "codex", "cursor"]))
        for at in range(len(texts))
    }
    shuffled = data.draw(st.permutations(range(len(texts))))
    matrix = ScoreMatrix.from_texts(ORIGIN, texts, language="python")
    again = ScoreMatrix.from_texts(
        ORIGIN,
        [texts[at] for at in shuffled],
        ids=[str(at + 1) for at in shuffled],
        language="python",
    )
    said, same = (
        confidence(rank(own), "function", voices=voices, values=own.values)
        for own in (matrix, again)
    )
    assert said == same
    values = np.asarray(matrix.values)
    assert confidence(rank(matrix), "function", voices={}, values=values).level == (
        confidence(rank(matrix), "function").level
    )


def test_a_short_file_is_little_more_than_a_function():
    assert kind_of(ORIGIN) == "function"
    assert kind_of(ORIGIN * 30) is None
