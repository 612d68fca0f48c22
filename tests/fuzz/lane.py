"""The lane: each target in processes of its own, and a file for every input that must not be.

An exception, a process that dies and an input that costs too much CPU time are findings. After one
the target goes on with another seed.
"""

import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
MOST_FINDINGS = 5
"""Findings of one target after which it has said enough."""

GRACE = 60.0
"""Seconds on the clock that a process may take beyond its time: it waits for something."""

UNLIMITED = 10**9


class Finding(NamedTuple):
    """An input that must not be: its file, what came of it, and when."""

    path: Path
    message: str
    seconds: float


@dataclass
class Outcome:
    """What came of one target."""

    inputs: int = 0
    findings: list[Finding] = field(default_factory=list)


def run(
    name: str,
    *,
    seed: int,
    seconds: float,
    kept: Path,
    inputs: int = UNLIMITED,
    environment: Mapping[str, str] | None = None,
    corpus: bool = True,
    label: str = "",
) -> Outcome:
    """Try inputs of a target for some seconds, or a number of them; keep what is found."""
    outcome, messages, start = Outcome(), set(), time.monotonic()
    end = start + seconds
    first = 0 if corpus else -1
    with tempfile.TemporaryDirectory(prefix="excise-fuzz-") as folder:
        while (left := end - time.monotonic()) > 0 and len(outcome.findings) < MOST_FINDINGS:
            given = (name, folder, str(seed), str(left), str(inputs), str(first))
            code, _, err = child(given, environment, left + GRACE)
            message = reason(code, err)
            current, counter = Path(folder) / "current", Path(folder) / "number"
            if not counter.exists():
                raise RuntimeError(f"{name} does not start: {message}\n{err[-2000:]}")
            tried = int(counter.read_text())
            counter.unlink()
            outcome.inputs += tried
            if code == 0:
                break
            first += tried if corpus else 0
            if message not in messages:
                path = keep(
                    label or name, current.read_bytes(), f"{message}\n\n{err[-6000:]}", kept
                )
                outcome.findings.append(Finding(path, message, time.monotonic() - start))
            messages.add(message)
            seed += 1_000_003
    return outcome


def child(
    given: tuple[str, ...], environment: Mapping[str, str] | None, patience: float
) -> tuple[int, str, str]:
    """Run the other end; return its code (negative: a signal), and what it printed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.fuzz.child", *given],
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=patience)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        code = -signal.SIGALRM
    return code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")


def reason(code: int, err: str) -> str:
    """Return in a line why a process ended."""
    lines = [line for line in err.strip().split("\n") if line]
    sanitizer = [line for line in lines if "Sanitizer: " in line or "runtime error: " in line]
    if sanitizer:
        return sanitizer[0].partition("==ERROR: ")[2] or sanitizer[0]
    if code == -signal.SIGPROF:
        return "costs too much CPU time"
    if code == -signal.SIGALRM:
        return "never ends, and waits for something"
    if code < 0:
        return f"the process died of {signal.Signals(-code).name}"
    raised = [line for line in lines if not line.startswith((" ", "\t"))]
    return raised[-1][:200] if raised else f"ends with {code}"


def keep(name: str, data: bytes, text: str, kept: Path) -> Path:
    """Write an input and what came of it; return the file of the input."""
    folder = kept / name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / hashlib.sha256(data).hexdigest()[:12]
    path.write_bytes(data)
    path.with_suffix(".txt").write_text(f"{text}\n\nreplay: {replay_command(path)}\n")
    return path


def replay_command(path: Path) -> str:
    return f".venv/bin/python -m tests.fuzz --replay {path}"
