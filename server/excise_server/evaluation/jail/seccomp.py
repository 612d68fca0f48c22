"""The system calls that the stranger may make: all others are refused (seccomp).

Left out on purpose: whatever starts a program or another process, sockets, shared memory
and queues of System V and POSIX, files that live in memory alone (memfd), namespaces, mounts,
tracing, other processes' memory, keys, bpf, performance counters, io_uring, userfaultfd, watching
files, priorities, clocks, users and groups, and every call that future kernels add.
"""

from __future__ import annotations

import ctypes
import struct

from excise_server.foundation.linux import libc, machine_numbers, require

__all__ = ["allow_only_these"]

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
CLONE = (56, 220)
CLONE_THREAD, OTHER_FLAGS = 0x10000, 0xFFFFFFFF & ~0x7D0F00
"""The flag that marks a thread, and the flags that no thread needs: all except those of libc."""

FIRST_NEW = 424
"""From here on, all machines have the same number for a call, and libc works without it."""

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
PERMIT, KILL, REFUSE, MISSING = 0x7FFF0000, 0x80000000, 0x50000 | 1, 0x50000 | 38

PR_SET_SECCOMP, MODE_FILTER = 22, 2

Step = tuple[int, int, int, int]
"""Of the kernel's filter machine: code, steps to skip if true, if not, value."""


def allow_only_these() -> None:
    """Refuse all other system calls from now on, for good."""
    steps = b"".join(struct.pack("=HBBI", *step) for step in _program())
    buffer = ctypes.create_string_buffer(steps, len(steps))
    head = struct.pack("@HxxxxxxP", len(steps) // 8, ctypes.addressof(buffer))
    require("system calls", libc.prctl(PR_SET_SECCOMP, MODE_FILTER, head, 0, 0))


def _program() -> list[Step]:
    of_x86_64 = machine_numbers(1, 0)
    steps = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, machine_numbers(0xC000003E, 0xC00000B7)),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
    ]
    if of_x86_64:  # the x32 kind of call: the same numbers plus a bit
        steps += [(AT_LEAST, 0, 1, 0x40000000), (RETURN, 0, 0, KILL)]
    for number in allowed_numbers():
        steps += [(EQUAL, 0, 1, number), (RETURN, 0, 0, PERMIT)]
    for x86_64, aarch64, argument, values in CONDITIONAL:
        steps += _if_called(machine_numbers(x86_64, aarch64), _one_of(argument, values))
    steps += _if_called(machine_numbers(*CLONE), _thread())
    return [*steps, (AT_LEAST, 0, 1, FIRST_NEW), (RETURN, 0, 0, MISSING), (RETURN, 0, 0, REFUSE)]


def allowed_numbers() -> list[int]:
    """Return the numbers of `ALLOWED` on this machine."""
    column = machine_numbers(1, 2)
    lines = [line for line in ALLOWED.split("\n") if line and not line.startswith("#")]
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
