"""The matrix: symmetric, equal to the scores of its pairs, whichever way it is computed."""

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import excise
from excise import ScoreMatrix, similarity, syntax

SYMBOLS = st.lists(st.sampled_from("abcde"), max_size=12)
LINES = st.lists(st.sampled_from(["a = 1", "b  = 2 ", "    c(a)", "", "d"]), max_size=8).map(
    "\n".join
)
ORIGIN = "def f(x):\n    # half\n    return x / 2\n"


@pytest.mark.parametrize("lcs", ["star", "paper"])
@given(origin=SYMBOLS, revisions=st.lists(SYMBOLS, max_size=5))
def test_values_are_the_scores_of_the_pairs_on_tokens(lcs, origin, revisions):
    matrix = ScoreMatrix.from_texts(origin, revisions, lcs=lcs)
    for i, j in combinations(range(len(revisions)), 2):
        alone = similarity(origin=origin, a=revisions[i], b=revisions[j], lcs=lcs)
        assert matrix.values[i, j] == matrix.values[j, i] == alone.value
        assert matrix.pair(i, j).exact == alone.exact
    assert all(matrix.values[at, at] == 1.0 for at in range(len(revisions)))


@pytest.mark.parametrize("granularity", ["nested", "line", "token"])
@pytest.mark.parametrize("comments", ["keep", "drop"])
@given(origin=LINES, revisions=st.lists(LINES, max_size=5))
def test_values_are_the_scores_of_the_pairs_on_texts(granularity, comments, origin, revisions):
    options = {"granularity": granularity, "comments": comments, "language": "python"}
    matrix = ScoreMatrix.from_texts(origin, revisions, **options)
    for i, j in combinations(range(len(revisions)), 2):
        alone = similarity(origin=origin, a=revisions[i], b=revisions[j], **options)
        assert matrix.values[i, j] == matrix.values[j, i] == alone.value


def test_threads_give_the_same_matrix():
    revisions = [ORIGIN.replace("2", str(n)) + f"y = {n % 7}\n" for n in range(40)]
    with ThreadPoolExecutor(2) as executor:
        threaded = ScoreMatrix.from_texts(ORIGIN, revisions, language="python", map=executor.map)
    alone = ScoreMatrix.from_texts(ORIGIN, revisions, language="python")
    assert np.array_equal(threaded.values, alone.values)


def test_a_large_revision_makes_its_pairs_lexical():
    large = ORIGIN + "# " + "x" * 1_000_001 + "\n"
    revisions = {"small": ORIGIN + "y = 1\n", "other": ORIGIN + "y = 2\n", "large": large}
    matrix = ScoreMatrix.from_texts(ORIGIN, revisions, language="python")
    assert "|tok:python@" in matrix.signature
    assert "+lexical|" in matrix.signature
    assert any("over 1,000,000 bytes" in note for note in matrix.notes[2])
    for i, j in ((0, 1), (0, 2)):
        texts = list(revisions.values())
        alone = similarity(origin=ORIGIN, a=texts[i], b=texts[j], language="python")
        assert matrix.values[i, j] == alone.value
        assert matrix.pair(i, j).signature == alone.signature


def test_no_ops_white_space_and_sizes_are_told_apart():
    revisions = {
        "same": ORIGIN.replace("\n", "\r\n"),
        "blank": ORIGIN + "\n\n",
        "edit": ORIGIN.replace("2", "3"),
    }
    matrix = ScoreMatrix.from_texts(ORIGIN, revisions, language="python")
    assert matrix.no_ops == (True, False, False)
    assert matrix.whitespace_only == (False, True, False)
    assert matrix.unchanged == (True, True, False)
    assert matrix.edit_sizes == (0, 0, 2)
    assert "whitespace-only" in matrix.notes[1]


def test_comments_alone_are_no_edit_when_dropped():
    revision = ORIGIN.replace("half", "one half")
    matrix = ScoreMatrix.from_texts(ORIGIN, [revision], language="python", comments="drop")
    assert matrix.unchanged == (True,)
    assert matrix.no_ops == (False,)
    assert matrix.whitespace_only == (False,)


def test_no_revisions_and_one():
    assert ScoreMatrix.from_texts("a", []).values.shape == (0, 0)
    assert ScoreMatrix.from_texts("a", ["b"]).values.tolist() == [[1.0]]


def test_ids_must_be_unique_and_complete():
    with pytest.raises(excise.OptionError, match="two revisions have the id"):
        ScoreMatrix.from_texts("a", ["b", "c"], ids=["x", "x"])
    with pytest.raises(excise.OptionError, match="1 ids for 2"):
        ScoreMatrix.from_texts("a", ["b", "c"], ids=["x"])


def test_values_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        ScoreMatrix.from_texts("a", ["b", "c"]).values[0, 1] = 1


def test_a_raised_flag_stops_the_matrix():
    flag = excise.CancelFlag()
    flag.cancel()
    with pytest.raises(excise.Cancelled):
        ScoreMatrix.from_texts("a b c", ["b c d", "c d e"], cancel=flag)


def test_out_of_time_falls_back_to_lines_and_says_so():
    flag = excise.CancelFlag(seconds=0)
    revisions = [ORIGIN.replace("2", "3"), ORIGIN.replace("2", "4")]
    matrix = ScoreMatrix.from_texts(ORIGIN, revisions, language="python", cancel=flag)
    by_line = ScoreMatrix.from_texts(ORIGIN, revisions, language="python", granularity="line")
    assert "|gran:line|" in matrix.signature == by_line.signature
    assert by_line.signature.endswith("|v:2.1")
    assert np.array_equal(matrix.values, by_line.values)
    assert all("deadline, line granularity" in notes for notes in matrix.notes)


def test_a_slow_parser_is_stopped_and_its_text_read_lexically():
    # 60 kB of Python are hard work for this grammar: seconds, on a machine that does nothing else.
    foreign = "".join(f"def f{n}(a):\n    return [x < {n} for x in a]\n" for n in range(1500))
    flag = excise.CancelFlag(seconds=0.05)
    revisions = [foreign.replace("< 7 ", "> 7 "), foreign.replace("< 9 ", "> 9 ")]
    matrix = ScoreMatrix.from_texts(foreign, revisions, language="svelte", cancel=flag)
    assert "|gran:line|" in matrix.signature
    assert "|tok:lexical" in matrix.signature
    for notes in matrix.notes:
        assert "lexical tokens: the parser was too slow" in notes


def test_a_cancelled_flag_stops_a_parser():
    foreign = "".join(f"def f{n}(a):\n    return [x < {n} for x in a]\n" for n in range(1500))
    flag = excise.CancelFlag()
    flag.cancel()
    with pytest.raises(excise.errors.ParserStopped):
        syntax.parse(foreign, "svelte", cancel=flag)


def test_a_cancelled_flag_does_not_fall_back():
    flag = excise.CancelFlag(seconds=0)
    flag.cancel()
    assert not flag.timed_out
    with pytest.raises(excise.Cancelled):
        ScoreMatrix.from_texts("a b", ["b", "c"], cancel=flag)


@pytest.mark.slow
def test_a_flag_raised_meanwhile_stops_a_long_alignment():
    flag = excise.CancelFlag()
    origin = [n * 7919 % 1009 for n in range(60_000)]
    revision = [n * 7907 % 1013 for n in range(60_000)]
    threading.Timer(0.02, flag.cancel).start()
    with pytest.raises(excise.Cancelled):
        ScoreMatrix.from_texts(origin, [revision] * 300, cancel=flag)


@pytest.mark.parametrize(
    "options", [{}, {"place": "pooled"}, {"place": "pooled", "lcs": "paper"}], ids=str
)
@given(
    origin=LINES, revisions=st.lists(LINES, min_size=1, max_size=4), new=LINES, at=st.integers(0)
)
def test_replacing_one_revision_is_building_anew(options, origin, revisions, new, at):
    at %= len(revisions)
    matrix = ScoreMatrix.from_texts(origin, revisions, language="python", **options)
    before = matrix.values.copy()
    replaced = matrix.replaced(matrix.ids[at], new)
    revisions = [*revisions[:at], new, *revisions[at + 1 :]]
    built = ScoreMatrix.from_texts(origin, revisions, language="python", **options)
    assert np.array_equal(matrix.values, before)
    for name in ("values", "anchored", "anywhere", "contained"):
        assert np.array_equal(getattr(replaced, name), getattr(built, name)), name
    for name in ("ids", "signature", "notes", "edit_sizes", "no_ops", "unchanged"):
        assert getattr(replaced, name) == getattr(built, name)
    for i, j in combinations(range(len(revisions)), 2):
        assert replaced.word(i, j) == built.word(i, j)


def test_replacing_by_a_large_text_or_an_unknown_id():
    matrix = ScoreMatrix.from_texts(ORIGIN, {"a": ORIGIN + "x\n"}, language="python")
    assert "+lexical" in matrix.replaced("a", "y" * 1_000_001).signature
    with pytest.raises(excise.OptionError, match="no revision 'b'"):
        matrix.replaced("b", "")


@given(LINES, LINES, LINES, st.sampled_from(["nested", "line", "token"]))
def test_outlines_are_the_regions_without_their_text(o: str, a: str, b: str, granularity: str):
    score = similarity(origin=o, a=a, b=b, granularity=granularity)
    assert len(score.outlines) == len(score.regions)
    for outline, region in zip(score.outlines, score.regions, strict=True):
        segments = (region.origin, region.a, region.b)
        first = [segment.lines[0] if segment.tokens else None for segment in segments]
        assert list(outline.lines) == first
        assert score.count([outline]) == region.counts
    assert score.count(score.outlines) == score.counts


SLOW = "|+\n" * 6000
"""For the grammar of Python quadratic: minutes, if nothing stops it."""


def test_a_text_over_its_time_makes_its_pairs_lexical_and_no_others():
    revisions = {"a": ORIGIN.replace("2", "3"), "slow": SLOW, "b": ORIGIN.replace("2", "4")}
    matrix = ScoreMatrix.from_texts(ORIGIN, revisions, language="python", timeout=0.2)
    note = "lexical tokens: the parser of python took over 0.2 CPU seconds"
    assert [note in notes for notes in matrix.notes] == [False, True, False]
    assert "|gran:nested|" in matrix.signature
    assert f"|tok:python@{syntax.version()}/2+lexical|" in matrix.signature
    del revisions["slow"]
    without = ScoreMatrix.from_texts(ORIGIN, revisions, language="python")
    assert matrix.values[0, 2] == without.values[0, 1]
    assert matrix.pair(0, 1).notes[0] == note
    assert matrix.pair(0, 1).value == matrix.values[0, 1]
    assert matrix.pair(0, 2).notes == ()


def test_replacing_beside_a_slow_text_does_not_parse_it_again(monkeypatch):
    revisions = {"a": ORIGIN.replace("2", "3"), "slow": SLOW}
    matrix = ScoreMatrix.from_texts(ORIGIN, revisions, language="python", timeout=0.2)
    parsed, parse = [], syntax.parse
    monkeypatch.setattr(
        syntax, "parse", lambda text, *more: (parsed.append(text), parse(text, *more))[1]
    )
    again = matrix.replaced("a", ORIGIN.replace("2", "4"))
    assert parsed == [ORIGIN.replace("2", "4")]
    assert again.notes[1] == matrix.notes[1]
    assert "lexical" not in again.replaced("slow", ORIGIN).signature


@pytest.mark.slow
def test_a_text_that_replaces_another_may_be_slow():
    matrix = ScoreMatrix.from_texts(ORIGIN, {"a": ORIGIN, "b": "x"}, language="python", timeout=0.2)
    replaced = matrix.replaced("b", SLOW)
    assert "CPU seconds" in replaced.notes[1][0]
    built = ScoreMatrix.from_texts(ORIGIN, {"a": ORIGIN, "b": SLOW}, language="python", timeout=0.2)
    assert np.array_equal(replaced.values, built.values)


@pytest.mark.slow
def test_a_slow_origin_makes_all_lexical():
    matrix = ScoreMatrix.from_texts(SLOW, ["a", "b"], language="python", timeout=0.2)
    assert "|tok:lexical|" in matrix.signature
    assert all("CPU seconds" in notes[0] for notes in matrix.notes)
    for score in (
        excise.similarity(origin="x", a=SLOW, b="y", language="python", timeout=0.2),
        excise.excision_score(
            origin="x", reference="y", hypothesis=SLOW, language="python", timeout=0.2
        ),
    ):
        assert score.notes == ("lexical tokens: the parser of python took over 0.2 CPU seconds",)
        assert "|tok:lexical|" in score.signature


def test_lines_in_another_order_are_alike_where_all_is_one_place():
    """Nothing is kept, added or deleted in any place: the paper says 1, places raw lines."""
    origin, *texts = "a\nc c\nc a\n", "c c\na\nc\na\n", "c c\nc a\na\n"
    pooled = ScoreMatrix.from_texts(origin, texts, granularity="token", place="pooled")
    assert pooled.values[0, 1] == pooled.pair(0, 1).value == 1.0
    assert pooled.word(0, 1) == pooled.pair(0, 1).word
    anchored = ScoreMatrix.from_texts(origin, texts, granularity="token")
    assert anchored.values[0, 1] == anchored.pair(0, 1).value < 1
    assert anchored.word(0, 1) == pooled.word(0, 1)
    assert anchored.contained.tolist() == pooled.contained.tolist()


@pytest.mark.slow
def test_a_thousand_revisions_are_compared_and_grouped():
    lines = [f"value_{n} = {n}" for n in range(40)]
    texts = {
        f"r{n}": "\n".join([*lines[: n % 40], f"changed = {n // 40}", *lines[n % 40 :], ""])
        for n in range(1_000)
    }
    origin = "\n".join([*lines, ""])
    matrix = ScoreMatrix.from_texts(origin, texts)
    assert (matrix.values == matrix.values.T).all()
    for i, j in [(0, 1), (0, 40), (0, 999), (17, 57), (998, 999)]:
        pair = similarity(origin=origin, a=texts[f"r{i}"], b=texts[f"r{j}"])
        assert matrix.values[i, j] == pair.value
    clusters = excise.cluster(matrix)
    assert sorted(name for group in clusters for name in group.ids) == sorted(texts)
