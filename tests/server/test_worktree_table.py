"""What `excise worktrees` prints: a table for each task, on terminals of any width and off them."""

from __future__ import annotations

import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from tests.server.command import excise, one_line
from tests.server.git_repository import make, needs_git
from tests.server.test_worktrees import by_id, report, worktree

from excise_server.report.tables import cut

pytestmark = [pytest.mark.slow, needs_git]

PARSER = "def parse(text):\n    return [int(part) for part in text.split(',')]\n"
SERVER = "def serve(port):\n    listen(port)\n    return port\n"
STRIP = PARSER.replace("int(part)", "int(part.strip())")
SKIP = PARSER.replace(" in text.split(',')", " in text.split(',') if part")
RETRY = SERVER.replace("    listen(port)\n", "    while not listen(port):\n        port += 1\n")
TEST = "def test_parse():\n    assert parse('1, 2') == [1, 2]\n"


@pytest.fixture
def repo(tmp_path, monkeypatch):
    made = make(tmp_path, monkeypatch)
    made.commit(parser__py=PARSER, server__py=SERVER, readme__md="# Both\n")
    return made


def printed(repo, *arguments, code=0):
    ran = excise("worktrees", str(repo.path), *arguments)
    assert ran.code == code, ran.err
    return ran.out


def rows(out, name):
    """Return the lines in which a word is this name."""
    return [line for line in out.split("\n") if name in line.split()]


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
    names = [[m.partition(":")[2] for m in batch["members"]] for batch in found["batches"]]
    assert names == [["ada", "chen", "eli"], ["bo", "dana"]]
    assert [batch["shared"] for batch in found["batches"]] == [["parser.py"], ["server.py"]]
    entries = by_id(found)
    assert {name: entry["batch"] for name, entry in entries.items()} == {
        "ada": 1, "chen": 1, "eli": 1, "bo": 2, "dana": 2,
    }  # fmt: skip
    assert [entry["batch"] for entry in found["ranking"]] == [1, 1, 1, 2, 2]
    assert min(entry["rank"] for entry in found["ranking"] if entry["batch"] == 2) == 1
    # The others have no vote: alone, the two agree as they do here.
    alone = by_id(report(two_tasks, "--only", "bo", "--only", "dana"))["bo"]
    for key in ("rank", "makers", "mean_similarity", "why"):
        assert alone[key] == entries["bo"][key]
    out = printed(two_tasks)
    assert out.index("Task 1 of 2") < out.index("Task 2 of 2")
    assert "3 candidates in" in out


def test_what_only_an_issue_ties_is_said_to_be(repo):
    for name, files in {"ada": {"parser__py": STRIP}, "bo": {"server__py": RETRY}}.items():
        folder = worktree(repo, name, **files)
        repo.git("commit", "--quiet", "-am", f"{name}\n\nFixes #12", cwd=folder)
    worktree(repo, "chen", other__py="x = 1\n")
    both, alone = report(repo)["batches"]
    assert both["members"] == ["worktree:ada", "worktree:bo"]
    assert both["by_issue"] == {"worktree:ada": "#12", "worktree:bo": "#12"}
    assert alone["members"] == ["worktree:chen"]
    assert alone["by_issue"] == {}
    assert "note: ada, bo: belongs to its task by #12" in printed(repo)


def test_one_batch_is_chosen(two_tasks):
    for name in ("2", "bo", "worktree:dana"):
        found = report(two_tasks, "--batch", name)
        assert sorted(found["candidates"]) == ["worktree:bo", "worktree:dana"]
        assert [batch["number"] for batch in found["batches"]] == [1]
        assert found["other_batches"] == [["worktree:ada", "worktree:chen", "worktree:eli"]]
    assert report(two_tasks, "--batch", "all") == report(two_tasks)
    out = printed(two_tasks, "--task", "2")
    assert "not shown: 3 candidates of 1 other task (--task all)" in out
    assert not rows(out, "ada")
    ran = excise("worktrees", str(two_tasks.path), "--batch", "fay\x1b[31m")
    one_line(ran, "no task is called")
    assert "there are 2" in ran.err


def test_who_is_left_out_has_a_name_and_no_path(repo):
    worktree(repo, "ada", parser__py=STRIP)
    shutil.rmtree(worktree(repo, "bo"))
    ran = excise("worktrees", str(repo.path))
    assert ran.code == 1
    [line] = [line for line in ran.err.split("\n") if line]
    assert line.startswith("excise: left out: cannot read bo: prunable")
    assert str(repo.path.parent) not in line
    assert report(repo, code=1)["rejected"][0]["id"].endswith("/bo")


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
    assert [len(batch["members"]) for batch in found["batches"]] == [40, 24]
    assert [len(c["members"]) for c in found["clusters"] if c["batch"] == 1] == [20, 20]
    out = printed(repo, "--git", "agent/*")
    assert out.count("20 of 40 make this edit") == 40
    assert len([line for line in out.split("\n") if "\tagent/" in line]) == 64


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
