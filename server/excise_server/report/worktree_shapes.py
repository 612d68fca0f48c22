"""The JSON document of compared candidates, as docs/json.md describes it.

The command prints it, and the language server answers `excise/worktrees` with it.
"""

from __future__ import annotations

import msgspec

from excise_server.report.shapes import (
    ClusterEntry,
    Document,
    RejectedEntry,
    Shape,
    Values,
)

__all__ = [
    "BatchEntry",
    "CandidateCluster",
    "CandidateEntry",
    "CheckEntry",
    "ConflictEntry",
    "FileEntry",
    "LinesEntry",
    "WorktreesDocument",
]


class BatchEntry(Shape, frozen=True, kw_only=True):
    """Candidates of one task."""

    number: int
    task: str | None
    members: list[str]
    ranked: bool
    shared: list[str]
    attached: list[str]
    disagree: bool


class CandidateCluster(ClusterEntry, frozen=True, kw_only=True):
    """Candidates of one batch that make similar edits."""

    batch: int
    passed: int
    failed: int
    undecided: int


class LinesEntry(Shape, frozen=True, kw_only=True):
    """The changed lines in the files of one kind."""

    files: int
    added: int
    deleted: int


class FileEntry(Shape, frozen=True, kw_only=True):
    """A file that a candidate changed."""

    path: str
    kind: str
    status: str
    added: int
    deleted: int
    facts: list[str]
    old_path: str | msgspec.UnsetType = msgspec.UNSET


class ConflictEntry(Shape, frozen=True, kw_only=True):
    """A file in which the origin changed the same lines."""

    path: str
    reason: str


class CheckEntry(Shape, frozen=True, kw_only=True):
    """The result of one check for a candidate."""

    check: str
    passed: bool | None
    seconds: float | None
    reason: str


class CandidateEntry(Shape, frozen=True, kw_only=True):
    """A candidate in rank order, without a rank if it is alone in its batch."""

    id: str
    label: str
    tool: str | None
    batch: int
    rank: int | None
    makers: int
    mean_similarity: float | None
    why: list[str]
    edit_size: int
    verdict: str | None
    checks: list[CheckEntry]
    no_op: bool
    stub: bool
    broken: list[str]
    syntax_errors: bool
    cluster: int
    representative: bool
    similarity: float
    word: str
    names: list[str]
    kind: str
    folder: str | None
    branch: str | None
    commit: str | None
    base: str | None
    behind: int
    made: int | None
    digest: str
    identical: list[str]
    being_written: bool
    conflicts: list[ConflictEntry]
    uncommitted: int
    lines: dict[str, LinesEntry]
    files: list[FileEntry]
    notes: list[str]


class WorktreesDocument(Document, frozen=True, kw_only=True):
    """The output of ``worktrees --json`` and ``cluster --git --json``."""

    basis: str
    intent: str
    threshold: float
    linkage: str
    repository: str
    base: str
    origin: str
    candidates: list[str]
    labels: list[str]
    similarity: Values
    words: list[list[str]]
    batches: list[BatchEntry]
    ranking: list[CandidateEntry]
    clusters: list[CandidateCluster]
    other_batches: list[list[str]]
    unchanged: list[str]
    landed: list[str]
    unknown_verdicts: list[str]
    notes: dict[str, list[str]]
    rejected: list[RejectedEntry]
