"""Files of verdicts, from anybody, and the order that they make."""

import io
import json

import pytest

from excise_server.foundation.inputs import SourceError
from excise_server.review.candidate import Candidate, candidates_called
from excise_server.review.verdicts import Verdict, match_verdicts
from excise_server.sources import verdicts as files
from excise_server.sources.verdicts import read_verdicts

ADA = Candidate("worktree:ada", "/w/ada", "feature", "c1", label="claude ada", digest="d1")
BO = Candidate("worktree:bo", "/w/bo", "feature", "c2", label="bo", digest="d2")

JUNIT = """<?xml version="1.0" encoding="utf-8"?>
<testsuites>
  <testsuite name="claude ada" tests="3">
    <testcase classname="t" name="test_a" time="1.5"/>
    <testsuite name="inner"><testcase name="test_b" time="0.25"><skipped/></testcase></testsuite>
    <testcase name="test_c" time="bad"/>
  </testsuite>
  <testsuite name="bo">
    <testcase name="test_a"><failure message="&lt;no&gt;">text &amp; more</failure></testcase>
    <testcase name="test_b"/>
  </testsuite>
  <testsuite name="nobody"/>
</testsuites>
"""


def read(tmp_path, text, option="{}", name="results.xml"):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_verdicts([option.format(path)])


def verdict(candidate, passed, check="t", **more):
    return Verdict(candidate=candidate, check=check, passed=passed, **more)


# --- files ---


def test_lines_of_json(tmp_path):
    text = '{"candidate": "a", "check": "t", "passed": true, "seconds": 1, "more": []}\r\n\n'
    verdicts, bad = read(tmp_path, text + '{"candidate": "b", "passed": null, "reason": "late"}')
    assert verdicts == [
        verdict("a", True, seconds=1.0),
        Verdict(candidate="b", passed=None, reason="late"),
    ]
    assert bad == []


def test_bad_lines_are_named_and_the_others_count(tmp_path):
    good = b'{"candidate": "a", "passed": false}'
    lines = [
        good, b'{"candidate": "a", "passed": 1}', b'{"passed": true}', b'{"candidate": "\xff"}',
        b'{"candidate": "a", "passed": true, "seconds": -1}', b"[" * 5000, b'{"candidate": "b", "p',
    ]  # fmt: skip
    verdicts, bad = read(tmp_path, b"\n".join(lines))
    assert [v.candidate for v in verdicts] == ["a"]
    assert [reason.split(": ")[0].rpartition(" ")[2] for reason in bad] == list("234567")


def test_junit(tmp_path):
    verdicts, bad = read(tmp_path, JUNIT)
    assert verdicts == [
        verdict("claude ada", True, "results.xml", seconds=1.75),
        verdict("bo", False, "results.xml", seconds=0.0, reason="1 of 2 tests failed: test_a"),
        verdict("nobody", None, "results.xml", seconds=0.0, reason="no test ran"),
    ]
    assert bad == []
    other, _ = read(tmp_path, JUNIT.replace("utf-8", "utf-16").encode("utf-16"))
    assert other == verdicts


def test_junit_about_one_candidate(tmp_path):
    (one,), _ = read(tmp_path, JUNIT, "worktree:bo={}")
    assert (one.candidate, one.passed, one.reason) == (
        "worktree:bo", False, "1 of 4 tests failed: test_a",
    )  # fmt: skip


def test_a_suite_of_the_same_name_never_hides_a_failure(tmp_path):
    failing = '<testsuite name="a"><testcase><error/></testcase></testsuite>'
    passing = '<testsuite name="a"><testcase/></testsuite>'
    (one,), _ = read(tmp_path, f"<testsuites>{failing}{passing}</testsuites>")
    assert one.passed is False
    (one,), _ = read(tmp_path, '<testsuite name="a" errors="1"><testcase/></testsuite>')
    assert one.passed is False


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><testsuite name="&b;"/>'
OUTSIDE = (
    '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuite name="x">&a;</testsuite>'
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (BOMB, "document type"),
        (OUTSIDE, "document type"),
        ("<!DOCTYPE testsuites><testsuites/>", "document type"),
        (JUNIT[:-20], "incomplete XML"),
        ("<html><testcase/></html>", "outside of any testsuite"),
        ("<html/>", "no testsuite"),
        ("<testsuite>" * 101, "nested"),
        (f"<testsuite name='{'a' * 2_000_000}'/>", "a tag or comment over 1 MB"),
        (f"<testsuite><!--{'a' * 2_000_000}--></testsuite>", "a tag or comment over 1 MB"),
        (b"<testsuite name='\xff'/>", "incomplete XML"),
        ("<?xml version='1.0' encoding='x'?><testsuite/>", "not"),
        ("candidate,passed\n", "neither"),
        ("\0\0\1", "neither"),
    ],
)
def test_what_is_no_file_of_verdicts_is_refused_by_name(tmp_path, text, reason):
    with pytest.raises(SourceError, match=reason) as refused:
        read(tmp_path, text)
    assert refused.value.name == str(tmp_path / "results.xml")


def test_long_output_of_tests_is_no_long_tag(tmp_path):
    output = "<system-out>" + "x" * 3_000_000 + "</system-out>"
    cdata = f"<system-out><![CDATA[{'x' * 1_500_000}]]></system-out>"
    text = f'<testsuite name="a"><testcase>{output}{cdata}</testcase></testsuite>'
    (one,), _ = read(tmp_path, text)
    assert one.passed


def test_limits_hold_while_reading(tmp_path, monkeypatch):
    class Endless(io.RawIOBase):
        count = 0

        def read(self, size=-1):
            self.count += size
            return b"<testcase/>" * (size // 11)

    endless = Endless()
    with pytest.raises(SourceError, match="over 1 MB"):
        files.read_junit(b"<testsuite>", endless, 1_000_000)
    assert endless.count < 1_200_000
    monkeypatch.setattr(files, "MAX_FILE", 100_000)
    with pytest.raises(SourceError, match=r"over 0\.1 MB"):
        read(tmp_path, '{"candidate": "a", "passed": true}\n' * 10_000)
    with pytest.raises(SourceError, match="bad lines"):
        read(tmp_path, "{}\n" * 30)
    monkeypatch.undo()
    with pytest.raises(SourceError, match="a line over"):
        read(tmp_path, '{"candidate": "' + "a" * 2_000_000)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(SourceError, match="no such file"):
        read_verdicts([str(tmp_path / "none")])
    with pytest.raises(SourceError, match=r"[Dd]irectory"):
        read_verdicts([str(tmp_path)])


# --- candidates ---


@pytest.mark.parametrize("name", ["worktree:ada", "ada", "claude ada", "/w/ada"])
def test_a_candidate_goes_by_its_names(name):
    assert candidates_called(name, [ADA, BO]) == [ADA]


def test_unknown_ambiguous_and_repeated_verdicts_are_told():
    verdicts = [
        verdict("ada", False), verdict("ada", True), verdict("ada", True, "lint"),
        verdict("eli", True), verdict("feature", True), verdict("bo", True, digest="d0"),
        verdict("x" * 5000, True),
    ]  # fmt: skip
    result = match_verdicts(verdicts, [ADA, BO])
    assert result.unknown[:2] == ("eli", "feature")
    assert len(result.unknown[2]) < 200
    assert result.outcome("worktree:ada") == "passed"
    assert [check.check for check in result.checks["worktree:ada"]] == ["t", "lint"]
    assert [note.split(":")[0] for note in result.notes] == [
        "claude ada", "2 candidates are called feature", "bo",
    ]  # fmt: skip


def test_what_several_checks_come_to():
    def outcome(*passed):
        result = match_verdicts((verdict("ada", p, str(i)) for i, p in enumerate(passed)), [ADA])
        return result.outcome("worktree:ada"), result.level("worktree:ada")

    assert outcome() == (None, 1)
    assert outcome(True, True) == ("passed", 0)
    assert outcome(True, None) == ("undecided", 1)
    assert outcome(None, False, True) == ("failed", 2)


def test_a_group_whose_members_differ_says_so():
    both = ["worktree:ada", "worktree:bo"]
    alike = match_verdicts([verdict("ada", True), verdict("bo", True)], [ADA, BO])
    mixed = match_verdicts([verdict("ada", True), verdict("bo", False)], [ADA, BO])
    timed = match_verdicts([verdict("ada", True)], [ADA, BO])
    assert alike.of_group(both) == "2 of 2 pass"
    assert mixed.of_group(both).startswith("1 of 2 pass, 1 fails: ")
    assert timed.of_group(both) == "1 of 2 pass, 1 without a verdict"
    assert (alike.differ(both), mixed.differ(both), timed.differ(both)) == (False, True, False)
    assert match_verdicts([], [ADA, BO]).of_group(both) == ""


def test_a_line_is_what_it_was_written_from():
    """Properties of a line that are not known are left out, and verdicts read back as they were."""
    import msgspec

    written = msgspec.json.encode(verdict("ada", None, reason="timed out"))
    assert json.loads(written) == {
        "candidate": "ada", "check": "t", "passed": None, "reason": "timed out",
    }  # fmt: skip
    assert msgspec.json.decode(written, type=Verdict) == verdict("ada", None, reason="timed out")
