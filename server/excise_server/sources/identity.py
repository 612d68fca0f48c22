"""The identity of candidates: which names denote the same one, its base, and its label.

It serves both a command that reads whole trees and an editor that asks for one file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import Rejected, SourceError
from excise_server.git.checkouts import Selection, roots, traces_of
from excise_server.git.command import GitError
from excise_server.git.history import (
    History,
    Start,
    branch_made,
    commit_named,
    own_commits,
    worktree_made,
)
from excise_server.git.repository import Repository
from excise_server.review.candidate import Candidate, in_order
from excise_server.review.names import labels, name_of
from excise_server.sources.reading import ListedCandidate

__all__ = ["labelled", "one_each", "started", "with_refs"]


def started(
    repository: Repository,
    origin: str,
    selection: Selection,
    entries: Sequence[ListedCandidate],
    rejected: list[Rejected],
    is_edited: Callable[[ListedCandidate], bool],
) -> Iterator[ListedCandidate]:
    """Yield the candidates with the commits that they started from.

    Parameters
    ----------
    is_edited
        Tells whether a worktree has uncommitted changes; rarely called.

    Raises
    ------
    SourceError
        If a base was chosen for a candidate that does not exist.
    """
    history = History(repository, origin)
    chosen, remembered = dict(selection.bases), dict(selection.remembered)
    for entry in entries:
        candidate = entry.candidate
        names = [*candidate.names, *(name.partition(":")[2] for name in candidate.names)]
        spelled = [*names, candidate.branch, candidate.given]
        chosen_base = next((chosen.pop(name) for name in spelled if name in chosen), None)
        remembered_base = next((remembered[name] for name in spelled if name in remembered), None)
        base_notes: tuple[str, ...] = ()
        start: Start | None
        try:
            if chosen_base is None and remembered_base is not None:
                remembered_base, base_notes = _still_there(repository, remembered_base)
            if chosen_base is not None:
                start = history.start_at(commit_named(repository, chosen_base, "--base"))
            elif remembered_base is not None:
                start = history.start_at(remembered_base)
            else:
                start = history.own_base(
                    candidate.commit,
                    folder=candidate.folder,
                    branch=candidate.branch,
                    is_edited=partial(is_edited, entry),
                )
        except GitError as error:
            rejected.append(Rejected(candidate.id, error.reason, error.hint))
            continue
        if start is None:
            rejected.append(Rejected(candidate.id, *_unrelated(repository)))
            continue
        with_base = replace(
            candidate, base=start.base, behind=start.behind, notes=(*base_notes, *start.notes)
        )
        if entry.patch is not None:
            with_base = replace(with_base, commit=start.base)  # it has no commits of its own
        yield replace(entry, candidate=with_base)
    if chosen:
        unknown = ", ".join(map(visible, chosen))
        raise SourceError(f"no candidate is called {unknown}", hint="check --base NAME=REV")


def _still_there(repository: Repository, commit: str) -> tuple[str | None, tuple[str, ...]]:
    """Return a base that was set earlier, or a note if it is gone."""
    try:
        return commit_named(repository, commit, ""), ()
    except GitError:
        raise
    except SourceError:
        note = f"the base that was set, {visible(commit[:10])}, is gone: its own base is taken"
        return None, (note,)


def _unrelated(repository: Repository) -> tuple[str, str]:
    """Return why a history may have nothing in common with the target, and the way out."""
    reason = "its history has nothing in common with the target"
    hint = "name the commit it started from with --base NAME=REV"
    if os.path.exists(os.path.join(repository.common, "shallow")):
        return f"{reason}, as far as this shallow clone goes", f"git fetch --unshallow, or {hint}"
    if os.path.exists(os.path.join(repository.common, "info", "grafts")):
        return f"{reason}, as info/grafts tells it", hint
    return reason, hint


def one_each(started_entries: Sequence[ListedCandidate]) -> list[ListedCandidate]:
    """Return the candidates, in which all refs at one commit are names of one candidate.

    Refs without their own commits stay apart, because nothing shows that they are the same.
    """
    merged: dict[tuple[str, ...], ListedCandidate] = {}
    for entry in started_entries:
        candidate = entry.candidate
        key: tuple[str, ...] = (candidate.commit, candidate.base)
        if candidate.folder or candidate.commit == candidate.base:
            key = (candidate.id,)
        if earlier := merged.get(key):
            entry = replace(entry, candidate=_one_of(earlier.candidate, candidate))
        merged[key] = entry
    return list(merged.values())


def with_refs(read: Sequence[Candidate], is_edited: Callable[[Candidate], bool]) -> list[Candidate]:
    """Return the candidates, where refs are names of the worktree that shows their commit.

    A detached worktree with uncommitted changes shows nothing that has a name.
    """
    merged = [candidate for candidate in read if candidate.folder]
    for ref in (candidate for candidate in read if not candidate.folder):
        for place, worktree in enumerate(merged):
            if worktree.folder and _shows(worktree, ref, is_edited):
                merged[place] = _one_of(worktree, ref)
                break
        else:
            merged.append(ref)
    return merged


def _shows(worktree: Candidate, ref: Candidate, is_edited: Callable[[Candidate], bool]) -> bool:
    if (worktree.commit, worktree.base) != (ref.commit, ref.base) or ref.commit == ref.base:
        return False
    return bool(worktree.branch) or not is_edited(worktree)


def _one_of(first: Candidate, second: Candidate) -> Candidate:
    """Return two names of one thing as one candidate."""
    names = in_order([*first.names, *second.names])
    preferred, alias = (first, second) if names[0] in first.names else (second, first)
    return replace(preferred, names=names, given=preferred.given or alias.given)


def labelled(repository: Repository, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates with their labels, tools, tasks and times."""
    listed = repository.worktrees()
    main = listed[0].path if listed else repository.top
    places = roots()
    traces, times = [], []
    for candidate in candidates:
        time_made = _made(repository, candidate)
        trace = traces_of(candidate, main)
        if time_made is None or not name_of(trace, places).tool:
            commits = own_commits(repository, candidate.base, candidate.commit)
            trace = replace(trace, trailers=commits.trailers)
            time_made = commits.first if time_made is None else time_made
        traces.append(trace)
        times.append(time_made)
    names = [name_of(trace, places) for trace in traces]
    shown = labels(traces, places, visible)
    return tuple(
        replace(
            candidate, label=label, tool=name.tool, task=candidate.task or name.task, made=time_made
        )
        for candidate, name, label, time_made in zip(candidates, names, shown, times, strict=True)
    )


def _made(repository: Repository, candidate: Candidate) -> int | None:
    """Return when a candidate was made, by its reflog."""
    creation = worktree_made(repository, candidate.folder) if candidate.folder else None
    if creation is None and any(name.startswith("branch:") for name in candidate.names):
        creation = branch_made(repository, candidate.branch)
    return creation.time if creation else None
