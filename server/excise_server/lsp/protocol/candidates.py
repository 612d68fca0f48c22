"""Whole candidates, over all their files: listed, added, set aside."""

from __future__ import annotations

import attrs

from excise_server.lsp.protocol.revisions import Rejection

__all__ = [
    "AddCandidatesParams",
    "AddCandidatesResult",
    "CandidateText",
    "CandidatesParams",
    "ChangeText",
    "HideParams",
    "RejectParams",
    "RemoveCandidatesParams",
    "RemoveCandidatesResult",
    "SetAsideResult",
    "SetBaseParams",
    "SetBaseResult",
    "TakeChoice",
    "TakeParams",
    "WorktreesParams",
]


@attrs.frozen
class WorktreesParams:
    """A folder or file of a repository, branches besides its worktrees, base and intent."""

    uri: str
    branches: list[str] | None = None
    base: str | None = None
    intent: str | None = None


@attrs.frozen
class CandidatesParams:
    """A folder or file of a repository, branches besides its worktrees, a batch, and the intent."""

    uri: str
    branches: list[str] | None = None
    batch: str | None = None
    intent: str | None = None


@attrs.frozen
class ChangeText:
    """A candidate's version of one file. Without a text, the file is deleted."""

    path: str
    text: str | None = None
    status: str | None = None
    old_path: str | None = None
    base: str | None = None


@attrs.frozen
class CandidateText:
    """One candidate: its id, an optional label for people, what it started from, its changes."""

    id: str
    changes: list[ChangeText]
    label: str | None = None
    base: str | None = None


@attrs.frozen
class AddCandidatesParams:
    """Candidates for the files of a workspace folder, by default the only or the first one."""

    candidates: list[CandidateText]
    folder: str | None = None


@attrs.frozen
class AddCandidatesResult:
    """The candidates that were accepted and rejected."""

    accepted: list[str]
    rejected: list[Rejection]


@attrs.frozen
class RemoveCandidatesParams:
    """Ids to forget in every document."""

    ids: list[str]


@attrs.frozen
class RemoveCandidatesResult:
    """The ids that were there, and those that were not."""

    removed: list[str]
    unknown: list[str]


@attrs.frozen
class HideParams:
    """Candidates to leave out of every review, or to show again."""

    ids: list[str]
    hidden: bool | None = None


@attrs.frozen
class RejectParams:
    """Candidates that the user decided against, or no longer."""

    ids: list[str]
    rejected: bool | None = None


@attrs.frozen
class SetAsideResult:
    """All ids that are hidden or rejected now."""

    hidden: list[str]
    rejected: list[str]


@attrs.frozen
class SetBaseParams:
    """The commit that a candidate started from, or none to detect it."""

    uri: str
    id: str
    base: str | None = None


@attrs.frozen
class SetBaseResult:
    """The id of that commit."""

    commit: str | None


@attrs.frozen
class TakeChoice:
    """A candidate, or a file of it, or a hunk of that file, by the lines of the origin."""

    candidate: str
    path: str | None = None
    hunk: str | None = None
    conflicts: bool | None = None


@attrs.frozen
class TakeParams:
    """The parts of a repository's candidates to put together, and the review of the choice."""

    uri: str
    choices: list[TakeChoice]
    digest: str | None = None
    anyway: bool | None = None
