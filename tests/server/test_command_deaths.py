"""A command outlives what a text does to its parser: the fork that dies is replaced by another."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.server.command import command_line

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


def cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def in_parser(process: subprocess.Popen[str], seen: set[int]) -> int:
    """Return the fork once it has worked for longer than all but the slow text takes."""
    end = time.monotonic() + 60
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while time.monotonic() < end and process.poll() is None:
        for pid in map(int, children.read_text().split()):
            if pid not in seen and cpu_of(pid) > 2.5:
                seen.add(pid)
                return pid
        time.sleep(0.02)
    raise AssertionError("the fork never came to the slow text")


def is_gone(pid: int) -> bool:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_a_text_that_ends_the_command_is_lexical_and_stays_so(files):
    process = start(files, "rank", "o.py", "a.py", "b.py", "c.py", "--json")
    os.kill(in_parser(process, set()), signal.SIGSEGV)
    out, err = process.communicate()
    assert process.returncode == 0
    ranking = {entry["id"]: entry for entry in json.loads(out)["ranking"]}
    assert "the parser of python failed on this text" in str(ranking["a.py"]["notes"])
    assert not ranking["b.py"]["notes"]
    assert err.count("starting again") == 1
    again = start(files, "rank", "o.py", "a.py", "b.py", "c.py", "--json")
    assert (again.communicate()[0], again.returncode) == (out, 0)


def test_what_came_through_a_pipe_is_read_again(files):
    process = start(files, "rank", "-", "--json")
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
    arguments = ("score", "--jsonl", "rows.jsonl", "--language", "python", "--json")
    process = start(files, *arguments)
    os.kill(in_parser(process, set()), signal.SIGSEGV)
    out, err = process.communicate()
    assert process.returncode == 0, err
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["id"] for line in lines if "id" in line] == [0, 1, 2, 3]


def test_with_the_command_its_fork_ends(files):
    process = start(files, "rank", "o.py", "a.py", "b.py")
    fork = in_parser(process, set())
    process.kill()
    process.communicate()
    assert is_gone(fork)


def test_a_signal_to_the_command_reaches_its_fork(files):
    process = start(files, "rank", "o.py", "a.py", "b.py")
    fork = in_parser(process, set())
    process.terminate()
    process.communicate()
    assert process.returncode == -signal.SIGTERM
    assert is_gone(fork)
    assert not (files / "cache").exists(), "nobody blames the text"


def test_a_kill_from_outside_is_not_outlived(files):
    process = start(files, "rank", "o.py", "a.py", "b.py")
    os.kill(in_parser(process, set()), signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not (files / "cache").exists()


def test_an_interrupt_ends_both_with_its_code(files):
    process = start(files, "rank", "o.py", "a.py", "b.py")
    fork = in_parser(process, set())
    os.kill(process.pid, signal.SIGINT)  # as a terminal does, to both
    os.kill(fork, signal.SIGINT)
    process.communicate()
    assert process.returncode == 130
    assert is_gone(fork)
