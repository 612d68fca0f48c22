"""A memory limit for all processes of a sandbox together, including the kernel's memory for them.

It adds to the limit of each process, where control groups (version 2) are available: as root, and
for users under systemd, which gives them their own slice.
"""

from __future__ import annotations

import os
from contextlib import suppress

from excise_server.foundation.linux import control_group

__all__ = ["enter"]

_KERNEL = 128 << 20
"""Bytes besides the address space of a run: the template, the watcher, the work folder, tables."""


def enter(memory: int) -> str:
    """Move this process into its own group, and return the group's folder, or "" without one."""
    with suppress(OSError):
        own_group = control_group()
        for group in (own_group, os.path.dirname(own_group)):
            with suppress(OSError):
                return _make(group, memory)
    return ""


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
