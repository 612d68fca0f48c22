"""A command outlives what a text does to its parser: the fork that dies is replaced by another."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.server.command import command_line
from tests.server.process_tree import DEADLINE, children, cpu_of, is_running, wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc"),
]

PLAIN = "def f(a, b):\n    return a + b\n"
OTHER = PLAIN.replace("+", "-")
SLOW = "|+\n" * 6_000
"""Many seconds in the parser of Python."""


@pytest.fixture
def files(tmp_path):
    for name, text in {"o.py": PLAIN, "a.py": SLOW, "b.py": OTHER, "c.py": PLAIN}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def start(files: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command_line(*arguments),
        cwd=files,
        env=os.environ | {"XDG_CACHE_HOME": str(files / "cache")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def in_parser(process: subprocess.Popen[str], seen: set[int]) -> int:
    """Return the fork once it has worked for longer than all but the slow text takes."""
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end and process.poll() is None:
        for pid in children(process.pid):
            if pid not in seen and cpu_of(pid) > 1.2:
                seen.add(pid)
                return pid
        time.sleep(0.02)
    raise AssertionError("the fork never came to the slow text")


def test_a_text_that_ends_the_command_is_lexical_and_stays_so(files):
    process = start(files, "compare", "o.py", "a.py", "b.py", "c.py", "--format", "json")
    os.kill(in_parser(process, set()), signal.SIGSEGV)
    out, err = process.communicate()
    assert process.returncode == 0
    found = json.loads(out)
    assert {entry["id"] for entry in found["ranking"]} == {"a.py", "b.py", "c.py"}
    assert "the parser of python failed on this text" in str(found["notes"]["a.py"])
    assert "b.py" not in found["notes"]
    assert err.count("starting again") == 1
    again = start(files, "compare", "o.py", "a.py", "b.py", "c.py", "--format", "json")
    assert (again.communicate()[0], again.returncode) == (out, 0)


def test_what_came_through_a_pipe_is_read_again(files):
    process = start(files, "compare", "-", "--format", "json")
    texts = {"a": SLOW, "b": OTHER}
    document = {"origin": PLAIN, "language": "python"}
    document["revisions"] = [{"id": name, "text": text} for name, text in texts.items()]
    process.stdin.write(json.dumps(document))
    process.stdin.close()
    process.stdin = None
    os.kill(in_parser(process, set()), signal.SIGABRT)
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert {entry["id"] for entry in json.loads(out)["ranking"]} == {"a", "b"}


def test_what_was_printed_is_not_printed_again(files):
    hypotheses = [OTHER, OTHER, SLOW, OTHER]
    rows = [
        {"id": number, "origin": PLAIN, "reference": OTHER, "hypothesis": hypothesis}
        for number, hypothesis in enumerate(hypotheses)
    ]
    (files / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ("eval", "rows.jsonl", "--language", "python", "--format", "jsonl")
    process = start(files, *arguments)
    os.kill(in_parser(process, set()), signal.SIGSEGV)
    out, err = process.communicate()
    assert process.returncode == 0, err
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["id"] for line in lines if "id" in line] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("number", "whom", "code"),
    [
        (signal.SIGKILL, "command", -signal.SIGKILL),
        (signal.SIGTERM, "command", -signal.SIGTERM),
        (signal.SIGKILL, "fork", -signal.SIGKILL),
        (signal.SIGINT, "both", 130),  # as a terminal does
    ],
)
def test_a_signal_from_outside_ends_both_and_blames_no_text(files, number, whom, code):
    process = start(files, "compare", "o.py", "a.py", "b.py")
    fork = in_parser(process, set())
    for pid in {"command": [process.pid], "fork": [fork], "both": [process.pid, fork]}[whom]:
        os.kill(pid, number)
    process.communicate()
    assert process.returncode == code
    wait_until(lambda: not is_running(fork))
    assert not (files / "cache").exists()
