"""The client's process: the server ends with it, even if its streams stay open."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress

__all__ = ["watch_process"]

_SECONDS = 3.0
"""Seconds between two checks, if the system does not tell that a process has ended."""


def watch_process(process: int | None, ended: Callable[[], None]) -> None:
    """Call a function on the loop when a process ends.

    A process that does not exist at the start is not watched: the client may be in another
    container, where its number means another process.
    """
    if process is None or process <= 0 or not _is_there(process):
        return
    loop = asyncio.get_running_loop()
    try:
        descriptor = os.pidfd_open(process)
    except (AttributeError, OSError):
        _look_again(loop, process, ended)
        return

    def tell() -> None:
        loop.remove_reader(descriptor)
        os.close(descriptor)
        ended()

    loop.add_reader(descriptor, tell)


def _look_again(loop: asyncio.AbstractEventLoop, process: int, ended: Callable[[], None]) -> None:
    if _is_there(process):
        loop.call_later(_SECONDS, _look_again, loop, process, ended)
    else:
        ended()


def _is_there(process: int) -> bool:
    if os.name == "nt":  # signal 0 would end it there
        return False
    with suppress(PermissionError):  # it exists, and is another user's
        try:
            os.kill(process, 0)
        except (ProcessLookupError, OverflowError):
            return False
    return True
