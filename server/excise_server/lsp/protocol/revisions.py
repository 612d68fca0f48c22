"""Revisions of one document: added, read from patches, removed, listed."""

from __future__ import annotations

import attrs

__all__ = [
    "AddRevisionsParams",
    "AddRevisionsResult",
    "AddTextParams",
    "AddTextResult",
    "Base",
    "ListRevisionsParams",
    "ListRevisionsResult",
    "ListedRevision",
    "ReadPatchParams",
    "ReadPatchResult",
    "Rejection",
    "RemoveRevisionsParams",
    "RemoveRevisionsResult",
    "RevisionText",
]


@attrs.frozen
class Base:
    """The text that the revisions were made from, by either, both or none of the fields."""

    version: int | None = None
    hash: str | None = None


@attrs.frozen
class RevisionText:
    """One revision: its id, an optional label for people, its whole text."""

    id: str
    text: str
    label: str | None = None


@attrs.frozen
class AddRevisionsParams:
    """Revisions for one document, which need not be open."""

    uri: str
    revisions: list[RevisionText]
    base: Base | None = None


@attrs.frozen
class Rejection:
    """A revision that was not taken, and why."""

    id: str
    reason: str


@attrs.frozen
class AddRevisionsResult:
    """The revisions that were accepted and rejected."""

    accepted: list[str]
    rejected: list[Rejection]


@attrs.frozen
class AddTextParams:
    """The text that was pasted or picked for a document, and its name."""

    uri: str
    text: str
    id: str | None = None
    label: str | None = None


@attrs.frozen
class AddTextResult:
    """The candidate that it became, the form of the text, and notes."""

    id: str
    kind: str
    notes: list[str]


@attrs.frozen
class ReadPatchParams:
    """A patch, and the document that it is read for, which need not be open."""

    uri: str
    patch: str


@attrs.frozen
class ReadPatchResult:
    """The result of a patch on the origin, the subject of its mail, and notes."""

    text: str
    label: str
    notes: list[str]


@attrs.frozen
class RemoveRevisionsParams:
    """Ids to forget."""

    uri: str
    ids: list[str]


@attrs.frozen
class RemoveRevisionsResult:
    """The ids that were there, and those that were not."""

    removed: list[str]
    unknown: list[str]


@attrs.frozen
class ListRevisionsParams:
    """The document whose revisions are asked for."""

    uri: str


@attrs.frozen
class ListedRevision:
    """One revision without its text."""

    id: str
    label: str


@attrs.frozen
class ListRevisionsResult:
    """The revisions of a document in their order, or none for an unknown document."""

    revisions: list[ListedRevision]
