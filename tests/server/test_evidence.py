"""What the user's command shows of a candidate beside the target, and how the order takes it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.test_verdicts import review

from excise_server.review.candidate import Candidate
from excise_server.review.evidence import (
    EFFECTS,
    RunResult,
    content_lines,
    evidence_of,
    evidence_words,
)
from excise_server.review.ranked import rank_tasks
from excise_server.review.relations import Task
from excise_server.review.verdicts import NO_EFFECT, Verdict, Verdicts, match_verdicts

TRACEBACK = """\
Traceback (most recent call last):
  File "/run/try.py", line 3, in <module>
    import pkg.a
  File "/run/pkg/a.py", line 1, in {where}
    {line}
{raised}
"""


def result(output="", status=0, **more) -> RunResult:
    """Return a run in /run with this output and exit status."""
    data = output if isinstance(output, bytes) else output.encode()
    return RunResult(
        status == 0,
        f"exit status {status}" if status else "",
        status=status,
        lines=content_lines(data, ["/run"], "/tmp"),
        **more,
    )


def shown(own: RunResult, base: RunResult, changed=("pkg/a.py",)) -> str:
    return evidence_words(*evidence_of(own, base, changed))


def traceback(raised, where="f", line="x()") -> str:
    return TRACEBACK.format(raised=raised, where=where, line=line)


# --- what is content ---


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("at 0x7f3a01bc20d0", "at 0x55d0c81f1e50"),
        ("3 passed in 0.12s", "3 passed in 1.04s"),
        ("Ran 3 tests in 0.001 seconds", "Ran 3 tests in 0.113 seconds"),
        ("ok (5 ms)", "ok (117 ms)"),
        (
            "wrote /tmp/pytest-of-ada/pytest-3/test_a0/x",
            "wrote /tmp/pytest-of-ada/pytest-4/test_a0/x",
        ),
        ("pid 17", "pid 4021"),
        ("Process: 17 ended", "Process: 4021 ended"),
        ("one\r\n", "one\n"),
    ],
)
def test_what_differs_between_runs_of_one_program_is_no_content(one, other):
    assert shown(result(one), result(other)) == "as target"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("timeout of 5 s", "timeout of 6 s"),
        ("took 3 minutes", "took 4 minutes"),
        ("0.12", "0.13"),
        ("0x1f", "0x2f"),
        ("/temporary/a", "/temporary/b"),
        ("/running", "."),
        ("rapid 5", "rapid 6"),
        (b"\xff", b"\xfe"),
        (b"\xff", "\N{REPLACEMENT CHARACTER}"),
        (b"a\0", b"a"),
        ("a ", "a"),
        ("", "\n\n"),
    ],
)
def test_everything_else_is_content(one, other):
    assert shown(result(one), result(other)).startswith("changed: ")


def test_the_folder_of_a_run_is_no_content():
    own = content_lines(b"/w/one/a.py and /w/one.old", ["/w/one"], "/tmp")
    base = content_lines(b"/x/scratch/a.py and /w/one.old", ["/x/scratch"], "/tmp")
    assert own == base == ("./a.py and /w/one.old",)


# --- one line each ---


@pytest.mark.parametrize(
    ("own", "base", "line"),
    [
        (result("a"), result("a"), "as target"),
        (result("a", 1), result("a", 1), "as target"),
        (result("a\nb"), result("a\nc"), "changed: b"),
        (result("a"), result("a\nc"), "changed: no longer prints c"),
        (result("a\nc"), result("a"), "changed: c"),
        (result(""), result("a"), "changed: no longer prints a"),
        (result("a\n\nb"), result("a\nb"), "changed: an empty line"),
        (result("b\na"), result("a\nb"), "changed: only the order of lines"),
        (result("a", 2), result("a", 1), "changed: exit status 2, not exit status 1"),
        (result("a"), result("a", 1), "passes"),
        (result("a", 1), result("a"), "fails"),
        (result(traceback("KeyError: 1"), 1), result("a"), "raises KeyError"),
        (result(traceback("pkg.Own"), 1), result(traceback("KeyError"), 1), "raises pkg.Own"),
        (
            result(traceback("KeyError: 1"), 1),
            result(traceback("KeyError: 2"), 1),
            "still raises KeyError",
        ),
        (result("a"), result(traceback("KeyError: 1"), 1), "passes"),
        # A traceback of a run that passes was only logged.
        (result("a\n" + traceback("KeyError: 1")), result("a"), "changed: Traceback (most recent "
         "call last):"),
        (RunResult(None, "timed out", timed_out=True), result("a"), "times out"),
        (RunResult(None, "the command was not found (exit status 127)"), result("a"), ""),
    ],
)  # fmt: skip
def test_one_line_says_what_differs(own, base, line):
    assert shown(own, base) == line


@pytest.mark.parametrize("reason", ["timed out", "the command was not found (exit status 127)"])
def test_a_base_without_a_verdict_is_compared_with_nothing(reason):
    base = RunResult(None, reason, timed_out=reason == "timed out")
    assert shown(result("a"), base) == "passes"
    assert shown(result("a", 1), base) == "fails"
    assert shown(result(traceback("KeyError: 1"), 1), base) == "raises KeyError"
    assert shown(base, base) in ("times out", "")


def test_an_output_that_was_cut_is_not_compared():
    assert shown(result("a", is_whole=False), result("a")) == "passes"
    assert shown(result("a", 1), result("a", 1, is_whole=False)) == "fails"
    assert shown(result("b", is_whole=False), result("a", is_whole=False)) == "passes"


SYNTAX = '  File "/run/pkg/a.py", line 2\n    def f(:\n          ^\nSyntaxError: invalid syntax\n'


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (traceback("ImportError: no x", "<module>"), "does not import: ImportError: no x"),
        (traceback("ModuleNotFoundError: No module named 'z'", "<module>"), "does not import: "),
        (SYNTAX, "does not import: SyntaxError: invalid syntax"),
        (f"Traceback (most recent call last):\n{SYNTAX}", "does not import: SyntaxError"),
        (traceback("ImportError: no x", "f"), "raises ImportError"),
        (traceback("KeyError: 'x'", "<module>"), "raises KeyError"),
    ],
)
def test_only_a_module_of_the_candidate_s_own_does_not_import(output, line):
    assert shown(result(output, 1), result("a")).startswith(line)
    others = shown(result(output, 1), result("a"), changed=["pkg/b.py", "a.py"])
    assert others.startswith("raises ")
    # What the target does not import either, nobody broke.
    assert shown(result(output, 1), result(output, 1)).startswith("still raises ")


def test_a_name_that_is_gone_from_a_file_that_the_candidate_changes():
    output = traceback("ImportError: cannot import name 'f' from 'lib.b' (/run/src/lib/b.py)")
    assert shown(result(output, 1), result(), ["src/lib/b.py"]).startswith("does not import")
    assert shown(result(output, 1), result(), ["src/lib/b/__init__.py"]).startswith("does not")
    assert shown(result(output, 1), result(), ["src/lib/c.py"]) == "raises ImportError"


def test_details_are_short_and_inert():
    line = shown(result("\x1b[31m" + "\u202e" + "x" * 100_000), result("a"))
    assert len(line) < 120
    assert "\x1b" not in line
    assert "\u202e" not in line
    told = evidence_words("changed", "\x1b[31m" + "x" * 100_000)  # of a file of verdicts
    assert len(told) < 120
    assert "\x1b" not in told


@given(st.binary(max_size=200), st.binary(max_size=200), st.sampled_from([0, 1, 2]))
def test_any_output_has_one_line(own, base, status):
    line = shown(result(own, status), result(base, 1))
    assert line
    assert "\n" not in line
    assert shown(result(own, 1), result(own, 1)).startswith(("as target", "still raises "))


# --- verdicts ---


def verdict(candidate, evidence=None, *, passed=True, check="t", detail="", base=None) -> Verdict:
    return Verdict(
        candidate=candidate, check=check, passed=passed, evidence=evidence, detail=detail,
        base_passed=base,
    )  # fmt: skip


def verdicts(*every) -> Verdicts:
    ids = dict.fromkeys(each.candidate for each in every)
    return match_verdicts(every, [Candidate(i, "", "", "", label=i) for i in ids])


def test_lines_name_their_check_if_there_are_several():
    both = [
        verdict("a", "as target", check="unit"),
        verdict("a", "raises", check="lint", detail="E"),
    ]
    assert verdicts(*both[:1]).evidence("a") == ["as target"]
    assert verdicts(*both).evidence("a") == ["unit: as target", "lint: raises E"]
    assert verdicts(verdict("a")).evidence("a") == []


@pytest.mark.parametrize(
    ("every", "is_said"),
    [
        ([verdict("a", base=True), verdict("b", base=True)], True),
        ([verdict("a", base=True), verdict("b", base=True, passed=False)], False),
        ([verdict("a", base=True), verdict("b", base=True, passed=None)], False),
        ([verdict("a", base=False), verdict("b", base=False)], False),
        ([verdict("a"), verdict("b")], False),
    ],
)
def test_a_command_that_all_pass_and_the_base_too_tells_nobody_apart(every, is_said):
    assert (
        "t passes on the target, too: passing tells nobody apart" in verdicts(*every).notes
    ) is (is_said)


# --- the order ---

KINDS = [None, *sorted(EFFECTS), "as target", "still raises", "does not import", "times out"]


@st.composite
def judged(draw):
    """Candidates with their scores, and a verdict with evidence for each or none."""
    count = draw(st.integers(1, 6))
    values = np.eye(count)
    for i in range(count):
        for j in range(i):
            values[i, j] = values[j, i] = draw(st.sampled_from([0, 0.5, 1]))
    compared = review(values, draw(st.lists(st.integers(0, 9), min_size=count, max_size=count)))
    every = [
        verdict(
            name, draw(st.sampled_from(KINDS)), passed=draw(st.sampled_from([True, False, None]))
        )
        for name in compared.ids
        if draw(st.booleans())
    ]
    return compared, verdicts(*every)


def ranked(compared, standing=None):
    more = {} if standing is None else {"standing": standing}
    task = Task(tuple(compared.ids))
    return rank_tasks(compared, [task], threshold=0.5, linkage="average", **more)[0]


@given(judged())
def test_verdicts_come_first_then_what_counts_against_one_and_nothing_else_moves(given_):
    compared, known = given_
    plain, own = ranked(compared), ranked(compared, known.standing)
    place = {entry.id: entry.rank for entry in plain.ranking}
    keys = []
    for entry in own.ranking:
        level, against = known.standing(entry.id, compared.ids)
        keys.append((level, bool(against), place[entry.id]))
        assert not against or entry.why[0] == against  # the place has its reason
    assert keys == sorted(keys)
    assert [entry.rank for entry in own.ranking] == [1 + keys.index(key) for key in keys]


@given(judged())
def test_evidence_never_joins_or_parts_anybody(given_):
    compared, known = given_
    groups = [
        {frozenset(cluster.members) for cluster in ranked(compared, standing).clusters}
        for standing in (None, known.standing)
    ]
    assert groups[0] == groups[1]


@given(judged(), st.data())
def test_only_three_kinds_of_evidence_count(given_, data):
    """Another effect in the place of one changes no place, nor does a run that ends in time."""
    compared, known = given_
    silent, effects = [None, "times out"], sorted(EFFECTS)
    if not any(one.evidence == "as target" for (one,) in known.checks.values()):
        silent = effects = [*silent, *effects]  # there is nobody whom an effect counts against
    others = [
        verdict(name, data.draw(st.sampled_from(kinds)), passed=one.passed)
        for name, (one,) in known.checks.items()
        for kinds in (
            silent
            if one.evidence in silent
            else effects
            if one.evidence in effects
            else [one.evidence],
        )
    ]
    orders = [
        [entry.id for entry in ranked(compared, of.standing).ranking]
        for of in (known, verdicts(*others))
    ]
    assert orders[0] == orders[1]


def test_no_effect_counts_only_beside_a_rival_with_an_effect():
    a, b = verdict("a", "as target"), verdict("b", "as target")
    assert verdicts(a, b).standing("a", "ab") == (0, "")
    for kind in EFFECTS:
        c = verdict("c", kind)
        assert verdicts(a, b, c).standing("a", "abc") == (0, NO_EFFECT)
        assert verdicts(a, b, c).standing("c", "abc") == (0, "")
        assert verdicts(a, b, c).standing("a", "ab") == (0, "")  # of another task
        other = verdict("c", kind, check="another")
        assert verdicts(a, b, other).standing("a", "abc") == (0, "")
    for kind in ("times out", "still raises", "does not import"):  # breaking is no effect
        assert verdicts(a, verdict("c", kind)).standing("a", "ac") == (0, "")


def test_evidence_never_lifts_anybody_over_a_better_verdict():
    known = verdicts(verdict("a", "as target"), verdict("b", "changed", passed=False))
    assert known.standing("a", "ab") < known.standing("b", "ab")
