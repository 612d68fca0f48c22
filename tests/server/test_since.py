"""`excise since`: what an author changed between two versions, on real repositories and mails."""

import json
import os
import shlex
import sqlite3
import stat
import subprocess
from pathlib import Path

import jsonschema
import msgspec
import pytest
from tests.server.command import command_line, excise
from tests.server.git_repository import make, needs_git

from excise_server.cli.review import opened
from excise_server.foundation.inputs import MAX_BYTES, SourceError
from excise_server.memory.reviewed import MAX_KEPT, note_reviewed, version_reviewed
from excise_server.memory.reviews import MAX_SEEN
from excise_server.review.candidate import Candidate
from excise_server.sources.since import CandidateVersion, version_named
from excise_server.wire.documents import SinceDocument

pytestmark = [pytest.mark.slow, needs_git]

SCHEMA = Path(__file__).parents[2] / "docs" / "schema" / "since.json"
LINES = [f"line {number}\n" for number in range(60)]


def text(**edits: str) -> str:
    """Return sixty lines, with another text in place of some: ``l7="seven\\n"``."""
    lines = list(LINES)
    for name, line in edits.items():
        lines[int(name[1:])] = line
    return "".join(lines)


@pytest.fixture
def repo(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    repo = make(tmp_path, monkeypatch)
    repo.commit("start", a__py=text(), b__py=text())
    repo.git("switch", "--quiet", "--create", "topic")
    repo.commit("one", a__py=text(l5="five\n"))
    repo.commit("two", a__py=text(l5="five\n", l30="thirty\n"))
    repo.git("tag", "v1")
    monkeypatch.chdir(repo.path)
    return repo


def drift(repo, **files):
    """Let the main branch change, and rebase the topic onto it."""
    repo.git("switch", "--quiet", "main")
    repo.commit("elsewhere", **files)
    repo.git("switch", "--quiet", "topic")


def since(*arguments):
    ran = excise("since", *arguments, "--format", "json")
    assert ran.code == 0, ran.err
    document = ran.json
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(document)
    assert msgspec.to_builtins(msgspec.convert(document, SinceDocument)) == document
    return document


def counted(document):
    return {state: count for state, count in document["hunks"].items() if count}


def test_a_rebase_is_no_change_by_the_author(repo):
    drift(repo, a__py=text(l15="main\n", l50=""))
    repo.git("rebase", "--quiet", "main")
    document = since("v1")
    assert document["summary"].startswith("rebased only")
    assert counted(document) == {"same": 2}
    assert document["files"] == []
    assert document["patches"] == {
        "unchanged": 2,
        "amended": 0,
        "dropped": 0,
        "new": 0,
        "reordered": 0,
        "split": 0,
        "squashed": 0,
    }
    assert document["old"]["base"] != document["new"]["base"] == document["onto"]
    printed = excise("since", "v1")
    assert printed.code == 0
    assert len(printed.out.splitlines()) <= 4


def test_what_main_has_and_nobody_has_pushed_is_no_change_by_the_author(repo):
    repo.git("update-ref", "refs/remotes/origin/main", "main")
    repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    drift(repo, a__py=text(l15="main\n"))
    repo.git("rebase", "--quiet", "main")
    assert since("v1")["summary"].startswith("rebased only")
    repo.commit("three", b__py=text(l9="nine\n"))
    document = since("v1")
    assert (counted(document), document["patches"]["new"]) == ({"same": 2, "new": 1}, 1)
    # Where main has the candidate, it is told from what is pushed.
    repo.git("branch", "--force", "main", "topic")
    assert counted(since("v1", "topic"))["new"] == 2  # "elsewhere" as well


def test_squashed_and_amended_after_a_rebase(repo):
    drift(repo, a__py=text(l15="main\n"))
    repo.git("switch", "--quiet", "--detach", "main")
    now = text(l5="five\n", l15="main\n", l30="THIRTY\n", l45="new\n")
    repo.commit("all of it", a__py=now)
    repo.git("branch", "--force", "topic")
    document = since("v1", "topic")
    assert counted(document) == {"same": 1, "changed": 1, "new": 1}
    (file,) = document["files"]
    changed, new = file["hunks"]
    assert (changed["old"], changed["new"]) == ("thirty\n", "THIRTY\n")
    assert (new["old"], new["new"]) == ("line 45\n", "new\n")
    assert now.splitlines(keepends=True)[changed["lo"] : changed["hi"]] == ["THIRTY\n"]
    assert changed["lines"][:3] == [" line 27", " line 28", " line 29"]
    # What range-diff cannot answer: two commits became one.
    assert document["patches"] | {"amended": 1, "squashed": 1} == document["patches"]
    page = excise("since", "v1", "topic").out.splitlines()
    assert page[0].startswith(document["summary"])
    assert len(page) <= 20, page  # two hunks of nine lines
    assert [line for line in page if line[:1] in "+-"] == [
        *("-thirty", "+THIRTY", "-line 45", "+new"),
    ]


def test_a_hunk_that_is_dropped(repo):
    repo.commit("three", a__py=text(l5="five\n"))
    document = since("v1")
    assert counted(document) == {"same": 1, "dropped": 1}
    assert document["summary"] == "0 of 2 hunks changed, 1 dropped"


def test_where_the_base_changed_the_same_lines_nobody_is_blamed(repo):
    drift(repo, a__py=text(l30="main thirty\n"))
    repo.git("switch", "--quiet", "--detach", "main")
    repo.commit("all", a__py=text(l5="five\n", l30="thirty of both\n"))
    document = since("v1", "HEAD")
    assert counted(document) == {"same": 1, "conflict": 1}
    (hunk,) = document["files"][0]["hunks"]
    assert (hunk["old"], hunk["new"]) == ("main thirty\n", "thirty of both\n")
    assert "no change by the author" in document["summary"]
    assert "the base changed these lines, too; NEW has" in excise("since", "v1", "HEAD").out


def test_files_that_come_go_move_and_are_binary(repo):
    repo.git("mv", "b.py", "c.py")
    (repo.path / "run.sh").write_text("echo\n")
    (repo.path / "data").write_bytes(b"\0one")
    repo.commit("more", d__py="new\nfile\n")
    repo.git("tag", "v2")
    repo.git("mv", "c.py", "e.py")
    (repo.path / "run.sh").chmod(0o755)
    (repo.path / "data").write_bytes(b"\0two")
    (repo.path / "d.py").unlink()
    (repo.path / "a.py").unlink()
    repo.commit("other")
    files = {file["path"]: file for file in since("v2")["files"]}
    facts = {p: [(f["status"], f["text"]) for f in file["facts"]] for p, file in files.items()}
    assert facts == {
        "a.py": [("changed", "deletes the file")],
        "d.py": [],
        "data": [("changed", "is binary")],
        "e.py": [("changed", "is renamed")],
        "run.sh": [("new", "mode 100755")],
    }
    assert files["e.py"]["base_path"] == "b.py"
    assert [hunk["status"] for hunk in files["d.py"]["hunks"]] == ["dropped"]
    assert counted(since("v2", "v2")) == {"same": 6}


def test_line_ends_and_the_end_of_a_file_are_said(repo):
    repo.commit("ends", a__py=text(l5="five\n", l30="thirty\n").replace("\n", "\r\n"))
    (file,) = since("v1")["files"]
    assert [fact["text"] for fact in file["facts"]] == ["converts line ends from LF to CRLF"]
    assert file["hunks"] == []
    repo.commit("open", a__py=text(l5="five\n", l30="thirty\n", l59="end"))
    (file,) = since("v1")["files"]
    assert file["hunks"][0]["lines"][-2:] == ["+end", "\\ No newline at end of file"]


def test_uncommitted_edits_of_a_worktree_count(repo):
    folder = repo.path.parent / "agent"
    repo.git("worktree", "add", "--quiet", "-b", "agent", str(folder), "v1")
    (folder / "a.py").write_text(text(l5="five\n", l30="thirty!\n"))
    for name in ("agent", str(folder)):
        assert counted(since("v1", name)) == {"same": 1, "changed": 1}
    assert counted(since("v1", "v1")) == {"same": 2}


def test_entries_of_reflogs_stand_for_their_branch(repo):
    repo.write("a.py", text(l5="5\n", l30="thirty\n"))
    repo.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    assert counted(since("@{1}")) == {"same": 1, "changed": 1}
    repo.git("switch", "--quiet", "main")
    document = since("topic@{1}")
    assert counted(document) == {"same": 1, "changed": 1}
    assert document["new"]["name"] == "topic"
    assert excise("since", "topic@{99}").code == 2


@pytest.mark.parametrize(
    ("ref", "name", "shown"),
    [
        ("refs/heads/topic", "branch:topic", "branch:topic"),
        ("refs/remotes/origin/x", "remote:origin/x", "remote:origin/x"),
        ("refs/pull/12/head", "#12", "ref:pull/12"),
        ("refs/pull/12/head", "ref:pull/12", "ref:pull/12"),
    ],
)
def test_a_candidate_is_named_by_its_id(repo, ref, name, shown):
    repo.git("update-ref", ref, "topic")
    repo.git("switch", "--quiet", "main")
    assert version_named(opened("."), name).candidate.id == shown
    document = since("v1~1", name)
    assert (document["new"]["name"], document["new"]["commit"]) == (name, repo.head("topic"))
    assert counted(document)["new"] == 1


def test_the_branch_that_everything_is_on_is_compared_with_its_own_past(repo):
    repo.git("switch", "--quiet", "main")
    old = repo.commit("x", a__py=text(l3="x\n"))
    repo.write("a.py", text(l3="y\n"))
    repo.git("commit", "--quiet", "--all", "--amend", "--message", "y")
    assert counted(since(old)) == {"changed": 1}
    repo.write("a.py", text(l3="y\n", l9="z\n"))  # not committed
    assert counted(since("HEAD")) == {"new": 1}


def test_what_has_landed_is_compared_with_nothing_left(repo):
    repo.git("switch", "--quiet", "main")
    repo.git("merge", "--quiet", "--ff-only", "topic")
    assert since("v1", "topic")["summary"] == "no change: OLD and NEW are one commit"
    repo.git("switch", "--quiet", "--create", "empty", "main")
    assert counted(since("v1", "empty")) == {}


def test_an_empty_new_drops_everything(repo):
    repo.git("branch", "empty", "main")
    assert counted(since("v1", "empty")) == {"dropped": 2}


@pytest.mark.parametrize(
    "name", ["0123abcdef", "nowhere", "topic:a.py", "", "--", "a\nb", "v1^{tree}"]
)
def test_an_old_version_that_nobody_knows_names_the_ways(repo, name):
    ran = excise("since", "--format", "json", "--", name)
    assert ran.code == 2
    assert ran.out == ""
    assert "--reviewed" in ran.err
    assert ran.err.count("\n") <= 4


def test_a_commit_that_no_branch_has_any_more(repo):
    old = repo.head()
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    repo.commit("other", a__py=text(l5="five\n", l30="other\n"))
    assert counted(since(old)) == {"same": 1, "changed": 1}
    repo.git("tag", "--delete", "v1")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "--quiet", "--prune=now")
    ran = excise("since", old)
    assert ran.code == 2
    assert f"git fetch origin {old}" in ran.err


def test_an_unrelated_history_and_a_shallow_clone(repo, tmp_path, monkeypatch):
    repo.git("switch", "--quiet", "--orphan", "alone")
    repo.commit("alone", z__py="z\n")
    repo.git("switch", "--quiet", "topic")
    ran = excise("since", "alone")
    assert ran.code == 2
    assert "nothing in common" in ran.err
    clone = tmp_path / "clone"
    url = f"file://{repo.path}"
    repo.git("clone", "--quiet", "--depth", "1", "--no-single-branch", url, str(clone))
    monkeypatch.chdir(clone)
    ran = excise("since", "origin/main", "origin/topic", "--onto", "origin/alone")
    assert ran.code == 2
    assert "git fetch --unshallow" in ran.err


def mails(repo, name, *arguments):
    path = repo.path.parent / name
    path.write_bytes(repo.git("format-patch", "--stdout", *arguments))
    return str(path)


@pytest.fixture
def versions(repo):
    """Two mails of one series: by another sender, in another order, under other subjects."""
    old = mails(repo, "v1.mbox", "--cover-letter", "main..topic")
    drift(repo, a__py=text(l15="main\n"))
    repo.git("switch", "--quiet", "--create", "again", "main")
    own = ("-c", "user.name=Bo", "-c", "user.email=bo@example.org")
    for subject, edits in (
        ("change line thirty", {"l30": "thirty\n"}),
        ("one", {"l30": "thirty\n", "l5": "FIVE\n"}),
        ("three", {"l30": "thirty\n", "l5": "FIVE\n", "l50": "fifty\n"}),
    ):
        repo.write("a.py", text(l15="main\n", **edits))
        repo.git(*own, "commit", "--quiet", "--all", "--message", subject)
    return old, mails(repo, "v2.mbox", "-v2", "--cover-letter", "main..again")


def test_versions_of_a_series_with_and_without_a_repository(repo, versions, tmp_path, monkeypatch):
    with_tree = since(*versions)
    assert with_tree["onto"]
    monkeypatch.chdir(tmp_path)
    without = since(*versions)
    assert without["onto"] is None
    for document in (with_tree, without):
        assert {word for word, n in document["patches"].items() if n} == {
            *("reordered", "amended", "new")
        }
        assert counted(document) == {"same": 1, "changed": 1, "new": 1}
        pairs = [(p["status"], p["old"], p["new"]) for p in document["series"]]
        assert pairs == [("reordered", 2, 1), ("amended", 1, 2), ("new", None, 3)]
        hunks = [h for file in document["files"] for h in file["hunks"]]
        assert {h["new"] for h in hunks} == {"FIVE\n", "fifty\n"}
    assert "was: two" in excise("since", *versions).out


def test_mails_against_commits_and_commits_against_mails(repo, versions):
    old, new = versions
    assert counted(since(old, "again")) == {"same": 1, "changed": 1, "new": 1}
    assert counted(since("v1", "--patches", new)) == {"same": 1, "changed": 1, "new": 1}
    assert counted(since(new, new)) == {"same": 3}
    assert excise("since", old, "again", "--patches", new).code == 2


def test_a_patch_that_is_missing_or_alone(repo, versions, tmp_path):
    old, new = versions
    parts = Path(new).read_bytes().split(b"\nFrom ")
    gap = tmp_path / "gap.mbox"
    gap.write_bytes(b"\nFrom ".join([*parts[:2], *parts[3:]]))
    document = since(old, str(gap))
    assert any("missing from its series: 2" in note for note in document["notes"])
    assert document["patches"]["dropped"] == 1
    cover = tmp_path / "cover.mbox"
    cover.write_bytes(parts[0] + b"\n")
    ran = excise("since", str(cover), new)
    assert ran.code == 2
    assert "cover letter" in ran.err
    empty = tmp_path / "empty.patch"
    empty.write_bytes(b"")
    assert excise("since", str(empty)).code == 2
    assert excise("since", new, str(tmp_path / "none.mbox")).code == 2


def test_a_folder_of_patches_is_a_series(repo, versions, tmp_path):
    repo.git("format-patch", "--quiet", "--output-directory", str(tmp_path / "v3"), "main..again")
    assert counted(since(versions[1], str(tmp_path / "v3"))) == {"same": 3}


def test_patches_that_do_not_apply_are_compared_by_what_they_show(repo, versions, tmp_path):
    other = make_other(repo, tmp_path)
    document = since(*versions, "--repo", str(other))
    assert document["onto"] is None
    assert any("do not apply" in note for note in document["notes"])
    assert (document["patches"]["reordered"], document["patches"]["new"]) == (1, 1)


def make_other(repo, tmp_path):
    other = tmp_path / "other"
    repo.git("init", "--quiet", str(other))
    (other / "a.py").write_text("something else\n")
    repo.git("add", "--all", cwd=other)
    repo.git("commit", "--quiet", "--message", "x", cwd=other)
    return other


# --- what somebody looked at ---


def test_marked_and_read_again_whatever_becomes_of_its_commits(repo, tmp_path):
    assert excise("since", "--reviewed").code == 2
    marked = excise("since", "--mark")
    assert marked.code == 0
    assert "topic" in marked.err
    (file,) = (tmp_path / "cache" / "excise" / "reviews").glob("*.sqlite3")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    drift(repo, a__py=text(l15="main\n"))
    repo.git("rebase", "--quiet", "main")
    repo.write("a.py", text(l5="five\n", l15="main\n", l30="THIRTY\n"))
    repo.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    repo.git("tag", "--delete", "v1")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "--quiet", "--prune=now")
    for _ in range(2):  # to ask marks nothing
        document = since("--reviewed")
        assert counted(document) == {"same": 1, "changed": 1}
        assert document["old"]["door"] == "excise since --mark"
        assert document["old"]["seen"].endswith("Z")
    assert "as you read it on" in excise("since", "--reviewed", "topic").out
    assert counted(since("--reviewed", "--mark")) == {"same": 1, "changed": 1}
    assert counted(since("--reviewed")) == {"same": 2}
    repo.git("switch", "--quiet", "--create", "other")
    assert excise("since", "--reviewed").code == 2  # another branch in the same folder


def as_worktree(repo):
    repo.git("switch", "--quiet", "main")
    repo.git("worktree", "add", "--quiet", str(repo.path.parent / "agent"), "topic")


def test_a_take_counts_as_looked_at_and_pipes_do_not(repo, monkeypatch):
    as_worktree(repo)
    excise("review")
    excise("review", "topic")
    excise("since", "v1", "topic")
    assert excise("since", "--reviewed", "topic").code == 2
    monkeypatch.setenv("CI", "true")
    assert excise("take", "topic").code == 0
    assert excise("since", "--reviewed", "topic").code == 2
    monkeypatch.delenv("CI")
    assert excise("take", "topic").code == 0
    assert since("--reviewed", "topic")["old"]["door"] == "excise take"


def test_a_review_on_a_terminal_counts_as_looked_at(repo):
    as_worktree(repo)
    line = command_line("review", "topic")
    environment = repo.env | {"XDG_CACHE_HOME": os.environ["XDG_CACHE_HOME"], "TERM": "xterm"}
    ran = subprocess.run(
        ["script", "--quiet", "--return", "--command", shlex.join(line), "/dev/null"],
        cwd=repo.path, env=environment, capture_output=True, stdin=subprocess.DEVNULL, timeout=120,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout
    assert since("--reviewed", "topic")["old"]["door"] == "excise review"


def test_a_memory_that_is_damaged_locked_or_newer(repo, tmp_path):
    excise("since", "--mark")
    (file,) = (tmp_path / "cache" / "excise" / "reviews").glob("*.sqlite3")
    with sqlite3.connect(file) as connection:
        connection.execute("update seen set files = x'00'")
    ran = excise("since", "--reviewed")
    assert (ran.code, "cannot be read" in ran.err) == (2, True)
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("begin exclusive")
    marked = excise("since", "--mark")
    assert marked.code == 0
    assert "is not remembered" in marked.err
    assert excise("since", "--reviewed").code == 2
    connection.execute("rollback")
    connection.close()
    file.write_bytes(b"SQLite format 3\0" + b"no database" * 1000)
    ran = excise("since", "--reviewed")
    assert ran.code == 2
    assert "damaged" in ran.err
    assert excise("since", "--mark").code == 0
    assert counted(since("--reviewed")) == {"same": 2}


def test_what_is_too_large_is_not_kept_and_said(repo):
    for number in range(3):
        repo.write(f"{number}.bin", b"\0%d" % number * (MAX_KEPT // 6 + 9))
    repo.commit("large")
    assert "is not remembered" in excise("since", "--mark").err
    assert excise("since", "--reviewed").code == 2
    assert counted(since("v1")) == {"same": 2, "new": 3}


def test_more_than_ten_megabytes_is_not_compared_and_said(repo):
    repo.commit("too large", large__txt="x" * (MAX_BYTES + 1))
    document = since("v1")
    assert document["summary"] == "no change by the author; 1 file not compared"
    assert any("large.txt" in note for note in document["notes"])


def test_a_thousand_candidates_and_the_two_hundred_that_are_remembered(repo, tmp_path):
    head = repo.head()
    names = [f"agent/{number:04}" for number in range(1_000)]
    made = "".join(f"create refs/heads/{name} {head}\n" for name in names)
    repo.git("update-ref", "--stdin", stdin=made.encode())
    assert counted(since("v1", "agent/0999")) == {"same": 2}
    ran = excise("since", "v1", "agent")
    assert ran.code == 2
    repository = opened(str(repo.path))
    seen = [Candidate(f"branch:{name}", "", "", "") for name in names[: MAX_SEEN + 1]]
    for candidate in seen:
        note_reviewed(repository, candidate, "test")
    oldest, newest = (CandidateVersion("it", seen[place]) for place in (0, -1))
    assert version_reviewed(repository, newest).remembered
    with pytest.raises(SourceError, match="nothing is known"):
        version_reviewed(repository, oldest)


def test_a_long_change_is_cut_on_the_page_and_whole_with_v(repo):
    repo.commit("long", z__py="".join(f"new {number}\n" for number in range(5_000)))
    page = excise("since", "v1").out
    assert len(page.splitlines()) < 60
    assert "more lines (-v)" in page
    assert len(excise("since", "v1", "-v").out.splitlines()) > 5_000
    assert excise("since", "v1", "--path", "a.*").out.startswith("no change by the author  ")


def test_a_long_line_is_cut_around_what_differs(repo):
    words = " ".join(f"w{number}" for number in range(200))
    repo.commit("long", a__py=text(l3=f"{words}\n"))
    repo.git("branch", "--force", "v1")
    repo.commit("longer", a__py=text(l3=f"{words.replace('w150', 'here')}\n"))
    page = excise("since", "v1").out
    assert {"w150", "here"} <= set(page.split())
    assert max(map(len, page.splitlines())) < 140
    assert words in excise("since", "v1", "-v").out


def test_nothing_of_a_hostile_text_reaches_a_terminal_or_a_page(repo):
    repo.commit("\x1b[31m<b>", a__py=text(l5="\x1b[2J<script>`````\n"))
    for kind in ("text", "markdown"):
        page = excise("since", "v1", "--format", kind).out
        assert "\x1b" not in page
    assert "<b>" not in page.replace(r"\<b\>", "")
