"""A change of the target's file applied to the user's file, next to the user's own edits. Pure."""

from __future__ import annotations

import shlex
from dataclasses import replace

from excise_server.foundation.changes import LINK, SUBMODULE, Side
from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import SourceError
from excise_server.review.composing import shown_name
from excise_server.review.git_patch import FileEdit
from excise_server.review.merged_bytes import merged_bytes

__all__ = ["check_no_submodule", "edited_beside", "is_same_file"]


def check_no_submodule(file: FileEdit) -> None:
    """Refuse to move a submodule, whose files are another repository's.

    Raises
    ------
    SourceError
        If it is one, with the command of git that moves it.
    """
    commit = file.new.blob if file.new is not None and file.new.mode == SUBMODULE else ""
    if commit:
        hint = f"git -C {shlex.quote(shown_name(file.path))} checkout {commit}"
        raise SourceError("it is a submodule, which only git moves", hint=hint)
    if file.old is not None and file.old.mode == SUBMODULE:
        hint = f"git rm {shlex.quote(shown_name(file.old_path))}"
        raise SourceError("it is a submodule, which only git removes", hint=hint)


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
    merged = merged_bytes(old, working, new)
    if merged is None:
        raise SourceError("it differs from the target, and has no lines to merge")
    if merged.conflicts:
        lo, hi = merged.conflicts[0].origin
        lines = f"line {lo + 1}" if hi <= lo + 1 else f"lines {lo + 1} to {hi}"
        first = printable(merged.conflicts[0].origin_text.partition("\n")[0].strip())[:60]
        raise SourceError(f"{lines} of the working tree, {first!a}, are not the target's")
    return Side(new.mode, merged.data)
