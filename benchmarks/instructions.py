"""Instructions of the alignment kernel per token of O, counted by callgrind (`make bench-ir`).

The counts repeat exactly, whatever else the machine is doing. Without arguments: run every shape
under valgrind and print the table; with a shape: align it once (that is what valgrind runs).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

GOALS = {"a": 260, "b": 121, "d": 900, "e": 610}
KERNEL = "__pyx_f_6excise_4_lcs_canonical"


def align(shape: str) -> None:
    """Align one shape once."""
    import workloads

    from excise import _lcs

    _lcs.edits(*workloads.SHAPES[shape]().ints())


def instructions(shape: str) -> int:
    """Count the instructions of the kernel in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        command = [
            "valgrind",
            "--tool=callgrind",
            f"--toggle-collect={KERNEL}",
            f"--callgrind-out-file={out}",
            sys.executable,
            __file__,
            shape,
        ]
        subprocess.run(command, check=True, capture_output=True)
        found = re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)
    if found is None:
        raise SystemExit("callgrind wrote no total")
    return int(found.group(1))


def main() -> None:
    """Print instructions per token of O beside the goals."""
    if shutil.which("valgrind") is None:
        raise SystemExit("valgrind is missing (Debian: apt-get install valgrind)")
    import workloads

    print(f"{'shape':8}{'tokens':>10}{'instructions':>16}{'per token':>12}{'goal':>8}")
    for shape, goal in GOALS.items():
        tokens = len(workloads.SHAPES[shape]().origin)
        count = instructions(shape)
        mark = "met" if count <= goal * tokens else "MISSED"
        print(f"{shape:8}{tokens:10,}{count:16,}{count / tokens:12.1f}{goal:8,} {mark}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        align(sys.argv[1])
    else:
        main()
