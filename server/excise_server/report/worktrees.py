"""Worktrees and branches for programs: one document, for the command and the language server."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from excise.patches import FilePair
from excise_server.candidates.worktrees import Worktrees
from excise_server.foundation.escape import spelled, visible
from excise_server.report.candidate_rows import CandidateRow, candidate_rows
from excise_server.report.candidate_shapes import CandidatesDocument, SetAsideEntry
from excise_server.report.group_words import reason_entries
from excise_server.report.order_words import disagree
from excise_server.report.shapes import RejectedEntry
from excise_server.report.worktree_shapes import (
    BatchEntry,
    CandidateCluster,
    CandidateEntry,
    CheckEntry,
    ConflictEntry,
    FileEntry,
    LinesEntry,
    WorktreesDocument,
)
from excise_server.review.candidate import Candidate
from excise_server.review.kinds import kind_of
from excise_server.review.ranked import RankedBatch

__all__ = ["candidates_document", "file_status", "worktrees_document"]


def worktrees_document(worktrees: Worktrees) -> WorktreesDocument:
    """Return every batch's ranking and groups, all scores and words, and rejected candidates."""
    candidates = worktrees.candidates
    ids = [candidate.id for candidate in candidates.found]
    by_batch = candidate_rows(worktrees)
    about_all = [*candidates.notes, *worktrees.verdicts.notes]
    rows = {row.ranked.index: row for _, of_batch in by_batch for row in of_batch}
    return WorktreesDocument(
        signature=worktrees.signature,
        basis="origin",
        intent=worktrees.intent,
        threshold=worktrees.threshold,
        linkage=worktrees.linkage,
        repository=visible(worktrees.top),
        base=candidates.origin,
        origin=candidates.origin,
        candidates=ids,
        labels=[visible(candidate.label) for candidate in candidates.found],
        similarity=[[float(value) for value in row] for row in worktrees.values],
        words=[list(row) for row in worktrees.words],
        batches=[
            _batch(worktrees, number, batch)
            for number, batch in enumerate(worktrees.batches, start=1)
        ],
        ranking=[_entry(worktrees, rows[ranked.index]) for ranked in worktrees.ranking],
        clusters=[
            CandidateCluster(
                batch=number,
                passed=counts["passed"],
                failed=counts["failed"],
                undecided=counts["undecided"],
                members=[ids[i] for i in cluster.members],
                representative=ids[cluster.representative],
                min_similarity=cluster.min_similarity,
                words=[worktrees.matrix.word(i, cluster.representative) for i in cluster.members],
                reasons=reason_entries(reasons),
            )
            for number, batch in enumerate(worktrees.batches, start=1)
            for cluster, reasons in zip(batch.clusters, worktrees.reasons[number - 1], strict=True)
            for counts in (worktrees.verdicts.counts(ids[i] for i in cluster.members),)
        ],
        other_batches=[list(batch.members) for batch in worktrees.other_batches],
        unchanged=list(candidates.unchanged),
        landed=list(candidates.landed),
        unknown_verdicts=list(worktrees.verdicts.unknown),
        notes={
            **({"": about_all} if about_all else {}),
            **{ranked.id: list(ranked.notes) for ranked in worktrees.ranking if ranked.notes},
        },
        rejected=[RejectedEntry(id=r.id, reason=r.reason) for r in candidates.rejected],
    )


def candidates_document(
    worktrees: Worktrees,
    aside: Sequence[Candidate],
    states: Mapping[str, str],
    *,
    bases: Mapping[str, str],
    given: Collection[str],
) -> CandidatesDocument:
    """Return the document of `worktrees_document`, with the decisions about candidates.

    Parameters
    ----------
    aside, states
        Those that were found and left out, and by id why: ``hidden`` or ``rejected``.
    bases
        By id the commits that were set by hand.
    given
        The ids of those that came from a client.
    """
    document = worktrees_document(worktrees)
    fields = {name: getattr(document, name) for name in document.__struct_fields__}
    return CandidatesDocument(
        **fields,
        set_aside=[
            SetAsideEntry(id=c.id, label=visible(c.label), state=states[c.id], digest=c.digest)
            for c in aside
        ],
        bases=dict(bases),
        given=[name for name in document.candidates if name in given],
    )


def file_status(pair: FilePair) -> str:
    """Return what happened to a file in one word."""
    if pair.moved:
        return "renamed"
    if pair.old is None:
        return "created"
    return "deleted" if pair.new is None else "modified"


def _batch(worktrees: Worktrees, number: int, ranked: RankedBatch) -> BatchEntry:
    return BatchEntry(
        number=number,
        task=visible(ranked.batch.task) or None,
        members=list(ranked.batch.members),
        ranked=ranked.is_ranked,
        shared=[spelled(path) for path in ranked.batch.shared],
        attached=list(ranked.batch.attached),
        disagree=disagree(ranked.ranking),
    )


def _entry(worktrees: Worktrees, row: CandidateRow) -> CandidateEntry:
    ranked, candidate = row.ranked, row.candidate
    cluster = worktrees.clusters[row.group - 1]
    return CandidateEntry(
        id=ranked.id,
        label=visible(candidate.label),
        tool=candidate.tool or None,
        batch=row.batch,
        rank=ranked.rank if row.is_ranked else None,
        makers=ranked.makers,
        mean_similarity=ranked.mean_similarity,
        why=[visible(why) for why in ranked.why],
        edit_size=ranked.edit_size,
        verdict=worktrees.verdicts.outcome(candidate.id),
        checks=[
            CheckEntry(check=v.check, passed=v.passed, seconds=v.seconds, reason=v.reason)
            for v in worktrees.verdicts.checks.get(candidate.id, ())
        ],
        no_op=ranked.no_op,
        stub=ranked.stub,
        broken=[visible(why) for why in ranked.broken],
        syntax_errors=ranked.syntax_errors,
        cluster=row.group,
        representative=ranked.index == cluster.representative,
        similarity=float(worktrees.values[ranked.index, cluster.representative]),
        word=worktrees.matrix.word(ranked.index, cluster.representative),
        names=list(candidate.names),
        kind=candidate.kind,
        folder=visible(candidate.folder) or None,
        branch=visible(candidate.branch) or None,
        commit=candidate.commit or None,
        base=candidate.base or None,
        behind=candidate.behind,
        made=candidate.made,
        digest=candidate.digest,
        identical=list(candidate.identical),
        being_written=candidate.is_written,
        conflicts=[
            ConflictEntry(path=spelled(path), reason=reason)
            for path, reason in candidate.conflicts.items()
        ],
        uncommitted=candidate.uncommitted,
        lines={
            kind: LinesEntry(files=lines.files, added=lines.added, deleted=lines.deleted)
            for kind, lines in row.lines.items()
        },
        files=[_file(pair) for pair in worktrees.patches[ranked.index].files],
        notes=list(ranked.notes),
    )


def _file(pair: FilePair) -> FileEntry:
    return FileEntry(
        path=spelled(pair.path),
        kind=kind_of(visible(pair.path)),
        status=file_status(pair),
        added=pair.added,
        deleted=pair.deleted,
        facts=[visible(fact) for fact in pair.facts],
        old_path=spelled(pair.old or "") if pair.moved == "rename" else msgspec.UNSET,
    )
