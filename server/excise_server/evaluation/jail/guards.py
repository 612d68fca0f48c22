"""The guards of the sandbox: memory, namespaces, a new root, and what the stranger gives up."""

from __future__ import annotations

import os
import resource
import struct
import zoneinfo
from collections.abc import Iterable
from contextlib import suppress

from excise_server.foundation.linux import (
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_REC,
    NEWIPC,
    NEWNET,
    NEWNS,
    NEWPID,
    NEWUTS,
    GuardError,
    control_group,
    enter_user_namespace,
    libc,
    mount,
    mount_attributes,
    pivot,
    put,
    require,
    set_undumpable,
)

__all__ = ["OF_RUN", "drop_privileges", "enter_control_group", "enter_namespaces", "limit"]
__all__ += ["new_root", "work_folder"]

NOBODY = 65534
"""User and group of the stranger, inside."""

OF_RUN = NEWPID | NEWNS | NEWIPC | NEWNET
"""The namespaces that every run has of its own."""

ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV = 1, 2, 4

_ROOT = "/proc"
"""The folder in which the new root is composed, which every Linux has."""

_WORK = "/tmp"  # noqa: S108 - of the new root
"""The one folder that a stranger may write to, its own in each run."""

PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4
LAST_CAPABILITY = 63
CAPABILITIES_VERSION_3 = 0x20080522

THREADS = 64
"""The processes of a run, each thread counted: the stack of one in the kernel is 16 kB."""

_KERNEL = 128 << 20
"""Bytes besides the address space of a run: the template, the watcher, the work folder, tables."""


def enter_control_group(memory: int) -> str:
    """Move this process into its own group, and return the group's folder, or "" without one."""
    with suppress(OSError):
        own_group = control_group()
        for above in (own_group, os.path.dirname(own_group)):
            with suppress(OSError):
                return _make_group(f"{above}/excise-{os.getpid()}", memory)
    return ""


def _make_group(folder: str, memory: int) -> str:
    with open(f"{os.path.dirname(folder)}/cgroup.subtree_control") as controllers:
        if "memory" not in controllers.read().split():
            raise FileNotFoundError
    os.mkdir(folder)
    try:
        put(f"{folder}/memory.max", str(memory + _KERNEL))
        with suppress(OSError):  # a kernel without swap has none
            put(f"{folder}/memory.swap.max", "0")
        put(f"{folder}/cgroup.procs", str(os.getpid()))
    except OSError:
        os.rmdir(folder)
        raise
    return folder


def enter_namespaces() -> None:
    """Enter a user namespace of its own, with its mounts and name of the machine.

    Root maps itself, for the mounts, and nobody, for the stranger, because limits of processes do
    not apply to root. Any other user has only one id to map, and becomes nobody inside.
    """
    own = {"uid": os.geteuid(), "gid": os.getegid()}
    enter_user_namespace(
        dict.fromkeys(own, f"0 0 1\n{NOBODY} {NOBODY} 1"),
        {kind: f"{NOBODY} {number} 1" for kind, number in own.items()},
    )
    require("files", libc.unshare(NEWNS))
    require("name of the machine", libc.unshare(NEWUTS) or libc.sethostname(b"sandbox", 7))


def new_root(library: Iterable[str]) -> None:
    """Replace the root by one of the given folders, read-only, ``/dev/null``, an empty ``/tmp``."""
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    mount("tmpfs", _ROOT, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
    for folder in _outermost([*library, *zoneinfo.TZPATH]):
        os.makedirs(_ROOT + folder, exist_ok=True)
        mount(folder, _ROOT + folder, None, MS_BIND | MS_REC)
        for packages in ("site-packages", "dist-packages"):
            if os.path.isdir(hidden := f"{_ROOT}{folder}/{packages}"):
                mount("tmpfs", hidden, "tmpfs", MS_NOSUID | MS_NODEV, "size=4k,mode=755")
    os.makedirs(_ROOT + _WORK, exist_ok=True)
    os.makedirs(f"{_ROOT}/dev", exist_ok=True)
    os.close(os.open(_ROOT + os.devnull, os.O_CREAT))
    mount_attributes(_ROOT, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV)
    # The only device, which the program has as its standard streams anyway.
    mount(os.devnull, _ROOT + os.devnull, None, MS_BIND)
    mount_attributes(_ROOT + os.devnull, ATTR_RDONLY | ATTR_NOSUID)
    os.chdir(_ROOT)
    pivot()


def _outermost(folders: Iterable[str]) -> list[str]:
    """Return the folders that exist, without those inside others."""
    real = {os.path.abspath(folder) for folder in folders if os.path.isdir(folder)} - {"/"}
    return sorted(
        folder for folder in real if not any(folder.startswith(f"{outer}/") for outer in real)
    )


def work_folder() -> None:
    """Mount an empty folder that the stranger may write to, and go there."""
    options = f"size=16m,nr_inodes=1k,mode=700,uid={NOBODY},gid={NOBODY}"
    mount("tmpfs", _WORK, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options)
    os.chdir(_WORK)


def limit(memory: int, seconds: float) -> None:
    """Limit memory, processor time, files and threads, for good."""
    most = {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_DATA: memory,
        resource.RLIMIT_STACK: 8 << 20,
        resource.RLIMIT_CPU: (int(seconds) + 2) * (os.cpu_count() or 1),
        resource.RLIMIT_FSIZE: 1 << 20,
        resource.RLIMIT_NOFILE: 64,
        resource.RLIMIT_NPROC: THREADS,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_SIGPENDING: 64,
        resource.RLIMIT_RTPRIO: 0,
        resource.RLIMIT_NICE: 0,
    }
    for name, value in most.items():
        _, hard = resource.getrlimit(name)
        lower = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(name, (lower, lower))
    _try_threads()


def _try_threads() -> None:
    """Try whether the limit of processes holds: the kernel makes exceptions."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (1, hard))
    try:
        if not os.fork():
            os._exit(0)
    except BlockingIOError:
        resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))
        return
    raise GuardError("threads", "the number of processes cannot be limited")


def drop_privileges() -> None:
    """Become the user nobody without capabilities, for good."""
    for capability in range(LAST_CAPABILITY + 1):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    with suppress(PermissionError):  # a process that may not set groups may not use them either
        os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = struct.pack("=II", CAPABILITIES_VERSION_3, 0)
    require("privileges", libc.capset(header, bytes(24)))
    require("privileges", libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    set_undumpable()
