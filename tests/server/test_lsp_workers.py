"""The server outlives what documents do to parsers: it has none, and its workers may die."""

import itertools
import os
import signal
import time
from pathlib import Path

import pytest
from tests.core import fuzz_grammars
from tests.reference import budget
from tests.server.git_repository import make, needs_git
from tests.server.process_tree import children, cpu_of
from tests.server.raw_client import serving

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc"),
]

ORIGIN = "def f(a, b):\n    x = a + b\n    return x\n"
SLOW = "|+\n" * 6_000
"""Many seconds in the parser of Python."""

HOSTILE = 10_000 if budget.PROFILE == "nightly" else 60
"""Texts that one server gets."""

GRAMMARS = ("markdown", "yaml", "python", "bash", "perl", "ruby", "cpp", "haskell", "html", "php")


def loaded(pid: int) -> str:
    return Path(f"/proc/{pid}/maps").read_text()


def workers(pid: int) -> list[int]:
    named = b"excise_server.workers.child"
    return [c for c in children(pid) if named in Path(f"/proc/{c}/cmdline").read_bytes()]


def busy_worker(pid: int) -> int:
    """Return a worker once it has worked for longer than all but the slow text takes."""
    while True:
        for worker in workers(pid):
            if cpu_of(worker) > 3.5:
                return worker
        time.sleep(0.02)


@needs_git
def test_no_parser_is_ever_loaded_into_the_server(tmp_path, monkeypatch):
    repo = make(tmp_path, monkeypatch, a__py=ORIGIN)
    for name, new in (("ada", "a - b"), ("bo", "a * b")):
        repo.git("worktree", "add", "--quiet", "-b", name, tmp_path / name)
        (tmp_path / name / "a.py").write_text(ORIGIN.replace("a + b", new))
    with serving(workspaceFolders=[{"uri": repo.path.as_uri(), "name": "w"}]) as client:
        uri, pid = (repo.path / "a.py").as_uri(), client.process.pid
        client.open(uri, ORIGIN)
        client.add(uri, {"mine": ORIGIN.replace("x", "y")})
        report = client.call("excise/report", {"uri": uri})
        assert len(report["revisions"]) == 3
        where = {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 0}}
        assert client.call("textDocument/hover", where)
        everywhere = {"start": {"line": 0, "character": 0}, "end": {"line": 2, "character": 0}}
        asked = {"textDocument": {"uri": uri}, "range": everywhere, "context": {"diagnostics": []}}
        assert client.call("textDocument/codeAction", asked)
        assert client.call("textDocument/codeLens", {"textDocument": {"uri": uri}})
        assert client.call("excise/candidates", {"uri": repo.path.as_uri()})["candidates"]
        client.change(uri, 2, {"text": "# new\n" + ORIGIN})
        assert client.call("excise/startAgain", {"uri": uri})["started"]
        client.call("excise/report", {"uri": uri})
        mbox = (repo.path / "a.patch").as_uri()
        client.open(mbox, "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n")
        client.call("textDocument/codeLens", {"textDocument": {"uri": mbox}})
        assert workers(pid)
        assert any("tree_sitter" in loaded(worker) for worker in workers(pid))
        assert "tree_sitter" not in loaded(pid)


def test_a_worker_that_dies_mid_parse_leaves_a_note_and_the_server(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with serving() as client:
        client.open("untitled:a", ORIGIN, language="python")
        client.add("untitled:a", {"slow": SLOW, "plain": ORIGIN.replace("+", "-")})
        asked = client.request("excise/report", {"uri": "untitled:a"})
        os.kill(busy_worker(client.process.pid), signal.SIGSEGV)
        report = client.answer(asked)["result"]
        notes = {r["id"]: str(r["notes"]) for r in report["revisions"]}
        assert "lexical tokens: the parser of python" in notes["slow"]
        assert "lexical" not in notes["plain"]


def test_one_server_outlives_hostile_texts():
    texts = itertools.chain.from_iterable(
        zip(itertools.repeat(grammar), fuzz_grammars.texts(grammar), strict=False)
        for grammar in GRAMMARS
    )
    each = itertools.islice(texts, 0, None, 1 if HOSTILE > 1_000 else 997)
    with serving() as client:
        for number, (grammar, text) in enumerate(itertools.islice(each, HOSTILE)):
            uri = f"untitled:{number}"
            text = text.replace("\0", "\x01")  # with it a text is binary, and has no origin
            client.open(uri, text, language=grammar)
            client.add(uri, {"a": f"{text}x\n", "b": "y\n"})
            assert len(client.call("excise/report", {"uri": uri})["revisions"]) == 2
            client.call("excise/removeCandidates", {"uri": uri, "ids": ["a", "b"]})
            client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        assert client.process.poll() is None
