"""Versions of candidates that somebody looked at, remembered by repository, with all their bytes.

A candidate is known by any of its names. What was looked at outlives its commits: a forced push and
git's garbage collection take nothing away, so the changes themselves are kept.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Container, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

import msgspec

from excise import CancelFlag
from excise.text import raw_lines
from excise_server.foundation.changes import Side, differing_lines
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import SourceError, megabytes
from excise_server.git.repository import Repository
from excise_server.git.trees import Sides
from excise_server.memory.reviews import Store, StoreError
from excise_server.processes.parsers import cache_folder
from excise_server.review.candidate import Candidate
from excise_server.review.taking import Taken
from excise_server.sources.reading import Read, Target, replayed
from excise_server.sources.since import (
    WAYS,
    CandidateVersion,
    SeenVersion,
    own_changes,
    version_named,
)

MAX_KEPT = 20_000_000
"""Most bytes of the files of a version, before and after, that are kept: 20 MB."""

_Files = list[tuple[str, str, bytes, str]]


class _Kept(msgspec.Struct, array_like=True):
    """The files before and after: path, mode, bytes, blob."""

    old: _Files
    new: _Files


def note_reviewed(repository: Repository, candidate: Candidate, door: str) -> str:
    """Remember a version as looked at, in place of an earlier one, and say so or why not.

    - ``candidate``: as it is replayed, with its names.
    - ``door``: where somebody looked at it.
    """
    name = candidate.label or candidate.branch or candidate.id
    folder = cache_folder()
    sides = candidate.old, candidate.new
    size = sum(len(side.data) for files in sides for side in files.values())
    if folder is None or size > MAX_KEPT:
        why = "there is no folder for caches" if folder is None else f"{megabytes(size)} of files"
        return f"{visible(name)} is not remembered as looked at: {why}"
    kept = _Kept(*([(p, s.mode, s.data, s.blob) for p, s in files.items()] for files in sides))
    try:
        data = zlib.compress(msgspec.msgpack.encode(kept), 1)
    except UnicodeEncodeError:
        return f"{visible(name)} is not remembered as looked at: a path is not UTF-8"
    store = Store(folder, repository.common)
    names = sorted(set(_names(candidate)))
    row = (json.dumps(names), candidate.commit, door, store.now, data)
    try:
        store.write(
            [
                ("delete from seen where names = ?", [row[:1]]),
                ("insert into seen values (?, ?, ?, ?, ?)", [row]),
            ]
        )
    except (StoreError, UnicodeEncodeError) as error:
        return f"{visible(name)} is not remembered as looked at: {error}"
    return f"{visible(name)} is remembered as looked at"


def note_taken(
    repository: Repository, candidates: Iterable[Candidate], taken: Taken, door: str
) -> None:
    """Remember the candidates as looked at of which something was taken, but not by a machine."""
    ids = {part.candidate for part in taken.parts}
    if not os.environ.get("CI"):
        for candidate in candidates:
            if candidate.id in ids:
                note_reviewed(repository, candidate, door)


def note_decided(
    repository: Repository, ids: Iterable[str], door: str, cancel: CancelFlag
) -> list[str]:
    """Remember the candidates as looked at of which something was decided, but not by a machine."""
    said = []
    for name in () if os.environ.get("CI") else dict.fromkeys(ids):
        cancel.check()
        with suppress(SourceError):  # it is the client's own, or gone
            version = version_named(repository, name, has_files=False)
            said.append(note_reviewed(repository, own_changes(repository, version), door))
    return said


def changed_since_reviewed(
    repository: Repository, target: Target, candidates: Iterable[Candidate]
) -> list[str]:
    """Return the ids of candidates that make other edits than when they were last looked at.

    Where an edit is counts for nothing, as a rebase moves it, nor does what has landed meanwhile;
    `compare_versions` tells exactly. What cannot be read is not known to have changed.

    - ``target``: what the candidates are replayed on.
    """
    if (folder := cache_folder()) is None:
        return []
    store, changed, last = Store(folder, repository.common), [], dict[str, int]()
    with suppress(StoreError, ValueError, TypeError, zlib.error, msgspec.MsgspecError):
        query = "select rowid, names from seen order by used desc, rowid desc"
        for row, names in store.read(query):
            last = dict.fromkeys(json.loads(names), row) | last
        for candidate in candidates:
            row = next((last[name] for name in _names(candidate) if name in last), None)
            kept = None if row is None else _kept(store, row)
            merged = candidate.conflicts  # not the author's edit alone
            now = _edits(candidate.old, candidate.new, merged)
            if kept and _edits(*kept, merged) != now:
                again = replace(candidate, base=target.commit, commit=target.commit)
                read = Read(again, Sides(*kept), older=kept[0].keys() | kept[1].keys())
                left = [each.candidate for each in replayed(repository, target, [read], [])]
                if [_edits(each.old, each.new, merged) for each in left] != [now]:
                    changed.append(candidate.id)
    return changed


def _edits(
    old: Mapping[str, Side], new: Mapping[str, Side], leave: Container[str]
) -> dict[str, list[tuple[str, ...]]]:
    """Return by path the lines that are removed and added, wherever they are."""
    edits = {}
    for path in old.keys() | new.keys():
        if path in leave:
            continue
        sides = (old.get(path), new.get(path))
        modes = tuple("" if side is None else side.mode for side in sides)
        before, after = (raw_lines((side.text or "") if side else "") for side in sides)
        runs = [
            ("".join(before[o_lo:o_hi]), "".join(after[a_lo:a_hi]))
            for o_lo, o_hi, a_lo, a_hi in differing_lines(before, after)
        ]
        if any(side is not None and side.text is None for side in sides):
            runs = [(repr(side and side.data), "") for side in sides]
        edits[path] = [modes, *sorted(runs)]
    return edits


def _kept(store: Store, row: int) -> tuple[dict[str, Side], dict[str, Side]] | None:
    """Return the files of a remembered version before and after, unless it is forgotten."""
    files = store.read("select files from seen where rowid = ?", row)
    if not files:
        return None
    kept = msgspec.msgpack.decode(_unpacked(files[0][0]), type=_Kept)
    old, new = ({p: Side(m, d, b) for p, m, d, b in part} for part in (kept.old, kept.new))
    return old, new


def version_reviewed(repository: Repository, newer: CandidateVersion) -> CandidateVersion:
    """Return what was last looked at of a candidate.

    Raises SourceError if nothing is known, or what is known cannot be read.
    """
    folder = cache_folder()
    names = set(_names(newer.candidate))
    try:
        store = Store(folder, repository.common) if folder is not None else None
        query = (
            "select rowid, names, commit_id, door, used from seen order by used desc, rowid desc"
        )
        for row, known, commit, door, when in store.read(query) if store else ():
            if names.isdisjoint(json.loads(known)):
                continue
            if store is None or (kept := _kept(store, row)) is None:
                continue
            return CandidateVersion(
                newer.name,
                Candidate(newer.candidate.id, "", "", "", newer.candidate.names),
                remembered=SeenVersion(int(when), str(door), str(commit), *kept),
            )
        damage = store.repaired if store else ""
    except (StoreError, ValueError, TypeError, zlib.error, msgspec.MsgspecError) as error:
        raise SourceError(f"what you looked at cannot be read: {error}", hint=WAYS) from error
    reason = f"nothing is known of what you looked at of {visible(newer.name)}"
    raise SourceError(f"{reason}{f' ({damage})' if damage else ''}", hint=WAYS)


def _names(candidate: Candidate) -> list[str]:
    """Return the names by which a version is known later: not its commit, which changes.

    A folder is a name only of what has no other: the same folder shows one branch after another.
    """
    branch = [f"branch:{visible(candidate.branch)}"] if candidate.branch else []
    names = [n for n in (candidate.id, *candidate.names, *branch) if not n.startswith("commit:")]
    return [name for name in names if not name.startswith("worktree:")] or names


def _unpacked(data: bytes) -> bytes:
    unpacker = zlib.decompressobj()
    unpacked = unpacker.decompress(data, 2 * MAX_KEPT)
    if unpacker.unconsumed_tail:
        raise ValueError("over its limit")
    return unpacked
