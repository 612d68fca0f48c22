"""`make demo` and `excise serve`: real sessions with the language server."""

import json
import re
import subprocess
import sys

import pytest
from tests.server.command import EXAMPLES, plain_environment, spawn
from tests.server.git_repository import needs_git

pytestmark = pytest.mark.slow

DEMO = str(EXAMPLES.parent / "demo.py")


def test_the_demo_shows_a_session():
    ran = subprocess.run(
        [sys.executable, DEMO],
        capture_output=True,
        env=plain_environment(PYTHONUTF8="1", COLUMNS="100"),
        timeout=120,
    )
    out = ran.stdout.decode()
    assert (ran.returncode, ran.stderr) == (0, b"")
    session = re.split(r"^\d  .* ─+$", out, flags=re.MULTILINE)
    _, opened, diagnostics, ranking, clusters, hover = session
    assert "accepted: ada, bo, chen, dana, eli" in opened
    assert diagnostics.count("╰─ ⓘ") == 6  # the file and five hunks
    assert re.search(r"^ +1 +ada +\d+ +1 *$", ranking, re.MULTILINE)
    assert re.search(r"● ada +bo \(0\.\d\d\)", clusters)
    assert "raise OutOfStock(sku, quantity, available)" in hover
    for name in ("ada", "bo", "chen", "dana", "eli"):
        assert all(f" {name} " in part for part in (ranking, clusters, hover))


@needs_git
def test_the_demo_has_candidates_of_two_tasks_with_different_bases(tmp_path):
    made = spawn("demo", "d", cwd=tmp_path)
    assert (made.returncode, made.stderr) == (0, b"")
    ran = spawn(cwd=tmp_path / "d" / "shop", env=plain_environment(PYTHONUTF8="1"))
    out = ran.stdout.decode()
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert [line.split(":")[0] for line in out.split("\n") if line.startswith("Task ")] == [
        "Task 1", "Task 2",
    ]  # fmt: skip
    assert "A  3 candidates  shop/prices.py  discount" in out
    behind = {
        entry["label"]: entry["behind"]
        for entry in json.loads(
            spawn("review", "--format", "json", cwd=tmp_path / "d" / "shop").stdout
        )["candidates"]
    }
    assert behind["claude-no-code"] == 6
    assert re.search(r"claude-shipping \(landed as \w{7}\), shop-later \(unchanged\)", out)
    assert "being written" not in out
    # Its tests need no package, and tell candidates apart.
    command = f"{sys.executable} -S -m unittest"
    ran = spawn("review", "--run", command, "--format", "json", cwd=tmp_path / "d" / "shop",
                env=plain_environment(XDG_CACHE_HOME=str(tmp_path / "cache")))  # fmt: skip
    entries = json.loads(ran.stdout)["candidates"]
    assert {e["label"] for e in entries if e["verdict"] == "failed"} == {"mina/no-code"}
    assert {e["verdict"] for e in entries} == {"failed", "passed"}
    assert b"the target: passed" in ran.stderr


def test_a_demo_without_a_server_fails():
    code = (
        f"import runpy, sys\nsys.executable = 'true'; runpy.run_path({DEMO!r}, run_name='__main__')"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120)
    assert ran.returncode == 1
    assert b"demo failed" in ran.stderr
    assert b"Traceback" not in ran.stderr


def test_serve_is_the_language_server():
    messages = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "capabilities": {}}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ]
    bodies = [json.dumps({"jsonrpc": "2.0"} | message).encode() for message in messages]
    frames = b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies)
    for options in ((), ("--stdio",)):
        ran = spawn("serve", *options, stdin=frames)
        assert (ran.returncode, ran.stderr) == (0, b"")
        assert b'"hoverProvider"' in ran.stdout
        assert ran.stdout.count(b"Content-Length: ") == 2
