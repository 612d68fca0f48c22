"""Every source of a document's revisions, in the order in which they are asked: one table.

A new source is one file and one line here. Its ``find`` receives the document and its repository
(or why that cannot be used) and answers with values. It only reads and never runs anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from excise_server.foundation.inputs import SourceError
from excise_server.git.repository import Repository
from excise_server.sources import conflicts, origin, patches, run_patches, siblings, versions
from excise_server.sources.finding import Context, Found

__all__ = ["SOURCES", "Source", "setting_of"]

Find = Callable[[Context, Repository | SourceError | None], Found]


@dataclass(frozen=True, slots=True)
class Source:
    """One source.

    Attributes
    ----------
    find
        The function that asks it.
    settings
        By the word before the colon of its ids, the setting that switches them on.
    watches
        What its answer depends on, besides the settings. Each answer names the actual files.
    """

    find: Find
    settings: Mapping[str, str]
    watches: str


SOURCES = (
    Source(conflicts.find, {"conflict": "conflicts"}, "the document, the index"),
    Source(siblings.find, {"file": "files"}, "the globs"),
    Source(origin.find, {"origin": "origin"}, "the document, or HEAD and the index"),
    Source(
        versions.find,
        {"worktree": "worktrees", "branch": "branches", "remote": "remotes", "ref": "requests"},
        "HEAD, refs, the list of worktrees, the file in each of them",
    ),
    Source(patches.find, {"patch": "patches"}, "the folders of patches"),
    Source(run_patches.find, {"run": "runs"}, "the folders of runs, HEAD"),
)
"""The sources. The first one that provides an origin determines it."""


def setting_of(name: str) -> str:
    """Return the setting of an id or of the subject of a refusal, or "" if it has none.

    >>> setting_of("remote:origin/fix"), setting_of("git")
    ('remotes', '')
    """
    kind = name.partition(":")[0]
    return next((source.settings[kind] for source in SOURCES if kind in source.settings), "")
