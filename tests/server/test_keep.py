"""Keep as Candidate: a working tree's changes, below a ref of ours and nowhere else."""

from __future__ import annotations

import shutil

import pytest
from tests.server.command import excise
from tests.server.edited_worktrees import (
    INVALID_PARAMS,
    MINUS,
    ORIGIN,
    REQUEST_FAILED,
    client,
    server,
)
from tests.server.git_repository import Repo, make, needs_git
from tests.server.raw_client import RawClient, serving

pytestmark = [needs_git, pytest.mark.slow]

__all__ = ["client", "server"]  # the fixtures


@pytest.fixture
def repo(tmp_path, monkeypatch) -> Repo:
    return make(tmp_path, monkeypatch, a__py=ORIGIN, b__py="B = 1\n")


def keep(client: RawClient, repo: Repo, **more) -> dict:
    return client.call("excise/keep", {"uri": repo.path.as_uri(), **more})


def refused(client: RawClient, repo: Repo, **more) -> str:
    error = client.refused("excise/keep", {"uri": repo.path.as_uri(), **more})
    assert error["code"] == REQUEST_FAILED
    return error["message"]


def listed(client: RawClient, repo: Repo) -> dict[str, list[str]]:
    document = client.call("excise/candidates", {"uri": repo.path.as_uri()})
    return {c["label"]: [f["path"] for f in c["files"]] for c in document["candidates"]}


def refs(repo: Repo) -> list[str]:
    return repo.git("for-each-ref", "--format=%(refname)", "refs/excise").decode().split()


def state(repo: Repo) -> list[bytes]:
    """What git has of the tree: a snapshot leaves all of it alone."""
    own = [repo.git(*line.split()) for line in ("status --porcelain", "stash list", "branch -a")]
    return [*own, (repo.path / ".git/index").read_bytes(), (repo.path / ".git/HEAD").read_bytes()]


def test_two_tries_in_one_tree_are_two_candidates(repo: Repo, client: RawClient):
    (repo.path / "a.py").write_text(MINUS)
    (repo.path / "b.py").unlink()
    repo.write("sub/new.py", "N = 1\n").chmod(0o755)
    repo.write(".gitignore", "*.log\n")
    repo.write("noise.log", "no\n")
    repo.git("add", "a.py")
    before = state(repo)
    kept = keep(client, repo, name="aider: first try!")
    assert kept["id"] == "ref:kept/aider-first-try"
    assert kept["files"] == [".gitignore", "a.py", "b.py", "sub/new.py"]
    assert kept["notes"] == []
    assert state(repo) == before
    tree = repo.git("ls-tree", "-r", "refs/excise/kept/aider-first-try").decode().splitlines()
    assert [line.split()[0] + line.rpartition("\t")[2] for line in tree] == [
        "100644.gitignore", "100644a.py", "100755sub/new.py",
    ]  # fmt: skip

    repo.git("reset", "--quiet", "--hard")
    repo.git("clean", "--quiet", "-fdx")
    (repo.path / "a.py").write_text(ORIGIN.replace("a + b", "a / b"))
    kept = keep(client, repo)
    repo.git("reset", "--quiet", "--hard")
    ids = {entry["id"] for entry in kept["kept"]}
    assert ids == {"ref:kept/kept", "ref:kept/aider-first-try"}
    assert listed(client, repo) == {
        "kept": ["a.py"], "aider-first-try": [".gitignore", "a.py", "b.py", "sub/new.py"],
    }  # fmt: skip
    taken = client.call("excise/take", {
        "uri": repo.path.as_uri(), "choices": [{"candidate": "ref:kept/kept"}],
    })  # fmt: skip
    assert [entry["path"] for entry in taken["contents"]] == ["a.py"]


def test_the_same_is_kept_once_and_a_name_is_not_taken_twice(repo: Repo, client: RawClient):
    (repo.path / "a.py").write_text(MINUS)
    first = keep(client, repo, name="try")
    again = keep(client, repo, name="another name")
    assert (again["id"], again["notes"]) == (first["id"], ["it was kept before"])
    for number, line in ((2, "X = 1\n"), (3, "X = 2\n")):
        (repo.path / "a.py").write_text(line + MINUS)
        assert keep(client, repo, name="try")["id"] == f"ref:kept/try-{number}"
    assert keep(client, repo, name="../../heads/main")["notes"] == ["it was kept before"]
    assert len(refs(repo)) == 3


def test_what_is_kept_is_removed_by_name_alone(repo: Repo, client: RawClient):
    repo.git("branch", "topic")
    (repo.path / "a.py").write_text(MINUS)
    keep(client, repo, name="one")
    (repo.path / "b.py").unlink()
    keep(client, repo, name="two")
    before = state(repo)
    ids = ["ref:kept/one", "ref:kept/none", "branch:topic", "refs/heads/topic", "ref:kept/one", ""]
    answer = client.call("excise/removeKept", {"uri": repo.path.as_uri(), "ids": ids})
    assert answer["removed"] == ["ref:kept/one"]
    assert answer["unknown"] == ["ref:kept/none", "branch:topic", "refs/heads/topic", ""]
    assert refs(repo) == ["refs/excise/kept/two"]
    assert state(repo) == before
    found = client.call("excise/candidates", {"uri": repo.path.as_uri()})
    assert found["decided"] == {"ref:kept/two": "taken"}  # the saved files are it
    repo.git("checkout", "--quiet", ".")
    assert list(listed(client, repo)) == ["two"]


def test_finish_names_what_is_kept_and_removes_what_it_is_told_to(repo: Repo, client: RawClient):
    for name, text in (("one", MINUS), ("two", ORIGIN.replace("* 2", "+ a"))):
        (repo.path / "a.py").write_text(text)
        keep(client, repo, name=name)
    uri = repo.path.as_uri()
    plan = client.call("excise/finish", {"uri": uri})["plan"]
    assert [(taken["label"], taken["whole"]) for taken in plan["taken"]] == [("two", True)]
    assert {entry["label"]: entry["obstacle"] for entry in plan["worktrees"]} == {
        "one": "", "two": "",
    }  # fmt: skip
    ended = client.call("excise/finish", {"uri": uri, "write": True, "remove": ["ref:kept/two"]})
    assert (ended["removed"], ended["commit"]) == (["ref:kept/two"], repo.head())
    assert refs(repo) == ["refs/excise/kept/one"]


def test_a_command_says_that_something_is_kept(repo: Repo, client: RawClient):
    (repo.path / "a.py").write_text(MINUS)
    assert "kept" not in excise("--repo", str(repo.path)).out
    keep(client, repo, name="mine")
    said = excise("--repo", str(repo.path)).out
    assert "note: kept: 1, of which --git 'kept/*' takes all" in said
    assert "mine" in excise("--repo", str(repo.path), "--git", "kept/*").out


def test_what_is_left_out_is_said(repo: Repo, client: RawClient):
    repo.write("large.bin", b"x" * 10_000_001)
    repo.write("photo.psd", "pixels\n")
    repo.write(".git/info/attributes", "*.psd filter=lfs\n")
    said = refused(client, repo)
    assert said.startswith("nothing to keep: no file differs from the last commit; left out: ")
    (repo.path / "a.py").write_text(MINUS)
    repo.git("config", "remote.backup.mirror", "true")
    kept = keep(client, repo)
    assert kept["files"] == ["a.py"]
    large, converted, mirror = kept["notes"]
    assert large.startswith("left out: large.bin: ")
    assert "photo.psd: git converts it by a filter" in converted
    assert "mirror" in mirror


def test_what_cannot_be_kept_is_refused_with_the_way_out(repo: Repo, client: RawClient):
    assert refused(client, repo) == "nothing to keep: no file differs from the last commit"
    for name in ("a.py", "b.py", "c.py"):
        uri = (repo.path / name).as_uri()
        if name == "c.py":
            repo.write(name, "C = 1\n")
        client.open(uri, (repo.path / name).read_text())
        client.change(uri, 2, {"text": "typed = 1\n"})
    assert refused(client, repo) == "not saved: a.py, b.py, c.py"
    for name in ("a.py", "b.py", "c.py"):
        uri = (repo.path / name).as_uri()
        client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert keep(client, repo, name="x" * 10_000_000)["files"] == ["c.py"]

    elsewhere = repo.path.parent / "elsewhere"
    elsewhere.mkdir()
    for uri in (elsewhere.as_uri(), (repo.path / "..").as_uri(), "untitled:Untitled-1"):
        for method, more in (("keep", {}), ("removeKept", {"ids": []})):
            error = client.refused(f"excise/{method}", {"uri": uri, **more})
            assert error["code"] == INVALID_PARAMS

    (repo.path / "a.py").write_text(MINUS)
    lock = repo.path / ".git/index.lock"
    lock.touch()
    assert "a.py" in keep(client, repo, name="locked")["files"]  # the index is not written
    assert lock.exists()
    lock.unlink()
    repo.git("checkout", "--quiet", "--detach")
    (repo.path / "b.py").write_text("B = 2\n")
    assert "b.py" in keep(client, repo, name="detached")["files"]


def in_folder(path) -> RawClient:
    return serving(workspaceFolders=[{"uri": path.as_uri(), "name": "w"}])


def test_a_shallow_clone_keeps_and_one_without_commits_or_files_does_not(repo: Repo, tmp_path):
    repo.commit(a__py=MINUS)
    shallow, bare, unborn = (Repo(tmp_path / name, tmp_path / "home") for name in ("s", "e", "u"))
    repo.git("clone", "--quiet", "--depth=1", repo.path.as_uri(), shallow.path)
    repo.git("clone", "--quiet", "--bare", repo.path, bare.path)
    unborn.init().write("a.py", ORIGIN)
    (shallow.path / "a.py").write_text(ORIGIN)
    with in_folder(shallow.path) as client:
        assert keep(client, shallow)["files"] == ["a.py"]
        shallow.git("checkout", "--quiet", ".")
        assert listed(client, shallow) == {"kept": ["a.py"]}
    with in_folder(bare.path) as client:
        assert "bare repository" in refused(client, bare)
    with in_folder(unborn.path) as client:
        assert "no commits yet" in refused(client, unborn)


def test_who_has_no_name_is_told_how_to_get_one(repo: Repo, tmp_path):
    (tmp_path / "home" / "gitconfig").write_text("[user]\nuseConfigOnly = true\n")
    (repo.path / "a.py").write_text(MINUS)
    with in_folder(repo.path) as client:
        assert "user.name" in refused(client, repo)
    assert refs(repo) == []


def test_without_trust_nothing_is_started(repo: Repo):
    (repo.path / "a.py").write_text(MINUS)
    folders = [{"uri": repo.path.as_uri(), "name": "w"}]
    options = {"trusted": False}
    with serving(workspaceFolders=folders, initializationOptions=options) as client:
        assert "not trusted" in refused(client, repo)
        answer = client.refused("excise/removeKept", {"uri": repo.path.as_uri(), "ids": ["x"]})
        assert answer["code"] == REQUEST_FAILED
    assert refs(repo) == []


def test_nothing_of_a_repository_is_run(repo: Repo, tmp_path):
    ran, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    for name in ("pre-commit", "commit-msg", "post-commit", "post-index-change",
                 "reference-transaction", "prepare-commit-msg"):  # fmt: skip
        shutil.copy(program, repo.path / ".git/hooks" / name)
    for key in ("core.fsmonitor", "gpg.program", "core.editor", "filter.x.clean"):
        repo.git("config", key, program)
    repo.git("config", "commit.gpgSign", "true")
    repo.write(".gitattributes", "a.py filter=x\n")
    (repo.path / "a.py").write_text(MINUS)
    with in_folder(repo.path) as client:
        kept = keep(client, repo)
        assert kept["files"] == [".gitattributes"]
        client.call("excise/removeKept", {"uri": repo.path.as_uri(), "ids": [kept["id"]]})
    assert refs(repo) == []
    assert not ran.exists()
