"""Several processes for one run: the results of one, whatever becomes of a fork."""

import os
import signal
import subprocess
import sys
from array import array

import pytest
from tests.server.command import excise, spawn
from tests.server.process_tree import DEADLINE, is_running, wait_until
from tests.server.test_cli_patches import COVER, FROM, ONE
from tests.server.test_state import mails

from excise_server.processes import forks
from excise_server.processes.forks import forked_map, usable_cores
from excise_server.queue import counted

HERE = os.getpid()
needs_fork = pytest.mark.skipif(forked_map(2) is map, reason="nothing is forked on this system")


def squared(number):
    return [number * number, str(number), array("i", [number]), None]


def failing(number):
    if number == 57:
        raise ValueError(f"no {number}")
    return number


def dying(number):
    if number == 57 and os.getpid() != HERE:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


# --- the map -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2, 3, 200])
@pytest.mark.parametrize("count", [0, 1, 2, 300])
def test_results_come_in_order(jobs, count):
    assert list(forked_map(jobs)(squared, range(count))) == list(map(squared, range(count)))


@needs_fork
def test_other_processes_do_it():
    assert HERE not in set(forked_map(2)(lambda _: os.getpid(), range(100)))


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_an_error_is_raised_in_its_turn_by_the_call_that_raises_it_in_one_process(jobs):
    results = forked_map(jobs)(failing, range(1000))
    seen = []
    with pytest.raises(ValueError, match="no 57") as caught:
        seen.extend(results)
    assert caught.traceback[-1].name == "failing"
    assert len(seen) <= 57


def test_what_cannot_be_sent_is_made_here():
    names = [f"{number}\udcff" for number in range(40)]  # not Unicode
    assert list(forked_map(2)(str, names)) == names


@pytest.mark.parametrize("jobs", [2, 3])
def test_the_part_of_a_fork_that_dies_is_done_again(jobs):
    assert list(forked_map(jobs)(dying, range(300))) == list(range(300))


def test_all_forks_may_die():
    def deadly(number):
        return dying(57) and number

    assert list(forked_map(3)(deadly, range(300))) == list(range(300))


@needs_fork
def test_a_result_that_nobody_waits_for_leaves_no_process():
    results = forked_map(3)(lambda _: os.getpid(), range(1000))
    processes = {next(results) for _ in range(40)}
    results.close()
    assert not any(map(is_running, processes))


@needs_fork
def test_this_process_may_do_something_meanwhile():
    done = []
    results = forked_map(2, lambda: done.append(os.getpid()))(squared, range(100))
    assert next(results) == squared(0)
    assert done == [HERE]
    assert list(results) == list(map(squared, range(1, 100)))
    assert list(forked_map(2, lambda: done.append(0))(squared, [4])) == [squared(4)]
    assert done == [HERE]


def test_no_second_core(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3}, raising=False)
    assert usable_cores() == 1
    assert forked_map(usable_cores()) is map


def test_the_quota_of_a_container_counts(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(64)), raising=False)
    quota = tmp_path / "cpu.max"
    monkeypatch.setattr(forks, "_QUOTA", str(quota))
    for text, cores in (
        ("200000 100000\n", 2), ("150000 100000\n", 1), ("50000 100000\n", 1),
        ("max 100000\n", 64), ("", 64),
    ):  # fmt: skip
        quota.write_text(text)
        assert usable_cores() == cores


def test_where_fork_is_not_available(monkeypatch):
    monkeypatch.delattr(os, "fork", raising=False)
    assert forked_map(4) is map


def test_where_a_fork_fails(monkeypatch):
    def no_room():
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(os, "fork", no_room, raising=False)
    assert list(forked_map(4)(squared, range(300))) == list(map(squared, range(300)))


ENDLESS = """
import os, sys, time
from excise_server.processes.forks import forked_map

def work(number):
    if number > 100:
        time.sleep(600)
    return os.getpid()

for process in forked_map(3)(work, range(1000)):
    print(process, flush=True)
"""


@needs_fork
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_the_parent_ends_its_forks(number):
    if number != signal.SIGINT and sys.platform != "linux":
        pytest.skip("only Linux ends a process with its parent")
    parent = subprocess.Popen(
        [sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    processes = {int(parent.stdout.readline()) for _ in range(30)}
    parent.send_signal(number)
    parent.communicate(timeout=DEADLINE)
    assert parent.returncode != 0
    wait_until(lambda: not any(map(is_running, processes)))


# --- the command ---------------------------------------------------------------------------------


@pytest.fixture
def with_jobs(monkeypatch):
    """Run the command with so many processes."""

    def run(jobs, *arguments, **more):
        monkeypatch.setenv("EXCISE_JOBS", str(jobs))
        return excise("cluster", *arguments, **more)

    return run


@pytest.fixture
def small_parts(monkeypatch):
    """Let what is small be shared, too."""
    monkeypatch.setattr(counted, "MOST", 7)
    monkeypatch.setattr("excise.patches.pool.SMALLEST", 8)
    monkeypatch.setattr("excise_server.report.cluster.TOGETHER", 5)


def odd_queue(folder):
    """Write a queue with everything that can be in one."""
    folder.mkdir()
    found = mails(60, seed=3)
    (folder / "all.mbox").write_text(COVER + "".join(found) + found[4])
    (folder / "binary.patch").write_bytes(b"\0\1\2")
    (folder / "merge.diff").write_text("diff --cc x\n@@@ -1 -1 +1 @@@\n")
    (folder / "none.patch").write_text("no diff at all\n")
    (folder / "odd.mbox").write_text(
        f"{FROM}\n{ONE}{FROM}Subject: x\n\n--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n a\n"
    )
    for place in range(20):
        bare = b"--- a/caf\xe9%d.c\n+++ b/caf\xe9%d.c\n@@ -1 +1 @@\n-a(%d);\n+b(\xe9);\n"
        (folder / f"latin{place:02}.diff").write_bytes(bare % (place % 3, place % 3, place % 4))
    (folder / "notes.txt").write_text("not a patch\n")
    (folder / "renamed.diff").write_text(
        "diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n"
    )
    (folder / "white.diff").write_text("--- a/w\n+++ b/w\n@@ -1 +1 @@\n-a\n+ a\n")
    return str(folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        ("--format", "json"), ("--format", "json", "-v"), (), ("-v",), ("--format", "markdown"),
        ("--format", "html"),
    ],
)  # fmt: skip
def test_any_number_of_jobs_gives_the_same(small_parts, tmp_path, with_jobs, options):
    folder = odd_queue(tmp_path / "queue")
    alone, *others = [with_jobs(jobs, folder, *options) for jobs in (1, 2, 3)]
    assert alone.code == 1
    assert "left out" in alone.err
    assert others == [alone, alone]


@pytest.mark.slow
def test_a_fork_killed_in_the_middle_changes_nothing(small_parts, tmp_path, monkeypatch, with_jobs):
    box = tmp_path / "all.mbox"
    box.write_text("".join(mails(150, seed=3)))
    alone = with_jobs(1, str(box), "--format", "json")
    read = counted.read_piece
    died = tmp_path / "died"

    def deadly(number, line, piece):
        if number == 60 and os.getpid() != HERE:
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return read(number, line, piece)

    monkeypatch.setattr(counted, "read_piece", deadly)
    assert with_jobs(2, str(box), "--format", "json") == alone
    assert died.exists() or forked_map(2) is map


def test_jobs_by_the_environment(monkeypatch):
    monkeypatch.setenv("EXCISE_JOBS", "2")
    assert excise("cluster", "-", "--format", "json", stdin=ONE).code == 0
    for text in ("0", "many", "-1", "257"):
        monkeypatch.setenv("EXCISE_JOBS", text)
        ran = excise("cluster", "-", "--format", "json", stdin=ONE)
        assert ran.code == 2
        assert "EXCISE_JOBS is a number from 1 to 256" in ran.err


@pytest.mark.slow
def test_the_command_in_its_own_process(tmp_path, monkeypatch, with_jobs):
    box = tmp_path / "all.mbox"
    box.write_text("".join(mails(300, seed=5)))
    monkeypatch.setenv("EXCISE_JOBS", "2")
    ran = spawn("cluster", str(box), "--format", "json")
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == b""
    assert ran.stdout.decode() == with_jobs(1, str(box), "--format", "json").out
