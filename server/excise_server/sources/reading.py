"""Candidates read and replayed together, so that git runs a few times, not once for each."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from excise.patches import Patch
from excise_server.foundation.changes import Side
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import Rejected, SourceError
from excise_server.git.conversions import without_conversions
from excise_server.git.drift import Drift, drifts_of
from excise_server.git.repository import Repository
from excise_server.git.trees import (
    Listing,
    Sides,
    Tree,
    changed_listing,
    check_edited,
    check_size,
    listing_of,
    read_listed,
    read_sides,
    trees_between,
)
from excise_server.git.worktree import Working, changed_last, read_working, worktree_tree
from excise_server.review.candidate import Candidate, digest_of
from excise_server.review.replayed import replay_files
from excise_server.sources.applied import apply_patch

__all__ = [
    "WRITTEN_SECONDS",
    "ListedCandidate",
    "Read",
    "files_of",
    "read_changes",
    "read_worktrees",
    "replayed",
    "replayed_on",
]

WRITTEN_SECONDS = 5.0
"""A worktree whose files changed within so many seconds may not be finished."""

State = Literal["changed", "unchanged", "landed"]


@dataclass(frozen=True, slots=True)
class ListedCandidate:
    """A candidate before its changes are read, with its uncommitted files or its patch."""

    candidate: Candidate
    head: Listing | None = None
    working: Working | None = None
    patch: Patch | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """A candidate with its own changes.

    Attributes
    ----------
    sides
        The files before and after.
    is_untouched
        Whether there are no changes.
    older
        Paths whose old text is not that of the base, but the one that a patch was made from.
    """

    candidate: Candidate
    sides: Sides
    is_untouched: bool = False
    older: Collection[str] = ()


def read_worktrees(
    repository: Repository,
    origin: str,
    listed: Sequence[Candidate],
    untracked: bool,
    rejected: list[Rejected],
) -> list[ListedCandidate]:
    """Read the uncommitted files of the worktrees. Refs pass through.

    Raises
    ------
    SourceError
        If git cannot list the files of the origin.
    """
    folders = [candidate for candidate in listed if candidate.folder]
    if not folders:
        return [ListedCandidate(candidate) for candidate in listed]
    listing = listing_of(repository, origin)
    heads = trees_between(repository, [(origin, candidate.commit) for candidate in folders])
    worktrees = {os.path.realpath(tree.path) for tree in repository.worktrees()}
    entries = []
    for candidate in listed:
        if not candidate.folder:
            entries.append(ListedCandidate(candidate))
            continue
        try:
            between = heads[origin, candidate.commit]
            if isinstance(between, SourceError):
                raise between
            head = changed_listing(listing, between)
            working = read_working(
                repository, candidate.folder, head, untracked=untracked, worktrees=worktrees
            )
            entries.append(ListedCandidate(candidate, head, working))
        except SourceError as error:
            rejected.append(Rejected(candidate.id, error.reason, error.hint))
    return entries


def read_changes(
    repository: Repository,
    started: Sequence[ListedCandidate],
    clock: Callable[[], float],
    rejected: list[Rejected],
) -> Iterator[Read]:
    """Yield the candidates with their own changes, since their bases."""
    yield from _read_patches(repository, [e for e in started if e.patch is not None], rejected)
    started = [entry for entry in started if entry.patch is None]
    pairs = [(entry.candidate.base, entry.candidate.commit) for entry in started]
    committed = trees_between(repository, pairs)
    trees = []
    for entry, pair in zip(started, pairs, strict=True):
        try:
            trees.append((entry.candidate, _tree(entry, committed[pair])))
        except SourceError as error:
            rejected.append(Rejected(entry.candidate.id, error.reason, error.hint))
    all_sides = read_sides(repository, [tree for _, tree in trees])
    for (candidate, tree), sides in zip(trees, all_sides, strict=True):
        yield _read(candidate, tree, sides, clock)


def _read_patches(
    repository: Repository, entries: Sequence[ListedCandidate], rejected: list[Rejected]
) -> Iterator[Read]:
    """Yield the candidates that are patches, applied to their bases."""
    listings: dict[str, Listing] = {}
    for entry in entries:
        candidate = entry.candidate
        try:
            if candidate.base not in listings:
                listings[candidate.base] = listing_of(repository, candidate.base)
            applied = apply_patch(repository, listings[candidate.base], entry.patch or Patch())
        except SourceError as error:
            rejected.append(Rejected(candidate.id, error.reason, error.hint))
            continue
        sides = applied.sides
        notes = (*candidate.notes, *sides.notes)
        digest = digest_of(sides.old, sides.new)
        yield Read(replace(candidate, digest=digest, notes=notes), sides, older=applied.older)


def _tree(entry: ListedCandidate, committed: Tree | SourceError) -> Tree:
    if isinstance(committed, SourceError):
        raise committed
    if entry.working is not None and entry.head is not None:
        return worktree_tree(entry.working, committed, entry.head)
    check_size(committed)
    return committed


def _read(candidate: Candidate, tree: Tree, sides: Sides, clock: Callable[[], float]) -> Read:
    converted = without_conversions(sides, tree.converted)
    changed = changed_last(candidate.folder, tree) if candidate.folder else None
    uncommitted = tree.uncommitted - converted.dropped
    sides = converted.sides
    is_untouched = not (sides.old or sides.new or sides.notes or tree.notes)
    return Read(
        replace(
            candidate,
            digest=digest_of(sides.old, sides.new),
            is_written=changed is not None and abs(clock() - changed) < WRITTEN_SECONDS,
            uncommitted=len(uncommitted),
            notes=(*candidate.notes, *tree.notes, *tree.asides, *converted.notes, *sides.notes),
        ),
        sides,
        is_untouched and candidate.commit == candidate.base,
    )


def replayed(
    repository: Repository, origin: str, read: Iterable[Read], rejected: list[Rejected]
) -> Iterator[tuple[Candidate, State]]:
    """Yield the candidates as changes of the target, and whether they change it."""
    changed = list(_within_limits(read, rejected))
    paths_by_base: dict[str, set[str]] = {}
    for entry in changed:
        if not entry.is_untouched:
            paths = entry.sides.old.keys() | entry.sides.new.keys()
            paths_by_base.setdefault(entry.candidate.base, set()).update(paths)
    drifts = drifts_of(repository, origin, paths_by_base)
    older = {path for entry in changed for path in entry.older}
    target_sides = files_of(repository, origin, older) if older else {}
    for entry in changed:
        if entry.is_untouched:
            yield entry.candidate, "unchanged"
            continue
        drift = drifts[entry.candidate.base]
        if isinstance(drift, SourceError):
            rejected.append(Rejected(entry.candidate.id, drift.reason, drift.hint))
        else:
            older_sides = {path: target_sides.get(path) for path in entry.older}
            yield replayed_on(entry, replace(drift, now={**drift.now, **older_sides}))


def _within_limits(read: Iterable[Read], rejected: list[Rejected]) -> Iterator[Read]:
    for entry in read:
        try:
            check_edited(entry.sides)
        except SourceError as error:
            rejected.append(Rejected(entry.candidate.id, error.reason, error.hint))
        else:
            yield entry


def files_of(repository: Repository, commit: str, paths: Iterable[str]) -> dict[str, Side]:
    """Return the files of a commit that can be read."""
    return read_listed(repository, listing_of(repository, commit), paths).new


def replayed_on(entry: Read, drift: Drift) -> tuple[Candidate, State]:
    """Return a candidate as a change of the target, and whether it changes it."""
    sides = entry.sides
    own_paths = sides.old.keys() | sides.new.keys()
    moves = {old: new for old, new in drift.moved.items() if old in own_paths}
    target_sides = {path: side for path, side in drift.now.items() if path in own_paths}
    files = replay_files(sides.old, sides.new, target_sides, moves)
    landed = [f"already in the target: {visible(path)}" for path in files.landed]
    has_landed = bool(landed) and not (files.old or files.new or files.conflicts)
    conflicts = [f"{visible(path)}: {why}" for path, why in files.conflicts.items()]
    moved = [f"{visible(old)} is {visible(new)} in the target" for old, new in moves.items()]
    unread = [
        f"{visible(p)}: {why}, not compared" for p, why in drift.unread.items() if p in own_paths
    ]
    candidate = replace(
        entry.candidate,
        old=files.old,
        new=files.new,
        conflicts=files.conflicts,
        disputed=files.disputed,
        notes=(
            *entry.candidate.notes, *unread, *moved, *landed, *conflicts,
            *map(visible, files.notes),
        ),
    )  # fmt: skip
    return candidate, "landed" if has_landed else "changed"
