"""`excise land`: candidates of different tasks together: doors, cases, laws and bad input."""

import itertools
import json
import sys
from collections import Counter
from dataclasses import replace
from functools import partial

import pytest
from examples.tasks import BASE, CFG, EXTRA, PLANTED, RENAMED
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.server.command import excise
from tests.server.git_repository import make, needs_git
from tests.server.raw_client import serving
from tests.server.test_mcp import content, served
from tests.server.test_relations import candidate, side
from tests.server.test_worktrees import worktree
from tests.server.tree import snapshot

from excise.text import raw_lines
from excise_server.candidates.compared import compared
from excise_server.candidates.landing import land_candidates
from excise_server.foundation.changes import differing_lines
from excise_server.foundation.inputs import SourceError
from excise_server.git.command import ALLOWED, WRITES
from excise_server.report.blocks import terminal
from excise_server.report.land import land_blocks, land_document
from excise_server.report.tables import plain_text
from excise_server.review.candidate import Candidate, marked_identical
from excise_server.review.landing import Chosen, land
from excise_server.review.relations import CandidateRelation, RelationReason
from excise_server.review.replayed import replay_files
from excise_server.review.taking import Choice, take
from excise_server.review.verdicts import Verdict
from excise_server.sources.candidates import Candidates

pytestmark = needs_git

UNION = ["methodD", "methodE", "newcall", "rewriteparse"]
BREAKS = "breaks newcall: extra.py:3 uses cfg.parse, which rename removes"
COLLIDES = "collides with rewriteparse: both change lines 1 to 6 of cfg.py"


def found(edits, base=BASE, **facts):
    """Return candidates with other texts of some files."""
    every = [candidate(name, files, base, **facts.get(name, {})) for name, files in edits.items()]
    return Candidates("0" * 40, marked_identical(every))


def landed(edits, base=BASE, names=(), *, anyway=False, verdicts=(), **facts):
    return land_candidates(
        None, found(edits, base, **facts), names, anyway=anyway, verdicts=verdicts
    )


def labels(landing):
    return [each.label for each in landing.order]


def why(landing):
    return {each.candidate.label: [o.message for o in each.obstacles] for each in landing.left_out}


def texts(landing):
    return {file.path: file.new and file.new.text for file in landing.taken.files}


# --- the planted repository, by every door --------------------------------------------------------


@pytest.fixture
def repo(tmp_path, monkeypatch):
    """The planted repository; methodE is not committed, and the others have authors."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = make(tmp_path, monkeypatch)
    made.commit(**{path.replace(".", "__"): text for path, text in BASE.items()})
    for name, files in PLANTED.items():
        path = made.path.parent / name
        worktree(made, name, **{place.replace(".", "__"): text for place, text in files.items()})
        if name != "methodE":
            made.git("add", "--all", cwd=path)
            author = {"GIT_AUTHOR_NAME": f"{name} bot", "GIT_AUTHOR_EMAIL": f"{name}@bot"}
            made.git("commit", "--quiet", "-m", f"{name}: do it\n\nBecause.", cwd=path, **author)
    return made


def run(repo, *arguments):
    return excise("land", "--repo", str(repo.path), *arguments)


@pytest.mark.slow
def test_every_door_has_every_row_of_the_planted_repository(repo):
    document = run(repo, "--format", "json")
    assert document.code == 1
    document = document.json
    assert [each["label"] for each in document["landed"]] == UNION
    [rename] = document["left_out"]
    assert rename["label"] == "rename"
    assert [o["message"] for o in rename["obstacles"]] == [BREAKS, COLLIDES]
    assert (rename["obstacles"][0]["path"], rename["obstacles"][0]["line"]) == ("extra.py", 3)
    assert document["undecided"] == []
    assert "methodD, methodE: both add to Store" in document["notes"]

    page = run(repo, "--format", "text").out
    assert len(page.split("\n")) <= 20
    for part in (*UNION, BREAKS, COLLIDES):
        assert part in page
    assert "which rename removes" in run(repo, "--format", "markdown").out

    (answer,) = served(repo.path, ("land", {}))
    answer = content(answer)
    assert [name.partition(":")[2] for name in answer["landed"]] == UNION
    assert [line.partition(": ")[2] for line in answer["left_out"]] == [BREAKS, COLLIDES]
    assert answer["patch"] == document["patch"]

    with serving(workspaceFolders=[{"uri": repo.path.as_uri(), "name": "work"}]) as client:
        over_lsp = client.call("excise/land", {"uri": repo.path.as_uri()})
        only = {"uri": repo.path.as_uri(), "candidates": ["methodD", "methodE"]}
        two = client.call("excise/land", only)
        unknown = client.refused("excise/land", only | {"candidates": ["nobody"]})
    assert {key: over_lsp[key] for key in document} == document
    assert {entry["path"] for entry in over_lsp["contents"]} == {
        f["path"] for f in document["files"]
    }
    assert all(entry["uri"] and entry["problem"] == "" for entry in over_lsp["contents"])
    assert all(part in over_lsp["page"] for part in (*UNION, BREAKS, COLLIDES))
    assert "excise land" not in over_lsp["page"]
    assert [each["label"] for each in two["landed"]] == ["methodD", "methodE"]
    assert "no candidate is called nobody" in unknown["message"]


@pytest.mark.slow
def test_the_patch_applies_and_what_is_written_is_undone(repo):
    before = snapshot(repo.path)
    patch = run(repo).out
    repo.git("apply", "--check", stdin=patch.encode())
    assert snapshot(repo.path) == before
    written = run(repo, "--write", "methodD", "methodE", "newcall")
    assert written.code == 0
    store = (repo.path / "cfg.py").read_text()
    assert store.index("def has") < store.index("def drop")
    assert (repo.path / "extra.py").exists()
    assert "to undo: excise take --undo" in written.out
    assert excise("take", "--undo", "--repo", str(repo.path)).code == 0
    assert snapshot(repo.path) == before
    out = repo.path.parent / "union.patch"
    assert run(repo, "-o", str(out)).out == ""
    assert out.read_text() == patch


@pytest.mark.slow
def test_a_branch_has_a_commit_for_each_with_its_author_and_message_and_nothing_else_moves(repo):
    hook = repo.path / ".git" / "hooks" / "reference-transaction"
    hook.write_text("#!/bin/sh\ntouch hooked\n")
    hook.chmod(0o755)
    before, status = snapshot(repo.path), repo.git("status", "--porcelain=v2", "--branch")
    ran = run(repo, "--branch", "agents/together")
    assert "branch agents/together: 4 commits on " in ran.out
    assert repo.git("status", "--porcelain=v2", "--branch") == status
    own = {path: entry for path, entry in snapshot(repo.path).items() if ".git" not in str(path)}
    assert own == {path: entry for path, entry in before.items() if ".git" not in str(path)}
    assert not (repo.path / "hooked").exists()
    log = repo.git(
        "log", "--reverse", "--format=%an <%ae>|%cn|%B", "main..agents/together"
    ).decode()
    assert log.split("\n\n") == [
        "methodD bot <methodD@bot>|Ada|methodD: do it",
        "Because.",
        "Ada <ada@example.org>|Ada|methodE",
        "newcall bot <newcall@bot>|Ada|newcall: do it",
        "Because.",
        "rewriteparse bot <rewriteparse@bot>|Ada|rewriteparse: do it",
        "Because.",
        "",
    ]
    dates = [repo.git("log", "-1", "--format=%ad", name) for name in ("methodD", "together~3")
             if name == "methodD"]  # fmt: skip
    assert dates[0] == repo.git("log", "-1", "--format=%ad", "agents/together~3")
    repo.git("apply", "--cached", stdin=run(repo).out.encode())
    assert repo.git("write-tree") == repo.git("rev-parse", "agents/together^{tree}")


MAIL = """\
From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001
From: {sender}
Date: {date}
Subject: [PATCH v2 3/7] {subject}

{text}Why: it is
needed.

Signed-off-by: Zo\u00eb <zoe@example.org>
---
 new-{n}.py | 1 +

diff --git a/new-{n}.py b/new-{n}.py
new file mode 100644
index 0000000..d00491f
--- /dev/null
+++ b/new-{n}.py
@@ -0,0 +1 @@
+1
--
2.40.0

"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sender", "date", "text"),
    [
        ("Zo\u00eb <zoe@example.org>", "Tue, 24 Nov 2020 11:00:40 +0230", ""),
        ('"A, B" <a@b.org>', "Tue, 24 Nov 2020 11:00:40 -0800", ""),
        ("a@b.org", "24 Nov 2020 11:00:40 GMT", ""),
        ("List <list@b.org>", "Tue, 24 Nov 2020 11:00:40 +0000", "From: Mina <mina@b.org>\n\n"),
        ("List <list@b.org>", "Tue, 24 Nov 2020 11:00:40 +0000",
         "From: Mina <mina@b.org>\nDate: Mon, 23 Nov 2020 11:00:40 +0100\nSubject: other\n\n"),
    ],
)  # fmt: skip
def test_a_mail_becomes_the_commit_that_git_am_makes_of_it(
    tmp_path, monkeypatch, sender, date, text
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    repo = make(tmp_path, monkeypatch)
    repo.commit(**{path.replace(".", "__"): content for path, content in BASE.items()})
    mails = tmp_path / "mails"
    mails.mkdir()
    mail = MAIL.format(sender=sender, date=date, text=text, subject="cfg: add a file", n=1)
    (mails / "one.mbox").write_text(mail)
    ran = run(repo, "--patches", str(mails), "--branch", "landed")
    assert "branch landed: 1 commit on " in ran.out
    repo.git("checkout", "--quiet", "-b", "mailed")
    repo.git("am", "--quiet", str(mails / "one.mbox"))
    told = [repo.git("log", "-1", "--date=raw", "--format=%an|%ae|%ad|%B|%T", name)
            for name in ("landed", "mailed")]  # fmt: skip
    assert told[0] == told[1]


def test_a_mail_of_no_date_or_no_sender_lands_as_well(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    repo = make(tmp_path, monkeypatch)
    repo.commit(**{path.replace(".", "__"): content for path, content in BASE.items()})
    facts = {"text": "", "subject": "add it"}
    broken = [("Mina <m@b.org>", "yesterday"), ("", "Tue, 24 Nov 2020 11:00:40 +0000")]
    for n, (sender, date) in enumerate(broken):
        mail = MAIL.format(sender=sender, date=date, n=n, **facts)
        (repo.path.parent / f"{n}.mbox").write_text(mail)
    mails = [part for n in (0, 1) for part in ("--patches", str(repo.path.parent / f"{n}.mbox"))]
    run(repo, *mails, "--branch", "landed")
    authors = repo.git("log", "--reverse", "--format=%an", "main..landed").decode().split()
    assert sorted(authors) == ["Ada", "Mina"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "reason"),
    [("together", "there is a branch"), ("a..b", "cannot be"), ("-x", "cannot be"),
     ("HEAD", "cannot be"), ("a b", "cannot be"), ("x\ny", "cannot be"), ("", "cannot be"),
     ("together/x", "failed")],
)  # fmt: skip
def test_a_branch_that_exists_or_cannot_be_is_refused(repo, name, reason):
    repo.git("branch", "together")
    refs = repo.git("for-each-ref")
    ran = run(repo, f"--branch={name}")
    assert (ran.code, ran.out) == (2, "")
    assert reason in ran.err
    assert repo.git("for-each-ref") == refs


@pytest.mark.slow
def test_a_user_whom_git_does_not_know_is_told_how_to_say_it(repo, monkeypatch, tmp_path):
    empty = tmp_path / "empty"
    empty.write_text("[user]\nuseConfigOnly = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(empty))
    ran = run(repo, "--branch", "together")
    assert ran.code == 2
    assert "git config --global user.name" in ran.err
    assert b"together" not in repo.git("for-each-ref")


@pytest.mark.slow
def test_a_command_that_fails_on_the_union_names_the_candidate_and_nothing_is_written(repo):
    before = snapshot(repo.path)
    check = "! grep -q drop cfg.py"
    ran = run(repo, "--run", check, "--write", "--format", "text")
    assert ran.code == 1
    assert "it fails with methodE, and passes with the 1 before it" in ran.out
    assert snapshot(repo.path) == before
    passing = run(repo, "--run", "grep -q drop cfg.py", "--format", "text")
    assert "grep -q drop cfg.py: passes" in passing.out
    alone = run(repo, "--run", "false", "--format", "text", "methodD").out
    assert "it does not pass on the target, either" in alone
    hanging = run(repo, "--run", "sleep 100", "--timeout", "0.3", "--format", "text", "methodD")
    assert hanging.code == 1
    assert "took over 0.3 s" in hanging.out or "time" in hanging.out
    assert run(repo, "--run", check, "--anyway", "--write").code == 1
    assert "def drop" in (repo.path / "cfg.py").read_text()


@pytest.mark.slow
def test_edits_of_the_user_on_the_same_lines_are_named_and_kept(repo):
    mine = CFG.replace("result = {}", "result = dict()  # mine")
    (repo.path / "cfg.py").write_text(mine)
    ran = run(repo, "--write", "rewriteparse", "newcall")
    assert ran.code == 2
    assert "cfg.py" in ran.err
    assert (repo.path / "cfg.py").read_text() == mine
    assert not (repo.path / "extra.py").exists()


@pytest.mark.slow
def test_what_the_target_uses_meanwhile_is_broken_by_who_removes_it(repo):
    """The rename knew nothing of this caller, which main got later."""
    repo.commit(report__py="import cfg\n\nprint(cfg.parse('b=2'))\n", notes__md="cfg.parse\n")
    ran = run(repo, "rename", "methodD", "--format", "text")
    assert "breaks report.py: report.py:3 uses cfg.parse, which rename removes" in ran.out
    assert ran.code == 1
    anyway = run(repo, "rename", "methodD", "--anyway", "--format", "text")
    assert "note: rename: breaks report.py" in anyway.out
    assert anyway.code == 0


@pytest.mark.slow
def test_usage_that_makes_no_sense_is_said(repo):
    for arguments, part in (
        (["--write", "--branch", "x"], "give one of them"),
        (["--timeout", "3"], "--timeout needs --run"),
        (["--branch", "x", "--onto", "saved"], "begins at a commit"),
        (["--branch", "x", "--origin", "a"], "need a repository"),
        (["nobody"], "no candidate is called nobody"),
        (["agent/*"], "branches by --git 'agent/*'"),
        (["--task", "9"], "no task is called 9"),
    ):
        ran = run(repo, *arguments)
        assert (ran.code, ran.out) == (2, ""), arguments
        assert part in ran.err


def test_git_writes_nothing_but_what_makes_a_branch():
    assert not WRITES & ALLOWED
    making = "commit-tree hash-object read-tree update-index update-ref write-tree"
    assert sorted(WRITES) == making.split()


# --- which of a task ------------------------------------------------------------------------------

A = {"a.py": "def f(x):\n    return x + 1\n", "b.py": "B = 1\n"}
RIVALS = {
    "one": {"a.py": A["a.py"].replace("1", "2")},
    "two": {"a.py": A["a.py"].replace("1", "3")},
}
OTHER = {"three": {"b.py": "B = 2\n"}}


def test_who_collides_with_one_of_an_undecided_task_waits_for_it():
    every = [candidate(name, {"m.py": "x = 1\n"}, {"m.py": ""}) for name in ("one", "two", "own")]
    one, two, own = every
    both = RelationReason("collides", "both give x", path="m.py", line=1)
    related = [CandidateRelation(own.id, two.id, (both,))]
    left = land(Chosen((own,), ((one, two),)), related, {})
    assert labels(left) == []
    assert why(left) == {"own": ["collides with two, whose task is undecided: both give x"]}
    assert labels(land(Chosen((own,)), related, {})) == ["own"]


def test_a_task_with_rivals_is_undecided_until_one_passes_or_is_named():
    landing = landed(RIVALS | OTHER, A)
    assert labels(landing) == ["three"]
    assert [[c.label for c in task] for task in landing.undecided] == [["one", "two"]]
    passes = [Verdict(candidate="two", passed=True), Verdict(candidate="one", passed=False)]
    assert sorted(labels(landed(RIVALS | OTHER, A, verdicts=passes))) == ["three", "two"]
    both = [Verdict(candidate=name, passed=True) for name in RIVALS]
    assert labels(landed(RIVALS | OTHER, A, verdicts=both)) == ["three"]
    assert labels(landed(RIVALS | OTHER, A, ["two", "three"])) == ["two", "three"]
    named = landed(RIVALS, A, ["one", "two"])
    assert labels(named) == ["one"]
    assert why(named) == {"two": ["collides with one: both change line 2 of a.py"]}


def test_identical_candidates_are_one_and_who_fails_does_not_land():
    same = landed({"one": RIVALS["one"], "again": RIVALS["one"]}, A)
    assert len(same.order) == 1
    assert same.undecided == ()
    failing = landed(OTHER, A, verdicts=[Verdict(candidate="three", passed=False)])
    assert why(failing) == {"three": ["fails its checks"]}
    assert failing.taken.files == ()


# --- what fits ------------------------------------------------------------------------------------


def lines_of(landing):
    return plain_text(partial(terminal, land_blocks(land_document("", landing)))).split("\n")


@pytest.mark.parametrize(
    ("edits", "heading"),
    [
        ({}, "No candidate changes 00000000"),
        ({"a": RENAMED}, "The only candidate lands onto 00000000"),
        ({"a": RENAMED, "b": {"extra.py": EXTRA}}, "1 of 2 candidates lands onto 00000000"),
        ({"a": RENAMED, "b": RENAMED}, "The only candidate lands onto 00000000"),
        ({"a": RENAMED, "b": {"b.py": "b = 1\n"}},
         "All 2 candidates land together onto 00000000, in this order"),
    ],
)  # fmt: skip
def test_the_heading_is_a_sentence_whatever_lands(edits, heading):
    lines = lines_of(landed(edits))
    assert lines[0] == heading
    assert ("note: a: the same as b" in lines) is (edits.get("b") is RENAMED)


def test_of_many_reasons_two_are_shown_and_the_others_counted():
    base = {f"{name}{n}.py": "x = 1\n" for name in "pqr" for n in range(3)}
    alone = {name: {f"{name}{n}.py": "x = 2\n" for n in range(3)} for name in "pqr"}
    several = {"all": dict.fromkeys(["p0.py", "q0.py", "r0.py"], "x = 3\n")}
    lines = lines_of(landed({**alone, **several}, base))
    at = lines.index("1 left out")
    assert "all  collides with p" in lines[at + 1]
    assert lines[at + 3].strip() == "and 1 more reason (-v)"
    assert {len(line) - len(line.lstrip()) for line in lines[at + 2 : at + 4]} == {8}


def test_a_candidate_that_fails_alone_does_not_land():
    failing = [Verdict(candidate="a", passed=False)]
    heading = lines_of(landed({"a": RENAMED}, verdicts=failing))[0]
    assert heading == "The only candidate does not land onto 00000000"


def test_a_cycle_of_collisions_lands_as_many_as_fit():
    lines = [f"v{n} = {n}\n" for n in range(40)]
    base = {"a.txt": "".join(lines)}

    def edit(*places):
        changed = list(lines)
        for place in places:
            changed[place] = f"v{place} = by {places}\n"
        return {"a.txt": "".join(changed)}

    # Five in a ring, each in the way of two; each has three hunks of its own, so none are rivals.
    ring = {
        f"c{n}": edit(4 * n, (4 * n + 4) % 20, 20 + 4 * n, 22 + 4 * n) | {f"own{n}.txt": "x\n"}
        for n in range(5)
    }
    landing = landed(ring, base, sorted(ring))
    assert len(landing.order) == 2
    assert len(landing.left_out) == 3
    assert all(messages for messages in why(landing).values())


@pytest.mark.parametrize(
    ("own", "target", "expected"),
    [
        ("3a45b8", "38", "conflict"),  # both lines would come to where the lines between them were
        ("3a45b8", "3j8", "conflict"),
        ("3a45b8", "3a45b8", "landed"),
        ("3a458", "3458b", "3a458b"),
    ],
)
def test_a_candidate_that_meets_itself_after_the_replay(own, target, expected):
    new, old, now = ({"a.txt": side("".join(f"{c}\n" for c in t))} for t in (own, "3458", target))
    files = replay_files(old, new, now, {})
    assert files.landed == ["a.txt"] * (expected == "landed")
    candidate = Candidate(
        "x", "", "", "", label="x", old=files.old, new=files.new, conflicts=files.conflicts
    )
    landing = land_candidates(None, Candidates("0" * 40, (candidate,)))
    if expected in ("landed", "conflict"):
        why_not = {"landed": "changes nothing that can be read",
                   "conflict": "a.txt: the target changed these lines, too"}  # fmt: skip
        assert why(landing) == {"x": [why_not[expected]]}
    else:
        assert [text.replace("\n", "") for text in texts(landing).values()] == [expected]


def test_renames_on_both_sides():
    text = "".join(f"line {n}\n" for n in range(30))
    base = {"a.txt": text}
    moved = {"a.txt": None, "b.txt": text}
    edited = {"a.txt": text.replace("line 20", "line twenty")}
    landing = landed({"moves": moved, "edits": edited}, base, ["moves", "edits"])
    assert texts(landing) == {"b.txt": edited["a.txt"]}
    elsewhere = {"a.txt": None, "c.txt": text}
    landing = landed({"moves": moved, "elsewhere": elsewhere}, base, ["moves", "elsewhere"])
    assert labels(landing) == ["moves"]
    assert "both change the name or mode of a.txt" in why(landing)["elsewhere"][0]
    same = landed({"moves": moved, "too": dict(moved)}, base, ["moves", "too"])
    assert labels(same) == ["moves", "too"]
    to_one = {"p.txt": text, "q.txt": text.replace("line", "row")}
    two = {"x": {"p.txt": None, "n.txt": text}, "y": {"q.txt": None, "n.txt": to_one["q.txt"]}}
    landing = landed(two, to_one, ["x", "y"])
    assert labels(landing) == ["x"]


def test_both_add_one_name_and_several_add_to_a_changelog_or_a_generated_file():
    again = {"cfg.py": f"{CFG}\n    def has(self, key):\n        return False\n"}
    landing = landed({"methodD": PLANTED["methodD"], "again": again}, BASE, ["methodD", "again"])
    assert labels(landing) == ["methodD"]

    base = {"CHANGES.md": "# Changes\n\n- old\n", "package-lock.json": '{\n  "a": 1\n}\n'}
    entries = {
        name: {"CHANGES.md": f"# Changes\n\n- {name}\n- old\n",
               "package-lock.json": f'{{\n  "{name}": 1,\n  "a": 1\n}}\n'}
        for name in ("x", "y", "z")
    }  # fmt: skip
    landing = landed(entries, base, ["y", "x", "z"])
    assert labels(landing) == ["y", "x", "z"]
    assert texts(landing)["CHANGES.md"] == "# Changes\n\n- y\n- x\n- z\n- old\n"
    assert json.loads(texts(landing)["package-lock.json"]) == {"x": 1, "y": 1, "z": 1, "a": 1}
    notes = " ".join((*landing.notes, *landing.taken.notes))
    assert "merged beyond git: read CHANGES.md" in notes
    assert landing.taken.beyond_git["CHANGES.md"][-1] == (2, 5)
    assert "order" not in notes
    assert "package-lock.json: generated, and changed by several" in notes


def test_the_last_line_of_a_file_may_have_no_line_end():
    add = "\n\ndef {0}():\n    return 1"
    both = {name: {"b.py": f"B = 1\n{add.format(name)}"} for name in ("f", "g")}
    landing = landed(both, A, ["f", "g"])
    assert texts(landing) == {"b.py": f"B = 1\n{add.format('f')}\n{add.format('g')}"}


def test_who_is_in_conflict_with_the_target_empty_or_alone():
    conflict = {"three": {"conflicts": {"b.py": "the target changed these lines, too"}}}
    landing = landed(OTHER, A, **conflict)
    assert why(landing) == {"three": ["b.py: the target changed these lines, too"]}
    assert labels(landed(OTHER, A, anyway=True, **conflict)) == []
    landing = landed(OTHER | {"empty": {}}, A)
    assert why(landing) == {"empty": ["changes nothing that can be read"]}
    nobody = landed({}, A)
    assert (nobody.order, nobody.taken.files) == ((), ())


def test_what_is_broken_by_itself_does_not_land():
    base = {
        "a.py": "try:\n    import json\nexcept ImportError:\n    json = None\n\n\n" + "X = 1\n" * 9
    }
    uses = base["a.py"] + "\n\ndef f():\n    return helper()\n"
    helper = {"h.py": "def helper():\n    return 1\n"}
    landing = landed({"uses": {"a.py": uses}, "helper": helper}, base)
    assert labels(landing) == ["helper"]
    [left] = landing.left_out
    assert [(o.word, o.message) for o in left.obstacles] == [
        ("broken", "uses helper, which nothing defines")
    ]


def test_of_too_many_candidates_it_is_said(monkeypatch):
    monkeypatch.setattr("excise_server.candidates.landing.MOST", 9)
    base = {f"{n}.txt": f"{n}\n" for n in range(10)}
    many = found({f"c{n}": {f"{n}.txt": "x\n"} for n in range(10)}, base)
    with pytest.raises(SourceError, match="10 candidates, limit 9"):
        land_candidates(None, many)
    landing = land_candidates(None, replace(many, found=many.found[:9]))
    assert len(landing.order) == len(landing.taken.files) == 9


@pytest.mark.parametrize(
    "revised",
    [
        lambda n: f"{CLASS}    def method_{n}(self):\n        return {n}\n",
        lambda n: CLASS.replace(f"line_{n} = ", f"line_{n} = 1 + "),
        lambda n: CLASS.replace("size = 0", f"size = {n}"),
    ],
    ids=["a method each", "a line each", "the same line"],
)
def test_of_many_candidates_of_one_file_each_text_is_parsed_a_few_times(revised, parsers):
    """Twice as many candidates have four times as many pairs, but only twice as many texts."""

    def parses(count):
        edits = {f"c{n}": {"a.py": revised(n + 1)} for n in range(count)}
        facts = {name: {"task": name} for name in edits}
        parsers.clear()
        landed(edits, {"a.py": CLASS}, **facts)
        return len(parsers)

    few, many = parses(10), parses(20)
    assert few <= 10 * 4
    assert many <= 2 * few


CLASS = "".join(f"line_{n} = {n}\n\n" for n in range(1, 40)) + "\n\nclass S:\n    size = 0\n"


@pytest.fixture(scope="module")
def parsers():
    """The parsers that ran: a hook stays as long as the process."""
    ran, is_over = [], []
    sys.addaudithook(lambda event, _: event == "excise.parse" and not is_over and ran.append(1))
    yield ran
    is_over.append(1)


# --- laws -----------------------------------------------------------------------------------------

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "é\n"]), max_size=12)


@st.composite
def changes(draw, most=4):
    """An origin, and candidates that each replace some of its lines, or add to them."""
    origin = draw(LINES)
    every = []
    for number in range(draw(st.integers(1, most))):
        lines = list(origin)
        places = draw(st.lists(st.integers(0, len(lines)), max_size=3, unique=True))
        for place in sorted(places, reverse=True):
            gone = draw(st.integers(0, 2))
            lines[place : place + gone] = draw(
                st.lists(st.sampled_from([f"{number}\n", "n\n"]), max_size=2)
            )
        every.append("".join(lines))
    return "".join(origin), every


def of_texts(origin, every):
    edits = {f"c{n}": {"a.txt": text} for n, text in enumerate(every) if text != origin}
    return found(edits, {"a.txt": origin})


@pytest.mark.slow
@given(changes())
@settings(max_examples=150)
def test_independent_candidates_make_the_same_in_any_order(known):
    every = of_texts(*known)
    analysed = compared(every)
    alone = [c for c in every.found
             if not any(c.id in (r.first, r.second) for r in analysed.relations)]  # fmt: skip
    results = {
        tuple(sorted(texts(land(Chosen(order), analysed.relations, {})).items()))
        for order in itertools.permutations(alone[:3])
    }
    assert len(results) == 1


@pytest.mark.slow
@given(changes())
@settings(max_examples=150)
def test_a_union_has_every_line_that_one_adds_and_none_that_one_deletes(known):
    every = of_texts(*known)
    landing = land(Chosen(every.found), compared(every).relations, {})
    origin = raw_lines(known[0])
    done = set()
    for each in landing.order:
        own = raw_lines(each.new["a.txt"].text)
        done |= {(lo, hi, "".join(own[start:stop]))
                 for lo, hi, start, stop in differing_lines(origin, own)}  # fmt: skip
    wanted = Counter(origin)
    for lo, hi, text in done:
        wanted.subtract(origin[lo:hi])
        wanted.update(raw_lines(text))
    assert Counter(raw_lines(texts(landing).get("a.txt", known[0]))) == +wanted
    for place, step in enumerate(landing.taken.steps):
        some = take(
            [landing.order[: place + 1]], [Choice(c.id) for c in landing.order[: place + 1]]
        )
        assert [*step.values()] == [*some.files] or not some.files


@pytest.mark.slow
@given(changes(1))
@settings(max_examples=100)
def test_to_land_one_is_to_take_it(known):
    every = of_texts(*known)
    for each in every.found:
        landing = land_candidates(None, every, [each.id])
        assert landing.taken.files == take([[each]], [Choice(each.id)]).files
        assert texts(landing) == {"a.txt": each.new["a.txt"].text}
