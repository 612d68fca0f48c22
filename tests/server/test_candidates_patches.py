"""Folders of runs: diffs and predictions as candidates on a repository's commit."""

from __future__ import annotations

import json
import os

import pytest
from tests.server.command import excise, ids_of, one_line
from tests.server.git_repository import make, needs_git
from tests.server.test_candidates import BASE, EDIT, drift
from tests.server.test_worktrees import by_id, report, worktree, write

pytestmark = [needs_git, pytest.mark.slow]

NO_KEY = "Expecting property name enclosed in double quotes"
OTHER = (EDIT[0], "return 16 if x is None else x + 15")


@pytest.fixture
def repo(tmp_path, monkeypatch):
    return make(tmp_path, monkeypatch, a__py=BASE, b__txt="one\n", x__bin=b"\0one")


def diff(repo, edit=EDIT, *options, **files):
    """Return what git says of an edit, and take it back."""
    repo.write("a.py", (repo.path / "a.py").read_text().replace(*edit))
    for name, text in files.items():
        repo.write(name.replace("__", "."), text)
    repo.git("add", "--all")
    said = repo.git("diff", "--cached", *options)
    repo.git("reset", "--quiet", "--hard")
    return said


def runs(repo, **files):
    folder = repo.path.parent / "runs"
    for name, data in files.items():
        write(folder, name.replace("__", "."), data)
    return ["--patches", str(folder)]


def test_a_patch_is_what_the_same_worktree_is(repo):
    options = runs(repo, ada__diff=diff(repo, EDIT, new__py="n = 1\n"), bo__patch=diff(repo, OTHER))
    plain = report(repo, *options)
    assert sorted(ids_of(plain)) == ["patch:ada", "patch:bo"]
    for name, edit in (("ada2", EDIT), ("bo2", OTHER)):
        write(worktree(repo, name), "a.py", BASE.replace(*edit))
    write(repo.path.parent / "ada2", "new.py", "n = 1\n")
    found = report(repo, *options)
    entries = by_id(found)
    for name in ("ada", "bo"):
        assert entries[name]["identical"] == [f"worktree:{name}2"]
        assert entries[name]["digest"] == entries[f"{name}2"]["digest"]
        assert entries[name]["files"] == entries[f"{name}2"]["files"]
        assert (entries[name]["kind"], entries[name]["label"]) == ("patch", name)
    assert ids_of(report(repo, *options, "--only", "b*")) == ["worktree:bo2", "patch:bo"]


def test_predictions_are_tasks_by_their_instance(repo):
    lines = [
        {"instance_id": "x-1", "model_name_or_path": "gpt", "model_patch": diff(repo).decode()},
        {"instance_id": "x-1", "model_name_or_path": "opus", "model_patch": diff(repo).decode()},
        {"instance_id": "x-2", "model_patch": diff(repo, OTHER).decode()},
        {"instance_id": "x-3", "model_patch": ""},
        {"instance_id": "x-4"},
        ["x-5"],
    ]
    text = (
        "\n".join(map(json.dumps, lines))
        + "\n\n{\n"
        + '{"instance_id": "\\ud800", "model_patch": ""}'
    )
    found = report(repo, *runs(repo, p__jsonl=text), code=1)
    assert [task["members"] for task in found["tasks"]] == [
        ["patch:gpt/x-1", "patch:opus/x-1"], ["patch:p/x-2"],
    ]  # fmt: skip
    assert found["tasks"][0]["name"] == "x-1"
    assert [(r["id"], r["reason"]) for r in found["rejected"]] == [
        ("patch:p/x-3", "line 4: no diff in it"),
        ("patch:p line 5", "line 5: model_patch is missing, or not a text"),
        ("patch:p line 6", "line 6: not a JSON object"),
        ("patch:p line 8", f"line 8: not JSON: {NO_KEY} at column 2"),
        ("patch:p line 9", "line 9: not Unicode text: a lone surrogate"),
    ]


def test_a_patch_that_was_made_from_an_older_commit(repo):
    """It names the blob that it was made from, so what the target did since is not its edit."""
    said = diff(repo)
    drift(repo, 12)
    changed = (repo.path / "a.py").read_text().replace("def f14(x):", "def f14(x, *y):")
    repo.commit("beside it", a__py=changed.replace("def f15(x):", "def f15(x, *y):"))
    [entry] = report(repo, *runs(repo, ada__diff=said))["candidates"]
    [file] = entry["files"]
    assert (file["path"], file["added"], file["deleted"]) == ("a.py", 1, 1)
    without = said.replace(said.split(b"\n")[1] + b"\n", b"")
    assert b"index" not in without
    found = report(repo, *runs(repo, ada__diff=without), code=1)
    assert "hunk 1 does not apply" in found["rejected"][0]["reason"]
    found = report(repo, *runs(repo, ada__diff=without), "--base", "ada=HEAD~13")
    assert by_id(found)["ada"]["files"] == [file]
    assert by_id(found)["ada"]["behind"] == 13


def test_what_has_landed_and_what_conflicts(repo):
    landed, conflicting = diff(repo), diff(repo, OTHER)
    repo.commit("landed", a__py=BASE.replace(*EDIT))
    found = report(repo, *runs(repo, ada__diff=landed, bo__diff=conflicting))
    assert [one["id"] for one in found["landed"]] == ["patch:ada"]
    assert [c["path"] for c in found["candidates"][0]["conflicts"]] == ["a.py"]


def test_renames_modes_deletions_binaries_and_series(repo):
    repo.git("mv", "b.txt", "c.txt")
    (repo.path / "a.py").chmod(0o755)
    repo.write("x.bin", b"\0two")
    repo.git("add", "--all")
    said = repo.git("diff", "--cached", "-M", "--binary")
    repo.git("reset", "--quiet", "--hard")
    [entry] = report(repo, *runs(repo, ada__diff=said))["candidates"]
    assert [f["path"] for f in entry["files"]] == ["a.py", "c.txt", "x.bin"]  # git has the blob
    repo.git("prune", "--expire=now")
    [entry] = report(repo, *runs(repo, ada__diff=said))["candidates"]
    assert [(f["path"], f["status"], f["facts"]) for f in entry["files"]] == [
        ("a.py", "modified", ["mode 100644 to 100755"]),
        ("c.txt", "renamed", ["rename from b.txt"]),
    ]
    [note] = [note for note in entry["notes"] if note.startswith("x.bin: ")]
    assert "the patch is binary" in note
    repo.git("checkout", "--quiet", "-b", "series")
    first = repo.commit("first", a__py=BASE.replace(*EDIT), n__py="n = 1\n")
    repo.commit("second", a__py=BASE.replace(*OTHER), n__py="n = 2\n")
    (repo.path / "b.txt").unlink()
    repo.commit("third")
    mails = repo.git("format-patch", "--stdout", f"{first}~1")
    repo.git("checkout", "--quiet", "main")
    found = report(repo, *runs(repo, bo__patch=mails), "--git", "series")
    entries = by_id(found)
    assert entries["bo"]["digest"] == entries["series"]["digest"]
    assert entries["bo"]["identical"] == ["branch:series"]


def test_patches_that_cannot_be_used_cost_themselves_alone(repo):
    good = diff(repo)
    options = runs(
        repo,
        ada__diff=good,
        empty__diff="",
        damaged__diff=good[:-40],
        outside__diff="--- a/../../etc/passwd\n+++ b/../../etc/passwd\n@@ -1 +1 @@\n-root\n+toor\n",
        exists__diff="--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+mine\n",
        notes__txt="no patch",
    )
    os.symlink("/etc/passwd", repo.path.parent / "runs" / "link.diff")
    found = report(repo, *options, code=1)
    assert ids_of(found) == ["patch:ada", "patch:exists"]
    assert by_id(found)["exists"]["conflicts"] == [
        {"path": "b.txt", "kind": "add/add", "reason": "the target created this file, too"}
    ]
    reasons = {rejected["id"]: rejected["reason"] for rejected in found["rejected"]}
    assert set(reasons) == {
        "patch:empty", "patch:damaged", "patch:outside", "patch:link",
    }  # fmt: skip
    assert "outside" in reasons["patch:link"]
    assert "outside the tree" in reasons["patch:outside"]
    one_line(
        excise("review", "--repo", str(repo.path), "--patches", "/nowhere"),
        "no such file or folder",
    )
    (repo.path.parent / "none").mkdir()
    empty = str(repo.path.parent / "none")
    one_line(excise("review", "--repo", str(repo.path), "--patches", empty), "no patch in it")
