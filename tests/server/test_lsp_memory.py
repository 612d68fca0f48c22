"""The memory of a server that runs for days: what is closed is let go of."""

import os
import sys

import pytest
from tests.server.raw_client import RawClient, serving

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc"),
]

ROUNDS = 2_000 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 60
LINES = [f"value_{number} = compute({number}, 'x{number}')\n" for number in range(400)]


def test_documents_that_come_and_go_leave_nothing():
    with serving() as client:
        for number in range(ROUNDS):
            come_and_go(client, number)
            if number == 40:
                before = megabytes_of(client.process.pid)
        after = megabytes_of(client.process.pid)
    # The server and its worker; before, 1.4 MB stayed of each document.
    assert len(before) == len(after) == 2
    assert all(now - then < 20 for then, now in zip(before, after, strict=True)), (before, after)


def come_and_go(client: RawClient, number: int) -> None:
    uri = f"untitled:{number}.py"
    origin = "".join(LINES).replace("compute(7,", f"compute_{number}(7,")
    client.open(uri, origin)
    client.add(uri, {name: origin.replace(f"'{name}'", f"{number}") for name in ("x3", "x9")})
    assert len(client.call("excise/report", {"uri": uri})["revisions"]) == 2
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    client.call("excise/removeCandidates", {"uri": uri, "ids": ["x3", "x9"]})


def megabytes_of(process: int) -> list[int]:
    """Return the resident memory of a process, and of those that it started, by their ids."""
    children = []
    for thread in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{thread}/children") as file:
            children += sorted(map(int, file.read().split()))
    return [resident(each) for each in (process, *children)]


def resident(process: int) -> int:
    with open(f"/proc/{process}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
