"""Candidates against their own bases: started apart, stacked, landed, in conflict."""

from __future__ import annotations

import pytest
from tests.server.command import excise, one_line
from tests.server.git_repository import make, needs_git
from tests.server.test_worktrees import by_id, report, worktree, write

pytestmark = needs_git

LINES = [f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(30)]
BASE = "".join(LINES)
EDIT = ("return x + 15", "return 15 if x is None else x + 15")


@pytest.fixture
def repo(tmp_path, monkeypatch):
    made = make(tmp_path, monkeypatch)
    made.commit(a__py=BASE, b__txt="one\n")
    return made


def drift(repo, commits):
    """Commit so many changes elsewhere in the same file, and a new file with each."""
    for number in range(commits):
        text = (repo.path / "a.py").read_text()
        lines = text.replace(f"return x + {number % 10}\n", f"return x + {number % 10} + 0\n", 1)
        repo.commit(f"drift {number}", **{f"new{number}__py": f"n = {number}\n", "a__py": lines})


def committed(repo, name, message="the edit"):
    path = repo.path.parent / name
    repo.git("add", "--all", cwd=path)
    repo.git("commit", "--quiet", "--message", message, cwd=path)


def edited(repo, name, old=EDIT[0], new=EDIT[1]):
    """Make the edit in a worktree that started from what the target is now."""
    path = worktree(repo, name)
    text = (path / "a.py").read_text()
    assert old in text
    write(path, "a.py", text.replace(old, new, 1))
    return path


def test_the_same_edit_is_the_same_however_old_its_base_is(repo):
    """The ladder: byte-identical edits, started 0 to 80 commits apart."""
    for name, commits in (("stale", 60), ("older", 15), ("old", 4), ("fresh", 1), ("now", 0)):
        edited(repo, name)
        drift(repo, commits)
    found = report(repo)
    assert len(found["revisions"]) == 5
    assert found["similarity"] == [[1.0] * 5] * 5
    assert len(found["clusters"]) == 1
    entries = by_id(found)
    assert [entries[name]["behind"] for name in ("now", "fresh", "old", "older", "stale")] == [
        0, 1, 5, 20, 80,
    ]  # fmt: skip
    assert all([(f["path"], f["added"], f["deleted"]) for f in entry["files"]]
               == [("a.py", 1, 1)] for entry in entries.values())  # fmt: skip
    assert {entry["rank"] for entry in entries.values()} == {1}
    assert "behind 80" in excise("worktrees", str(repo.path)).out


def test_the_checkout_itself_is_not_a_candidate(repo):
    edited(repo, "ada")
    write(repo.path, "b.txt", "mine\n")
    assert report(repo)["revisions"] == ["worktree:ada"]
    found = report(repo, "--include-target")
    assert found["revisions"] == ["worktree:work", "worktree:ada"]


def test_a_candidate_that_merged_the_target_counts_only_its_own_edits(repo):
    path = edited(repo, "ada")
    committed(repo, "ada")
    drift(repo, 3)
    repo.git("merge", "--quiet", "--no-edit", "main", cwd=path)
    [entry] = report(repo)["ranking"]
    assert [file["path"] for file in entry["files"]] == ["a.py"]
    assert (entry["files"][0]["added"], entry["files"][0]["deleted"]) == (1, 1)
    assert entry["behind"] == 0


def test_a_worktree_stacked_on_a_feature_counts_only_its_own(repo):
    repo.git("checkout", "--quiet", "-b", "feature")
    repo.commit("a feature", c__py="feature = 1\n")
    path = repo.path.parent / "ada"
    repo.git("worktree", "add", "--quiet", "-b", "ada", path, "feature")
    write(path, "d.py", "mine = 1\n")
    committed(repo, "ada")
    repo.git("checkout", "--quiet", "main")
    [entry] = report(repo, "--only", "ada")["ranking"]
    assert [file["path"] for file in entry["files"]] == ["d.py"]
    assert entry["base"] == repo.head("feature")


def test_a_pull_request_checked_out_as_a_worktree_keeps_its_edits(repo):
    repo.git("checkout", "--quiet", "-b", "pr")
    repo.commit("their change", c__py="theirs = 1\n")
    repo.git("checkout", "--quiet", "main")
    path = repo.path.parent / "ada"
    repo.git("worktree", "add", "--quiet", path, "pr")
    [entry] = report(repo, "--only", "ada")["ranking"]
    assert [file["path"] for file in entry["files"]] == ["c.py"]
    assert entry["base"] == repo.head("main")


def test_what_has_landed_is_not_a_change(repo):
    edited(repo, "ada")
    edited(repo, "bo", "return x + 20", "return x - 20")
    committed(repo, "ada")
    repo.commit("landed", a__py=BASE.replace(*EDIT))
    found = report(repo)
    assert found["landed"] == ["worktree:ada"]
    assert found["revisions"] == ["worktree:bo"]
    assert "already in the target, not ranked: worktree:ada" in " ".join(
        excise("worktrees", str(repo.path)).out.split()
    )


def test_both_sides_append_and_both_stay(repo):
    path = worktree(repo, "ada")
    write(path, "a.py", BASE + "def mine(): pass\n")
    repo.commit("theirs", a__py=BASE + "def theirs(): pass\n")
    [entry] = report(repo)["ranking"]
    assert (entry["files"][0]["added"], entry["files"][0]["deleted"]) == (1, 0)
    assert entry["conflicts"] == []
    assert any("both insert here" in note for note in entry["notes"])


def test_lines_that_the_target_changed_too_are_a_conflict(repo):
    edited(repo, "ada")
    repo.commit("theirs", a__py=BASE.replace("return x + 15", "return x * 15"))
    [entry] = report(repo)["ranking"]
    assert entry["conflicts"] == [{"path": "a.py", "reason": "the target changed these lines, too"}]


def test_files_that_one_side_deletes_creates_or_renames(repo):
    ada = edited(repo, "ada")
    write(ada, "made.py", "mine = 1\n")
    bo = worktree(repo, "bo")
    (bo / "a.py").unlink()
    chen = worktree(repo, "chen")
    repo.git("mv", "a.py", "chen.py", cwd=chen)
    repo.git("mv", "a.py", "moved.py")
    repo.commit("moved", made__py="theirs = 2\n")
    entries = by_id(report(repo))
    assert [file["path"] for file in entries["ada"]["files"]] == ["made.py", "moved.py"]
    assert "a.py is moved.py in the target" in entries["ada"]["notes"]
    assert entries["ada"]["conflicts"] == [
        {"path": "made.py", "reason": "the target created this file, too"}
    ]
    assert [(f["path"], f["status"]) for f in entries["bo"]["files"]] == [("moved.py", "deleted")]
    assert [(f["path"], f["status"]) for f in entries["chen"]["files"]] == [("chen.py", "renamed")]


def test_a_binary_file_that_both_changed(repo):
    repo.commit("binary", x__bin=b"\0one")
    path = worktree(repo, "ada")
    write(path, "x.bin", b"\0mine")
    repo.commit("theirs", x__bin=b"\0theirs")
    [entry] = report(repo)["ranking"]
    assert entry["conflicts"] == [{"path": "x.bin", "reason": "the target changed this file, too"}]


def test_a_base_and_a_target_of_ones_own(repo):
    first = repo.head()
    edited(repo, "ada")
    committed(repo, "ada")
    drift(repo, 2)
    assert report(repo, "--onto", first)["origin"] == first
    [entry] = report(repo, "--base", f"ada={repo.head('ada')}~1")["ranking"]
    assert entry["base"] == first
    assert report(repo, "--base", "ada=ada")["unchanged"] == ["worktree:ada"]
    folder = str(repo.path)
    one_line(excise("worktrees", folder, "--base", "nobody=HEAD"), "no candidate is called nobody")
    one_line(excise("worktrees", folder, "--base", "ada=nothing"), "there is no commit 'nothing'")
    one_line(excise("worktrees", folder, "--onto", "--exec=x"), "there is no commit")
    assert "--onto REV" in excise("worktrees", folder, "--base", "HEAD").err


def test_unrelated_histories_name_the_way_out(repo):
    repo.git("checkout", "--quiet", "--orphan", "other")
    repo.commit("other", z__py="z = 1\n")
    repo.git("checkout", "--quiet", "main")
    repo.git("worktree", "add", "--quiet", repo.path.parent / "ada", "other")
    ran = excise("worktrees", str(repo.path))
    assert ran.code == 1
    assert "nothing in common with the target" in ran.err
    assert "--base NAME=REV" in ran.err


def test_a_hostile_reflog_is_not_believed(repo):
    path = edited(repo, "ada")
    committed(repo, "ada")
    drift(repo, 2)
    log = repo.path / ".git" / "worktrees" / "ada" / "logs" / "HEAD"
    honest = report(repo)
    for first in (
        b"junk\n",
        b"0" * 40 + b" " + b"f" * 40 + b" x\n",
        b"0" * 40 + b" --exec=x\n",
        b"",
    ):
        log.write_bytes(first)
        assert report(repo)["ranking"] == honest["ranking"]
    log.unlink()
    assert report(repo)["ranking"] == honest["ranking"]
    assert path.exists()


def test_candidates_have_the_names_that_people_know(repo):
    for folder, branch in ((".claude/worktrees/fix-a", "worktree-fix-a"), ("plain", "topic/b")):
        path = repo.path / folder if folder.startswith(".") else repo.path.parent / folder
        repo.git("worktree", "add", "--quiet", "-b", branch, path)
        write(path, "a.py", BASE.replace(*EDIT))
    entries = by_id(report(repo))
    assert {name: (entry["label"], entry["tool"]) for name, entry in entries.items()} == {
        "fix-a": ("claude fix-a", "Claude Code"),
        "plain": ("topic/b", None),
    }
    out = excise("worktrees", str(repo.path)).out
    assert "claude fix-a" in out
    assert "topic/b" in out


def test_when_a_candidate_was_made(repo):
    """By the reflog, which knows when work began; else by its first own commit."""
    path = edited(repo, "ada")
    ada_made = repo.clock
    committed(repo, "ada")
    write(path, "b.txt", "two\n")
    committed(repo, "ada", "a second one")
    edited(repo, "bo")
    bo_made = repo.clock
    repo.git("branch", "topic", "ada")
    topic_made = repo.clock
    made = {name: e["made"] for name, e in by_id(report(repo, "--branches", "topic")).items()}
    assert made == {"ada": ada_made, "bo": bo_made, "topic": topic_made}
    logs = repo.path / ".git" / "logs" / "refs" / "heads"
    for log in ("ada", "topic"):
        (logs / log).unlink()
    for name in ("ada", "bo"):
        (repo.path / ".git" / "worktrees" / name / "logs" / "HEAD").unlink()
    (logs / "bo").write_bytes(b"hostile > 99999999999999999999 +0000\n")
    made = {name: e["made"] for name, e in by_id(report(repo, "--branches", "topic")).items()}
    first = int(repo.git("log", "--format=%ct", "ada~1", "-1"))
    assert made == {"ada": first, "bo": None, "topic": first}
