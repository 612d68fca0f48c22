"""JSON documents for programs; docs/json.md describes every key.

Plain ASCII: whatever a terminal would obey is a JSON escape.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from excise import (
    Cluster,
    Count,
    DivergentRegion,
    EditCounts,
    Ranked,
    Score,
    ScoreMatrix,
    Segment,
)
from excise_server.report.words import words_of
from excise_server.sources import RevisionSet

__all__ = [
    "SCHEMA",
    "cluster_document",
    "explain_document",
    "json_line",
    "json_text",
    "matrix_document",
    "rank_document",
    "record_line",
    "score_document",
]

SCHEMA = 1
"""Version of the documents' shape; keys are only ever added under the same version."""

Document = dict[str, Any]


def json_text(document: Mapping[str, Any]) -> str:
    """Return a document as ASCII: a key a line, and a line for each entry of a list of lists."""
    body = ",\n".join(f"  {_dumps(key)}: {_laid_out(document[key])}" for key in document)
    return f"{{\n{body}\n}}"


def json_line(record: Mapping[str, Any]) -> str:
    """Return a record of JSONL as ASCII."""
    return _dumps(record)


def record_line(record_id: object, score: Score, *, several: bool) -> Document:
    """Return the line of one scored record; ``several`` references: which one gave the score."""
    line = {"id": record_id, **_numbers(score), "notes": list(score.notes)}
    if several:
        line["reference"] = score.reference
    return {**line, "signature": score.signature}


def score_document(score: Score) -> Document:
    """Return a directed score, its regions named origin, reference and hypothesis."""
    return {
        "schema": SCHEMA,
        "signature": score.signature,
        "value": score.value,
        **_numbers(score),
        "exact": str(score.exact),
        "word": score.word,
        "reference": score.reference,
        "notes": list(score.notes),
        "regions": [_region(region, "reference", "hypothesis") for region in score.regions],
    }


def explain_document(score: Score, found: RevisionSet) -> Document:
    """Return the similarity of two revisions, its regions named origin, a and b."""
    return {
        "schema": SCHEMA,
        "signature": score.signature,
        "revisions": [revision.id for revision in found.revisions],
        "value": score.value,
        **_numbers(score),
        "exact": str(score.exact),
        **_shares(score),
        "notes": [*score.notes, *(f"{name}: {note}" for name, note in found.notes)],
        "places": _places(score),
        "elsewhere": [{**match._asdict(), "n_grams": match.n_grams} for match in score.elsewhere],
        "regions": [_region(region, "a", "b") for region in score.regions],
    }


def matrix_document(matrix: ScoreMatrix, found: RevisionSet) -> Document:
    """Return the similarities of all pairs, in the order of ``revisions``."""
    return {
        "schema": SCHEMA,
        "signature": matrix.signature,
        "revisions": list(matrix.ids),
        "similarity": matrix.values.tolist(),
        "anchored": matrix.anchored.tolist(),
        "anywhere": matrix.anywhere.tolist(),
        "contained": matrix.contained.tolist(),
        "words": words_of(matrix),
        **_about(matrix, found),
    }


def rank_document(matrix: ScoreMatrix, ranking: Sequence[Ranked], found: RevisionSet) -> Document:
    """Return the order of suggestions, with its reasons as numbers."""
    notes = found.notes_by_id
    return {
        "schema": SCHEMA,
        "signature": matrix.signature,
        "ranking": [
            {
                "id": ranked.id,
                "rank": ranked.rank,
                "agreement": ranked.agreement,
                "edit_size": ranked.edit_size,
                "no_op": ranked.no_op,
                "score": ranked.score,
                "syntax_errors": ranked.syntax_errors,
                "notes": [*ranked.notes, *notes.get(ranked.id, ())],
            }
            for ranked in ranking
        ],
        "rejected": _rejected(found),
    }


def cluster_document(
    matrix: ScoreMatrix,
    clusters: Sequence[Cluster],
    found: RevisionSet,
    *,
    threshold: float,
    linkage: str,
) -> Document:
    """Return the clusters, the largest first."""
    return {
        "schema": SCHEMA,
        "signature": matrix.signature,
        "threshold": threshold,
        "linkage": linkage,
        "clusters": [
            {
                "members": [matrix.ids[at] for at in cluster.members],
                "representative": matrix.ids[cluster.representative],
                "min_similarity": cluster.min_similarity,
                "words": [matrix.word(at, cluster.representative) for at in cluster.members],
            }
            for cluster in clusters
        ],
        **_about(matrix, found),
    }


def _numbers(score: Score) -> Document:
    return {"score": score.value, "keep": score.keep, "add": score.add, "delete": score.delete}


def _shares(score: Score) -> Document:
    a_in_b, b_in_a = score.contained
    return {
        "anchored": float(score.anchored),
        "anywhere": float(score.anywhere),
        "contained": {"a": float(a_in_b), "b": float(b_in_a)},
        "word": score.word,
    }


def _places(score: Score) -> list[Document]:
    """Return the places with the indices of their regions in the document."""
    members: dict[int, list[int]] = defaultdict(list)
    for index, region in enumerate(score.regions):
        members[region.place].append(index)
    return [
        {"regions": members[number], "counts": _all_counts(place.counts)}
        for number, place in enumerate(score.places)
    ]


def _about(matrix: ScoreMatrix, found: RevisionSet) -> Document:
    read = found.notes_by_id
    notes = {
        name: all_notes
        for name, own in zip(matrix.ids, matrix.notes, strict=True)
        if (all_notes := [*own, *read.get(name, ())])
    }
    return {"notes": notes, "rejected": _rejected(found)}


def _rejected(found: RevisionSet) -> list[Document]:
    return [{"id": rejected.id, "reason": rejected.reason} for rejected in found.rejected]


def _region(region: DivergentRegion, a: str, b: str) -> Document:
    return {
        "share": region.share,
        "place": region.place,
        "origin": _segment(region.origin),
        a: _segment(region.a),
        b: _segment(region.b),
        "counts": _all_counts(region.counts),
    }


def _segment(segment: Segment) -> Document:
    return {
        "lines": list(segment.lines or ()),
        "span": list(segment.span or ()),
        "text": segment.text,
        "tokens": list(segment.tokens),
    }


def _all_counts(counts: EditCounts) -> Document:
    names = ("keep", "add", "delete")
    return {name: _counts(getattr(counts, name)) for name in names}


def _counts(counts: Sequence[Count]) -> list[list[int]]:
    return [[count.here, count.a, count.b] for count in counts]


def _laid_out(value: object) -> str:
    if isinstance(value, list) and value and isinstance(value[0], list | dict):
        entries = ",\n    ".join(_dumps(entry) for entry in value)
        return f"[\n    {entries}\n  ]"
    return _dumps(value)


def _dumps(value: object) -> str:
    # DEL is the one control character that JSON's own escaping leaves alone.
    return json.dumps(value, allow_nan=False).replace("\x7f", "\\u007f")
