"""`--execute`: the tests of an item run against a hypothesis; no hostile one gets away."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from contextlib import closing

import pytest
from tests.server.command import excise

from excise_server.evaluation.sandbox import Sandbox, check_guards
from excise_server.foundation.inputs import SourceError
from excise_server.records.lines import opened

pytestmark = pytest.mark.slow

try:
    check_guards()
except SourceError as error:
    pytest.skip(f"no sandbox here: {error}", allow_module_level=True)

TESTS = "def check(f):\n    assert f(2) == 3\n    assert f(-1) == 0\n\ncheck(f)\n"
GOOD = "def f(x):\n    return x + 1\n"
BAD = "def f(x):\n    return x\n"
SAY_PASSED = (
    "import os\nfor fd in range(64):\n    try: os.write(fd, b'passed ')\n    except OSError: pass\n"
)


def run_tests(parts, *, seconds):
    with closing(Sandbox()) as sandbox:
        return sandbox.run(parts, seconds=seconds)


def verdict(hypothesis: str, seconds: float = 60):
    return run_tests(["", "", hypothesis, TESTS], seconds=seconds)


def test_what_passes_and_what_fails():
    assert verdict(GOOD).passed
    assert (verdict(BAD).passed, verdict(BAD).reason) == (False, "AssertionError")
    assert verdict("def f(x:\n").reason == "SyntaxError"
    assert verdict("").reason == "NameError"


def test_what_comes_before_the_hypothesis_is_there():
    parts = ["import math\n", "K = 1\n", "def f(x):\n    return x + K + math.floor(0.5)\n", TESTS]
    assert run_tests(parts, seconds=60).passed


@pytest.mark.parametrize(
    "hypothesis",
    [
        "import os\nos._exit(0)\n",
        "print('passed')\nimport os\nos._exit(0)\n",
        "import sys\nsys.exit(0)\n",
        "raise SystemExit(0)\n",
        "def f(x):\n    import os\n    print('passed')\n    os._exit(0)\n",
        SAY_PASSED + "os._exit(0)\n",
        SAY_PASSED + BAD,
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n",
        "import ctypes\nctypes.string_at(0)\n",
        "def f(x):\n    return f(x)\n",
        "raise BaseException('passed')\n",
        "class E(Exception):\n    pass\nE.__name__ = 'passed'\nraise E\n",
    ],
    ids=lambda text: text[:30],
)
def test_who_leaves_early_or_says_passed_has_not_passed(hypothesis):
    assert not verdict(hypothesis).passed


@pytest.mark.parametrize(
    "hypothesis",
    [
        "while True:\n    pass\n",
        "import time\ntime.sleep(10_000)\n",
        "import signal\nfor n in range(1, 32):\n    try: signal.signal(n, signal.SIG_IGN)\n"
        "    except OSError: pass\nwhile True:\n    pass\n",
        "import threading\ndef spin():\n    while True: pass\n"
        "for _ in range(4): threading.Thread(target=spin).start()\nspin()\n",
    ],
    ids=["loop", "sleep", "deaf", "threads"],
)
def test_what_never_ends_is_ended(hypothesis):
    assert verdict(hypothesis, seconds=1.0).reason in ("timeout", "died")


def test_memory_has_an_end():
    assert verdict("x = bytearray(8_000_000_000)\n").reason == "MemoryError"
    assert not verdict("x = []\nwhile True:\n    x.append(bytearray(10_000_000))\n").passed


def test_no_process_is_started():
    assert verdict("import os\nwhile True:\n    os.fork()\n").reason == "PermissionError"
    assert not verdict("import subprocess\nsubprocess.run(['true'])\n").passed
    assert not verdict("import os\nos.execv('/bin/true', ['true'])\n").passed
    assert not verdict("import os\nos.posix_spawn('/bin/true', ['true'], {})\n").passed
    assert verdict(
        "import threading\nt = threading.Thread(target=int)\nt.start()\nt.join()\n" + GOOD
    ).passed


def test_no_network_is_reached():
    """A real server listens; nobody calls."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        called = []
        threading.Thread(target=lambda: called.append(server.accept()), daemon=True).start()
        port = server.getsockname()[1]
        code = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 5)\n"
        assert not verdict(code).passed
        assert not called
        socket.create_connection(("127.0.0.1", port)).close()  # it did listen


def test_nothing_outside_is_written(tmp_path):
    tmp_path.chmod(0o777)
    victim = tmp_path / "victim"
    victim.write_text("mine")
    victim.chmod(0o666)
    for code in (
        f"open({str(tmp_path / 'new')!r}, 'w').write('x')\n",
        f"open({str(victim)!r}, 'w').write('x')\n",
        f"import os\nos.unlink({str(victim)!r})\n",
        f"import os\nos.rename({str(victim)!r}, {str(victim)!r} + '2')\n",
        f"import os\nos.chmod({str(victim)!r}, 0)\n",
        "import ctypes\nassert ctypes.CDLL(None).mount(None, b'/', None, 0x1000 | 32, None) == 0\n",
    ):
        assert not verdict(code + GOOD).passed, code
    assert victim.read_text() == "mine"
    assert os.listdir(tmp_path) == ["victim"]
    inside = "open('here', 'w').write('x')\nassert open('here').read() == 'x'\n"
    assert verdict(inside + GOOD).passed


def test_a_file_inside_has_an_end_too():
    assert not verdict("open('big', 'wb').write(bytes(50_000_000))\n" + GOOD).passed


def test_the_environment_is_empty_and_the_parents_is_out_of_reach(monkeypatch):
    monkeypatch.setenv("EXCISE_SECRET", "hunter2")
    assert verdict("import os\nassert 'EXCISE_SECRET' not in os.environ\n" + GOOD).passed
    for pid in (os.getpid(), os.getppid(), "self", 1):
        code = f"assert b'hunter2' in open('/proc/{pid}/environ', 'rb').read()\n"
        assert not verdict(code + GOOD).passed
    assert not verdict(f"import os\nos.kill({os.getpid()}, 0)\n" + GOOD).passed


def test_nothing_of_ours_is_imported():
    assert verdict(
        "import sys\nassert not [m for m in sys.modules if 'excise' in m]\n" + GOOD
    ).passed
    assert not verdict("import excise\n" + GOOD).passed


# --- the command ---------------------------------------------------------------------------------


def record(hypothesis: str, **more) -> str:
    base = {"id": "t", "language": "python", "origin": BAD, "reference": GOOD, "tests": TESTS}
    return json.dumps(base | {"hypothesis": hypothesis} | more) + "\n"


OPTIONS = ("--measures", "em", "--bootstrap", "0", "--jobs", "2")


def test_the_command_labels_and_correlates_and_says_that_it_runs_code(tmp_path):
    path = tmp_path / "labelled.jsonl"
    data = (
        record(GOOD, label=1) + record(BAD, label=1, count=2) + record("import os; os._exit(0)\n")
    )
    ran = excise("eval", "-", *OPTIONS, "--execute", "--labels", str(path), "--json", stdin=data)
    assert ran.code == 0, ran.err
    assert "warning: --execute runs code from the records" in ran.err
    assert "1 agree with the label that was there, 2 do not" in ran.err
    counts = {"passed": 1, "failed": 3, "timed_out": 0, "agree": 1, "disagree": 2}
    assert ran.json["executed"] == counts
    assert ran.json["measures"]["em"]["pearson"] == pytest.approx(1.0)
    written = [json.loads(line) for line in path.read_text().split("\n")[:-1]]
    assert [(one["label"], one["verdict"]) for one in written] == [
        (1, "passed"),
        (0, "AssertionError"),
        (0, "died"),
    ]
    assert json.loads(record(GOOD, label=1)).items() <= written[0].items()


def test_what_timed_out_is_counted_by_its_name():
    data = record("while True: pass\n", count=2) + record(GOOD)
    ran = excise("eval", "-", *OPTIONS, "--execute", "--timeout", "1", "--json", stdin=data)
    assert ran.json["executed"]["failed"] == ran.json["executed"]["timed_out"] == 2
    assert "2 do not, of which 2 timed out" in ran.err


def test_without_being_asked_nothing_is_executed(tmp_path):
    marker = tmp_path / "ran"
    code = f"open({str(marker)!r}, 'w')\n"
    excise("eval", "-", *OPTIONS, stdin=record(code, label=1) + record(GOOD, label=0))
    assert not marker.exists()


def test_what_cannot_be_executed_is_named():
    data = record(GOOD) + record(BAD) + record(GOOD, language="java") + record(GOOD, tests=" ")
    data += record(GOOD, tests=3)
    ran = excise("eval", "-", *OPTIONS, "--execute", "--json", stdin=data)
    assert ran.code == 1
    assert ran.json["not_executed"] == 3
    for part in ("line 3: only Python can be executed", "line 4: 'tests' is missing", "line 5"):
        assert part in ran.err


def test_labels_without_execute_are_refused():
    ran = excise("eval", "-", *OPTIONS, "--labels", "x", stdin=record(GOOD))
    assert (ran.code, "--labels belongs to --execute" in ran.err) == (2, True)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux only")
def test_recorded_verdicts_are_reproduced(excise_data):
    """OctoCoder's outputs of forty items, in both verdicts, against what the data record."""
    with open(excise_data / "humanevalfix_python.jsonl", encoding="utf-8") as file:
        items = {item["id"]: item for item in map(json.loads, file)}
    checked = []
    with opened(str(excise_data / "labelled" / "hef_python_octocoder.jsonl")) as stream:
        for line in list(stream)[::4]:
            output = json.loads(line)
            item = items[output["id"]]
            parts = [item.get("import_", ""), item.get("test_setup", "")]
            found = run_tests([*parts, output["revision"], item["tests"]], seconds=60)
            checked.append((found.passed, output["passed"]))
    assert len(checked) > 60
    assert {recorded for _, recorded in checked} == {True, False}
    assert all(found == recorded for found, recorded in checked)
