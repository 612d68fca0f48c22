"""Every worktree or branch of a repository, and the one commit that all of them started from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from excise_server.changes import Side
from excise_server.sources import Rejected, SourceError, unique_ids
from excise_server.sources.branches import MAX_BRANCHES, MAX_WORKTREES
from excise_server.sources.paths import visible
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
    base : str
        A revision to compare with instead of the merge base.
    untracked : bool
        Count files that git does not track (nor ignores) as created.
    """

    worktrees: bool = True
    branches: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    base: str = ""
    untracked: bool = True


@dataclass(frozen=True, slots=True)
class Candidate:
    """One worktree or branch: where it is, and what it holds in place of the base, by path.

    ``folder`` is empty for a branch; ``uncommitted`` counts files that are not as in HEAD.
    """

    id: str
    folder: str
    branch: str
    commit: str
    old: dict[str, Side] = field(default_factory=dict)
    new: dict[str, Side] = field(default_factory=dict)
    uncommitted: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidates:
    """What was found: the base, who differs from it, who does not, and who was refused."""

    base: str
    found: tuple[Candidate, ...]
    unchanged: tuple[str, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    notes: tuple[str, ...] = ()


def find_candidates(repository: Repository, choice: Choice) -> Candidates:
    """Read what every worktree and branch changed since they parted.

    Raises
    ------
    SourceError
        If git fails, there is no commit yet, or no commit is common to all.
    """
    head = repository.head()
    if head is None and not choice.base:
        raise SourceError("no commit yet: there is nothing that all started from")
    listed, rejected = _listed(repository, choice)
    base, related, notes = _base(repository, head, choice, listed, rejected)
    found, unchanged = [], []
    for candidate in related:
        try:
            tree = _tree(repository, candidate, base, choice)
        except SourceError as error:
            rejected.append(Rejected(candidate.id, error.reason, error.hint))
            continue
        if candidate.commit == base and tree.is_untouched:
            unchanged.append(candidate.id)
        else:
            found.append(_with_files(repository, candidate, tree))
    return Candidates(base, tuple(found), tuple(unchanged), tuple(rejected), notes)


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
        if not _is_chosen(choice, name, branch):
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
            found.append(Candidate(f"branch:{visible(branch)}", "", branch, commit))
    if len(lines) > MAX_BRANCHES:
        rejected.append(Rejected("branches", f"only the {MAX_BRANCHES} newest are looked at"))
    if not lines:
        rejected.append(Rejected("branches", f"none matches {', '.join(map(visible, patterns))}"))
    return found


def _is_chosen(choice: Choice, *names: str) -> bool:
    return not choice.only or any(
        fnmatchcase(name, glob) for glob in choice.only for name in names if name
    )


def _base(
    repository: Repository,
    head: str | None,
    choice: Choice,
    listed: Sequence[Candidate],
    rejected: list[Rejected],
) -> tuple[str, list[Candidate], tuple[str, ...]]:
    """Return the commit that all started from, and who did; a note says what is odd about it."""
    if choice.base:
        return _named(repository, choice.base), list(listed), ()
    pivot = next((c.commit for c in listed if c.commit == head), None)
    pivot = pivot or next((c.commit for c in listed), head) or ""
    related, forks = [], list[str]()
    for candidate in listed:
        bases = repository.merge_bases(pivot, candidate.commit)
        if bases:
            related.append(candidate)
            forks.append(bases[0])
        else:
            reason = "its history has nothing in common with the others"
            rejected.append(Rejected(candidate.id, reason))
    commits = list(dict.fromkeys(candidate.commit for candidate in related)) or [pivot]
    found = repository.merge_bases(*commits, octopus=True)
    if not found:
        raise SourceError("no commit is common to all", hint="name one with --base")
    notes = ("several merge bases: the first one is taken",) if len(found) > 1 else ()
    base = found[0]
    later = f"started later than the base {base[:10]}: what changed between counts as its own"
    chosen = [
        replace(c, notes=(later,)) if fork not in (base, pivot) else c
        for c, fork in zip(related, forks, strict=True)
    ]
    return base, chosen, notes


def _named(repository: Repository, name: str) -> str:
    options = ("rev-parse", "--verify", "--quiet", "--end-of-options")
    answer = repository.git.run(*options, f"{name}^{{commit}}", status=(0, 1, 128))
    if not (commit := answer.decode("ascii", "replace").strip()):
        raise SourceError(f"there is no commit {visible(name)!r}", hint="check --base")
    return commit


def _tree(repository: Repository, candidate: Candidate, base: str, choice: Choice) -> Tree:
    if not candidate.folder:
        return branch_tree(repository, base, candidate.commit)
    return worktree_tree(repository, candidate.folder, base, untracked=choice.untracked)


def _with_files(repository: Repository, candidate: Candidate, tree: Tree) -> Candidate:
    sides = read_sides(repository, [tree])[0]
    return replace(
        candidate,
        old=sides.old,
        new=sides.new,
        uncommitted=len(tree.uncommitted),
        notes=(*candidate.notes, *tree.notes, *tree.asides, *sides.notes),
    )
