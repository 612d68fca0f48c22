"""The revisions that sources found for a document."""

from __future__ import annotations

import attrs

__all__ = [
    "FoundRevision",
    "Refusal",
    "SourceOrigin",
    "SourceReport",
    "SourcesParams",
    "SourcesResult",
]


@attrs.frozen
class SourcesParams:
    """The document whose sources are asked for."""

    uri: str


@attrs.frozen
class SourceOrigin:
    """The text with which the revisions are compared."""

    kind: str
    label: str


@attrs.frozen
class FoundRevision:
    """A revision that a source found, and notes."""

    id: str
    label: str
    notes: list[str]


@attrs.frozen
class Refusal:
    """Something that a source found and did not take: why, and the way out (or nothing)."""

    id: str
    reason: str
    hint: str


@attrs.frozen
class SourceReport:
    """The revisions that one source found, left out as unchanged, or refused."""

    name: str
    found: list[FoundRevision]
    unchanged: list[str]
    refused: list[Refusal]


@attrs.frozen
class SourcesResult:
    """The sources of an open document that had anything to say, or none for another."""

    origin: SourceOrigin | None
    offers: list[str]
    sources: list[SourceReport]
