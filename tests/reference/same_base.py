"""Section 8 for `basis:origin`, written plainly: the oracle of `compare_on_one_base`.

The tree is what either patch shows of it, file after file; each run of lines that neither shows is
one line with a token of its own. Patches are of one tree, and files are paired by path.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from tests.reference.lcs import Pairs, canonical_lcs
from tests.reference.patches import WHITE, ended, tokens
from tests.reference.regions import Region, conserved_star, divergent_regions
from tests.reference.score import Options, Verdict, is_defined, judge_anchored
from tests.reference.slides import Side, slid
from tests.reference.streams import Stream

OPTIONS = Options(deletion="f1", place="anchored")

Line = list[Hashable]
"""The tokens of a line."""


@dataclass(frozen=True)
class Run:
    """Lines of the old file, from and to (exclusive), and the lines that stand there instead."""

    start: int
    stop: int
    new: list[Line]


@dataclass
class Text:
    """All files of one side in a row: tokens, their lines, and (origin's token, own token) kept."""

    tokens: Line = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    kept: Pairs = field(default_factory=list)
    height: int = 0

    def write(self, line: Line) -> None:
        self.tokens += line
        self.lines += [self.height] * len(line)
        self.height += bool(line)

    @property
    def stream(self) -> Stream:
        return Stream(self.tokens, self.lines, [], self.tokens)


Triple = tuple[Text, Text, Text]


def compare(a, b) -> Verdict:
    """Compare two patches (`excise.patches.Patch`) of one tree that have a path in common."""
    is_same_text = [pair.hunks for pair in a.files] == [pair.hunks for pair in b.files]
    texts, notes = replayed(a, b, raw=False), []
    if not is_same_text and texts[0].tokens == texts[1].tokens == texts[2].tokens:  # guard 2
        texts, notes = replayed(a, b, raw=True), ["whitespace-only"]
    guard = 1 if is_same_text else deciding_guard(*(text.tokens for text in texts))
    if guard is None and not is_defined(streams(texts), regions_of(texts), OPTIONS):
        texts = replayed(a, b, raw=True)
        notes.append("rearranged")
    return judge_anchored(streams(texts), regions_of(texts), guard, OPTIONS, notes)


def deciding_guard(origin: Line, a: Line, b: Line) -> int | None:
    """Guards 3 and 4."""
    if origin in (a, b):
        return 3
    return 4 if a == b else None


def streams(texts: Triple) -> tuple[Stream, Stream, Stream]:
    return tuple(text.stream for text in texts)


def regions_of(texts: Triple) -> list[Region]:
    """The divergent regions of the slid alignments."""
    origin, a, b = (Side(text.tokens, text.lines) for text in texts)
    kept = dict(slid(texts[1].kept, origin, a)), dict(slid(texts[2].kept, origin, b))
    return divergent_regions(streams(texts), conserved_star(*kept), "nested")


def replayed(a, b, *, raw: bool) -> Triple:
    """Write down the tree, and what each patch makes of it."""
    texts = Text(), Text(), Text()
    for path in sorted({pair.path for patch in (a, b) for pair in patch.files}):
        of_a, of_b = ([pair for pair in patch.files if pair.path == path] for patch in (a, b))
        lines = {n: line for pair in of_a + of_b for n, line in shown_lines(pair, raw)}
        runs = [[run for pair in side for run in runs_of(pair, raw)] for side in (of_a, of_b)]
        first = len(texts[0].tokens)
        tree = file_rows(path, lines, {run.start for side in runs for run in side})
        for _, line in tree:
            texts[0].write(line)
        for text, own in zip(texts[1:], runs, strict=True):
            write_side(text, tree, {run.start: run for run in own}, first)
    return texts


def file_rows(path: str, shown: dict[int, Line], starts: set[int]) -> list[tuple[int, Line]]:
    """The numbered lines of an old file.

    What is not shown is one line up to the next line that is, or that something is inserted before.
    The path is a line, too: so no line of a file is beside one of another file.
    """
    rows: list[tuple[int, Line]] = [(-1, [("path", path)])]
    for number in range(max([0, *shown, *starts]) + 2):
        if number in shown:
            rows.append((number, shown[number]))
        elif number == 0 or number - 1 in shown or number in starts:
            rows.append((number, [("not shown", path, number)]))
    return rows


def write_side(
    text: Text, tree: list[tuple[int, Line]], runs: dict[int, Run], origin_first: int
) -> None:
    """Write a file as one patch leaves it."""
    run, in_tree = None, origin_first
    for number, line in tree:
        if number in runs:
            run = runs[number]
            old = [token for n, row in tree if run.start <= n < run.stop for token in row]
            new = [token for row in run.new for token in row]
            text.kept += [(in_tree + i, len(text.tokens) + j) for i, j in canonical_lcs(old, new)]
            for row in run.new:
                text.write(row)
        if run is None or number >= run.stop:
            text.kept += [(in_tree + i, len(text.tokens) + i) for i in range(len(line))]
            text.write(line)
        in_tree += len(line)


def images(hunk, raw: bool) -> tuple[list[str], list[str]]:
    old = [line[1:].decode() for line in hunk.lines if line[:1] != b"+"]
    new = [line[1:].decode() for line in hunk.lines if line[:1] != b"-"]
    return (ended(old, hunk.old_open), ended(new, hunk.new_open)) if raw else (old, new)


def split(line: str, raw: bool) -> Line:
    return [("raw", line)] if raw else tokens([line])


def first_line(hunk, old: list[str]) -> int:
    """The number of the first line of the old image; an empty one stands behind `old_start`."""
    return hunk.old_start + (not old)


def shown_lines(pair, raw: bool) -> Iterator[tuple[int, Line]]:
    """Yield the lines of the old file that a patch shows, with their numbers."""
    for hunk in pair.hunks:
        old, _ = images(hunk, raw)
        for number, line in enumerate(old, first_line(hunk, old)):
            yield number, split(line, raw)


def runs_of(pair, raw: bool) -> Iterator[Run]:
    """Yield what lies between the matched lines of the images of each hunk; blank ones match none.

    Reading: what is inserted stands before the next line that is not blank.
    """
    for hunk in pair.hunks:
        old, new = images(hunk, raw)
        start = first_line(hunk, old)
        sides = [
            [
                (n, line if raw else line.rstrip(WHITE))
                for n, line in enumerate(image)
                if raw or line.strip(WHITE)
            ]
            for image in (old, new)
        ]
        matched = canonical_lcs(*([key for _, key in side] for side in sides))
        o_from = a_from = 0
        for o_to, a_to in [*matched, tuple(map(len, sides))]:
            deleted, inserted = sides[0][o_from:o_to], sides[1][a_from:a_to]
            if deleted or inserted:
                below = sides[0][o_to][0] if o_to < len(sides[0]) else len(old)
                first = deleted[0][0] if deleted else below
                stop = deleted[-1][0] + 1 if deleted else below
                yield Run(start + first, start + stop, [split(new[n], raw) for n, _ in inserted])
            o_from, a_from = o_to + 1, a_to + 1
