"""What fills the JSON documents of ``compare`` and ``eval`` (docs/json.md)."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from excise import (
    Cluster,
    CorpusDifference,
    CorpusScore,
    EditCounts,
    Level,
    Ranked,
    Score,
    ScoreMatrix,
    Segment,
)
from excise.clustering import DISTANCE, LINKAGE
from excise_server.foundation.changes import Side
from excise_server.foundation.inputs import RevisionSet
from excise_server.report.words import disagree, words_of
from excise_server.review.candidate import Candidate
from excise_server.review.hunks import review_files
from excise_server.review.reasons import group_reasons
from excise_server.wire import documents as d

_MODE = "100644"


def record_line(record_id: str | float | None, score: Score, *, several: bool) -> d.RecordLine:
    """Return the line of one scored record, with the index of the reference if ``several``."""
    reference = score.reference if several else UNSET
    return d.RecordLine.of(score, id=record_id, score=score.value, reference=reference)


def summary_document(
    systems: Sequence[tuple[CorpusScore, int]], difference: CorpusDifference | None
) -> d.SummaryDocument:
    """Return the means of a file and of its baseline, each with its failures, and what differs."""
    return d.SummaryDocument(
        signature=systems[0][0].signature,
        system=_system(*systems[0]),
        baseline=UNSET if len(systems) < 2 else _system(*systems[1]),
        difference=UNSET if difference is None else d.DifferenceEntry.of(difference),
    )


def _system(corpus: CorpusScore, failed: int) -> d.SystemEntry:
    return d.SystemEntry.of(
        corpus,
        outputs=sum(corpus.counts) or len(corpus.values),
        tasks=len(set(corpus.tasks)),
        failed=failed,
    )


def directed_entry(score: Score) -> d.DirectedEntry:
    """Return a directed score, its regions named origin, reference and hypothesis."""
    regions = [
        d.ScoreRegion.of(region, reference=_segment(region.a), hypothesis=_segment(region.b),
                       origin=_segment(region.origin), counts=_counts(region.counts))
        for region in score.regions
    ]  # fmt: skip
    return d.DirectedEntry.of(
        score,
        score=score.value,
        exact=str(score.exact),
        renamed=renamed_of(score.level),
        regions=regions,
    )


def renamed_of(level: Level | None) -> list[list[str]]:
    """Return the names in which two revisions of a level differ."""
    return [] if level is None else [list(pair) for pair in level.renamed]


def explained_entry(score: Score) -> d.ExplainedEntry:
    """Return the similarity of two revisions, its regions named origin, a and b."""
    a_in_b, b_in_a = score.contained
    regions_at: dict[int, list[int]] = defaultdict(list)
    for index, region in enumerate(score.regions):
        regions_at[region.place].append(index)
    return d.ExplainedEntry.of(
        score,
        score=score.value,
        exact=str(score.exact),
        renamed=renamed_of(score.level),
        anchored=float(score.anchored),
        anywhere=float(score.anywhere),
        contained=d.Contained(a=float(a_in_b), b=float(b_in_a)),
        places=[
            d.PlaceEntry(regions=regions_at[number], counts=_counts(place.counts))
            for number, place in enumerate(score.places)
        ],
        elsewhere=list(map(d.ElsewhereEntry.of, score.elsewhere)),
        regions=[
            d.ExplainRegion.of(region, a=_segment(region.a), b=_segment(region.b),
                             origin=_segment(region.origin), counts=_counts(region.counts))
            for region in score.regions
        ],
    )  # fmt: skip


def _segment(segment: Segment) -> d.SegmentEntry:
    return d.SegmentEntry(
        lines=list(segment.lines or ()),
        span=list(segment.span or ()),
        text=segment.text or "",
        tokens=[str(token) for token in segment.tokens],
    )


def _counts(counts: EditCounts) -> d.Counts:
    return d.Counts(**{
        name: [[count.here, count.a, count.b] for count in getattr(counts, name)]
        for name in d.Counts.__struct_fields__
    })  # fmt: skip


def compare_document(
    matrix: ScoreMatrix,
    ranking: Sequence[Ranked],
    intent: str,
    revision_set: RevisionSet,
    *,
    clusters: d.ClustersEntry | UnsetType = UNSET,
    explained: d.ExplainedEntry | UnsetType = UNSET,
) -> d.CompareDocument:
    """Return the pairs in the order of ``revisions``, their order with the facts behind it."""
    notes = revision_set.notes_by_id
    return d.CompareDocument(
        signature=matrix.signature,
        revisions=list(matrix.ids),
        matrix=d.MatrixEntry(
            similarity=matrix.values.tolist(),
            anchored=matrix.anchored.tolist(),
            anywhere=matrix.anywhere.tolist(),
            contained=matrix.contained.tolist(),
            words=words_of(matrix.ids, matrix.word),
        ),
        intent=intent,
        disagree=disagree(ranking),
        ranking=[
            d.RankedEntry.of(ranked, notes=[*ranked.notes, *notes.get(ranked.id, ())])
            for ranked in ranking
        ],
        clusters=clusters,
        explained=explained,
        notes={
            name: every
            for name, own in zip(matrix.ids, matrix.notes, strict=True)
            if (every := [*own, *notes.get(name, ())])
        },
        rejected=list(map(d.RejectedEntry.of, revision_set.rejected)),
    )


def clusters_entry(
    matrix: ScoreMatrix,
    clusters: Sequence[Cluster],
    revision_set: RevisionSet,
) -> d.ClustersEntry:
    """Return the clusters, the largest first, and what sets each apart."""
    path = os.path.basename(revision_set.path or revision_set.name) or "text"
    old = {path: Side(_MODE, revision_set.origin.encode(errors="replace"))}
    revisions = [
        Candidate(name, "", "", "", old=old, new={path: Side(_MODE, text.encode(errors="replace"))})
        for name, text in zip(matrix.ids, (r.text for r in revision_set.revisions), strict=True)
    ]
    groups = [[matrix.ids[member] for member in cluster.members] for cluster in clusters]
    broken = {name: own.errors for name, own in zip(matrix.ids, matrix.facts, strict=True)}
    facts = {
        name: dict(zip((path,), by_path.values(), strict=False))
        for name, by_path in zip(matrix.ids, matrix.facts_by_path, strict=True)
    }
    reasons = group_reasons(revisions, groups, review_files(revisions), broken, facts)
    return d.ClustersEntry(
        threshold=DISTANCE,
        linkage=LINKAGE,
        groups=[
            d.ClusterEntry.of(
                group_entry(cluster, matrix.ids),
                words=[matrix.word(member, cluster.representative) for member in cluster.members],
                reasons=of_group,
            )
            for cluster, of_group in zip(clusters, reasons, strict=True)
        ],
    )


def group_entry(cluster: Cluster, ids: Sequence[str]) -> d.GroupEntry:
    """Return a group by the ids of its members."""
    return d.GroupEntry(
        members=[ids[member] for member in cluster.members],
        representative=ids[cluster.representative],
        min_similarity=cluster.min_similarity,
    )
