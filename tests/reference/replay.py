"""Replay (docs/algorithm.md, "Replay"), slowly: each edit is compared with every other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from tests.reference.lcs import canonical_lcs, lengths
from tests.reference.slides import Side, slid
from tests.reference.streams import normalise, raw_lines

Lines = list[str]


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
    both_insert: bool


def split(text: str) -> tuple[Lines, bool]:
    """The lines of a text without their ends, and whether the last one has an end.

    Reading: the end of the last line is merged by itself. An empty text lacks no end.
    """
    lines = raw_lines(normalise(text))
    return [line.removesuffix("\n") for line in lines], not lines or lines[-1].endswith("\n")


def changes(side: str, base: Lines, lines: Lines) -> list[Change]:
    """The maximal runs that the slid canonical alignment leaves unmatched.

    Reading: runs that touch after a slide are one edit.
    """
    pairs = slid(
        canonical_lcs(base, lines),
        Side(base, range(len(base))),
        Side(lines, range(len(lines))),
    )
    result = []
    before = (-1, -1)
    for pair in [*pairs, (len(base), len(lines))]:
        if pair != (before[0] + 1, before[1] + 1):
            result.append(
                Change(side, before[0] + 1, pair[0], tuple(lines[before[1] + 1 : pair[1]]))
            )
        before = pair
    return result


def conflict(x: Change, y: Change) -> bool:
    """Tell whether two edits share a line of the base, or one lies strictly inside the other."""
    if set(range(x.start, x.stop)) & set(range(y.start, y.stop)):
        return True
    return any(
        outer.start < inner.start and inner.stop < outer.stop for outer, inner in ((x, y), (y, x))
    )


def groups(edits: list[Change]) -> list[list[Change]]:
    """The edits in groups by the transitive closure of `conflict`."""
    group_of = list(range(len(edits)))
    for i, j in combinations(range(len(edits)), 2):
        if conflict(edits[i], edits[j]):
            joined, gone = group_of[i], group_of[j]
            group_of = [joined if group == gone else group for group in group_of]
    return [
        [edit for edit, group in zip(edits, group_of, strict=True) if group == name]
        for name in sorted(set(group_of))
    ]


def said_by(side: str, group: list[Change], base: Lines, start: int, stop: int) -> Lines:
    """What a side has for the base's lines: its own edits of the group, and the base between."""
    lines, line = [], start
    for edit in sorted((e for e in group if e.side == side), key=lambda e: e.start):
        lines += [*base[line : edit.start], *edit.lines]
        line = edit.stop
    return lines + base[line:stop]


def holds(lines: Lines, block: Lines) -> bool:
    """Tell whether a block is a run of these lines."""
    return any(lines[at : at + len(block)] == block for at in range(len(lines) + 1))


def distance(x: Lines, y: Lines) -> int:
    """How many lines must be deleted and inserted to make y of x."""
    return len(x) + len(y) - 2 * lengths(x, y)[-1][-1]


def landed(base: Lines, origin: Lines, revision: Lines, edits: list[Change]) -> bool:
    """Tell whether the revision lies on a shortest way from the base to the origin.

    Not if the origin keeps the lines of one of its edits, from one before to one after, and these
    stand once in the base and in the origin: the text law promises that this edit is made.
    """
    drift = [edit for edit in edits if edit.side == "origin"]
    for edit in edits:
        around = Change("", edit.start - 1, edit.stop + 1, ())
        lines = base[max(around.start, 0) : around.stop]
        kept = not any(conflict(around, other) for other in drift)
        once = all(text.count(line) == 1 for line in lines for text in (base, origin))
        if edit.side == "revision" and kept and once:
            return False
    way = distance(base, revision) + distance(revision, origin)
    return base != revision and distance(base, origin) == way


def replay(base: str, origin: str, revision: str) -> Replay:
    """Merge what the origin and the revision did to the base."""
    (base_lines, *_), (o_lines, *_), (r_lines, *_) = map(split, (base, origin, revision))
    edits = [*changes("origin", base_lines, o_lines), *changes("revision", base_lines, r_lines)]
    made: list[tuple[int, int, str, Lines]] = []
    conflicts = []
    for group in groups(edits):
        start, stop = min(e.start for e in group), max(e.stop for e in group)
        sides = sorted({edit.side for edit in group})
        said = [said_by(side, group, base_lines, start, stop) for side in sides]
        # Equal edits, of one line or of several that conflict, are taken once.
        if len(said) == 2 and said[0] != said[1]:
            texts = ["".join(f"{line}\n" for line in lines) for lines in said]
            conflicts.append(((start, stop), *texts))
        made.append((start, stop, sides[-1], said[-1]))
    insertions = {}
    for start, stop, side, lines in made:
        if start == stop:
            insertions.setdefault(start, {})[side] = lines
    doubled = {gap: found for gap, found in insertions.items() if len(found) == 2}
    merged, line = [], 0
    for start, stop, side, lines in sorted(made):
        merged += base_lines[line:start]
        twice = start == stop and start in doubled and side == "revision"
        if not (twice and holds(doubled[start]["origin"], lines)):
            merged += lines
        line = stop
    merged += base_lines[line:]
    both = any(not holds(found["origin"], found["revision"]) for found in doubled.values())
    if landed(base_lines, o_lines, r_lines, edits):
        merged, conflicts, both = o_lines, [], False
    ends = [split(text)[1] for text in (base, origin, revision)]
    ended = ends[2] if ends[2] != ends[0] else ends[1]
    text = "\n".join(merged) + ("\n" if merged and (ended or not merged[-1]) else "")
    return Replay(text, tuple(sorted(conflicts)), both)
