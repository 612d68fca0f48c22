"""The base of a candidate, so that the commits of others do not count as its edits.

That is the merge base with the target. A worktree that was made on top of somebody's feature branch
started later. Its reflog says where, which is believed only if the histories agree.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import SourceError
from excise_server.git.ancestry import commits_between, is_ancestor, merge_bases
from excise_server.git.reflog import worktree_made
from excise_server.git.repository import Repository

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
        self._holding: dict[str, frozenset[str]] = {}
        self._upstreams: dict[str, str] | None = None

    def own_base(
        self,
        commit: str,
        *,
        folder: str = "",
        branch: str = "",
        is_edited: Callable[[], bool] = lambda: False,
    ) -> Start | None:
        """Return where a candidate started, or None if it shares no history with the target.

        Parameters
        ----------
        commit
            The candidate's commit.
        folder, branch
            Its worktree and local branch, or empty.
        is_edited
            Tells whether the worktree has uncommitted changes; rarely called.
        """
        bases = merge_bases(self._repository, self._target, commit)
        if not bases:
            return None
        notes = ("several merge bases: the first one is taken",) if len(bases) > 1 else ()
        base = bases[0]
        if folder:
            base = self._stacked_on(base, commit, folder, branch, is_edited) or base
        return Start(base, self._ahead(base), notes)

    def start_at(self, base: str) -> Start:
        """Return the start that the user named."""
        return Start(base, self._ahead(base))

    def _ahead(self, base: str) -> int:
        return commits_between(self._repository, base, self._target)

    def _stacked_on(
        self, base: str, commit: str, folder: str, branch: str, is_edited: Callable[[], bool]
    ) -> str | None:
        """Return the commit at which a worktree was made, if it is another person's branch.

        It must lie between the merge base and the worktree's commit, something must have changed
        since, and a ref other than the worktree's own branch and its upstream must hold it. So a
        worktree made *of* a branch keeps that branch's edits, and one made on top of it does not
        count them.
        """
        first = worktree_made(self._repository, folder)
        if first is None or first.commit == base:
            return None
        start = first.commit
        try:
            if not is_ancestor(self._repository, base, start):
                return None
            if not is_ancestor(self._repository, start, commit):
                return None
        except SourceError:
            return None  # an object is missing
        own_refs = {f"refs/heads/{branch}", self._upstream(branch)} if branch else set()
        if not self._refs_with(start) - own_refs:
            return None
        return start if start != commit or is_edited() else None

    def _refs_with(self, commit: str) -> frozenset[str]:
        if commit not in self._holding:
            arguments = ("for-each-ref", f"--contains={commit}", "--format=%(refname)")
            out = self._repository.git.run(*arguments)
            self._holding[commit] = frozenset(os.fsdecode(r) for r in out.split(b"\n") if r)
        return self._holding[commit]

    def _upstream(self, branch: str) -> str:
        if self._upstreams is None:
            arguments = ("for-each-ref", "--format=%(refname) %(upstream)", "refs/heads")
            lines = os.fsdecode(self._repository.git.run(*arguments)).split("\n")
            self._upstreams = {line.partition(" ")[0]: line.partition(" ")[2] for line in lines}
        return self._upstreams.get(f"refs/heads/{branch}", "")


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
