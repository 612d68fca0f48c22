"""A candidate's own commits: when the first was made, and who signed them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from excise_server.git.ancestry import asked_once
from excise_server.git.repository import Repository

__all__ = ["OwnCommits", "own_commits"]

_TRAILER = re.compile(r"(?im)^(?:co-authored-by|assisted-by):[^\n]*$")


@dataclass(frozen=True, slots=True)
class OwnCommits:
    """The time of the first one, in seconds since the epoch, and the trailer lines of all."""

    first: int | None = None
    trailers: tuple[str, ...] = ()


@asked_once
def own_commits(repository: Repository, base: str, commit: str) -> OwnCommits:
    """Read the commits that a candidate has and its base has not.

    Raises
    ------
    SourceError
        If git fails.
    """
    if base == commit:
        return OwnCommits()
    out = repository.git.run("rev-list", "--format=%ct%x00%b%x00", f"{base}..{commit}")
    fields = out.decode("utf-8", "replace").split("\0")
    times = [int(heading.rpartition("\n")[2]) for heading in fields[:-1:2]]
    bodies = fields[1::2]
    return OwnCommits(
        min(times, default=None), tuple(line for body in bodies for line in _TRAILER.findall(body))
    )
