"""The processes of the sandbox: a template, a watcher for each run, and in it the stranger.

The template is a warm interpreter, started as ``python -I -S -B -c ...`` without an environment,
with a socket as descriptor 0. It runs nothing of a stranger and knows no job: each watcher reads
its own. No signal from inside reaches a watcher. The stranger guards itself before it runs.
"""

from __future__ import annotations

import builtins
import ctypes
import gc
import glob
import importlib
import json
import os
import select
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import repeat
from types import CodeType, ModuleType
from typing import Any

from excise_server.evaluation.jail import guards, seccomp
from excise_server.foundation.linux import GuardError, clone, die_with_parent

__all__ = ["main"]

_WARM = """
    abc bisect cmath collections contextlib copy dataclasses datetime decimal enum fractions
    functools hashlib heapq itertools json math operator queue random re statistics string struct
    textwrap threading time traceback types typing unittest
"""
"""Modules that tests often import: read once here, and not in every run."""

_UNUSABLE = ("_tkinter", "_test", "_xx", "xx", "_ctypes_test")
"""Modules of the interpreter that need a display, or are for its own tests."""

REPORT = 3
"""The descriptor to which the stranger writes its verdict."""

_LONGEST = 400
"""The most bytes of a report; the stranger's own reports are shorter."""

GUARDED, PASSED, FAILED, REFUSED = b"guarded ", b"passed ", b"failed ", b"refused "

_execute: Callable[[CodeType, dict[str, Any]], Any] = exec


# --- the template --------------------------------------------------------------------------------


def main(memory: int) -> None:
    """Prepare, then fork a watcher for each leash that comes, with this much memory for all."""
    control = socket.socket(fileno=os.dup(0))
    os.dup2(1, 0)
    group = guards.enter_control_group(memory)
    try:
        _prepare()
    except (GuardError, OSError) as error:
        control.send(REFUSED + str(error).encode())
        return
    control.send(b"ready " + group.encode())
    while True:
        message, leashes, _, _ = socket.recv_fds(control, 16, 1)
        if not message:
            return
        _start(control, leashes[0])


def _prepare() -> None:
    extensions = next((path for path in sys.path if path.endswith("lib-dynload")), "/nonexistent")
    for path in glob.glob("*.so", root_dir=extensions):
        if not path.startswith(_UNUSABLE):
            # Map it and the libraries that it needs: these are not in the new root.
            with suppress(OSError):  # its library is not installed, so it cannot be imported
                ctypes.CDLL(f"{extensions}/{path}")
    for name in _WARM.split():
        importlib.import_module(name)
    with open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")  # if memory runs out, this process ends first
    guards.enter_namespaces()
    guards.new_root(sys.path)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.collect()
    gc.freeze()


def _start(control: socket.socket, leash: int) -> None:
    """Fork a watcher, and send a handle by which it can be ended and awaited."""
    try:
        pid = clone(guards.OF_RUN | signal.SIGCHLD)
    except GuardError as error:
        control.send(REFUSED + str(error).encode())
        os.close(leash)
        return
    if not pid:
        control.close()
        _watch(socket.socket(fileno=leash))
    os.close(leash)
    handle = os.pidfd_open(pid)
    socket.send_fds(control, [b"running"], [handle])
    os.close(handle)
    os.waitpid(pid, 0)


# --- the watcher ---------------------------------------------------------------------------------


def _watch(leash: socket.socket) -> None:
    """Read a job from the leash, run it, and answer there. Never returns.

    Closing the other end of the leash ends the run.
    """
    die_with_parent()
    try:
        guards.work_folder()
        with leash.makefile("rb") as stream:
            job: dict[str, Any] = json.loads(stream.readline())
        read, write = os.pipe()
        pid = os.fork()
    except (GuardError, OSError, ValueError) as error:
        leash.sendall(json.dumps({"refused": str(error)}).encode())
        os._exit(1)
    if not pid:
        _be_stranger(job, write)
    os.close(write)
    leash.sendall(json.dumps(_verdict(read, leash, job["seconds"])).encode())
    os._exit(0)


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
    if written.startswith(REFUSED):
        return {"refused": written.removeprefix(REFUSED).decode("ascii", "replace")}
    size = len(GUARDED) + 16
    word, rest = written[len(GUARDED) : size], written[size:]
    if written.startswith(GUARDED) and rest == PASSED + word:
        return {"passed": ""}
    name = rest.removeprefix(FAILED).decode("ascii", "replace")
    return {"failed": name if name in _exception_names().values() else "died"}


# --- the stranger --------------------------------------------------------------------------------


def _be_stranger(job: dict[str, Any], report: int) -> None:
    """Guard this process, run the parts, and write the result to ``report``. Never returns.

    Anything that the parts write to the report can only spoil the verdict.
    """
    os.dup2(report, REPORT)
    os.closerange(REPORT + 1, os.sysconf("SC_OPEN_MAX"))
    try:
        os.setsid()
        guards.drop_privileges()
        die_with_parent()  # after that, because becoming another user would undo it
        guards.limit(job["memory"], job["seconds"])
        seccomp.allow_only_these()
    except (GuardError, OSError, ValueError) as error:
        os.write(REPORT, REFUSED + str(error).encode("ascii", "replace")[:200])
        os._exit(1)
    write, end = os.write, os._exit  # kept before the parts can replace them
    # While the parts run, the word is an argument that waits: neither a descriptor nor a variable.
    write(REPORT, _draw_word() + _run_parts(job["parts"]))
    end(0)


def _draw_word() -> bytes:
    """Tell the watcher a random word, and return what repeats it."""
    word = os.urandom(16)
    os.write(REPORT, GUARDED + word)
    return PASSED + word


def _run_parts(parts: list[str]) -> bytes:
    """Run the parts, and return nothing more to report, or report an exception and end.

    A stranger reaches the frames that called it: it can change their variables and lists, and let
    them go on at the beginning of another line. So one expression, whose operands are read before,
    makes all calls, and no other line leads to a result.
    """
    write, end, kind_of = os.write, os._exit, type
    names = _exception_names()
    ancestors = type.__dict__["__mro__"].__get__
    try:
        return b"".join(deque(map(_execute, _compiled(parts), repeat(_main_module())), maxlen=0))
    except BaseException as error:  # noqa: BLE001 - an exit is a failure too
        for kind in ancestors(kind_of(error)):
            if id(kind) in names:
                write(REPORT, FAILED + names[id(kind)].encode())
                break
        end(1)


def _compiled(parts: list[str]) -> tuple[CodeType, ...]:
    return tuple(compile(part, f"<part {index}>", "exec") for index, part in enumerate(parts))


def _main_module() -> dict[str, Any]:
    """Make the module that the parts run in, and return its variables."""
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    module.__dict__["__builtins__"] = builtins
    return module.__dict__


def _exception_names() -> dict[int, str]:
    """Return the exceptions of Python itself, the nearest of which a verdict names, by identity."""
    kinds = [kind for kind in vars(builtins).values() if isinstance(kind, type)]
    return {id(kind): kind.__name__ for kind in kinds if issubclass(kind, BaseException)}
