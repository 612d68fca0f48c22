"""The JSON document of ``excise duplicates``, as docs/duplicates.md describes it."""

from __future__ import annotations

from excise_server.duplicates.reasons import SharedReasons
from excise_server.report.shapes import Document, GroupEntry, RejectedEntry, Shape

__all__ = [
    "DuplicatePair",
    "DuplicatesDocument",
    "ProposalEntry",
    "RelatedGroupsDocument",
    "SameEditEntry",
]


class ProposalEntry(Shape, frozen=True, kw_only=True):
    """A patch, a series or a pull request that is in some pair."""

    id: str
    title: str
    author: str
    state: str


class SameEditEntry(Shape, frozen=True, kw_only=True):
    """How much the edits of two proposals have in common (``basis:edits``), a separate question."""

    similarity: float
    word: str
    is_same_edit: bool


class DuplicatePair(Shape, frozen=True, kw_only=True):
    """A pair. If ``otherwise`` gives another explanation, the pair is not reported as a duplicate.

    ``same_edit`` and ``reasons`` are null below the level ``possibly``.
    """

    new: str
    other: str
    word: str
    level: str
    probability: float
    mean: float
    what: float
    where: float
    why: float | None
    same_edit: SameEditEntry | None
    otherwise: str
    reasons: SharedReasons | None


class DuplicatesDocument(Document, frozen=True, kw_only=True):
    """The output of ``duplicates --format json``: the pairs, the most probable first."""

    asked: int
    among: int
    pairs: list[DuplicatePair]
    proposals: list[ProposalEntry]
    notes: list[str]
    rejected: list[RejectedEntry]


class RelatedGroupsDocument(Document, frozen=True, kw_only=True):
    """The output of ``cluster --related --json``, where a pair's ``new`` is the representative."""

    threshold: float
    linkage: str
    clusters: list[GroupEntry]
    pairs: list[DuplicatePair]
    proposals: list[ProposalEntry]
    notes: list[str]
    rejected: list[RejectedEntry]
