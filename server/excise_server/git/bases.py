"""What a candidate started from: its own base, so that nobody else's commits count as its edits.

That is the merge base with the target. A worktree that was made on top of somebody's feature branch
started later; its reflog says where, and is believed only where the histories bear it out.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from excise_server.git.reflog import worktree_made
from excise_server.git.repository import Repository
from excise_server.sources import SourceError
from excise_server.sources.paths import visible

__all__ = ["History", "Start", "commit_named"]


@dataclass(frozen=True, slots=True)
class Start:
    """The commit that a candidate started from, how far the target is ahead of it, and notes."""

    base: str
    behind: int = 0
    notes: tuple[str, ...] = ()


class History:
    """Questions about the commits of a repository and one target, each of which is asked once."""

    def __init__(self, repository: Repository, target: str) -> None:
        """Ask nothing yet."""
        self._repository, self._target = repository, target
        self._bases: dict[str, list[str]] = {}
        self._ahead: dict[str, int] = {}

    def own_base(
        self, commit: str, *, folder: str = "", branch: str = "", is_edited: bool = False
    ) -> Start | None:
        """Return where a candidate started; None if the target's history has nothing of its own.

        Parameters
        ----------
        commit
            The candidate's commit.
        folder, branch
            Its worktree and local branch, empty where it has none.
        is_edited
            Whether the worktree has uncommitted changes.
        """
        bases = self._merge_bases(commit)
        if not bases:
            return None
        notes = ("several merge bases: the first one is taken",) if len(bases) > 1 else ()
        base = bases[0]
        if folder:
            base = _stacked_on(self._repository, base, commit, folder, branch, is_edited) or base
        return Start(base, self._commits_ahead(base), notes)

    def start_at(self, base: str) -> Start:
        """Return the start that the user named."""
        return Start(base, self._commits_ahead(base))

    def _merge_bases(self, commit: str) -> list[str]:
        if commit not in self._bases:
            is_target = commit == self._target
            self._bases[commit] = (
                [commit] if is_target else self._repository.merge_bases(self._target, commit)
            )
        return self._bases[commit]

    def _commits_ahead(self, base: str) -> int:
        if base not in self._ahead:
            asked = ("rev-list", "--count", f"{base}..{self._target}")
            self._ahead[base] = 0 if base == self._target else int(self._repository.git.run(*asked))
        return self._ahead[base]


def commit_named(repository: Repository, name: str, option: str) -> str:
    """Return the commit of a revision that the user named.

    Raises
    ------
    SourceError
        If there is none.
    """
    options = ("rev-parse", "--verify", "--quiet", "--end-of-options")
    answer = repository.git.run(*options, f"{name}^{{commit}}", status=(0, 1, 128))
    if not (commit := answer.decode("ascii", "replace").strip()):
        raise SourceError(f"there is no commit {visible(name)!r}", hint=f"check {option}")
    return commit


def _stacked_on(
    repository: Repository, base: str, commit: str, folder: str, branch: str, is_edited: bool
) -> str | None:
    """Return the commit that a worktree was made at, if that is a branch of somebody else's.

    It must lie between the merge base and the worktree's commit, something must have changed since,
    and a ref other than the worktree's own branch and its upstream must hold it. So a worktree made
    *of* a branch keeps that branch's edits, and one made on top of it does not count them.
    """
    first = worktree_made(repository, folder)
    if first is None or first.commit == base or (first.commit == commit and not is_edited):
        return None
    made = first.commit
    if not (_is_ancestor(repository, base, made) and _is_ancestor(repository, made, commit)):
        return None
    own = {f"refs/heads/{branch}", _upstream(repository, branch)} if branch else set()
    holding = repository.git.run("for-each-ref", f"--contains={made}", "--format=%(refname)")
    refs = {os.fsdecode(ref) for ref in holding.split(b"\n") if ref}
    return made if refs - own else None


def _is_ancestor(repository: Repository, older: str, newer: str) -> bool:
    # Of two commits where one is an ancestor it is the only merge base; a missing object is none.
    try:
        return repository.merge_bases(older, newer) == [older]
    except SourceError:
        return False


def _upstream(repository: Repository, branch: str) -> str:
    answer = repository.git.run("for-each-ref", "--format=%(upstream)", f"refs/heads/{branch}")
    return os.fsdecode(answer.split(b"\n")[0])
