"""Print by how many kilobytes a piece of work raises this process's peak memory."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import workloads
from measure import Ballast
from rapidfuzz.distance import LCSseq

from excise import ScoreMatrix
from excise.kernels import _lcs


def alignment(mode: str) -> Callable[[], object]:
    """Align shape c with one of the two, after everything else is in memory."""
    origin, revision = workloads.shape_c().ints()
    lists = origin.tolist(), revision.tolist()
    _lcs.edits(origin[:100], revision[:90])
    LCSseq.editops(lists[0][:100], lists[1][:90])
    if mode == "ours":
        return partial(_lcs.edits, origin, revision)
    return partial(LCSseq.editops, *lists)


def lexical() -> Callable[[], object]:
    """Score two revisions of 1,000,000 lines."""
    origin, *revisions = workloads.million_lines()
    ScoreMatrix.from_texts(origin[:1000], [text[:900] for text in revisions])
    return partial(ScoreMatrix.from_texts, origin, revisions)


def main(mode: str) -> None:
    """Do the work once, and print what it took."""
    work = lexical() if mode == "lexical" else alignment(mode)
    filled = Ballast()
    result = work()
    print(filled.raised())
    del result


if __name__ == "__main__":
    main(sys.argv[1])
