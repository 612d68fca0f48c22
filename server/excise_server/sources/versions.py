"""The document in other worktrees, in branches, remote branches and fetched requests.

These are the candidates of the commands, with the same ids and labels, and each is compared by its
own edits since its own base. Names of one thing are one candidate, and limits drop the oldest.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from excise.text import Revision
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import SourceError
from excise_server.foundation.paths import text_of
from excise_server.git.checkouts import Selection, find_checkouts
from excise_server.git.repository import Repository
from excise_server.review.candidate import Candidate
from excise_server.sources.finding import (
    Context,
    Details,
    Found,
    Refused,
    SourceSettings,
    Watch,
    watch_file,
)
from excise_server.sources.identity import labelled, one_each, started, with_refs
from excise_server.sources.one_file import FileChange, WholeCandidates, read_file
from excise_server.sources.opening import opened
from excise_server.sources.reading import ListedCandidate
from excise_server.sources.run_patches import run_folders

__all__ = ["find", "selection_of"]

_HINTS = {
    "choose with --only GLOB": "choose with the setting sources.branches",
    "name the commit it started from with --base NAME=REV": "",
}
"""The hints of the commands, and their replacements in an editor."""

_KINDS_OF_REQUESTS = {"#": "pull", "!": "merge-requests"}


def find(context: Context, repository: Repository | SourceError | None = None) -> Found:
    """Find the versions of the document from the candidates of the repository."""
    wrong: list[Refused] = []
    selection = selection_of(context.settings, context.bases, wrong)
    if not (selection.worktrees or selection.branches):
        return Found(refused=tuple(wrong))
    try:
        repository = opened(context, repository)
        if repository is None:
            return Found(refused=tuple(wrong))
        return _find(context, repository, selection, wrong)
    except SourceError as error:
        return Found(refused=(*wrong, Refused("git", error.reason, error.hint)))


def selection_of(
    settings: SourceSettings,
    bases: Sequence[tuple[str, str]] = (),
    wrong: list[Refused] | None = None,
    folders: Sequence[str] = (),
) -> Selection:
    """Return which candidates the settings choose.

    Parameters
    ----------
    bases
        The commits that candidates started from, as the user set them.
    wrong
        A list that receives invalid patterns, with the reason.
    folders
        The workspace folders, which contain the folders of runs.
    """
    patterns = tuple(_patterns(settings, [] if wrong is None else wrong))
    return Selection(
        worktrees=settings.worktrees,
        branches=patterns,
        must_match=False,
        remembered=tuple(bases),
        runs=run_folders(settings.runs, folders),
    )


def _patterns(settings: SourceSettings, wrong: list[Refused]) -> Iterator[str]:
    """Yield the patterns of refs by their full names, so that each matches its own kind alone."""
    kinds = {
        "branches": (settings.branches, _branch_pattern),
        "remotes": (settings.remotes, _remote_pattern),
        "requests": (settings.requests, _request_pattern),
    }
    for setting, (patterns, full) in kinds.items():
        for pattern in patterns:
            if not pattern or "\0" in pattern:
                wrong.append(Refused(setting, "a pattern is empty or holds a NUL character"))
            elif name := full(pattern):
                yield name
            else:
                hint = "pull/*, merge-requests/*, #12 or !12"
                wrong.append(Refused(setting, f"{visible(pattern)}: not a request", hint))


def _branch_pattern(pattern: str) -> str:
    return f"refs/heads/{pattern}"


def _remote_pattern(pattern: str) -> str:
    return f"refs/remotes/{pattern}"


def _request_pattern(pattern: str) -> str:
    kind, number = _KINDS_OF_REQUESTS.get(pattern[0], ""), pattern[1:]
    if not kind:
        kind, _, number = pattern.removesuffix("/head").partition("/")
    return f"refs/{kind}/{number}/head" if kind in _KINDS_OF_REQUESTS.values() and number else ""


def _find(
    context: Context, repository: Repository, selection: Selection, refused: list[Refused]
) -> Found:
    settings, head = context.settings, repository.head()
    if head is None:
        watch = _watch(settings, repository, [])
        return Found(refused=(*refused, Refused("git", "no commit yet")), watch=watch)
    listed, unusable = find_checkouts(repository, selection)
    refused += unusable
    selection = replace(selection, remembered=(*_begun(context, listed), *selection.remembered))
    whole_candidates = WholeCandidates(repository, head, refused)

    def is_edited(entry: ListedCandidate) -> bool:
        return whole_candidates.is_edited(entry.candidate)

    entries = [ListedCandidate(candidate) for candidate in listed]
    with_bases = one_each(list(started(repository, head, selection, entries, refused, is_edited)))
    candidates = with_refs([entry.candidate for entry in with_bases], whole_candidates.is_edited)
    read = list(read_file(repository, head, repository.path, candidates, whole_candidates, refused))
    changed = [(candidate, change) for candidate, change in read if change is not None]
    named = labelled(repository, [candidate for candidate, _ in changed])
    answer = _found(list(zip(named, [change for _, change in changed], strict=True)), refused)
    return replace(
        answer,
        refused=tuple(_for_an_editor(refusal) for refusal in refused),
        unchanged=tuple(candidate.id for candidate, change in read if change is None),
        watch=_watch(settings, repository, candidates, [path for _, path in answer.files]),
    )


def _begun(context: Context, listed: Sequence[Candidate]) -> Iterator[tuple[str, str]]:
    """Yield the bases of candidates that have not moved since the review asked last."""
    details_of = {name: details for _, details in context.begun for name in details.names}
    for candidate in listed:
        details = details_of.get(candidate.id)
        if details is not None and details.commit == candidate.commit and details.base:
            yield candidate.id, details.base


def _found(changed: Sequence[tuple[Candidate, FileChange]], refused: list[Refused]) -> Found:
    """Return the revisions, the texts that they were made from, and their details."""
    revisions, notes, made_from, files, details = [], [], [], [], []
    for candidate, change in changed:
        name = candidate.id
        try:
            text = "" if change.after is None else text_of(change.after)
            if change.before is not None:
                made_from.append((name, text_of(change.before)))
        except SourceError as error:
            refused.append(Refused(name, error.reason, error.hint))
            continue
        revisions.append(Revision(name, text, candidate.label))
        notes += [(name, note) for note in (*candidate.notes, *change.notes)]
        files += [(name, change.file)] if change.file else []
        details.append((name, _details(candidate, change)))
    return Found(
        revisions=tuple(revisions),
        notes=tuple(notes),
        made_from=tuple(made_from),
        files=tuple(files),
        details=tuple(details),
    )


def _details(candidate: Candidate, change: FileChange) -> Details:
    return Details(
        names=candidate.names,
        change=change.change,
        path=visible(change.path),
        commit=candidate.commit,
        base=candidate.base,
        tool=candidate.tool,
        made=candidate.made,
        behind=candidate.behind,
    )


def _for_an_editor(refusal: Refused) -> Refused:
    return replace(refusal, hint=_HINTS.get(refusal.hint, refusal.hint))


def _watch(
    settings: SourceSettings,
    repository: Repository,
    candidates: Sequence[Candidate],
    files: Sequence[str] = (),
) -> tuple[Watch, ...]:
    """Return the files that change with HEAD, a ref or the worktrees, and the file in each."""
    watch = [watch_file(os.path.join(repository.git_dir, "HEAD"))]
    folders = {
        "refs/heads/**": settings.branches,
        "refs/remotes/**": settings.remotes,
        "refs/pull/**": settings.requests,
        "refs/merge-requests/**": settings.requests,
        "packed-refs": (*settings.branches, *settings.remotes, *settings.requests),
        "worktrees/**": settings.worktrees,
    }
    watch += [
        Watch(repository.common, pattern) for pattern, is_watched in folders.items() if is_watched
    ]
    tops = [candidate.folder for candidate in candidates if candidate.folder]
    paths = [os.path.join(top, *repository.path.split("/")) for top in tops]
    return (*watch, *map(watch_file, dict.fromkeys((*paths, *files))))
