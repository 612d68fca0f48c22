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
import resource
import select
import shutil
import signal
import socket
import struct
import sys
import time
import zoneinfo
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import repeat
from types import CodeType, ModuleType
from typing import Any

from excise_server.processes import linux

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


def main(memory: int, for_commands: int = 0) -> None:
    """Prepare, then fork a watcher for each leash that comes, with this much memory for all.

    ``for_commands``: whether runs are commands for the shell, not parts of a Python program.
    """
    control = socket.socket(fileno=os.dup(0))
    os.dup2(1, 0)
    group = enter_control_group(memory)
    try:
        _prepare(bool(for_commands))
    except (linux.GuardError, OSError) as error:
        control.send(REFUSED + str(error).encode())
        return
    control.send(b"ready " + group.encode())
    while True:
        message, leashes, _, _ = socket.recv_fds(control, 16, 1)
        if not message:
            return
        _start(control, leashes[0], bool(for_commands))


def _prepare(for_commands: bool) -> None:
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
    enter_namespaces()
    new_root([*sys.path, *(_PROGRAMS if for_commands else ())])
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.collect()
    gc.freeze()


def _start(control: socket.socket, leash: int, for_commands: bool) -> None:
    """Fork a watcher, and send a handle by which it can be ended and awaited."""
    try:
        pid = linux.clone(OF_RUN | signal.SIGCHLD)
    except linux.GuardError as error:
        control.send(REFUSED + str(error).encode())
        os.close(leash)
        return
    if not pid:
        control.close()
        _watch(socket.socket(fileno=leash), for_commands)
    os.close(leash)
    handle = os.pidfd_open(pid)
    socket.send_fds(control, [b"running"], [handle])
    os.close(handle)
    os.waitpid(pid, 0)


# --- the watcher ---------------------------------------------------------------------------------


def _watch(leash: socket.socket, for_commands: bool) -> None:
    """Read a job from the leash, run it, and answer there. Never returns.

    Closing the other end of the leash ends the run.
    """
    linux.die_with_parent()
    try:
        work_folder(for_commands)
        with leash.makefile("rb") as stream:
            job: dict[str, Any] = json.loads(stream.readline())
        read, write = os.pipe()
        pid = os.fork()
    except (linux.GuardError, OSError, ValueError) as error:
        leash.sendall(json.dumps({"refused": str(error)}).encode())
        os._exit(1)
    if not pid:
        _be_stranger(job, write)
    os.close(write)
    deadline = time.monotonic() + job["seconds"]
    verdict = _verdict(read, leash, deadline)
    if for_commands and "refused" not in verdict:
        verdict = _exit_status(pid, leash, deadline)
    leash.sendall(json.dumps(verdict).encode())
    os._exit(0)


def _exit_status(pid: int, leash: socket.socket, deadline: float) -> dict[str, str]:
    """Wait for the end of a command until the deadline, or until the leash is closed."""
    handle = os.pidfd_open(pid)
    seconds_left = max(0.0, deadline - time.monotonic())
    ready, _, _ = select.select([handle, leash.fileno()], [], [], seconds_left)
    if handle not in ready:
        return {"failed": "timeout"}
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status < 0:
        return {"failed": "died"}
    return {"failed": f"exit status {status}"} if status else {"passed": ""}


def _verdict(report: int, leash: socket.socket, deadline: float) -> dict[str, str]:
    """Read the report until it ends, the time is over, or the leash is closed."""
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
        drop_privileges()
        linux.die_with_parent()  # after that, because becoming another user would undo it
        for_command = "command" in job
        limit(job["memory"], job["seconds"], for_command)
        allow_only_these(for_command)
        if for_command:
            _be_command(job["command"], "".join(job["parts"]))
    except (linux.GuardError, OSError, ValueError) as error:
        os.write(REPORT, REFUSED + str(error).encode("ascii", "replace")[:200])
        os._exit(1)
    write, end = os.write, os._exit  # kept before the parts can replace them
    # While the parts run, the word is an argument that waits: neither a descriptor nor a variable.
    write(REPORT, _draw_word() + _run_parts(job["parts"]))
    end(0)


def _be_command(command: str, text: str) -> None:
    """Write the program, and become the shell that runs the command. Its report ends with that."""
    try:
        with open(PROGRAM, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
    except OSError:  # too large: no guard is missing, it is this program that fails
        os._exit(1)
    os.set_inheritable(REPORT, False)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores, and so would the shell
        signal.signal(number, signal.SIG_DFL)
    places = {"HOME": _WORK, "TMPDIR": _WORK, "LANG": "C.UTF-8"}
    os.execve("/bin/sh", ["sh", "-c", command], {"PATH": "/usr/local/bin:/usr/bin:/bin"} | places)  # noqa: S606 - the user's command


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


# --- guards: memory, namespaces, a new root, and what the stranger gives up ---

NOBODY = 65534
"""User and group of the stranger, inside."""

OF_RUN = linux.NEWPID | linux.NEWNS | linux.NEWIPC | linux.NEWNET
"""The namespaces that every run has of its own."""

ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV = 1, 2, 4

_ROOT = "/proc"
"""The folder in which the new root is composed, which every Linux has."""

_WORK = "/tmp"  # noqa: S108 - of the new root
"""The one folder that a stranger may write to, its own in each run."""

COPY = "/copy"
"""The same where it is a copy of a folder. Programs may be anywhere, but not below this one."""

PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4
LAST_CAPABILITY = 63
CAPABILITIES_VERSION_3 = 0x20080522

PROGRAM = "program"
"""The file of the work folder in which a command finds what it has to run."""

_PROGRAMS = ("/bin", "/lib", "/lib64", "/usr", "/etc/alternatives")
"""The folders that a command may use, besides the interpreter's."""

THREADS = 64
"""The processes of a run, each thread counted: the stack of one in the kernel is 16 kB."""

_KERNEL = 128 << 20
"""Bytes besides the address space of a run: the template, the watcher, the work folder, tables."""


def enter_control_group(memory: int) -> str:
    """Move this process into its own group, and return the group's folder, or "" without one."""
    with suppress(OSError):
        own_group = linux.control_group()
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
        linux.put(f"{folder}/memory.max", str(memory + _KERNEL))
        with suppress(OSError):  # a kernel without swap has none
            linux.put(f"{folder}/memory.swap.max", "0")
        linux.put(f"{folder}/cgroup.procs", str(os.getpid()))
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
    linux.enter_user_namespace(
        dict.fromkeys(own, f"0 0 1\n{NOBODY} {NOBODY} 1"),
        {kind: f"{NOBODY} {number} 1" for kind, number in own.items()},
    )
    linux.require("files", linux.libc.unshare(linux.NEWNS))
    linux.require(
        "name of the machine",
        linux.libc.unshare(linux.NEWUTS) or linux.libc.sethostname(b"sandbox", 7),
    )


def new_root(library: Iterable[str], work: str = _WORK) -> None:
    """Replace the root by one of the given folders, read-only, ``/dev/null``, an empty one."""
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    linux.mount("tmpfs", _ROOT, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "size=1m,mode=755")
    for folder in _outermost([*library, *zoneinfo.TZPATH]):
        os.makedirs(_ROOT + folder, exist_ok=True)
        linux.mount(folder, _ROOT + folder, None, linux.MS_BIND | linux.MS_REC)
        for packages in ("site-packages", "dist-packages"):
            if os.path.isdir(hidden := f"{_ROOT}{folder}/{packages}"):
                linux.mount(
                    "tmpfs", hidden, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "size=4k,mode=755"
                )
    os.makedirs(_ROOT + work, exist_ok=True)
    os.makedirs(f"{_ROOT}/dev", exist_ok=True)
    os.close(os.open(_ROOT + os.devnull, os.O_CREAT))
    linux.mount_attributes(_ROOT, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV)
    # The only device, which the program has as its standard streams anyway.
    linux.mount(os.devnull, _ROOT + os.devnull, None, linux.MS_BIND)
    linux.mount_attributes(_ROOT + os.devnull, ATTR_RDONLY | ATTR_NOSUID)
    os.chdir(_ROOT)
    linux.pivot()


def _outermost(folders: Iterable[str]) -> list[str]:
    """Return the folders that exist, without those inside others."""
    real = {os.path.abspath(folder) for folder in folders if os.path.isdir(folder)} - {"/"}
    return sorted(
        folder for folder in real if not any(folder.startswith(f"{outer}/") for outer in real)
    )


def close_off(folder: str, programs: Iterable[str], memory: int, seconds: float) -> None:
    """Guard this process, which becomes a program of a stranger in a copy of a folder.

    ``programs``: the folders that it may read besides those of the system's programs.
    """
    source = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    held = [
        os.lstat(os.path.join(above, name)).st_size
        for above, folders, files in os.walk(folder)
        for name in (*folders, *files)
    ]
    linux.set_undumpable(False)  # or only root could map the ids; in the end it is so again
    enter_namespaces()
    linux.require("network", linux.libc.unshare(linux.NEWNET | linux.NEWIPC))
    new_root([*_PROGRAMS, *programs], COPY)
    work_folder(True, COPY, held)
    os.fchdir(source)
    shutil.copytree(".", COPY, symlinks=True, dirs_exist_ok=True)
    os.chdir(COPY)
    for above, folders, files in os.walk("."):
        for name in (*folders, *files):
            os.chown(os.path.join(above, name), NOBODY, NOBODY, follow_symlinks=False)
    drop_privileges()
    limit(memory, seconds, True)
    allow_only_these(True)


def work_folder(for_commands: bool, place: str = _WORK, held: Sequence[int] = ()) -> None:
    """Mount an empty folder that the stranger may write to, and go there.

    What a command writes there, it may also run. ``held``: bytes of the files that have to fit in
    besides.
    """
    size = ((256 if for_commands else 16) << 20) + sum(held) + 4096 * len(held)
    options = f"size={size},nr_inodes={1024 + len(held)},mode=700,uid={NOBODY},gid={NOBODY}"
    flags = linux.MS_NOSUID | linux.MS_NODEV | (0 if for_commands else linux.MS_NOEXEC)
    linux.mount("tmpfs", place, "tmpfs", flags, options)
    os.chdir(place)


def limit(memory: int, seconds: float, for_command: bool) -> None:
    """Limit memory, processor time, files and threads, for good.

    A command may reserve any address space (node does), but not use it.
    """
    most = {
        resource.RLIMIT_AS: resource.RLIM_INFINITY if for_command else memory,
        resource.RLIMIT_DATA: memory,
        resource.RLIMIT_STACK: 8 << 20,
        resource.RLIMIT_CPU: (int(seconds) + 2) * (os.cpu_count() or 1),
        resource.RLIMIT_FSIZE: 64 << 20 if for_command else 1 << 20,
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
        limits = {value, hard} - {resource.RLIM_INFINITY}
        lower = min(limits, default=resource.RLIM_INFINITY)
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
    raise linux.GuardError("threads", "the number of processes cannot be limited")


def drop_privileges() -> None:
    """Become the user nobody without capabilities, for good."""
    for capability in range(LAST_CAPABILITY + 1):
        linux.libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    with suppress(PermissionError):  # a process that may not set groups may not use them either
        os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    linux.libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = struct.pack("=II", CAPABILITIES_VERSION_3, 0)
    linux.require("privileges", linux.libc.capset(header, bytes(24)))
    linux.require("privileges", linux.libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    linux.set_undumpable()


# --- system calls: all but these are refused (seccomp) ---
#
# Left out on purpose: whatever starts a program or another process, sockets, shared memory
# and queues of System V and POSIX, files that live in memory alone (memfd), namespaces, mounts,
# tracing, other processes' memory, keys, bpf, performance counters, io_uring, userfaultfd, watching
# files, priorities, clocks, users and groups, and every call that future kernels add.

# The name, its number on x86_64, and on aarch64 (which has no old ones: -).
ALLOWED = """
# reading and writing what is open
read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68, preadv 295 69,
pwritev 296 70, lseek 8 62, sendfile 40 71, copy_file_range 326 285, close 3 57,
close_range 436 436, dup 32 23, dup2 33 -, dup3 292 24, pipe 22 -, pipe2 293 59, fsync 74 82,
fdatasync 75 83, ftruncate 77 46, truncate 76 45, fallocate 285 47,
# files of the work folder, for the root is read-only
open 2 -, openat 257 56, creat 85 -, stat 4 -, lstat 6 -, fstat 5 80, newfstatat 262 79,
statx 332 291, access 21 -, faccessat 269 48, faccessat2 439 439, readlink 89 -,
readlinkat 267 78, getdents 78 -, getdents64 217 61, getcwd 79 17, chdir 80 49, fchdir 81 50,
mkdir 83 -, mkdirat 258 34, rmdir 84 -, unlink 87 -, unlinkat 263 35, rename 82 -,
renameat 264 38, renameat2 316 276, link 86 -, linkat 265 37, symlink 88 -, symlinkat 266 36,
chmod 90 -, fchmod 91 52, fchmodat 268 53, umask 95 166, utime 132 -, utimes 235 -,
utimensat 280 88, statfs 137 43, fstatfs 138 44, getxattr 191 8, lgetxattr 192 9,
fgetxattr 193 10, listxattr 194 11, llistxattr 195 12, flistxattr 196 13,
# waiting
poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, epoll_create 213 -, epoll_create1 291 20,
epoll_ctl 233 21, epoll_wait 232 -, epoll_pwait 281 22, eventfd 284 -, eventfd2 290 19,
wait4 61 260, waitid 247 95, pause 34 -,
# memory
mmap 9 222, munmap 11 215, mremap 25 216, mprotect 10 226, madvise 28 233, brk 12 214,
msync 26 227,
# threads
futex 202 98, set_robust_list 273 99, set_tid_address 218 96, rseq 334 293, sched_yield 24 124,
sched_getaffinity 204 123, exit 60 93, exit_group 231 94, gettid 186 178,
# signals to itself, the only process there
kill 62 129, tgkill 234 131, rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139,
rt_sigpending 127 136, rt_sigtimedwait 128 137, rt_sigsuspend 130 133, sigaltstack 131 132,
restart_syscall 219 128, alarm 37 -, getitimer 36 102, setitimer 38 103,
# its identity and machine
getpid 39 172, getppid 110 173, getpgrp 111 -, getpgid 121 155, getsid 124 156, getuid 102 174,
geteuid 107 175, getgid 104 176, getegid 108 177, getresuid 118 148, getresgid 120 150,
getgroups 115 158, getrlimit 97 163, setrlimit 160 164, getrusage 98 165, times 100 153,
sysinfo 99 179, uname 63 160, getcpu 309 168,
# time and chance
time 201 -, gettimeofday 96 169, clock_gettime 228 113, clock_getres 229 114,
clock_nanosleep 230 115, nanosleep 35 101, getrandom 318 278,
"""

# Allowed with some values of an argument alone: numbers as above, which argument, its values.
# fcntl duplicates descriptors, asks for and sets flags, locks; ioctl asks terminals what they are
# and sets flags; prctl names threads; prlimit64 is about this process.
IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
CONDITIONAL = (
    (72, 25, 1, (0, 1, 2, 3, 4, 5, 6, 7, 1030)),
    (16, 29, 1, IOCTLS),
    (157, 167, 0, (15, 16)),
    (302, 261, 0, (0,)),
)
OF_COMMANDS = """
execve 59 221, execveat 322 281, fork 57 -, vfork 58 -, socketpair 53 199, arch_prctl 158 -,
membarrier 324 283, memfd_create 319 279, getpriority 140 141, sched_setscheduler 144 119,
sched_getscheduler 145 120, sched_getparam 143 121, setpgid 109 154, setsid 112 157, mincore 27 232,
"""
"""What a shell, compilers and node need besides: other processes, which end with the run."""

CLONE = (56, 220)
CLONE_THREAD, OTHER_FLAGS = 0x10000, 0xFFFFFFFF & ~0x7D0F00
"""The flag that marks a thread, and the flags that no thread needs: all except those of libc."""
OF_PROCESSES = 0x12040FF
"""The flags that libc needs for a process."""

FIRST_NEW = 424
"""From here on, all machines have the same number for a call, and libc works without it."""

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
PERMIT, KILL, REFUSE, MISSING = 0x7FFF0000, 0x80000000, 0x50000 | 1, 0x50000 | 38

PR_SET_SECCOMP, MODE_FILTER = 22, 2

Step = tuple[int, int, int, int]
"""Of the kernel's filter machine: code, steps to skip if true, if not, value."""


def allow_only_these(for_command: bool) -> None:
    """Refuse all other system calls from now on, for good."""
    steps = b"".join(struct.pack("=HBBI", *step) for step in _program(for_command))
    buffer = ctypes.create_string_buffer(steps, len(steps))
    head = struct.pack("@HxxxxxxP", len(steps) // 8, ctypes.addressof(buffer))
    linux.require("system calls", linux.libc.prctl(PR_SET_SECCOMP, MODE_FILTER, head, 0, 0))


def _program(for_command: bool) -> list[Step]:
    of_x86_64 = linux.machine_numbers(1, 0)
    steps = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, linux.machine_numbers(0xC000003E, 0xC00000B7)),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
    ]
    if of_x86_64:  # the x32 kind of call: the same numbers plus a bit
        steps += [(AT_LEAST, 0, 1, 0x40000000), (RETURN, 0, 0, KILL)]
    for number in allowed_numbers(ALLOWED + OF_COMMANDS if for_command else ALLOWED):
        steps += [(EQUAL, 0, 1, number), (RETURN, 0, 0, PERMIT)]
    for x86_64, aarch64, argument, values in CONDITIONAL:
        steps += _if_called(linux.machine_numbers(x86_64, aarch64), _one_of(argument, values))
    clone = [(LOAD, 0, 0, ARGUMENTS), (ANY_BIT, 1, 0, OTHER_FLAGS & ~OF_PROCESSES)]
    clone += [(RETURN, 0, 0, PERMIT), (RETURN, 0, 0, REFUSE)]
    steps += _if_called(linux.machine_numbers(*CLONE), clone if for_command else _thread())
    return [*steps, (AT_LEAST, 0, 1, FIRST_NEW), (RETURN, 0, 0, MISSING), (RETURN, 0, 0, REFUSE)]


def allowed_numbers(table: str = ALLOWED) -> list[int]:
    """Return the numbers of a table on this machine."""
    column = linux.machine_numbers(1, 2)
    lines = [line for line in table.split("\n") if line and not line.startswith("#")]
    calls = [call.split() for call in " ".join(lines).split(",") if call.strip()]
    return [int(call[column]) for call in calls if call[column] != "-"]


def _if_called(number: int, steps: list[Step]) -> list[Step]:
    """Take the steps, which return, if the loaded number is this."""
    return [(EQUAL, 0, len(steps), number), *steps]


def _one_of(argument: int, values: tuple[int, ...]) -> list[Step]:
    steps = [(LOAD, 0, 0, ARGUMENTS + 8 * argument)]
    for value in values:
        steps += [(EQUAL, 0, 1, value), (RETURN, 0, 0, PERMIT)]
    return [*steps, (RETURN, 0, 0, REFUSE)]


def _thread() -> list[Step]:
    return [
        (LOAD, 0, 0, ARGUMENTS),
        (ANY_BIT, 1, 0, OTHER_FLAGS),
        (ANY_BIT, 1, 0, CLONE_THREAD),
        (RETURN, 0, 0, REFUSE),
        (RETURN, 0, 0, PERMIT),
    ]
