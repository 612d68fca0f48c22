"""Applying what a patch does to one file: exact lines, where it says or at an offset, never fuzz.

A hunk with context is placed as ``git apply`` places it (`find_pos` in git's apply.c), so that what
it applies gives the same text here. Beyond that, a hunk applies at the very line that it names, and
nowhere else, where git wants more of it: without context on one side, or without any (``diff
-U0``), which git takes for an edit at the end of the file unless it is told otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from excise.patches.costs import Budget
from excise.patches.errors import PatchError
from excise.patches.image import Change, Image
from excise.patches.model import FilePair, Hunk

__all__ = ["Applied", "apply"]


@dataclass(frozen=True, slots=True)
class Applied:
    """A file after a patch.

    Attributes
    ----------
    text
        None: the patch deletes the file.
    offsets
        For each hunk how many lines further down it applied than it says (negative: further up).
    """

    text: bytes | None
    offsets: tuple[int, ...] = ()


def apply(pair: FilePair, text: bytes | None) -> Applied:
    r"""Apply what a patch does to one file.

    Where the patch and the text have different line ends throughout (a patch that was mailed with
    ``\r\n``, a checkout that has them), the result has those of the text.

    Parameters
    ----------
    pair : FilePair
        What the patch does to the file.
    text : bytes or None
        The file under its old name; None if the file does not exist yet.

    Returns
    -------
    Applied
        The file under its new name.

    Raises
    ------
    PatchError
        If the patch does not apply, is damaged or binary. The reason names the file, the hunk and
        the line of the file, `line` is that of the hunk in the patch.

    Examples
    --------
    >>> from excise.patches import parse
    >>> pair, = parse(b"--- a/x\n+++ b/x\n@@ -2,3 +2,3 @@\n one\n-two\n+2\n three\n").files
    >>> apply(pair, b"0\n0\n0\none\ntwo\nthree\n")
    Applied(text=b'0\n0\n0\none\n2\nthree\n', offsets=(2,))
    >>> apply(pair, b"zero\none\n2\nthree\n")
    Traceback (most recent call last):
    excise.patches.errors.PatchError: line 3: x: hunk 1 does not apply: line 3 has another text
    """
    if pair.binary is not None:
        raise PatchError(f"{pair.path}: the patch is binary")
    for hunk in pair.hunks:
        if hunk.damage:
            raise PatchError(f"{pair.path}: the hunk {hunk.damage}", hunk.line)
    if (pair.old is None) != (text is None):
        there = "creates it, but it exists" if text is not None else "changes it, but it is missing"
        raise PatchError(f"{pair.path}: the patch {there}")
    before = text or b""
    changes = [_change(hunk) for hunk in pair.hunks]
    try:
        applied = _applied(pair.path, changes, before)
    except PatchError:
        same_ends = _with_ends_of(before, changes)
        if same_ends is None:
            raise
        applied = _applied(pair.path, same_ends, before)
    if pair.new is not None:
        return applied
    if applied.text:
        raise PatchError(f"{pair.path}: the patch deletes the file, but not all of its lines")
    return replace(applied, text=None)


def _change(hunk: Hunk) -> Change:
    old = [line[1:] + b"\n" for line in hunk.lines if line[:1] != b"+"]
    new = [line[1:] + b"\n" for line in hunk.lines if line[:1] != b"-"]
    for lines, is_open in ((old, hunk.old_open), (new, hunk.new_open)):
        if is_open and lines:
            lines[-1] = lines[-1][:-1]
    has_context = any(line[:1] == b" " for line in hunk.lines)
    return Change(hunk, old, new, has_context, hunk.text.rpartition(b"\n")[2][:1] == b" ")


def _with_ends_of(text: bytes, changes: Sequence[Change]) -> list[Change] | None:
    r"""Return the changes with the text's line ends, or None if they are not of the other kind."""
    # A line that the text leaves without an end has the mail's \r all the same.
    lines = [line for change in changes for line in change.old + change.new]
    have = {line.rstrip(b"\n").endswith(b"\r") for line in lines}
    ends, returns = text.count(b"\n"), text.count(b"\r\n")
    if have == {True} and not returns:
        wanted = b"\n"
    elif have == {False} and ends and ends == returns:
        wanted = b"\r\n"
    else:
        return None
    return [
        replace(change, old=_ended(change.old, wanted), new=_ended(change.new, wanted))
        for change in changes
    ]


def _ended(lines: Sequence[bytes], end: bytes) -> list[bytes]:
    return [
        line.removesuffix(b"\n").removesuffix(b"\r") + (end if line[-1:] == b"\n" else b"")
        for line in lines
    ]


def _applied(path: str, changes: Sequence[Change], text: bytes) -> Applied:
    size = len(text) + sum(len(change.hunk.text) for change in changes)
    # A unit is a step of a search for the place of a hunk.
    budget = Budget(size, f"{path}: too costly to apply", allowance=4_000_000, units_a_byte=5)
    image = Image(text, budget)
    offsets = []
    grown = 0
    for number, change in enumerate(changes, start=1):
        # A side without lines names the line before it.
        stated = max(change.hunk.new_start - bool(change.new), 0)
        from_old = change.hunk.old_start - bool(change.old) + grown
        position = image.place(change, stated, from_old)
        if position is None:
            problem = image.mismatch(change.old, stated) or (
                f"its header names line {from_old + 1} of the result, and line {stated + 1}"
            )
            raise PatchError(f"{path}: hunk {number} does not apply: {problem}", change.hunk.line)
        image.write(change, position)
        offsets.append(position - stated)
        grown += len(change.new) - len(change.old)
    if any(line[-1:] != b"\n" for line in image.lines[:-1]):
        raise PatchError(f"{path}: a line without a line end would not be the last one")
    return Applied(b"".join(image.lines), tuple(offsets))
