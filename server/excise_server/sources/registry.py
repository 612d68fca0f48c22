"""Every source of candidates, in the order in which they are asked: one table for all doors.

A new source is one file and one line here. A source of a repository (``listed``) serves commands,
servers and open documents alike: it lists candidates, which `reading` then reads, all files of
each, or one file of all. A source of a document (``find``) knows what only an editor has: the files
beside it, its conflict, its origin. Sources only read and never run anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import Rejected, SourceError
from excise_server.git.checkouts import Selection, find_checkouts
from excise_server.git.repository import Repository
from excise_server.sources import conflicts, origin, siblings
from excise_server.sources.finding import Context, Found, Refused, SourceSettings
from excise_server.sources.patches import folders_named, list_patches
from excise_server.sources.reading import ListedCandidate

__all__ = ["SOURCES", "Source", "selection_of", "setting_of"]

Find = Callable[[Context, Repository | SourceError | None], Found]
Listed = Callable[[Repository, Selection, str, list[Rejected]], list[ListedCandidate]]


@dataclass(frozen=True, slots=True)
class Source:
    """One source.

    Attributes
    ----------
    settings
        By the word before the colon of its ids, the setting that switches them on. Options of
        commands have the same words.
    watches
        What its answer depends on, besides the settings. Each answer names the actual files.
    find
        The function that finds versions of one document, if only a document has such.
    listed
        The function that lists candidates of a repository, made on a commit.
    """

    settings: Mapping[str, str]
    watches: str
    find: Find | None = None
    listed: Listed | None = None


def _checkouts(
    repository: Repository, selection: Selection, _origin: str, rejected: list[Rejected]
) -> list[ListedCandidate]:
    listed, unusable = find_checkouts(repository, selection)
    rejected += unusable
    return [ListedCandidate(candidate) for candidate in listed]


SOURCES = (
    Source({"conflict": "conflicts"}, "the document, the index", find=conflicts.find),
    Source({"file": "files"}, "the globs", find=siblings.find),
    Source({"origin": "origin"}, "the document, or HEAD and the index", find=origin.find),
    Source(
        {"worktree": "worktrees", "branch": "branches", "remote": "remotes", "ref": "requests"},
        "HEAD, refs, the list of worktrees, the file in each of them",
        listed=_checkouts,
    ),
    Source({"patch": "patches", "run": "runs"}, "the folders, HEAD", listed=list_patches),
)
"""The sources. The first one that provides an origin determines it."""

_KINDS_OF_REQUESTS = {"#": "pull", "!": "merge-requests"}


def setting_of(name: str) -> str:
    """Return the setting of an id or of the subject of a refusal, or "" if it has none.

    >>> setting_of("remote:origin/fix"), setting_of("git")
    ('remotes', '')
    """
    kind = name.partition(":")[0]
    return next((source.settings[kind] for source in SOURCES if kind in source.settings), "")


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
        A list that receives invalid patterns and folders, with the reason.
    folders
        The workspace folders, which contain the folders of patches and runs.
    """
    wrong = [] if wrong is None else wrong
    kinds = {
        "branches": (settings.branches, "refs/heads/{}".format),
        "remotes": (settings.remotes, "refs/remotes/{}".format),
        "requests": (settings.requests, _request_pattern),
    }
    names = []  # full ones, so that each pattern matches its own kind alone
    for setting, (patterns, full) in kinds.items():
        for pattern in patterns:
            if not pattern or "\0" in pattern:
                wrong.append(Refused(setting, "a pattern is empty or holds a NUL character"))
            elif name := full(pattern):
                names.append(name)
            else:
                hint = "pull/*, merge-requests/*, #12 or !12"
                wrong.append(Refused(setting, f"{visible(pattern)}: not a request", hint))
    return Selection(
        worktrees=settings.worktrees,
        branches=tuple(names),
        typed=(),
        remembered=tuple(bases),
        patches=folders_named(settings.patches, "patches", folders, wrong),
        runs=folders_named(settings.runs, "runs", folders, wrong),
    )


def _request_pattern(pattern: str) -> str:
    kind, number = _KINDS_OF_REQUESTS.get(pattern[0], ""), pattern[1:]
    if not kind:
        kind, _, number = pattern.removesuffix("/head").partition("/")
    return f"refs/{kind}/{number}/head" if kind in _KINDS_OF_REQUESTS.values() and number else ""
