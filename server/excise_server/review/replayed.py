"""A candidate's files replayed onto the target: its own edits, on the text that the target has now.

Pure. Files are merged by lines of bytes. Anything that has no such lines (links, binary data,
UTF-16) replaces the target's version, and a note says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from excise.replay import ALREADY
from excise_server.foundation.changes import Side, renamed_files
from excise_server.foundation.inputs import SourceError
from excise_server.review.merged_bytes import merged_bytes

CREATES = "it creates the file"
DELETES = "it deletes the file"
CREATED = "the target created this file, too"
DELETED = "the target deleted this file"
MOVED = "the target renamed the folder of this file"
REWROTE = "the target changed this file, too"
SAME_LINES = "the target changed these lines, too"


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
    if merged.conflicts:
        result.conflicts[path] = SAME_LINES
        result.disputed[path] = tuple(conflict.origin for conflict in merged.conflicts)
    elif merged.data == origin.data:
        result.notes.append((path, ALREADY))
    return Side(mode, merged.data)


def _is_same(a: Side | None, b: Side | None) -> bool:
    """Whether two sides are the same file, byte for byte."""
    return (a and (a.mode, a.data)) == (b and (b.mode, b.data))
