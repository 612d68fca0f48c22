"""The JSON document of grouped patches, as docs/patches.md describes it."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from excise_server.report.shapes import Document, GroupEntry, RejectedEntry, Shape

__all__ = ["CoverEntry", "PatchDocument", "PatchEntry"]


class PatchEntry(Shape, frozen=True, kw_only=True):
    """A patch, and its likeness to the representative of its cluster."""

    id: str
    messages: list[str] | UnsetType = UNSET
    cluster: int
    similarity: float
    contains: float | None
    contained: float | None
    word: str | None
    anchored: float | None
    anywhere: float | None
    in_another_file: bool | None
    patch_id: str
    message_id: str
    subject: str
    author: str
    date: str
    version: int
    index: int
    total: int
    files: list[str]
    facts: list[str]


class CoverEntry(Shape, frozen=True, kw_only=True):
    """A message without a patch."""

    id: str
    subject: str


class PatchDocument(Document, frozen=True, kw_only=True):
    """The output of ``cluster --json`` for patches, with ``new`` and ``state`` if it has a
    state.
    """

    basis: str
    threshold: float
    linkage: str
    clusters: list[GroupEntry]
    patches: list[PatchEntry]
    covers: list[CoverEntry]
    notes: dict[str, list[str]]
    rejected: list[RejectedEntry]
    new: list[str] | UnsetType = UNSET
    state: list[str] | UnsetType = UNSET
    scores: list[tuple[str, str, float]] | UnsetType = UNSET
