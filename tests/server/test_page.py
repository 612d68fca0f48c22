"""The page for deciding: its rules, at any width, with any names; and `excise review` itself."""

import json
import re
import shutil
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from rich.cells import cell_len
from tests.server import page_case
from tests.server.command import excise
from tests.server.git_repository import make
from tests.server.test_worktrees import by_id, report, worktree

from excise_server.report.blocks import terminal
from excise_server.report.hunk_page import hunk_blocks
from excise_server.report.overview import MOST, overview_blocks
from excise_server.report.page import Page
from excise_server.report.review import review_document
from excise_server.report.tables import cut
from excise_server.wire import documents as d

PARSER = "def parse(text):\n    return [int(part) for part in text.split(',')]\n"
SERVER = "def serve(port):\n    listen(port)\n    return port\n"
STRIP = PARSER.replace("int(part)", "int(part.strip())")
SKIP = PARSER.replace(" in text.split(',')", " in text.split(',') if part")
RETRY = SERVER.replace("    listen(port)\n", "    while not listen(port):\n        port += 1\n")
TEST = "from parser import parse\n\n\ndef test_parse():\n    assert parse('1, 2') == [1, 2]\n"


@pytest.fixture
def repo(tmp_path, monkeypatch):
    return make(tmp_path, monkeypatch, parser__py=PARSER, server__py=SERVER, readme__md="# Both\n")


def printed(repo, *arguments, code=0):
    ran = excise("review", "--repo", str(repo.path), *arguments)
    assert ran.code == code, ran.err
    return ran.out


@pytest.fixture
def two_tasks(repo):
    worktree(repo, "ada", parser__py=STRIP)
    worktree(repo, "bo", server__py=RETRY)
    worktree(repo, "chen", parser__py=STRIP, test_parser__py=TEST, readme__md="# All\n")
    worktree(repo, "dana", server__py=RETRY.replace("+= 1", "+= 2"))
    worktree(repo, "eli", parser__py=SKIP)
    return repo


def test_two_tasks_started_in_one_minute_are_two_tables(two_tasks):
    found = report(two_tasks)
    names = [[m.partition(":")[2] for m in task["members"]] for task in found["tasks"]]
    assert names == [["ada", "chen", "eli"], ["bo", "dana"]]
    assert [task["shared"] for task in found["tasks"]] == [["parser.py"], ["server.py"]]
    entries = by_id(found)
    assert {name: entry["task"] for name, entry in entries.items()} == {
        "ada": 1, "chen": 1, "eli": 1, "bo": 2, "dana": 2,
    }  # fmt: skip
    assert [entry["task"] for entry in found["candidates"]] == [1, 1, 1, 2, 2]
    assert min(entry["rank"] for entry in found["candidates"] if entry["task"] == 2) == 1
    # The others have no vote: alone, the two agree as they do here.
    alone = by_id(report(two_tasks, "--only", "bo", "--only", "dana"))["bo"]
    for key in ("rank", "makers", "mean_similarity", "why"):
        assert alone[key] == entries["bo"][key]
    out = printed(two_tasks)
    assert out.index("Task 1: 3 candidates, ") < out.index("Task 2: 2 candidates")


def test_what_only_an_issue_ties_is_said_to_be(repo):
    for name, files in {"ada": {"parser__py": STRIP}, "bo": {"server__py": RETRY}}.items():
        folder = worktree(repo, name, **files)
        repo.git("commit", "--quiet", "-am", f"{name}\n\nFixes #12", cwd=folder)
    worktree(repo, "chen", other__py="x = 1\n")
    both, alone = report(repo)["tasks"]
    assert both["members"] == ["worktree:ada", "worktree:bo"]
    assert both["by_issue"] == {"worktree:ada": "#12", "worktree:bo": "#12"}
    assert alone["members"] == ["worktree:chen"]
    assert alone["by_issue"] == {}
    assert "Task 1 (issue 12): 2 candidates, 2 groups" in printed(repo)


def test_who_is_left_out_has_a_name_and_no_path(repo):
    worktree(repo, "ada", parser__py=STRIP)
    shutil.rmtree(worktree(repo, "bo"))
    ran = excise("review", "--repo", str(repo.path))
    assert ran.code == 1
    [line] = [line for line in ran.err.split("\n") if line]
    assert line.startswith("excise: left out: cannot read bo: prunable")
    assert str(repo.path.parent) not in line
    assert report(repo, code=1)["rejected"][0]["id"].endswith("/bo")


@pytest.mark.slow
def test_sixty_four_candidates(repo):
    stream = []
    for n in range(64):
        text = (
            (STRIP if n % 2 else SKIP)
            if n < 40
            else SERVER.replace("port)\n    return", f"{n})\n    return")
        )
        name = "parser.py" if n < 40 else "server.py"
        stream.append(
            f"commit refs/heads/agent/{n:02}\ncommitter A <a@x.y> {1_700_000_100 + n} +0000\n"
            f"data 1\nx\nfrom refs/heads/main^0\nM 100644 inline {name}\n"
            f"data {len(text)}\n{text}\n"
        )
    repo.git("fast-import", "--quiet", stdin="".join(stream).encode())
    found = report(repo, "--git", "agent/*")
    assert [len(task["members"]) for task in found["tasks"]] == [40, 24]
    assert [len(group["members"]) for group in found["tasks"][0]["groups"]] == [20, 20]
    out = printed(repo, "--git", "agent/*")
    assert out.count("   20 identical: agent/") == 2
    assert out.count("\n") <= 40
    assert "20 of 40" not in out


# --- the page's rules, without git ----------------------------------------------------------------


def document_of(texts, origin=PARSER, **facts):
    """Return the review of candidates that change one file, by their names."""
    every = {f"candidate {name} parser.py": text for name, text in texts.items()}
    return review_document(
        page_case.review_of({"origin parser.py": origin, **every, "facts": json.dumps(facts)})
    )


def lines_of(document, width=80, *, verbose=False):
    page = Page(document, verbose=verbose)
    return (
        page_case.printed(partial(terminal, overview_blocks(page)), width).rstrip("\n").split("\n")
    )


def edited(number):
    """Return the parser with an edit that is near no other one."""
    words = " + ".join(f"text.word_{number * 7 + n}()" for n in range(6))
    return PARSER.replace("[int(part) for part in text.split(',')]", words)


@pytest.mark.parametrize("count", [1, 5, MOST, pytest.param(200, marks=pytest.mark.slow)])
def test_nobody_of_sixty_is_hidden(count):
    """Even if no two make the same edit, and nothing is near anything else."""
    issue = {f"agent-{n}": {"issues": ["#7"]} for n in range(count)}
    document = document_of({name: edited(n) for n, name in enumerate(issue)}, **issue)
    assert len(document.tasks) == 1
    lines = lines_of(document)
    assert max(map(cell_len, lines)) <= 80
    shown = sum(bool(re.search(rf"agent-{n}\b", "\n".join(lines[:-2]))) for n in range(count))
    assert shown >= min(count, MOST)
    hidden = re.search(r"and (\d+) more: ", "\n".join(lines))
    assert count - shown == (int(hidden[1]) if hidden else 0)
    everything = " ".join(lines_of(document, verbose=True))
    assert all(f"branch:agent-{n};" in everything for n in range(count))


def test_each_of_many_has_one_line():
    names = {f"candidate-with-a-name-{n}": {"issues": ["#7"]} for n in range(20)}
    texts = {
        name: PARSER.replace("[int(part)", f"[int(part) + len(text) * 10{n}")
        for n, name in enumerate(names)
    }
    for width in (80, 120):
        lines = lines_of(document_of(texts, **names), width)
        for n, name in enumerate(names):
            [line] = [line for line in lines if line.strip().startswith(f"{name} ")]
            assert re.search(rf"\b10{n}\b", line)  # what tells is not cut
        assert len(lines) <= 20 + 8


NUMBERS = re.compile(r"\|gran:|digest|token|rank|linkage|agree(?!:)|similar|[01]?\.\d\d")
OTHER_WORDS = re.compile("contain|elsewhere|near it|unlike|strong|confiden|make this edit")


@pytest.mark.parametrize("width", [0, 40, 80, 300])
def test_no_number_and_no_other_word_is_on_it(width):
    texts = {"ada": STRIP, "bo": STRIP, "chen": SKIP, "dana": edited(1), "eli": edited(2)}
    lines = lines_of(document_of(texts, **{name: {"issues": ["#7"]} for name in texts}), width)
    text = "\n".join(lines)
    assert not NUMBERS.search(text)
    assert not OTHER_WORDS.search(text)
    changed = [line for line in lines if re.match(" +[+-] ", line)]
    assert len(set(changed)) == len(changed) > 2
    assert not width or max(map(cell_len, lines)) <= width
    everything = " ".join(map(str.strip, lines_of(document_of(texts), verbose=True)))
    for word in ("|gran:", "digest ", " tokens", "rank 1", "average linkage"):
        assert word in everything


def test_a_candidate_counts_once_however_many_names_it_has():
    names = ["branch:ada", "remote:origin/ada", "ref:pull/7", "ref:pull/8"]
    document = document_of({"ada": STRIP, "bo": STRIP}, ada={"names": names})
    assert lines_of(document)[1].startswith("A  2 candidates  parser.py  parse")
    assert "   2 identical: ada, bo" in lines_of(document)


def test_independent_candidates_have_a_line_each():
    files = {f"c{n}": {f"f{n}.py": f"def g{n}():\n    return {n}\n"} for n in range(5)}
    texts = {f"origin f{n}.py": f"def g{n}():\n    pass\n" for n in range(5)}
    texts |= {
        f"candidate {name} {path}": text
        for name, own in files.items()
        for path, text in own.items()
    }
    head, onto, *lines = lines_of(review_document(page_case.review_of(texts)))
    assert head == "5 candidates, 5 tasks: nobody competes; excise land says how they fit"
    assert onto == "onto 01234567"
    assert lines[:5] == [f"c{n}  +1 -1  f{n}.py  g{n}  + return {n}" for n in range(5)]


NAMES = ["n" * 200, "n" * 199 + "m", "\u0645\u0631\u062d\u0628\u0627", "Fix-It", "fix-it"]


@pytest.mark.parametrize("width", [0, 40, 80, 300])
def test_any_name_can_be_told_from_the_others(width):
    texts = {name: STRIP if n % 2 else SKIP for n, name in enumerate(NAMES)}
    lines = lines_of(document_of(texts), width)
    text = "\n".join(lines)
    assert "Fix-It" in text
    assert "fix-it" in text
    assert "\u0645\u0631\u062d\u0628\u0627" in text
    assert not width or max(map(cell_len, lines)) <= width
    assert "5 candidates" in lines[0]


def test_none_one_and_all_identical():
    assert lines_of(document_of({})) == [
        "No candidate changes anything: there is nothing to review."
    ]
    one = lines_of(document_of({"ada": STRIP}))
    assert one[0].split("  ")[0] == "1 candidate, 1 task"
    assert one[1].startswith("ada  +1 -1  parser.py  parse  + return")
    same = lines_of(document_of(dict.fromkeys("abcdefgh", STRIP)))
    assert same[0].split("  ")[0] == "8 candidates, 1 task, 1 group"
    assert "   8 identical: a, b, c, d, e, f, g, h" in same
    assert not any("differ" in line or "disagree" in line for line in same)


def test_what_members_differ_in_is_said_once():
    renamed = SERVER.replace("listen(port)", "n = 1\n    listen(port + n)\n    log(n)")
    other = renamed.replace("n = ", "count = ").replace(" n)", " count)").replace("(n)", "(count)")
    commented = renamed.replace("    log", "    # Say so.\n    log")
    document = document_of({"ada": renamed, "bo": other, "chen": commented}, SERVER)
    [group] = document.tasks[0].groups
    assert {*group.names} == {"n", "count"}
    assert group.comments
    lines = lines_of(document)
    assert "   2 the same code: ada, chen" in lines
    assert "   1 the same up to names (count is n there): bo" in lines
    assert "   differ in names (count, n), comments" in lines


def test_what_to_take_first_has_tests_if_another_one_with_the_same_code_has():
    texts = {f"candidate {name} parser.py": STRIP for name in ("ada", "bo", "chen")}
    texts |= {"origin parser.py": PARSER, "candidate bo test_parser.py": TEST}
    texts |= {"candidate dana parser.py": SKIP}
    document = review_document(page_case.review_of(texts))
    assert document.candidates[0].label == "ada"
    assert Page(document).next()[-2:] == ["excise review bo,", "excise take bo"]
    conflict = [
        d.ConflictEntry(
            kind="content", path="parser.py", reason="the target changed these lines, too"
        )
    ]
    for labels, expected in (("bo", "ada"), ("ada bo", "chen"), ("ada bo chen", "bo")):
        entries = [
            structs.replace(entry, conflicts=conflict if entry.label in labels.split() else [])
            for entry in document.candidates
        ]
        page = Page(structs.replace(document, candidates=entries))
        assert page.next()[-1] == f"excise take {expected}"


def test_an_insertion_is_no_change_of_the_lines_beside_it():
    text = "class A:\n    def f(self):\n" + "".join(f"        x{n} = {n}\n" for n in range(9))
    added = text.replace("        x7", "        y = 1\n        x7")
    document = document_of({"ada": added, "bo": text.replace("x0 = 0", "x0 = 1")}, text)
    page = Page(document)
    shown = page_case.printed(partial(terminal, hunk_blocks(page, "", is_named=False)), 80).split(
        "\n"
    )
    [hunk] = [n for n, line in enumerate(shown) if line.startswith("#9")]
    assert shown[hunk : hunk + 8] == [
        "#9+  A.f",
        " 2       def f(self):",
        " 7           x4 = 4",
        " 8           x5 = 5",
        " 9           x6 = 6",
        "   +         y = 1",
        "10           x7 = 7",
        "11           x8 = 8",
    ]


@given(st.text(max_size=40), st.integers(1, 45))
def test_a_cut_text_fits_and_keeps_its_ends(text, width):
    shown = cut(text, width)
    assert cell_len(shown) <= max(width, 1)
    if cell_len(text) <= width:
        assert shown == text
    elif "…" not in text:
        start, _, end = shown.partition("…")
        assert text.startswith(start)
        assert text.endswith(end)


def test_a_long_line_is_cut_around_what_differs(repo):
    line = f"x = {list(range(400))}\n"
    worktree(repo, "ada", parser__py=PARSER + line)
    worktree(repo, "bo", parser__py=PARSER + line.replace(" 200,", " 2000,"))
    worktree(repo, "chen", parser__py=PARSER + line.replace(" 200,", " 2001,"))
    out = printed(repo)
    assert " 2000," in out
    assert " 2001," in out


def test_a_page_of_some_files_has_all_candidates(two_tasks):
    found = report(two_tasks, "--path", "server.py")
    assert [[file["path"] for file in task["files"]] for task in found["tasks"]] == [
        [], ["server.py"],
    ]  # fmt: skip
    page = excise(
        "review", "--repo", str(two_tasks.path), "--path", "server.py", "--format", "html"
    )
    assert page.code == 0, page.err
    assert "5 candidates, 2 tasks" in page.out
    assert "Hunks of task 2" in page.out
    assert "Hunks of task 1" not in page.out
