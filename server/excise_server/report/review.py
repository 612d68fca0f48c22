"""A review by file and hunk as one document, which programs get and every view is made of."""

from __future__ import annotations

import hashlib

from excise_server.report.candidate_rows import CandidateRow, candidate_rows
from excise_server.report.review_shapes import (
    FileChangeEntry,
    ReviewBatchEntry,
    ReviewCandidateEntry,
    ReviewDocument,
    ReviewFileEntry,
    ReviewGroupEntry,
    ReviewHunkEntry,
    ReviewVariantEntry,
)
from excise_server.report.shapes import RejectedEntry
from excise_server.review.digest import review_digest
from excise_server.review.hunks import FileChange, ReviewedFile, ReviewHunk, review_files
from excise_server.review.kinds import kind_of
from excise_server.review.ranked import RankedBatch
from excise_server.sources.paths import visible
from excise_server.worktrees import Worktrees

__all__ = ["review_document"]


def review_document(found: Worktrees) -> ReviewDocument:
    """Return every batch file by file and hunk by hunk, and who is left out."""
    candidates = found.candidates
    return ReviewDocument(
        signature=found.signature,
        basis="origin",
        repository=visible(found.top),
        origin=candidates.origin,
        digest=review_digest(candidates.origin, candidates.found),
        batches=[
            _batch(found, number, batch, rows)
            for number, (batch, rows) in enumerate(candidate_rows(found), start=1)
        ],
        other_batches=[list(batch.members) for batch in found.other_batches],
        unchanged=list(candidates.unchanged),
        landed=list(candidates.landed),
        notes=list(candidates.notes),
        rejected=[RejectedEntry(id=r.id, reason=r.reason) for r in candidates.rejected],
    )


def _batch(
    found: Worktrees, number: int, ranked: RankedBatch, rows: list[CandidateRow]
) -> ReviewBatchEntry:
    members = [row.candidate for row in rows]
    ids = [candidate.id for candidate in found.candidates.found]
    group_of = {row.ranked.index: row.group for row in rows}
    return ReviewBatchEntry(
        number=number,
        task=visible(ranked.batch.task) or None,
        digest=review_digest(found.candidates.origin, members),
        candidates=[_candidate(row) for row in rows],
        groups=[
            ReviewGroupEntry(
                number=group_of[cluster.representative],
                members=[ids[i] for i in cluster.members],
                representative=ids[cluster.representative],
                min_similarity=cluster.min_similarity,
            )
            for cluster in ranked.clusters
        ],
        files=[_file(file) for file in review_files(members)],
    )


def _candidate(row: CandidateRow) -> ReviewCandidateEntry:
    candidate, ranked = row.candidate, row.ranked
    return ReviewCandidateEntry(
        id=candidate.id,
        label=visible(candidate.label),
        tool=candidate.tool or None,
        branch=visible(candidate.branch) or None,
        behind=candidate.behind,
        group=row.group,
        rank=ranked.rank if row.is_ranked else None,
        score=ranked.score,
        says=row.says,
        digest=candidate.digest,
        being_written=candidate.is_written,
        notes=list(ranked.notes),
    )


def _file(file: ReviewedFile) -> ReviewFileEntry:
    path = visible(file.path)
    return ReviewFileEntry(
        path=path,
        kind=kind_of(path),
        created=file.origin is None,
        binary=file.text is None,
        mode=file.origin.mode if file.origin is not None else None,
        changes=[_change(change) for change in file.changes],
        hunks=[_hunk(hunk) for hunk in file.hunks],
    )


def _change(change: FileChange) -> FileChangeEntry:
    side = change.new
    is_binary = side is not None and change.text is None
    return FileChangeEntry(
        id=change.id,
        status=change.status,
        path=visible(change.path) if side is not None else None,
        mode=side.mode if side is not None else None,
        binary=hashlib.sha256(side.data).hexdigest() if side is not None and is_binary else None,
        facts=[visible(fact) for fact in change.facts],
        conflict=change.conflict or None,
    )


def _hunk(hunk: ReviewHunk) -> ReviewHunkEntry:
    return ReviewHunkEntry(
        name=hunk.name,
        lo=hunk.lo,
        hi=hunk.hi,
        origin=hunk.text,
        variants=[ReviewVariantEntry(ids=list(v.ids), text=v.text) for v in hunk.variants],
        unchanged=list(hunk.unchanged),
    )
