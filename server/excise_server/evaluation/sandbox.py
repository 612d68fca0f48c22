"""Running the tests of an item against a hypothesis: code of a stranger, so behind many guards.

Each run is a process of its own without an environment, in an empty folder, with limits of memory
and time, no network, no processes besides it, every file read-only, no privileges, and no system
calls that would start a program or open a socket (`sandbox_child`). It runs only where the guards
hold that keep it from harming.

The guards protect the machine. They do not make a liar honest: the tests run in the process of the
hypothesis, as HumanEval's do, and code that sets out to subvert Python from within can forge their
verdict. A hypothesis that exits early, prints a verdict or never returns has not passed.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from excise_server.sources import SourceError

__all__ = ["NEEDED", "Verdict", "check_guards", "run_tests"]

_CHILD = Path(__file__).with_name("sandbox_child.py")

NEEDED = frozenset({"limits", "network", "processes", "files", "folder", "privileges"})
"""Guards without which nothing is run; ``calls`` (seccomp) comes on top."""

MEMORY = 2_000_000_000
_LINE = 4_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether every test passed, and if not, why: an exception's name, ``timeout``, ``died``."""

    passed: bool
    reason: str = ""
    guards: tuple[str, ...] = ()


def check_guards() -> None:
    """Try the guards on nothing.

    Raises
    ------
    SourceError
        Where one that is needed does not hold; it names them.
    """
    if sys.platform != "linux":
        raise SourceError("--execute needs Linux: its guards are those of the kernel")
    verdict = run_tests([""], seconds=30)
    if absent := NEEDED - set(verdict.guards):
        names = ", ".join(sorted(absent))
        hint = "allow user namespaces (kernel.unprivileged_userns_clone, container settings)"
        raise SourceError(f"--execute cannot guard {names} here, so it runs nothing", hint=hint)


def run_tests(parts: Sequence[str], *, seconds: float = 10.0) -> Verdict:
    """Run pieces of a program one after another in one module; passed if all reach their end."""
    word = secrets.token_hex(16)
    job = {"parts": list(parts), "memory": MEMORY, "seconds": int(seconds)}
    answer = _answer(json.dumps(job).encode(), word, seconds)
    return _verdict(answer, word)


def _answer(job: bytes, word: str, seconds: float) -> bytes | None:
    """Return what the sandbox wrote; None: its time was over."""
    read, write = os.pipe()
    word_read, word_write = os.pipe()
    os.write(word_write, word.encode())
    os.close(word_write)
    command = [sys.executable, "-I", "-S", "-B", str(_CHILD), str(write), str(word_read)]
    try:
        process = subprocess.Popen(  # noqa: S603 - our interpreter, our script
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(write, word_read),
            cwd="/",
            env={},
            start_new_session=True,
        )
    finally:
        os.close(write)
        os.close(word_read)
    assert process.stdin is not None
    try:
        os.set_blocking(read, False)
        try:
            process.stdin.write(job + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            return b""
        return _read(read, time.monotonic() + seconds)
    finally:
        os.close(read)
        with suppress(BrokenPipeError):
            process.stdin.close()  # ends the child, whatever it does
        process.wait()


def _read(descriptor: int, until: float) -> bytes | None:
    found = b""
    while len(found) < _LINE:
        ready, _, _ = select.select([descriptor], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            return None
        data = os.read(descriptor, _LINE)
        if not data:
            return found
        found += data
    return found


def _verdict(answer: bytes | None, word: str) -> Verdict:
    if answer is None:
        return Verdict(False, "timeout")
    head, _, rest = answer.partition(b"\n")
    try:
        guards = tuple(str(guard) for guard in json.loads(head))
    except (ValueError, TypeError):
        return Verdict(False, "died")
    # Whatever stands before or after the word was not written by the end of the tests.
    if secrets.compare_digest(rest, f"passed {word}".encode()):
        return Verdict(True, "", guards)
    kind, _, reason = rest.partition(b" ")
    failed = kind == b"failed" and reason.isascii()
    return Verdict(False, reason.decode("ascii")[:80] if failed else "died", guards)
