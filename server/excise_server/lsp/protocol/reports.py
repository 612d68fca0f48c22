"""The report on the revisions of one document."""

from __future__ import annotations

import attrs
from lsprotocol import types as t

__all__ = [
    "CountersParams",
    "CountersResult",
    "DidChangeReportParams",
    "PairScore",
    "ReportCluster",
    "ReportHunk",
    "ReportParams",
    "ReportResult",
    "ReportRevision",
    "Variant",
]


@attrs.frozen
class ReportParams:
    """The document to report on."""

    uri: str


@attrs.frozen
class ReportRevision:
    """One revision in the report, with its rank and cluster counted from 1."""

    id: str
    label: str
    rank: int
    cluster: int
    no_op: bool
    notes: list[str]
    makers: int
    mean_similarity: float | None
    why: list[str]
    edit_size: int
    syntax_errors: bool
    stub: bool
    broken: list[str]
    file: str | None


@attrs.frozen
class ReportCluster:
    """One cluster, in the shape of the command's JSON."""

    members: list[str]
    representative: str
    min_similarity: float = attrs.field(metadata={"wire": "min_similarity"})


@attrs.frozen
class Variant:
    """One exact text of a hunk, and the revisions that have it."""

    ids: list[str]
    text: str


@attrs.frozen
class PairScore:
    """The score of two revisions in one hunk."""

    a: str
    b: str
    es: float
    keep: float | None
    add: float | None
    delete: float | None
    share: float


@attrs.frozen
class ReportHunk:
    """Lines of the origin that some revision changes, and the variants."""

    range: t.Range
    variants: list[Variant]
    agree: int
    es: float | None
    keep: float | None
    add: float | None
    delete: float | None
    share: float
    pairs: list[PairScore]


@attrs.frozen
class ReportResult:
    """Everything known of one document's revisions."""

    version: int | None
    state: int
    signature: str
    revisions: list[ReportRevision]
    similarity: list[list[float]]
    words: list[list[str]]
    clusters: list[ReportCluster]
    intent: str
    disagree: bool
    hunks: list[ReportHunk]


@attrs.frozen
class CountersParams:
    """Nothing to choose."""


@attrs.frozen
class CountersResult:
    """How many texts were parsed and pairs of revisions scored since the server began."""

    parses: int
    pairs: int


@attrs.frozen
class DidChangeReportParams:
    """A newer report can be asked for."""

    uri: str
    version: int | None
