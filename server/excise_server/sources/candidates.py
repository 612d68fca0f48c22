"""The candidates of a repository: their own edits, replayed on one commit or on saved files.

A candidate is read against the commit that it started from, so that what others did meanwhile does
not count as its edits, and is then replayed onto the target, so that all are comparable. Commands
read all files of all candidates, and an open document one file of each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from excise_server.foundation.inputs import Rejected, SourceError
from excise_server.git.checkouts import Selection
from excise_server.git.history import commit_named
from excise_server.git.repository import Repository
from excise_server.review.candidate import Candidate, marked_identical
from excise_server.review.given import Given
from excise_server.sources.given import given_candidates
from excise_server.sources.identity import labelled, one_each, started, with_refs
from excise_server.sources.reading import (
    ListedCandidate,
    Replayed,
    Target,
    is_edited,
    read_changes,
    read_file,
    read_worktrees,
    replayed,
    saved_target,
)
from excise_server.sources.registry import SOURCES

__all__ = ["SAVED", "Candidate", "Candidates", "Selection", "find_candidates", "find_in_file"]

SAVED = "saved"
"""The name of the target that is the checkout's saved files. A branch is ``heads/saved``."""

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
    """Read what every worktree, branch and patch changed, replayed onto the target.

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
    onto = selection.onto if selection.onto != SAVED else ""
    origin = commit_named(repository, onto, "--onto") if onto else repository.head()
    if origin is None:
        raise SourceError("no commit yet: there is nothing to replay candidates on")
    target, notes = Target(origin), list[str]()
    if selection.onto == SAVED:
        target = saved_target(repository, origin, untracked=selection.untracked)
        if differing := len(target.saved.keys() | target.unread.keys()):
            files = "1 file differs" if differing == 1 else f"{differing:,} files differ"
            notes.append(f"replayed onto the saved files, of which {files} from the commit")
    rejected: list[Rejected] = []
    listed = _listed(repository, selection, origin, rejected)
    entries = read_worktrees(repository, origin, listed, selection.untracked, rejected)
    with_bases = _with_bases(repository, selection, origin, entries, rejected)
    read = read_changes(repository, with_bases, clock, rejected)
    edited, unchanged, landed = [], [], []
    for each in replayed(repository, target, read, rejected):
        candidate = each.candidate
        if each.state == "unchanged":
            unchanged.append(candidate.id)
            notes += [f"{candidate.id}: {note}" for note in candidate.notes]
        elif each.state == "landed":
            landed.append(candidate.id)
        else:
            edited.append(candidate)
    given_ids = {candidate.id for candidate in given}
    rejected += [Rejected(c.id, SAME_ID) for c in edited if c.id in given_ids]
    edited = [candidate for candidate in edited if candidate.id not in given_ids]
    named = labelled(repository, with_refs(edited, lambda candidate: candidate.uncommitted > 0))
    sent, idle = given_candidates(repository, target, given, {c.label for c in named}, rejected)
    return Candidates(
        origin,
        marked_identical((*named, *sent)),
        (*unchanged, *idle),
        tuple(landed),
        tuple(rejected),
        tuple(notes),
    )


def find_in_file(
    repository: Repository,
    selection: Selection,
    target: Target,
    path: str,
    begun: Sequence[Candidate],
    rejected: list[Rejected],
) -> tuple[list[Replayed], list[Candidate]]:
    """Read what every candidate changed of one file of the target, replayed onto that.

    Returns these changes, which may be none, and all candidates that were asked.

    Parameters
    ----------
    begun
        Earlier candidates: those that have not moved since keep their bases.

    Raises
    ------
    SourceError
        If git fails.
    """
    listed = _listed(repository, selection, target.commit, rejected)
    remembered = (*_begun(begun, listed), *selection.remembered)
    selection = replace(selection, remembered=remembered)
    entries = _with_bases(repository, selection, target.commit, listed, rejected)
    by_id = {entry.candidate.id: entry for entry in entries}
    shown = with_refs(
        [entry.candidate for entry in entries],
        lambda candidate: is_edited(repository, target.commit, by_id[candidate.id]),
    )
    entries = [replace(by_id[candidate.id], candidate=candidate) for candidate in shown]
    read = read_file(repository, target, path, entries, time.time, rejected)
    return list(replayed(repository, target, read, rejected)), shown


def _listed(
    repository: Repository, selection: Selection, origin: str, rejected: list[Rejected]
) -> list[ListedCandidate]:
    return [
        entry
        for source in SOURCES
        if source.listed is not None
        for entry in source.listed(repository, selection, origin, rejected)
    ]


def _with_bases(
    repository: Repository,
    selection: Selection,
    origin: str,
    entries: Sequence[ListedCandidate],
    rejected: list[Rejected],
) -> list[ListedCandidate]:
    def edited(entry: ListedCandidate) -> bool:
        return is_edited(repository, origin, entry)

    return one_each(list(started(repository, origin, selection, entries, rejected, edited)))


def _begun(
    begun: Sequence[Candidate], listed: Sequence[ListedCandidate]
) -> Iterator[tuple[str, str]]:
    """Yield the bases of candidates that have not moved since the review asked last."""
    earlier = {name: candidate for candidate in begun for name in candidate.names}
    for entry in listed:
        before = earlier.get(entry.candidate.id)
        if before is not None and before.commit == entry.candidate.commit and before.base:
            yield entry.candidate.id, before.base
