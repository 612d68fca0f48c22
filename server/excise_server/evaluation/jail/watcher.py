"""The first process of a run: it starts the stranger, ends it in time, and tells the verdict.

It is init of the PID namespace: no signal from inside reaches it, and everything ends with it.
"""

from __future__ import annotations

import json
import os
import select
import socket
import time
from typing import Any

from excise_server.evaluation.jail import stranger
from excise_server.evaluation.jail.namespaces import work_folder
from excise_server.foundation.linux import GuardError, die_with_parent

__all__ = ["watch"]

_LONGEST = 400
"""The most bytes of a report; the stranger's own reports are shorter."""


def watch(leash: socket.socket) -> None:
    """Read a job from the leash, run it, and answer there. Never returns.

    Closing the other end of the leash ends the run.
    """
    die_with_parent()
    try:
        work_folder()
        job = _job(leash)
        read, write = os.pipe()
        pid = os.fork()
    except (GuardError, OSError, ValueError) as error:
        leash.sendall(json.dumps({"refused": str(error)}).encode())
        os._exit(1)
    if not pid:
        stranger.run(job, write)
    os.close(write)
    leash.sendall(json.dumps(_verdict(read, leash, job["seconds"])).encode())
    os._exit(0)


def _job(leash: socket.socket) -> dict[str, Any]:
    with leash.makefile("rb") as stream:
        job: dict[str, Any] = json.loads(stream.readline())
    return job


def _verdict(report: int, leash: socket.socket, seconds: float) -> dict[str, str]:
    """Read the report until it ends, the time is over, or the leash is let go."""
    deadline = time.monotonic() + seconds
    written = b""
    while len(written) <= _LONGEST:
        seconds_left = max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select([report, leash.fileno()], [], [], seconds_left)
        if report not in ready:
            return {"failed": "timeout"}
        data = os.read(report, _LONGEST)
        if not data:
            return _judge(written)
        written += data
    return {"failed": "died"}


def _judge(written: bytes) -> dict[str, str]:
    """Return the verdict of a whole report: one byte too many or too few means a failure."""
    if written.startswith(stranger.REFUSED):
        return {"refused": written.removeprefix(stranger.REFUSED).decode("ascii", "replace")}
    size = len(stranger.GUARDED) + 16
    word, rest = written[len(stranger.GUARDED) : size], written[size:]
    if written.startswith(stranger.GUARDED) and rest == stranger.PASSED + word:
        return {"passed": ""}
    names = {kind.__name__ for kind in stranger.builtin_exceptions()}
    name = rest.removeprefix(stranger.FAILED).decode("ascii", "replace")
    return {"failed": name if name in names else "died"}
