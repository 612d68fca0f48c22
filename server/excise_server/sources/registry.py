"""Every source of candidates, in the order in which they are asked: one table for all doors.

`SourceSettings` is the table. A source of a repository (``list_..``) serves commands, servers and
open documents alike: it lists candidates, which `reading` then reads, all files of each, or one
file of all. A source of a document (``find..``) knows what only an editor has: the files beside it,
or its conflict. Sources only read and never run anything, and each answer names what it depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from importlib import import_module
from typing import Any

from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import Rejected, SourceError
from excise_server.git.checkouts import Selection, find_checkouts
from excise_server.git.repository import Repository
from excise_server.sources.finding import Context, Found
from excise_server.sources.patches import folders_named
from excise_server.sources.reading import ListedCandidate
from excise_server.wire.sources import CHOSEN, SOURCES, SourceSettings

Find = Callable[[Context, Repository | SourceError | None], Found]
Listed = Callable[[Repository, Selection, str, list[Rejected]], list[ListedCandidate]]


def list_checkouts(
    repository: Repository, selection: Selection, _origin: str, rejected: list[Rejected]
) -> list[ListedCandidate]:
    """Return the chosen worktrees and refs."""
    listed, unusable = find_checkouts(repository, selection)
    rejected += unusable
    return [ListedCandidate(candidate) for candidate in listed]


def _functions(start: str) -> list[Any]:
    """Return the functions of sources whose names begin so, each once."""
    names = dict.fromkeys(source.function for source in SOURCES.values())
    parts = [name.split(".") for name in names]
    return [
        getattr(import_module(f"excise_server.sources.{module}"), name)
        for module, name in parts
        if name.startswith(start)
    ]


def finders() -> list[Find]:
    """Return the functions that find versions of one document."""
    return _functions("find")


def listers() -> list[Listed]:
    """Return the functions that list candidates of a repository, made on a commit."""
    return _functions("list_")


_KINDS_OF_REQUESTS = {"#": "pull", "!": "merge-requests"}


def setting_of(name: str) -> str:
    """Return the setting of an id or of the subject of a refusal, or "" if it has none.

    >>> setting_of("remote:origin/fix"), setting_of("git")
    ('remotes', '')
    """
    kind = name.partition(":")[0]
    return next((setting for setting, source in SOURCES.items() if source.kind == kind), "")


def selection_of(
    settings: SourceSettings,
    bases: Sequence[tuple[str, str]] = (),
    wrong: list[Rejected] | None = None,
    folders: Sequence[str] = (),
) -> Selection:
    """Return which candidates the settings choose.

    - ``bases``: the commits that candidates started from, as the user set them.
    - ``wrong``: a list that receives invalid patterns and folders, with the reason.
    - ``folders``: the workspace folders, which contain the folders of patches and runs.
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
                wrong.append(Rejected(setting, "a pattern is empty or contains a NUL character"))
            elif name := full(pattern):
                names.append(name)
            else:
                hint = "pull/*, merge-requests/*, #12 or !12"
                wrong.append(Rejected(setting, f"{visible(pattern)}: not a request", hint))
    return Selection(
        worktrees=settings.worktrees,
        chosen=_chosen(asdict(settings), folders, wrong) | {"branches": tuple(names)},
        optional=CHOSEN,
        remembered=tuple(bases),
    )


def selection_asked(asked: Mapping[str, Any], folders: Sequence[str]) -> Selection:
    """Return which candidates a request chooses, by the words of the commands' options.

    Raises SourceError if a folder is not there or outside, or a base names no candidate.

    - ``asked``: sources (`CHOSEN`), ``only``, ``onto`` and ``base`` (``NAME=REV``); each may be
      absent.
    - ``folders``: the folders that may be read: patches and runs are in folders inside them.
    """
    wrong: list[Rejected] = []
    chosen = _chosen(asked, folders, wrong)
    bases = [base.partition("=") for base in asked.get("base") or ()]
    wrong += [
        Rejected("base", f"{visible(name)!r} names no candidate and revision: write NAME=REV")
        for name, _, revision in bases
        if not (name and revision)
    ]
    if wrong:
        raise SourceError(f"{wrong[0].id}: {wrong[0].reason}")
    return Selection(
        chosen=chosen,
        only=tuple(asked.get("only") or ()),
        onto=asked.get("onto") or "",
        bases=tuple((name, revision) for name, _, revision in bases),
    )


def _chosen(
    asked: Mapping[str, Any], folders: Sequence[str], wrong: list[Rejected]
) -> dict[str, tuple[str, ...]]:
    """Return what is chosen of each source: patterns, or folders inside the workspace."""
    chosen = {name: tuple(asked.get(name) or ()) for name in CHOSEN}
    for name in (name for name in CHOSEN if SOURCES[name].has_folders):
        chosen[name] = folders_named(chosen[name], name, folders, wrong)
    return chosen


def _request_pattern(pattern: str) -> str:
    kind, number = _KINDS_OF_REQUESTS.get(pattern[0], ""), pattern[1:]
    if not kind:
        kind, _, number = pattern.removesuffix("/head").partition("/")
    return f"refs/{kind}/{number}/head" if kind in _KINDS_OF_REQUESTS.values() and number else ""
