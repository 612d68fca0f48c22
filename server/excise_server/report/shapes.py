"""The JSON documents of scoring commands: one definition of each, as docs/json.md describes them.

All JSON output is a `Document`, so that its keys and types are checked where it is made, and
programs can get a JSON Schema (`msgspec.json.schema`). A key whose value is `UNSET`, the default,
is left out. Over 300 lines: these are declarations, which a reader looks up.
"""

from __future__ import annotations

import msgspec

__all__ = [
    "SCHEMA",
    "ClusterDocument",
    "ClusterEntry",
    "Contained",
    "Counts",
    "DifferenceEntry",
    "Document",
    "ElsewhereEntry",
    "ErrorLine",
    "ExplainDocument",
    "ExplainRegion",
    "GroupEntry",
    "MatrixDocument",
    "PlaceEntry",
    "RankDocument",
    "RankedEntry",
    "ReasonEntry",
    "RecordLine",
    "RejectedEntry",
    "ScoreDocument",
    "ScoreRegion",
    "SegmentEntry",
    "Shape",
    "SummaryDocument",
    "SystemEntry",
]

SCHEMA = 2
"""Version of the shapes. Keys are only ever added under the same version."""

Values = list[list[float]]
Notes = dict[str, list[str]]


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """Something with named values in a document."""


class Document(Shape, frozen=True, kw_only=True):
    """The output of a command. Every number in it belongs to the signature."""

    schema: int = SCHEMA
    signature: str


class RejectedEntry(Shape, frozen=True, kw_only=True):
    """A revision or record that could not be scored, and why."""

    id: str
    reason: str


class ReasonEntry(Shape, frozen=True, kw_only=True):
    """A fact about a group, and the members that it is true of."""

    kind: str
    text: str
    members: list[str]


# --- one pair ------------------------------------------------------------------------------------


class RecordLine(Shape, frozen=True, kw_only=True):
    """A line of ``score --jsonl``."""

    id: str | float | None
    score: float
    keep: float | None
    add: float | None
    delete: float | None
    notes: list[str]
    reference: int | msgspec.UnsetType = msgspec.UNSET
    signature: str


class SystemEntry(Shape, frozen=True, kw_only=True):
    """The mean of the scores of a file of records."""

    mean: float
    interval: list[float] | None
    keep: float | None
    add: float | None
    delete: float | None
    outputs: int
    tasks: int
    failed: int
    signature: str


class DifferenceEntry(Shape, frozen=True, kw_only=True):
    """The difference between the records and those of ``--baseline``."""

    value: float
    interval: list[float] | None
    p: float | None


class SummaryDocument(Document, frozen=True, kw_only=True):
    """The output of ``score --jsonl --summary --json``."""

    system: SystemEntry
    baseline: SystemEntry | msgspec.UnsetType = msgspec.UNSET
    difference: DifferenceEntry | msgspec.UnsetType = msgspec.UNSET


class ErrorLine(Shape, frozen=True, kw_only=True):
    """A line of ``score --jsonl`` for a record that could not be scored."""

    id: str | float | None
    error: str


class Counts(Shape, frozen=True, kw_only=True):
    """For each operation the n-grams of n = 1 to 4: in common, of the first, of the second."""

    keep: list[list[int]]
    add: list[list[int]]
    delete: list[list[int]]


class SegmentEntry(Shape, frozen=True, kw_only=True):
    """The part of one text in a divergent region."""

    lines: list[int]
    span: list[int]
    text: str
    tokens: list[str]


class Region(Shape, frozen=True, kw_only=True):
    """A divergent region."""

    share: float
    place: int
    origin: SegmentEntry
    counts: Counts


class ScoreRegion(Region, frozen=True, kw_only=True):
    """A divergent region of a directed score."""

    reference: SegmentEntry
    hypothesis: SegmentEntry


class ExplainRegion(Region, frozen=True, kw_only=True):
    """A divergent region of two revisions."""

    a: SegmentEntry
    b: SegmentEntry


class PlaceEntry(Shape, frozen=True, kw_only=True):
    """A place of the origin (docs/algorithm.md): its regions, as indices, and their counts."""

    regions: list[int]
    counts: Counts


class ElsewhereEntry(Shape, frozen=True, kw_only=True):
    """An n-gram that both add or delete at different places, which are given by their indices."""

    a: int
    b: int
    added: int
    deleted: int
    n_grams: int


class Contained(Shape, frozen=True, kw_only=True):
    """How much of each one's edit the other has at the same place."""

    a: float
    b: float


class PairDocument(Document, frozen=True, kw_only=True):
    """The score of a pair, in any form, or null if it is undefined."""

    value: float
    score: float
    keep: float | None
    add: float | None
    delete: float | None
    exact: str
    word: str
    notes: list[str]


class ScoreDocument(PairDocument, frozen=True, kw_only=True):
    """The output of ``score --json``."""

    reference: int | None
    regions: list[ScoreRegion]


class ExplainDocument(PairDocument, frozen=True, kw_only=True):
    """The output of ``explain --json``."""

    revisions: list[str]
    anchored: float
    anywhere: float
    contained: Contained
    places: list[PlaceEntry]
    elsewhere: list[ElsewhereEntry]
    regions: list[ExplainRegion]


# --- several revisions ---------------------------------------------------------------------------


class MatrixDocument(Document, frozen=True, kw_only=True):
    """The output of ``matrix --json``."""

    revisions: list[str]
    similarity: Values
    anchored: Values
    anywhere: Values
    contained: Values
    words: list[list[str]]
    notes: Notes
    rejected: list[RejectedEntry]


class RankedEntry(Shape, frozen=True, kw_only=True):
    """A revision in rank order."""

    id: str
    rank: int
    makers: int
    mean_similarity: float | None
    why: list[str]
    edit_size: int
    no_op: bool
    stub: bool
    broken: list[str]
    syntax_errors: bool
    notes: list[str]


class RankDocument(Document, frozen=True, kw_only=True):
    """The output of ``rank --json``."""

    intent: str
    disagree: bool
    ranking: list[RankedEntry]
    rejected: list[RejectedEntry]


class GroupEntry(Shape, frozen=True, kw_only=True):
    """Those that make similar edits."""

    members: list[str]
    representative: str
    min_similarity: float


class ClusterEntry(GroupEntry, frozen=True, kw_only=True):
    """A group of similar edits, and the word for each next to the representative."""

    words: list[str]
    reasons: list[ReasonEntry]


class ClusterDocument(Document, frozen=True, kw_only=True):
    """The output of ``cluster --origin --json``."""

    threshold: float
    linkage: str
    clusters: list[ClusterEntry]
    notes: Notes
    rejected: list[RejectedEntry]
