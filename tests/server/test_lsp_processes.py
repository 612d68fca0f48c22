"""Processes: the server ends with its client, whatever that dies of."""

import os
import signal
import subprocess
import sys

import pytest
from tests.server.git_repository import make, needs_git
from tests.server.process_tree import DEADLINE, is_running, wait_until
from tests.server.raw_client import RawClient, serving

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="processes are not watched on Windows"),
]

WAIT = "import time; time.sleep(600)"


def test_the_server_ends_with_its_client_though_the_streams_stay_open():
    with subprocess.Popen([sys.executable, "-c", WAIT]) as client, RawClient() as server:
        server.initialize(processId=client.pid)
        client.kill()
        client.wait()
        assert server.process.wait(timeout=DEADLINE) == 1


def test_a_client_in_another_container_is_not_taken_for_dead():
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    with serving(processId=gone.pid):
        pass


@pytest.mark.parametrize("process", [0, -1, 1, 2**31 - 1])
def test_odd_numbers_of_processes_do_no_harm(process):
    with serving(processId=process):
        pass


@needs_git
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills orphans")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGHUP])
def test_a_git_that_hangs_dies_with_the_server_whatever_that_dies_of(tmp_path, monkeypatch, how):
    repo = make(tmp_path, monkeypatch, a__py="x = 1\n")
    folder, started = tmp_path / "bin", tmp_path / "started"
    folder.mkdir()
    (folder / "git").write_text(
        f"#!/bin/sh\necho $$ > '{started}.new'\nmv '{started}.new' '{started}'\nexec sleep 600\n"
    )
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(folder), os.environ["PATH"]]))
    with RawClient() as server:
        uri = (repo.path / "a.py").as_uri()
        server.initialize(
            workspaceFolders=[{"uri": repo.path.as_uri(), "name": "work"}],
            initializationOptions={"trusted": True},
        )
        server.open(uri, "x = 1\n")
        wait_until(started.exists)
        git = int(started.read_text())
        server.process.send_signal(how)
        server.process.wait(timeout=DEADLINE)
        wait_until(lambda: not is_running(git))
