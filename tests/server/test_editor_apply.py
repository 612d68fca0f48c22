"""The laws of applying: the buffer says exactly what a revision says, and nothing typed is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.budget import examples
from tests.server.test_line_map import REVISIONS, TEXT

from excise import CancelFlag
from excise.text import Revision, normalise
from excise_server.editor.analysis import Analysis, Analyst, Snapshot
from excise_server.editor.apply import (
    LineEdit,
    apply_edits,
    buffer_lines,
    line_end,
    restate,
    taking,
)
from excise_server.foundation.inputs import SourceError


def analysed(origin: str, revisions: list[str], buffer: str | None = None) -> Analysis:
    named = tuple(Revision(f"r{at}", text) for at, text in enumerate(revisions))
    snapshot = Snapshot("x", origin, named, buffer=origin if buffer is None else buffer, version=1)
    return Analyst().analyse(snapshot, CancelFlag())


def restated(analysis: Analysis, revision: int) -> str:
    lines = buffer_lines(analysis)
    return apply_edits(lines, restate(analysis, lines, revision))


def placed(analysis: Analysis, index: int, revision: int) -> str:
    lines, hunk = buffer_lines(analysis), analysis.hunks[index]
    variant = next(n for n, v in enumerate(hunk.variants) if revision in v.members)
    return apply_edits(lines, taking(analysis, lines, index, variant))


@given(TEXT, REVISIONS)
def test_a_revision_on_an_unchanged_buffer_gives_exactly_its_text(origin, revisions):
    analysis = analysed(origin, revisions)
    for index, text in enumerate(revisions):
        assert restated(analysis, index) == normalise(text)


@given(TEXT, REVISIONS)
def test_one_revision_over_another_gives_exactly_its_text(origin, revisions):
    for index, text in enumerate(revisions):
        again = analysed(origin, revisions, buffer=revisions[-1])
        assert restated(again, index) == normalise(text)


@given(TEXT, REVISIONS, st.lists(st.integers(0, 4), min_size=9, max_size=9))
@examples(200)
def test_a_revision_over_any_mix_gives_exactly_its_text(origin, revisions, picks):
    """Also where a text that was applied could be aligned otherwise, as with lines that repeat."""
    hunks = analysed(origin, revisions).comparison.matrix.hunks()
    chosen = {}
    for at, (hunk, pick) in enumerate(zip(hunks, picks, strict=False)):
        texts = [hunk.text, *(variant.text for variant in hunk.variants)]
        chosen[at] = texts[pick % len(texts)]
    for index, text in enumerate(revisions):
        assert restated(analysed(origin, revisions, hunks.apply(chosen)), index) == normalise(text)


@given(TEXT, TEXT, TEXT)
def test_hunks_of_two_revisions_compose(origin: str, a: str, b: str):
    """The edits of all hunks at once, from A and B in turn, are what the library makes of them."""
    analysis = analysed(origin, [a, b])
    lines = buffer_lines(analysis)
    chosen = {
        at: next(n for n, v in enumerate(hunk.variants) if at % 2 in v.members)
        for at, hunk in enumerate(analysis.hunks)
    }
    edits = [edit for at, number in chosen.items() for edit in taking(analysis, lines, at, number)]
    hunks = analysis.comparison.matrix.hunks()
    texts = {at: hunks[at].variants[number].text for at, number in chosen.items()}
    assert apply_edits(lines, edits) == hunks.apply(texts)


@given(TEXT, REVISIONS, TEXT)
def test_every_edit_lies_in_its_hunk_and_the_rest_stays(origin, revisions, buffer):
    """Whatever the user has typed: outside of the hunks the edits reach nothing."""
    analysis = analysed(origin, revisions, buffer)
    lines = buffer_lines(analysis)
    for index in range(len(revisions)):
        try:
            edits = restate(analysis, lines, index)
        except SourceError:
            assert any(site.crossed for site in analysis.sites)
            continue
        covered = {at for s in analysis.sites for at in range(s.lo, s.hi)}
        end = 0
        for edit in edits:
            assert end <= edit.lo <= edit.hi <= len(lines)
            assert covered.issuperset(range(edit.lo, edit.hi))
            end = edit.hi


@given(st.lists(st.sampled_from(["#1", "#2", "#3"]), max_size=3))
def test_unsaved_edits_between_the_hunks_stay(typed: list[str]):
    origin = ["a", "k1", "k2", "b", "k3", "k4"]
    a = "A\nk1\nk2\nb!\nk3\nk4\n"
    buffer = [*origin[:2], *typed, *origin[2:]]
    analysis = analysed("\n".join([*origin, ""]), [a], "\n".join([*buffer, ""]))
    expected = ["A", "k1", *typed, "k2", "b!", "k3", "k4", ""]
    assert restated(analysis, 0) == "\n".join(expected)


def test_an_applied_hunk_is_known_again_whatever_is_typed_elsewhere():
    origin = "a()\nend\n\nb()\nend\n\nc()\nd()\n"
    revision = origin.replace("b()\n", "new()\nend\n\nb()\n")
    analysis = analysed(origin, [revision, origin], revision.replace("d()", "# typed\nd()"))
    assert restated(analysis, 1) == origin.replace("d()", "# typed\nd()")


def test_step_by_step_hunks_of_two_revisions_compose():
    origin, a, b = "1\nk\n2\nk2\n", "1a\n1aa\nk\n2a\nk2\n", "1b\nk\n2b\nnew\nk2\n"
    buffer = placed(analysed(origin, [a, b]), 0, 0)
    assert buffer == "1a\n1aa\nk\n2\nk2\n"
    buffer = placed(analysed(origin, [a, b], buffer), 1, 1)
    assert buffer == "1a\n1aa\nk\n2b\nnew\nk2\n"
    buffer = placed(analysed(origin, [a, b], buffer), 1, 0)
    assert buffer == "1a\n1aa\nk\n2a\nk2\n"
    assert restated(analysed(origin, [a, b], buffer), 1) == b


def test_an_insertion_applied_is_not_inserted_again():
    origin, a, b = "1\n2\n", "1\nA\n2\n", "1\nB\n2\n"
    buffer = placed(analysed(origin, [a, b]), 0, 0)
    assert buffer == a
    again = analysed(origin, [a, b], buffer)
    assert restate(again, buffer_lines(again), 0) == []
    assert placed(again, 0, 1) == b


def test_edits_that_reach_into_a_hunk_from_outside_are_not_destroyed():
    analysis = analysed("1\n2\n3\n4\n", ["1\n2a\n3\n4\n"], "1\nmine\nmine too\n4\n")
    lines = buffer_lines(analysis)
    with pytest.raises(SourceError):
        taking(analysis, lines, 0, 0)
    with pytest.raises(SourceError):
        restate(analysis, lines, 0)


def test_what_was_typed_where_a_revision_changes_nothing_stays():
    """Also where that is a hunk, because the buffer is one more revision."""
    origin, a, mine = "1\nk\n2\nk2\n", "1a\nk\n2\nk2\n", "1\nk\nmine\nk2\n"
    revisions = (Revision("a", a), Revision("buffer", mine))
    snapshot = Snapshot("x", origin, revisions, buffer=mine)
    analysis = Analyst().analyse(snapshot, CancelFlag())
    assert analysis.snapshot.own == 1
    assert len(analysis.hunks) == 2
    assert restated(analysis, 0) == "1a\nk\nmine\nk2\n"


@pytest.mark.parametrize(
    ("origin", "revision", "buffer", "expected"),
    [
        ("a", "a\nb", "a", "a\nb"),
        ("a\n", "a\nb\n", "a", "a\nb\n"),
        ("a\nb", "a", "a\nb", "a"),
        ("a\nb", "a\nc", "a\nb\nmore\n", "a\nc"),
        ("", "x\n", "", "x\n"),
        ("x\n", "", "x\n", ""),
        ("a\n", "b\na\n", "# top\na\n", "# top\nb\na\n"),
    ],
)
def test_ends_of_texts(origin: str, revision: str, buffer: str, expected: str):
    assert restated(analysed(origin, [revision], buffer), 0) == expected


def test_lines_that_stay_are_not_touched():
    analysis = analysed("1\n2\n3\n", ["0\n2\n9\n", "1\nx\n3\n"])
    lines = buffer_lines(analysis)
    assert restate(analysis, lines, 1) == [LineEdit(1, 2, "x\n")]


def test_the_most_frequent_line_end_is_written():
    assert line_end("a\r\nb\r\n\n") == "\r\n"
    assert line_end("") == "\n"


def test_the_analyst_keeps_what_its_memory_holds_and_the_last_in_any_case():
    snapshots = [Snapshot(f"{n}", "a\n", (Revision("r", f"{n}\n"),)) for n in range(3)]
    for limit, kept in ((1 << 20, [True, True, True]), (1, [False, False, True])):
        analyst = Analyst(limit)
        first = [analyst.analyse(snapshot, CancelFlag()) for snapshot in snapshots]
        again = [analyst.analyse(s, CancelFlag()) for s in reversed(snapshots)][::-1]
        same = [a.hunks is b.hunks for a, b in zip(first, again, strict=True)]
        assert same == kept
