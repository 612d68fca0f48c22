"""Every worktree or branch of a repository as a candidate: its own edits, replayed on one commit.

A candidate is read against the commit that it started from, so that what others did meanwhile does
not count as its edits, and is then replayed onto the target, so that all are comparable.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import Rejected, SourceError, unique_ids
from excise_server.git.checkouts import Selection, find_checkouts, is_chosen
from excise_server.git.history import commit_named
from excise_server.git.repository import Repository
from excise_server.review.candidate import Candidate, marked_identical
from excise_server.review.given import Given
from excise_server.sources.given import given_candidates
from excise_server.sources.identity import labelled, one_each, started, with_refs
from excise_server.sources.reading import ListedCandidate, read_changes, read_worktrees, replayed
from excise_server.sources.run_patches import read_runs
from excise_server.sources.runs import find_patches

__all__ = ["Candidate", "Candidates", "Selection", "find_candidates"]


MAX_PATCHES = 200
"""Most patches that are compared."""

SAME_ID = "the client added another candidate with this id"


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of a repository.

    Attributes
    ----------
    origin
        The commit that all are replayed on.
    found
        The candidates that change something.
    unchanged, landed
        Ids of candidates without changes, and of those whose edits are all in the target already.
    """

    origin: str
    found: tuple[Candidate, ...]
    unchanged: tuple[str, ...] = ()
    landed: tuple[str, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    notes: tuple[str, ...] = ()


def find_candidates(
    repository: Repository,
    selection: Selection,
    *,
    given: Sequence[Given] = (),
    clock: Callable[[], float] = time.time,
) -> Candidates:
    """Read what every worktree and branch changed since it started, replayed onto the target.

    Parameters
    ----------
    given
        Candidates of a client. A candidate of the repository with the same id is left out.
    clock
        Returns the time in seconds since the epoch, to tell which files are still being written.

    Raises
    ------
    SourceError
        If git fails, there is no commit yet, or a revision that was named does not exist.
    """
    origin = (
        commit_named(repository, selection.onto, "--onto") if selection.onto else repository.head()
    )
    if origin is None:
        raise SourceError("no commit yet: there is nothing to replay candidates on")
    listed, rejected = find_checkouts(repository, selection)
    entries = read_worktrees(repository, origin, listed, selection.untracked, rejected)
    entries += _patches(repository, selection, origin, rejected)
    with_bases = one_each(
        list(started(repository, origin, selection, entries, rejected, _is_edited))
    )
    read = read_changes(repository, with_bases, clock, rejected)
    edited, unchanged, landed, notes = [], [], [], []
    for candidate, state in replayed(repository, origin, read, rejected):
        if state == "unchanged":
            unchanged.append(candidate.id)
            notes += [f"{candidate.id}: {note}" for note in candidate.notes]
        elif state == "landed":
            landed.append(candidate.id)
        else:
            edited.append(candidate)
    given_ids = {candidate.id for candidate in given}
    rejected += [Rejected(c.id, SAME_ID) for c in edited if c.id in given_ids]
    edited = [candidate for candidate in edited if candidate.id not in given_ids]
    named = labelled(repository, with_refs(edited, lambda candidate: candidate.uncommitted > 0))
    sent, idle = given_candidates(repository, origin, given, {c.label for c in named}, rejected)
    return Candidates(
        origin,
        marked_identical((*named, *sent)),
        (*unchanged, *idle),
        tuple(landed),
        tuple(rejected),
        tuple(notes),
    )


def _patches(
    repository: Repository, selection: Selection, origin: str, rejected: list[Rejected]
) -> list[ListedCandidate]:
    """Return the patches and runs that were chosen, as made on the target."""
    patches, unreadable = find_patches(selection.patches)
    rejected += unreadable
    runs = read_runs(selection.runs, rejected)
    names = [*(f"patch:{patch.name}" for patch in patches), *(f"run:{run.name}" for run in runs)]
    selected = []
    for name, patch in zip(unique_ids(names), (*patches, *runs), strict=True):
        candidate = Candidate(name, "", "", origin, (name,), patch.name, task=patch.task)
        if is_chosen(selection, repository.top, candidate, [patch.name, patch.task]):
            selected.append(ListedCandidate(candidate, patch=patch.patch))
    if len(selected) > MAX_PATCHES:
        cut = f"only the first {MAX_PATCHES} of {len(selected)} are compared"
        last = f"{cut}, without {visible(selected[MAX_PATCHES].candidate.given)} and what follows"
        rejected.append(Rejected("patches", last, "choose with --only GLOB"))
    return selected[:MAX_PATCHES]


def _is_edited(entry: ListedCandidate) -> bool:
    return bool(entry.working and entry.working.changes)
