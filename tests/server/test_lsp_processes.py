"""Processes: the server ends with its client, whatever that dies of."""

import os
import subprocess
import sys

import pytest
from tests.server.raw_client import TIMEOUT, RawClient

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
        assert server.process.wait(timeout=TIMEOUT) == 1


def test_a_client_in_another_container_is_not_taken_for_dead():
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    with RawClient() as server:
        server.initialize(processId=gone.pid)
        assert server.exit() == 0


@pytest.mark.parametrize("process", [0, -1, 1, 2**31 - 1, os.getpid()])
def test_odd_numbers_of_processes_do_no_harm(process):
    with RawClient() as server:
        server.initialize(processId=process)
        assert server.exit() == 0
