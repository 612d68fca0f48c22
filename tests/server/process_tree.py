"""What the kernel tells of processes, and waiting for it."""

import os
import time
from contextlib import suppress
from pathlib import Path

DEADLINE = 240.0
"""Seconds after which a test is given up; no test waits that long for a pass."""


def children(pid: int) -> list[int]:
    """Return the children of a process; of one that is gone, none."""
    with suppress(OSError):
        threads = Path(f"/proc/{pid}/task").iterdir()
        return [int(one) for t in threads for one in (t / "children").read_text().split()]
    return []


def fields(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def is_running(pid: int) -> bool:
    """Whether a process is there and no zombie, which its new parent may never bury."""
    try:
        return fields(pid)[0] != "Z"
    except OSError:
        return False


def cpu_of(pid: int) -> float:
    return sum(map(int, fields(pid)[11:13])) / os.sysconf("SC_CLK_TCK")


def wait_until(condition) -> None:
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.01)
