"""Bad input for the document in candidates: each gets a reason or a note, and nothing is lost."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace

import pytest
from tests.server.git_repository import Repo, changes, known, make, needs_git, notes, reasons, texts
from tests.server.test_sources_versions import (
    EDIT,
    TEXT,
    committed,
    edit,
    stacked,
    worktree,
)

from excise_server.git import checkouts, command
from excise_server.sources import registry
from excise_server.sources.collect import collect

pytestmark = [pytest.mark.slow, needs_git]

EDITED = TEXT.replace(*EDIT)


@pytest.fixture
def repo(tmp_path, monkeypatch):
    made = make(tmp_path, monkeypatch)
    made.commit(a__py=TEXT, b__py="b = 1\n")
    return made


def test_a_reflog_that_expired_leaves_the_merge_base(repo):
    path = stacked(repo)
    repo.git("reflog", "expire", "--expire=now", "--all")
    found = collect(repo.context(branches=()))
    assert known(found)["worktree:ada"].base == repo.head("main")
    assert texts(found) == {"worktree:ada": EDITED.replace("x + 1", "x - 1")}
    (repo.path / ".git" / "worktrees" / "ada" / "logs" / "HEAD").write_bytes(b"\0\xff\n")
    assert texts(collect(repo.context(branches=()))) == texts(found)
    assert path.exists()


def test_a_base_that_was_set_and_is_gone_is_noted(repo):
    edit(worktree(repo, "ada"))
    gone = "1234567890" * 4
    context = replace(repo.context(), bases=(("worktree:ada", gone),))
    found = collect(context)
    assert texts(found) == {"worktree:ada": EDITED}
    note = "the base that was set, 1234567890, is gone: its own base is taken"
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
    found = collect(repo.context(branches=()))
    assert found.revisions == ()
    assert reasons(found) == {"worktree:ada": "its content is not in this clone"}


def test_more_candidates_than_were_ever_looked_at(repo, monkeypatch):
    trees = [worktree(repo, f"w{number:03}") for number in range(70)]
    for number, tree in enumerate(trees):
        (tree / "a.py").write_text(TEXT.replace("x + 3", f"x + {number + 30}"))
    assert len(collect(repo.context()).revisions) == 70
    monkeypatch.setattr(checkouts, "MAX_WORKTREES", 68)
    found = collect(repo.context(branches=()))
    reason = "only the 68 of 70 made last are compared, without worktree:w001, worktree:w000"
    assert reasons(found) == {"worktrees": reason}
    assert len(found.revisions) == 68


def test_a_worktree_that_is_removed_while_it_is_shown(repo, monkeypatch):
    path = worktree(repo, "ada")
    edit(path)
    assert list(texts(collect(repo.context()))) == ["worktree:ada"]
    real = checkouts.find_checkouts

    def removed(*arguments):
        found = real(*arguments)
        shutil.rmtree(path)
        return found

    monkeypatch.setattr(registry, "find_checkouts", removed)
    found = collect(repo.context(branches=()))
    assert reasons(found) == {"worktree:ada": "it was removed while it was read"}
    monkeypatch.setattr(registry, "find_checkouts", real)
    assert "prunable" in next(iter(reasons(collect(repo.context(branches=()))).values()))


def test_a_detached_head(repo):
    edit(worktree(repo, "ada"))
    repo.git("checkout", "--quiet", "--detach")
    assert texts(collect(repo.context())) == {"worktree:ada": EDITED}
    assert "branch:main" in collect(repo.context()).unchanged


def test_a_bare_repository_with_worktrees(tmp_path, monkeypatch, repo):
    bare = tmp_path / "project" / ".bare"
    repo.git("clone", "--quiet", "--bare", repo.path, bare)
    (bare.parent / ".git").write_text("gitdir: ./.bare\n")
    for name in ("main", "ada"):
        options = ["main"] if name == "main" else ["-b", name]
        repo.git("worktree", "add", "--quiet", bare.parent / name, *options, cwd=bare.parent)
    edit(bare.parent / "ada")
    inside = Repo(bare.parent / "main", tmp_path / "home")
    found = collect(inside.context())
    assert texts(found) == {"worktree:ada": EDITED}
    assert found.revisions[0].label == "ada"


def test_a_document_in_a_submodule_has_the_candidates_of_the_submodule(repo, tmp_path, monkeypatch):
    inner = make(tmp_path, monkeypatch, "inner")
    inner.commit(s__py="sub\n")
    repo.git("submodule", "--quiet", "add", inner.path, "lib")
    repo.commit("with a submodule")
    repo.git("checkout", "--quiet", "-b", "agent", cwd=repo.path / "lib")
    (repo.path / "lib" / "s.py").write_text("changed\n")
    repo.git("commit", "--quiet", "-am", "edit", cwd=repo.path / "lib")
    repo.git("checkout", "--quiet", "main", cwd=repo.path / "lib")
    assert texts(collect(repo.context("lib/s.py"))) == {"branch:agent": "changed\n"}


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


def test_markers_typed_by_hand_are_no_merge(repo):
    edit(worktree(repo, "topic"))
    marked = "<<<<<<< HEAD\nmine\n||||||| base\nold\n=======\nyours\n>>>>>>> topic\n"
    repo.write("a.py", marked)
    found = collect(repo.context())
    ids = [r.id for r in found.revisions]
    assert ids == ["conflict:ours", "conflict:theirs", "worktree:topic"]
    assert notes(found)["conflict:theirs"][0].startswith("from conflict markers")
    repo.write("a.py", marked.replace("||||||| base\nold\n", ""))
    found = collect(repo.context())
    assert [r.id for r in found.revisions] == ["worktree:topic"]
    assert "hold no origin" in reasons(found)["conflict"]


# --- five more -----------------------------------------------------------------------------------


def test_a_worktree_in_the_middle_of_a_merge_with_conflicts(repo):
    path = worktree(repo, "ada")
    edit(path, "x + 3", "x * 3")
    committed(repo, path)
    edit(repo.path, "x + 3", "x / 3")
    repo.commit("main goes on")
    repo.git("merge", "main", check=False, cwd=path)
    found = collect(repo.context(branches=()))
    assert found.revisions == ()
    assert reasons(found)["worktree:ada"].startswith("an unfinished merge: conflicts in a.py")
    repo.git("checkout", "--ours", "a.py", cwd=path)
    repo.git("add", "a.py", cwd=path)
    found = collect(repo.context(branches=()))
    assert notes(found)["worktree:ada"][0].startswith("a merge is not finished")


def test_a_sparse_checkout_deletes_nothing(repo):
    path = worktree(repo, "ada")
    (path / "b.py").write_text("b = 2\n")
    repo.git("update-index", "--skip-worktree", "a.py", cwd=path)
    (path / "a.py").unlink()
    found = collect(repo.context(branches=()))
    assert (found.revisions, found.unchanged) == ((), ("worktree:ada",))


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
    found = collect(repo.context(branches=()))
    assert changes(found) == {"worktree:folder": "deleted"}
    assert reasons(found) == {
        "worktree:link": "a link or a submodule, not a text file",
        "worktree:pipe": "it is a named pipe",
    }


def test_texts_that_are_no_text(repo):
    for name, data in (("binary", b"a\0b"), ("latin", b"caf\xe9\n"), ("empty", b"")):
        (worktree(repo, name) / "a.py").write_bytes(data)
    found = collect(repo.context(branches=()))
    assert texts(found) == {"worktree:empty": "", "worktree:latin": "café\n"}  # as in the commands
    assert changes(found)["worktree:empty"] == "edited"
    assert set(reasons(found)) == {"worktree:binary"}


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_git_that_hangs_is_a_reason_and_files_beside_are_found(repo, tmp_path, monkeypatch):
    edit(worktree(repo, "ada"))
    repo.write("a.py.suggestion-x", EDITED)
    real, folder = shutil.which("git"), tmp_path / "bin"
    folder.mkdir()
    script = (
        f'#!/bin/sh\ncase " $* " in *" for-each-ref "*) exec sleep 60;; esac\nexec {real} "$@"\n'
    )
    (folder / "git").write_text(script)
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(command, "SECONDS", 0.5)
    found = collect(repo.context())
    assert texts(found) == {"file:a.py.suggestion-x": EDITED}
    assert "took over" in reasons(found)["git"]
    assert found.origin is not None
