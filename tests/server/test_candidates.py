"""Candidates against their own bases: started apart, stacked, landed, in conflict."""

import os

import pytest
from tests.server.command import excise, ids_of, one_line
from tests.server.git_repository import make, needs_git
from tests.server.test_worktrees import by_id, report, seen, worktree, write

from excise_server.git.checkouts import Selection
from excise_server.git.repository import open_folder
from excise_server.sources.candidates import find_candidates

pytestmark = [pytest.mark.slow, needs_git]

LINES = [f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(30)]
BASE = "".join(LINES)
EDIT = ("return x + 15", "return 15 if x is None else x + 15")


@pytest.fixture
def repo(tmp_path, monkeypatch):
    return make(tmp_path, monkeypatch, a__py=BASE, b__txt="one\n")


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
    """The ladder: byte-identical edits, started 0 to 81 commits apart, one of them in conflict."""
    edited(repo, "beside")
    repo.commit("beside", a__py=BASE.replace("def f15(x)", "def f15(x=0)"))
    for name, commits in (("stale", 60), ("older", 15), ("old", 4), ("fresh", 1), ("now", 0)):
        edited(repo, name)
        drift(repo, commits)
    found = report(repo)
    assert len(ids_of(found)) == 6
    assert found["similarity"] == [[1.0] * 6] * 6
    assert len(found["tasks"][0]["groups"]) == 1
    entries = by_id(found)
    assert [name for name, entry in entries.items() if entry["conflicts"]] == ["beside"]
    assert [entries[name]["behind"] for name in ("now", "fresh", "old", "older", "stale")] == [
        0, 1, 5, 20, 80,
    ]  # fmt: skip
    assert all([(f["path"], f["added"], f["deleted"]) for f in entry["files"]]
               == [("a.py", 1, 1)] for entry in entries.values())  # fmt: skip
    assert {entry["rank"] for entry in entries.values()} == {1}
    assert "behind 80" in excise("review", "--repo", str(repo.path), "-v").out


LEVELS = {
    "identical": [("return x + 15", "return x * 15 if x else 15")] * 2,
    "same code": [
        ("return x + 15", "return (x * 15) if x else 15  # mended"),
        ("return x + 15", "return x * 15 if x else 15"),
    ],
    "same up to names": [
        ("    return x + 15", "    y = f14(x)\n    log(y)\n    return y * 15 if 0 < y else 15"),
        ("    return x + 15", "    z = f14(x)\n    log(z)\n    return z * 15 if z > 0 else 15"),
    ],
}


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_is_the_same_however_old_the_bases_are(repo, level):
    """The ladder for each level: two ways to write one program, each started from every base."""
    names = []
    for commits in (20, 4, 1, 0):
        for way, (old, new) in enumerate(LEVELS[level]):
            names.append(f"way{way}-{commits}")
            edited(repo, names[-1], old, new)
        drift(repo, commits)
    found = report(repo)
    ids = [ids_of(found).index(f"worktree:{name}") for name in names]
    for i, first in zip(ids, names, strict=True):
        for j, second in zip(ids, names, strict=True):
            is_one_way = first.partition("-")[0] == second.partition("-")[0]
            assert found["words"][i][j] == ("identical" if is_one_way else level), (first, second)
    makers = 8 if level != "same up to names" else 4
    assert {entry["makers"] for entry in found["candidates"]} == {makers}


def test_the_checkout_itself_is_not_a_candidate(repo):
    edited(repo, "ada")
    write(repo.path, "b.txt", "mine\n")
    assert ids_of(report(repo)) == ["worktree:ada"]
    found = seen(repo, target=True)
    assert ids_of(found) == ["worktree:ada", "worktree:work"]  # that one changes no code


def test_a_candidate_that_merged_the_target_counts_only_its_own_edits(repo):
    path = edited(repo, "ada")
    committed(repo, "ada")
    drift(repo, 3)
    repo.git("merge", "--quiet", "--no-edit", "main", cwd=path)
    [entry] = report(repo)["candidates"]
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
    [entry] = report(repo, "--only", "ada")["candidates"]
    assert [file["path"] for file in entry["files"]] == ["d.py"]
    assert entry["base"] == repo.head("feature")


def test_a_pull_request_checked_out_as_a_worktree_keeps_its_edits(repo):
    repo.git("checkout", "--quiet", "-b", "pr")
    repo.commit("their change", c__py="theirs = 1\n")
    repo.git("checkout", "--quiet", "main")
    path = repo.path.parent / "ada"
    repo.git("worktree", "add", "--quiet", path, "pr")
    [entry] = report(repo, "--only", "ada")["candidates"]
    assert [file["path"] for file in entry["files"]] == ["c.py"]
    assert entry["base"] == repo.head("main")


def test_functions_that_both_sides_append_are_merged_beyond_git_and_said(repo):
    path = worktree(repo, "ada")
    write(path, "a.py", BASE + "def mine(): pass\n")
    repo.commit("theirs", a__py=BASE + "def theirs(): pass\n")
    [entry] = report(repo)["candidates"]
    assert entry["conflicts"] == []
    assert [beyond["path"] for beyond in entry["beyond_git"]] == ["a.py"]
    assert "merged beyond git: read a.py" in entry["notes"]


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
        {"path": "made.py", "kind": "add/add", "reason": "the target created this file, too"}
    ]
    assert [(f["path"], f["status"]) for f in entries["bo"]["files"]] == [("moved.py", "deleted")]
    assert [(f["path"], f["status"]) for f in entries["chen"]["files"]] == [("chen.py", "renamed")]


def test_what_a_conflict_leaves_of_a_candidate_is_not_all_that_it_changes(repo):
    repo.commit("docs", docs__md="one\n")
    ada, bo = edited(repo, "ada"), edited(repo, "bo", "def", "async def")
    write(ada, "docs.md", "mine\n")
    text = (ada / "a.py").read_text()
    for path in (ada, bo):  # rivals
        repo.git("commit", "--quiet", "--all", "--message", "Fixes #7", cwd=path)
    repo.commit("takes the code of ada", a__py=text, docs__md="theirs\n")
    entries = by_id(report(repo))
    assert [conflict["path"] for conflict in entries["ada"]["conflicts"]] == ["docs.md"]
    assert entries["ada"]["task"] == entries["bo"]["task"]
    assert not [why for why in entries["ada"]["why"] if "docs" in why]


def test_a_base_and_a_target_of_ones_own(repo):
    first = repo.head()
    edited(repo, "ada")
    committed(repo, "ada")
    drift(repo, 2)
    assert report(repo, "--onto", first)["origin"] == first
    [entry] = report(repo, "--base", f"ada={repo.head('ada')}~1")["candidates"]
    assert entry["base"] == first
    assert report(repo, "--base", "ada=ada")["unchanged"] == ["worktree:ada"]
    folder = str(repo.path)
    one_line(
        excise("review", "--repo", folder, "--base", "nobody=HEAD"), "no candidate is called nobody"
    )
    one_line(
        excise("review", "--repo", folder, "--base", "ada=nothing"), "unknown revision 'nothing'"
    )
    one_line(excise("review", "--repo", folder, "--onto", "--exec=x"), "unknown revision")
    assert "--onto REV" in excise("review", "--repo", folder, "--base", "HEAD").err


def test_unrelated_histories_name_the_way_out(repo):
    repo.git("checkout", "--quiet", "--orphan", "other")
    repo.commit("other", z__py="z = 1\n")
    repo.git("checkout", "--quiet", "main")
    repo.git("worktree", "add", "--quiet", repo.path.parent / "ada", "other")
    ran = excise("review", "--repo", str(repo.path))
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
        assert report(repo)["candidates"] == honest["candidates"]
    log.unlink()
    assert report(repo)["candidates"] == honest["candidates"]
    assert path.exists()


def test_candidates_have_the_names_that_people_know(repo):
    for folder, branch in ((".claude/worktrees/fix-a", "worktree-fix-a"), ("plain", "topic/b")):
        path = repo.path / folder if folder.startswith(".") else repo.path.parent / folder
        repo.git("worktree", "add", "--quiet", "-b", branch, path)
        write(path, "a.py", BASE.replace(*EDIT))
    entries = by_id(report(repo))
    assert {name: (entry["label"], entry["tool"]) for name, entry in entries.items()} == {
        "fix-a": ("claude-fix-a", "Claude Code"),
        "plain": ("topic/b", None),
    }
    out = excise("review", "--repo", str(repo.path)).out
    assert "claude-fix-a" in out
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
    repo.git("branch", "topic", "ada~1")
    topic_made = repo.clock
    made = {name: e["made"] for name, e in by_id(report(repo, "--git", "topic")).items()}
    assert made == {"ada": ada_made, "bo": bo_made, "topic": topic_made}
    logs = repo.path / ".git" / "logs" / "refs" / "heads"
    for log in ("ada", "topic"):
        (logs / log).unlink()
    for name in ("ada", "bo"):
        (repo.path / ".git" / "worktrees" / name / "logs" / "HEAD").unlink()
    (logs / "bo").write_bytes(b"hostile > 99999999999999999999 +0000\n")
    made = {name: e["made"] for name, e in by_id(report(repo, "--git", "topic")).items()}
    first = int(repo.git("log", "--format=%ct", "topic", "-1"))
    assert made == {"ada": first, "bo": None, "topic": first}


def test_names_of_one_thing_are_one_candidate(repo):
    """A worktree, its branch, that branch at a remote, and the request made of it."""
    edited(repo, "ada")
    committed(repo, "ada")
    edited(repo, "bo", "return x + 20", "return x - 20")
    for ref in ("refs/remotes/origin/ada", "refs/pull/12/head", "refs/heads/copy"):
        repo.git("update-ref", ref, "ada")
    repo.git("update-ref", "refs/pull/12/merge", "ada")
    patterns = [part for p in ("**", "origin/*", "pull/*") for part in ("--git", p)]
    found = report(repo, *patterns)
    entries = by_id(found)
    assert ids_of(found) == ["worktree:ada", "worktree:bo"]
    assert entries["ada"]["names"] == [
        "worktree:ada", "branch:ada", "branch:copy", "remote:origin/ada", "ref:pull/12",
    ]  # fmt: skip
    assert entries["bo"]["names"] == ["worktree:bo", "branch:bo"]
    assert found["unchanged"] == ["branch:main"]
    write(repo.path.parent / "ada", "b.txt", "more\n")
    found = report(repo, *patterns)
    assert len(by_id(found)["ada"]["names"]) == 5  # its branch is at that commit
    repo.git("checkout", "--quiet", "--detach", cwd=repo.path.parent / "ada")
    names = {entry["id"]: entry["names"] for entry in report(repo, *patterns)["candidates"]}
    assert names["worktree:ada"] == ["worktree:ada"]
    assert names["branch:ada"] == ["branch:ada", "branch:copy", "remote:origin/ada", "ref:pull/12"]
    entry = by_id(report(repo, "--git", "c*", "--git", "pull/12"))["copy"]
    assert entry["names"] == ["branch:copy", "ref:pull/12"]
    assert entry["label"] == "copy"


def test_two_of_one_commit_with_their_own_edits_stay_two(repo):
    """Five agents that start from one commit have nothing in common but that."""
    for name, old in (("ada", "return x + 3\n"), ("bo", "return x + 20\n")):
        edited(repo, name, old, "return 0\n")
    found = report(repo, "--git", "*")
    assert ids_of(found) == ["worktree:ada", "worktree:bo"]
    assert found["unchanged"] == ["branch:main"]


def test_requests_and_other_refs_by_pattern(repo):
    """As hosts name them, under the numbers that people know."""
    base = repo.head()
    for number, ref in ((7, "pull/7/head"), (8, "pull/8/head"), (12, "merge-requests/12/head")):
        repo.commit(f"request {number}", **{f"f{number}__py": f"n = {number}\n"})
        repo.git("update-ref", f"refs/{ref}", "HEAD")
        repo.git("update-ref", f"refs/{ref.replace('head', 'merge')}", "HEAD")
        repo.git("reset", "--quiet", "--hard", base)
    repo.git("update-ref", "refs/remotes/container-use/env", "refs/pull/7/head")
    repo.git("tag", "-a", "-m", "a tag", "v1")

    def labels(*patterns, code=0):
        options = [part for pattern in patterns for part in ("--git", pattern)]
        found = report(repo, *options, code=code)
        return {entry["id"]: entry["label"] for entry in found["candidates"]}

    both = {"ref:pull/7": "#7", "ref:pull/8": "#8"}
    for pattern in ("pull/*", "pull/*/head", "refs/pull/*/head", "refs/pull", "pull/[78]"):
        assert labels(pattern) == both, pattern
    assert labels("pull/7") == labels("#7") == labels("refs/pull/7/head") == {"ref:pull/7": "#7"}
    for pattern in ("merge-requests/*", "!12", "refs/merge-requests/12"):
        assert labels(pattern) == {"ref:merge-requests/12": "!12"}
    assert labels("refs/pull/7/merge") == {"ref:refs/pull/7/merge": labels("refs/pull/7/merge")[
        "ref:refs/pull/7/merge"]}  # fmt: skip
    assert labels("container-use/*", "#7") == {"remote:container-use/env": "container-env"}
    assert labels("refs/tags/v1", code=1) == {}
    assert report(repo, "--git", "v1")["unchanged"] == ["commit:v1"]
    topic = repo.head("refs/pull/7/head")
    assert labels(topic[:12]) == {f"commit:{topic[:12]}": topic[:12]}
    assert labels(f"main..{topic[:12]}") == {f"commit:main..{topic[:12]}": f"main..{topic[:12]}"}
    assert (
        "none matches nothing..here"
        in excise("review", "--repo", str(repo.path), "--git", "nothing..here").err
    )
    assert (
        "it is a tag, not a commit"
        in excise("review", "--repo", str(repo.path), "--git", "refs/tags/*").err
    )
    assert set(labels("pull/*", "merge-requests/*")) == {*both, "ref:merge-requests/12"}
    assert [e["id"] for e in report(repo, "--git", "pull/*", "--only", "#8")["candidates"]] == [
        "ref:pull/8"
    ]


def test_limits_come_after_filters_and_cut_the_oldest(repo, monkeypatch):
    monkeypatch.setattr("excise_server.git.checkouts.MAX_WORKTREES", 2)
    monkeypatch.setattr("excise_server.git.checkouts.MAX_REFS", 1)
    for name in ("ada", "bo", "chen", "dana", "eve"):
        path = edited(repo, name)
        write(path, "name.txt", name)
    for name in ("topic1", "topic2"):
        repo.git("branch", name)
        repo.git("checkout", "--quiet", name)
        repo.commit(name, c__py=name)
    repo.git("checkout", "--quiet", "main")
    found = report(repo, "--git", "topic*", code=1)
    assert ids_of(found) == ["worktree:eve", "worktree:dana", "branch:topic2"]
    assert [rejected["reason"] for rejected in found["rejected"]] == [
        "only the 2 of 5 made last are compared, without worktree:chen, worktree:bo, worktree:ada",
        "only the 1 of 2 with the newest commits are compared, without branch:topic1",
    ]
    assert ids_of(report(repo, "--only", "a*", "--only", "bo")) == [
        "worktree:ada", "worktree:bo",
    ]  # fmt: skip


def test_equal_texts_of_different_makers_are_two_voices(repo):
    edited(repo, "ada")
    drift(repo, 2)
    edited(repo, "bo")
    edited(repo, "chen", new="return 16")
    path = edited(repo, "dana")
    write(path, "a.py", (path / "a.py").read_text().replace("\n", "\r\n"))
    entries = by_id(report(repo))
    assert {name: entry["identical"] for name, entry in entries.items()} == {
        "ada": ["worktree:bo"], "bo": ["worktree:ada"], "chen": [], "dana": [],
    }  # fmt: skip
    out = excise("review", "--repo", str(repo.path)).out
    assert "A  3 candidates " in out
    assert "3 the same code: ada, bo, dana (converts line ends from LF to CRLF (a.py))" in one_text(
        out
    )


def one_text(out):
    return " ".join(out.split())


def test_a_digest_is_of_the_candidate_alone(repo):
    path = edited(repo, "ada")
    [before] = report(repo)["candidates"]
    drift(repo, 2)
    [after] = report(repo)["candidates"]
    assert after["behind"] == 2
    assert after["digest"] == before["digest"]
    assert len(before["digest"]) == 64
    write(path, "b.txt", "two\n")
    assert report(repo)["candidates"][0]["digest"] != before["digest"]
    (path / "b.txt").unlink()
    gone = report(repo)["candidates"][0]["digest"]
    write(path, "b.txt", "")
    assert report(repo)["candidates"][0]["digest"] not in (gone, before["digest"])


def test_who_is_still_being_written(repo):
    """By the times of the changed files, and the folder of one that is gone."""
    path = edited(repo, "ada")
    write(path, "sub/x.py", "x = 1\n")
    committed(repo, "ada")
    opened = open_folder(str(repo.path), [str(repo.path)])

    def is_written(now):
        [candidate] = find_candidates(opened, Selection(), clock=lambda: now).found
        return candidate.is_written

    late = (path / "a.py").stat().st_mtime + 1000
    assert not is_written(late)
    os.utime(path / "sub" / "x.py", (late - 1, late - 1))
    assert is_written(late)
    assert not is_written(late + 60)
    os.utime(path / "b.txt", (late + 60, late + 60))
    assert not is_written(late + 60)  # touched, but not changed
    repo.git("rm", "--quiet", "b.txt", cwd=path)
    os.utime(path, (late + 60, late + 60))
    assert is_written(late + 60)


def test_trailers_name_the_tool(repo):
    edited(repo, "ada")
    committed(repo, "ada", "the edit\n\nCo-Authored-By: Claude <noreply@anthropic.com>")
    edited(repo, "bo", new="return 17")
    committed(repo, "bo", "the edit\n\nSigned-off-by: Claude <noreply@anthropic.com>")
    entries = by_id(report(repo))
    assert (entries["ada"]["tool"], entries["bo"]["tool"]) == ("Claude Code", None)
