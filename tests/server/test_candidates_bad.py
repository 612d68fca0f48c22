"""Repositories in odd states: the right answer or a stated reason, and nothing lost."""

import hashlib
import os
import shutil

import pytest
from tests.server.command import excise, ids_of, one_line
from tests.server.git_repository import GIT, make, needs_git
from tests.server.test_candidates import BASE, EDIT, committed, drift, edited
from tests.server.test_worktrees import by_id, report, worktree, write

pytestmark = [needs_git, pytest.mark.slow]


@pytest.fixture
def repo(tmp_path, monkeypatch):
    return make(tmp_path, monkeypatch, a__py=BASE, b__txt="one\n")


def changes(entry):
    return [(file["path"], file["status"]) for file in entry["files"]]


def notes(entry):
    return " ".join(entry["notes"])


# --- histories ---------------------------------------------------------------------------------


def test_a_shallow_clone_says_that_it_is_one(repo, tmp_path):
    repo.git("checkout", "--quiet", "-b", "topic")
    repo.commit("theirs", c__py="c = 1\n")
    repo.git("checkout", "--quiet", "main")
    drift(repo, 3)
    shallow = tmp_path / "shallow"
    url = repo.path.as_uri()
    repo.git("clone", "--quiet", "--depth", "1", "--no-single-branch", url, shallow, cwd=tmp_path)
    ran = excise("review", "--repo", str(shallow), "--git", "origin/topic", "--format", "json")
    assert ran.code == 1
    [rejected] = ran.json["rejected"]
    assert rejected["id"] == "remote:origin/topic"
    assert "in this shallow clone" in rejected["reason"]
    assert "git fetch --unshallow" in ran.err
    repo.git("fetch", "--quiet", "--unshallow", cwd=shallow)
    [entry] = report(repo, "--git", "origin/topic", folder=shallow)["candidates"]
    assert changes(entry) == [("c.py", "created")]


def test_a_graft_that_cuts_a_history_is_named(repo):
    path = edited(repo, "ada")
    committed(repo, "ada")
    bo = edited(repo, "bo")
    (repo.path / ".git" / "info").mkdir(exist_ok=True)
    (repo.path / ".git" / "info" / "grafts").write_text(f"{repo.head('ada')}\n")
    found = report(repo, code=1)
    assert ids_of(found) == ["worktree:bo"]
    assert "according to info/grafts" in found["rejected"][0]["reason"]
    assert path.exists()
    assert bo.exists()
    [entry] = report(repo, "--only", "ada", "--base", "ada=main")["candidates"]
    assert changes(entry) == [("a.py", "modified")]


def test_a_base_whose_objects_are_gone_costs_its_candidate_alone(repo):
    first = repo.head()
    edited(repo, "ada")
    committed(repo, "ada")
    drift(repo, 2)
    edited(repo, "bo")
    tree = repo.head(f"{first}^{{tree}}")
    (repo.path / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    found = report(repo, code=1)
    assert ids_of(found) == ["worktree:bo"]
    [rejected] = found["rejected"]
    assert rejected["id"] == "worktree:ada"
    assert "git diff-tree failed" in rejected["reason"]


def test_content_that_a_partial_clone_has_not_is_said_and_not_fetched(repo):
    path = edited(repo, "ada")
    write(path, "b.txt", "two\n")
    committed(repo, "ada")
    blob = repo.head("ada:b.txt")
    (repo.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    [entry] = report(repo, "--git", "ada", "--only", "ada")["candidates"]
    assert changes(entry) == [("a.py", "modified")]
    assert "b.txt: its content is not in this clone, not compared" in entry["notes"]


def test_a_clone_without_contents_says_so_of_each_candidate_and_fetches_nothing(repo, tmp_path):
    """Git itself would fetch them, and ends where it may not."""
    path = edited(repo, "ada")
    committed(repo, "ada")
    write(path, "b.txt", "two\n")
    repo.git("branch", "bo", "ada")
    repo.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    repo.git("clone", "--quiet", "--filter=blob:none", f"file://{repo.path}", clone)
    objects = sorted((clone / ".git" / "objects").rglob("*"))
    options = ("--repo", str(clone), "--git", "origin/ada")
    [entry] = excise("review", *options, "--format", "json").json["candidates"]
    why = "a.py: its content is not in this clone, not compared"
    assert (entry["why"], entry["notes"]) == ([why], [why])
    one_line(excise("take", "origin/ada", *options), f"origin/ada: {why}")
    landed = excise("land", *options)
    assert landed.code == 1
    assert why in landed.err
    assert sorted((clone / ".git" / "objects").rglob("*")) == objects


def test_unborn_branches(repo, tmp_path, monkeypatch):
    edited(repo, "ada")
    bo = worktree(repo, "bo")
    repo.git("checkout", "--quiet", "--orphan", "nothing-yet", cwd=bo)
    found = report(repo, code=1)
    assert ids_of(found) == ["worktree:ada"]
    assert found["rejected"][0]["reason"] == "it has no commits yet"
    unborn = make(tmp_path, monkeypatch, "unborn")
    one_line(excise("review", "--repo", str(unborn.path), "--git", "**"), "no commits yet")


def test_several_merge_bases_are_said(repo):
    """A criss-cross merge: the first base serves, and what both merged is nobody's edit."""
    repo.git("checkout", "--quiet", "-b", "topic")
    repo.commit("one", c__py="c = 1\n")
    repo.git("checkout", "--quiet", "main")
    repo.commit("two", d__py="d = 1\n")
    two = repo.head()
    repo.git("merge", "--quiet", "--no-edit", "topic")
    repo.git("checkout", "--quiet", "topic")
    repo.git("merge", "--quiet", "--no-edit", two)
    repo.commit("own", e__py="e = 1\n")
    repo.git("checkout", "--quiet", "main")
    [entry] = report(repo, "--git", "topic")["candidates"]
    assert changes(entry) == [("e.py", "created")]
    assert "several merge bases: the first one is used" in entry["notes"]


def test_edits_on_top_of_a_branch_count_alone_before_they_are_committed(repo):
    repo.git("checkout", "--quiet", "-b", "feature")
    repo.commit("a feature", c__py="feature = 1\n")
    repo.git("checkout", "--quiet", "main")
    path = repo.path.parent / "ada"
    repo.git("worktree", "add", "--quiet", "-b", "ada", path, "feature")
    write(path, "d.py", "mine = 1\n")
    [entry] = report(repo)["candidates"]
    assert changes(entry) == [("d.py", "created")]
    found = report(repo, "--git", "feature")
    assert ids_of(found) == ["branch:feature", "worktree:ada"]
    assert by_id(found)["ada"]["names"] == ["worktree:ada", "branch:ada"]


# --- under way -----------------------------------------------------------------------------------


def test_a_merge_that_is_resolved_and_not_committed(repo):
    path = edited(repo, "ada")
    committed(repo, "ada")
    repo.commit("theirs", c__py="c = 1\n")
    repo.git("merge", "--quiet", "--no-commit", "--no-ff", "main", cwd=path)
    [entry] = report(repo)["candidates"]
    assert changes(entry) == [("a.py", "modified")]  # c.py is in the target already
    assert "a merge is in progress" in notes(entry)


def test_a_rebase_under_way(repo):
    path = edited(repo, "ada")
    committed(repo, "ada", "first")
    write(path, "b.txt", "mine\n")
    committed(repo, "ada", "second")
    repo.commit("theirs", b__txt="theirs\n")
    repo.git("rebase", "main", cwd=path, check=False)
    found = report(repo, "--git", "ada", code=1)
    [rejected] = found["rejected"]
    assert rejected["id"] == "worktree:ada"
    assert "conflicts in b.txt" in rejected["reason"]
    assert ids_of(found) == ["branch:ada"]  # as it was before
    assert changes(found["candidates"][0]) == [("a.py", "modified"), ("b.txt", "modified")]
    write(path, "b.txt", "both\n")
    repo.git("add", "b.txt", cwd=path)
    entry = by_id(report(repo, "--only", "ada"))["ada"]
    assert "a rebase is in progress" in notes(entry)
    assert changes(entry) == [("a.py", "modified"), ("b.txt", "modified")]


def test_a_worktree_that_is_removed_while_it_is_read(repo, tmp_path, monkeypatch):
    """By a git that removes it before it answers."""
    path = edited(repo, "ada")
    edited(repo, "bo")
    for victim in ("all", "files"):
        tools = tmp_path / victim
        tools.mkdir()
        gone = f"{path}" if victim == "all" else f"{path}/.git {path}/a.py"
        (tools / "git").write_text(
            f'#!/bin/sh\ncase "$PWD $*" in "{path} "*ls-files*) rm -rf {gone};; esac\n'
            f'exec {GIT} "$@"\n'
        )
        (tools / "git").chmod(0o755)
        with monkeypatch.context() as patched:
            patched.setenv("PATH", f"{tools}:{os.environ['PATH']}")
            found = report(repo, code=1)
        assert ids_of(found) == ["worktree:bo"]
        assert found["rejected"] == [
            {"id": "worktree:ada", "reason": "it was removed while being read"}
        ]
        repo.git("worktree", "prune")
        shutil.rmtree(path, ignore_errors=True)
        repo.git("worktree", "add", "--quiet", "--force", path, "ada")


# --- files ---------------------------------------------------------------------------------------


def test_line_ends_that_git_converts_are_no_edit(repo):
    """Checked out with CRLF: nothing is edited; with one edited line, one line is."""
    repo.git("config", "core.autocrlf", "true")
    ada, bo, chen = (worktree(repo, name) for name in ("ada", "bo", "chen"))
    converted = BASE.replace("\n", "\r\n")
    write(ada, "a.py", converted)
    write(bo, "a.py", converted.replace(*EDIT))
    write(chen, "a.py", converted)
    write(chen, "new.txt", "one\r\ntwo\r\n")
    found = report(repo)
    assert found["unchanged"] == ["worktree:ada"]
    entries = by_id(found)
    [file] = entries["bo"]["files"]
    assert (file["added"], file["deleted"], file["facts"]) == (1, 1, [])
    assert entries["bo"]["uncommitted"] == 1
    assert "git converts the line ends of a.py: that is not an edit" in entries["bo"]["notes"]
    patch = excise("take", "--repo", str(repo.path), "chen").out
    assert "+one\n+two\n" in patch


@pytest.mark.parametrize(
    ("attributes", "is_edit"),
    [
        ("", True), ("*.py -text\n", True), ("*.py binary\n", True), ("*.py text\n", False),
        ("* text=auto\n", False), ("*.py eol=crlf\n", False), ("*.txt text\n", True),
    ],
)  # fmt: skip
def test_without_gits_own_rules_another_line_end_is_an_edit(repo, attributes, is_edit):
    repo.write(".gitattributes", attributes)
    repo.commit("rules")
    write(worktree(repo, "ada"), "a.py", BASE.replace("\n", "\r\n"))
    found = report(repo)
    if not is_edit:
        assert found["unchanged"] == ["worktree:ada"]
        return
    [entry] = found["candidates"]
    [file] = entry["files"]
    assert file["facts"] == ["only converts line ends from LF to CRLF"]
    assert (file["added"], file["deleted"]) == (0, 0)


def test_line_ends_that_were_committed_are_an_edit_whatever_git_would_do_now(repo):
    ada = worktree(repo, "ada")
    write(ada, "a.py", BASE.replace("\n", "\r\n"))
    committed(repo, "ada")
    repo.git("config", "core.autocrlf", "input")
    [entry] = report(repo)["candidates"]
    assert entry["files"][0]["facts"] == ["only converts line ends from LF to CRLF"]


def test_line_ends_of_a_base_that_had_crlf(repo):
    repo.commit("windows", a__py=BASE.replace("\n", "\r\n"))
    write(worktree(repo, "ada"), "a.py", BASE)
    [entry] = report(repo)["candidates"]
    assert entry["files"][0]["facts"] == ["only converts line ends from CRLF to LF"]


def pointer(data):
    oid = hashlib.sha256(data).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(data)}\n"


def test_lfs_pointers_are_compared_as_pointers_and_said(repo):
    """No filter is run, so what git LFS checked out is named by its own rule."""
    data = b"\0" + b"large" * 1000
    repo.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    repo.commit("a large file", x__bin=pointer(data))
    ada, bo, chen = (worktree(repo, name) for name in ("ada", "bo", "chen"))
    write(ada, "x.bin", data)
    write(bo, "x.bin", data + b"more")
    write(chen, "x.bin", pointer(data + b"more"))
    found = report(repo)
    assert found["unchanged"] == ["worktree:ada"]
    entries = by_id(found)
    assert entries["bo"]["files"] == entries["chen"]["files"]
    assert entries["bo"]["identical"] == ["worktree:chen"]
    for name in ("bo", "chen"):
        assert "only the Git LFS pointer is compared of x.bin" in entries[name]["notes"]


def test_a_rename_by_case_alone(repo):
    path = worktree(repo, "ada")
    repo.git("mv", "a.py", "A.py", cwd=path)
    write(path, "A.py", BASE.replace(*EDIT))
    drift(repo, 1)
    [entry] = report(repo)["candidates"]
    assert changes(entry) == [("A.py", "renamed")]
    assert (entry["files"][0]["added"], entry["files"][0]["deleted"]) == (1, 1)
    assert entry["files"][0]["facts"] == ["rename from a.py"]


def test_files_that_became_folders_and_links(repo):
    ada, bo, chen = (worktree(repo, name) for name in ("ada", "bo", "chen"))
    for folder in (ada, bo, chen):
        (folder / "b.txt").unlink()
    write(ada, "b.txt/inner.txt", "new\n")
    (bo / "b.txt").symlink_to("/etc/passwd")
    (chen / "b.txt").symlink_to("a.py")
    repo.commit("theirs", c__py="c = 1\n")
    found = report(repo)
    entries = by_id(found)
    assert changes(entries["ada"]) == [("b.txt", "deleted"), ("b.txt/inner.txt", "created")]
    assert changes(entries["bo"]) == [("b.txt", "modified")]
    assert "mode 100644 to 120000" in entries["bo"]["files"][0]["facts"]
    assert "root:" not in excise("review", "--repo", str(repo.path), "--format", "json").out
    assert entries["bo"]["identical"] == []
    committed(repo, "ada")
    assert changes(by_id(report(repo))["ada"]) == changes(entries["ada"])


def test_a_sparse_checkout(repo):
    """What was left out is not deleted; what differs from the target there still counts."""
    repo.commit("folders", **{"in/x__py": "x = 1\n", "out/y__py": "y = 1\n"})
    path = worktree(repo, "ada")
    repo.git("sparse-checkout", "set", "--cone", "in", cwd=path)
    assert not (path / "out").exists()
    write(path, "in/x.py", "x = 2\n")
    [entry] = report(repo)["candidates"]
    assert changes(entry) == [("in/x.py", "modified")]
    repo.git("config", "index.sparse", "true", cwd=path)
    repo.git("sparse-checkout", "reapply", "--sparse-index", cwd=path)
    [entry] = report(repo)["candidates"]
    assert changes(entry) == [("in/x.py", "modified")]
    write(path, "out/y.py", "y = 2\n")
    [entry] = report(repo)["candidates"]
    assert changes(entry) == [("in/x.py", "modified"), ("out/y.py", "modified")]
