"""Inside the sandbox: guard this process, then run a hypothesis and its tests in it.

A script of its own, started as ``python -I -S`` without an environment: it imports nothing of ours.
It reads ``{"parts": [...], "memory", "seconds"}`` from standard input, tells on the
descriptor that its argument names which guards hold, and, after every part ran to its end, repeats
the word that waits on the other descriptor, which nothing read before.

The process first makes the guards, then forks: the child is the first process of a PID namespace,
so that its end is the end of whatever it left behind, and the parent ends it when standard input
ends. No guard is needed for the next; each one that fails is left out of the list.
"""

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import struct
import sys
from typing import Any

Job = dict[str, Any]

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x4000000, 0x8000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
MS_REC_PRIVATE = 0x4000 | 0x40000
MOUNT_SETATTR, AT_RECURSIVE, ATTR_RDONLY = 442, 0x8000, 1
PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 4, 38, 22, 2

# By machine: its code in seccomp; the numbers of the system calls that are refused, in the order
# fork, vfork (x86 alone), execve, execveat, socket, socketpair, ptrace, mount, umount2, unshare,
# setns, prctl, setsid, setpgid, process_vm_readv and _writev, bpf, io_uring_setup, kexec_load,
# keyctl, add_key; and the number of clone.
MACHINES = {
    "x86_64": (
        0xC000003E,
        "57 58 59 322 41 53 101 165 166 272 308 157 112 109 310 311 321 425 246 250 248",
        56,
    ),
    "aarch64": (
        0xC00000B7,
        "221 281 198 199 117 40 39 97 268 167 157 154 270 271 280 425 104 219 217",
        220,
    ),
}
CLONE_THREAD = 0x10000
ERRNO_EPERM, ERRNO_ENOSYS, ALLOW, KILL = 0x50000 | 1, 0x50000 | 38, 0x7FFF0000, 0x80000000
CLONE3 = 435


def main() -> None:
    """Guard, fork, run; the parent of the fork only waits."""
    out, word = int(sys.argv[1]), int(sys.argv[2])
    job = json.loads(sys.stdin.buffer.readline())
    guards = limits(job) + namespaces()
    child = os.fork()
    if not child:
        os.close(0)
        run(job, out, word, guards)
        os._exit(1)
    os.close(out)
    os.close(word)
    watch(child)


def watch(child: int) -> None:
    """Wait for the child; end it when standard input ends, which its writer can always do."""
    done = os.pidfd_open(child)
    ready, _, _ = select.select([done, 0], [], [])
    if done not in ready:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os._exit(0)


def run(job: Job, out: int, word: int, guards: list[str]) -> None:
    """Run the parts one after another in one module."""
    guards = guards + privileges() + calls()
    os.write(out, json.dumps(guards).encode() + b"\n")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    # Kept before anything of a stranger can put others in their place.
    write, read, end = os.write, os.read, os._exit
    space = {"__name__": "__main__", "__builtins__": __builtins__}
    failed = b"failed"
    try:
        for at, part in enumerate(job["parts"]):
            exec(compile(part, f"<part {at}>", "exec"), space)  # noqa: S102 - what this is for
    except BaseException as error:  # noqa: BLE001 - an exit is a failure too
        with contextlib.suppress(BaseException):
            write(out, failed + b" " + type(error).__name__.encode("ascii", "replace")[:80])
        end(1)
    write(out, b"passed " + read(word, 64))
    end(0)


# --- guards --------------------------------------------------------------------------------------


def limits(job: Job) -> list[str]:
    """Limit memory, time of the processor, sizes and numbers of files."""
    wanted = {
        "RLIMIT_AS": job["memory"],
        "RLIMIT_CPU": job["seconds"] + 1,
        "RLIMIT_FSIZE": 1 << 20,
        "RLIMIT_NOFILE": 64,
        "RLIMIT_CORE": 0,
    }
    for name, most in wanted.items():
        resource.setrlimit(getattr(resource, name), (most, most))
    return ["limits"]


def namespaces() -> list[str]:
    """Leave the network, the processes and the writable files of the machine behind."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    every = CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWPID
    if libc.unshare(every):
        return []
    held = ["network", "processes"]
    with contextlib.suppress(OSError):
        put("/proc/self/setgroups", "deny")
        put("/proc/self/uid_map", f"65534 {user} 1")
        put("/proc/self/gid_map", f"65534 {group} 1")
    if not libc.mount(None, b"/", None, MS_REC_PRIVATE, None) and read_only(libc):
        held.append("files")
        # Over the processes of the machine, on a folder that nobody can take away meanwhile.
        quiet = MS_NOSUID | MS_NODEV | MS_NOEXEC
        if not libc.mount(b"tmpfs", b"/proc", b"tmpfs", quiet, b"size=16m,mode=777"):
            os.chdir("/proc")
            held.append("folder")
    return held


def put(path: str, text: str) -> None:
    """Write a file of the kernel."""
    with open(path, "w") as file:
        file.write(text)


def read_only(libc: ctypes.CDLL) -> bool:
    """Make every mount read-only, for this process and what it starts."""
    attributes = struct.pack("=QQQQ", ATTR_RDONLY, 0, 0, 0)
    return not libc.syscall(MOUNT_SETATTR, -100, b"/", AT_RECURSIVE, attributes, len(attributes))


def privileges() -> list[str]:
    """Give up every capability, for good."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = struct.pack("=II", 0x20080522, 0)
    given_up = not libc.capset(header, struct.pack("=6I", 0, 0, 0, 0, 0, 0))
    forever = not libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    return ["privileges"] if given_up and forever else []


def calls() -> list[str]:
    """Refuse the system calls that start processes, open sockets or change the sandbox."""
    found = MACHINES.get(os.uname().machine)
    if found is None:
        return []
    code, refused, clone = found
    numbers = [int(number) for number in refused.split()]
    steps = [(0x20, 0, 0, 4), (0x15, 1, 0, code), (0x06, 0, 0, KILL), (0x20, 0, 0, 0)]
    if code == MACHINES["x86_64"][0]:  # the numbers of the x32 kind of call are these plus a bit
        steps += [(0x35, 0, 1, 0x40000000), (0x06, 0, 0, KILL)]
    steps += [(0x15, 0, 1, CLONE3), (0x06, 0, 0, ERRNO_ENOSYS)]
    for number in numbers:
        steps += [(0x15, 0, 1, number), (0x06, 0, 0, ERRNO_EPERM)]
    # A thread may be made, a process not.
    steps += [(0x15, 0, 3, clone), (0x20, 0, 0, 16), (0x45, 1, 0, CLONE_THREAD)]
    steps += [(0x06, 0, 0, ERRNO_EPERM), (0x06, 0, 0, ALLOW)]
    program = b"".join(struct.pack("=HBBI", *step) for step in steps)
    kept = ctypes.create_string_buffer(program)
    head = struct.pack("@HxxxxxxP", len(steps), ctypes.addressof(kept))
    libc = ctypes.CDLL(None, use_errno=True)
    return [] if libc.prctl(PR_SET_SECCOMP, FILTER, head, 0, 0) else ["calls"]


if __name__ == "__main__":
    main()
