"""Every worktree or branch of a repository as a candidate: its own edits, replayed on one commit.

A candidate is read against the commit that it started from, so that what others did meanwhile does
not count as its edits, and is then replayed onto the target, so that all are comparable.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from excise_server.review.candidate import Candidate, digest_of, in_order, marked_identical
from excise_server.review.names import labels, name_of
from excise_server.review.replayed import replay_files
from excise_server.sources import Rejected, SourceError
from excise_server.sources.bases import Start, commit_named, own_base, start_at
from excise_server.sources.checkouts import Choice, find_checkouts, roots, traces_of
from excise_server.sources.drift import drift_of
from excise_server.sources.own_commits import OwnCommits, own_commits
from excise_server.sources.paths import visible
from excise_server.sources.reflog import branch_made, worktree_made
from excise_server.sources.repository import Repository
from excise_server.sources.trees import Tree, branch_tree, read_sides
from excise_server.sources.working import changed_last, worktree_tree

__all__ = ["WRITTEN_SECONDS", "Candidate", "Candidates", "Choice", "find_candidates"]

WRITTEN_SECONDS = 5.0
"""A worktree whose files changed so lately may not be finished."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """What was found.

    Attributes
    ----------
    origin
        The commit that all are replayed on.
    found
        Who changes something.
    unchanged, landed
        Who changed nothing since it started, and whose edits are all in the target already.
    """

    origin: str
    found: tuple[Candidate, ...]
    unchanged: tuple[str, ...] = ()
    landed: tuple[str, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    notes: tuple[str, ...] = ()


def find_candidates(
    repository: Repository, choice: Choice, *, clock: Callable[[], float] = time.time
) -> Candidates:
    """Read what every worktree and branch changed since it started, replayed onto the target.

    Parameters
    ----------
    clock
        The time, in seconds since the epoch, to tell who is still being written.

    Raises
    ------
    SourceError
        If git fails, there is no commit yet, or a revision that was named does not exist.
    """
    origin = commit_named(repository, choice.onto, "--onto") if choice.onto else repository.head()
    if origin is None:
        raise SourceError("no commit yet: there is nothing to replay candidates on")
    listed, rejected = find_checkouts(repository, choice)
    started = list(_started(repository, origin, choice, listed, rejected))
    found, unchanged, landed = [], [], []
    for candidate in _one_each(started):
        try:
            tree = _tree(repository, candidate, choice)
            if candidate.commit == candidate.base and tree.is_untouched:
                unchanged.append(candidate.id)
                continue
            changed = changed_last(candidate.folder, tree) if candidate.folder else None
            is_written = changed is not None and abs(clock() - changed) < WRITTEN_SECONDS
            replayed, has_landed = _replayed(repository, candidate, tree, origin)
        except SourceError as error:
            rejected.append(Rejected(candidate.id, error.reason, error.hint))
            continue
        if has_landed:
            landed.append(candidate.id)
        else:
            found.append(replace(replayed, is_written=is_written))
    named = _labelled(repository, _with_refs(found))
    return Candidates(
        origin, marked_identical(named), tuple(unchanged), tuple(landed), tuple(rejected)
    )


def _started(
    repository: Repository,
    origin: str,
    choice: Choice,
    listed: Sequence[Candidate],
    rejected: list[Rejected],
) -> Iterator[Candidate]:
    """Yield the candidates with the commits that they started from."""
    named = dict(choice.bases)
    for candidate in listed:
        names = [*candidate.names, *(name.partition(":")[2] for name in candidate.names)]
        spelled = [*names, candidate.branch, candidate.given]
        own = next((named.pop(name) for name in spelled if name in named), None)
        if own is not None:
            commit = commit_named(repository, own, "--base")
            start: Start | None = start_at(repository, commit, origin)
        else:
            start = own_base(
                repository,
                origin,
                candidate.commit,
                folder=candidate.folder,
                branch=candidate.branch,
            )
        if start is None:
            reason = "its history has nothing in common with the target"
            hint = "name the commit it started from with --base NAME=REV"
            rejected.append(Rejected(candidate.id, reason, hint))
            continue
        yield replace(candidate, base=start.base, behind=start.behind, notes=start.notes)
    if named:
        unknown = ", ".join(map(visible, named))
        raise SourceError(f"no candidate is called {unknown}", hint="check --base NAME=REV")


def _one_each(started: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates with all refs at one commit as names of one.

    Refs without commits of their own stay apart: nothing says that they are one thing.
    """
    merged: dict[tuple[str, ...], Candidate] = {}
    for candidate in started:
        key: tuple[str, ...] = (candidate.commit, candidate.base)
        if candidate.folder or candidate.commit == candidate.base:
            key = (candidate.id,)
        known = merged.get(key)
        merged[key] = candidate if known is None else _one_of(known, candidate)
    return list(merged.values())


def _with_refs(read: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates, where refs are names of the worktree that shows their commit.

    A detached worktree with uncommitted changes shows nothing that has a name.
    """
    kept = [candidate for candidate in read if candidate.folder]
    for ref in (candidate for candidate in read if not candidate.folder):
        for place, worktree in enumerate(kept):
            if worktree.folder and _shows(worktree, ref):
                kept[place] = _one_of(worktree, ref)
                break
        else:
            kept.append(ref)
    return kept


def _shows(worktree: Candidate, ref: Candidate) -> bool:
    if (worktree.commit, worktree.base) != (ref.commit, ref.base) or ref.commit == ref.base:
        return False
    return bool(worktree.branch) or not worktree.uncommitted


def _one_of(first: Candidate, second: Candidate) -> Candidate:
    """Return two names of one thing as one candidate."""
    names = in_order([*first.names, *second.names])
    known, other = (first, second) if names[0] in first.names else (second, first)
    return replace(known, names=names, given=known.given or other.given)


def _labelled(repository: Repository, found: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Name the candidates as people know them, and say when they were made."""
    listed = repository.worktrees()
    main = listed[0].path if listed else repository.top
    own = [own_commits(repository, candidate.base, candidate.commit) for candidate in found]
    traces = [
        traces_of(candidate, main, commits.trailers)
        for candidate, commits in zip(found, own, strict=True)
    ]
    names = [name_of(trace, roots()) for trace in traces]
    return tuple(
        replace(
            candidate,
            label=label,
            tool=name.tool,
            task=name.task,
            made=_made(repository, candidate, commits),
        )
        for candidate, name, label, commits in zip(
            found, names, labels(traces, roots(), visible), own, strict=True
        )
    )


def _made(repository: Repository, candidate: Candidate, own: OwnCommits) -> int | None:
    """Return when a candidate was made: by its reflog, else by the first of its own commits."""
    made = worktree_made(repository, candidate.folder) if candidate.folder else None
    if made is None and any(name.startswith("branch:") for name in candidate.names):
        made = branch_made(repository, candidate.branch)
    return made.time if made else own.first


def _tree(repository: Repository, candidate: Candidate, choice: Choice) -> Tree:
    if not candidate.folder:
        return branch_tree(repository, candidate.base, candidate.commit)
    return worktree_tree(repository, candidate.folder, candidate.base, untracked=choice.untracked)


def _replayed(
    repository: Repository, candidate: Candidate, tree: Tree, origin: str
) -> tuple[Candidate, bool]:
    """Return the candidate with its files on the target, and whether they all are there already."""
    sides = read_sides(repository, [tree])[0]
    drift = drift_of(repository, candidate.base, origin, sides.old.keys() | sides.new.keys())
    files = replay_files(sides.old, sides.new, drift.now, drift.moved)
    landed = [f"already in the target: {visible(path)}" for path in files.landed]
    has_landed = bool(landed) and not (files.old or files.new or files.conflicts)
    conflicts = [f"{visible(path)}: {why}" for path, why in files.conflicts.items()]
    moved = [f"{visible(old)} is {visible(new)} in the target" for old, new in drift.moved.items()]
    notes = (*candidate.notes, *tree.notes, *tree.asides, *sides.notes, *drift.notes)
    return replace(
        candidate,
        digest=digest_of(sides.old, sides.new),
        old=files.old,
        new=files.new,
        uncommitted=len(tree.uncommitted),
        conflicts=files.conflicts,
        notes=(*notes, *moved, *landed, *conflicts, *map(visible, files.notes)),
    ), has_landed
