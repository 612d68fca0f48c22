"""Edits of a document, and the documents shown next to it."""

from __future__ import annotations

import attrs

from excise_server.lsp.protocol.reports import ReportHunk

__all__ = [
    "ApplyResult",
    "ApplyRevisionParams",
    "ApplyVariantParams",
    "CompareParams",
    "CompareResult",
    "Comparison",
    "RevisionContentParams",
    "RevisionContentResult",
    "ShowHunkParams",
    "ShowHunkResult",
]


@attrs.frozen
class ApplyRevisionParams:
    """A revision to apply to the open document of this version."""

    uri: str
    id: str
    version: int
    state: int | None = None
    anyway: bool | None = None


@attrs.frozen
class ApplyVariantParams:
    """A variant of a hunk, by their numbers in the report, to apply to this version."""

    uri: str
    hunk: int
    variant: int
    version: int
    state: int | None = None
    anyway: bool | None = None


@attrs.frozen
class ApplyResult:
    """Whether the client made the edit, and if not, why."""

    applied: bool
    reason: str


@attrs.frozen
class ShowHunkParams:
    """A hunk, by its number in the report."""

    uri: str
    hunk: int


@attrs.frozen
class ShowHunkResult:
    """The hunk as the report has it."""

    hunk: ReportHunk


@attrs.frozen
class CompareParams:
    """Revisions to compare with the origin, or all if none are named."""

    uri: str
    ids: list[str] | None = None


@attrs.frozen
class Comparison:
    """Two documents to show side by side."""

    original: str
    modified: str
    label: str


@attrs.frozen
class CompareResult:
    """One comparison per revision, in rank order."""

    changes: list[Comparison]


@attrs.frozen
class RevisionContentParams:
    """The revision whose text is requested, or without an id the origin."""

    uri: str
    id: str | None = None


@attrs.frozen
class RevisionContentResult:
    """The normalised text."""

    text: str
