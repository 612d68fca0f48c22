"""The resources, users and capabilities that the stranger gives up before it runs."""

from __future__ import annotations

import os
import resource
import struct
from contextlib import suppress

from excise_server.evaluation.jail.namespaces import NOBODY
from excise_server.foundation.linux import GuardError, libc, require, set_undumpable

__all__ = ["drop", "limit"]

PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4
LAST_CAPABILITY = 63
CAPABILITIES_VERSION_3 = 0x20080522

THREADS = 64
"""The processes of a run, each thread counted: the stack of one in the kernel is 16 kB."""


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


def drop() -> None:
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
