"""Instructions of the kernels, counted by callgrind (`make bench-ir`).

Of the alignment per token of O, and of the lexer per byte of C read. The counts repeat exactly,
whatever else the machine is doing. Without arguments: run everything under valgrind and print the
tables; with the name of a shape or a text: align or read it once (that is what valgrind runs).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

GOALS = {"a": 260, "b": 121, "d": 900, "e": 610}
KERNEL = "__pyx_f_6excise_7kernels_4_lcs_canonical"
LEXER_GOALS = {"origin": 80, "revision": 25}
LEXER = "__pyx_pf_6excise_7kernels_6_lexer_5Lexer_4read"


def align(shape: str) -> None:
    """Align one shape once."""
    import workloads

    from excise.kernels import _lcs

    _lcs.edits(*workloads.SHAPES[shape]().ints())


def read(last: str) -> int:
    """Read the text of shape c, and its revision if that is the last to read; return its size."""
    import workloads

    from excise.kernels._lexer import Lexer
    from excise.tokens import Vocabulary

    lines = workloads.c_lines()
    texts = ["\n".join(lines), "\n".join(workloads.edited(lines, 10, code=workloads.C))]
    lexer = Lexer(Vocabulary(), alone=True)
    for text in texts[: 1 + (last == "revision")]:
        lexer.read(text)
    return len(texts[0].encode())


def instructions(work: str, kernel: str) -> int:
    """Count the instructions of a kernel in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        command = [
            "valgrind",
            "--tool=callgrind",
            f"--toggle-collect={kernel}",
            f"--callgrind-out-file={out}",
            sys.executable,
            __file__,
            work,
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
        count = instructions(shape, KERNEL)
        mark = "met" if count <= goal * tokens else "MISSED"
        print(f"{shape:8}{tokens:10,}{count:16,}{count / tokens:12.1f}{goal:8,} {mark}")
    print(f"\n{'text':8}{'bytes':>10}{'instructions':>16}{'per byte':>12}{'goal':>8}")
    size, before = read("origin"), 0
    for text, goal in LEXER_GOALS.items():
        total = instructions(text, LEXER)
        count, before = total - before, total
        mark = "met" if count <= goal * size else "MISSED"
        print(f"{text:8}{size:10,}{count:16,}{count / size:12.1f}{goal:8,} {mark}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        (read if sys.argv[1] in LEXER_GOALS else align)(sys.argv[1])
    else:
        main()
