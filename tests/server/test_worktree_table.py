"""What `excise worktrees` prints: a table for each task, on terminals of any width and off them."""

from __future__ import annotations

import io
import re
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from tests.server.command import excise, one_line
from tests.server.git_repository import make, needs_git
from tests.server.test_worktrees import by_id, report, worktree, write

from excise_server.candidates.worktrees import compare_worktrees
from excise_server.git.repository import open_folder
from excise_server.report.tables import cut
from excise_server.report.worktree_table import about_worktrees, candidate_tables

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


def on_a_terminal(folder, width):
    """Return the lines as a terminal of that width shows them, without colours."""
    found = compare_worktrees(open_folder(str(folder), [str(folder)]))
    out = Console(
        file=io.StringIO(), force_terminal=True, width=width, markup=False, highlight=False
    )
    for part in (*candidate_tables(found, out), *about_worktrees(found, out)):
        out.print(part)
    return re.sub(r"\x1b\[[0-9;]*m", "", out.file.getvalue()).split("\n")


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
    assert out.index("Batch 1 of 2") < out.index("Batch 2 of 2")
    assert "3 candidates in" in out


def test_tests_and_docs_are_counted_apart_and_make_nobody_large(two_tasks):
    entries = by_id(report(two_tasks))
    assert entries["chen"]["lines"] == {
        "code": {"files": 1, "added": 1, "deleted": 1},
        "tests": {"files": 1, "added": 2, "deleted": 0},
        "docs": {"files": 1, "added": 1, "deleted": 1},
        "generated": {"files": 0, "added": 0, "deleted": 0},
    }
    assert entries["chen"]["edit_size"] == entries["ada"]["edit_size"]
    [line] = re.findall("^.*\tchen\tchen\t.*$", printed(two_tasks), re.MULTILINE)
    assert "\t+1 -1\t+2 -0\t+1 -1\t" in line


def test_five_identical_agents_are_five_voices_in_one_group(repo):
    for name in ("ada", "bo", "chen", "dana", "eli"):
        worktree(repo, name, parser__py=STRIP)
    worktree(repo, "fay", parser__py=SKIP)
    found = report(repo)
    assert [len(cluster["members"]) for cluster in found["clusters"]] == [5, 1]
    assert found["clusters"][0]["words"] == ["same"] * 5
    out = printed(repo)
    assert out.count("5 of 6 make this edit") == 5
    assert out.count("identical to ●") == 4
    assert out.count("nobody else makes it") == 1


def test_who_is_in_conflict_with_the_target_is_compared_by_the_replayed_text(repo):
    for name in ("ada", "bo"):
        worktree(repo, name, parser__py=STRIP)
    assert "2 of 2 make this edit" in printed(repo)
    repo.commit("theirs", parser__py=PARSER.replace("int(part)", "float(part)"))
    assert "2 of 2 make this edit; in conflict with the target" in printed(repo)
    path = repo.path.parent / "chen"
    repo.git("worktree", "add", "--quiet", "-b", "chen", path)
    write(path, "parser.py", STRIP)
    out = printed(repo)
    assert "conflict: ada: parser.py: the target changed these lines, too" in out


def test_a_batch_of_one_is_listed_and_not_ranked(two_tasks):
    worktree(two_tasks, "fay", other__py="x = 1\n")
    found = report(two_tasks)
    assert [batch["ranked"] for batch in found["batches"]] == [True, True, False]
    fay = by_id(found)["fay"]
    assert (fay["rank"], fay["mean_similarity"], fay["batch"]) == (None, None, 3)
    out = printed(two_tasks)
    assert "Batch 3 of 3: 1 candidate: listed, not ranked" in out
    table = out[out.index("Batch 3") :].split("\n\n")[0].split("\n")
    assert "rank" not in table[1]
    assert "changes other.py" in table[2]


def test_what_shares_no_code_is_attached_by_base_and_time(repo):
    worktree(repo, "ada", parser__py=STRIP)
    worktree(repo, "bo", parser__py=SKIP)
    worktree(repo, "chen", other__py="x = 1\n")
    [batch] = report(repo)["batches"]
    assert batch["attached"] == ["worktree:chen"]
    assert "note: chen: shares no code with its batch" in printed(repo)


def test_one_batch_is_chosen(two_tasks):
    for name in ("2", "bo", "worktree:dana"):
        found = report(two_tasks, "--batch", name)
        assert sorted(found["candidates"]) == ["worktree:bo", "worktree:dana"]
        assert [batch["number"] for batch in found["batches"]] == [1]
        assert found["other_batches"] == [["worktree:ada", "worktree:chen", "worktree:eli"]]
    assert report(two_tasks, "--batch", "all") == report(two_tasks)
    out = printed(two_tasks, "--batch", "2")
    assert "not shown: 3 candidates of 1 other batch (--batch all)" in out
    assert not rows(out, "ada")
    ran = excise("worktrees", str(two_tasks.path), "--batch", "fay\x1b[31m")
    one_line(ran, "no batch is called")
    assert "there are 2" in ran.err


def test_off_a_terminal_a_candidate_is_one_line_with_its_whole_name(repo):
    long = "a-branch-with-a-name-that-is-" + "very-" * 30 + "long"
    worktree(repo, "ada", parser__py=STRIP)
    path = repo.path.parent / "long"
    repo.git("worktree", "add", "--quiet", "-b", long, path)
    write(path, "parser.py", SKIP)
    lines = printed(repo).split("\n")
    [line] = [line for line in lines if line.split()[1:2] == [long]]
    assert line.count(long) == 2
    assert "nobody else makes it" in line
    assert not any(line != line.rstrip() for line in lines)
    assert "…" not in "".join(lines)


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(two_tasks, width):
    path = two_tasks.path.parent / "long"
    two_tasks.git("worktree", "add", "--quiet", "-b", "topic/" + "x" * 150, path)
    write(path, "folder/" + "y" * 120 + ".py", SKIP)
    write(path, "parser.py", SKIP + "\n\nmore = 1\n")
    lines = on_a_terminal(two_tasks.path, width)
    assert max(map(cell_len, lines)) <= width
    text = "\n".join(lines)
    assert "of 4" in text
    for key in ("code", "rank", "tokens"):
        assert key in text


@pytest.mark.parametrize(
    "shown", [lambda repo: printed(repo), lambda repo: "\n".join(on_a_terminal(repo.path, 70))]
)
def test_controls_and_bidirectional_marks_are_seen(repo, shown):
    path = repo.path.parent / "a\x1b[31m\u202eb"
    repo.git("worktree", "add", "--quiet", "-b", "x\u202egnp.exe\u200b", path)
    write(path, "parser.py", STRIP)
    write(path, "te\x07st\u2066.py", "x = 1\n")
    path = repo.path.parent / "c\x1b]0;title\x07"
    repo.git("worktree", "add", "--quiet", "--detach", path)
    write(path, "parser.py", SKIP)
    out = shown(repo)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", out)
    assert "\\u202egnp.exe" in out


def test_who_is_left_out_has_a_name_and_no_path(repo):
    worktree(repo, "ada", parser__py=STRIP)
    shutil.rmtree(worktree(repo, "bo"))
    ran = excise("worktrees", str(repo.path))
    assert ran.code == 1
    [line] = [line for line in ran.err.split("\n") if line]
    assert line.startswith("excise: left out: cannot read bo: prunable")
    assert str(repo.path.parent) not in line
    assert report(repo, code=1)["rejected"][0]["id"].endswith("/bo")


def test_no_candidate(repo):
    out = printed(repo)
    assert "nothing to compare" in out
    assert "order:" not in out
    found = report(repo)
    assert found["batches"] == found["ranking"] == found["candidates"] == []
    one_line(excise("worktrees", str(repo.path), "--batch", "1"), "no candidate changes anything")


def test_one_candidate(repo):
    worktree(repo, "ada", parser__py=STRIP)
    out = printed(repo)
    assert "One batch: 1 candidate: listed, not ranked" in out
    assert "rank " not in out
    assert rows(out, "ada")


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
    found = report(repo, "--branches", "agent/*")
    assert [len(batch["members"]) for batch in found["batches"]] == [40, 24]
    assert [len(c["members"]) for c in found["clusters"] if c["batch"] == 1] == [20, 20]
    out = printed(repo, "--branches", "agent/*")
    assert out.count("20 of 40 make this edit") == 40
    assert len([line for line in out.split("\n") if "agent/" in line]) == 64


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
