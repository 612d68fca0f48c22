"""excise/worktrees over the wire: the command's document, from inside the workspace only."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.server.command import excise
from tests.server.edited_worktrees import client_of, edited_worktrees
from tests.server.git_repository import Repo, make, needs_git
from tests.server.raw_client import RawClient

ORIGIN = "def f(a, b):\n    x = a + b\n    return x\n"
INVALID_PARAMS, REQUEST_FAILED = -32602, -32803

pytestmark = [needs_git, pytest.mark.slow]


@pytest.fixture
def repo(tmp_path, monkeypatch) -> Repo:
    edits = {"ada": ("a + b", "a - b"), "bo": ("a + b", "a - b"), "cy": ("x", "y")}
    return edited_worktrees(tmp_path, monkeypatch, edits, a__py=ORIGIN)


@pytest.fixture
def client(repo: Repo) -> Iterator[RawClient]:
    with client_of(repo) as client:
        yield client


def test_the_document_is_the_command_s(repo: Repo, client: RawClient):
    found = client.call("excise/worktrees", {"uri": repo.path.as_uri()})
    assert found == excise("worktrees", str(repo.path), "--json").json
    assert [entry["id"] for entry in found["ranking"]] == [
        "worktree:ada",
        "worktree:bo",
        "worktree:cy",
    ]
    file = {"uri": (repo.path / "a.py").as_uri()}
    assert client.call("excise/worktrees", file) == found
    command = {"command": "excise.worktrees", "arguments": [file]}
    assert client.call("workspace/executeCommand", command) == found


def test_branches_and_a_base(repo: Repo, client: RawClient):
    repo.git("checkout", "--quiet", "-b", "agent/1")
    repo.commit(a__py=ORIGIN.replace("return x", "return -x"))
    repo.git("checkout", "--quiet", "main")
    params = {"uri": repo.path.as_uri(), "branches": ["agent/*"], "base": "main"}
    found = client.call("excise/worktrees", params)
    assert "branch:agent/1" in found["candidates"]
    params["base"] = "--output=/nowhere"
    assert client.refused("excise/worktrees", params)["code"] == REQUEST_FAILED


def test_only_inside_the_workspace(repo: Repo, client: RawClient, tmp_path):
    outside = tmp_path / "ada"
    (repo.path / "link").symlink_to(outside)
    for uri in (outside.as_uri(), (repo.path / "link").as_uri(), "untitled:x", "file:///proc/self"):
        assert client.refused("excise/worktrees", {"uri": uri})["code"] == INVALID_PARAMS


def test_no_repository_is_said(tmp_path, monkeypatch):
    make(tmp_path, monkeypatch)
    plain = tmp_path / "plain"
    plain.mkdir()
    with RawClient() as client:
        client.initialize(workspaceFolders=[{"uri": plain.as_uri(), "name": "w"}])
        error = client.refused("excise/worktrees", {"uri": plain.as_uri()})
        assert error["code"] == REQUEST_FAILED
        assert "repository" in error["message"]


def test_git_is_not_started_without_trust(repo: Repo):
    with RawClient() as client:
        folders = [{"uri": repo.path.as_uri(), "name": "w"}]
        client.initialize(workspaceFolders=folders, initializationOptions={"trusted": False})
        error = client.refused("excise/worktrees", {"uri": repo.path.as_uri()})
        assert error["code"] == REQUEST_FAILED
        assert "not trusted" in error["message"]
