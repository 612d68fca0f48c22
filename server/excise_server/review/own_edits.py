"""A change of the target's file applied to the user's file, next to the user's own edits. Pure."""

from __future__ import annotations

from dataclasses import replace

import excise
from excise.text import raw_lines
from excise_server.foundation.changes import LINK, Side
from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import SourceError
from excise_server.review.line_ends import edited_bytes

__all__ = ["edited_beside", "is_same_file"]


def is_same_file(working: Side, target: Side) -> bool:
    """Whether a file of the working tree is the target's, its line ends aside."""
    if working.data == target.data:
        return True
    return working.mode != LINK and target.mode != LINK and working.text == target.text is not None


def edited_beside(old: Side, new: Side, working: Side) -> Side:
    """Return a file of the working tree with the change that the target's file gets.

    Raises
    ------
    SourceError
        If it has other edits on the same lines.
    """
    if (working.mode == LINK) is not (old.mode == LINK):
        raise SourceError("it differs from the target")
    if new.mode in (old.mode, working.mode):
        new = replace(new, mode=working.mode)
    if working.data in (old.data, new.data):
        return replace(new, blob="")
    texts = [None if side.mode == LINK else side.text for side in (old, working, new)]
    before, current, after = texts
    if before is None or current is None or after is None:
        raise SourceError("it differs from the target")
    if current == before:
        return Side(new.mode, edited_bytes(working.data, after))
    merged = excise.replay(before, current, after)
    if merged.conflicts:
        lo, hi = merged.conflicts[0].origin
        lines = f"line {lo + 1}" if hi <= lo + 1 else f"lines {lo + 1} to {hi}"
        first = printable("".join(raw_lines(current)[lo:hi][:1]).strip())[:60]
        raise SourceError(f"{lines} of the working tree, {first!a}, are not the target's")
    return Side(new.mode, edited_bytes(working.data, merged.text))
