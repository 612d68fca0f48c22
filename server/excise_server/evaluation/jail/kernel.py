"""System calls that Python's library has no function for."""

from __future__ import annotations

import ctypes
import os
import struct

__all__ = [
    "GuardError",
    "clone",
    "libc",
    "machine_numbers",
    "mount",
    "mount_attributes",
    "pivot",
    "require",
]

# PyDLL keeps the interpreter's lock, which no other thread could return after `clone`.
libc = ctypes.PyDLL(None, use_errno=True)

MOUNT_SETATTR = 442
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
MNT_DETACH = 2


class GuardError(Exception):
    """A guard that is unavailable, with the reason."""

    def __init__(self, guard: str, why: str) -> None:
        """Name the guard."""
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
