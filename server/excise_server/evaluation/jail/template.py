"""The process from which runs are forked: a warm interpreter in its own root.

It runs nothing of a stranger and knows no job: each watcher reads its own. It is started as
``python -I -S -B -c ...`` without an environment, with a socket as descriptor 0.
"""

from __future__ import annotations

import ctypes
import gc
import glob
import importlib
import os
import signal
import socket
import sys
from contextlib import suppress

from excise_server.evaluation.jail import cgroup, namespaces, watcher
from excise_server.foundation.linux import GuardError, clone

__all__ = ["READY", "REFUSED", "RUNNING", "main"]

READY, RUNNING, REFUSED = b"ready ", b"running", b"refused "

_WARM = """
    abc bisect cmath collections contextlib copy dataclasses datetime decimal enum fractions
    functools hashlib heapq itertools json math operator queue random re statistics string struct
    textwrap threading time traceback types typing unittest
"""
"""Modules that tests often import: read once here, and not in every run."""

_UNUSABLE = ("_tkinter", "_test", "_xx", "xx", "_ctypes_test")
"""Modules of the interpreter that need a display, or are for its own tests."""


def main(memory: int) -> None:
    """Prepare, then fork a watcher for each leash that comes, with this much memory for all."""
    control = socket.socket(fileno=os.dup(0))
    os.dup2(1, 0)
    group = cgroup.enter(memory)
    try:
        _prepare()
    except (GuardError, OSError) as error:
        control.send(REFUSED + str(error).encode())
        return
    control.send(READY + group.encode())
    while True:
        message, leashes, _, _ = socket.recv_fds(control, 16, 1)
        if not message:
            return
        _start(control, leashes[0])


def _prepare() -> None:
    for path in glob.glob("*.so", root_dir=_extensions()):
        if not path.startswith(_UNUSABLE):
            _load(f"{_extensions()}/{path}")
    for name in _WARM.split():
        importlib.import_module(name)
    with open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")  # if memory runs out, this process ends first
    namespaces.enter()
    namespaces.new_root(sys.path)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.collect()
    gc.freeze()


def _extensions() -> str:
    return next((path for path in sys.path if path.endswith("lib-dynload")), "/nonexistent")


def _load(path: str) -> None:
    """Map an extension and the libraries that it needs: these are not in the new root."""
    with suppress(OSError):  # its library is not installed, so it cannot be imported
        ctypes.CDLL(path)


def _start(control: socket.socket, leash: int) -> None:
    """Fork a watcher, and send a handle by which it can be ended and awaited."""
    try:
        pid = clone(namespaces.OF_RUN | signal.SIGCHLD)
    except GuardError as error:
        control.send(REFUSED + str(error).encode())
        os.close(leash)
        return
    if not pid:
        control.close()
        watcher.watch(socket.socket(fileno=leash))
    os.close(leash)
    handle = os.pidfd_open(pid)
    socket.send_fds(control, [RUNNING], [handle])
    os.close(handle)
    os.waitpid(pid, 0)
