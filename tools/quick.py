"""What tells an author at once that something broke: `make quick` runs it.

Static checks and the fast tests, side by side; what a step prints is shown if it failed. The whole
of both is `make check` and `make test`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

BIN = Path(sys.executable).parent
# Two processes that share nothing cost less than two workers of xdist that each collect everything.
TESTS = [str(BIN / "pytest"), "-m", "not slow", "-q", "-rfE", "--tb=short"]
REST = ["tests", "--ignore=tests/server"]
SHELL = ["tests/server"]


@dataclass(frozen=True)
class Step:
    name: str
    command: list[str]


@dataclass(frozen=True)
class Outcome:
    step: Step
    code: int
    output: str
    wall: float
    cpu: float


def steps() -> list[Step]:
    """Return the steps, the longest first."""
    found = [
        Step("shell, fast", [*TESTS, *SHELL]),
        Step("all else, fast", [*TESTS, *REST]),
        Step("mypy", [str(BIN / "mypy")]),
        Step("import contracts", [str(BIN / "lint-imports")]),
        Step("ruff", [str(BIN / "ruff"), "check", "."]),
        Step("ruff format", [str(BIN / "ruff"), "format", "--check", "."]),
    ]
    if shutil.which("node"):
        make = [os.environ.get("MAKE", "make"), "--no-print-directory", "check-client-changes"]
        found.insert(0, Step("VS Code extension", make))
    return found


def run(step: Step) -> Outcome:
    environment = os.environ | {"HYPOTHESIS_PROFILE": "quick"}
    environment.pop("EXCISE_DATA", None)  # data for measuring is for `make test`
    began = time.monotonic()
    with subprocess.Popen(
        step.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment
    ) as process:
        assert process.stdout is not None
        output = process.stdout.read().decode(errors="replace")
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - began
    return Outcome(step, process.returncode, output, wall, used.ru_utime + used.ru_stime)


def main() -> int:
    began = time.monotonic()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(run, steps()))
    failed = [outcome for outcome in outcomes if outcome.code]
    for outcome in failed:
        print(f"--- {outcome.step.name}: {' '.join(outcome.step.command)}\n{outcome.output}")
    for outcome in outcomes:
        verdict = "FAILED" if outcome.code else "passed"
        *_, last = outcome.output.strip().split("\n")
        times = f"{outcome.wall:5.1f} s, CPU {outcome.cpu:5.1f} s"
        print(f"{outcome.step.name:17} {verdict} {times}  {last}")
    cpu = sum(outcome.cpu for outcome in outcomes)
    print(f"make quick: {time.monotonic() - began:.1f} s, CPU {cpu:.1f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
