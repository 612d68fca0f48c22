"""JSON documents for programs. docs/json.md describes every key, and `shapes` defines it.

Documents are ASCII: every control character for terminals is a JSON escape. Over 300 lines: one
short function for each document and each of its parts.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from excise import (
    Cluster,
    CorpusDifference,
    CorpusScore,
    Count,
    DivergentRegion,
    EditCounts,
    Ranked,
    Score,
    ScoreMatrix,
    Segment,
)
from excise_server.foundation.inputs import RevisionSet
from excise_server.report import shapes
from excise_server.report.order_words import disagree
from excise_server.report.words import words_of

__all__ = [
    "cluster_document",
    "explain_document",
    "json_line",
    "json_text",
    "matrix_document",
    "plain",
    "rank_document",
    "record_line",
    "score_document",
    "summary_document",
]

Plain = Mapping[str, Any]


def plain(document: shapes.Shape | Plain) -> Plain:
    """Return a document as plain dicts, lists, strings and numbers."""
    if isinstance(document, shapes.Shape):
        built: Plain = msgspec.to_builtins(document)
        return built
    return document


def json_text(document: shapes.Shape | Plain) -> str:
    """Return a document as ASCII: a key a line, and a line for each entry of a list of lists."""
    body = ",\n".join(f"  {_dumps(key)}: {_laid_out(v)}" for key, v in plain(document).items())
    return f"{{\n{body}\n}}"


def json_line(record: shapes.Shape | Plain) -> str:
    """Return a record of JSONL as ASCII."""
    return _dumps(plain(record))


def record_line(record_id: str | float | None, score: Score, *, several: bool) -> shapes.RecordLine:
    """Return the line of one scored record, with the index of the reference if ``several``."""
    return shapes.RecordLine(
        id=record_id,
        **_numbers(score),
        notes=list(score.notes),
        reference=score.reference if several else msgspec.UNSET,
        signature=score.signature,
    )


def summary_document(
    systems: Sequence[tuple[CorpusScore, int]], difference: CorpusDifference | None
) -> shapes.SummaryDocument:
    """Return the means of a file and of its baseline, each with its failures, and what differs."""
    return shapes.SummaryDocument(
        signature=systems[0][0].signature,
        system=_system(systems[0]),
        baseline=msgspec.UNSET if len(systems) < 2 else _system(systems[1]),
        difference=msgspec.UNSET
        if difference is None
        else shapes.DifferenceEntry(
            value=difference.value, interval=_bounds(difference.interval), p=difference.p
        ),
    )


def _system(summary: tuple[CorpusScore, int]) -> shapes.SystemEntry:
    corpus, failed = summary
    return shapes.SystemEntry(
        mean=corpus.mean,
        interval=_bounds(corpus.interval),
        keep=corpus.keep,
        add=corpus.add,
        delete=corpus.delete,
        outputs=len(corpus.values),
        tasks=len(set(corpus.tasks)),
        failed=failed,
        signature=corpus.signature,
    )


def _bounds(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else list(interval)


def score_document(score: Score) -> shapes.ScoreDocument:
    """Return a directed score, its regions named origin, reference and hypothesis."""
    return shapes.ScoreDocument(
        **_pair(score),
        notes=list(score.notes),
        reference=score.reference,
        regions=[
            shapes.ScoreRegion(
                **_region(region),
                reference=_segment(region.a),
                hypothesis=_segment(region.b),
            )
            for region in score.regions
        ],
    )


def explain_document(score: Score, revision_set: RevisionSet) -> shapes.ExplainDocument:
    """Return the similarity of two revisions, its regions named origin, a and b."""
    a_in_b, b_in_a = score.contained
    return shapes.ExplainDocument(
        **_pair(score),
        revisions=[revision.id for revision in revision_set.revisions],
        anchored=float(score.anchored),
        anywhere=float(score.anywhere),
        contained=shapes.Contained(a=float(a_in_b), b=float(b_in_a)),
        notes=[*score.notes, *(f"{name}: {note}" for name, note in revision_set.notes)],
        places=_places(score),
        elsewhere=[
            shapes.ElsewhereEntry(**match._asdict(), n_grams=match.n_grams)
            for match in score.elsewhere
        ],
        regions=[
            shapes.ExplainRegion(**_region(region), a=_segment(region.a), b=_segment(region.b))
            for region in score.regions
        ],
    )


def matrix_document(matrix: ScoreMatrix, revision_set: RevisionSet) -> shapes.MatrixDocument:
    """Return the similarities of all pairs, in the order of ``revisions``."""
    return shapes.MatrixDocument(
        signature=matrix.signature,
        revisions=list(matrix.ids),
        similarity=matrix.values.tolist(),
        anchored=matrix.anchored.tolist(),
        anywhere=matrix.anywhere.tolist(),
        contained=matrix.contained.tolist(),
        words=words_of(matrix),
        notes=_notes(matrix, revision_set),
        rejected=_rejected(revision_set),
    )


def rank_document(
    matrix: ScoreMatrix,
    ranking: Sequence[Ranked],
    intent: str,
    revision_set: RevisionSet,
) -> shapes.RankDocument:
    """Return the order of suggestions, with the facts behind it."""
    notes = revision_set.notes_by_id
    return shapes.RankDocument(
        signature=matrix.signature,
        intent=intent,
        disagree=disagree(ranking),
        ranking=[
            shapes.RankedEntry(
                id=ranked.id,
                rank=ranked.rank,
                makers=ranked.makers,
                mean_similarity=ranked.mean_similarity,
                why=list(ranked.why),
                edit_size=ranked.edit_size,
                no_op=ranked.no_op,
                stub=ranked.stub,
                broken=list(ranked.broken),
                syntax_errors=ranked.syntax_errors,
                notes=[*ranked.notes, *notes.get(ranked.id, ())],
            )
            for ranked in ranking
        ],
        rejected=_rejected(revision_set),
    )


def cluster_document(
    matrix: ScoreMatrix,
    clusters: Sequence[Cluster],
    revision_set: RevisionSet,
    reasons: Sequence[Sequence[shapes.ReasonEntry]],
    *,
    threshold: float,
    linkage: str,
) -> shapes.ClusterDocument:
    """Return the clusters, the largest first, and what sets each apart."""
    return shapes.ClusterDocument(
        signature=matrix.signature,
        threshold=threshold,
        linkage=linkage,
        clusters=[
            shapes.ClusterEntry(
                members=[matrix.ids[member] for member in cluster.members],
                representative=matrix.ids[cluster.representative],
                min_similarity=cluster.min_similarity,
                words=[matrix.word(member, cluster.representative) for member in cluster.members],
                reasons=list(of_group),
            )
            for cluster, of_group in zip(clusters, reasons, strict=True)
        ],
        notes=_notes(matrix, revision_set),
        rejected=_rejected(revision_set),
    )


def _pair(score: Score) -> dict[str, Any]:
    return {
        "signature": score.signature,
        **_numbers(score),
        "value": score.value,
        "exact": str(score.exact),
        "word": score.word,
    }


def _numbers(score: Score) -> dict[str, Any]:
    return {"score": score.value, "keep": score.keep, "add": score.add, "delete": score.delete}


def _places(score: Score) -> list[shapes.PlaceEntry]:
    """Return the places with the indices of their regions in the document."""
    members: dict[int, list[int]] = defaultdict(list)
    for index, region in enumerate(score.regions):
        members[region.place].append(index)
    return [
        shapes.PlaceEntry(regions=members[number], counts=_all_counts(place.counts))
        for number, place in enumerate(score.places)
    ]


def _notes(matrix: ScoreMatrix, revision_set: RevisionSet) -> dict[str, list[str]]:
    read = revision_set.notes_by_id
    return {
        name: all_notes
        for name, matrix_notes in zip(matrix.ids, matrix.notes, strict=True)
        if (all_notes := [*matrix_notes, *read.get(name, ())])
    }


def _rejected(revision_set: RevisionSet) -> list[shapes.RejectedEntry]:
    return [
        shapes.RejectedEntry(id=rejection.id, reason=rejection.reason)
        for rejection in revision_set.rejected
    ]


def _region(region: DivergentRegion) -> dict[str, Any]:
    return {
        "share": region.share,
        "place": region.place,
        "origin": _segment(region.origin),
        "counts": _all_counts(region.counts),
    }


def _segment(segment: Segment) -> shapes.SegmentEntry:
    return shapes.SegmentEntry(
        lines=list(segment.lines or ()),
        span=list(segment.span or ()),
        text=segment.text or "",
        tokens=[str(token) for token in segment.tokens],
    )


def _all_counts(counts: EditCounts) -> shapes.Counts:
    return shapes.Counts(
        keep=_counts(counts.keep), add=_counts(counts.add), delete=_counts(counts.delete)
    )


def _counts(counts: Sequence[Count]) -> list[list[int]]:
    return [[count.here, count.a, count.b] for count in counts]


def _laid_out(value: object) -> str:
    if isinstance(value, list) and value and isinstance(value[0], list | tuple | dict):
        entries = ",\n    ".join(_dumps(entry) for entry in value)
        return f"[\n    {entries}\n  ]"
    return _dumps(value)


def _dumps(value: object) -> str:
    # DEL is the one control character that JSON's own escaping leaves alone.
    return json.dumps(value, allow_nan=False).replace("\x7f", "\\u007f")
