"""Instructions of the kernels, counted by callgrind (`make bench-ir`).

Of the alignment per token of O, of the lexer per byte of C read, of the hunks per pair and hunk
that it diverges in, and of reading a revision of b from text as a part of a bare parse of it. The
counts repeat, whatever else the machine is doing. Without arguments: run everything under valgrind,
print a table, and fail if a goal is missed or a count grew by a tenth; with the name of a shape, a
text, "hunks", or "scored" or "parsed" and a number: do that once, for valgrind.
"""

from __future__ import annotations

import shutil
import sys

import workloads
from measure import instructions

from excise import ScoreMatrix, syntax
from excise.kernels import _lcs
from excise.kernels._lexer import Lexer
from excise.tokens import Vocabulary

GOALS = {"a": 260, "b": 121, "d": 900, "e": 610}
KERNEL = "__pyx_f_6excise_7kernels_4_lcs_canonical"
LEXER_GOALS = {"origin": 80, "revision": 25}
HUNKS_GOAL = 2_200
READING_GOAL = 1 / 4
REVISIONS = 17
COUNTED = {"a": 13.2, "b": 5.1, "d": 677.5, "e": 600.7, "hunks": 2_039.3}
"""What was counted last; another compiler or Python's own sources may move it a little."""
TOLERANCE = 1.1
HUNKS = "__pyx_f_6excise_7kernels_7_counts_5Batch_pair_by_hunk"
LEXER = "__pyx_pf_6excise_7kernels_6_lexer_5Lexer_4read"


def align(shape: str) -> None:
    """Align one shape once."""
    _lcs.edits(*workloads.SHAPES[shape]().ints())


def read(last: str) -> int:
    """Read the text of shape c, and its revision if that is the last to read; return its size."""
    lines = workloads.c_lines()
    texts = ["\n".join(lines), "\n".join(workloads.edited(lines, 10, code=workloads.C))]
    lexer = Lexer(Vocabulary(), alone=True)
    for text in texts[: 1 + (last == "revision")]:
        lexer.read(text)
    return len(texts[0].encode())


def count_hunks() -> int:
    """Count 12 revisions of b, pair by pair and hunk by hunk; return the size of the answer."""
    lines = workloads.text_b().split("\n")
    texts = ["\n".join(workloads.edited(lines, 11, seed)) for seed in range(12)]
    matrix = ScoreMatrix.from_texts("\n".join(lines), texts)
    return len(matrix.in_hunks(matrix.hunks()).entries)


def score(k: int) -> None:
    """Score k revisions of b from text."""
    lines = workloads.text_b().split("\n")
    texts = ["\n".join(workloads.edited(lines, 11, seed)) for seed in range(REVISIONS)]
    ScoreMatrix.from_texts("\n".join(lines), texts[:k], language="python")


def parse(times: int) -> None:
    """Parse b so many times."""
    text = workloads.text_b()
    for _ in range(times):
        syntax.parse(text, "python")


def reading() -> float:
    """Return the instructions of one more revision of b, as a part of those of one more parse."""
    more = alone(f"scored {REVISIONS}") - alone("scored 1")
    parses = alone("parsed 5") - alone("parsed 1")
    return more / (REVISIONS - 1) / (parses / 4)


def alone(work: str, kernel: str | None = None) -> int:
    """Count the instructions of a kernel, or of everything, in a fresh process that does this."""
    return instructions(__file__, *work.split(), kernel=kernel)


def main() -> None:
    """Print instructions per token of O beside the goals."""
    if shutil.which("valgrind") is None:
        raise SystemExit("valgrind is missing (Debian: apt-get install valgrind)")
    missed = False

    def show(name: str, size: int, count: int, goal: int) -> None:
        nonlocal missed
        most = min(goal, TOLERANCE * COUNTED.get(name, goal))
        missed |= count > most * size
        mark = "met" if count <= goal * size else "MISSED"
        mark += "" if count <= most * size or mark == "MISSED" else ", GREW"
        print(f"{name:10}{size:10,}{count:16,}{count / size:12.1f}{goal:8,} {mark}")

    print(f"{'':10}{'size':>10}{'instructions':>16}{'each':>12}{'goal':>8}")
    for shape, goal in GOALS.items():
        show(shape, len(workloads.SHAPES[shape]().origin), alone(shape, KERNEL), goal)
    size, before = read("origin"), 0
    for text, goal in LEXER_GOALS.items():
        total = alone(text, LEXER)
        show(text, size, total - before, goal)
        before = total
    show("hunks", count_hunks(), alone("hunks", HUNKS), HUNKS_GOAL)
    part = reading()
    missed |= part > READING_GOAL
    mark = "met" if part <= READING_GOAL else "MISSED"
    print(f"a revision of b from text, as a part of a bare parse: {part:.2f} (goal .25) {mark}")
    if missed:
        raise SystemExit("a kernel takes more instructions than it may")


if __name__ == "__main__":
    if sys.argv[1:] == ["hunks"]:
        count_hunks()
    elif sys.argv[1:2] == ["scored"]:
        score(int(sys.argv[2]))
    elif sys.argv[1:2] == ["parsed"]:
        parse(int(sys.argv[2]))
    elif len(sys.argv) > 1:
        (read if sys.argv[1] in LEXER_GOALS else align)(sys.argv[1])
    else:
        main()
