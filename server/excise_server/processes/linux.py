"""Namespaces, mounts and control groups of Linux, for which Python's library has no function.

Imports nothing else of ours: it is used by processes that must not load our other modules.
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct
import sys
from contextlib import suppress
from typing import Any

# PyDLL keeps the interpreter's lock, which no other thread could return after `clone`.
libc: Any = None if sys.platform == "win32" else ctypes.PyDLL(None, use_errno=True)

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = (
    0x20000,
    0x4000000,
    0x8000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND = 2, 4, 8, 0x1000
MS_REC, MS_PRIVATE, MS_SLAVE = 0x4000, 0x40000, 0x80000

PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4

MOUNT_SETATTR = 442
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
MNT_DETACH = 2


class GuardError(Exception):
    """A guard that is unavailable, with the reason."""

    def __init__(self, guard: str, why: str) -> None:
        super().__init__(f"{guard} ({why})")


def require(guard: str, result: int) -> int:
    """Return what a call returned, unless it failed."""
    if result == -1:
        raise GuardError(guard, os.strerror(ctypes.get_errno()))
    return result


def machine_numbers(x86_64: int, aarch64: int) -> int:
    """Choose the number of a system call by the machine."""
    numbers = {"x86_64": x86_64, "aarch64": aarch64}
    machine = os.uname().machine
    if machine not in numbers or ctypes.sizeof(ctypes.c_void_p) != 8:
        raise GuardError("system calls", f"their numbers are not known on {machine}")
    return numbers[machine]


def die_with_parent() -> None:
    """Have the kernel end this process when the thread that started it ends."""
    require("processes", libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))


def set_undumpable(value: bool = True) -> None:
    """Refuse this process's memory and descriptors to others of the user, unless privileged."""
    require("privileges", libc.prctl(PR_SET_DUMPABLE, int(not value), 0, 0, 0))


def clone(flags: int) -> int:
    """Fork into new namespaces: as `os.fork`, with flags."""
    number = machine_numbers(56, 220)
    ctypes.pythonapi.PyOS_BeforeFork()
    pid: int = libc.syscall(ctypes.c_long(number), *map(ctypes.c_ulong, (flags, 0, 0, 0, 0)))
    if pid:
        ctypes.pythonapi.PyOS_AfterFork_Parent()
    else:
        ctypes.pythonapi.PyOS_AfterFork_Child()
    return require("namespaces of a run", pid)


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """Mount a file system, or change how one is mounted."""
    strings = (source.encode(), target.encode(), kind and kind.encode())
    where = "folder" if kind else "files"
    require(where, libc.mount(*strings, ctypes.c_ulong(flags), data.encode()))


def mount_attributes(path: str, attributes: int) -> None:
    """Set attributes of all mounts under a path."""
    packed = struct.pack("=QQQQ", attributes, 0, 0, 0)
    arguments = map(ctypes.c_long, (MOUNT_SETATTR, AT_FDCWD))
    recursive, size = ctypes.c_ulong(AT_RECURSIVE), ctypes.c_ulong(len(packed))
    require("files", libc.syscall(*arguments, path.encode(), recursive, packed, size))


def pivot() -> None:
    """Make the current folder the root, and forget the root that was."""
    number = machine_numbers(155, 41)
    require("files", libc.syscall(ctypes.c_long(number), b".", b"."))
    require("files", libc.umount2(b".", MNT_DETACH))
    os.chdir("/")


def enter_user_namespace(privileged: dict[str, str], single: dict[str, str]) -> None:
    """Enter a new user namespace, and map ids into it.

    - ``privileged``: the lines of ``uid_map`` and ``gid_map``, by "uid" and "gid", which only root
      may write.
    - ``single``: what any other user writes instead: one line each, with its own id.
    """
    read, write = os.pipe()
    helper = os.fork()
    if not helper:
        os.close(write)
        os._exit(_map_ids(os.getppid(), privileged, single) if os.read(read, 1) else 1)
    os.close(read)
    require("user namespace", libc.unshare(NEWUSER))
    os.write(write, b".")
    os.close(write)
    _, status = os.waitpid(helper, 0)
    if status:
        raise GuardError("user namespace", "its ids cannot be mapped")


def _map_ids(pid: int, privileged: dict[str, str], single: dict[str, str]) -> int:
    """Map the ids of a process that has just entered a namespace, from outside."""
    with suppress(OSError):
        for kind, lines in privileged.items():
            put(f"/proc/{pid}/{kind}_map", lines)
        return 0
    with suppress(OSError):
        put(f"/proc/{pid}/setgroups", "deny")
        for kind, lines in single.items():
            put(f"/proc/{pid}/{kind}_map", lines)
        return 0
    return 1


def put(path: str, text: str) -> None:
    """Write to a file of the kernel's."""
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def control_group() -> str:
    """Return the folder of this process's control group (version 2).

    Raises FileNotFoundError if there is none.
    """
    with open("/proc/self/mountinfo") as lines:
        mounted = [line.split()[4] for line in lines if " - cgroup2 " in line]
    with open("/proc/self/cgroup") as lines:
        own = [line[3:].rstrip("\n") for line in lines if line.startswith("0::")]
    if not mounted or not own:
        raise FileNotFoundError("no control groups (version 2)")
    return (mounted[0] + own[0]).rstrip("/")
