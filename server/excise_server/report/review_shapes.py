"""The JSON document of a review by file and hunk, as docs/json.md describes it."""

from __future__ import annotations

from excise_server.report.shapes import Document, ReasonEntry, RejectedEntry, Shape

__all__ = [
    "FileChangeEntry",
    "ReviewBatchEntry",
    "ReviewCandidateEntry",
    "ReviewDocument",
    "ReviewFileEntry",
    "ReviewGroupEntry",
    "ReviewHunkEntry",
    "ReviewVariantEntry",
]


class ReviewVariantEntry(Shape, frozen=True, kw_only=True):
    """One text of a hunk other than the origin's, and its candidates."""

    ids: list[str]
    text: str


class ReviewHunkEntry(Shape, frozen=True, kw_only=True):
    """Lines ``lo`` to ``hi`` (from 0, exclusive) of the origin, and what candidates have instead.

    ``name`` counts the same lines from 1. ``unchanged`` are the candidates that keep the lines.
    """

    name: str
    lo: int
    hi: int
    origin: str
    variants: list[ReviewVariantEntry]
    unchanged: list[str]


class FileChangeEntry(Shape, frozen=True, kw_only=True):
    """The change of one file by a candidate (``binary``: the SHA-256 of data that is not text)."""

    id: str
    status: str
    path: str | None
    mode: str | None
    binary: str | None
    facts: list[str]
    conflict: str | None


class ReviewFileEntry(Shape, frozen=True, kw_only=True):
    """A file that some candidate of a batch touches, under its path in the origin.

    ``text`` is the origin's, where somebody deletes the file.
    """

    path: str
    kind: str
    created: bool
    binary: bool
    mode: str | None
    text: str | None
    changes: list[FileChangeEntry]
    hunks: list[ReviewHunkEntry]


class ReviewGroupEntry(Shape, frozen=True, kw_only=True):
    """Candidates of a batch that make similar edits."""

    number: int
    members: list[str]
    representative: str
    min_similarity: float
    reasons: list[ReasonEntry]


class ReviewCandidateEntry(Shape, frozen=True, kw_only=True):
    """A candidate, in the order of the tables."""

    id: str
    label: str
    tool: str | None
    branch: str | None
    behind: int
    group: int
    rank: int | None
    why: list[str]
    says: str
    digest: str
    being_written: bool
    notes: list[str]


class ReviewBatchEntry(Shape, frozen=True, kw_only=True):
    """Candidates of one task and their changes of the origin, file by file."""

    number: int
    task: str | None
    disagree: bool
    digest: str
    candidates: list[ReviewCandidateEntry]
    groups: list[ReviewGroupEntry]
    files: list[ReviewFileEntry]


class ReviewDocument(Document, frozen=True, kw_only=True):
    """The output of ``review --format json``."""

    basis: str
    intent: str
    repository: str
    origin: str
    digest: str
    batches: list[ReviewBatchEntry]
    other_batches: list[list[str]]
    unchanged: list[str]
    landed: list[str]
    notes: list[str]
    rejected: list[RejectedEntry]
