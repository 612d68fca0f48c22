"""The histories of commits, which never change, so each question is asked once per process.

An editor asks about the same commits whenever a file changes. The cuts of a history (a shallow
clone, grafts) are not part of the commits, so they are part of the question.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from typing import TypeVar

from excise_server.git.repository import Repository

__all__ = ["asked_once", "commits_between", "is_ancestor", "merge_bases"]

Answer = TypeVar("Answer")

_KEPT = 5_000
"""Most answers that are kept for each kind of question."""

_CUTS = ("shallow", os.path.join("info", "grafts"))


@dataclass(frozen=True, slots=True)
class _Question:
    """Two commits of a repository, and the state of what cuts its histories off."""

    common: str
    cuts: tuple[tuple[int, int], ...]
    first: str
    second: str
    repository: Repository = field(compare=False)


def asked_once(
    ask: Callable[[Repository, str, str], Answer],
) -> Callable[[Repository, str, str], Answer]:
    """Keep the answers to a question about two commits by their ids. Errors are not kept."""

    @lru_cache(_KEPT)
    def answer(question: _Question) -> Answer:
        return ask(question.repository, question.first, question.second)

    @wraps(ask)
    def ask_once(repository: Repository, first: str, second: str) -> Answer:
        cuts = tuple(_stamp(os.path.join(repository.common, name)) for name in _CUTS)
        return answer(_Question(repository.common, cuts, first, second, repository))

    return ask_once


@asked_once
def merge_bases(repository: Repository, first: str, second: str) -> tuple[str, ...]:
    """Return the best common ancestors of two commits, or none if the histories are unrelated.

    Raises
    ------
    SourceError
        If git fails because a commit is missing.
    """
    return (first,) if first == second else tuple(repository.merge_bases(first, second))


@asked_once
def commits_between(repository: Repository, older: str, newer: str) -> int:
    """Return how many commits the newer one has and the older one has not.

    Raises
    ------
    SourceError
        If git fails.
    """
    if older == newer:
        return 0
    return int(repository.git.run("rev-list", "--count", f"{older}..{newer}"))


def is_ancestor(repository: Repository, older: str, newer: str) -> bool:
    """Return whether all of a commit's history is in that of another one.

    Raises
    ------
    SourceError
        If git fails because a commit is missing.
    """
    return merge_bases(repository, older, newer) == (older,)


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)
