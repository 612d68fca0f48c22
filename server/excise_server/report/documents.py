"""JSON documents for programs: the types that docs/json.md describes, and what fills them.

All JSON output is a `Document`: programs get a JSON Schema of it (`msgspec.json.schema`), and
tables, pages and answers to agents are views of it. A key whose value is `UNSET`, the default, is
left out. Documents are printed as ASCII: every control character for terminals is a JSON escape.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Self

import msgspec
from msgspec import UNSET, UnsetType

from excise import (
    Cluster,
    CorpusDifference,
    CorpusScore,
    EditCounts,
    Ranked,
    Score,
    ScoreMatrix,
    Segment,
)
from excise_server.foundation.inputs import RevisionSet
from excise_server.report.words import disagree, words_of

__all__ = ["SCHEMA", "ClusterEntry", "Document", "ErrorLine", "GroupEntry", "ReasonEntry"]
__all__ += [
    "RecordLine",
    "RejectedEntry",
    "Shape",
    "cluster_document",
    "explain_document",
    "group_entry",
]
__all__ += ["json_line", "json_text", "matrix_document", "plain", "rank_document"]
__all__ += ["record_line", "score_document", "summary_document"]

SCHEMA = 2
"""Version of the shapes. Keys are only ever added under the same version."""

Values = list[list[float]]
Notes = dict[str, list[str]]


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """Something with named values in a document."""

    @classmethod
    def of(cls, *sources: object, **named: Any) -> Self:  # noqa: ANN401 - the fields have types
        """Return the named values, and those that the first of some objects has under its name."""
        for name in cls.__struct_fields__:
            for source in sources:
                if name not in named and hasattr(source, name):
                    value = getattr(source, name)
                    named[name] = list(value) if isinstance(value, tuple) else value
        return cls(**named)


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
    reference: int | UnsetType = UNSET
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
    baseline: SystemEntry | UnsetType = UNSET
    difference: DifferenceEntry | UnsetType = UNSET


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


Plain = Mapping[str, Any]


def plain(document: Shape | Plain) -> Plain:
    """Return a document as plain dicts, lists, strings and numbers."""
    if isinstance(document, Shape):
        built: Plain = msgspec.to_builtins(document)
        return built
    return document


def json_text(document: Shape | Plain) -> str:
    """Return a document as ASCII: a key a line, and a line for each entry of a list of lists."""
    body = ",\n".join(f"  {_dumps(key)}: {_laid_out(v)}" for key, v in plain(document).items())
    return f"{{\n{body}\n}}"


def json_line(record: Shape | Plain) -> str:
    """Return a record of JSONL as ASCII."""
    return _dumps(plain(record))


def _laid_out(value: object) -> str:
    if isinstance(value, list) and value and isinstance(value[0], list | tuple | dict):
        entries = ",\n    ".join(_dumps(entry) for entry in value)
        return f"[\n    {entries}\n  ]"
    return _dumps(value)


def _dumps(value: object) -> str:
    # DEL is the one control character that JSON's own escaping leaves alone.
    return json.dumps(value, allow_nan=False).replace("\x7f", "\\u007f")


def record_line(record_id: str | float | None, score: Score, *, several: bool) -> RecordLine:
    """Return the line of one scored record, with the index of the reference if ``several``."""
    reference = score.reference if several else UNSET
    return RecordLine.of(score, id=record_id, score=score.value, reference=reference)


def summary_document(
    systems: Sequence[tuple[CorpusScore, int]], difference: CorpusDifference | None
) -> SummaryDocument:
    """Return the means of a file and of its baseline, each with its failures, and what differs."""
    return SummaryDocument(
        signature=systems[0][0].signature,
        system=_system(*systems[0]),
        baseline=UNSET if len(systems) < 2 else _system(*systems[1]),
        difference=UNSET if difference is None else DifferenceEntry.of(difference),
    )


def _system(corpus: CorpusScore, failed: int) -> SystemEntry:
    return SystemEntry.of(
        corpus, outputs=len(corpus.values), tasks=len(set(corpus.tasks)), failed=failed
    )


def score_document(score: Score) -> ScoreDocument:
    """Return a directed score, its regions named origin, reference and hypothesis."""
    regions = [
        ScoreRegion.of(region, reference=_segment(region.a), hypothesis=_segment(region.b),
                       origin=_segment(region.origin), counts=_counts(region.counts))
        for region in score.regions
    ]  # fmt: skip
    return ScoreDocument.of(score, score=score.value, exact=str(score.exact), regions=regions)


def explain_document(score: Score, revision_set: RevisionSet) -> ExplainDocument:
    """Return the similarity of two revisions, its regions named origin, a and b."""
    a_in_b, b_in_a = score.contained
    regions_at: dict[int, list[int]] = defaultdict(list)
    for index, region in enumerate(score.regions):
        regions_at[region.place].append(index)
    return ExplainDocument.of(
        score,
        score=score.value,
        exact=str(score.exact),
        revisions=[revision.id for revision in revision_set.revisions],
        anchored=float(score.anchored),
        anywhere=float(score.anywhere),
        contained=Contained(a=float(a_in_b), b=float(b_in_a)),
        notes=[*score.notes, *(f"{name}: {note}" for name, note in revision_set.notes)],
        places=[
            PlaceEntry(regions=regions_at[number], counts=_counts(place.counts))
            for number, place in enumerate(score.places)
        ],
        elsewhere=list(map(ElsewhereEntry.of, score.elsewhere)),
        regions=[
            ExplainRegion.of(region, a=_segment(region.a), b=_segment(region.b),
                             origin=_segment(region.origin), counts=_counts(region.counts))
            for region in score.regions
        ],
    )  # fmt: skip


def _segment(segment: Segment) -> SegmentEntry:
    return SegmentEntry(
        lines=list(segment.lines or ()),
        span=list(segment.span or ()),
        text=segment.text or "",
        tokens=[str(token) for token in segment.tokens],
    )


def _counts(counts: EditCounts) -> Counts:
    return Counts(**{
        name: [[count.here, count.a, count.b] for count in getattr(counts, name)]
        for name in Counts.__struct_fields__
    })  # fmt: skip


def matrix_document(matrix: ScoreMatrix, revision_set: RevisionSet) -> MatrixDocument:
    """Return the similarities of all pairs, in the order of ``revisions``."""
    return MatrixDocument(
        signature=matrix.signature,
        revisions=list(matrix.ids),
        similarity=matrix.values.tolist(),
        anchored=matrix.anchored.tolist(),
        anywhere=matrix.anywhere.tolist(),
        contained=matrix.contained.tolist(),
        words=words_of(matrix),
        notes=_notes(matrix, revision_set),
        rejected=list(map(RejectedEntry.of, revision_set.rejected)),
    )


def rank_document(
    matrix: ScoreMatrix,
    ranking: Sequence[Ranked],
    intent: str,
    revision_set: RevisionSet,
) -> RankDocument:
    """Return the order of suggestions, with the facts behind it."""
    notes = revision_set.notes_by_id
    return RankDocument(
        signature=matrix.signature,
        intent=intent,
        disagree=disagree(ranking),
        ranking=[
            RankedEntry.of(ranked, notes=[*ranked.notes, *notes.get(ranked.id, ())])
            for ranked in ranking
        ],
        rejected=list(map(RejectedEntry.of, revision_set.rejected)),
    )


def cluster_document(
    matrix: ScoreMatrix,
    clusters: Sequence[Cluster],
    revision_set: RevisionSet,
    reasons: Sequence[Sequence[ReasonEntry]],
    *,
    threshold: float,
    linkage: str,
) -> ClusterDocument:
    """Return the clusters, the largest first, and what sets each apart."""
    return ClusterDocument(
        signature=matrix.signature,
        threshold=threshold,
        linkage=linkage,
        clusters=[
            ClusterEntry.of(
                group_entry(cluster, matrix.ids),
                words=[matrix.word(member, cluster.representative) for member in cluster.members],
                reasons=list(of_group),
            )
            for cluster, of_group in zip(clusters, reasons, strict=True)
        ],
        notes=_notes(matrix, revision_set),
        rejected=list(map(RejectedEntry.of, revision_set.rejected)),
    )


def group_entry(cluster: Cluster, ids: Sequence[str]) -> GroupEntry:
    """Return a group by the ids of its members."""
    return GroupEntry(
        members=[ids[member] for member in cluster.members],
        representative=ids[cluster.representative],
        min_similarity=cluster.min_similarity,
    )


def _notes(matrix: ScoreMatrix, revision_set: RevisionSet) -> dict[str, list[str]]:
    read = revision_set.notes_by_id
    return {
        name: all_notes
        for name, matrix_notes in zip(matrix.ids, matrix.notes, strict=True)
        if (all_notes := [*matrix_notes, *read.get(name, ())])
    }
