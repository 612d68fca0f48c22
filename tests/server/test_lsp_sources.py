"""Revisions that come by themselves, over the real server: nobody adds any in these tests."""

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

import pytest
from tests.server.git_repository import Repo, make, needs_git
from tests.server.process_tree import DEADLINE
from tests.server.raw_client import RawClient

pytestmark = [pytest.mark.slow, needs_git]

ORIGIN = "def f(a, b):\n    x = a + b\n    return x\n\n\ndef g(a):\n    return a * 2\n"
A = ORIGIN.replace("a + b", "a - b")
B = ORIGIN.replace("a * 2", "a * 3")
WATCHING = {
    "workspace": {
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True}
    }
}


class Session:
    """A client in workspace folders of the disk; without any, one that has begun in its own."""

    def __init__(self, client: RawClient, *folders: Path, capabilities=None, **options) -> None:
        self.client = client
        if folders:
            client.initialize(
                capabilities,
                workspaceFolders=[{"uri": f.as_uri(), "name": f.name} for f in folders],
                initializationOptions=options,
            )

    def open(self, path: Path, text: str | None = None) -> str:
        """Open a file with what it holds, or as it stands in the editor."""
        shown = path.read_text(encoding="utf-8") if text is None else text
        self.client.open(path.as_uri(), shown)
        return path.as_uri()

    def sources(self, uri: str) -> dict:
        """Wait for the sources; give the reports by name."""
        self.result = self.client.call("excise/review", {"uri": uri})
        return {report["name"]: report for report in self.result["sources"]}

    def ids(self, uri: str) -> list[str]:
        """Wait for the sources; give what is listed."""
        answer = self.client.answer(self.client.request("excise/review", {"uri": uri}))
        self.result = answer.get("result", {"candidates": []})
        return [candidate["id"] for candidate in self.result["candidates"]]

    def touched(self, *paths: Path) -> None:
        changes = [{"uri": path.as_uri(), "type": 2} for path in paths]
        self.client.notify("workspace/didChangeWatchedFiles", {"changes": changes})

    def report(self, uri: str) -> dict:
        return self.client.call("excise/report", {"uri": uri})


@pytest.fixture
def client():
    with RawClient() as client:
        yield client
        assert client.exit() == 0
        assert not any("Traceback" in line for line in client.log), "\n".join(client.log)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace folder without git."""
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "a.py").write_text(ORIGIN)
    return tmp_path / "ws"


def sent(client: RawClient, method: str) -> list[dict]:
    """What the server has asked of the client: always before it answers about sources."""
    return [message for message in client.received if message.get("method") == method]


def old(message: dict) -> list[dict]:
    return message["params"]["unregisterations"]


def four_worktrees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    repo = make(tmp_path, monkeypatch, a__py=ORIGIN)
    for number in range(1, 5):
        tree = tmp_path / f"agent-{number}"
        repo.git("worktree", "add", "--quiet", "-b", f"try-{number}", tree)
        (tree / "a.py").write_text(ORIGIN.replace("a + b", f"a + {number}"))
    return repo


def test_four_worktrees_appear_without_being_asked(client, tmp_path, monkeypatch):
    repo = four_worktrees(tmp_path, monkeypatch)
    session = Session(client, repo.path)
    uri = session.open(repo.path / "a.py")
    found = client.diagnostics(uri)
    assert [d["range"]["start"]["line"] for d in found] == [0, 1]
    trees = [f"worktree:agent-{number}" for number in range(1, 5)]
    assert session.ids(uri) == trees
    reports = session.sources(uri)
    assert [r["id"] for r in reports["worktrees"]["found"]] == trees
    assert session.result["comparedWith"] == {"kind": "saved", "label": "saved file"}
    assert [r["label"] for r in session.report(uri)["revisions"]] == [
        f"try-{number}" for number in range(1, 5)
    ]


def test_a_worktree_that_comes_changes_or_goes(client, tmp_path, monkeypatch):
    repo = four_worktrees(tmp_path, monkeypatch)
    session = Session(client, repo.path, capabilities=WATCHING)
    uri = session.open(repo.path / "a.py")
    assert len(session.ids(uri)) == 4
    (registered,) = sent(client, "client/registerCapability")
    client.send({"jsonrpc": "2.0", "id": registered["id"], "result": None})
    watched = {
        (w["globPattern"]["baseUri"], w["globPattern"]["pattern"])
        for r in registered["params"]["registrations"]
        for w in r["registerOptions"]["watchers"]
    }
    agent = tmp_path / "agent-1"
    assert (agent.as_uri(), "a.py") in watched
    assert ((repo.path / ".git").as_uri(), "worktrees/**") in watched

    (agent / "a.py").write_text(B)
    session.touched(agent / "a.py")
    session.ids(uri)
    variants = [v["text"] for r in session.report(uri)["hunks"] for v in r["variants"]]
    assert "    return a * 3\n" in variants

    repo.git("worktree", "remove", "--force", agent)
    repo.git("branch", "-D", "try-1")
    session.touched(repo.path / ".git" / "worktrees" / "agent-1")
    assert "worktree:agent-1" not in session.ids(uri)
    gone = {r["id"] for m in sent(client, "client/unregisterCapability") for r in old(m)}
    assert gone < {r["id"] for r in registered["params"]["registrations"]}

    repo.git("worktree", "add", "--quiet", "-b", "late", tmp_path / "late")
    (tmp_path / "late" / "a.py").write_text(A)
    session.touched(repo.path / ".git" / "worktrees" / "late" / "HEAD")
    assert "worktree:late" in session.ids(uri)


def test_without_watching_a_save_asks_again(client, tmp_path, monkeypatch):
    repo = four_worktrees(tmp_path, monkeypatch)
    session = Session(client, repo.path)
    uri = session.open(repo.path / "a.py")
    assert len(session.ids(uri)) == 4
    (tmp_path / "agent-1" / "a.py").write_text(ORIGIN)
    client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    assert "worktree:agent-1" not in session.ids(uri)
    assert not sent(client, "client/registerCapability")


@pytest.mark.parametrize("choice", ["head", "index"])
def test_the_origin_is_the_one_chosen(client, tmp_path, monkeypatch, choice):
    repo = make(tmp_path, monkeypatch, a__py=ORIGIN)
    repo.git("checkout", "--quiet", "-b", "fix")
    repo.commit(a__py=A)
    repo.git("checkout", "--quiet", "main")
    (repo.path / "a.py").write_text(B)
    session = Session(client, repo.path, origin=choice)
    uri = session.open(repo.path / "a.py")
    assert session.ids(uri) == ["branch:fix"]
    assert session.result["comparedWith"]["kind"] == choice
    report = session.report(uri)
    assert [r["id"] for r in report["revisions"]] == ["branch:fix"]
    assert [v["text"] for r in report["hunks"] for v in r["variants"]] == ["    x = a - b\n"]


def test_a_change_of_the_settings_asks_again(client, folder):
    (folder / "a.py.suggestion-a").write_text(A)
    session = Session(client, folder)
    uri = session.open(folder / "a.py")
    assert session.ids(uri) == ["file:a.py.suggestion-a"]
    for files, ids in ((False, []), (["${file}.sugg*"], ["file:a.py.suggestion-a"])):
        settings = {"excise": {"sources": {"files": files, "buffer": True}}}
        client.notify("workspace/didChangeConfiguration", {"settings": settings})
        assert session.ids(uri) == ids
    top = {"line": 0, "character": 0}
    client.change(uri, 2, {"range": {"start": top, "end": top}, "text": "#\n"})
    assert len(session.report(uri)["revisions"]) == 2
    settings["excise"]["sources"]["buffer"] = False
    client.notify("workspace/didChangeConfiguration", {"settings": settings})
    assert len(session.report(uri)["revisions"]) == 1


# --- and the client's own ---


def test_a_source_never_overwrites_what_a_client_added(client, folder):
    name = "file:a.py.suggestion-a"
    (folder / "a.py.suggestion-a").write_text(A)
    session = Session(client, folder)
    uri = session.open(folder / "a.py")
    client.add(uri, {name: B, "mine": A})
    assert session.ids(uri) == [name, "mine"]
    refused = session.sources(uri)["files"]["refused"]
    assert refused[0]["reason"] == "the client added another revision with this id"
    hunks = session.report(uri)["hunks"]
    assert "    return a * 3\n" in [v["text"] for r in hunks for v in r["variants"]]
    client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    assert session.ids(uri) == [name, "mine"]


def test_what_a_client_removes_stays_away_until_the_document_is_opened_again(client, folder):
    (folder / "a.py.suggestion-a").write_text(A)
    session = Session(client, folder)
    uri = session.open(folder / "a.py")
    ids = session.ids(uri)
    assert client.call("excise/removeCandidates", {"uri": uri, "ids": ids})["removed"] == ids
    client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    assert session.ids(uri) == []
    assert session.sources(uri)["files"]["refused"][0]["reason"] == "removed by the client"
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    session.open(folder / "a.py")
    assert session.ids(uri) == ids


def test_closing_takes_what_was_found_away_and_leaves_what_was_added(client, folder):
    (folder / "a.py.suggestion-a").write_text(A)
    session = Session(client, folder)
    uri = session.open(folder / "a.py")
    client.add(uri, {"mine": B})
    assert len(session.ids(uri)) == 2
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert session.ids(uri) == ["mine"]
    assert (session.result["comparedWith"], session.result["sources"]) == (None, [])


@pytest.mark.parametrize(
    ("setting", "alone", "beside"),
    [
        ({}, [], ["x"]),
        ({"buffer": True}, ["buffer"], ["x", "buffer"]),
        ({"buffer": False}, [], ["x"]),
    ],
)
def test_the_buffer_is_one_more_revision(client, folder, setting, alone, beside):
    session = Session(client, folder, sources=setting)
    uri = session.open(folder / "a.py")
    edit = {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}}
    client.change(uri, 2, edit | {"text": "# mine\n"})
    assert [r["id"] for r in session.report(uri)["revisions"]] == alone
    client.add(uri, {"x": A})
    assert [r["id"] for r in session.report(uri)["revisions"]] == beside
    if "buffer" in beside:
        assert session.sources(uri)["buffer"]["found"][0]["id"] == "buffer"
        client.add(uri, {"buffer": B})  # the client's own id wins
        assert [r["label"] for r in session.report(uri)["revisions"]] == ["", ""]
        client.call("excise/removeCandidates", {"uri": uri, "ids": ["buffer"]})
    client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    assert [r["id"] for r in session.report(uri)["revisions"]] == beside  # the origin is pinned
    assert client.call("excise/startAgain", {"uri": uri}) == {"started": True}
    assert [r["id"] for r in session.report(uri)["revisions"]] == ["x"]


# --- beside the loop ---


class Gate:
    """A git that waits until it is let go."""

    def __init__(self, folder: Path) -> None:
        self.pipe, self.opened, self.held = folder / "pipe", folder / "open", []
        os.mkfifo(self.pipe)
        (folder / "bin").mkdir()
        (folder / "bin" / "git").write_text(
            f"#!/bin/sh\n[ -e '{self.opened}' ] || read x < '{self.pipe}'\n"
            f"exec '{shutil.which('git')}' \"$@\"\n"
        )
        (folder / "bin" / "git").chmod(0o755)

    def wait(self) -> None:
        self.held.append(self.pipe.open("w"))  # opens when git reads

    def let_go(self) -> None:
        self.opened.touch()
        self.held.pop().close()

    def check_ended(self) -> None:
        deadline = time.monotonic() + DEADLINE
        with suppress(BrokenPipeError):  # nobody reads any more
            while time.monotonic() < deadline:
                self.held[-1].write("x")  # no line end: it goes on waiting
                self.held[-1].flush()
            pytest.fail("git is still there")
        with suppress(BrokenPipeError):
            self.held.pop().close()


@pytest.fixture
def gated(tmp_path, monkeypatch):
    """A session with four worktrees, a document that is just opened, and the git that is asked."""
    if os.name == "nt":
        pytest.skip("a shell script and a named pipe")
    repo, gate = four_worktrees(tmp_path, monkeypatch), Gate(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "bin"), os.environ["PATH"]]))
    with RawClient() as client:
        session = Session(client, repo.path)
        session.uri = session.open(repo.path / "a.py")
        gate.wait()
        yield session, gate, repo.path


def test_nothing_waits_for_git(gated):
    session, gate, _ = gated
    client, uri = session.client, session.uri
    client.add(uri, {"mine": A})
    assert len(client.diagnostics(uri)) == 2
    top = {"line": 0, "character": 0}
    client.change(uri, 2, {"range": {"start": top, "end": top}, "text": "# typed\n"})
    client.diagnostics(uri, 2)
    position = {"textDocument": {"uri": uri}, "position": top}
    contents = client.call("textDocument/hover", position)["contents"]
    assert contents["kind"] == "plaintext"  # what a client gets that names no format
    assert "mine" in contents["value"]
    gate.let_go()
    assert len(session.ids(uri)) == 5
    assert client.exit() == 0


def test_an_answer_that_comes_too_late_is_dropped(gated):
    session, gate, path = gated
    client, uri = session.client, session.uri
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    gate.let_go()
    assert session.ids(uri) == []
    (path / "b.py").write_text(ORIGIN)
    session.sources(session.open(path / "b.py"))  # asked after what was too late
    assert client.listed(uri) == []
    assert client.exit() == 0


def test_a_git_that_hangs_does_not_outlive_the_server(gated):
    session, gate, _ = gated
    assert session.client.exit() == 0
    gate.check_ended()


# --- workspaces ---


def test_two_workspace_folders(client, tmp_path):
    folders = []
    for name, text in (("one", A), ("two", B)):
        folders.append(tmp_path / name)
        folders[-1].mkdir()
        (folders[-1] / "a.py").write_text(ORIGIN)
        (folders[-1] / f"a.py.suggestion-{name}").write_text(text)
    (tmp_path / "a.py").write_text(ORIGIN)
    (tmp_path / "a.py.suggestion-out").write_text(A)
    session = Session(client, *folders)
    for folder in folders:
        uri = session.open(folder / "a.py")
        assert session.ids(uri) == [f"file:a.py.suggestion-{folder.name}"]
    outside = session.open(tmp_path / "a.py")
    assert session.ids(outside) == []
    assert session.sources(outside)["document"]["refused"][0]["reason"].startswith("outside")
    added = {"added": [{"uri": tmp_path.as_uri(), "name": "all"}], "removed": []}
    client.notify("workspace/didChangeWorkspaceFolders", {"event": added})
    assert session.ids(outside) == ["file:a.py.suggestion-out"]


def test_a_document_of_another_scheme_has_no_sources(client, folder):
    (folder / "a.py.suggestion-a").write_text(A)
    session = Session(client, folder)
    uri = f"git:{folder}/a.py"
    client.open(uri, ORIGIN)
    assert session.ids(uri) == []


# --- odd settings ---


def test_settings_that_are_not_understood_are_logged_and_left(client, folder):
    (folder / "a.py.suggestion-a").write_text(A)
    wrong = {"worktrees": 1, "git": [1], "files": {"a": 1}, "buffer": "yes"}
    session = Session(client, folder, sources=wrong, origin="nowhere", trusted="yes")
    assert session.ids(session.open(folder / "a.py")) == ["file:a.py.suggestion-a"]
    assert session.result["comparedWith"]["kind"] == "saved"
