"""Replay (docs/algorithm.md, "Replay"), slowly: git says what is changed; edits are compared."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from tests.reference.streams import normalise, raw_lines

Lines = list[str]
ENVIRONMENT = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


@dataclass(frozen=True)
class Change:
    """One side's edit: the base's lines ``start`` to ``stop`` became ``lines``."""

    side: str
    start: int
    stop: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Replay:
    """``conflicts`` are the base's lines, the origin's text and the revision's text of each."""

    text: str
    conflicts: tuple[tuple[tuple[int, int], str, str], ...]


def ended(lines: Iterable[str]) -> str:
    """Join lines: before others a line has its end."""
    *first, last = [*lines] or [""]
    return "".join(line.removesuffix("\n") + "\n" for line in first) + last


def changes(side: str, base: Lines, lines: Lines) -> list[Change]:
    """The runs of lines that git's default diff says are changed."""
    with tempfile.TemporaryDirectory() as folder:
        for name, own in (("base", base), ("other", lines)):
            Path(folder, name).write_bytes("".join(own).encode())
        command = ["git", "diff", "--no-index", "--text", "--no-color", "--no-ext-diff",
                   "--diff-algorithm=myers", "--no-indent-heuristic", "-U1000000",
                   "base", "other"]  # fmt: skip
        ran = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, check=False)
    _, _, body = ran.stdout.decode().partition("\n@@ ")
    result, i, j, start = [], 0, 0, (0, 0)
    for mark in [*(line[:1] for line in body.split("\n")[1:-1]), " "]:
        if mark == " ":
            if (i, j) != start:
                result.append(Change(side, start[0], i, tuple(lines[start[1] : j])))
            start = i + 1, j + 1
        i += mark in " -"
        j += mark in " +"
    return result


def merged_by_git(base: str, origin: str, revision: str) -> tuple[bool, str]:
    """Tell whether git has conflicts in normalised texts, and what it makes of them."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("origin", origin), ("base", base), ("revision", revision)):
            Path(folder, name).write_bytes(text.encode())
        command = ["git", "merge-file", "-p", "origin", "base", "revision"]
        ran = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, check=False)
    return ran.returncode != 0, ran.stdout.decode()


def overlap(x: Change, y: Change) -> bool:
    """Tell whether two edits share a line of the base, or one lies strictly inside the other."""
    if set(range(x.start, x.stop)) & set(range(y.start, y.stop)):
        return True
    return any(
        outer.start < inner.start and inner.stop < outer.stop for outer, inner in ((x, y), (y, x))
    )


def meet(x: Change, y: Change) -> bool:
    """Tell whether two edits share a line of the base or adjoin: git's rule."""
    return x.start <= y.stop and y.start <= x.stop


def groups(edits: list[Change], related: Callable[[Change, Change], bool]) -> list[list[Change]]:
    """The edits in groups by the transitive closure of a relation, in the order of the base."""
    group_of = list(range(len(edits)))
    for i, j in combinations(range(len(edits)), 2):
        if related(edits[i], edits[j]):
            joined, gone = group_of[i], group_of[j]
            group_of = [joined if group == gone else group for group in group_of]
    found = [
        [edit for edit, group in zip(edits, group_of, strict=True) if group == name]
        for name in sorted(set(group_of))
    ]
    return sorted(found, key=lambda group: (bounds(group), [edit.side for edit in group]))


def bounds(group: list[Change]) -> tuple[int, int]:
    """The lines of the base that edits take up."""
    return min(edit.start for edit in group), max(edit.stop for edit in group)


def said_by(side: str, group: list[Change], base: Lines, start: int, stop: int) -> Lines:
    """What a side has for the base's lines: its own edits of the group, and the base between."""
    lines, line = [], start
    for edit in sorted((e for e in group if e.side == side), key=lambda e: e.start):
        lines += [*base[line : edit.start], *edit.lines]
        line = edit.stop
    return lines + base[line:stop]


def in_conflict(group: list[Change], base: Lines, start: int, stop: int) -> Lines:
    """A text of a conflict: both sides, and the revision's lines where edits overlap.

    Of two insertions before one line the origin's comes first. If it holds the lines of the
    revision's, these are inserted once.
    """
    merged, line, inserted = [], start, (-1, "")
    for part in groups(group, overlap):
        lo, hi = bounds(part)
        side = max(edit.side for edit in part)
        lines = said_by(side, part, base, lo, hi)
        if side == "origin":
            inserted = lo, f"\n{ended(lines)}" if lo == hi else ""
        elif lo == hi == inserted[0] and f"\n{ended(lines)}" in inserted[1]:
            lines = []
        merged += [*base[line:lo], *lines]
        line = hi
    return merged + base[line:stop]


def replay(base: str, origin: str, revision: str) -> Replay:
    """Merge what the origin and the revision did to the base.

    Reading: a last line without its end is another line than one with it.
    """
    base_lines, o_lines, r_lines = (raw_lines(normalise(text)) for text in (base, origin, revision))
    edits = [*changes("origin", base_lines, o_lines), *changes("revision", base_lines, r_lines)]
    merged, line, conflicts = [], 0, []
    for group in groups(edits, meet):
        start, stop = bounds(group)
        said = [
            said_by(side, group, base_lines, start, stop)
            for side in sorted({edit.side for edit in group})
        ]
        lines = said[-1]
        if len(said) == 2 and said[0] != said[1]:
            conflicts.append(((start, stop), ended(said[0]), ended(said[1])))
            lines = in_conflict(group, base_lines, start, stop)
        merged += [*base_lines[line:start], *lines]
        line = stop
    return Replay(ended([*merged, *base_lines[line:]]), tuple(conflicts))
