"""Running the tests of an item against a hypothesis: untrusted code, closed off by bubblewrap.

`bwrap` gives each run namespaces of its own, the system's programs to read, one small folder to
write to, and no environment, network or privileges. `prlimit` bounds what it takes, and a filter
refuses the system calls that tests do not need.

The guards protect the machine, not the verdict: the tests run in the process of the hypothesis, as
in HumanEval, and code that deliberately subverts Python can forge their verdict. A hypothesis that
exits early, prints or writes a verdict, or never returns has not passed.
"""

from __future__ import annotations

import builtins
import json
import os
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from excise_server.foundation.inputs import SourceError

MEMORY = 2_000_000_000
"""Bytes of memory of a process."""

_LONGEST = 400
"""The most bytes of a report; honest ones are shorter."""

_PATH = "/usr/local/bin:/usr/bin:/bin"

# Refused, with its number on x86_64 and aarch64 (-: none): what takes memory that no limit counts,
# are doors of the kernel, or reaches other processes, namespaces, users or the machine.
_REFUSED = """shmget 29 194 msgget 68 186 semget 64 190 mq_open 240 180 userfaultfd 323 282 bpf 321
280 perf_event_open 298 241 add_key 248 217 request_key 249 218 keyctl 250 219 modify_ldt 154 -
ptrace 101 117 process_vm_readv 310 270 process_vm_writev 311 271 kcmp 312 272 unshare 272 97 setns
308 268 mount 165 40 umount2 166 39 pivot_root 155 41 chroot 161 51 open_by_handle_at 304 265 setuid
105 146 setgroups 116 159 capset 126 91 personality 135 92 seccomp 317 277 sync 162 81 syslog 103
116 setpriority 141 140 mlockall 151 230 inotify_init 253 - inotify_init1 294 26 fanotify_init 300
262 mknod 133 - mknodat 259 33 socket 41 198 reboot 169 142 settimeofday 164 170"""
# Refused to Python besides, whose tests start threads alone; shells and compilers need these.
_OF_PROCESSES = """fork 57 - vfork 58 - execveat 322 281 memfd_create 319 279 socketpair 53 199
setsid 112 157 setpgid 109 154 sched_setscheduler 144 119"""
_FCNTL = (72, 25, 1, (0, 1, 2, 3, 4, 5, 6, 7, 1030))  # no signals to others
_IOCTL = (16, 29, 1, (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451))  # no typing in a terminal
_PRCTL = (157, 167, 0, (15, 16))  # names of threads
_PRLIMIT64 = (302, 261, 0, (0, 2))  # of itself
_ONLY = (_FCNTL, _IOCTL, _PRCTL, _PRLIMIT64)
"""The values of one of its arguments that are allowed."""

_CLONE, _OF_NAMESPACES, _OF_THREADS = (56, 220), 0x7E022000, 0x10000
_FIRST_NEW = 424  # the same number on all machines from here on, and libc works without

_STARTED = b"started"
_SHELL = 'printf started; cat >program && exec /bin/sh -c "$1" </dev/null >/dev/null 2>&1'
# A stranger reaches the frames that called it: it can change their variables, and let them go on at
# another line. So one expression, whose operands are read before, makes all calls, and the random
# word waits as an argument meanwhile.
_DRIVER = """
import builtins, json, os, sys
from collections import deque
from itertools import repeat
os.write(1, b"started")
texts = json.load(sys.stdin)
os.dup2(1, 3)
for number in range(3):
    os.dup2(os.open(os.devnull, os.O_RDWR), number)
os.closerange(4, 64)
def run(parts, module):
    write, end, kind_of, execute = os.write, os._exit, type, exec
    kinds = [k for k in vars(builtins).values() if isinstance(k, type)]
    names = {id(k): k.__name__ for k in kinds if issubclass(k, BaseException)}
    ancestors = type.__dict__["__mro__"].__get__
    sys.modules["__main__"], module.__dict__["__builtins__"] = module, builtins
    def word():
        drawn = os.urandom(16)
        write(3, drawn)
        return b"passed " + drawn
    def nothing():
        try:
            code = tuple(compile(part, "<part>", "exec") for part in parts)
            return b"".join(deque(map(execute, code, repeat(module.__dict__)), maxlen=0))
        except BaseException as error:
            for kind in ancestors(kind_of(error)):
                if id(kind) in names:
                    write(3, b"failed " + names[id(kind)].encode())
                    break
            end(1)
    write(3, word() + nothing())
    end(0)
run(texts, type(sys)("__main__"))
"""


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """Whether every test passed, and if not, why.

    The reason is the name of a built-in exception, ``exit status N`` of a command, ``timeout`` or
    ``died``.
    """

    __test__ = False  # its name makes pytest take it for a class of tests
    passed: bool
    reason: str = ""


def check_guards(commands: Iterable[str] = ()) -> None:
    """Try the guards with an empty run, and look for the programs with which commands begin.

    Raises SourceError if a guard or such a program is missing, by its name.
    """
    for first in ("", *(command.split()[0] for command in commands)):
        word = first if re.fullmatch(r"[\w.+/-]+", first) else "sh"
        asked = f"command -v {word}" if first else None
        for tried in run_all([["import colorsys"]], 1, seconds=30, command=asked):
            if not tried.passed:
                reason = f"there is no {first} in /usr" if first else f"no Python: {tried.reason}"
                hint = "install it there: a program elsewhere is not in the sandbox"
                raise SourceError(f"--execute: {reason}", hint=hint)


def run_all(
    programs: Iterable[Sequence[str]],
    jobs: int,
    *,
    seconds: float = 10.0,
    command: str | None = None,
) -> Generator[TestOutcome, None, None]:
    """Run the parts of each program one after another in one module of Python.

    It passes if all reach their end. With a command for the shell, that finds the program in the
    file ``program``, and its exit status decides. Nothing runs longer than its seconds.

    Raises SourceError if it cannot be closed off.
    """
    running, closed = set[subprocess.Popen[bytes]](), list[bool]()
    words = _closed_off(command, seconds)
    steps = _filter(command is not None)

    def run(parts: Sequence[str]) -> TestOutcome:
        text = json.dumps(list(parts)) if command is None else "".join(parts)
        with tempfile.TemporaryFile() as program, tempfile.TemporaryFile() as filters:
            program.write(text.encode("utf-8", "replace"))
            filters.write(steps)
            program.seek(0)
            filters.seek(0)
            fd = filters.fileno()
            with subprocess.Popen(  # noqa: S603 - a program of a stranger, closed off
                [str(fd) if word == "FILTER" else word for word in words], stdin=program,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, pass_fds=(fd,), env={},
                cwd="/", start_new_session=True,
            ) as process:  # fmt: skip
                running.add(process)
                try:
                    report = None if closed else _report(process, time.monotonic() + seconds)
                finally:
                    process.kill()
                    running.discard(process)
        return _outcome(report, process.returncode, command is not None)

    with ThreadPoolExecutor(jobs) as threads:
        try:
            yield from threads.map(run, programs)
        finally:
            closed.append(True)
            threads.shutdown(wait=False, cancel_futures=True)
            for process in running.copy():
                process.kill()


def _report(process: subprocess.Popen[bytes], deadline: float) -> bytes | None:
    """Read what a run reports until it ends or reports too much; None: its time is over."""
    assert process.stdout is not None
    output, report = process.stdout.fileno(), b""
    while len(report) <= _LONGEST:
        if not select.select([output], [], [], max(0.0, deadline - time.monotonic()))[0]:
            return None
        if not (data := os.read(output, _LONGEST)):
            break
        report += data
    return report


def _outcome(report: bytes | None, status: int, is_command: bool) -> TestOutcome:
    """Return what a report means, of which no byte may be too many or too few."""
    if report is None:
        return TestOutcome(False, "timeout")
    if not report.startswith(_STARTED):
        why = report.decode("utf-8", "replace").strip().rpartition("\n")[2]
        hint = "bubblewrap needs user namespaces (docs/evaluation.md)"
        raise SourceError(f"--execute cannot close off a run, so it runs nothing: {why}", hint=hint)
    if is_command:
        return TestOutcome(status == 0, f"exit status {status}" if status else "")
    word, rest = report[len(_STARTED) :][:16], report[len(_STARTED) + 16 :]
    kind = getattr(builtins, rest.removeprefix(b"failed ").decode("ascii", "replace"), None)
    if isinstance(kind, type) and issubclass(kind, BaseException):
        return TestOutcome(False, kind.__name__)
    return TestOutcome(True) if rest == b"passed " + word else TestOutcome(False, "died")


def _closed_off(command: str | None, seconds: float) -> list[str]:
    """Return the words that run the driver, or a command, closed off; SourceError without bwrap."""
    for program, package in (("bwrap", "bubblewrap"), ("prlimit", "util-linux")):
        if sys.platform != "linux" or shutil.which(program, path=_PATH) is None:
            hint = f"install the package {package}"
            raise SourceError(f"--execute needs {program}, and Linux", hint=hint)
    place = prefix = os.path.realpath(sys.base_prefix)
    words = list[str]()
    if os.geteuid() == 0:  # whose processes no limit counts: it becomes nobody,
        place = "/mnt"  # who may not pass the folders of root on the way to an interpreter there
        words += ["unshare", "--mount", "sh", "-c", f'mount --bind "$0" {place} && exec "$@"']
        words += [
            prefix,
            *["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"],
        ]
    words += f"""bwrap --unshare-all --unshare-user --die-with-parent --new-session --clearenv
        --cap-drop ALL --uid 65534 --gid 65534 --hostname sandbox --seccomp FILTER
        --ro-bind /usr /usr --dev-bind /dev/null /dev/null
        --size {(16 if command is None else 256) << 20} --tmpfs /tmp --chdir /tmp""".split()
    for top in ("/bin", "/sbin", "/lib", "/lib64"):
        is_link = os.path.islink(top)
        words += ["--symlink", os.readlink(top), top] if is_link else ["--ro-bind-try", top, top]
    words += [] if f"{prefix}/".startswith("/usr/") else ["--ro-bind", place, prefix]
    if command is not None:
        words += f"""--ro-bind-try /etc/alternatives /etc/alternatives --setenv PATH {_PATH}
            --setenv HOME /tmp --setenv TMPDIR /tmp --setenv LANG C.UTF-8""".split()
    # A command may reserve any address space (node does), but not use it.
    words += f"""--remount-ro / prlimit --{"as" if command is None else "data"}={MEMORY} --nproc=64
        --cpu={(int(seconds) + 2) * (os.cpu_count() or 1)} --nofile=64 --stack={8 << 20} --core=0
        --fsize={(1 if command is None else 64) << 20} --memlock=0 --msgqueue=0""".split()
    if command is not None:
        return [*words, "/bin/sh", "-c", _SHELL, "sh", command]
    return [*words, os.path.realpath(sys.executable), "-I", "-S", "-B", "-c", _DRIVER]


def _filter(for_command: bool) -> bytes:
    """Return the steps of the kernel's filter machine: code, skips if true and if not, value."""
    column = {"x86_64": 0, "aarch64": 1}.get(os.uname().machine)
    if column is None:
        raise SourceError(f"--execute does not know the system calls of {os.uname().machine}")
    load, equal, at_least, any_bit, end = 0x20, 0x15, 0x35, 0x45, 0x06
    permit, kill, refuse, missing = 0x7FFF0000, 0x80000000, 0x50001, 0x50026
    steps = [(load, 0, 0, 4), (equal, 1, 0, (0xC000003E, 0xC00000B7)[column]), (end, 0, 0, kill)]
    steps += [(load, 0, 0, 0)]
    if column == 0:  # the x32 kind of call: the same numbers plus a bit
        steps += [(at_least, 0, 1, 0x40000000), (end, 0, 0, kill)]
    steps += [(at_least, 0, 1, _FIRST_NEW), (end, 0, 0, missing)]
    calls = (_REFUSED if for_command else f"{_REFUSED} {_OF_PROCESSES}").split()
    for number in calls[1 + column :: 3]:
        steps += [(equal, 0, 1, int(number)), (end, 0, 0, refuse)] if number != "-" else []
    for *numbers, argument, values in _ONLY:
        steps += [(equal, 0, 2 * len(values) + 2, numbers[column])]
        steps += [(load, 0, 0, 16 + 8 * argument)]
        steps += [one for v in values for one in ((equal, 0, 1, v), (end, 0, 0, permit))]
        steps += [(end, 0, 0, refuse)]
    threads = 0xFFFFFFFF if for_command else _OF_THREADS
    steps += [(equal, 0, 4, _CLONE[column]), (load, 0, 0, 16), (any_bit, 1, 0, _OF_NAMESPACES)]
    steps += [(any_bit, 1, 0, threads), (end, 0, 0, refuse), (end, 0, 0, permit)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
