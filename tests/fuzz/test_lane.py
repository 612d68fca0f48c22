"""The lane itself: an exception, a death and a cost beyond all measure are kept, with a command."""

import signal
import subprocess
import sys

import pytest
from tests.fuzz import lane
from tests.fuzz.doubling import assert_grows

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="the lane limits CPU time by signals"),
]

BAD = """
import os, re, signal
from tests.fuzz import child, targets
from tests.fuzz.targets.base import Target

def check(data):
    if data == b"raise":
        raise ValueError("no such thing")
    if data == b"die":
        os.kill(os.getpid(), signal.SIGSEGV)
    if data == b"hang":
        re.match(r"(a*)*b", "a" * 60)

targets.TARGETS["bad"] = Target(lambda _: b"good", check, lambda: [b"raise", b"die", b"hang"], 1.0)
import sys
child.main(*sys.argv[1:])
"""


@pytest.fixture
def outcome(tmp_path, monkeypatch):
    script = tmp_path / "bad_child.py"
    script.write_text(BAD)
    started = subprocess.Popen

    def instead(command, **options):
        options["env"] |= {"PYTHONPATH": str(lane.ROOT)}
        return started([sys.executable, str(script), *command[3:]], **options)

    monkeypatch.setattr(lane.subprocess, "Popen", instead)
    return lane.run("bad", seed=1, seconds=60, inputs=7, kept=tmp_path / "kept")


def test_whatever_ends_an_input_is_kept_and_the_rest_goes_on(outcome):
    assert [finding.message for finding in outcome.findings] == [
        "ValueError: no such thing",
        f"the process died of {signal.SIGSEGV.name}",
        "costs too much CPU time",
    ]
    assert [finding.path.read_bytes() for finding in outcome.findings] == [
        b"raise",
        b"die",
        b"hang",
    ]
    assert outcome.inputs == 3 + 7
    for finding in outcome.findings:
        assert f"--replay {finding.path}" in finding.path.with_suffix(".txt").read_text()


def test_the_doubling_rule_tells_quadratic_work_from_linear():
    assert_grows(lambda n: [0] * n, sorted, last=1 << 17)
    with pytest.raises(AssertionError, match="times for four times the input"):
        assert_grows(lambda n: range(n), lambda some: [x in list(some) for x in some], last=1 << 14)
