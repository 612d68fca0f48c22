"""Every worktree or branch of a repository as a candidate: its own edits, replayed on one commit.

A candidate is read against the commit that it started from, so that what others did meanwhile does
not count as its edits, and is then replayed onto the target, so that all are comparable.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from excise_server.git.bases import History, Start, commit_named
from excise_server.git.checkouts import (
    Choice,
    find_checkouts,
    is_chosen,
    roots,
    traces_of,
)
from excise_server.git.command import GitError
from excise_server.git.own_commits import own_commits
from excise_server.git.reflog import branch_made, worktree_made
from excise_server.git.repository import Repository
from excise_server.review.candidate import Candidate, in_order, marked_identical
from excise_server.review.given import Given
from excise_server.review.names import labels, name_of
from excise_server.sources import Rejected, SourceError, unique_ids
from excise_server.sources.given import given_candidates
from excise_server.sources.paths import visible
from excise_server.sources.reading import Lying, read_changes, read_worktrees, replayed
from excise_server.sources.runs import find_patches

__all__ = ["Candidate", "Candidates", "Choice", "find_candidates"]


MAX_PATCHES = 200
"""Most patches that are compared."""

SAME_ID = "the client added another candidate with this id"


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
    repository: Repository,
    choice: Choice,
    *,
    given: Sequence[Given] = (),
    clock: Callable[[], float] = time.time,
) -> Candidates:
    """Read what every worktree and branch changed since it started, replayed onto the target.

    Parameters
    ----------
    given
        Candidates of a client; one of the others that has the same id is left out.
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
    repository = repository.for_many(len(listed))
    lying = read_worktrees(repository, origin, listed, choice.untracked, rejected)
    lying += _patches(repository, choice, origin, rejected)
    started = _one_each(list(_started(repository, origin, choice, lying, rejected)))
    read = read_changes(repository, started, clock, rejected)
    found, unchanged, landed, notes = [], [], [], []
    for candidate, state in replayed(repository, origin, read, rejected):
        if state == "unchanged":
            unchanged.append(candidate.id)
            notes += [f"{candidate.id}: {note}" for note in candidate.notes]
        elif state == "landed":
            landed.append(candidate.id)
        else:
            found.append(candidate)
    ids = {candidate.id for candidate in given}
    rejected += [Rejected(c.id, SAME_ID) for c in found if c.id in ids]
    named = _labelled(repository, _with_refs([c for c in found if c.id not in ids]))
    own, idle = given_candidates(repository, origin, given, {c.label for c in named}, rejected)
    return Candidates(
        origin,
        marked_identical((*named, *own)),
        (*unchanged, *idle),
        tuple(landed),
        tuple(rejected),
        tuple(notes),
    )


def _patches(
    repository: Repository, choice: Choice, origin: str, rejected: list[Rejected]
) -> list[Lying]:
    """Return the patches that were chosen, as made on the target."""
    if not choice.patches:
        return []
    given, unreadable = find_patches(choice.patches)
    rejected += unreadable
    ids = unique_ids([f"patch:{patch.name}" for patch in given])
    found = []
    for name, patch in zip(ids, given, strict=True):
        candidate = Candidate(name, "", "", origin, (name,), patch.name, task=patch.task)
        if is_chosen(choice, repository.top, candidate, [patch.name, patch.task]):
            found.append(Lying(candidate, patch=patch.patch))
    if len(found) > MAX_PATCHES:
        cut = f"only the first {MAX_PATCHES} of {len(found)} are compared"
        last = f"{cut}, without {visible(found[MAX_PATCHES].candidate.given)} and what follows"
        rejected.append(Rejected("patches", last, "choose with --only GLOB"))
    return found[:MAX_PATCHES]


def _started(
    repository: Repository,
    origin: str,
    choice: Choice,
    lying: Sequence[Lying],
    rejected: list[Rejected],
) -> Iterator[Lying]:
    """Yield the candidates with the commits that they started from."""
    history = History(repository, origin)
    named = dict(choice.remembered) | dict(choice.bases)
    for entry in lying:
        candidate = entry.candidate
        names = [*candidate.names, *(name.partition(":")[2] for name in candidate.names)]
        spelled = [*names, candidate.branch, candidate.given]
        own = next((named.pop(name) for name in spelled if name in named), None)
        try:
            if own is not None:
                start: Start | None = history.start_at(commit_named(repository, own, "--base"))
            else:
                is_edited = bool(entry.working and entry.working.changes)
                start = history.own_base(
                    candidate.commit,
                    folder=candidate.folder,
                    branch=candidate.branch,
                    is_edited=is_edited,
                )
        except GitError as error:
            rejected.append(Rejected(candidate.id, error.reason, error.hint))
            continue
        if start is None:
            rejected.append(Rejected(candidate.id, *_unrelated(repository)))
            continue
        begun = replace(candidate, base=start.base, behind=start.behind, notes=start.notes)
        if entry.patch is not None:
            begun = replace(begun, commit=start.base)  # it has no commits of its own
        yield replace(entry, candidate=begun)
    if mistyped := named.keys() & dict(choice.bases).keys():
        unknown = ", ".join(map(visible, mistyped))
        raise SourceError(f"no candidate is called {unknown}", hint="check --base NAME=REV")


def _unrelated(repository: Repository) -> tuple[str, str]:
    """Return why a history may have nothing in common with the target, and the way out."""
    reason = "its history has nothing in common with the target"
    hint = "name the commit it started from with --base NAME=REV"
    if os.path.exists(os.path.join(repository.common, "shallow")):
        return f"{reason}, as far as this shallow clone goes", f"git fetch --unshallow, or {hint}"
    if os.path.exists(os.path.join(repository.common, "info", "grafts")):
        return f"{reason}, as info/grafts tells it", hint
    return reason, hint


def _one_each(started: Sequence[Lying]) -> list[Lying]:
    """Return the candidates with all refs at one commit as names of one.

    Refs without commits of their own stay apart: nothing says that they are one thing.
    """
    merged: dict[tuple[str, ...], Lying] = {}
    for entry in started:
        candidate = entry.candidate
        key: tuple[str, ...] = (candidate.commit, candidate.base)
        if candidate.folder or candidate.commit == candidate.base:
            key = (candidate.id,)
        if known := merged.get(key):
            entry = replace(entry, candidate=_one_of(known.candidate, candidate))
        merged[key] = entry
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
    places = roots()
    traces, made = [], []
    for candidate in found:
        time_made = _made(repository, candidate)
        trace = traces_of(candidate, main)
        if time_made is None or not name_of(trace, places).tool:
            own = own_commits(repository, candidate.base, candidate.commit)
            trace = replace(trace, trailers=own.trailers)
            time_made = own.first if time_made is None else time_made
        traces.append(trace)
        made.append(time_made)
    names = [name_of(trace, places) for trace in traces]
    shown = labels(traces, places, visible)
    return tuple(
        replace(
            candidate, label=label, tool=name.tool, task=candidate.task or name.task, made=time_made
        )
        for candidate, name, label, time_made in zip(found, names, shown, made, strict=True)
    )


def _made(repository: Repository, candidate: Candidate) -> int | None:
    """Return when a candidate was made, by its reflog."""
    made = worktree_made(repository, candidate.folder) if candidate.folder else None
    if made is None and any(name.startswith("branch:") for name in candidate.names):
        made = branch_made(repository, candidate.branch)
    return made.time if made else None
