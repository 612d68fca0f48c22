"""Git's verdict on whole candidates, and what has landed: no driver runs, nothing is written."""

import os
import shutil
import sys

import pytest
from tests.server.git_repository import GIT, make, needs_git

from excise_server.git.checkouts import Selection
from excise_server.git.command import Git
from excise_server.git.merges import MergeQuestion, TreeOf, _Answer, _answers, merged
from excise_server.git.repository import open_folder
from excise_server.sources.candidates import find_candidates

pytestmark = [pytest.mark.slow, needs_git]

TEXT = "".join(f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(12))


@pytest.fixture
def repo(tmp_path, monkeypatch):
    return make(tmp_path, monkeypatch, a__py=TEXT)


def branch(repo, name, start="main", message="work", **files):
    """Commit files on a branch (None: deleted), and go back to main."""
    repo.git("checkout", "--quiet", "-B", name, start)
    for file, text in files.items():
        if text is None:
            (repo.path / file.replace("__", ".")).unlink()
    repo.commit(message, **{file: text for file, text in files.items() if text is not None})
    repo.git("checkout", "--quiet", "main")
    return repo.head(name)


def review(repo, *patterns, path=None, **selection):
    folder = os.path.realpath(path or repo.path)
    chosen = {"git": patterns} if patterns else {}
    return find_candidates(open_folder(folder, [folder]), Selection(chosen=chosen, **selection))


def kinds(found):
    return {candidate.label: candidate.conflict_kinds for candidate in found.found}


def words(found):
    return {landed.label: landed.words for landed in found.landed}


def objects(repo):
    """Return every file of the repository's objects, with its bytes."""
    top = repo.path / ".git" / "objects"
    return {path: path.read_bytes() for path in top.rglob("*") if path.is_file()}


# --- the verdict ---------------------------------------------------------------------------------


def test_what_git_merges_has_gits_bytes_and_what_not_gits_word(repo, monkeypatch):
    repo.commit("more", b__py="b = 1\n", link=b"x")
    moved = TEXT.replace("x + 3", "x - 3")
    branch(repo, "moved", a__py=None, z__py=moved)
    branch(repo, "clean", a__py=TEXT.replace("x + 9", "x * 9"))
    branch(repo, "content", a__py=TEXT.replace("x + 1\n", "x + 100\n"))
    branch(repo, "deleted", b__py="b = 2\n")
    branch(repo, "added", c__py="mine\n")
    branch(repo, "binary", link=b"\0mine")
    repo.git("rm", "--quiet", "b.py")
    target = TEXT.replace("x + 1\n", "x + 101\n")
    repo.commit("theirs", a__py=target, c__py="theirs\n", link=b"\0theirs")
    before = objects(repo)
    found = review(repo, "*")
    assert kinds(found) == {
        "moved": {}, "clean": {}, "content": {"a.py": "content"}, "added": {"c.py": "add/add"},
        "deleted": {"b.py": "modify/delete"}, "binary": {"link": "content"},
    }  # fmt: skip
    named = {candidate.label: candidate for candidate in found.found}
    assert {p: s.data.decode() for p, s in named["moved"].new.items()} == {
        "z.py": target.replace("x + 3", "x - 3")
    }
    assert named["clean"].new["a.py"].data.decode() == target.replace("x + 9", "x * 9")
    assert named["deleted"].old["b.py"].data == b"b = 1\n"  # an edit of it, no new file
    assert objects(repo) == before
    monkeypatch.setattr(Git, "scratch", lambda *_: pytest.fail("git was asked again"))
    assert kinds(review(repo, "*")) == kinds(found)


def test_uncommitted_work_and_the_saved_target_are_merged_as_they_lie(repo, tmp_path):
    branch(repo, "agent", a__py=TEXT.replace("x + 1\n", "x + 100\n"))
    repo.git("worktree", "add", "--quiet", tmp_path / "agent", "agent")
    (tmp_path / "agent" / "a.py").write_text(TEXT.replace("x + 2\n", "x + 200\n"))
    (tmp_path / "agent" / "new.py").write_text("new = 1\n")
    repo.commit("theirs", a__py=TEXT.replace("x + 1\n", "x + 101\n"))
    before = objects(repo)
    found = review(repo)  # the line of the commit is as it was
    assert kinds(found) == {"agent": {}}
    assert sorted(found.found[0].new) == ["a.py", "new.py"]
    repo.write("a.py", TEXT.replace("x + 2\n", "x + 201\n"))
    assert kinds(review(repo, onto="saved")) == {"agent": {"a.py": "content"}}
    assert objects(repo) == before


def test_nothing_of_a_hostile_config_runs_or_counts(repo, tmp_path):
    marker = tmp_path / "marker"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\necho run >> '{marker}'\nexit 0\n")
    trap.chmod(0o755)
    repo.commit("attributes", __gitattributes="a.py merge=evil filter=evil\nu.txt merge=union\n")
    repo.commit("texts", u__txt="one\n", b__py=TEXT)
    branch(repo, "agent", a__py=TEXT.replace("x + 1\n", "x + 100\n"), u__txt="one\nmine\n")
    branch(repo, "moved", b__py=TEXT.replace("x + 2\n", "x + 2.0\n"))
    repo.git("mv", "b.py", "c.py")
    repo.commit("theirs", a__py=TEXT.replace("x + 1\n", "x + 101\n"), u__txt="one\ntheirs\n")
    for name in ("merge.evil.driver", "filter.evil.clean", "filter.evil.smudge"):
        repo.git("config", name, f"{trap} %A")
    repo.git("config", "merge.renames", "false")
    repo.git("merge", "--quiet", "--no-commit", "agent", check=False)
    assert marker.exists()  # a careless program runs it
    marker.unlink()
    repo.git("reset", "--quiet", "--hard")
    marker.unlink(missing_ok=True)
    before = objects(repo)
    found = review(repo, "agent", "moved")
    assert kinds(found) == {"agent": {"a.py": "content"}, "moved": {}}
    named = {candidate.label: candidate for candidate in found.found}
    assert named["agent"].new["u.txt"].data == b"one\ntheirs\nmine\n"  # union is git's own
    assert list(named["moved"].new) == ["c.py"]
    assert not marker.exists()
    assert objects(repo) == before


def test_criss_cross_histories_have_all_merge_bases(repo):
    branch(repo, "left", a__py=TEXT.replace("x + 1\n", "x + 10\n"))
    branch(repo, "right", a__py=TEXT.replace("x + 5\n", "x + 50\n"))
    both = TEXT.replace("x + 1\n", "x + 10\n").replace("x + 5\n", "x + 50\n")
    left, right = repo.head("left"), repo.head("right")
    repo.git("checkout", "--quiet", "left")
    repo.git("merge", "--quiet", right)
    repo.git("checkout", "--quiet", "right")
    repo.git("merge", "--quiet", left)
    repo.git("checkout", "--quiet", "-B", "main", "left")
    repo.commit("theirs", a__py=both.replace("x + 7\n", "x + 70\n"))
    branch(repo, "agent", "right", a__py=both.replace("x + 9\n", "x + 90\n"))
    found = review(repo, "agent")
    assert kinds(found) == {"agent": {}}
    expected = both.replace("x + 7\n", "x + 70\n").replace("x + 9\n", "x + 90\n")
    assert found.found[0].new["a.py"].data.decode() == expected


@pytest.mark.parametrize("way", ["shallow", "sha256"])
def test_shallow_clones_and_other_hashes(repo, tmp_path, way):
    branch(repo, "agent", a__py=TEXT.replace("x + 1\n", "x + 100\n"))
    repo.commit("theirs", a__py=TEXT.replace("x + 2\n", "x + 200\n"))
    url = f"file://{repo.path}"
    if way == "sha256":
        other = tmp_path / "other"
        repo.git("init", "--quiet", "--object-format=sha256", other)
        stream = repo.git("fast-export", "--all")
        repo.git("fast-import", "--quiet", cwd=other, stdin=stream)
        repo.git("reset", "--quiet", "--hard", "main", cwd=other)
    else:
        other = tmp_path / "other"
        repo.git("clone", "--quiet", "--depth=2", "--no-single-branch", url, other)
    pattern = "agent" if way == "sha256" else "origin/agent"
    [candidate] = review(repo, pattern, path=other, worktrees=False).found
    both = TEXT.replace("x + 1\n", "x + 100\n").replace("x + 2\n", "x + 200\n")
    assert (candidate.conflicts, candidate.new["a.py"].data.decode()) == ({}, both)


def test_one_line_that_git_cannot_answer_costs_itself_alone(repo):
    heads = [branch(repo, f"b{n}", a__py=TEXT.replace(f"x + {n}\n", "y\n")) for n in range(3)]
    repository = open_folder(str(repo.path), [str(repo.path)])
    base = TreeOf(repo.head())
    blob = repo.head(f"{heads[1]}:a.py")
    repo.commit("theirs", a__py=TEXT.replace("x + 7\n", "z\n"))
    (repo.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    answers = merged(
        repository, TreeOf(repo.head()), [MergeQuestion(base, TreeOf(head)) for head in heads]
    )
    assert [answer.is_clean for answer in answers] == [True, False, True]
    assert blob in answers[1].refused


def test_answers_that_are_cut_are_none():
    clean, conflict = b"1\0aa\0\0", b"0\0bb\x00100644 cc 2\tp\0\0001\0p\0CONFLICT (x)\0t\n\0\0"
    whole = clean + conflict.replace(b"cc", b"c" * 40)
    assert len(list(_answers(whole))) == 2
    counts = [len(list(_answers(whole[:cut]))) for cut in range(len(whole))]
    assert counts == sorted(counts)
    assert max(counts) == 1
    assert list(_answers(b"")) == []
    assert next(_answers(clean)) == _Answer("aa")


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
@pytest.mark.parametrize(
    ("refuses", "note"),
    [
        ("version) echo git version 2.34.1", "git 2.34: renames of the target unseen"),
        ("fast-import) echo fatal: write error: No space left on device >&2; exit 128", "No space"),
    ],
)
def test_without_a_verdict_the_replay_answers_and_one_note_says_why(
    repo, tmp_path, monkeypatch, refuses, note
):
    branch(repo, "agent", a__py=TEXT.replace("x + 1\n", "x + 100\n"))
    branch(repo, "clean", a__py=TEXT.replace("x + 9\n", "x + 90\n"))
    repo.commit("theirs", a__py=TEXT.replace("x + 1\n", "x + 101\n"))
    other = tmp_path / "bin" / "git"
    other.parent.mkdir()
    other.write_text(
        f'#!/bin/sh\nfor a; do case $a in {refuses}; exit;; esac; done\nexec {GIT} "$@"\n'
    )
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(other.parent), prepend=os.pathsep)
    assert shutil.which("git") == str(other)
    found = review(repo, "agent", "clean")
    assert kinds(found) == {"agent": {"a.py": "content"}, "clean": {}}
    assert [note in said for said in found.notes] == [True]


def test_a_scratch_repository_takes_no_other_command(repo):
    scratch = Git(str(repo.path)).scratch(str(repo.path))
    for command in ("gc", "fetch", "update-ref", "read-tree"):
        with pytest.raises(ValueError, match="not one of the commands"):
            scratch.run(command)


# --- landed --------------------------------------------------------------------------------------


def squash(repo, name, message):
    repo.git("merge", "--squash", name)
    return repo.commit(message)


def test_what_landed_is_named_by_its_commit(repo):
    one, two = TEXT.replace("x + 1\n", "x + 10\n"), TEXT.replace("x + 2\n", "x + 20\n")
    for number, text in ((7, one), (8, two), (9, TEXT.replace("x + 5\n", "x + 50\n"))):
        branch(repo, f"topic{number}", a__py=text)
        repo.git("update-ref", f"refs/pull/{number}/head", f"topic{number}")
    branch(repo, "merged", m__py="m = 1\n")
    branch(repo, "picked", p__py="p = 1\n")
    branch(repo, "fresh", message="nothing")
    squashed = squash(repo, "topic7", "One (#7)")[:7]
    again = squash(repo, "topic8", "Two")[:7]
    repo.git("merge", "--quiet", "--no-ff", "merged", "-m", "Merge pull request #3 from a/merged")
    merge = repo.head()[:7]
    picked = squash(repo, "picked", "Pick")[:7]
    text = (repo.path / "a.py").read_text()
    repo.commit("later", a__py=text.replace("x + 10\n", "x + 10.0\n"), p__py="p = 2\n")
    found = review(repo, "pull/*", "merged", "picked", "fresh", worktrees=False)
    assert words(found) == {
        "#7": f"landed as {squashed} (#7), changed since",
        "#8": f"landed as {again}",
        "merged": f"landed as {merge} (#3)",
        "picked": f"landed as {picked}, changed since",
    }
    assert [candidate.label for candidate in found.found] == ["#9"]
    assert found.unchanged == ("branch:fresh",)


def test_a_revert_opens_what_landed_again_and_its_revert_closes_it(repo):
    branch(repo, "topic", a__py=TEXT.replace("x + 1\n", "x + 10\n"))
    repo.git("update-ref", "refs/pull/7/head", "topic")
    landed = squash(repo, "topic", "One (#7)")
    repo.git("revert", "--no-edit", landed)
    found = review(repo, "pull/*")
    assert (words(found), [each.label for each in found.found]) == ({}, ["#7"])
    repo.git("revert", "--no-edit", "HEAD")
    repo.commit("later", a__py=TEXT.replace("x + 1\n", "x + 11\n"))
    assert words(review(repo, "pull/*")) == {"#7": f"landed as {landed[:7]} (#7), changed since"}


def test_uncommitted_work_counts_before_it_is_called_landed(repo, tmp_path):
    branch(repo, "agent", a__py=TEXT.replace("x + 1\n", "x + 10\n"))
    repo.git("worktree", "add", "--quiet", tmp_path / "agent", "agent")
    squash(repo, "agent", "One")
    assert list(words(review(repo))) == ["agent"]
    (tmp_path / "agent" / "more.py").write_text("more = 1\n")
    found = review(repo)
    assert (words(found), [each.label for each in found.found]) == ({}, ["agent"])
    assert list(found.found[0].new) == ["more.py"]


def test_what_was_made_for_another_branch_is_said(repo):
    fork = repo.head()
    repo.commit("main goes on", m__py="m = 1\n")
    for number in range(3):
        branch(repo, "v2-maint", "v2-maint" if number else fork, v__py=f"v = {number}\n")
    repo.git("update-ref", "refs/remotes/origin/v2-maint", "v2-maint")
    branch(repo, "dead", fork, d__py="d = 1\n")
    branch(repo, "fix", "v2-maint~1", f__py="f = 1\n")
    branch(repo, "later", "fix", f__py="f = 2\n")  # has it: it was not made for that
    branch(repo, "plain", fork, p__py="p = 1\n")
    found = review(repo, "fix", "plain", worktrees=False)
    assert {each.label: each.made_for for each in found.found} == {
        "fix": ("v2-maint", "origin/v2-maint"), "plain": ("", ""),
    }  # fmt: skip
    assert not any(review(repo, "fix", worktrees=False, onto="v2-maint").found[0].made_for)
