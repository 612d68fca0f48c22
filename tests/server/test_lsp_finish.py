"""The end of a review over the wire: decided, checked, committed, and worktrees that go."""

import shutil

import pytest
from tests.server.edited_worktrees import (
    INVALID_PARAMS,
    MINUS,
    ORIGIN,
    REQUEST_FAILED,
    client,
    edited_worktrees,
    server,
)
from tests.server.git_repository import Repo, needs_git
from tests.server.raw_client import RawClient, serving

pytestmark = [needs_git, pytest.mark.slow]

__all__ = ["client", "server"]  # the fixtures


@pytest.fixture
def repo(tmp_path, monkeypatch) -> Repo:
    edits = {"ada": ("a + b", "a - b"), "bo": ("a + b", "a / b"), "cy": ("* 2", "+ a")}
    return edited_worktrees(tmp_path, monkeypatch, edits, a__py=ORIGIN, b__py="B = 1\n")


def finish(client: RawClient, repo: Repo, **more) -> dict:
    return client.call("excise/finish", {"uri": repo.path.as_uri(), **more})


def refused(client: RawClient, repo: Repo, **more) -> str:
    error = client.refused("excise/finish", {"uri": repo.path.as_uri(), "write": True, **more})
    assert error["code"] == REQUEST_FAILED
    return error["message"]


def decided(client: RawClient, repo: Repo) -> dict[str, str]:
    answer = client.call("excise/candidates", {"uri": repo.path.as_uri(), "git": []})
    return {name.partition(":")[2]: state for name, state in answer["decided"].items()}


def obstacles(plan: dict) -> dict[str, str]:
    return {entry["label"]: entry["obstacle"] for entry in plan["worktrees"]}


# --- decided -------------------------------------------------------------------------------------


def test_what_the_files_have_is_taken_and_its_rivals_are_passed_over(repo: Repo, client: RawClient):
    assert decided(client, repo) == {}
    uri = (repo.path / "a.py").as_uri()
    client.open(uri, ORIGIN)
    client.change(uri, 2, {"text": "import os\n" + MINUS})
    assert decided(client, repo) == {"ada": "taken", "bo": "passed over"}
    client.change(uri, 3, {"text": ORIGIN})
    assert decided(client, repo) == {}
    (repo.path / "a.py").write_text(MINUS)
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert decided(client, repo) == {"ada": "taken", "bo": "passed over"}


def test_a_file_that_git_wrote_meanwhile_is_what_an_editor_has_to_save(
    repo: Repo, client: RawClient
):
    path = repo.path / "a.py"
    uri = path.as_uri()
    client.open(uri, ORIGIN)
    client.change(uri, 2, {"text": MINUS})
    path.write_text(MINUS)
    client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    repo.git("checkout", "--quiet", "--", "a.py")
    client.change(uri, 3, {"text": ORIGIN})  # as editors do: nothing of it is unsaved
    assert decided(client, repo) == {}
    assert refused(client, repo).startswith("nothing to commit")
    client.change(uri, 4, {"text": MINUS})  # what was saved once
    assert decided(client, repo) == {"ada": "taken", "bo": "passed over"}


def test_a_candidate_that_was_taken_decides_the_hunks_that_it_leaves_alone(
    repo: Repo, client: RawClient
):
    uri = (repo.path / "a.py").as_uri()
    client.open(uri, ORIGIN)
    client.call("excise/review", {"uri": uri})

    def states() -> list[bool]:
        return [hunk["decided"] for hunk in client.call("excise/review", {"uri": uri})["hunks"]]

    assert states() == [False, False]
    client.change(uri, 2, {"text": MINUS})
    assert states() == [True, False]
    wrong = {"uri": uri, "version": 2, "candidate": "worktree:nobody"}
    assert client.refused("excise/decide", wrong)["code"] == INVALID_PARAMS
    assert client.refused("excise/decide", {"uri": uri, "version": 2})["code"] == INVALID_PARAMS
    taken = {"uri": uri, "version": 2, "candidate": "worktree:ada"}
    alone = taken | {"among": ["worktree:ada", "worktree:bo"]}  # the other hunk is another task
    assert client.call("excise/decide", alone) == {"decided": 1, "undecided": 1}
    assert client.call("excise/decide", taken) == {"decided": 2, "undecided": 0}
    assert states() == [True, True]
    assert client.call("excise/decide", taken | {"decided": False})["undecided"] == 1


def test_a_part_is_called_so(repo: Repo, client: RawClient):
    ada = repo.path.parent / "ada"
    (ada / "b.py").write_text("B = 2\n")
    (ada / "a.py").write_text(MINUS.replace("return a * 2", "return 2 * a"))
    (repo.path / "a.py").write_text(MINUS)
    assert decided(client, repo) == {"ada": "partly taken"}
    [taken] = finish(client, repo)["plan"]["taken"]
    assert (taken["label"], taken["whole"], taken["paths"]) == ("ada", False, ["a.py"])


# --- committed -----------------------------------------------------------------------------------


def test_what_was_taken_is_committed_with_its_origin_and_nothing_else(
    repo: Repo, client: RawClient
):
    (repo.path / "a.py").write_text("import os\n" + MINUS)
    (repo.path / "b.py").write_text("B = 2\n")
    (repo.path / "new.py").write_text("N = 1\n")
    repo.git("add", "b.py")
    plan = finish(client, repo)["plan"]
    assert (plan["branch"], plan["files"], plan["others"], plan["obstacle"], plan["notes"]) == (
        "main", ["a.py"], ["b.py", "new.py"], "", [],
    )  # fmt: skip
    before = repo.head()
    ended = finish(client, repo, digest=plan["digest"], write=True, subject="Subtract\n")
    assert ended["commit"] == repo.head()
    assert repo.head("HEAD~") == before
    assert repo.git("show", "--format=%B", "--name-only").decode().split() == [
        *["Subtract", "Taken", "from", "ada:", "a.py", "a.py"],
    ]  # fmt: skip
    assert repo.git("status", "--porcelain").decode() == "M  b.py\n?? new.py\n"
    assert repo.git("reflog", "-1", "--format=%gs").decode() == "commit: Subtract\n"
    assert refused(client, repo).startswith("nothing to commit")


def test_what_others_have_too_is_agreement_and_stands_in_no_message(repo: Repo, client: RawClient):
    bo = repo.path.parent / "bo"
    (bo / "a.py").write_text(MINUS)
    (bo / "b.py").write_text("B = 3\n")
    (repo.path / "a.py").write_text(MINUS)
    assert finish(client, repo)["plan"]["message"].startswith("Taken from ada")
    assert "bo" not in finish(client, repo)["plan"]["message"]


def test_files_that_come_and_go_are_committed(repo: Repo, client: RawClient):
    cy = repo.path.parent / "cy"
    shutil.rmtree(cy)
    repo.git("worktree", "prune")
    ada = repo.path.parent / "ada"
    for tree in (ada, repo.path):
        (tree / "b.py").unlink()
        (tree / "b.py").mkdir()
        (tree / "b.py" / "new.sh").write_text("true\n")
        (tree / "b.py" / "new.sh").chmod(0o755)
        (tree / "a.py").write_text(MINUS)
    assert finish(client, repo, write=True)["commit"] == repo.head()
    listed = repo.git("ls-tree", "-r", "HEAD").decode()
    assert [line.split()[0] + line.rpartition("\t")[2] for line in listed.splitlines()] == [
        "100644a.py", "100755b.py/new.sh",
    ]  # fmt: skip
    assert repo.git("status", "--porcelain") == b""


@pytest.mark.parametrize(
    ("command", "reason"),
    [("grep -q 'a - b' a.py && test ! -e new.py", ""), ("echo bad news; exit 3", "exit status 3")],
)
def test_a_check_runs_on_the_files_of_the_commit_alone(
    repo: Repo, client: RawClient, command: str, reason: str
):
    (repo.path / "a.py").write_text(MINUS)
    (repo.path / "new.py").write_text("N = 1\n")
    before = repo.head()
    ended = finish(client, repo, write=True, run=command, remove=["worktree:ada"])
    assert reason in ended["check"]["reason"]
    assert ended["check"]["output"] == (["bad news"] if reason else [])
    assert (ended["commit"] is None, repo.head() == before) == (bool(reason),) * 2
    assert (repo.path.parent / "ada").exists() == bool(reason)


def test_what_cannot_be_committed_is_refused_with_the_way_out(repo: Repo, client: RawClient):
    assert refused(client, repo).startswith("nothing to commit")
    before = repo.head()
    (repo.path / "a.py").write_text(MINUS)
    digest = finish(client, repo)["plan"]["digest"]
    (repo.path / "a.py").write_text("import os\n" + MINUS)
    assert "changed meanwhile" in refused(client, repo, digest=digest)

    lock = repo.path / ".git/index.lock"
    lock.touch()
    assert f"remove {lock}" in refused(client, repo)
    lock.unlink()

    uri = (repo.path / "a.py").as_uri()
    client.open(uri, (repo.path / "a.py").read_text())
    client.change(uri, 2, {"text": "import sys\n" + MINUS})
    assert refused(client, repo) == "not saved: a.py"
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    repo.write(".git/info/attributes", "a.py filter=lfs\n")
    assert "by a filter" in refused(client, repo)
    (repo.path / ".git/info/attributes").unlink()

    repo.git("checkout", "--quiet", "--detach")
    assert "git switch -c NAME" in refused(client, repo)
    repo.git("checkout", "--quiet", "main")
    (repo.path / ".git/MERGE_HEAD").write_text(f"{before}\n")
    assert "in progress" in refused(client, repo)
    (repo.path / ".git/MERGE_HEAD").unlink()

    assert repo.head() == before
    assert not lock.exists()
    assert finish(client, repo, write=True)["commit"] == repo.head() != before


def test_who_has_no_name_is_told_how_to_get_one(repo: Repo, tmp_path, monkeypatch):
    (tmp_path / "home" / "gitconfig").write_text("[user]\nuseConfigOnly = true\n")
    (repo.path / "a.py").write_text(MINUS)
    before = repo.head()
    with serving(workspaceFolders=[{"uri": repo.path.as_uri(), "name": "w"}]) as client:
        assert "user.name" in refused(client, repo)
    assert repo.head() == before
    assert repo.git("status", "--porcelain") == b" M a.py\n"


def test_nothing_of_a_repository_is_run_by_a_commit(repo: Repo, tmp_path):
    ran, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    hooks = repo.path / ".git/hooks"
    silent = ("post-index-change", "reference-transaction")
    for name in ("pre-commit", "commit-msg", "post-commit", *silent):
        shutil.copy(program, hooks / name)
    for key in ("core.fsmonitor", "gpg.program", "core.editor", "filter.x.clean"):
        repo.git("config", key, program)
    repo.git("config", "commit.gpgSign", "true")
    (repo.path / "a.py").write_text(MINUS)
    with serving(workspaceFolders=[{"uri": repo.path.as_uri(), "name": "w"}]) as client:
        [note] = finish(client, repo)["plan"]["notes"]
        assert "no hook is run (pre-commit, commit-msg, post-commit)" in note
        assert finish(client, repo, write=True, remove=["worktree:ada"])["commit"]
    assert not ran.exists()


def test_without_trust_nothing_is_started(repo: Repo):
    folders = [{"uri": repo.path.as_uri(), "name": "w"}]
    options = {"trusted": False}
    with serving(workspaceFolders=folders, initializationOptions=options) as client:
        assert "not trusted" in refused(client, repo, run="touch /tmp/never")


# --- removed -------------------------------------------------------------------------------------


def test_only_worktrees_go_with_which_nothing_is_lost(repo: Repo, client: RawClient, tmp_path):
    (repo.path / "a.py").write_text(MINUS)
    repo.git("commit", "--quiet", "--all", "--message", "bo's", cwd=tmp_path / "bo")
    for name in ("detached", "locked", "outer", "clean"):
        on = ["--detach"] if name == "detached" else ["-b", name]
        repo.git("worktree", "add", "--quiet", *on, tmp_path / name)
    repo.git("commit", "--quiet", "--allow-empty", "--message", "x", cwd=tmp_path / "detached")
    repo.git("worktree", "lock", tmp_path / "locked")
    repo.git("worktree", "add", "--quiet", "-b", "inner", tmp_path / "outer" / "inner")
    said = obstacles(finish(client, repo)["plan"])
    assert {name for name, obstacle in said.items() if not obstacle} == {
        "ada", "bo", "clean", "inner",
    }  # fmt: skip
    assert "not taken: a.py" in said["cy"]
    assert "git branch NAME" in said["detached"]
    assert "locked" in said["locked"]
    assert "inside of it" in said["outer"]
    every = [entry["id"] for entry in finish(client, repo)["plan"]["worktrees"]]
    ended = finish(client, repo, write=True, remove=[*every, "worktree:none", "worktree:ada"])
    gone = ["worktree:ada", "worktree:bo", "worktree:clean", "worktree:inner"]
    assert sorted(ended["removed"]) == gone
    assert len(ended["kept"]) == 5
    left = {path.name for path in tmp_path.iterdir() if path.is_dir()} - {"home"}
    assert left == {"work", "cy", "detached", "locked", "outer"}
    assert b"inner" not in repo.git("worktree", "list")
    assert b" bo\n" in repo.git("branch") + b"\n"
    assert repo.git("fsck", "--no-dangling") == b""


def test_what_only_the_git_dir_of_a_worktree_has_keeps_it(repo: Repo, client: RawClient, tmp_path):
    for name in ("modules", "refs", "head"):
        repo.git("worktree", "add", "--quiet", "-b", name, tmp_path / name)
    (repo.path / ".git/worktrees/modules/modules/lib").mkdir(parents=True)
    repo.git("update-ref", "refs/worktree/kept", "HEAD", cwd=tmp_path / "refs")
    repo.git("update-ref", "refs/worktree/own", "HEAD", cwd=tmp_path / "head")
    repo.git("symbolic-ref", "HEAD", "refs/worktree/own", cwd=tmp_path / "head")
    said = obstacles(finish(client, repo)["plan"])
    assert said["modules"].endswith("/modules/modules has repositories of submodules")
    assert said["refs"] == "it has refs of its own: refs/worktree/kept"
    assert said["head"] == "it has refs of its own: refs/worktree/own"


def test_what_is_only_there_goes_if_the_user_agrees(repo: Repo, client: RawClient, tmp_path):
    (repo.path / "a.py").write_text(MINUS)
    ada, bo = tmp_path / "ada", tmp_path / "bo"
    (repo.path / ".git/info/exclude").write_text("*.env\ncache/\n")
    (ada / "secret.env").write_text("KEY=1\n")
    (ada / "cache" / "deep").mkdir(parents=True)
    for name in ("one", "deep/two"):
        (ada / "cache" / name).write_text("1\n")
    before = (ada / "b.py").read_text()
    (ada / "b.py").write_text("B = 3\n")
    repo.git("add", "b.py", cwd=ada)
    (ada / "b.py").write_text(before)
    for name in ("a.py", "b.py"):
        repo.git("update-index", "--skip-worktree", name, cwd=bo)
    (bo / "b.py").write_text("B = 4\n")
    (bo / "vendor").mkdir()
    repo.git("init", "--quiet", cwd=bo / "vendor")
    plan = finish(client, repo)["plan"]
    also = {entry["label"]: entry["also"] for entry in plan["worktrees"]}
    states = [entry["state"] for entry in plan["worktrees"] if entry["label"] in ("ada", "bo")]
    assert also["ada"] == ["b.py (staged)", "cache/ (2 files)", "secret.env"]
    assert also["bo"] == ["a.py (skip-worktree)", "b.py (skip-worktree)"]
    assert "repository of its own" in obstacles(finish(client, repo)["plan"])["bo"]
    names = ["worktree:ada", "worktree:bo"]
    assert finish(client, repo, remove=names)["removed"] == []
    assert finish(client, repo, remove=names, agreed=states[1:])["removed"] == []
    (ada / "later.env").write_text("KEY=2\n")  # nobody was asked about this one
    assert finish(client, repo, remove=names, agreed=states)["removed"] == []
    (ada / "later.env").unlink()
    assert finish(client, repo, remove=names, agreed=states)["removed"] == names[:1]


def test_what_is_written_while_it_goes_is_kept(repo: Repo, tmp_path, monkeypatch):
    from excise_server.candidates import finishing
    from excise_server.foundation.inputs import SourceError
    from excise_server.git.repository import open_folder

    repository = open_folder(str(repo.path), [str(repo.path)])
    [tree] = [tree for tree in repository.worktrees() if tree.path.endswith("/cy")]
    (tmp_path / "cy" / "a.py").write_text(ORIGIN)
    [entry] = [e for e in finishing._worktrees(repository, [], {}, ()) if e.label == "cy"]
    rename = finishing.os.rename

    def renamed(old, new):
        (tmp_path / "cy" / "late.py").write_text("late\n") if str(old).endswith("/cy") else None
        rename(old, new)

    monkeypatch.setattr(finishing.os, "rename", renamed)
    with pytest.raises(SourceError, match="changed meanwhile"):
        finishing.remove_worktree(repository, entry, agreed=False)
    assert (tmp_path / "cy" / "late.py").read_text() == "late\n"
    assert b"late.py" in repo.git("status", "--porcelain", cwd=tmp_path / "cy")
    assert tree.path.encode() in repo.git("worktree", "list")


def test_work_that_came_meanwhile_stays(repo: Repo, client: RawClient, tmp_path):
    (repo.path / "a.py").write_text(MINUS)
    late = f"echo late > {tmp_path / 'ada' / 'late.py'}"
    ended = finish(client, repo, write=True, run=late, remove=["worktree:ada"])
    assert ended["commit"] == repo.head()
    assert [entry["reason"].partition(";")[0] for entry in ended["kept"]] == [
        "it has changed meanwhile"
    ]
    assert (tmp_path / "ada" / "late.py").exists()


def test_a_folder_that_does_not_name_the_repository_is_never_removed(
    repo: Repo, client: RawClient, tmp_path
):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "work.txt").write_text("mine\n")
    record = repo.path / ".git/worktrees/ada/gitdir"
    for link in (None, f"gitdir: {repo.path / '.git'}\n", "gitdir: /nowhere\n"):
        if link is not None:
            (precious / ".git").write_text(link)
        record.write_text(f"{precious / '.git'}\n")
        worktrees = finish(client, repo)["plan"]["worktrees"]
        there = [entry for entry in worktrees if "precious" in entry["folder"]]
        assert all(entry["obstacle"] for entry in there)
        if there:
            assert finish(client, repo, remove=[entry["id"] for entry in there])["removed"] == []
        assert (precious / "work.txt").read_text() == "mine\n"
