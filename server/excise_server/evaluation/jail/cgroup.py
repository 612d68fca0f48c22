"""A limit of memory for all processes of a sandbox together, with what the kernel keeps for them.

It comes on top of the limit of each process, where control groups (version 2) can be had: as root,
and under systemd for users, whose slice is their own.
"""

from __future__ import annotations

import os
from contextlib import suppress

__all__ = ["enter"]

_KERNEL = 128 << 20
"""Bytes beside the address space of a run: the template, the watcher, the work folder, tables."""


def enter(memory: int) -> str:
    """Move this process into a group of its own, and return its folder, or "" without one."""
    with suppress(OSError, StopIteration):
        mounted, own = _mounted(), _own()
        for above in (own, os.path.dirname(own)):
            with suppress(OSError):
                return _make(mounted + above.rstrip("/"), memory)
    return ""


def _mounted() -> str:
    with open("/proc/self/mountinfo") as lines:
        return next(line.split()[4] for line in lines if " - cgroup2 " in line)


def _own() -> str:
    with open("/proc/self/cgroup") as lines:
        return next(line[3:].rstrip("\n") for line in lines if line.startswith("0::"))


def _make(above: str, memory: int) -> str:
    with open(f"{above}/cgroup.subtree_control") as controllers:
        if "memory" not in controllers.read().split():
            raise FileNotFoundError
    folder = f"{above}/excise-{os.getpid()}"
    os.mkdir(folder)
    try:
        _put(f"{folder}/memory.max", memory + _KERNEL)
        with suppress(OSError):  # a kernel without swap has none
            _put(f"{folder}/memory.swap.max", 0)
        _put(f"{folder}/cgroup.procs", os.getpid())
    except OSError:
        os.rmdir(folder)
        raise
    return folder


def _put(path: str, value: int) -> None:
    with open(path, "w") as file:
        file.write(str(value))
