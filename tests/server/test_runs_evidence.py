"""`review --run` on real repositories: what runs where, how often, and what is said of it."""

from __future__ import annotations

import json
import os
import sys
import tempfile

import pytest
from tests.server.command import excise
from tests.server.edited_worktrees import LONG_AGO
from tests.server.git_repository import Repo, make, needs_git

from excise_server.candidates import scratch

pytestmark = [
    pytest.mark.slow,
    needs_git,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc"),
]

ORIGIN = "def f(a):\n    return a\n"
TEST = "from a import f\n\n\ndef test_f():\n    assert f(1) == 1\n"


@pytest.fixture
def repo(tmp_path, monkeypatch) -> Repo:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # a run may leave a link there
    return make(
        tmp_path, monkeypatch, a__py=ORIGIN, test_a__py=TEST, b__py="b = 1\n", poetry__lock="one\n"
    )


def worktree(repo: Repo, name: str, text: str, **files: str):
    """Add a worktree in which ``a.py`` has this text, written long ago."""
    folder = repo.path.parent / name
    repo.git("worktree", "add", "--quiet", "-b", name, folder)
    for path, content in ({"a__py": text} | files).items():
        file = folder / path.replace("__", ".")
        file.write_text(content)
        os.utime(file, (LONG_AGO, LONG_AGO))
    return folder


def branch(repo: Repo, name: str, text: str) -> None:
    repo.git("checkout", "--quiet", "-b", name)
    repo.commit(f"Change f as {name}", a__py=text)
    repo.git("checkout", "--quiet", "main")


def run(repo: Repo, command: str, *more: str, code: int = 0):
    """Run a command; return the evidence by candidate, how often it ran, and what was said."""
    ran = excise("review", "--repo", str(repo.path), "--run", command, "--format", "json", *more)
    assert ran.code == code, ran.err
    document = ran.json
    shown = {entry["label"]: entry["evidence"] for entry in document["candidates"]}
    return shown, ran.err.count(" after ") + ran.err.count("timed out"), document, ran.err


LOAD = "python3 -c 'import a, sys; print(a.f(1)); sys.exit(a.f(1) != 2)'"


def test_one_line_for_each_and_those_without_an_effect_come_last(repo: Repo):
    worktree(repo, "good", ORIGIN.replace("return a", "return a + 1"))
    worktree(repo, "far", ORIGIN.replace("return a", "return a + 3"))
    worktree(repo, "idle", ORIGIN.replace("return a", "b = a\n    return b"))
    worktree(repo, "lost", "import gone\n" + ORIGIN.replace("return a", "return gone.f(a)"))
    worktree(repo, "wrong", ORIGIN.replace("return a", "return a[0]"))
    shown, runs, document, _ = run(repo, LOAD)
    assert shown == {
        "good": ["passes"],
        "far": ["changed: 4"],
        "wrong": ["raises TypeError"],
        "idle": ["as target"],
        "lost": ["does not import: ModuleNotFoundError: No module named 'gone'"],
    }
    assert runs == 6
    assert document["candidates"][0]["label"] == "good"
    assert {entry["label"] for entry in document["candidates"][3:]} == {"idle", "lost"}
    reasons = {entry["label"]: entry["why"][0] for entry in document["candidates"]}
    assert reasons["idle"].startswith("no effect")
    assert reasons["lost"] == shown["lost"][0]
    table = excise("review", "--repo", str(repo.path), "--run", LOAD)
    assert "\n   far: changed: 4\n" in table.out
    assert "idle (no effect, where another one has an effect, fails " in table.out


def test_the_same_code_runs_once_unless_what_runs_differs(repo: Repo):
    text = ORIGIN.replace("return a", "return a + 1")
    worktree(repo, "one", text)
    worktree(repo, "comment", text.replace("return", "# more\n    return"))
    worktree(repo, "docs", text, README__md="# f\n")
    worktree(repo, "tested", text, test_a__py=TEST.replace("== 1", "== 2"))
    worktree(repo, "locked", text, poetry__lock="two\n")
    shown, runs, document, err = run(repo, "cat test_a.py poetry.lock a.py")
    assert runs == 4  # the target, and three classes
    assert "5 candidates in 3 classes of the same code" in err
    assert len(shown) == 5
    by_label = {entry["label"]: entry for entry in document["candidates"]}
    assert by_label["one"]["checks"] == by_label["docs"]["checks"] == by_label["comment"]["checks"]
    assert len({entry["cluster"] for entry in document["candidates"]}) == 1  # nobody is parted


def test_branches_and_patches_run_in_a_scratch_copy_of_the_target_with_their_edits(repo: Repo):
    branch(repo, "plus", ORIGIN.replace("return a", "return a + 1"))
    patch = repo.path.parent / "minus.diff"
    repo.git("checkout", "--quiet", "-b", "patched")
    repo.commit(a__py=ORIGIN.replace("return a", "return a - 1"))
    patch.write_bytes(repo.git("format-patch", "--stdout", "-1", "--full-index"))
    repo.git("checkout", "--quiet", "main")
    repo.git("branch", "-D", "patched")
    repo.commit(c__py="c = 1\n")  # the branch does not have it, the target does
    where = repo.path.parent / "where"
    command = f"test -f c.py && pwd >> {where}; echo new > new.py; rm b.py; {LOAD}"
    shown, runs, _, _ = run(repo, command, "--git", "plus", "--patches", str(patch))
    assert sorted(shown.values()) == [["changed: 0"], ["passes"]]
    assert runs == 3
    folders = where.read_text().split()
    assert len(set(folders)) == 3
    assert not any(os.path.exists(folder) for folder in folders)
    assert str(repo.path) not in folders
    assert repo.git("status", "--porcelain") == b""  # whatever it writes is in the copies


def test_a_worktree_keeps_its_folder_and_what_git_ignores_is_there(repo: Repo):
    folder = worktree(repo, "ada", ORIGIN.replace("return a", "return a + 1"))
    repo.write(".git/info/exclude", "built\n")
    (folder / "built").write_text("by hand\n")
    shown, _, _, _ = run(repo, "cat built; echo x > written")
    assert shown == {"ada": ["changed: by hand"]}
    assert (folder / "written").exists()
    assert not (repo.path / "written").exists()


def test_a_folder_that_is_gone_when_its_turn_comes(repo: Repo):
    folder = worktree(repo, "ada", ORIGIN.replace("return a", "return a + 1"))
    command = f'test "$EXCISE_CANDIDATE" = target && rm -rf {folder}; {LOAD}'
    shown, _, _, err = run(repo, command)
    assert shown == {"ada": ["passes"]}
    assert "ada: its folder is gone: it is run in a scratch copy" in err


@pytest.mark.parametrize(
    ("command", "reason"),
    [("no-such-command", "not found"), ("exit 125", "cannot be tested"), ("./a.py", "executed")],
)
def test_a_command_that_runs_nowhere(repo: Repo, command, reason):
    worktree(repo, "ada", ORIGIN.replace("return a", "return a + 1"))
    shown, _, document, err = run(repo, command)
    assert shown == {"ada": []}
    assert document["candidates"][0]["verdict"] == "undecided"
    assert reason in document["candidates"][0]["checks"][0]["reason"]
    assert "the target has no outcome" in err


def test_all_time_out(repo: Repo):
    worktree(repo, "ada", ORIGIN.replace("return a", "return a + 1"))
    worktree(repo, "bo", ORIGIN.replace("return a", "return a + 2"))
    shown, _, document, err = run(repo, "sleep 300", "--timeout", "0.3")
    assert shown == {"ada": ["times out"], "bo": ["times out"]}
    assert {entry["verdict"] for entry in document["candidates"]} == {"undecided"}
    assert "the target has no outcome" in err


def test_only_the_base_times_out(repo: Repo):
    worktree(repo, "ada", ORIGIN.replace("return a", "return a + 1"))
    command = 'test "$EXCISE_CANDIDATE" = target && sleep 300; true'
    assert run(repo, command, "--timeout", "0.5")[0] == {"ada": ["passes"]}


def test_a_gigabyte_of_output_is_bounded_and_not_taken_for_that_of_the_base(repo: Repo):
    worktree(repo, "ada", ORIGIN.replace("return a", "return a + 1"))
    shown, _, _, err = run(repo, "head -c 1000000000 /dev/zero")
    assert shown == {"ada": ["passes"]}
    assert err.count("bytes of output left out of its log") == 2


def test_bytes_that_are_no_text(repo: Repo):
    worktree(repo, "ada", ORIGIN.replace("return a", "return a + 1"))
    command = "printf '\\377\\000\\033[31m\\n'; cat a.py | tail -1 | tr a '\\376'"
    shown, _, _, _ = run(repo, command)
    (line,) = shown["ada"]
    assert line.startswith("changed: ")
    table = excise("review", "--repo", str(repo.path), "--run", command).out
    assert "\x1b" not in table
    assert "\0" not in table


def test_no_candidate_can_write_into_what_the_others_are_compared_with(repo: Repo):
    worktree(repo, "ada", ORIGIN.replace("return a", "return a + 1"))
    worktree(repo, "idle", ORIGIN.replace("return a", "b = a\n    return b"))
    logs = repo.path.parent / "cache" / "excise" / "runs"
    forge = f"for log in {logs}/*/001-*.log; do echo forged > $log; done"
    shown, _, _, _ = run(repo, f'{LOAD}; test "$EXCISE_CANDIDATE" = target || {forge}')
    assert shown == {"ada": ["changed: 2"], "idle": ["as target"]}
    # Who removes what it printed has nothing that is as the target's.
    assert run(repo, f'echo x; test "$EXCISE_CANDIDATE" = target || rm -rf {logs}')[0] == {
        "ada": ["passes"],
        "idle": ["passes"],
    }


def test_what_a_run_starts_or_ends_is_its_own_affair(repo: Repo):
    worktree(repo, "ada", ORIGIN.replace("return a", "return a + 1"))
    worktree(repo, "bo", ORIGIN.replace("return a", "return a + 2"))
    command = 'case "$PWD" in */ada) (setsid sleep 317 &); kill -9 $PPID; exit 1;; esac; true'
    shown, _, document, _ = run(repo, command)
    assert shown["bo"] == ["as target"]
    assert {e["label"]: e["verdict"] for e in document["candidates"]}["ada"] != "passed"


def test_where_all_pass_and_the_base_too_it_is_said_once(repo: Repo):
    worktree(repo, "ada", ORIGIN.replace("return a", "return a + 1"))
    worktree(repo, "bo", ORIGIN.replace("return a", "return a + 2"))
    said = "true passes on the target, too: passing tells nobody apart"
    for named in ((), ("ada", "bo")):
        ran = excise("review", *named, "--repo", str(repo.path), "--run", "true")
        assert ran.code == 0
        assert ran.out.count(said) == 1, named


def test_the_saved_files_are_the_target_if_candidates_are_replayed_onto_them(repo: Repo):
    worktree(repo, "ada", ORIGIN.replace("return a", "return a + 1"))
    repo.write("b.py", "b = 2\n")
    repo.write("new.py", "n = 1\n")
    (log,) = _logs(repo, "cat b.py new.py", "--onto", "saved")
    assert log == b"b = 2\nn = 1\n"
    (log,) = _logs(repo, "cat b.py; ls")
    assert log == b"b = 1\na.py\nb.py\npoetry.lock\ntest_a.py\n"


def _logs(repo: Repo, command: str, *more: str) -> list[bytes]:
    """Return the output of the target's run."""
    run(repo, command, *more)
    folders = (repo.path.parent / "cache" / "excise" / "runs").iterdir()
    newest = max(folders, key=lambda folder: folder.stat().st_mtime_ns)  # two may have one second
    return [log.read_bytes() for log in newest.glob("001-the-target.log")]


def test_folders_without_git_are_compared_with_a_copy_of_their_origin(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, text in (("origin", ORIGIN), ("x", ORIGIN.replace("return a", "return a + 1"))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text(text)
    (tmp_path / "origin" / "link").symlink_to("/etc/hostname")
    origin, folder = str(tmp_path / "origin"), str(tmp_path / "x")
    command = f"echo x >> written; {LOAD}"
    ran = excise("review", "--origin", origin, folder, "--run", command, "--format", "json")
    assert ran.json["candidates"][0]["evidence"] == ["passes"], ran.err
    assert not (tmp_path / "origin" / "written").exists()
    assert (tmp_path / "x" / "written").exists()
    os.mkfifo(tmp_path / "origin" / "pipe")
    ran = excise("review", "--origin", origin, folder, "--run", "true", "--format", "json")
    assert "the target: not started: no scratch copy" in ran.err
    assert ran.json["candidates"][0]["evidence"] == ["passes"]


@pytest.mark.parametrize(
    "harm",
    [
        'rm -rf "$PWD"',
        'd="$PWD"; cd /; rm -rf "$d"; ln -s {victim} "$d"',
        "mkdir -p a/b; touch a/b/c; chmod 0 a/b a",
        "ln -s {victim} link; mkfifo pipe",
    ],
)
def test_whatever_becomes_of_a_scratch_copy_nothing_else_is_removed(repo: Repo, tmp_path, harm):
    branch(repo, "plus", ORIGIN.replace("return a", "return a + 1"))
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "kept").write_text("x")
    command = f"{LOAD}; code=$?; {harm.format(victim=victim)}; exit $code"
    shown, _, _, _ = run(repo, command, "--git", "plus")
    assert shown == {"plus": ["passes"]}
    assert (victim / "kept").exists()


def test_files_that_became_folders_and_back(repo: Repo):
    repo.commit(**{"d/x__py": "x = 1\n", "e": "e\n"})
    repo.git("checkout", "--quiet", "-b", "moved")
    for name in ("d/x.py", "e"):
        (repo.path / name).unlink()
    (repo.path / "d").rmdir()
    repo.commit(**{"d": "now a file\n", "e/y__py": "y = 1\n", "run__sh": "echo run\n"})
    (repo.path / "run.sh").chmod(0o755)
    repo.commit()
    repo.git("checkout", "--quiet", "main")
    shown, _, _, _ = run(repo, "cat d; test -e d/x.py || cat e/y.py; ./run.sh", "--git", "moved")
    assert shown == {"moved": ["passes"]}


def test_a_target_too_large_to_copy_costs_the_base_its_outcome_alone(repo: Repo, monkeypatch):
    worktree(repo, "ada", ORIGIN.replace("return a", "return a + 1"))
    branch(repo, "plus", ORIGIN.replace("return a", "return a + 2"))
    monkeypatch.setattr(scratch, "MOST", 10)
    shown, _, document, err = run(repo, "true", "--git", "plus")
    assert shown == {"ada": ["passes"], "plus": []}
    assert "the target: not started: the target has" in err
    reasons = {e["label"]: e["checks"][0]["reason"] for e in document["candidates"]}
    assert reasons["plus"].startswith("not started: the target has")


def test_verdicts_of_a_file_say_and_order_the_same(repo: Repo):
    worktree(repo, "good", ORIGIN.replace("return a", "return a + 3"))
    worktree(repo, "idle", ORIGIN.replace("return a", "b = a\n    return b"))
    shown, _, document, _ = run(repo, f"{LOAD}; true")
    (file,) = (repo.path.parent / "cache" / "excise" / "runs").glob("*/verdicts.jsonl")
    again = excise(
        "review", "--repo", str(repo.path), "--verdicts", str(file), "--format", "json"
    ).json
    assert again == document
    assert not [*repo.path.parent.glob("*/__pycache__")]
    assert shown == {"good": ["changed: 4"], "idle": ["as target"]}
    lines = [json.loads(line) for line in file.read_text().split("\n") if line]
    file.write_text(json.dumps(lines[0] | {"evidence": "certain"}) + "\n")
    ran = excise("review", "--repo", str(repo.path), "--verdicts", str(file))
    assert ran.code == 1
    assert "line 1: " in ran.err
