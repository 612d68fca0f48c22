"""`review --run`: the user's command for every candidate, however it behaves.

The commands are real ones: they never end, flood, kill their group, leave their session, ask on a
terminal. More attacks are in test_runs_attacks.py, and what runs where is in test_runs_places.py.
"""

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.server.command import command_line, plain_environment
from tests.server.git_repository import make, needs_git
from tests.server.process_tree import wait_until

from excise_server.candidates.running import BASE, run_for
from excise_server.foundation.inputs import SourceError
from excise_server.processes.runs import KEPT
from excise_server.review.candidate import Candidate

pytestmark = [
    needs_git,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc"),
]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command in one folder or more; return what came of it, and what was said."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    @contextmanager
    def place(candidate):
        if candidate.label.startswith("none"):
            raise SourceError("no scratch copy: the disk is full")
        folder = tmp_path / ("target" if candidate is BASE else candidate.id)
        if candidate.id != "gone":
            folder.mkdir(exist_ok=True)
        yield str(folder)

    def run(command, *labels, seconds=20.0, jobs=4):
        said: list[str] = []
        classes = [
            [Candidate(re.sub(r"\W", "", label)[:9], "", "", "", label=label)]
            for label in labels or ("a",)
        ]
        runs = run_for(command, classes, place, jobs=jobs, seconds=seconds, say=said.append)
        return runs, said

    return run


def log(runs, number=2):
    (path,) = runs.folder.glob(f"{number:03}-*.log")
    return path.read_bytes()


def alive(mark):
    """Return the processes with a word in their command lines."""
    pids = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes() and path.parent.name != str(os.getpid()):
                pids.append(int(path.parent.name))
        except OSError:
            continue
    return pids


def gone(mark):
    """Wait until no process of a word is left: the kernel needs a moment to end them."""
    wait_until(lambda: not alive(mark))
    return True


def test_verdicts_in_their_own_folders(run):
    command = 'echo out; echo err >&2; test "$(basename "$PWD")" = a'
    runs, said = run(command, "a", "b", "c", jobs=1)
    outcomes = {v.candidate: (v.passed, v.reason, v.base_passed) for v in runs.verdicts}
    assert outcomes == {
        "a": (True, "", False),
        "b": (False, "exit status 1", False),
        "c": (False, "exit status 1", False),
    }
    assert log(runs) == b"out\nerr\n"
    lines = [json.loads(line) for line in runs.file.read_text().split("\n") if line]
    assert [line["candidate"] for line in lines] == [v.candidate for v in runs.verdicts]
    assert runs.folder.stat().st_mode & 0o777 == 0o700
    assert any(str(runs.folder) in line for line in said)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("exit 125", "cannot be tested"),
        ("no-such-command-anywhere", "not found"),
        ("./not-executable", "cannot be executed"),
    ],
)
def test_what_tells_of_no_test_is_no_verdict(run, tmp_path, command, reason):
    for name in ("a", "target"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "not-executable").write_text("")
    runs, _ = run(command)
    assert runs.verdicts[0].passed is None
    assert reason in runs.verdicts[0].reason


def test_one_that_never_ends_has_timed_out_and_not_failed(run):
    runs, _ = run("trap '' TERM INT HUP; while :; do sleep 0.0731; done", seconds=0.3)
    assert (runs.verdicts[0].passed, runs.verdicts[0].reason) == (None, "timed out")
    assert gone("0.0731")


def test_of_a_flood_the_end_is_kept_and_that_is_said(run):
    runs, said = run("echo first; head -c 100000000 /dev/zero; echo last")
    assert runs.verdicts[0].passed
    text = log(runs)
    assert len(text) < 2 * KEPT + 100
    assert text.startswith(b"[excise: ")
    assert text.endswith(b"last\n")
    assert sum("left out of its log" in line for line in said) == 2
    runs, _ = run("yes", seconds=0.3)
    assert runs.verdicts[0].reason == "timed out"
    assert len(log(runs)) < 2 * KEPT + 100


def test_there_is_no_terminal_and_nothing_to_read(run):
    runs, _ = run("read line || echo no line; tty; : < /dev/tty && echo asked; true")
    assert b"no line" in log(runs)
    assert b"not a tty" in log(runs)
    assert b"asked" not in log(runs)


def test_a_folder_that_is_gone_or_cannot_be_had_is_no_verdict(run):
    runs, _ = run("true", "gone", "none", jobs=1)
    assert [(v.candidate, v.passed, v.reason) for v in runs.verdicts] == [
        ("gone", None, "cannot be run: No such file or directory"),
        ("none", None, "not run: no scratch copy: the disk is full"),
    ]


@pytest.mark.parametrize("command", ["", "  ", "a\0b"])
def test_no_command(run, command):
    with pytest.raises(SourceError, match="needs a command"):
        run(command)


def test_labels_that_are_paths_make_files_in_the_folder_only(run):
    names = ["../../x", "a/b", "", "\x1b[31m", "é" * 300]
    runs, _ = run("true", *names)
    assert len(list(runs.folder.glob("*.log"))) == len(names) + 1
    assert len(runs.verdicts) == len(names)


def test_no_more_than_so_many_run_at_a_time(run, tmp_path):
    mine = f"{tmp_path}/mine-$(basename $PWD)"
    command = f"touch {mine}; sleep 0.2; ls {tmp_path} | grep -c mine-; rm {mine}"
    runs, _ = run(command, "a", "b", "c", "d", jobs=2)
    assert max(int(log(runs, n + 1)) for n in range(5)) <= 2


@pytest.mark.parametrize("what", ["../cache", "../cache/excise/runs/*/*"])
def test_a_run_that_removes_or_forges_what_is_kept_costs_nobody_a_verdict(run, what):
    forge = "for f in ../cache/excise/runs/*/; do echo '{}' > $f/verdicts.jsonl; done"
    runs, _ = run(f'case "$PWD" in */a) rm -rf {what};; */b) {forge};; esac', "a", "b", jobs=1)
    assert [(v.candidate, v.passed) for v in runs.verdicts] == [("a", True), ("b", True)]
    lines = [json.loads(line) for line in runs.file.read_text().split("\n") if line]
    assert [line["candidate"] for line in lines] == ["a", "b"]


# --- the command ---


@pytest.fixture
def repo(tmp_path, monkeypatch):
    repo = make(tmp_path, monkeypatch, a__py="def f(a):\n    return a\n")
    for name, value in (("ada", "a or 0"), ("bo", "a or 1"), ("chen", "a or 0")):
        repo.git("worktree", "add", "--quiet", "-b", name, tmp_path / name)
        (tmp_path / name / "a.py").write_text(f"def f(a):\n    return {value}\n")
        os.utime(tmp_path / name / "a.py", (1_600_000_000, 1_600_000_000))
    repo.git("branch", "dana")
    return repo


def excise(repo, *arguments, jobs="", **options):
    environment = plain_environment(**{k: v for k, v in repo.env.items() if k.startswith("GIT_")})
    environment |= {"EXCISE_JOBS": jobs}
    environment |= {"HOME": repo.env["HOME"], "XDG_CACHE_HOME": str(repo.path.parent / "cache")}
    return subprocess.Popen(
        command_line("review", "--repo", str(repo.path), *arguments),
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def test_an_interrupt_stops_all_and_reports_what_is_there(repo):
    command = 'grep -q "or 1" a.py || exit 0; echo waiting-4411; sleep 4411'
    process = excise(repo, "--run", command, "--format", "json")
    for line in process.stderr:
        if b"ada (also for chen): passed" in line:
            break
    wait_until(lambda: alive("sleep\0" + "4411"))
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    entries = {entry["id"]: entry for entry in json.loads(out)["candidates"]}
    assert entries["worktree:ada"]["verdict"] == "passed"
    assert entries["worktree:bo"]["checks"][0]["reason"] == "stopped"
    assert entries["worktree:chen"]["verdict"] == "passed"
    assert gone("4411")


def test_an_interrupt_of_the_base_s_run_leaves_all_without_a_verdict(repo):
    process = excise(repo, "--run", "echo waiting-4412; sleep 4412", "--format", "json")
    wait_until(lambda: alive("sleep\0" + "4412"))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert {entry["verdict"] for entry in json.loads(out)["candidates"]} == {None}
    assert b"interrupted: 2 not run" in err
    assert gone("4412")


def test_a_parser_that_dies_does_not_run_the_command_again(repo):
    """Forks parse before and after the runs; here the first of each dies, by its own hand."""
    code = (
        "import os, sys, signal\n"
        "import excise_server.processes.parsers as guard\n"
        "install = guard.Guard.install\n"
        "def dying(self):\n"
        "    install(self)\n"
        "    when = os.path.exists(sys.argv[3] + '/../count')\n"
        "    died = sys.argv[3] + ('/../died-after' if when else '/../died-before')\n"
        "    if not os.path.exists(died):\n"
        "        open(died, 'x')\n"
        "        os.kill(os.getpid(), signal.SIGSEGV)\n"
        "guard.Guard.install = dying\n"
        "from excise_server.cli import main\n"
        "sys.exit(main())\n"
    )
    environment = repo.env | {"XDG_CACHE_HOME": str(repo.path.parent / "cache")}
    count = repo.path.parent / "count"
    ran = subprocess.run(
        [sys.executable, "-c", code, "review", "--repo", str(repo.path),
         "--run", f"echo x >> {count}", "--format", "json"],
        env=environment, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert (repo.path.parent / "died-before").exists()
    assert (repo.path.parent / "died-after").exists()
    assert count.read_text() == "x\n" * 3  # the target, and two for three candidates
    assert [entry["verdict"] for entry in json.loads(ran.stdout)["candidates"]] == ["passed"] * 3


def test_only_those_that_were_chosen_run(repo):
    _, err = excise(repo, "--run", "true", "--only", "ada").communicate(timeout=60)
    assert b"on the target and for 1 candidate, 1 at a time" in err
    _, err = excise(repo, "--run", "true", "--task", "ada").communicate(timeout=60)
    assert b"for 3 candidates in 2 classes" in err
    _, err = excise(repo, "--run", "true", "--task", "nobody").communicate(timeout=60)
    assert err.decode().count("\n") == 1
    assert b"no task is called nobody" in err
    _, err = excise(repo, "--timeout", "2").communicate(timeout=60)
    assert b"--run" in err
    _, err = excise(repo, "--run", "true", jobs="many").communicate(timeout=60)
    assert b"EXCISE_JOBS is a number" in err


def test_nothing_to_run(repo):
    for name in ("ada", "bo", "chen"):
        repo.git("worktree", "remove", "--force", repo.path.parent / name)
    out, err = excise(repo, "--run", "touch ../ran", "--format", "json").communicate(timeout=60)
    assert json.loads(out)["candidates"] == []
    assert b"no candidate: touch ../ran is not run" in err
    assert not (repo.path.parent / "ran").exists()
