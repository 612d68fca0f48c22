"""The processes of a sandbox, as the kernel lists them."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from excise_server.evaluation.sandbox import Sandbox


def children(sandbox: Sandbox) -> str:
    return children_of(sandbox._template.pid)


def children_of(pid: int | str) -> str:
    """Return the numbers of a process's children; of one that is gone, none."""
    with suppress(OSError):
        threads = Path(f"/proc/{pid}/task").iterdir()
        return " ".join((thread / "children").read_text() for thread in threads).strip()
    return ""


def watchers(pid: int | str) -> list[str]:
    """Return the watchers below a process that have started what they watch."""
    below = children_of(pid).split()
    if b"jail.processes" in Path(f"/proc/{pid}/cmdline").read_bytes():
        return [watcher for watcher in below if children_of(watcher)]
    return [watcher for child in below for watcher in watchers(child)]


def running(pid: str) -> bool:
    """Whether a process is there and no zombie, which its new parent may never bury."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
