"""Conversions by git in a working tree that are not edits: line ends, and LFS pointers."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from excise_server.foundation.changes import LINK, SUBMODULE, Side
from excise_server.foundation.inputs import first_few
from excise_server.foundation.paths import visible
from excise_server.git.trees import Sides

__all__ = ["Converted", "without_conversions"]

_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]*\n)*"
    rb"oid sha256:[0-9a-f]{64}\nsize \d+\n?"
)
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class Converted:
    """Files before and after, without conversions.

    Attributes
    ----------
    sides
        The edited files.
    dropped
        Paths that differ only by a conversion.
    notes
        Notes about the conversions.
    """

    sides: Sides
    dropped: frozenset[str]
    notes: tuple[str, ...] = ()


def without_conversions(sides: Sides) -> Converted:
    """Return a candidate's files without those that git's conversions alone made different.

    A file that git LFS checked out is the pointer that would be committed for it.
    """
    old, new = dict(sides.old), dict(sides.new)
    line_ends, pointers, dropped = [], [], set[str]()
    for path in sorted(old.keys() | new.keys()):
        before, after = old.get(path), new.get(path)
        if after is not None and before is not None and _is_pointer(before):
            new[path] = after = _as_pointer(after)
        if any(side is not None and _is_pointer(side) for side in (before, after)):
            pointers.append(path)
        if before is None or after is None:
            continue
        if _has_crlf(before) != _has_crlf(after) and not _is_binary(before, after):
            line_ends.append(path)
        if before.mode == after.mode and _is_equal(before, after):
            dropped.add(path)
            del old[path], new[path]
    notes = []
    if line_ends:
        notes.append(f"line ends differ in {_names(line_ends)}: that is not an edit")
    if pointers := [path for path in pointers if path not in dropped]:
        notes.append(f"only the Git LFS pointer is compared of {_names(pointers)}")
    return Converted(replace(sides, old=old, new=new), frozenset(dropped), tuple(notes))


def _is_pointer(side: Side) -> bool:
    return side.mode not in (LINK, SUBMODULE) and bool(_POINTER.fullmatch(side.data))


def _as_pointer(side: Side) -> Side:
    """Return the pointer to a file's content, unless it is one."""
    if _is_pointer(side) or side.mode in (LINK, SUBMODULE):
        return side
    oid = hashlib.sha256(side.data).hexdigest()
    text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(side.data)}\n"
    return Side(side.mode, text.encode())


def _has_crlf(side: Side) -> bool:
    return b"\r\n" in side.data


def _is_binary(*sides: Side) -> bool:
    return any(side.mode in (LINK, SUBMODULE) or side.text is None for side in sides)


def _is_equal(before: Side, after: Side) -> bool:
    if before.data == after.data:
        return True
    if not any(b"\r" in side.data or side.data.startswith(_MARKS) for side in (before, after)):
        return False
    return not _is_binary(before, after) and before.text == after.text


def _names(paths: Sequence[str]) -> str:
    return first_few([visible(path) for path in paths])
