"""A candidate's files replayed onto the target: its own edits, on the text that the target has now.

Pure. Files are merged by lines of bytes. Anything that has no such lines (links, binary data,
UTF-16) replaces the target's version, and a note says so.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from excise.languages import resolve
from excise.parents import lost_parents
from excise.replay import ALREADY, ReplayedLines
from excise.text import raw_lines
from excise_server.foundation.changes import Side, renamed_files
from excise_server.foundation.inputs import SourceError
from excise_server.review.kinds import are_entries, is_changelog
from excise_server.review.merged_bytes import merged_bytes
from excise_server.review.relations import additions

CREATES = "it creates the file"
DELETES = "it deletes the file"
CREATED = "the target created this file, too"
DELETED = "the target deleted this file"
MOVED = "the target renamed the folder of this file"
REWROTE = "the target changed this file, too"
SAME_LINES = "the target changed these lines, too"
OTHER_PARENT = "its lines would come into another function or section of the target"


@dataclass(slots=True)
class ReplayedFiles:
    """A candidate as a change of the target.

    - ``old``, ``new``: by path, the target's files that it changes, before and after.
    - ``conflicts``: by path, where both the candidate and the target changed the same lines.
    - ``disputed``: these lines (from, to) of the target.
    - ``notes``: the decisions of the replay where more than one result was right, with the path of
      each.
    - ``beyond_git``: by path, the lines (from, to) of the result that a rule of ours merges.
    - ``landed``: paths whose change is already in the target.
    """

    old: dict[str, Side] = field(default_factory=dict)
    new: dict[str, Side] = field(default_factory=dict)
    conflicts: dict[str, str] = field(default_factory=dict)
    disputed: dict[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    beyond_git: dict[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    notes: list[tuple[str, str]] = field(default_factory=list)
    landed: list[str] = field(default_factory=list)


def replay_files(
    old: Mapping[str, Side],
    new: Mapping[str, Side],
    now: Mapping[str, Side | None],
    moved: Mapping[str, str],
) -> ReplayedFiles:
    """Replay what a candidate changed since its base onto the target.

    - ``old``, ``new``: the candidate's files at its base, and now.
    - ``now``: the target's versions of the files that it changed since that base; None if it
      deleted one.
    - ``moved``: the new paths of files that the target renamed.
    """
    result = ReplayedFiles()
    renames = renamed_files(old, new)
    gone = set(renames.values())
    for path in sorted(old.keys() | new.keys()):
        if path in gone:
            continue  # replayed under its new name
        before = renames.get(path, path)
        _replay_file(result, path, before, old.get(before), new.get(path), now, moved)
    return result


def _replay_file(
    result: ReplayedFiles,
    path: str,
    before: str,
    base: Side | None,
    revision: Side | None,
    now: Mapping[str, Side | None],
    moved: Mapping[str, str],
) -> None:
    origin = now.get(before, base)
    if before != path and (created := now.get(path)) is not None:
        result.conflicts[path] = CREATED
        result.old[path] = created
    home = moved.get(before, before)
    target = home if path == before else path
    merged = _merged(result, target, base, origin, revision)
    if _is_same(merged, origin) and target == home:
        if target not in result.conflicts:
            result.landed.append(path)
        return
    if origin is not None:
        result.old[home] = origin
    if merged is not None:
        result.new[target] = merged


def _merged(
    result: ReplayedFiles, path: str, base: Side | None, origin: Side | None, revision: Side | None
) -> Side | None:
    """Return the file after the replay, or None if the candidate deletes it."""
    if _is_same(origin, base) or _is_same(origin, revision):
        return revision
    if base is None:
        result.conflicts[path] = CREATED
        return revision
    if origin is None:
        result.conflicts[path] = DELETED
        return revision
    if revision is None:
        result.conflicts[path] = REWROTE
        return None
    mode = revision.mode if revision.mode != base.mode else origin.mode
    if revision.data == base.data:
        return replace(origin, mode=mode)
    merged = None
    with suppress(SourceError):  # one side's encoding cannot have the other's lines
        merged = merged_bytes(base, origin, revision)
    if merged is None:
        result.conflicts[path] = REWROTE
        return revision
    side = Side(mode, merged.data)
    before, after = raw_lines(revision.text or ""), raw_lines(side.text or "")
    if merged.conflicts:
        if blocks := _order_free(path, after, merged.replayed):
            result.beyond_git[path] = blocks
        else:
            result.conflicts[path] = SAME_LINES
            result.disputed[path] = tuple(conflict.origin for conflict in merged.conflicts)
    elif merged.data == origin.data:
        result.notes.append((path, ALREADY))
    elif lost := _lost(path, before, after, merged.replayed):
        result.conflicts[path] = OTHER_PARENT
        result.disputed[path] = lost
    return side


def _order_free(
    path: str, after: Sequence[str], replayed: ReplayedLines
) -> tuple[tuple[int, int], ...]:
    """Return the lines of the result in which both sides add what may stand in any order.

    Nothing if git has a conflict of another kind. The target's lines come first.
    """
    blocks = []
    for conflict in replayed.conflicts:
        lo, hi = conflict.origin
        start = lo + sum(
            edit.a_hi - edit.a_lo - edit.o_hi + edit.o_lo
            for edit in replayed.edits
            if edit.o_hi <= lo
        )
        middle, stop = (
            start + hi - lo,
            start + hi - lo + conflict.revision[1] - conflict.revision[0],
        )
        parts = ["".join(after[start:middle]), "".join(after[middle:stop])]
        whole = [conflict.origin_text, conflict.revision_text]
        if conflict.base[0] < conflict.base[1] or parts != whole:
            return ()
        rest = "".join([*after[:start], *after[stop:]])
        if is_changelog(path):
            is_free = are_entries(*parts)
        else:
            is_free = additions(path, rest, start, *parts) is not None
        if not is_free:
            return ()
        blocks.append((start, stop))
    return tuple(blocks)


def _lost(
    path: str, before: Sequence[str], after: Sequence[str], replayed: ReplayedLines
) -> tuple[tuple[int, int], ...]:
    """Return the lines of the target in whose place lines with another parent would come.

    - ``before``, ``after``: the lines of the candidate and of the result.
    """
    places, own = [-1] * len(before), list[int]()
    edits, growth = replayed.edits, 0
    shifts = [(0, 0)]
    for edit in edits:
        at = edit.o_lo + growth
        for line in range(edit.a_lo, edit.a_hi):
            places[line] = at + line - edit.a_lo
        own += range(edit.a_lo, edit.a_hi)
        growth += edit.a_hi - edit.a_lo - edit.o_hi + edit.o_lo
        shifts.append((edit.o_hi, growth))
    for _, o_line, line, count in replayed.kept:
        shift = shifts[bisect_right(shifts, (o_line, len(after))) - 1][1]
        places[line : line + count] = range(o_line + shift, o_line + shift + count)
    texts = "".join(before), "".join(after)
    lost = lost_parents(*texts, places, own, resolve(None, path, texts[1]))
    return tuple(
        (edit.o_lo, edit.o_hi)
        for edit in edits
        if any(edit.a_lo <= line < edit.a_hi for line in lost)
    )


def _is_same(a: Side | None, b: Side | None) -> bool:
    """Whether two sides are the same file, byte for byte."""
    return (a and (a.mode, a.data)) == (b and (b.mode, b.data))
