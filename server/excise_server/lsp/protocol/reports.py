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
    "ReportMerge",
    "ReportParams",
    "ReportResult",
    "ReportRevision",
    "Variant",
]


@attrs.frozen
class ReportParams:
    """The document to report on, and whether the tree of its clusters is wanted."""

    uri: str
    merges: bool | None = None


@attrs.frozen
class ReportRevision:
    """One revision in the report, with its rank and cluster counted from 1."""

    id: str
    label: str
    rank: int
    cluster: int
    no_op: bool
    notes: list[str]
    agreement: float | None
    edit_size: int
    score: float
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
class ReportMerge:
    """Two clusters that become one: leaves are 0 .. n - 1, the result of merge m is n + m."""

    a: int
    b: int
    distance: float


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
    merges: list[ReportMerge] | None
    regime: str | None
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
