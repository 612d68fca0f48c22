"""The histories of commits: merge bases, what was made when, and where a candidate started.

Commits never change, so each question about two of them is asked once per process: an editor asks
about the same ones whenever a file changes. The cuts of a history (a shallow clone, grafts) are not
part of the commits, so they are part of the question.

A candidate's base is the merge base with the target, so that the commits of others do not count as
its edits. A worktree that was made on top of somebody's feature branch started later. Its reflog
says where, which is believed only if the histories agree.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import NamedTuple, TypeVar

from excise_server.foundation.escape import visible
from excise_server.foundation.files import read_bytes
from excise_server.foundation.inputs import SourceError
from excise_server.git.repository import Repository, own_folder

Answer = TypeVar("Answer")

_KEPT = 5_000
"""Most answers that are kept for each kind of question."""

_CUTS = ("shallow", os.path.join("info", "grafts"))
_MOST_ISSUES = 3
_ISSUE = re.compile(r"(?<![\w/&#])(?:GH-|#)(\d{1,7})\b|/(?:issues|bugs)/(\d{1,7})\b")
_TRAILER = re.compile(r"(?im)^(?:co-authored-by|assisted-by):[^\n]*$")
_FIRST_LINE = re.compile(
    rb"(0{40,64}) (?P<commit>[0-9a-f]{40,64}) [^\n]*> (?P<time>\d{1,12}) [+-]\d{4}(?=[\t\n]|\Z)"
)


# --- questions about two commits -----------------------------------------------------------------


def asked_once(
    ask: Callable[[Repository, str, str], Answer],
) -> Callable[[Repository, str, str], Answer]:
    """Keep the answers to a question about two commits by their ids. Errors are not kept."""

    kept: dict[tuple[object, ...], Answer] = {}

    @wraps(ask)
    def ask_once(repository: Repository, first: str, second: str) -> Answer:
        cuts = []
        for name in _CUTS:
            with suppress(OSError):
                status = os.stat(os.path.join(repository.common, name))
                cuts.append((name, status.st_mtime_ns, status.st_size))
        question = (repository.common, *cuts, first, second)
        with suppress(KeyError):
            return kept[question]
        answer = ask(repository, first, second)
        if len(kept) >= _KEPT:
            kept.clear()
        kept[question] = answer
        return answer

    return ask_once


@asked_once
def merge_bases(repository: Repository, first: str, second: str) -> tuple[str, ...]:
    """Return the best common ancestors of two commits, or none if the histories are unrelated."""
    if first == second:
        return (first,)
    arguments = ("merge-base", "--all", "--end-of-options", first, second)
    return tuple(repository.git.run(*arguments, status=(0, 1)).decode("ascii", "replace").split())


@asked_once
def _commits_between(repository: Repository, older: str, newer: str) -> int:
    if older == newer:
        return 0
    return int(repository.git.run("rev-list", "--count", f"{older}..{newer}"))


class OwnCommits(NamedTuple):
    """What the commits say that a candidate has and its base has not.

    - ``time``: that of the first, in seconds since the epoch; None without any.
    - ``trailers``: the trailer lines of all.
    - ``issues``: the issues that they name.
    """

    time: int | None = None
    trailers: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()


@asked_once
def own_commits(repository: Repository, base: str, commit: str) -> OwnCommits:
    """Read the commits that a candidate has and its base has not."""
    if base == commit:
        return OwnCommits()
    out = repository.git.run("rev-list", "--format=%ct%x00%B%x00", f"{base}..{commit}")
    fields = out.decode("utf-8", "replace").split("\0")
    times = [int(heading.rpartition("\n")[2]) for heading in fields[:-1:2]]
    trailers = (line for message in fields[1::2] for line in _TRAILER.findall(message))
    issues = issues_named("\n".join(fields[1::2]))
    return OwnCommits(min(times, default=None), tuple(trailers), issues)


def issues_named(message: str) -> tuple[str, ...]:
    """Return the issues that a message names, in order, or none if it lists more than a few.

    The number of a merged request at the end of the first line is none of them.

    >>> issues_named("Fix it (#7)\\n\\nFixes #12, see https://host/a/b/issues/34")
    ('#12', '#34')
    """
    text = re.sub(r"(?m)^(.*\S) \(#\d+\)$|^Merge (?:pull|merge) request \S+", r"\1", message)
    found = dict.fromkeys(f"#{a or b}" for a, b in _ISSUE.findall(text))
    return tuple(found) if len(found) <= _MOST_ISSUES else ()


def commit_named(repository: Repository, name: str, option: str) -> str:
    """Return the commit of a revision that the user named.

    Raises SourceError if there is none.
    """
    if (commit := repository.commit_of(name)) is None:
        raise SourceError(f"unknown revision {visible(name)!r}", hint=f"check {option}")
    return commit


# --- reflogs: their first line says when a worktree or branch was made ---------------------------


class Made(NamedTuple):
    """The commit that something was made at, and when, in seconds since the epoch."""

    commit: str
    time: int


def worktree_made(repository: Repository, folder: str) -> Made | None:
    """Return where and when a linked worktree was made, or None if its reflog does not say."""
    try:
        git_dir = own_folder(folder)
    except SourceError:
        return None
    if os.path.dirname(git_dir) != os.path.join(repository.common, "worktrees"):
        return None  # the main checkout, whose reflog begins with the clone
    return _first_entry(os.path.join(git_dir, "logs", "HEAD"), git_dir)


def branch_made(repository: Repository, branch: str) -> Made | None:
    """Return where and when a local branch was made, or None if its reflog does not say."""
    path = os.path.join(repository.common, "logs", "refs", "heads", *branch.split("/"))
    return _first_entry(path, repository.common)


def _first_entry(path: str, root: str) -> Made | None:
    """Return the first entry of a reflog, or None if it expired or does not exist."""
    try:
        first = _FIRST_LINE.match(read_bytes(path, [root]))
    except SourceError:
        return None
    return Made(first["commit"].decode(), int(first["time"])) if first else None


# --- bases ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Start:
    """The commit that a candidate started from, how far the target is ahead of it, and notes."""

    base: str
    behind: int = 0
    notes: tuple[str, ...] = ()


class History:
    """Questions about the commits of a repository and one target, each of which is asked once."""

    def __init__(self, repository: Repository, target: str) -> None:
        self._repository, self._target = repository, target
        self._holding: dict[str, frozenset[str]] = {}

    def own_base(
        self,
        commit: str,
        *,
        folder: str = "",
        branch: str = "",
        is_edited: Callable[[], bool] = lambda: False,
    ) -> Start | None:
        """Return where a candidate started, or None if it shares no history with the target.

        - ``folder``, ``branch``: its worktree and local branch, or empty.
        - ``is_edited``: tells whether the worktree has uncommitted changes; rarely called.
        """
        bases = merge_bases(self._repository, self._target, commit)
        if not bases:
            return None
        notes = ("several merge bases: the first one is used",) if len(bases) > 1 else ()
        base = bases[0]
        if folder:
            base = self._stacked_on(base, commit, folder, branch, is_edited) or base
        return Start(base, _commits_between(self._repository, base, self._target), notes)

    def start_at(self, base: str) -> Start:
        """Return the start that the user named."""
        return Start(base, _commits_between(self._repository, base, self._target))

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
            between = (base, start), (start, commit)
            if any(merge_bases(self._repository, *pair) != pair[:1] for pair in between):
                return None
        except SourceError:
            return None  # an object is missing
        own = f"refs/heads/{branch}"
        own_refs = {own, self._upstreams.get(own, "")} if branch else set()
        if start not in self._holding:
            arguments = ("for-each-ref", f"--contains={start}", "--format=%(refname)")
            out = self._repository.git.run(*arguments)
            self._holding[start] = frozenset(os.fsdecode(r) for r in out.split(b"\n") if r)
        if not self._holding[start] - own_refs:
            return None
        return start if start != commit or is_edited() else None

    @cached_property
    def _upstreams(self) -> dict[str, str]:
        """The upstreams of local branches, by their full names."""
        arguments = ("for-each-ref", "--format=%(refname) %(upstream)", "refs/heads")
        lines = os.fsdecode(self._repository.git.run(*arguments)).split("\n")
        return {line.partition(" ")[0]: line.partition(" ")[2] for line in lines}
