"""Every worktree or branch of a repository as a candidate: its own edits, replayed on one commit.

A candidate is read against the commit that it started from, so that what others did meanwhile does
not count as its edits, and is then replayed onto the target, so that all are comparable.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from excise_server.changes import Side
from excise_server.review.names import Roots, Traces, labels, name_of
from excise_server.review.replayed import replay_files
from excise_server.sources import Rejected, SourceError, unique_ids
from excise_server.sources.bases import (
    Start,
    commit_named,
    first_commit_time,
    own_base,
    start_at,
)
from excise_server.sources.branches import MAX_BRANCHES, MAX_WORKTREES
from excise_server.sources.drift import drift_of
from excise_server.sources.paths import visible
from excise_server.sources.reflog import branch_made, worktree_made
from excise_server.sources.repository import Repository, points_back
from excise_server.sources.trees import Tree, branch_tree, read_sides
from excise_server.sources.working import worktree_tree

__all__ = ["Candidate", "Candidates", "Choice", "find_candidates"]


@dataclass(frozen=True, slots=True)
class Choice:
    """What is compared.

    Attributes
    ----------
    worktrees : bool
        Every worktree, uncommitted changes included.
    branches : tuple of str
        Patterns of local and remote branches (``agent/*``), without those a worktree shows.
    only : tuple of str
        Globs of names (of the folder, or of the branch); none: all.
    onto : str
        A revision to replay them on instead of HEAD of the checkout.
    bases : tuple of (str, str)
        Names of candidates, and the revisions that they started from, where git's answer is wrong.
    untracked : bool
        Count files that git does not track (nor ignores) as created.
    target : bool
        Whether the checkout itself, with what is not committed in it, is a candidate too.
    """

    worktrees: bool = True
    branches: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    onto: str = ""
    bases: tuple[tuple[str, str], ...] = ()
    untracked: bool = True
    target: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """One worktree or branch, and what it makes of the target.

    Attributes
    ----------
    label, tool
        What people call it among the others, and the tool that made it (empty: not known).
    folder
        Empty for a branch.
    base, behind
        The commit that it started from, and how many commits the target is ahead of that.
    made
        When it was made, in seconds since the epoch: by its reflog, else by its first own commit;
        None where neither says.
    old, new
        By path what it replaces in the target, and what with: its edits, replayed.
    uncommitted
        How many files are not as in its HEAD.
    conflicts
        Per path what the target changed there, too.
    """

    id: str
    folder: str
    branch: str
    commit: str
    label: str = ""
    tool: str = ""
    base: str = ""
    behind: int = 0
    made: int | None = None
    old: dict[str, Side] = field(default_factory=dict)
    new: dict[str, Side] = field(default_factory=dict)
    uncommitted: int = 0
    conflicts: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


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


def find_candidates(repository: Repository, choice: Choice) -> Candidates:
    """Read what every worktree and branch changed since it started, replayed onto the target.

    Raises
    ------
    SourceError
        If git fails, there is no commit yet, or a revision that was named does not exist.
    """
    origin = commit_named(repository, choice.onto, "--onto") if choice.onto else repository.head()
    if origin is None:
        raise SourceError("no commit yet: there is nothing to replay candidates on")
    listed, rejected = _listed(repository, choice)
    found, unchanged, landed = [], [], []
    for candidate in _started(repository, origin, choice, listed, rejected):
        try:
            tree = _tree(repository, candidate, choice)
            if candidate.commit == candidate.base and tree.is_untouched:
                unchanged.append(candidate.id)
                continue
            replayed, has_landed = _replayed(repository, candidate, tree, origin)
        except SourceError as error:
            rejected.append(Rejected(candidate.id, error.reason, error.hint))
            continue
        if has_landed:
            landed.append(candidate.id)
        else:
            found.append(replayed)
    named = _labelled(repository, found)
    return Candidates(origin, named, tuple(unchanged), tuple(landed), tuple(rejected))


def _labelled(repository: Repository, found: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Name the candidates as people know them."""
    roots = Roots(os.path.expanduser("~"), os.environ.get("CODEX_HOME", ""))
    listed = repository.worktrees()
    main = listed[0].path if listed else repository.top
    traces = [
        Traces(
            folder=candidate.folder,
            branch="" if _is_remote(candidate) else candidate.branch,
            remote=candidate.branch if _is_remote(candidate) else "",
            commit=candidate.commit,
            repository=main,
        )
        for candidate in found
    ]
    return tuple(
        replace(candidate, label=label, tool=name_of(trace, roots).tool)
        for candidate, trace, label in zip(
            found, traces, labels(traces, roots, visible), strict=True
        )
    )


def _is_remote(candidate: Candidate) -> bool:
    return candidate.id.startswith("remote:")


def _listed(repository: Repository, choice: Choice) -> tuple[list[Candidate], list[Rejected]]:
    """Return the worktrees and branches that were asked for, under ids of their own."""
    rejected: list[Rejected] = []
    found: list[Candidate] = []
    if choice.worktrees:
        found += _worktrees(repository, choice, rejected)
    if choice.branches:
        shown = {candidate.branch for candidate in found}
        found += [c for c in _branches(repository, choice, rejected) if c.branch not in shown]
    names = unique_ids([candidate.id for candidate in found])
    return [replace(c, id=name) for c, name in zip(found, names, strict=True)], rejected


def _worktrees(repository: Repository, choice: Choice, rejected: list[Rejected]) -> list[Candidate]:
    found = []
    listed = repository.worktrees()
    for tree in listed[:MAX_WORKTREES]:
        real = os.path.realpath(tree.path)
        branch = tree.branch.removeprefix("refs/heads/")
        name = visible(os.path.basename(tree.path))
        if (real == repository.top and not choice.target) or not _is_chosen(choice, name, branch):
            continue
        reason = f"prunable: {tree.prunable}" if tree.prunable else ""
        if not reason and not tree.head.strip("0"):
            reason = "it has no commit yet"
        if reason := reason or points_back(real, repository.common):
            rejected.append(Rejected(f"worktree:{visible(tree.path)}", reason))
        else:
            found.append(Candidate(f"worktree:{name}", real, branch, tree.head))
    if len(listed) > MAX_WORKTREES:
        reason = f"only the first {MAX_WORKTREES} of {len(listed)} are looked at"
        rejected.append(Rejected("worktrees", reason))
    return found


def _branches(repository: Repository, choice: Choice, rejected: list[Rejected]) -> list[Candidate]:
    patterns = [pattern for pattern in choice.branches if pattern and "\0" not in pattern]
    if not patterns:  # without any, git would list every ref
        raise SourceError("a pattern of branches is empty or holds a NUL character")
    out = repository.git.run(
        "for-each-ref",
        "--sort=-committerdate",
        f"--count={MAX_BRANCHES + 1}",
        "--format=%(objectname) %(objecttype) %(if)%(symref)%(then)link%(else)own%(end) %(refname)",
        "--end-of-options",
        *(f"refs/{kind}/{pattern}" for pattern in patterns for kind in ("heads", "remotes")),
    )
    lines = os.fsdecode(out).split("\n")[:-1]
    found = []
    for line in lines[:MAX_BRANCHES]:
        commit, kind, link, ref = line.split(" ", 3)
        branch = ref.split("/", 2)[2]
        if kind == "commit" and link == "own" and _is_chosen(choice, branch, branch):
            scheme = "remote" if ref.startswith("refs/remotes/") else "branch"
            found.append(Candidate(f"{scheme}:{visible(branch)}", "", branch, commit))
    if len(lines) > MAX_BRANCHES:
        rejected.append(Rejected("branches", f"only the {MAX_BRANCHES} newest are looked at"))
    if not lines:
        rejected.append(Rejected("branches", f"none matches {', '.join(map(visible, patterns))}"))
    return found


def _is_chosen(choice: Choice, *names: str) -> bool:
    return not choice.only or any(
        fnmatchcase(name, glob) for glob in choice.only for name in names if name
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
        names = [candidate.id, candidate.id.partition(":")[2], candidate.branch]
        own = next((named.pop(name) for name in names if name in named), None)
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
        yield replace(
            candidate,
            base=start.base,
            behind=start.behind,
            made=_made(repository, candidate, start.base),
            notes=start.notes,
        )
    if named:
        unknown = ", ".join(map(visible, named))
        raise SourceError(f"no candidate is called {unknown}", hint="check --base NAME=REV")


def _made(repository: Repository, candidate: Candidate, base: str) -> int | None:
    """Return when a candidate was made: by its reflog, else by the first of its own commits."""
    made = worktree_made(repository, candidate.folder) if candidate.folder else None
    if made is None and candidate.branch and not _is_remote(candidate):
        made = branch_made(repository, candidate.branch)
    return made.time if made else first_commit_time(repository, base, candidate.commit)


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
        old=files.old,
        new=files.new,
        uncommitted=len(tree.uncommitted),
        conflicts=files.conflicts,
        notes=(*notes, *moved, *landed, *conflicts, *map(visible, files.notes)),
    ), has_landed
