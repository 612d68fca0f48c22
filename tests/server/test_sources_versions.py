"""The document in the candidates of its repository: those of the commands, one file of each."""

import os
import sys
from dataclasses import replace

import pytest
from tests.server.git_repository import changes, known, make, needs_git, notes, reasons, texts

from excise import ScoreMatrix
from excise_server.candidates.worktrees import compare_candidates
from excise_server.git.checkouts import Selection
from excise_server.git.repository import open_folder
from excise_server.sources.candidates import find_candidates
from excise_server.sources.collect import collect

pytestmark = [pytest.mark.slow, needs_git]

TEXT = "".join(f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(8))
EDIT = ("x + 3", "3 if x is None else x + 3")
EDITED = TEXT.replace(*EDIT)


@pytest.fixture
def repo(tmp_path, monkeypatch):
    return make(tmp_path, monkeypatch, a__py=TEXT, b__py="b = 1\n")


def worktree(repo, name, *, start="HEAD", branch=None, folder=None):
    path = folder or repo.path.parent / name
    named = ["--detach"] if branch is False else ["-b", branch or name.replace(".", "-")]
    repo.git("worktree", "add", "--quiet", *named, path, start)
    return path


def edit(path, old=EDIT[0], new=EDIT[1], file="a.py"):
    text = (path / file).read_text()
    assert old in text
    (path / file).write_text(text.replace(old, new, 1))


def stacked(repo):
    """Return a worktree that was made on top of a feature branch."""
    repo.git("checkout", "--quiet", "-b", "feature")
    edit(repo.path, "x + 1", "x - 1")
    repo.commit("a feature")
    path = worktree(repo, "ada", start="feature")
    edit(path)
    repo.git("checkout", "--quiet", "main")
    return path


def committed(repo, path, message="the edit"):
    repo.git("add", "--all", cwd=path)
    repo.git("commit", "--quiet", "--message", message, cwd=path)


# --- the very candidates of the commands ---------------------------------------------------------


def test_the_remote_branches_that_agents_push_are_found_and_others_are_not(repo):
    for number, name in enumerate(("container-use/env", "origin/codex/fix", "origin/topic")):
        repo.git("checkout", "--quiet", "--detach", "main")
        edit(repo.path, f"x + {number}", f"{number} - x")
        repo.git("update-ref", f"refs/remotes/{name}", repo.commit(name))
    repo.git("checkout", "--quiet", "main")
    found = collect(repo.context())
    assert sorted(texts(found)) == ["remote:container-use/env", "remote:origin/codex/fix"]
    labels = {revision.label for revision in found.revisions}
    assert labels == {"container-env", "codex-fix"}


def test_a_pattern_that_is_none_is_refused_and_the_others_are_asked(repo):
    repo.git("update-ref", "refs/pull/12/head", "HEAD")
    found = collect(repo.context(git=("agent/*", "", "#12", "!3")))
    assert reasons(found) == {"git": "a pattern is empty or contains a NUL character"}
    assert found.unchanged == ("ref:pull/12",)


# --- conflicts -----------------------------------------------------------------------------------


def conflicted(repo):
    path = worktree(repo, "theirs")
    edit(path, "x + 3", "x * 3")
    committed(repo, path)
    edit(repo.path, "x + 3", "x / 3")
    repo.commit("ours")
    repo.git("merge", "theirs", check=False)
    return path


def test_the_incoming_worktree_of_a_conflict_counts_once(repo):
    conflicted(repo)
    found = collect(repo.context())
    assert [r.id for r in found.revisions] == ["branch:main", "worktree:theirs"]
    assert [r.label for r in found.revisions] == ["main@ours", "theirs@theirs"]
    names = ("worktree:theirs", "branch:theirs", "conflict:theirs")
    assert known(found)["worktree:theirs"].names == names
    assert found.origin.text == TEXT


def test_a_worktree_that_went_on_is_another_text_than_what_is_merged(repo):
    path = conflicted(repo)
    edit(path, "x + 5", "x * 5")
    found = collect(repo.context())
    ids = ["branch:main", "conflict:theirs", "worktree:theirs"]
    assert [r.id for r in found.revisions] == ids
    assert notes(found)["conflict:theirs"] == [
        "the branch has another text now: this is the one that is merged"
    ]


def test_the_sides_of_a_rebase_and_of_a_stash_are_called_as_people_call_them(repo):
    repo.git("checkout", "--quiet", "-b", "topic")
    edit(repo.path, "x + 3", "x * 3")
    repo.commit("first")
    edit(repo.path, "x + 7", "x * 7")
    repo.commit("second")
    repo.git("checkout", "--quiet", "main")
    edit(repo.path, "x + 3", "x / 3")
    repo.commit("ours")
    repo.git("rebase", "main", "topic", check=False)
    found = collect(repo.context(git=()))
    assert [r.label for r in found.revisions] == ["main@ours", "topic@theirs"]
    found = collect(repo.context())
    assert [r.id for r in found.revisions] == ["branch:main", "conflict:theirs", "branch:topic"]
    repo.git("rebase", "--abort")
    repo.git("checkout", "--quiet", "main")
    edit(repo.path, "x / 3", "x % 3")
    repo.git("stash")
    edit(repo.path, "x / 3", "x @ 3")
    repo.commit("more")
    repo.git("stash", "pop", check=False)
    labels = [r.label for r in collect(repo.context(git=())).revisions]
    assert labels == ["main@ours", "Stashed-changes@theirs"]


# --- files that come, go or move -----------------------------------------------------------------


def test_a_file_that_is_deleted(repo):
    repo.git("rm", "--quiet", "a.py", cwd=worktree(repo, "committed"))
    committed(repo, repo.path.parent / "committed")
    (worktree(repo, "uncommitted") / "a.py").unlink()
    edit(worktree(repo, "ada"))
    found = collect(repo.context())
    assert changes(found) == {
        "worktree:committed": "deleted",
        "worktree:uncommitted": "deleted",
        "worktree:ada": "edited",
    }
    assert texts(found)["worktree:uncommitted"] == ""
    assert notes(found)["worktree:committed"] == ["it deletes the file"]
    assert found.refused == ()
    repo.commit("main goes on", a__py=TEXT + "more = 1\n")
    changed = notes(collect(repo.context()))["worktree:committed"]
    assert changed[-1] == "the target changed this file, too"


def test_a_file_that_is_moved_with_edits(repo):
    path = worktree(repo, "ada")
    repo.git("mv", "a.py", "new.py", cwd=path)
    edit(path, file="new.py")
    other = worktree(repo, "bo")
    repo.git("mv", "a.py", "sub.py", cwd=other)
    edit(other, file="sub.py")
    committed(repo, other)
    repo.commit("main goes on", a__py="import os\n" + TEXT)
    found = collect(repo.context())
    text = "import os\n" + TEXT.replace(*EDIT)
    assert texts(found) == {"worktree:ada": text, "worktree:bo": text}
    assert notes(found) == {
        "worktree:ada": ["renamed to new.py"],
        "worktree:bo": ["renamed to sub.py"],
    }
    assert found.versions[0].file == str(path / "new.py")
    # The new place has no file in the target: what stands there is not lost either.
    opened = collect(replace(repo.context("new.py"), saved=""))
    assert texts(opened) == {"worktree:ada": text}
    assert changes(opened)["worktree:ada"] == "created"
    assert notes(opened)["worktree:ada"] == ["renamed from a.py"]
    assert (opened.target, opened.refused) == ("", ())


def test_a_file_that_is_created(repo):
    path = worktree(repo, "ada")
    (path / "new.py").write_text("new = 1\n")
    other = worktree(repo, "bo")
    (other / "new.py").write_text("new = 2\n")
    committed(repo, other)
    ignoring = worktree(repo, "chen")
    (ignoring / ".gitignore").write_text("new.py\n")
    (ignoring / "new.py").write_text("built = 1\n")
    found = collect(replace(repo.context("new.py"), saved=""))
    assert texts(found) == {"worktree:ada": "new = 1\n", "worktree:bo": "new = 2\n"}
    assert set(changes(found).values()) == {"created"}
    assert "worktree:chen" in found.unchanged
    repo.write("new.py", "mine = 1\n")
    also = collect(replace(repo.context("new.py"), saved="mine = 1\n"))
    assert notes(also)["worktree:bo"] == [
        "it creates the file",
        "the target created this file, too",
    ]
    repo.write("new.py", "new = 2\n")
    landed = collect(replace(repo.context("new.py"), saved="new = 2\n"))
    assert reasons(landed) == {"worktree:bo": "the origin has its edits already"}


def test_a_file_that_the_target_moved_since_is_followed(repo):
    edit(worktree(repo, "ada"))
    repo.git("mv", "a.py", "moved.py")
    repo.commit("moved")
    found = collect(repo.context("moved.py"))
    assert texts(found) == {"worktree:ada": TEXT.replace(*EDIT)}
    assert notes(found) == {}
    (repo.path.parent / "ada" / "a.py").unlink()
    assert changes(collect(repo.context("moved.py")))["worktree:ada"] == "deleted"


def test_a_file_that_the_target_deleted_since(repo):
    edit(worktree(repo, "ada"))
    (worktree(repo, "bo") / "a.py").unlink()
    repo.git("rm", "--quiet", "a.py")
    repo.commit("gone")
    found = collect(replace(repo.context(), saved=""))
    assert texts(found) == {"worktree:ada": TEXT.replace(*EDIT)}
    assert notes(found)["worktree:ada"] == ["the target deleted this file"]
    assert reasons(found) == {"worktree:bo": "the origin has its edits already"}


# --- while a review goes on ----------------------------------------------------------------------


def test_a_candidate_that_the_target_merges_stays_in_the_review(repo):
    path = worktree(repo, "ada")
    edit(path)
    committed(repo, path)
    context = replace(repo.context(), pinned=TEXT)
    before = collect(context)
    repo.git("merge", "--quiet", "ada")
    assert collect(context).revisions == ()  # who asks anew finds nothing left to say
    after = collect(replace(context, begun=tuple(known(before).values())))
    assert after.revisions == before.revisions
    assert "branch:main" in after.unchanged
    edit(path, "x + 5", "x * 5")
    committed(repo, path, "it goes on")
    moved = collect(replace(context, begun=tuple(known(before).values())))
    assert texts(moved) == {"worktree:ada": TEXT.replace("x + 5", "x * 5")}


def test_a_pair_has_the_number_that_the_commands_give_also_of_a_deletion(repo):
    edit(worktree(repo, "ada"))
    edit(worktree(repo, "bo"), "x + 5", "x * 5")
    (worktree(repo, "gone") / "a.py").unlink()
    moved = worktree(repo, "moved")
    repo.git("mv", "a.py", "new.py", cwd=moved)
    edit(moved, file="new.py")
    found = collect(repo.context(git=()))
    commands = compare_candidates(
        "", find_candidates(open_folder(str(repo.path), [str(repo.path)]), Selection())
    )
    ids = [candidate.id for candidate in commands.candidates.found]
    by_id = texts(found)
    matrix = ScoreMatrix.from_texts(found.target, [by_id[i] for i in ids], ids=ids, path="a.py")
    assert matrix.values.tolist() == commands.matrix.values.tolist()
    assert len(ids) == 4


# --- bad input: each gets a reason or a note, and nothing is lost ---------------------------------


def test_a_reflog_that_expired_leaves_the_merge_base(repo):
    path = stacked(repo)
    repo.git("reflog", "expire", "--expire=now", "--all")
    found = collect(repo.context(git=()))
    assert known(found)["worktree:ada"].base == repo.head("main")
    assert texts(found) == {"worktree:ada": EDITED.replace("x + 1", "x - 1")}
    (repo.path / ".git" / "worktrees" / "ada" / "logs" / "HEAD").write_bytes(b"\0\xff\n")
    assert texts(collect(repo.context(git=()))) == texts(found)
    assert path.exists()


def test_a_base_that_was_set_and_is_gone_is_noted(repo):
    edit(worktree(repo, "ada"))
    gone = "1234567890" * 4
    context = replace(repo.context(), bases=(("worktree:ada", gone),))
    found = collect(context)
    assert texts(found) == {"worktree:ada": EDITED}
    note = "the base that was set, 1234567890, is gone: git's answer is used"
    assert notes(found) == {"worktree:ada": [note]}
    first = repo.head()
    repo.commit(a__py="import os\n" + TEXT)
    found = collect(replace(context, bases=(("worktree:ada", first),)))
    assert texts(found) == {"worktree:ada": "import os\n" + EDITED}


def test_the_origin_of_a_review_outlives_its_commit(repo):
    """The pin is a text: the commit that held it may be rewritten and collected."""
    pinned = TEXT + "pinned = 1\n"
    repo.commit(a__py=pinned)
    path = worktree(repo, "ada")
    edit(path)
    repo.git("checkout", "--quiet", "--detach", "main~1")
    repo.git("branch", "--force", "main", "main~1")
    repo.git("checkout", "--quiet", "main")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "--prune=now", "--quiet")
    found = collect(replace(repo.context(), pinned=pinned))
    assert texts(found) == {"worktree:ada": EDITED + "pinned = 1\n"}
    assert found.target == pinned


def test_a_base_whose_object_is_missing_is_a_reason(repo):
    edit(worktree(repo, "ada"))
    blob = repo.head("HEAD:a.py")
    repo.commit(a__py=TEXT + "more = 1\n")
    (repo.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    found = collect(repo.context(git=()))
    assert found.revisions == ()
    assert reasons(found) == {"worktree:ada": "its content is not in this clone"}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such file names")
def test_a_name_that_is_not_utf8_moves_and_goes(repo):
    name = os.fsdecode(b"caf\xe9.py")
    try:
        repo.write(name, TEXT)
    except OSError:
        pytest.skip("this file system wants UTF-8 names")
    repo.commit("latin")
    path = worktree(repo, "ada")
    other = os.fsdecode(b"th\xe9.py")
    os.rename(path / name, path / other)
    (worktree(repo, "bo") / name).unlink()
    found = collect(repo.context(name))
    assert texts(found) == {"worktree:ada": TEXT, "worktree:bo": ""}
    assert notes(found)["worktree:ada"] == ["renamed to th\\xe9.py"]
    assert found.versions[0].path == "th\\xe9.py"


# --- five more -----------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_a_file_that_became_a_folder_a_link_or_a_pipe(repo):
    for name, make_it in (
        ("folder", lambda path: path.mkdir()),
        ("link", lambda path: path.symlink_to("b.py")),
        ("pipe", os.mkfifo),
    ):
        path = worktree(repo, name) / "a.py"
        path.unlink()
        make_it(path)
    found = collect(repo.context(git=()))
    assert changes(found) == {"worktree:folder": "deleted"}
    assert reasons(found) == {
        "worktree:link": "a link or a submodule, not a text file",
        "worktree:pipe": "it is a named pipe",
    }


def test_texts_that_are_no_text(repo):
    for name, data in (("binary", b"a\0b"), ("latin", b"caf\xe9\n"), ("empty", b"")):
        (worktree(repo, name) / "a.py").write_bytes(data)
    found = collect(repo.context(git=()))
    assert texts(found) == {"worktree:empty": "", "worktree:latin": "café\n"}  # as in the commands
    assert changes(found)["worktree:empty"] == "edited"
    assert set(reasons(found)) == {"worktree:binary"}
