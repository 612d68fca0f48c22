"""Workers: a real scheduler and two real workers, one of which dies in the middle."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.server.command import command_line, excise, spawn
from tests.server.process_tree import DEADLINE, wait_until
from tests.server.test_cli_patches import AGAIN, ONE, OTHER
from tests.server.test_state import mails

from excise.patches.mail import pieces
from excise_server.queue.counted import Merger, PieceReader

pytestmark = pytest.mark.slow

distributed = pytest.importorskip(
    "distributed", reason="Dask is missing: pip install '.[distributed]'"
)


@pytest.fixture
def cluster(tmp_path):
    """Yield the address of a scheduler, and two workers of it."""
    file = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    module = [sys.executable, "-m", "distributed.cli"]
    where = ["--scheduler-file", str(file), "--no-dashboard"]
    started = [
        subprocess.Popen(
            [module[0], "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1",
             "--port", "0", *where], **quiet)
    ]  # fmt: skip
    try:
        wait_until(lambda: file.exists() and file.read_text().strip().endswith("}"))
        address = json.loads(file.read_text())["address"]
        for name in ("one", "two"):
            line = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny",
                    "--nthreads", "1", "--no-dashboard", "--name", name]  # fmt: skip
            started.append(subprocess.Popen(line, **quiet))
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=DEADLINE)
        yield address, started[1:]
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


def test_the_same_as_in_one_process(cluster, tmp_path, monkeypatch):
    address, _ = cluster
    monkeypatch.setattr("excise_server.queue.distribute.TOGETHER", 50)
    box = tmp_path / "queue.mbox"
    box.write_text("".join(mails(600, seed=4)))
    for options in (("--format", "json"), (), ("--format", "html")):
        far = excise("cluster", str(box), "--dask", address, *options)
        assert far.code == 0, far.err
        assert far.out == excise("cluster", str(box), *options).out
    small = tmp_path / "small.mbox"
    small.write_text(ONE + OTHER + AGAIN)
    far = excise("cluster", str(small), "--format", "json", "--dask", address, "-v")
    assert far.out == excise("cluster", str(small), "--format", "json", "-v").out
    assert excise("cluster", "-", "--dask", address, "--format", "json", stdin="").code == 1


def test_a_worker_killed_in_the_middle_loses_nothing(cluster, tmp_path):
    address, workers = cluster
    box = tmp_path / "queue.mbox"
    box.write_text("".join(mails(3000, seed=6)))
    with distributed.Client(address, set_as_default=False) as client:
        addresses = {w["name"]: at for at, w in client.scheduler_info()["workers"].items()}
        process = subprocess.Popen(
            command_line("cluster", str(box), "--format", "json", "--dask", address),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        # It holds results that are still wanted, and works on more.
        wait_until(
            lambda: client.has_what()[addresses["one"]] and client.processing()[addresses["one"]]
        )
        workers[0].kill()
        workers[0].wait()
        assert process.poll() is None, "it was done before the worker died"
        out, errors = process.communicate(timeout=DEADLINE)
        wait_until(lambda: list(client.scheduler_info()["workers"]) == [addresses["two"]])
    assert process.returncode == 0, errors
    assert json.loads(out) == excise("cluster", str(box), "--format", "json").json


def test_a_profiler_that_holds_frames_stops_no_part():
    frames = []
    data = "".join(mails(20, seed=8)).encode()
    numbered = [(number, line, mail) for number, (line, mail) in enumerate(pieces(data), start=1)]
    reader, merger = PieceReader(), Merger()
    read = [reader(numbered[start : start + 5]) for start in range(0, len(numbered), 5)]
    # As Dask's own does, which samples the threads of a worker.
    sys.setprofile(lambda frame, *_: frames.append(frame))
    try:
        known = [edits for part in read for _, edits, *_ in merger.take(part)[1]]
    finally:
        sys.setprofile(None)
    assert len(known) == len(numbered)


def test_all_workers_gone_is_an_error_not_a_wait(cluster, tmp_path):
    address, workers = cluster
    for worker in workers:
        worker.kill()
        worker.wait()
    with distributed.Client(address, set_as_default=False) as client:
        wait_until(lambda: not client.scheduler_info()["workers"])
    ran = spawn_with_patience("cluster", "-", "--dask", address, stdin=ONE.encode())
    assert ran.returncode == 2
    assert b"it has no workers" in ran.stderr


def spawn_with_patience(*arguments, stdin):
    code = (
        "import sys, excise_server.queue.distribute as d\nd._SECONDS = 1\n"
        "from excise_server.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    line = [sys.executable, "-c", code, *arguments]
    return subprocess.run(line, input=stdin, capture_output=True, timeout=DEADLINE)


def test_the_command_in_its_own_process(cluster, tmp_path):
    box = tmp_path / "queue.mbox"
    box.write_text("".join(mails(300, seed=8)))
    ran = spawn("cluster", str(box), "--format", "json", "--dask", cluster[0])
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == excise("cluster", str(box), "--format", "json").json
    assert ran.stderr == b""


def test_nobody_answers():
    ran = spawn_with_patience("cluster", "-", "--dask", "tcp://127.0.0.1:9", stdin=ONE.encode())
    assert ran.returncode == 2
    assert b"no scheduler answers there" in ran.stderr
    ran = spawn_with_patience("cluster", "-", "--dask", "nonsense://x", stdin=ONE.encode())
    assert ran.returncode == 2
    assert b"internal error" not in ran.stderr


def test_without_dask_the_way_out_is_said():
    code = (
        "import sys; sys.modules['distributed'] = None\n"
        "from excise_server.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    line = [sys.executable, "-c", code, "cluster", "-", "--dask", "tcp://127.0.0.1:9"]
    ran = subprocess.run(line, input=ONE.encode(), capture_output=True, timeout=DEADLINE)
    assert ran.returncode == 2
    assert b"pip install '.[distributed]'" in ran.stderr


def test_options_that_do_not_go_together(tmp_path):
    state = str(tmp_path / "s")
    assert excise("cluster", "--git", "a..b", "--dask", "tcp://x").code == 2
    assert excise("cluster", "-", "--dask", "tcp://x", "--state", state, stdin=ONE).code == 2
    assert excise("cluster", "-", "--workers", "2", stdin=ONE).code == 2
