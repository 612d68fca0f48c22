"""Possible candidates: the worktrees of a repository, and refs by pattern, with their names.

Filters come before limits, and a limit cuts the oldest.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import Rejected, first_few, unique_ids
from excise_server.git.history import worktree_made
from excise_server.git.refs import find_refs
from excise_server.git.repository import Repository, points_back
from excise_server.review.candidate import Candidate, in_order
from excise_server.review.names import Roots, Traces, name_of

__all__ = [
    "MAX_REFS",
    "MAX_WORKTREES",
    "Selection",
    "find_checkouts",
    "is_chosen",
    "roots",
    "traces_of",
]

MAX_WORKTREES = 200
"""Most worktrees that are compared: those made last."""

MAX_REFS = 200
"""Most refs that are compared: those with the newest commits."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The candidates to compare.

    Attributes
    ----------
    worktrees : bool
        Every worktree, uncommitted changes included.
    branches : tuple of str
        Patterns of refs (`find_refs`), as they are committed.
    only : tuple of str
        Globs of any name of a candidate (folder, branch, request, the tool's name); none: all.
    onto : str
        A revision to replay them on instead of HEAD of the checkout, or ``saved`` for its files.
    bases : tuple of (str, str)
        Names of candidates, and the revisions that they started from, if git's answer is wrong.
    remembered : tuple of (str, str)
        Earlier settings of the same kind, for candidates that may be gone.
    untracked : bool
        Count files that git does not track (nor ignores) as created.
    patches, runs : tuple of str
        Files and folders of patches, to be applied to the target, and those of agents' runs.
    target : bool
        Whether the checkout itself, with its uncommitted changes, is a candidate as well.
    typed : collection of str
        Which of ``branches``, ``patches`` and ``runs`` somebody typed, so that they must exist.
    """

    worktrees: bool = True
    branches: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    onto: str = ""
    bases: tuple[tuple[str, str], ...] = ()
    remembered: tuple[tuple[str, str], ...] = ()
    untracked: bool = True
    patches: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    target: bool = False
    typed: Collection[str] = ("branches", "patches", "runs")


def find_checkouts(
    repository: Repository, selection: Selection
) -> tuple[list[Candidate], list[Rejected]]:
    """Return the chosen worktrees and refs, with unique ids, and those that are left out.

    A local branch that is checked out in one of the worktrees is a name of that.

    Raises
    ------
    SourceError
        If a pattern cannot be one.
    """
    rejected: list[Rejected] = []
    listed: list[Candidate] = []
    if selection.worktrees:
        listed += _worktrees(repository, selection, rejected)
    if selection.branches:
        shown = {name for candidate in listed for name in candidate.names}
        listed += _refs(repository, selection, shown, rejected)
    ids = unique_ids([candidate.id for candidate in listed])
    return [
        replace(candidate, id=name, names=(name, *candidate.names[1:]))
        for candidate, name in zip(listed, ids, strict=True)
    ], rejected


def _worktrees(
    repository: Repository, selection: Selection, rejected: list[Rejected]
) -> list[Candidate]:
    candidates = []
    worktrees = repository.worktrees()
    main = worktrees[0].path if worktrees else repository.top
    for tree in worktrees:
        real = os.path.realpath(tree.path)
        branch, name = tree.branch.removeprefix("refs/heads/"), visible(os.path.basename(tree.path))
        names = (f"worktree:{name}", *([f"branch:{visible(branch)}"] if branch else []))
        candidate = Candidate(names[0], real, branch, tree.head, names)
        if real == repository.top and not selection.target:
            continue
        if not is_chosen(selection, main, candidate, [name]):
            continue
        reason = f"prunable: {tree.prunable}" if tree.prunable else ""
        if not reason and not tree.head.strip("0"):
            reason = "it has no commit yet"
        if reason := reason or points_back(real, repository.common):
            rejected.append(Rejected(f"worktree:{visible(tree.path)}", reason))
        else:
            candidates.append(candidate)
    if len(candidates) > MAX_WORKTREES:
        creations = {c.folder: worktree_made(repository, c.folder) for c in candidates}
        age = {folder: entry.time if entry else 0 for folder, entry in creations.items()}
        candidates.sort(key=lambda c: age[c.folder], reverse=True)
        rejected.append(_cut("worktrees", [c.id for c in candidates], MAX_WORKTREES, "made last"))
    return candidates[:MAX_WORKTREES]


def _refs(
    repository: Repository, selection: Selection, shown: set[str], rejected: list[Rejected]
) -> list[Candidate]:
    refs, unusable = find_refs(repository, selection.branches)
    if "branches" in selection.typed and not (refs or unusable):
        shown_patterns = ", ".join(map(visible, selection.branches))
        rejected.append(Rejected("branches", f"none matches {shown_patterns}"))
    rejected += unusable
    candidates = []
    for ref in refs:
        branch = ref.short if ref.scheme in ("branch", "remote") else ""
        names = in_order([ref.name])
        candidate = Candidate(ref.name, "", branch, ref.commit, names, ref.given)
        if ref.name not in shown and is_chosen(
            selection, repository.top, candidate, (ref.short, ref.full, ref.given)
        ):
            candidates.append(candidate)
    if len(candidates) > MAX_REFS:
        cut = _cut("branches", [c.id for c in candidates], MAX_REFS, "with the newest commits")
        rejected.append(cut)
    return candidates[:MAX_REFS]


def _cut(name: str, ids: Sequence[str], limit: int, which: str) -> Rejected:
    whom = first_few(ids[limit:])
    reason = f"only the {limit} of {len(ids)} {which} are compared, without {whom}"
    return Rejected(name, reason, "choose with --only GLOB")


def is_chosen(selection: Selection, main: str, candidate: Candidate, names: Iterable[str]) -> bool:
    """Whether a candidate is chosen by any of its names."""
    if not selection.only:
        return True
    forms = name_of(traces_of(candidate, main), roots()).forms
    short = (name.partition(":")[2] for name in candidate.names)
    spelled = [name for name in (*names, candidate.branch, *short, *forms) if name]
    return any(
        fnmatchcase(name, glob)
        for glob in selection.only
        for name in (candidate.names if ":" in glob else spelled)
    )


def roots() -> Roots:
    """Return the folders of the user in which tools keep worktrees."""
    return Roots(os.path.expanduser("~"), os.environ.get("CODEX_HOME", ""))


def traces_of(candidate: Candidate, main: str) -> Traces:
    """Return the known facts about a candidate's name (``main``: the main checkout)."""
    is_remote = not candidate.folder and any(n.startswith("remote:") for n in candidate.names)
    is_local = candidate.folder or any(n.startswith("branch:") for n in candidate.names)
    given = "" if is_local else candidate.given
    if candidate.kind in ("patch", "run"):
        given = candidate.id.partition(":")[2]
    return Traces(
        folder=candidate.folder,
        branch="" if not is_local else candidate.branch,
        remote=candidate.branch if is_remote and not is_local else "",
        commit=candidate.commit,
        given=given,
        repository=main,
    )
