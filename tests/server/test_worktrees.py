"""Whole worktrees and branches, from real repositories: good ones, odd ones and hostile ones."""

import hashlib
import os
import shutil
import sys

import msgspec
import pytest
from tests.server.command import excise, ids_of, one_line
from tests.server.git_repository import make, needs_git

from excise_server.candidates.worktrees import compare_candidates
from excise_server.git.checkouts import Selection
from excise_server.git.repository import open_folder
from excise_server.report.review import review_document
from excise_server.sources.candidates import find_candidates
from excise_server.wire.documents import ReviewDocument, plain

pytestmark = [pytest.mark.slow, needs_git]

BASE = "def f(a):\n    return g(a)\n\n\ndef g(a):\n    return a\n"
GUARD = BASE.replace("    return a\n", "    if a is None:\n        return 0\n    return a\n")
OTHER = BASE.replace("g(a)\n\n", "h(a, 1, 2)\n\n")


@pytest.fixture
def repo(tmp_path, monkeypatch):
    return make(tmp_path, monkeypatch, a__py=BASE, b__txt="one\n")


def worktree(repo, name, **files):
    path = repo.path.parent / name
    repo.git("worktree", "add", "--quiet", "-b", name, path)
    for file, text in files.items():
        write(path, file.replace("__", "."), text)
    return path


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    # Long ago, so that no report says that it is still being written.
    os.utime(path, (1_600_000_000, 1_600_000_000))


def report(repo, *arguments, code=0, folder=None):
    ran = excise("review", "--repo", str(folder or repo.path), "--format", "json", *arguments)
    assert ran.code == code, ran.err
    return ran.json


def seen(repo, folder=None, **chosen):
    """What the library sees of a selection that no command has an option for."""
    top = str(folder or repo.path)
    found = find_candidates(open_folder(top, [top]), Selection(**chosen))
    return plain(review_document(compare_candidates(top, found)))


def by_id(found):
    return {entry["id"].partition(":")[2]: entry for entry in found["candidates"]}


def test_the_report(repo):
    ada = worktree(repo, "ada", a__py=GUARD)
    repo.git("commit", "--quiet", "-am", "ada", cwd=ada)
    write(ada, "test_a.py", "assert f(None) == 0\n")
    worktree(repo, "bo", a__py=GUARD.replace("return 0", "return None"))
    worktree(repo, "chen", a__py=OTHER, b__txt="two\n")
    worktree(repo, "dana")
    found = report(repo, "--issue", "7")
    assert found["origin"] == repo.head()
    assert found["unchanged"] == ["worktree:dana"]
    assert found["basis"] == "origin"
    assert "basis:origin" in found["signature"]
    entries = by_id(found)
    assert [entry["rank"] for entry in found["candidates"]] == [1, 1, 3]  # tests make nobody large
    assert entries["ada"]["group"] == entries["bo"]["group"] != entries["chen"]["group"]
    assert [file["path"] for file in entries["ada"]["files"]] == ["a.py", "test_a.py"]
    assert entries["ada"]["files"][1]["status"] == "created"
    assert entries["ada"]["uncommitted"] == 1
    assert entries["ada"]["branch"] == "ada"
    assert [file["path"] for file in entries["chen"]["files"]] == ["a.py", "b.txt"]
    ids, values = ids_of(found), found["similarity"]
    at = {name: ids.index(f"worktree:{name}") for name in entries}
    assert 0.3 < values[at["ada"]][at["bo"]] == values[at["bo"]][at["ada"]] < 1
    assert values[at["ada"]][at["chen"]] == 0
    table = excise("review", "--repo", str(repo.path))
    assert "ada (tests)" in table.out
    assert "dana (unchanged)" in table.out


def test_what_is_printed_has_its_shape_exactly(repo):
    worktree(repo, "ada", a__py=GUARD)
    printed = report(repo)
    assert msgspec.to_builtins(msgspec.convert(printed, ReviewDocument)) == printed


def test_equal_worktrees_score_one_however_they_got_there(repo):
    ada = worktree(repo, "ada", a__py=GUARD, c__txt="new\n")
    repo.git("add", ".", cwd=ada)
    repo.git("commit", "--quiet", "-m", "all", cwd=ada)
    bo = worktree(repo, "bo", a__py=GUARD, c__txt="new\n")
    repo.git("add", "a.py", cwd=bo)
    chen = worktree(repo, "chen", a__py=GUARD.replace("\n", "\r\n"), c__txt="new\n")
    found = seen(repo, chen, target=True)
    assert found["similarity"] == [[1.0] * 3] * 3
    assert [entry["rank"] for entry in found["candidates"]] == [1, 1, 1]
    assert by_id(found)["bo"]["uncommitted"] == 2


def test_renames_modes_links_and_deletions(repo):
    ada = worktree(repo, "ada")
    repo.git("mv", "a.py", "c.py", cwd=ada)
    write(ada, "c.py", GUARD)
    bo = worktree(repo, "bo")
    (bo / "b.txt").unlink()
    (bo / "a.py").chmod(0o755)
    (bo / "to").symlink_to("/etc/passwd")
    chen = worktree(repo, "chen")
    (chen / "a.py").unlink()
    (chen / "a.py").symlink_to("b.txt")
    entries = by_id(report(repo))
    assert entries["ada"]["files"] == [
        {"path": "c.py", "kind": "code", "status": "renamed", "added": 2, "deleted": 0,
         "facts": ["rename from a.py"], "old_path": "a.py"}
    ]  # fmt: skip
    facts = {file["path"]: file["facts"] for file in entries["bo"]["files"]}
    assert facts == {
        "a.py": ["mode 100644 to 100755"],
        "b.txt": ["deleted"],
        "to": ["created", "mode 120000"],
    }
    assert entries["bo"]["files"][2]["added"] == 1
    assert entries["chen"]["files"][0]["facts"] == ["mode 100644 to 120000"]


def test_binary_and_large_files(repo):
    repo.commit(x__bin=b"a\0b")
    worktree(repo, "ada", x__bin=b"a\0c", a__py=OTHER)
    worktree(repo, "bo", x__bin=b"a\0d")
    worktree(repo, "chen", big__txt=b"x\n" * 5_000_001, a__py=OTHER)
    found = report(repo)
    entries = by_id(found)
    assert entries["ada"]["files"][1]["facts"] == ["binary"]
    assert entries["chen"]["notes"] == ["big.txt: 10.000002 MB, limit 10 MB, not compared"]
    assert [file["path"] for file in entries["chen"]["files"]] == ["a.py"]
    at = {name.partition(":")[2]: place for place, name in enumerate(ids_of(found))}
    assert found["similarity"][at["ada"]][at["chen"]] == 1.0
    assert found["similarity"][at["ada"]][at["bo"]] < 1.0


def test_texts_of_ten_megabytes_that_differ_in_one_byte(repo):
    """Each is read and compared whole: no digest, sample or limit calls them the same."""
    lines = [f"v{number:07} = {number:08}" for number in range(476_000)]
    text = "\n".join(lines) + "\n"
    assert 9_000_000 < len(text) < 10_000_000
    at = text.index("v0300000")
    edits = {"ada": "w", "bo": "w", "chen": "x"}
    repo.commit(a__py=text)
    for name, byte in edits.items():
        worktree(repo, name, a__py=f"{text[:at]}{byte}{text[at + 1 :]}")
    found = report(repo)
    place = {name.partition(":")[2]: number for number, name in enumerate(ids_of(found))}
    assert found["similarity"][place["ada"]][place["bo"]] == 1.0
    assert found["similarity"][place["ada"]][place["chen"]] < 1.0
    [file] = by_id(found)["ada"]["files"]
    assert (file["added"], file["deleted"]) == (1, 1)


def test_submodules_count_by_their_commit(repo, tmp_path, monkeypatch):
    inner = make(tmp_path, monkeypatch, "inner")
    inner.commit(x="1\n")
    repo.git("submodule", "add", "--quiet", inner.path, "sub")
    repo.commit("with a submodule")
    ada = worktree(repo, "ada")
    commit = "1" * 40
    repo.git("update-index", "--cacheinfo", f"160000,{commit},sub", cwd=ada)
    worktree(repo, "bo", a__py=OTHER)
    found = report(repo)
    files = by_id(found)["ada"]["files"]
    assert [(file["path"], file["added"], file["deleted"]) for file in files] == [("sub", 1, 1)]
    assert "only its commit counts, not its files" in by_id(found)["ada"]["notes"][0]


def test_a_repository_inside_is_not_entered(repo, tmp_path):
    ada = worktree(repo, "ada", a__py=OTHER)
    shutil.copytree(repo.path, ada / "inner")
    assert by_id(report(repo))["ada"]["notes"] == ["inner/: a repository of its own, not compared"]


def test_worktrees_inside_the_main_one_are_no_part_of_it(repo):
    """Where many tools put them."""
    for name in ("ada", "bo"):
        path = repo.path / ".worktrees" / name
        repo.git("worktree", "add", "--quiet", "-b", name, path)
        write(path, "a.py", GUARD if name == "ada" else OTHER)
    found = report(repo)
    assert ids_of(found) == ["worktree:ada", "worktree:bo"]
    assert seen(repo, target=True)["unchanged"] == ["worktree:work"]
    shutil.copytree(repo.path / ".git", repo.path / "copy" / ".git")
    assert seen(repo, target=True)["unchanged"] == ["worktree:work"]


def test_no_repository_bare_unborn_and_no_folder(repo, tmp_path, monkeypatch):
    empty = tmp_path / "empty"
    empty.mkdir()
    one_line(excise("review", "--repo", str(empty)), "not in a git repository")
    one_line(excise("review", "--repo", str(tmp_path / "none")), "no such folder")
    one_line(excise("review", "--repo", str(repo.path / "a.py")), "it is not a folder")
    bare = tmp_path / "bare.git"
    repo.git("clone", "--quiet", "--bare", repo.path, bare)
    one_line(excise("review", "--repo", str(bare)), "bare repository")
    one_line(excise("review", "--repo", str(repo.path / ".git")), "bare repository")
    unborn = make(tmp_path, monkeypatch, "unborn")
    one_line(excise("review", "--repo", str(unborn.path)), "no commits yet")


def test_worktrees_of_a_bare_repository(repo, tmp_path):
    bare = tmp_path / "bare.git"
    repo.git("clone", "--quiet", "--bare", repo.path, bare)
    for name in ("ada", "bo"):
        repo.git("worktree", "add", "--quiet", "-b", name, tmp_path / name, cwd=bare)
        write(tmp_path / name, "a.py", GUARD)
    assert ids_of(report(repo, folder=tmp_path / "ada")) == ["worktree:bo"]
    found = seen(repo, tmp_path / "ada", target=True)
    assert ids_of(found) == ["worktree:ada", "worktree:bo"]
    assert found["similarity"][0][1] == 1.0


def test_one_worktree(repo):
    assert report(repo)["candidates"] == []
    ran = excise("review", "--repo", str(repo.path))
    assert ran.code == 0
    assert ran.out.startswith("No candidate changes anything.\nLooked for other worktrees of ")
    repo.write("a.py", GUARD)
    [entry] = seen(repo, target=True)["candidates"]
    assert (entry["rank"], entry["mean_similarity"], entry["representative"]) == (None, None, True)


def test_detached_and_missing_worktrees(repo):
    ada = worktree(repo, "ada", a__py=GUARD)
    repo.git("checkout", "--quiet", "--detach", cwd=ada)
    shutil.rmtree(worktree(repo, "bo"))
    found = report(repo, code=1)
    assert by_id(found)["ada"]["branch"] is None
    [rejected] = found["rejected"]
    assert rejected["id"].endswith("bo")
    assert "prunable" in rejected["reason"]


def test_an_unfinished_merge(repo):
    ada = worktree(repo, "ada", a__py=OTHER)
    repo.git("commit", "--quiet", "-am", "one", cwd=ada)
    bo = worktree(repo, "bo", a__py=OTHER.replace("h(", "k("))
    repo.git("commit", "--quiet", "-am", "two", cwd=bo)
    repo.git("merge", "ada", cwd=bo, check=False)
    found = report(repo, code=1)
    assert ids_of(found) == ["worktree:ada"]
    [rejected] = found["rejected"]
    assert rejected == {
        "id": "worktree:bo", "reason": "an unfinished merge: conflicts in a.py"
    }  # fmt: skip


def test_links_are_not_followed_out_of_a_worktree(repo, tmp_path):
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "in.txt").write_text("s3cret\n")
    repo.write("d/in.txt", "one\n")
    repo.commit("a folder")
    ada = worktree(repo, "ada")
    shutil.rmtree(ada / "d")
    (ada / "d").symlink_to(tmp_path / "secret")
    os.mkfifo(ada / "pipe")
    found = report(repo)
    files = {file["path"]: file for file in by_id(found)["ada"]["files"]}
    assert files["d/in.txt"]["status"] == "deleted"
    assert files["d"]["facts"] == ["created", "mode 120000"]
    assert "pipe" not in files


def test_paths_with_controls_are_shown_escaped(repo):
    ada = worktree(repo, "ada")
    (ada / "a\n\x1b[31mb.py").write_text("x\n")
    os.rename(ada / "b.txt", os.fsencode(ada) + b"/\xff.txt")
    ran = excise("review", "--repo", str(repo.path))
    assert ran.code == 0, ran.err
    assert "\x1b" not in ran.out
    paths = [file["path"] for file in by_id(report(repo))["ada"]["files"]]
    assert paths == ["a\n\x1b[31mb.py", "\\xff.txt"]


def test_branches(repo):
    for name, text in (("agent/one", GUARD), ("agent/two", OTHER), ("docs", BASE)):
        repo.git("checkout", "--quiet", "-b", name, "main")
        repo.write("a.py", text)
        repo.commit(name)
    repo.git("checkout", "--quiet", "main")
    found = report(repo, "--git", "agent/*")
    assert sorted(ids_of(found)) == ["branch:agent/one", "branch:agent/two"]
    assert by_id(found)["agent/one"]["kind"] == "branch"
    ran = excise("cluster", "--git", "agent/*", "--repo", str(repo.path), "--format", "json")
    assert sorted(f"branch:{entry['id']}" for entry in ran.json["patches"]) == sorted(ids_of(found))
    assert "x/*: no ref matches" in excise("cluster", "--git", "x/*", "--repo", str(repo.path)).err


def test_ignored_files_are_noted_and_not_compared(repo):
    worktree(repo, "ada", a__py=GUARD, new__lock="1\n")
    worktree(repo, "bo", a__py=GUARD)
    assert report(repo)["similarity"][0][1] == 1.0
    assert by_id(report(repo))["ada"]["notes"] == ["ignored: new.lock"]


def test_the_index_is_trusted_only_where_it_can_be(repo):
    """Same size, same time: an edit in the tick in which the index was written is still seen."""
    ada = worktree(repo, "ada")
    index = repo.path / ".git" / "worktrees" / "ada" / "index"
    before = (ada / "b.txt").stat()
    write(ada, "b.txt", "two\n")
    os.utime(ada / "b.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
    os.utime(index, ns=(before.st_mtime_ns, before.st_mtime_ns))
    assert [file["path"] for file in by_id(report(repo))["ada"]["files"]] == ["b.txt"]


def test_too_much_is_refused_with_the_way_out(repo, monkeypatch):
    monkeypatch.setattr("excise_server.git.trees.MAX_FILES", 5)
    monkeypatch.setattr("excise_server.git.worktree.MAX_UNTRACKED", 3)
    ada = worktree(repo, "ada", a__py=GUARD)
    for at in range(4):
        write(ada, f"new{at}", "x\n")
    [note] = by_id(report(repo))["ada"]["notes"]
    assert note == "4 untracked files, limit 3: none is compared; add or ignore them"
    for at in range(4, 8):
        write(ada, f"new{at}", "x\n")
    repo.git("add", ".", cwd=ada)
    ran = excise("review", "--repo", str(repo.path))
    assert ran.code == 1
    assert "over 5 files differ" in ran.err


def test_a_candidate_of_too_much_text_is_refused_alone(repo, monkeypatch):
    monkeypatch.setattr("excise_server.git.trees.MAX_BYTES", 3_000)
    repo.commit("large", large__txt="".join(f"{n}\n" for n in range(2_000)))
    worktree(repo, "ada", a__py=GUARD)
    worktree(repo, "bo", a__py=GUARD.replace("0", "1"), large__txt="1\n2\n")
    longer = "".join(f"{n}\n" for n in range(2_001))
    worktree(repo, "chen", a__py=OTHER, large__txt=longer)
    worktree(repo, "dee", c__txt="x\n" * 1_501, d__bin=b"\0" * 9_000)
    found = report(repo, code=1)
    assert set(by_id(found)) == {"ada", "chen"}
    refused = {entry["id"]: entry["reason"] for entry in found["rejected"]}
    assert set(refused) == {"worktree:bo", "worktree:dee"}
    assert "MB of lines differ from its base, limit" in refused["worktree:bo"]


def test_the_commits_of_a_range_are_scored_as_their_mails(repo):
    for at in range(3):
        repo.commit(f"change {at}", a__py=BASE + "\n\nx = h(1, 2)\n" * (at + 1), b__txt=f"{at}\n")
    repo.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    repo.commit("aside", c__txt="c\n")
    repo.git("merge", "--quiet", "--no-edit", "main")
    repo.commit("empty")
    ran = excise(
        "cluster",
        "--git",
        f"{repo.head('main~3')}..side",
        "--repo",
        str(repo.path),
        "--format",
        "json",
        "-v",
    )
    assert ran.code == 0, ran.err
    assert ran.json["basis"] == "edits"
    subjects = {entry["id"]: entry["subject"] for entry in ran.json["patches"]}
    assert sorted(subjects.values()) == ["aside", "change 0", "change 1", "change 2"]
    assert [entry["subject"] for entry in ran.json["covers"]] == [
        "Merge branch 'main' into side",
        "empty",
    ]
    scores = {
        frozenset(subjects[name] for name in pair): value for *pair, value in ran.json["scores"]
    }
    mails = repo.git("format-patch", "--stdout", "main~3..main")
    ran = excise("cluster", "-", "--format", "json", "-v", stdin=mails)
    subjects = {entry["id"]: entry["subject"].partition("] ")[2] for entry in ran.json["patches"]}
    sent = {
        frozenset(subjects[name] for name in pair): value for *pair, value in ran.json["scores"]
    }
    assert sent
    assert {pair: value for pair, value in scores.items() if "aside" not in pair} == sent


def test_ranges_that_are_none(repo):
    one_line(
        excise("cluster", "--git", "no..where", "--repo", str(repo.path)),
        "'no..where' is not a range of commits",
    )
    one_line(
        excise("cluster", "--git", "--output=x..y", "--repo", str(repo.path)),
        "not a range of commits",
    )
    one_line(
        excise("cluster", "--git", "HEAD..HEAD", "--repo", str(repo.path)),
        "it contains no commits",
        "OLD..NEW",
    )
    assert not (repo.path / "x..y").exists()
    assert "--git takes no patches" in excise("cluster", "--git", "a..b", "x", "y").err


def test_a_commit_in_two_ranges_is_read_once(repo):
    for number in range(3):
        repo.commit(f"change {number}", a__py=BASE + f"\n\nx = h(1, {number})\n")
    ranges = ("--git", "HEAD~2..HEAD", "--git", "HEAD~3..HEAD~1", "--git", "HEAD~2..HEAD")
    ran = excise("cluster", *ranges, "--repo", str(repo.path), "--format", "json")
    assert ran.code == 0, ran.err
    subjects = sorted(entry["subject"] for entry in ran.json["patches"])
    assert subjects == ["change 0", "change 1", "change 2"]


def test_an_intended_addition_is_a_created_file(repo):
    ada = worktree(repo, "ada", new__py="x = 1\n", empty__py="")
    repo.git("add", "--intent-to-add", "new.py", "empty.py", cwd=ada)
    files = by_id(report(repo))["ada"]["files"]
    assert [(file["path"], file["status"], file["added"]) for file in files] == [
        ("empty.py", "created", 0),
        ("new.py", "created", 1),
    ]


def test_a_working_tree_that_a_config_places_elsewhere(repo, tmp_path):
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "s3cret.txt").write_text("s3cret\n")
    ada = worktree(repo, "ada", a__py=GUARD)
    worktree(repo, "bo", a__py=GUARD)
    repo.git("config", "extensions.worktreeConfig", "true")
    repo.git("config", "--worktree", "core.worktree", tmp_path / "secret", cwd=ada)
    ran = excise("review", "--repo", str(repo.path), "--format", "json")
    assert "s3cret" not in ran.out
    assert "worktree:bo" in ids_of(ran.json)


@pytest.mark.parametrize("key", ["extensions.worktreeConfig", "EXTENSIONS.WORKTREECONFIG"])
def test_a_config_of_all_that_places_every_working_tree_elsewhere(repo, tmp_path, key):
    """Git heeds ``core.worktree`` in a linked worktree only with that extension; so do we ask."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "s3cret.txt").write_text("s3cret\n")
    worktree(repo, "ada", a__py=GUARD)
    viewer = tmp_path / "viewer"
    repo.git("worktree", "add", "--quiet", viewer)
    repo.git("config", "core.worktree", tmp_path / "secret")
    assert ids_of(report(repo, folder=viewer, code=1)) == ["worktree:ada"]
    repo.git("config", key, "true")
    ran = excise("review", "--repo", str(repo.path.parent / "viewer"), "--format", "json")
    assert ran.code
    assert "s3cret" not in ran.out + ran.err


LONG = "".join(f"def f{n}(a):\n    return a + {n}\n\n\n" for n in range(150))
C = "/* one */\nint f(int a) {\n    return a;\n}\n"
CANDIDATES = {
    "comment": {"long__py": f"# why\n{LONG}", "c__c": C.replace("one", "two")},
    "edit": {"long__py": LONG.replace("a + 7\n", "a - 7\n"), "c__c": C.replace("a;", "-a;")},
    "again": {
        "long__py": LONG.replace("a + 7\n", "a - 7\n"),
        "other__c": C,
        "first__js": "let x\n",
    },
    "created": {"c__c": C.replace("a;", "+a;"), "second__js": "let x\n", "b__txt": "two\n"},
    "hazard": {"d__md": "1\U00100000\n", "c__c": C.replace("a;", "-a;"), "same__c": C},
    "rest": {"d__md": "two\n", "long__py": LONG.replace("a + 9\n", "a - 9\n")},
    # Two add at one place, and create what the other one creates elsewhere.
    "adds": {"long__py": f"{LONG}def g(a): ...\n", "one__py": "import os\n"},
    "more": {"long__py": f"{LONG}def h(a): ...\n", "two__py": "import os\n"},
}


def test_a_run_parses_each_distinct_text_once(repo, monkeypatch, tmp_path):
    """By its grammar, and Python once more by its own parser: matrix, facts, hunks and all."""
    repo.commit(long__py=LONG, c__c=C, d__md="one\n")
    for name, files in CANDIDATES.items():
        worktree(repo, name, **files)
    parsed, audit = tmp_path / "parsed", sys.audit

    def heard(event, *arguments):
        if event == "excise.parse":
            with parsed.open("a") as lines:  # whichever process it is
                lines.write(f"{arguments[0]} {hashlib.sha256(arguments[1]).hexdigest()}\n")
        audit(event, *arguments)

    monkeypatch.setattr(sys, "audit", heard)
    ran = excise("review", "--repo", str(repo.path))
    assert ran.code == 0, ran.err
    texts = parsed.read_text().split("\n")[:-1]
    assert len(texts) == len(set(texts)) > 10
    assert {text.partition(" ")[0] for text in texts} >= {"c", "javascript", "python", "python_ast"}
