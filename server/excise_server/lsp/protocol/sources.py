"""What sources found for a document by themselves."""

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
    """Which text the revisions are compared with."""

    kind: str
    label: str


@attrs.frozen
class FoundRevision:
    """A revision that entered by itself, and what to know of it."""

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
    """What one source found, what had not changed, and what it refused."""

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
