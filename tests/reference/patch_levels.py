"""When two patches are the same edit (section 6a [3]), written plainly.

The oracle of `excise.patches.PatchIds`.
"""

from itertools import pairwise

from tests.reference.lcs import canonical_lcs
from tests.reference.patch_blocks import Submission, function_of
from tests.reference.patches import WHITE, ended, tokens, words

FREE = {"c", "h", "cpp", "java", "go", "cs", "py"}
"""Endings of names, those that tests use, where white space beside a sign means nothing."""


def level(a: Submission, b: Submission) -> str:
    """The word for patches that are the same edit, or "" where that is not known."""
    if edits(a) != edits(b):
        return ""
    return "identical" if written(a) == written(b) else "same code"


def edits(submitted: Submission) -> list:
    """What a patch does, file by file, and where.

    Reading: without a token that changes, what is written counts in full. So does whatever data
    a binary patch does not show, unless its header names it.
    """
    files = in_order(submitted)
    is_white = all(
        tokens(old) == tokens(new)
        for pair in files
        for hunk in pair.hunks
        for _, _, old, new, _ in between_matched(hunk)
    )
    rows = []
    for pair in files:
        rows.append((pair.old, pair.new, pair.facts, data_of(submitted, pair)))
        for hunk in pair.hunks:
            rows += of_hunk(pair, hunk, submitted.heading(hunk), is_white=is_white)
    return rows


def data_of(submitted: Submission, pair):
    if pair.binary is None:
        return None
    blobs = pair.old_blob, pair.new_blob
    return pair.binary.data or (blobs if all(blobs) else submitted.lines)


def of_hunk(pair, hunk, heading: str, *, is_white: bool) -> list:
    """The blocks of a hunk: where each stands, its lines, and how their indentation changes."""
    rows = []
    for at, above, old, new, below in between_matched(hunk, raw=is_white):
        rows.append(place(hunk.old_start + at, heading, above, below))
        if not is_white and not may_be_open(hunk):
            above = [text for _, text in above]
            below = [text for _, text in below[:1]]
            rows += [[line_of(pair, line) for line in side] for side in (old, new)]
            rows += [steps([*(above[-1:] or [""]), *side, *below]) for side in (old, new)]
            rows += [{*"".join(map(indentation, side))} for side in (old, new)]
    return [*rows, changed(hunk)] if is_white or (rows and may_be_open(hunk)) else rows


def in_order(submitted: Submission) -> list:
    return sorted(submitted.patch.files, key=lambda pair: (pair.path, pair.old or ""))


def between_matched(hunk, *, raw: bool = False):
    """Yield where a block is, the lines above it, both of its sides and the lines below it.

    Old lines above and below come with their numbers.
    """
    texts = [line.decode() for line in hunk.lines]
    old = [text[1:] for text in texts if text[:1] != "+"]
    new = [text[1:] for text in texts if text[:1] != "-"]
    if raw:
        keys = ended(old, hunk.old_open), ended(new, hunk.new_open)
        old, new = list(enumerate(keys[0])), keys[1]
    else:
        old = [(at, text) for at, text in enumerate(old) if text.strip(WHITE)]
        new = [text for text in new if text.strip(WHITE)]
        keys = [text.rstrip(WHITE) for _, text in old], [text.rstrip(WHITE) for text in new]
    o_from = a_from = 0
    for o_to, a_to in [*canonical_lcs(*keys), (len(old), len(new))]:
        if (o_from, a_from) != (o_to, a_to):
            gone = [text for _, text in old[o_from:o_to]]
            # A line that goes has a number; else that of the line before which others come.
            at = old[o_from][0] if o_from < len(old) else sum(x[:1] != "+" for x in texts)
            yield at, old[:o_from], gone, new[a_from:a_to], old[o_to:]
        o_from, a_from = o_to + 1, a_to + 1


def place(number: int, heading: str, above: list, below: list) -> tuple:
    """Where a block stands, told by itself alone."""
    function = function_of([heading, *(text for _, text in above)])
    above, below = (
        [text.strip(WHITE) for _, text in side if text.strip(WHITE)] for side in (above, below)
    )
    nearest = (above or [""])[-1], (below or [""])[0]
    around = [*above[-3:], *below[:3]]
    if heading and function and any(map(words, nearest)):
        return heading, function, nearest
    if any(map(words, around)):
        return heading, function, around
    return heading, function, around, number


def line_of(pair, line: str) -> str:
    """A line without margins and, where that means nothing, without its white space."""
    bare = line.strip(WHITE)
    if pair.path.rpartition(".")[2] not in FREE or {*bare} & {*"\"'`#\\"}:
        return bare
    spaced = ""
    for at, char in enumerate(bare):
        if char not in WHITE:
            spaced += char
            continue
        if bare[at - 1] in WHITE:
            continue
        left, right = words(bare[at - 1]), words(bare[at:].lstrip(WHITE)[0])
        spaced += " " if bool(left) == bool(right) else ""
    return spaced


def indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(WHITE))]


def steps(lines: list[str]) -> list:
    """From each line to the next what is added to the indentation, or taken from it."""
    return [
        (x.removeprefix(y), y.removeprefix(x)) if x.startswith(y) or y.startswith(x) else (x, y, 0)
        for x, y in pairwise(map(indentation, lines))
    ]


def may_be_open(hunk) -> bool:
    """Whether a string may go on behind a line of a hunk."""
    for raw in hunk.lines:
        line = raw.decode()
        if line.count('"') % 2 or line.count("'") % 2 or '"""' in line or "'''" in line:
            return True
        if "`" in line:
            return True
        for rest in line.split("<<")[1:]:
            word = rest.removeprefix(rest[:1] if rest[:1] in ("-", "~") else "")
            word = word.removeprefix(word[:1] if word[:1] in {*"\"'\\"} else "")
            if word[:1].isascii() and (word[:1].isalpha() or word[:1] == "_"):
                return True
    return False


def changed(hunk) -> tuple:
    """The changed lines of a hunk as they are, and whether the last one ends in a line end."""
    lines = [line.removesuffix(b"\r") for line in hunk.lines]
    is_last = bool(lines) and lines[-1][:1] in (b"+", b"-")
    ends = (hunk.old_open, hunk.new_open) if is_last else (False, False)
    return [line for line in lines if line[:1] in (b"+", b"-")], ends


def written(submitted: Submission) -> list:
    """The changed lines of each file, and which of their ends have no line end."""
    rows = []
    for pair in in_order(submitted):
        found = list(map(changed, pair.hunks))
        rows.append([line for lines, _ in found for line in lines])
        rows.append([ends for _, ends in found if True in ends])
    return rows
