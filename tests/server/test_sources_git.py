"""Worktrees, branches and the origin, from real repositories."""

import os
import sys

import pytest
from tests.server.git_repository import (
    answer,
    changes,
    made_from,
    make,
    needs_git,
    reasons,
    texts,
)

from excise_server.foundation.inputs import SourceError, UnansweredError
from excise_server.git.command import ALLOWED, Git, GitError, clean_environment, find_git
from excise_server.git.repository import AbsentError, Blob
from excise_server.processes import lifetime
from excise_server.sources.beside import find_origin
from excise_server.sources.collect import collect, open_repository

pytestmark = [pytest.mark.slow, needs_git]


@pytest.fixture
def repo(tmp_path, monkeypatch):
    return make(tmp_path, monkeypatch, a__py="one\ntwo\n")


def branch(repo, name, text, *, start="main", file="a.py"):
    repo.git("checkout", "--quiet", "-b", name, start)
    repo.write(file, text)
    commit = repo.commit(name)
    repo.git("checkout", "--quiet", "main")
    return commit


def worktree(repo, name, text=None):
    path = repo.path.parent / name
    repo.git("worktree", "add", "--quiet", "-b", name, path)
    if text is not None:
        (path / "a.py").write_text(text)
    return path


def test_worktrees_with_their_uncommitted_changes(repo):
    worktree(repo, "ada", "one\nada\n")
    worktree(repo, "bo")
    found = collect(repo.context())
    assert texts(found) == {"worktree:ada": "one\nada\n"}
    assert found.revisions[0].label == "ada"
    assert found.unchanged == ("worktree:bo", "branch:main")
    assert found.refused == ()
    assert made_from(found) == {"worktree:ada": "one\ntwo\n"}


def test_from_a_worktree_the_main_one_is_a_revision(repo):
    path = worktree(repo, "ada", "one\nada\n")
    repo.write("a.py", "main\n")
    context = repo.context(path / "a.py", folders=[path])
    assert texts(collect(context)) == {"worktree:work": "main\n"}


def test_branches(repo):
    branch(repo, "agent/one", "one\n1\n")
    branch(repo, "agent/two", "one\n2\n")
    branch(repo, "docs", "else\n", file="b.py")
    branch(repo, "gone", "one\n")
    repo.git("checkout", "--quiet", "gone")
    repo.git("rm", "--quiet", "a.py")
    repo.commit("gone")
    repo.git("checkout", "--quiet", "main")
    found = collect(repo.context())
    assert texts(found) == {
        "branch:gone": "",
        "branch:agent/two": "one\n2\n",
        "branch:agent/one": "one\n1\n",
    }
    assert changes(found)["branch:gone"] == "deleted"
    assert found.refused == ()
    assert found.unchanged == ("branch:docs", "branch:main")
    only = collect(repo.context(git=("agent/*",)))
    assert list(texts(only)) == ["branch:agent/two", "branch:agent/one"]


def test_a_branch_behind_is_no_revision_because_head_moved_on(repo):
    repo.git("branch", "old")
    repo.commit(a__py="one\nthree\n")
    found = collect(repo.context())
    assert (found.revisions, found.unchanged) == ((), ("branch:main", "branch:old"))


def test_a_branch_shown_by_a_worktree_is_one_revision(repo):
    path = worktree(repo, "ada", "one\nada\n")
    repo.git("commit", "--quiet", "-am", "ada", cwd=path)
    (path / "a.py").write_text("one\nlater\n")
    assert texts(collect(repo.context())) == {"worktree:ada": "one\nlater\n"}
    found = collect(repo.context(worktrees=False))
    assert texts(found) == {"branch:ada": "one\nada\n"}
    assert collect(repo.context(worktrees=False, git=())).revisions == ()


@pytest.mark.parametrize(
    ("choice", "text", "label"),
    [
        ("saved", "saved\n", "saved file"),
        ("head", "one\ntwo\n", "HEAD "),
        ("index", "staged\n", ""),
    ],
)
def test_the_origin_is_the_users_choice(repo, choice, text, label):
    repo.write("a.py", "staged\n")
    repo.git("add", "a.py")
    repo.write("a.py", "saved\n")
    found = answer(find_origin, repo.context(origin=choice))
    assert (found.origin.text, found.origin.kind) == (text, choice)
    assert found.origin.label.startswith(label)
    assert found.origin.buffer_is_revision
    assert found.watch


def test_an_origin_that_is_not_there(repo, tmp_path):
    repo.write("new.py", "new\n")
    for choice, where in (("head", "HEAD"), ("index", "the index")):
        found = answer(find_origin, repo.context("new.py", origin=choice))
        assert found.origin is None
        assert reasons(found) == {"origin": f"the file is not in {where}"}
    outside = tmp_path / "plain"
    outside.mkdir()
    (outside / "a.py").write_text("x\n")
    found = collect(repo.context(outside / "a.py", folders=[outside], origin="head"))
    assert reasons(found) == {"origin": "not in a git repository"}


def test_before_the_first_commit(tmp_path, monkeypatch):
    repo = make(tmp_path, monkeypatch, "empty")
    repo.write("a.py", "x\n")
    assert reasons(answer(find_origin, repo.context(origin="head"))) == {"origin": "no commits yet"}
    assert reasons(collect(repo.context())) == {"git": "no commits yet"}


def test_another_line_end_or_encoding_is_no_change(repo):
    worktree(repo, "crlf")
    (repo.path.parent / "crlf" / "a.py").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    worktree(repo, "binary")
    (repo.path.parent / "binary" / "a.py").write_bytes(b"a\0b")
    found = collect(repo.context())
    assert found.unchanged == ("worktree:crlf", "branch:main")
    assert reasons(found) == {"worktree:binary": "binary: NUL character at offset 1"}


def test_a_text_over_the_limit_is_refused_unread(repo):
    branch(repo, "huge", "x" * 10_000_001)
    found = collect(repo.context())
    assert reasons(found) == {"branch:huge": "10.000001 MB, limit 10 MB"}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such file names")
@pytest.mark.parametrize(
    "name", ["-a.py", "--upload-pack=x", "a\nb.py", "a\x1b[31m\tb", ":(top)a", "ä b.py", "*", 'q"q']
)
def test_any_file_name(repo, name):
    repo.write(name, "origin\n")
    repo.commit("strange")
    branch(repo, "agent", "changed\n", file=name)
    context = repo.context(name)
    found = collect(context)
    assert texts(found) == {"branch:agent": "changed\n"}
    assert made_from(found) == {"branch:agent": "origin\n"}
    for choice in ("head", "index"):
        assert answer(find_origin, repo.context(name, origin=choice)).origin.text == "origin\n"
    assert reasons(collect(context)) == {}


def test_blobs_in_one_process_each_answer_in_its_place(repo):
    repo.write("d/inner.py", "inner\n")
    os.symlink("a.py", repo.path / "inside")
    os.symlink("../../outside", repo.path / "leaves")
    repo.commit("more")
    repository = open_repository(repo.context())
    names = ["a.py", "no\nsuch", "d", "inside", "leaves", "a.py/x", "d/inner.py"]
    got = repository.blobs([f"{repo.head()}:{name}" for name in names])
    shown = [a.data if isinstance(a, Blob) else a.reason for a in got]
    link = "a link that leads to nothing in the tree"
    absent = "the file does not exist there"
    assert shown == [
        b"one\ntwo\n",
        absent,
        "it is a tree, not a file",
        b"one\ntwo\n",
        link,
        link,
        b"inner\n",
    ]
    with pytest.raises(AbsentError):
        repository.blob("1234567")


def test_git_runs_reading_plumbing_only(repo):
    git = Git(str(repo.path))
    for command in ("status", "diff", "fetch", "log", "show", "worktree", "config", "gc"):
        assert command not in ALLOWED
        with pytest.raises(ValueError, match="not one of the commands"):
            git.run(command, "add")


def test_time_over_is_stated(repo, tmp_path):
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 600\n")
    slow.chmod(0o755)
    git = Git(str(repo.path), executable=str(slow), seconds=0.1)
    with pytest.raises(UnansweredError, match=r"git rev-parse took over 0\.1 s: stopped"):
        git.run("rev-parse", "HEAD")


@pytest.mark.parametrize("words", [lifetime._setpriv(), ()], ids=["setpriv", "fork"])
def test_a_git_that_cannot_be_started_is_said_to_be_one(repo, tmp_path, monkeypatch, words):
    monkeypatch.setattr(lifetime, "_setpriv", lambda: words)
    broken = tmp_path / "broken"
    broken.write_text("#!/nonexistent/interpreter\n")
    broken.chmod(0o755)
    with pytest.raises(GitError, match=r"git cannot be started: .*No such file or directory"):
        Git(str(repo.path), executable=str(broken)).run("rev-parse")
    assert Git(str(repo.path)).run("rev-parse", "HEAD").strip() == repo.head().encode()


def test_too_much_output_is_stopped(repo, tmp_path, monkeypatch):
    monkeypatch.setattr("excise_server.git.command.MAX_OUTPUT", 1_000_000)
    loud = tmp_path / "loud"
    loud.write_text("#!/bin/sh\nexec head -c 50000000 /dev/zero\n")
    loud.chmod(0o755)
    with pytest.raises(GitError, match="printed over 1 MB: stopped"):
        Git(str(repo.path), executable=str(loud)).run("rev-parse")


def test_no_git_is_said_and_the_files_are_still_read(repo, monkeypatch):
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}bin")
    repo.write("a.py.suggestion-x", "beside\n")
    assert find_git() is None
    found = collect(repo.context())
    assert reasons(found) == {"git": "git is not installed: no git on PATH"}
    assert texts(found) == {"file:a.py.suggestion-x": "beside\n"}


def test_the_environment_of_git():
    dirty = {"GIT_DIR": "/x", "GIT_INDEX_FILE": "/y", "GIT_TRACE": "/z", "git_ssh": "evil"}
    clean = clean_environment(dirty | {"PATH": "/bin", "GIT_CONFIG_GLOBAL": "/g", "LC_ALL": "de"})
    assert {"GIT_DIR", "GIT_INDEX_FILE", "GIT_TRACE", "git_ssh"}.isdisjoint(clean)
    assert (clean["PATH"], clean["GIT_CONFIG_GLOBAL"], clean["LC_ALL"]) == ("/bin", "/g", "C")
    assert (clean["GIT_ALLOW_PROTOCOL"], clean["GIT_NO_LAZY_FETCH"]) == ("", "1")
    assert (clean["GIT_OPTIONAL_LOCKS"], clean["GIT_TERMINAL_PROMPT"]) == ("0", "0")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="chown needs root")
def test_a_repository_of_somebody_else_is_said_to_be_one(repo):
    for folder in (repo.path, repo.path / ".git"):
        os.chown(folder, 12345, 12345)
    with pytest.raises(SourceError, match="another user owns it; if you trust it: git config"):
        open_repository(repo.context())
    found = collect(repo.context())
    assert reasons(found)["git"].endswith("another user owns it")
    assert found.origin.text == "one\ntwo\n"


def test_what_is_watched(repo):
    path = worktree(repo, "ada", "one\nada\n")
    watch = {(w.folder, w.pattern) for w in collect(repo.context()).watch}
    common = str(repo.path / ".git")
    assert watch >= {
        (common, "HEAD"),
        (common, "index"),
        (common, "refs/**"),
        (common, "packed-refs"),
        (common, "worktrees/**"),
        (str(path), "a.py"),
        (str(repo.path), "a.py"),
        (str(repo.path), "a.py.suggestion-*"),
    }


def test_a_document_in_a_submodule(repo, tmp_path, monkeypatch):
    inner = make(tmp_path, monkeypatch, "inner")
    inner.commit(s__py="sub\n")
    repo.git("submodule", "--quiet", "add", inner.path, "lib")
    context = repo.context("lib/s.py", origin="head")
    assert answer(find_origin, context).origin.text == "sub\n"


def test_a_separate_git_folder(repo, tmp_path):
    tree = tmp_path / "tree"
    repo.git("init", "--quiet", "--separate-git-dir", tmp_path / "store", tree)
    (tree / "a.py").write_text("x\n")
    outside = repo.context(tree / "a.py", folders=[tree])
    with pytest.raises(SourceError, match=r"its \.git does not point back"):
        open_repository(outside)
    inside = repo.context(tree / "a.py", folders=[tree, tmp_path / "store"])
    assert open_repository(inside).path == "a.py"


def test_what_failed_is_not_tried_again_by_every_source(repo, tmp_path, monkeypatch):
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "git"
    script.write_text(
        f"#!/bin/sh\necho x >> {tmp_path}/calls\necho 'fatal: broken' >&2\nexit 128\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    found = collect(repo.context(origin="head", patches=("none",)))
    assert reasons(found)["git"] == "git rev-parse failed: fatal: broken"
    assert (tmp_path / "calls").read_text() == "x\n"
