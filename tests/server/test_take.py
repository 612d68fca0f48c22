"""`excise take` over real worktrees at different bases: patches for git, --write and its undo."""

import json
import os
import re
import shlex
import signal
import subprocess
import tempfile

import msgspec
import pytest
from tests.server.command import command_line, excise, one_line, spawn
from tests.server.git_repository import make, needs_git
from tests.server.process_tree import wait_until
from tests.server.tree import snapshot

from excise_server.candidates.scratch import scratch_copy
from excise_server.git.repository import open_folder
from excise_server.wire.documents import TakeDocument, UndoneDocument

pytestmark = [pytest.mark.slow, needs_git]

BASE = "".join(f"def f{i}(a):\n    return a + {i}\n\n\n" for i in range(6))
DOS = b"one\r\ntwo\r\nthree\r\nfour\r\nfive\r\nsix\r\nseven\r\neight\r\n"
OPEN = "alpha\nbeta\ngamma\ndelta\nepsilon\nzeta\neta\ntheta"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Six worktrees at three bases, and a target that went on."""
    with pytest.MonkeyPatch.context() as patch:
        yield build(make(tmp_path_factory.mktemp("take"), patch))


@pytest.fixture
def repo(built, monkeypatch, tmp_path):
    """The same for every test, which may change what it likes but for the six."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    head = built.head()
    yield built
    top = built.path.parent
    built.path.chmod(0o755)
    for path in [*top.iterdir()]:
        if path.name not in (*EVERYONE, "work", "home"):
            built.git("worktree", "remove", "--force", path)
            built.git("branch", "-D", path.name)
    for path in [*built.path.iterdir()]:
        if path.is_fifo():  # git knows of none
            path.unlink()
    built.git("config", "--unset", "core.autocrlf", check=False)
    built.git("reset", "--quiet", "--hard", head)
    built.git("clean", "-fdq")


def build(repo):
    repo.commit(
        a__py=BASE,
        dos__txt=DOS,
        open__txt=OPEN,
        bin__dat=b"\0\1\2",
        gone__txt="old\n",
        run__sh="x\n",
    )
    worktree(repo, "ada", a__py=BASE.replace("a + 0", "a - 0").replace("a + 5", "a - 5"))
    worktree(repo, "bo", a__py=BASE.replace("a + 0", "a * 0"), new__txt="made by bo\n")
    repo.commit(a__py=f"import os\n\n{BASE}", other__txt="1\n")
    chen = worktree(repo, "chen", dos__txt=DOS.replace(b"two", b"TWO"), bin__dat=b"\0\3")
    (chen / "gone.txt").unlink()
    (chen / "run.sh").chmod(0o755)
    worktree(repo, "dana", open__txt=OPEN.replace("beta", "BETA") + "\niota")
    repo.git("mv", "dos.txt", "moved.txt", cwd=repo.path.parent / "dana")
    repo.commit(a__py=f"import os\nimport sys\n\n{BASE}".replace("a + 3", "a + 33"))
    worktree(repo, "eli", a__py=f"import os\nimport sys\n\n{BASE}".replace("a + 4", "a + (4"))
    fay = worktree(repo, "fay", open__txt=OPEN.replace("eta\ntheta", "ETA\ntheta"))
    (fay / "link").symlink_to("a.py")
    settle(repo)
    return repo


def worktree(repo, name, **files):
    path = repo.path.parent / name
    repo.git("worktree", "add", "--quiet", "-b", name, path)
    for file, text in files.items():
        (path / file.replace("__", ".")).write_bytes(
            text.encode() if isinstance(text, str) else text
        )
    return path


def settle(repo):
    for path in repo.path.parent.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            os.utime(path, (1_600_000_000, 1_600_000_000), follow_symlinks=False)


def take(repo, *arguments, code=0, stdin=b""):
    ran = excise("take", "--repo", str(repo.path), *arguments, stdin=stdin)
    assert ran.code == code, ran.err
    return ran


EVERYONE = ("ada", "bo", "chen", "dana", "eli", "fay")


def test_a_mix_applies_and_round_trips(repo):
    before = snapshot(repo.path)
    patch = take(repo, "ada", "a.py#25", "bo", "a.py#5", "chen", "dana", "fay", "link").out.encode()
    repo.git("apply", "--check", "--whitespace=nowarn", stdin=patch)
    repo.git("apply", "--whitespace=nowarn", stdin=patch)
    text = (repo.path / "a.py").read_text()
    assert "a - 5" in text
    assert "a * 0" in text
    assert "a - 0" not in text
    assert "a + 33" in text
    assert (repo.path / "moved.txt").read_bytes() == DOS.replace(b"two", b"TWO")
    assert (repo.path / "open.txt").read_text().endswith("theta\niota")
    assert not (repo.path / "gone.txt").exists()
    assert (repo.path / "link").is_symlink()
    repo.git("apply", "-R", "--whitespace=nowarn", stdin=patch)
    assert snapshot(repo.path) == before


@pytest.mark.parametrize(
    ("choices", "parts"),
    [
        (["ada", "bo"], ["a.py#5 of ada", "a.py#5 of bo"]),
        (["ada", "a.py#5", "bo", "a.py"], ["conflict", "of ada", "of bo"]),
        (["bo", "ada", "nothing.py"], ["nothing.py", "ada changes a.py"]),
        (["ada", "a.py#4"], ["no hunk a.py#4", "#5, #25"]),
        (["chen", "bin.dat#1"], ["no hunks", "whole file"]),
        (["zoe"], ["no candidate is called zoe", "ada"]),
        (["ada", "--digest", "0" * 64], ["the review has changed"]),
        (["ada", "--only", "zoe"], ["--only zoe"]),
    ],
)
def test_what_cannot_be_taken_is_refused_by_name(repo, choices, parts):
    before = snapshot(repo.path)
    one_line(excise("take", "--repo", str(repo.path), "--write", *choices), *parts)
    assert snapshot(repo.path) == before
    assert excise("take", "--repo", str(repo.path), "--undo").code == 2


def test_what_touches_is_two_texts_of_one_hunk_unless_each_is_named(repo):
    both = "open.txt#7 of fay", "open.txt#8 of dana"
    one_line(excise("take", "--repo", str(repo.path), "fay", "dana"), *both)
    named = take(repo, "fay", "open.txt#7", "dana", "open.txt#8").out
    assert "+ETA\n" in named
    assert "+iota\n" in named


def test_what_a_whole_candidate_breaks_is_said_and_taken(repo):
    ran = excise("take", "--repo", str(repo.path), "eli", "--format", "json")
    assert ran.code == 0
    (note,) = ran.json["notes"]
    assert note.startswith("a.py:21: is not Python ")
    assert note in ran.err
    assert excise("take", "--repo", str(repo.path), "ada", "--format", "json").json["notes"] == []


def test_a_mix_that_lacks_a_name_is_refused(repo, tmp_path):
    head = f"import os\nimport sys\n\n{BASE}".replace("a + 3", "a + 33")
    used = head.replace("import sys\n", "import sys\nimport zlib\n").replace(
        "a + 2", "zlib.crc32(a)"
    )
    worktree(repo, "hal", a__py=used)
    settle(repo)
    before = snapshot(repo.path)
    chosen = ["ada", "a.py#25", "hal", "a.py#13"]
    for more in ([], ["--write"], ["--format", "json"], ["--format", "json", "--write"]):
        ran = excise("take", "--repo", str(repo.path), "--split", *chosen, *more)
        assert (ran.code, ran.out) == (1, "")
        one_line(ran, "a.py:13: uses zlib", "take a candidate whole", "--anyway", code=1)
    assert snapshot(repo.path) == before
    assert not list((tmp_path / "cache").rglob("*.patch"))
    whole = take(repo, *chosen)
    assert "a.py#13 of hal is taken with #2+" in whole.err
    [unit] = take(repo, *chosen, "--format", "json").json["units"]
    assert unit == {
        "candidate": "worktree:hal", "path": "a.py", "hunks": ["2+", "13"], "chosen": ["13"],
        "names": ["zlib"], "whole": True,
    }  # fmt: skip
    assert "+import zlib" in whole.out
    assert "a.py: parses, and no name is missing" in whole.err
    anyway = take(repo, *chosen, "--split", "--anyway")
    assert "without #2+, with which it shares zlib" in anyway.err
    assert "zlib.crc32" in anyway.out
    assert "a.py:13: uses zlib, which nothing defines" in anyway.err
    digest = take(repo, *chosen, "--format", "json").json["digest"]
    choices = [
        {"candidate": "worktree:ada", "path": "a.py", "hunk": "25"},
        {"candidate": "worktree:hal", "path": "a.py", "hunk": "13"},
    ]
    plan = {"digest": digest, "choices": choices}
    assert take(repo, "--plan", "-", stdin=json.dumps(plan).encode()).out == whole.out
    split = json.dumps(plan | {"split": True})
    refused = excise("take", "--repo", str(repo.path), "--plan", "-", stdin=split)
    assert (refused.code, refused.out) == (1, "")
    planned = json.dumps(plan | {"split": True, "anyway": True}).encode()
    assert take(repo, "--plan", "-", stdin=planned).out == anyway.out
    # what the user typed into the file is not what the mix breaks, and stays
    (repo.path / "a.py").write_text((repo.path / "a.py").read_text() + "\nunknown\n")
    take(repo, *chosen, "--write")
    assert (repo.path / "a.py").read_text().endswith("\nunknown\n")


def as_git_merges(repo, name, tmp_path):
    """Check that a candidate is taken with markers as `git merge` leaves the file, labels aside."""
    take(repo, name, "--conflicts", "--write")
    taken = (repo.path / "a.py").read_bytes()
    take(repo, "--undo")
    folder = repo.path.parent / name
    repo.git("commit", "--quiet", "--all", "--message", "own", cwd=folder)
    clone = tmp_path / "clone"
    repo.git("clone", "--quiet", repo.path, clone)
    repo.git("fetch", "--quiet", repo.path, name, cwd=clone)
    merge = ["git", "-c", "user.name=A", "-c", "user.email=a@b", "merge", "--no-edit", "FETCH_HEAD"]
    assert subprocess.run(merge, cwd=clone, capture_output=True, check=False).returncode == 1
    merged = (clone / "a.py").read_bytes().replace(b"<<<<<<< HEAD", b"<<<<<<< the target")
    assert taken == re.sub(rb">>>>>>> [0-9a-f]+", f">>>>>>> {name}".encode(), merged)


def test_the_markers_of_a_file_with_crlf_are_named(repo, tmp_path):
    crlf = (repo.path / "a.py").read_text().replace("\n", "\r\n")
    repo.commit(a__py=crlf)
    worktree(repo, "gil")
    repo.commit(a__py=crlf.replace("a + 1\r", "a + 11\r"))
    (repo.path.parent / "gil" / "a.py").write_bytes(crlf.replace("a + 1\r", "a + 111\r").encode())
    settle(repo)
    as_git_merges(repo, "gil", tmp_path)


def test_a_hunk_in_conflict_is_refused_with_both_texts_unless_it_is_wanted(repo, tmp_path):
    worktree(repo, "gil")
    repo.commit(a__py=(repo.path / "a.py").read_text().replace("a + 1", "a + 11"))
    gil = repo.path.parent / "gil" / "a.py"
    gil.write_text(gil.read_text().replace("a + 1", "a + 111").replace("a + 4", "a + 44"))
    settle(repo)
    refused = excise("take", "--repo", str(repo.path), "gil")
    one_line(refused, "a.py#9 of gil", "return a + 11'", "return a + 111'", "--conflicts")
    one_line(excise("take", "--repo", str(repo.path), "gil", "a.py#9"), "--conflicts")
    assert b"a + 44" in take(repo, "gil", "a.py#21").out.encode()
    ran = take(repo, "gil", "--conflicts")
    repo.git("apply", "--check", stdin=ran.out.encode())
    added = [line[1:] for line in ran.out.split("\n") if line[:1] == "+"]
    assert added[1:] == [
        "<<<<<<< the target", "=======", "    return a + 111", ">>>>>>> gil", "    return a + 44"
    ]  # fmt: skip
    assert "note: a.py: in conflict: resolve it between the markers" in ran.err
    as_git_merges(repo, "gil", tmp_path)
    refused = excise("take", "--repo", str(repo.path), "gil", "--conflicts", "--run", "true")
    one_line(refused, "nothing is run: a.py is in conflict", code=1)
    one_line(excise("take", "--repo", str(repo.path), "gil", "a.py#9", "--conflicts"), "a.py#9")


def test_a_file_that_the_target_deleted_is_left_out_of_what_is_taken_with_markers(repo):
    worktree(repo, "gil", b__txt="two\n")
    edit = repo.path.parent / "gil" / "a.py"
    edit.write_text(edit.read_text().replace("a + 4", "a + 44"))
    repo.git("rm", "--quiet", "a.py")
    repo.git("commit", "--quiet", "--message", "less")
    settle(repo)
    ran = take(repo, "gil", "--conflicts", "--format", "json")
    assert {part["path"] for part in ran.json["parts"]} == {"b.txt"}
    assert "a.py: not taken: the target deleted" in " ".join(ran.json["notes"])
    one_line(excise("take", "--repo", str(repo.path), "gil", "a.py", "--conflicts"), "deleted")


def test_a_file_that_is_called_like_a_candidate(repo):
    worktree(repo, "a.py", b__txt="b\n")
    (repo.path.parent / "a.py").mkdir(exist_ok=True)
    settle(repo)
    run = ("take", "--repo", str(repo.path), "bo")
    one_line(excise(*run, "a.py"), "./a.py", "worktree:a.py")
    parts = excise(*run, "./a.py", "worktree:a.py", "b.txt", "--format", "json").json["parts"]
    assert [(part["candidate"], part["path"]) for part in parts] == [
        ("worktree:bo", "a.py"), ("worktree:a.py", "b.txt"),
    ]  # fmt: skip


# --- --write, and back ---


def undo(ran):
    """Run the command that was printed."""
    command = shlex.split(ran.out)
    assert command[:3] == ["excise", "take", "--undo"]
    undone = excise(*command[1:])
    assert undone.code == 0, undone.err
    return undone


@pytest.mark.parametrize("name", EVERYONE)
def test_write_does_what_the_patch_does_and_its_undo_restores_every_byte(repo, name):
    before = snapshot(repo.path)
    head, status = repo.head(), repo.git("status", "--porcelain")
    repo.git("apply", "--whitespace=nowarn", stdin=take(repo, name).out.encode())
    expected = snapshot(repo.path)
    repo.git("checkout", "--quiet", ".")
    repo.git("clean", "-fdq")
    assert snapshot(repo.path) == before
    ran = take(repo, name, "--write")
    assert snapshot(repo.path) == expected
    assert repo.head() == head
    assert repo.git("diff", "--cached") == b""
    undo(ran)
    assert snapshot(repo.path) == before
    assert repo.git("status", "--porcelain") == status


def test_a_dirty_file_keeps_its_other_lines_and_comes_back_to_the_byte(repo):
    dirty = (repo.path / "a.py").read_text().replace("a + 2", "mine").replace("\n", "\r\n")
    (repo.path / "a.py").write_bytes(dirty.encode() + b"# no end")
    before = snapshot(repo.path)
    ran = take(repo, "ada", "--write")
    assert (repo.path / "a.py").read_bytes() == (
        dirty.replace("a + 0", "a - 0").replace("a + 5", "a - 5").encode() + b"# no end"
    )
    again = take(repo, "ada", "--write")
    assert again.out == ""
    assert "already have this content" in again.err
    assert (ran.err, undo(ran).err) == ("excise: modified: a.py\n", "excise: restored: a.py\n")
    assert snapshot(repo.path) == before
    one_line(excise("take", "--undo", "--repo", str(repo.path)), "was undone at")


def test_a_dirty_file_is_refused_where_the_hunk_is_and_nothing_is_written(repo):
    mine = (repo.path / "a.py").read_text().replace("a + 5", "mine + 5")
    (repo.path / "a.py").write_text(mine)
    before = snapshot(repo.path)
    one_line(
        excise("take", "--repo", str(repo.path), "--write", "chen", "dana", "ada"),
        "a.py", "line 25", "mine + 5",
    )  # fmt: skip
    assert snapshot(repo.path) == before
    assert take(repo, "ada", "a.py#5", "--write").out


@pytest.mark.parametrize(
    ("spoil", "name", "part"),
    [
        (lambda top: (top / "new.txt").write_text("mine"), "bo", "of this name"),
        (lambda top: (top / "gone.txt").write_text("mine"), "chen", "would be lost"),
        (lambda top: (top / "bin.dat").write_bytes(b"\0mine"), "chen", "differs from the target"),
        (lambda top: (top / "a.py").unlink(), "ada", "no longer exists"),
        (lambda top: (top / "moved.txt").write_text("mine"), "dana", "of this name"),
        (lambda top: os.mkfifo(top / "new.txt"), "bo", "other than a"),
        (lambda top: ((top / "a.py").unlink(), os.mkfifo(top / "a.py")), "ada", "other than a"),
        (lambda top: ((top / "a.py").unlink(), (top / "a.py").mkdir()), "ada", "other than a"),
    ],
)  # fmt: skip
def test_what_is_in_the_way_stays_and_so_does_all_else(repo, spoil, name, part):
    spoil(repo.path)
    names = [entry for entry in repo.path.iterdir() if entry.is_file()]
    before = {path.name: path.read_bytes() for path in names}
    others = [other for other in ("eli", "chen") if other != name]
    one_line(excise("take", "--repo", str(repo.path), "--write", *others, name), part)
    assert {path.name: path.read_bytes() for path in names} == before


def test_no_link_leads_out_of_the_tree(repo, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file.txt").write_text("one\n")
    repo.commit(**{"in/file__txt": "one\n"})
    worktree(repo, "gil", **{"in/file__txt": "two\n", "in/more__txt": "x\n"})
    settle(repo)
    (repo.path / "in" / "file.txt").unlink()
    (repo.path / "in").rmdir()
    (repo.path / "in").symlink_to(outside)
    one_line(excise("take", "--repo", str(repo.path), "--write", "gil"), "in/", "link")
    assert sorted(p.name for p in outside.iterdir()) == ["file.txt"]
    assert (outside / "file.txt").read_text() == "one\n"
    (repo.path / "a.py").unlink()
    (repo.path / "a.py").symlink_to(outside / "file.txt")
    one_line(excise("take", "--repo", str(repo.path), "--write", "ada"), "differs from the target")
    assert (outside / "file.txt").read_text() == "one\n"


def test_undo_for_programs_and_where_the_command_runs(repo, monkeypatch):
    monkeypatch.chdir(repo.path)
    assert excise("take", "bo", "--write").out == "excise take --undo\n"
    assert (repo.path / ".git" / "excise").stat().st_mode & 0o077 == 0
    printed = excise("take", "--undo", "--format", "json").json
    assert msgspec.to_builtins(msgspec.convert(printed, UndoneDocument)) == printed
    assert [(file["path"], file["status"]) for file in printed["files"]] == [
        ("a.py", "modified"), ("new.txt", "deleted"),
    ]  # fmt: skip
    assert excise("take", "--undo", "bo").code == 2


def test_a_linked_worktree_has_a_journal_of_its_own(repo):
    there, elsewhere = (repo.path.parent / name for name in ("there", "elsewhere"))
    worktree(repo, "there")
    worktree(repo, "elsewhere")
    settle(repo)
    ran = excise("take", "--repo", str(there), "bo", "--write")
    assert ran.code == 0, ran.err
    assert (repo.path / ".git" / "worktrees" / "there" / "excise" / "1" / "done").exists()
    one_line(excise("take", "--undo", "--repo", str(elsewhere)), "nothing to undo")
    undo(ran)
    assert repo.git("status", "--porcelain", cwd=there) == b""


def test_line_ends_that_git_converts_come_back_too(repo):
    repo.git("config", "core.autocrlf", "true")
    (repo.path / "open.txt").write_bytes(OPEN.replace("\n", "\r\n").encode())
    before = snapshot(repo.path)
    ran = take(repo, "fay", "open.txt", "--write")
    assert (repo.path / "open.txt").read_bytes() == (
        OPEN.replace("eta\ntheta", "ETA\ntheta").replace("\n", "\r\n").encode()
    )
    undo(ran)
    assert snapshot(repo.path) == before


# --- without git ---


@pytest.fixture
def plain(tmp_path, monkeypatch):
    """Three folders of one origin, in a folder of somebody else's repository."""
    outer = make(tmp_path, monkeypatch, "outer")
    texts_of = {
        "base": {"a.py": BASE, "data.bin": b"\0\1"},
        "ada": {"a.py": BASE.replace("a + 3", "a * 3"), "data.bin": b"\0\2"},
        "bo": {"a.py": BASE.replace("a + 3", "a - 3"), "new.txt": "new\n"},
    }
    for folder, files in texts_of.items():
        (outer.path / folder).mkdir()
        for name, text in files.items():
            data = text.encode() if isinstance(text, str) else text
            (outer.path / folder / name).write_bytes(data)
    return outer.path


def take_plain(plain, *arguments):
    among = [option for name in ("ada", "bo") for option in ("--only", str(plain / name))]
    ran = excise("take", "--origin", str(plain / "base"), *among, *arguments)
    assert ran.code == 0, ran.err
    return ran


def test_plain_folders_are_taken_and_come_back(plain):
    before = snapshot(plain / "base")
    ran = take_plain(plain, "ada", "bo", "new.txt", "--write")
    assert snapshot(plain / "base") == snapshot(plain / "ada") | {
        "new.txt": snapshot(plain / "bo")["new.txt"]
    }
    undo(ran)
    assert snapshot(plain / "base") == before


def test_the_patch_of_plain_folders_applies(plain):
    patch = take_plain(plain, "ada").out.encode()
    ceiling = {"GIT_CEILING_DIRECTORIES": str(plain)}
    subprocess.run(
        ["git", "apply"], input=patch, cwd=plain / "base", check=True, env=os.environ | ceiling
    )
    assert snapshot(plain / "base") == snapshot(plain / "ada")


def test_an_origin_without_folders_or_with_options_about_git_is_wrong_usage(plain):
    alone = excise("take", "--origin", str(plain / "base"), "ada")
    assert alone.code == 2
    assert "--only FOLDER" in alone.err
    mixed = excise(
        "take", "--origin", str(plain / "base"), "--only", str(plain / "ada"), "--onto", "x", "ada"
    )
    assert mixed.code == 2
    assert "options about git" in mixed.err


# --- for programs ---


def test_a_plan_of_a_review_is_taken_and_one_of_another_state_is_not(repo):
    review = excise("review", "--repo", str(repo.path), "--format", "json").json
    (hunk,) = [
        (file["path"], known["name"])
        for task in review["tasks"]
        for file in task["files"]
        for known in file["hunks"]
        if any("a * 0" in variant["text"] for variant in known["variants"])
    ]
    choices = [
        {"candidate": "worktree:bo", "path": hunk[0], "hunk": hunk[1]},
        {"candidate": "worktree:chen", "path": "gone.txt"},
    ]
    plan = json.dumps({"digest": review["digest"], "choices": choices})
    patch = take(repo, "--plan", "-", stdin=plan.encode()).out.encode()
    assert b"a * 0" in patch
    assert b"deleted file" in patch
    (repo.path / "a.py").write_text("whatever lies there")
    assert take(repo, "--plan", "-", stdin=plan.encode()).out.encode() == patch
    (repo.path.parent / "fay" / "open.txt").write_text("another state\n")
    one_line(
        excise("take", "--repo", str(repo.path), "--plan", "-", stdin=plan),
        "the review has changed",
    )
    repo.git("checkout", "--quiet", ".", cwd=repo.path.parent / "fay")


@pytest.mark.parametrize(
    "plan",
    [
        "", "[]", "{", '{"digest": "x"}', '{"digest": "x", "choices": [{"candidate": 1}]}',
        '{"digest": "x", "choices": [], "more": 1}', b"\xff", "[" * 100_000,
    ],
)  # fmt: skip
def test_what_is_no_plan(repo, plan):
    one_line(excise("take", "--repo", str(repo.path), "--plan", "-", stdin=plan), "not a plan")


def test_a_plan_that_names_nothing(repo):
    digest = excise("review", "--repo", str(repo.path), "--format", "json").json["digest"]

    def planned(**choice):
        plan = {"digest": digest, "choices": [{"candidate": "worktree:bo"} | choice]}
        return excise("take", "--repo", str(repo.path), "--plan", "-", stdin=plan)

    one_line(planned(hunk="3"), "hunk")
    one_line(planned(path="a.py", hunk="x"), "hunk")
    one_line(planned(path="../a.py"), "does not change")
    one_line(planned(candidate="zoe"), "zoe")


def test_the_document(repo):
    ran = excise("take", "--repo", str(repo.path), "chen", "ada", "a.py#25", "--format", "json")
    printed = ran.json
    assert msgspec.to_builtins(msgspec.convert(printed, TakeDocument)) == printed
    assert [(file["path"], file["status"]) for file in printed["files"]] == [
        ("a.py", "modified"), ("bin.dat", "modified"), ("dos.txt", "modified"),
        ("gone.txt", "deleted"), ("run.sh", "modified"),
    ]  # fmt: skip
    assert {"candidate": "worktree:ada", "path": "a.py", "hunk": "25"} in printed["parts"]
    assert printed["patch"] == take(repo, "chen", "ada", "a.py#25").out
    assert (printed["written"], printed["undo"], printed["base64"]) == (False, None, False)
    assert printed["digest"] == excise(
        "review", "--repo", str(repo.path), "--format", "json"
    ).json["digest"]  # fmt: skip
    written = excise("take", "--repo", str(repo.path), "bo", "--write", "--format", "json").json
    assert written["written"]
    assert excise(*shlex.split(written["undo"])[1:]).code == 0
    assert repo.git("status", "--porcelain") == b""


def test_usage(repo):
    for arguments in ([], ["ada", "--plan", "x"], ["--plan", "x", "--conflicts"]):
        ran = excise("take", "--repo", str(repo.path), *arguments)
        assert ran.code == 2
        assert "Usage" in ran.err


def test_it_pipes_into_git_apply_byte_by_byte(repo):
    """The real command, of which the fork that parses prints; nothing of it is text on the way."""
    ran = spawn("take", "--repo", str(repo.path), "chen", env=repo.env)
    assert ran.returncode == 0, ran.stderr
    assert b"-two\r\n+TWO\r\n" in ran.stdout
    assert b"GIT binary patch" in ran.stdout
    repo.git("apply", "--whitespace=nowarn", stdin=ran.stdout)
    assert (repo.path / "bin.dat").read_bytes() == b"\0\3"


# --- the user's command on the mix ----------------------------------------------------------------


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """The folder in which scratch copies are made; in the end there must be none."""
    (folder := tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    assert not [path for path in folder.iterdir() if path.name.startswith("excise-mix-")]


MIX = ("ada", "a.py#25", "bo", "chen", "fay")
AS_TAKEN = (
    "grep -q 'a - 5' a.py && grep -q 'a [*] 0' a.py && grep -q 'a + 33' a.py && test -L link"
    " && test -x run.sh && ! test -x new.txt && ! test -e gone.txt && ! test -e .git"
    " && ! test -e untracked.txt && test $EXCISE_CANDIDATE = mix"
)


def test_a_command_is_run_on_the_target_with_the_mix_first(repo, scratch):
    (repo.path / "untracked.txt").write_text("mine\n")
    ran = take(repo, *MIX, "--write", "--run", AS_TAKEN)
    assert "the mix passes grep -q" in ran.err
    assert "--verdicts" not in ran.err
    assert "a - 5" in (repo.path / "a.py").read_text()
    take(repo, "--undo")
    assert take(repo, *MIX, "--run", AS_TAKEN).out == take(repo, *MIX).out


@pytest.mark.parametrize(
    ("command", "why", "shown"),
    [
        (
            "echo first; echo '\033[31m2 failed'; exit 3",
            "exit status 3",
            "  first\n  \\x1b[31m2 fa",
        ),
        ("sleep 600", "timed out", ""),
        ("rm -rf *; chmod 0 .; false", "exit status 1", ""),
    ],
)
def test_a_mix_that_does_not_pass_is_not_taken_unless_it_is_wanted(
    repo, scratch, command, why, shown
):
    before = snapshot(repo.path)
    options = ["--timeout", "1"] if "sleep" in command else []
    ran = take(repo, *MIX, "--write", "--format", "json", "--run", command, *options, code=1)
    assert ran.out == ""
    assert why in ran.err
    assert shown in ran.err
    assert ran.err.count("\n") < 30
    assert ran.err.endswith("take it all the same with --anyway\n")
    assert snapshot(repo.path) == before
    ran = take(repo, *MIX, "--write", "--anyway", "--run", command, *options)
    assert why in ran.err
    assert "a - 5" in (repo.path / "a.py").read_text()


@pytest.mark.parametrize(
    "command",
    [
        "echo broken > a.py; echo more > other.txt; rm -rf bin.dat; mkdir -p d/e; touch d/e/f",
        "mkdir d && touch d/f && chmod 0 d && chmod 0 .",
    ],
)
def test_what_the_command_does_to_the_copy_is_not_taken(repo, scratch, command):
    patch = take(repo, *MIX).out
    assert take(repo, *MIX, "--run", command).out == patch
    take(repo, *MIX, "--write", "--run", command)
    assert "a - 5" in (repo.path / "a.py").read_text()
    assert not (repo.path / "d").exists()


def test_ctrl_c_during_the_command_takes_nothing(repo, scratch):
    before = snapshot(repo.path)
    arguments = ["take", "--repo", str(repo.path), *MIX, "--write", "--run", "touch on; sleep 600"]
    ran = subprocess.Popen(command_line(*arguments), stderr=subprocess.PIPE, start_new_session=True)
    wait_until(lambda: list(scratch.glob("excise-mix-*/on")))
    os.killpg(ran.pid, signal.SIGINT)
    _, said = ran.communicate(timeout=60)
    assert ran.returncode == 130
    assert b"interrupted" in said
    assert snapshot(repo.path) == before


def test_commands_that_cannot_be_run(repo, scratch):
    one_line(excise("take", "--repo", str(repo.path), "ada", "--run", " "), "--run needs a command")
    for wrong in (["ada", "--timeout", "3"], ["--undo", "--run", "x"]):
        assert excise("take", "--repo", str(repo.path), *wrong).code == 2
    assert excise("take", "--origin", ".", "--only", "x", "x", "--run", "y").code == 2
    taken = take(repo, "ada", "a.py#25", "--write", "--run", "true")
    assert "the mix passes true" in taken.err


def test_no_name_of_a_tree_leads_out_of_the_scratch_copy(repo, scratch):
    """Git itself would refuse these names; its object store does not."""
    blob = repo.git("hash-object", "-w", "--stdin", stdin=b"evil\n").strip()
    link = repo.git("hash-object", "-w", "--stdin", stdin=b"../..").strip()
    inner = b"100644 evil.txt\0" + bytes.fromhex(blob.decode())
    tree = repo.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=inner)
    entries = [
        (b"40000 ..", tree),
        (b"40000 .git", tree),
        (b"100644 a.py", blob),
        (b"120000 l", link),
    ]
    data = b"".join(name + b"\0" + bytes.fromhex(i.strip().decode()) for name, i in entries)
    top = repo.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=data)
    commit = repo.git("commit-tree", "-m", "evil", top.strip().decode()).strip().decode()
    repository = open_folder(str(repo.path), [str(repo.path)])
    with scratch_copy(repository, commit, ()) as (folder, left_out):
        assert sorted(os.listdir(folder)) == ["a.py", "l"]
        assert sorted(left_out) == ["../evil.txt", ".git/evil.txt"]
        assert os.readlink(f"{folder}/l") == "../.."
    assert not (scratch / "evil.txt").exists()
