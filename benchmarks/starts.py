"""What starting costs (`make bench`), beside `python -c pass` in the same run; nothing is asserted.

Instructions are those that callgrind counts in the first process. A command that forks is measured
in seconds of the processor, of itself and its forks: the median of several runs, in turn.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import workloads
from measure import instructions, seconds_of_children

RUN = "from excise_server.cli import main; main()"
ROUNDS = 9
LINES = 300
FIRST = "-c", "pass"


def seconds(*arguments: str) -> float:
    """Return the seconds of the processor that Python and its children take."""
    before = seconds_of_children()
    subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
    return seconds_of_children() - before


def three_revisions(folder: Path) -> list[str]:
    """Write an origin of 300 lines and three revisions of it; return the arguments that name them.

    Two of the three are alike, so that there is something to merge.
    """
    lines = workloads.text_b().split("\n")[:LINES]
    first = workloads.edited(lines, 5, 1)
    texts = {"origin": lines, "first": first, "second": workloads.edited(first, 1, 2)}
    texts["third"] = workloads.edited(lines, 5, 3)
    for name, text in texts.items():
        (folder / f"{name}.py").write_text("\n".join(text) + "\n")
    origin, *revisions = (str(folder / f"{name}.py") for name in texts)
    return ["--origin", origin, *revisions]


def by_instructions() -> None:
    """Print what starts take in instructions."""
    commands = {
        "excise --version": ("-c", RUN, "--version"),
        "excise --help": ("-c", RUN, "--help"),
        "a worker, ready": (
            "-I", "-c", "from excise_server.workers.child import rehearse; rehearse()",
        ),
        "numpy imported": ("-c", "import numpy"),
        "click and rich imported": ("-c", "import click, rich.console, rich.table"),
        "the library imported": ("-c", "import excise"),
        "scikit-learn imported": ("-I", "-c", "import sklearn.cluster"),
    }  # fmt: skip
    if shutil.which("valgrind") is None:
        print("starts: valgrind is missing")
        return
    bare = instructions(*FIRST)
    print(f"python -c pass: {bare / 1e6:,.0f} M instructions")
    for name, arguments in commands.items():
        print(f"{name}: {instructions(*arguments) / bare:.1f} times as many")


def by_seconds() -> None:
    """Print what a small command takes in seconds, beside imports and a bare start."""
    with tempfile.TemporaryDirectory() as folder:
        files = three_revisions(Path(folder))
        commands = {
            "python -c pass": FIRST,
            "excise cluster, 3 revisions of 300 lines": (
                "-c",
                RUN,
                "compare",
                "--clusters",
                *files,
            ),
            "SciPy's clustering imported": ("-c", "import scipy.cluster.hierarchy"),
            "scikit-learn imported": ("-c", "import sklearn.cluster"),
        }
        taken: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, arguments in commands.items():
                taken[name].append(seconds(*arguments))
    bare = median(taken["python -c pass"])
    for name, times in taken.items():
        print(f"{name}: {median(times) * 1e3:,.0f} ms, {median(times) / bare:.1f} times a start")


if __name__ == "__main__":
    by_instructions()
    by_seconds()
