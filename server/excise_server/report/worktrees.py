"""Compared candidates: their JSON document (docs/json.md), and the rows and facts people read.

The command prints the document, and the language server answers `excise/worktrees` with it. Tables
and pages read the same entries, with the words that only people need beside them. A new column is a
field of `CandidateEntry`, a line where `_row` fills it, and a line in each view that shows it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from excise import Cluster, Ranked
from excise.agreement import CONTAINS, DIFFERENT, ELSEWHERE, NEARLY_ALL, OVERLAPS, SAME
from excise.excision import WHITESPACE_ONLY
from excise_server.foundation.escape import printable, spelled, visible
from excise_server.foundation.inputs import first_few
from excise_server.report.documents import (
    ClusterEntry,
    Document,
    RejectedEntry,
    Shape,
    Values,
    group_entry,
)
from excise_server.report.reasons import reason_entries, reasons_text
from excise_server.report.words import DISAGREE, disagree, order_words, plural, words_of
from excise_server.review.kinds import KINDS, kind_of

if TYPE_CHECKING:  # a server that shows lines of a review needs none of these
    from excise.patches import FilePair
    from excise_server.candidates.worktrees import Review
    from excise_server.review.ranked import RankedBatch
    from excise_server.sources.candidates import Candidate

__all__ = ["STAND", "CandidateRow", "CandidatesDocument", "LinesEntry", "SetAsideEntry"]
__all__ += ["WorktreesDocument", "candidate_rows", "candidates_document", "file_status"]
__all__ += ["group_lines", "rejected_names", "worktree_facts", "worktrees_document"]

STAND = "●"
"""The mark of a group's representative, in a table."""

_CHECKS_FIRST = (
    "candidates that pass, then those without a verdict, then those that fail; among each, "
)
_ATTACHED = "shares no code with its batch, but started from one commit with it, minutes apart"
_PHRASES = {
    SAME: "same as {}",
    ELSEWHERE: "same text as {}, elsewhere",
    OVERLAPS: "overlaps {}",
    DIFFERENT: "different from {}, though near it",
}


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


class SetAsideEntry(Shape, frozen=True, kw_only=True):
    """A candidate that is left out of every score, group and order."""

    id: str
    label: str
    state: str
    digest: str


class CandidatesDocument(WorktreesDocument, frozen=True, kw_only=True):
    """The answer of `excise/candidates`: the command's document for candidates not set aside."""

    set_aside: list[SetAsideEntry]
    bases: dict[str, str]
    given: list[str]


# --- the document --------------------------------------------------------------------------------


def worktrees_document(worktrees: Review) -> WorktreesDocument:
    """Return every batch's ranking and groups, all scores and words, and rejected candidates."""
    candidates = worktrees.candidates
    ids = [candidate.id for candidate in candidates.found]
    about_all = [*candidates.notes, *worktrees.verdicts.notes]
    entries = {row.ranked.index: row.entry for rows in candidate_rows(worktrees) for row in rows}
    return WorktreesDocument.of(
        worktrees,
        candidates,
        basis="origin",
        repository=visible(worktrees.top),
        base=candidates.origin,
        candidates=ids,
        labels=[visible(candidate.label) for candidate in candidates.found],
        similarity=[[float(value) for value in row] for row in worktrees.values],
        words=words_of(worktrees.matrix),
        batches=[
            BatchEntry.of(
                ranked.batch,
                number=number,
                task=visible(ranked.batch.task) or None,
                ranked=ranked.is_ranked,
                shared=[spelled(path) for path in ranked.batch.shared],
                disagree=disagree(ranked.ranking),
            )
            for number, ranked in enumerate(worktrees.batches, start=1)
        ],
        ranking=[entries[ranked.index] for ranked in worktrees.ranking],
        clusters=[
            CandidateCluster.of(
                group_entry(cluster, ids),
                batch=number,
                passed=counts["passed"],
                failed=counts["failed"],
                undecided=counts["undecided"],
                words=[worktrees.matrix.word(i, cluster.representative) for i in cluster.members],
                reasons=reason_entries(reasons),
            )
            for number, batch in enumerate(worktrees.batches, start=1)
            for cluster, reasons in zip(batch.clusters, worktrees.reasons[number - 1], strict=True)
            for counts in (worktrees.verdicts.counts(ids[i] for i in cluster.members),)
        ],
        other_batches=[list(batch.members) for batch in worktrees.other_batches],
        unknown_verdicts=list(worktrees.verdicts.unknown),
        notes={
            **({"": about_all} if about_all else {}),
            **{ranked.id: list(ranked.notes) for ranked in worktrees.ranking if ranked.notes},
        },
        rejected=list(map(RejectedEntry.of, candidates.rejected)),
    )


def candidates_document(
    worktrees: Review,
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
    return CandidatesDocument.of(
        document,
        set_aside=[SetAsideEntry.of(c, label=visible(c.label), state=states[c.id]) for c in aside],
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


# --- the rows ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """One candidate as people read it: its entry in the document, and what only they need.

    ``stands`` marks the representative of a group of several. ``relation`` is how it relates to
    ``other``, the label of a candidate. ``checks`` is what its checks found, in words, and
    ``level`` the first key of the order: a candidate that fails is never above one that passes,
    whatever the order of their groups.
    """

    candidate: Candidate
    ranked: Ranked
    entry: CandidateEntry
    stands: bool
    relation: str
    other: str
    checks: str
    level: int

    @property
    def behind(self) -> str:
        """How many commits its base is behind the target, in words, or "" if none."""
        return f"behind {self.entry.behind:,}" if self.entry.behind else ""

    def says(self, shown: Callable[[str], str] = str) -> str:
        """Return why it has its place and how it relates to the others, with labels as shown."""
        relation = self.relation
        if self.other:
            relation = relation.replace("{}", shown(self.other))
        conflict = "in conflict with the target" if self.entry.conflicts else ""
        return "; ".join(filter(None, [*self.ranked.why, relation, conflict]))


def candidate_rows(worktrees: Review) -> list[list[CandidateRow]]:
    """Return the rows of every batch: by verdict, group by group, and by rank within a group."""
    group, result = 0, []
    for number, batch in enumerate(worktrees.batches, start=1):
        rows = []
        for cluster in batch.clusters:
            group += 1
            members = (ranked for ranked in batch.ranking if ranked.index in cluster.members)
            rows += [_row(worktrees, batch, cluster, ranked, number, group) for ranked in members]
        result.append(sorted(rows, key=lambda row: row.level))
    return result


def _row(
    worktrees: Review,
    batch: RankedBatch,
    cluster: Cluster,
    ranked: Ranked,
    number: int,
    group: int,
) -> CandidateRow:
    candidate = worktrees.candidates.found[ranked.index]
    best = cluster.representative
    relation, other = "", ""
    if ranked.no_op:
        pass
    elif not batch.is_ranked:  # only this candidate changes these files
        paths = sorted(worktrees.patches[ranked.index].paths, key=lambda p: KINDS.index(kind_of(p)))
        relation = f"changes {first_few([visible(path) for path in paths], 2)}" if paths else ""
    elif ranked.index == best:
        others = [other.index for other in batch.ranking if other.index not in cluster.members]
        nearest = max(others, key=lambda i: (worktrees.values[best, i], -i), default=best)
        if worktrees.matrix.word(best, nearest) not in (DIFFERENT, SAME):
            relation = _beside(worktrees, best, nearest)
            other = visible(worktrees.candidates.found[nearest].label)
    elif worktrees.candidates.found[best].id in candidate.identical:
        relation = f"identical to {STAND}"
    else:
        relation = _beside(worktrees, ranked.index, best).replace("{}", STAND)
    files = [
        FileEntry.of(
            pair,
            path=spelled(pair.path),
            kind=kind_of(visible(pair.path)),
            status=file_status(pair),
            facts=[visible(fact) for fact in pair.facts],
            old_path=spelled(pair.old or "") if pair.moved == "rename" else msgspec.UNSET,
        )
        for pair in worktrees.patches[ranked.index].files
    ]
    entry = CandidateEntry.of(
        ranked,
        candidate,
        label=visible(candidate.label),
        tool=candidate.tool or None,
        batch=number,
        rank=ranked.rank if batch.is_ranked else None,
        why=[visible(why) for why in ranked.why],
        verdict=worktrees.verdicts.outcome(candidate.id),
        checks=list(map(CheckEntry.of, worktrees.verdicts.checks.get(candidate.id, ()))),
        broken=[visible(why) for why in ranked.broken],
        cluster=group,
        representative=ranked.index == best,
        similarity=float(worktrees.values[ranked.index, best]),
        word=worktrees.matrix.word(ranked.index, best),
        folder=visible(candidate.folder) or None,
        branch=visible(candidate.branch) or None,
        commit=candidate.commit or None,
        base=candidate.base or None,
        being_written=candidate.is_written,
        conflicts=[
            ConflictEntry(path=spelled(path), reason=reason)
            for path, reason in candidate.conflicts.items()
        ],
        lines={
            kind: LinesEntry(
                files=len(of_kind),
                added=sum(file.added for file in of_kind),
                deleted=sum(file.deleted for file in of_kind),
            )
            for kind in KINDS
            for of_kind in ([file for file in files if file.kind == kind],)
        },
        files=files,
    )
    return CandidateRow(
        candidate=candidate,
        ranked=ranked,
        entry=entry,
        stands=ranked.index == best and len(cluster.members) > 1,
        relation=relation,
        other=other,
        checks=worktrees.verdicts.words(candidate.id),
        level=worktrees.verdicts.level(candidate.id),
    )


def _beside(worktrees: Review, i: int, nearest: int) -> str:
    """Say how a candidate relates to another one, whose name is to be put in."""
    word = worktrees.matrix.word(i, nearest)
    if word != SAME and worktrees.matrix.codes[i] == worktrees.matrix.codes[nearest]:
        return "same code as {}, other comments"
    if word != CONTAINS:
        return _PHRASES[word]
    shares = worktrees.matrix.contained[i, nearest], worktrees.matrix.contained[nearest, i]
    in_other, has_other = (share >= float(NEARLY_ALL) for share in shares)
    if in_other and has_other:
        return "contains {} and is contained in it"
    return "contained in {}" if in_other else "contains {}"


# --- the facts beside the tables -----------------------------------------------------------------


def group_lines(worktrees: Review) -> Iterator[tuple[int, int, int, str]]:
    """Yield the index of the batch, number, size and line of facts of each group that has any."""
    labels = {c.id: visible(c.label) for c in worktrees.candidates.found}
    ids, number = list(labels), 0
    for index, batch in enumerate(worktrees.batches):
        for cluster, reasons in zip(batch.clusters, worktrees.reasons[index], strict=True):
            number += 1
            members = [ids[i] for i in cluster.members]
            if text := reasons_text(reason_entries(reasons), members, labels):
                yield index, number, len(members), text


def worktree_facts(worktrees: Review) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines below the tables: their headings, and a sentence or names."""
    candidates = worktrees.candidates
    every = {c.id: printable(visible(c.label)) for c in candidates.found}
    for candidate in candidates.found:
        for path, reason in candidate.conflicts.items():
            yield "conflict", [f"{every[candidate.id]}: {printable(visible(path))}: {reason}"]
    for note in _notes(worktrees, every):
        yield "note", [note]
    if dirty := [f"{every[c.id]} ({c.uncommitted:,})" for c in candidates.found if c.uncommitted]:
        yield "uncommitted files", dirty
    if written := [every[c.id] for c in candidates.found if c.is_written]:
        yield "still being written", written
    for head, ids in (("landed already", candidates.landed), ("unchanged", candidates.unchanged)):
        if ids:
            yield head, [printable(identity.partition(":")[2] or identity) for identity in ids]
    if unknown := [printable(name) for name in worktrees.verdicts.unknown]:
        yield "verdicts on unknown candidates", [first_few(unknown, 10)]
    if worktrees.other_batches:
        count = sum(len(batch.members) for batch in worktrees.other_batches)
        several = "es" if len(worktrees.other_batches) > 1 else ""
        where = f"{len(worktrees.other_batches):,} other batch{several} (--batch all)"
        yield "not shown", [f"{plural(count, 'candidate')} of {where}"]
    how = f"{candidates.origin[:12]}, {worktrees.linkage} linkage, distance {worktrees.threshold:g}"
    yield "replayed onto", [how]
    ranked = [(n, batch) for n, batch in enumerate(worktrees.batches, start=1) if batch.is_ranked]
    if not ranked:
        return
    first = _CHECKS_FIRST if worktrees.verdicts else ""
    yield "order", [f"{first}{order_words(worktrees.intent)}; groups by their best candidate"]
    if worktrees.verdicts:
        return
    if apart := [str(n) for n, batch in ranked if disagree(batch.ranking)]:
        several = "es" if len(apart) > 1 else ""
        head, _, says = DISAGREE.partition(": ")
        of = f"in batch{several} {', '.join(apart)}, " if len(worktrees.batches) > 1 else ""
        yield head, [f"{of}{says}"]


def _notes(worktrees: Review, labels: dict[str, str]) -> Iterator[str]:
    """Yield each note once, after its candidates, unless another line already says it."""
    about: dict[str, list[str]] = defaultdict(list)
    for batch in worktrees.batches:
        for ranked in batch.ranking:
            candidate = worktrees.candidates.found[ranked.index]
            stated = {f"{visible(path)}: {why}" for path, why in candidate.conflicts.items()}
            for note in ranked.notes:
                if note not in stated and note != WHITESPACE_ONLY:
                    about[note].append(labels[candidate.id])
        for identity in batch.batch.attached:
            about[_ATTACHED].append(labels[identity])
    for note, names in about.items():
        yield f"{', '.join(names)}: {printable(note)}"
    yield from map(printable, (*worktrees.candidates.notes, *worktrees.verdicts.notes))


def rejected_names(worktrees: Review) -> list[str]:
    """Return the names of those that were left out: the last part of a path, if it is unique.

    Only ids that contain a path are longer than a name.
    """
    ids = [rejected.id for rejected in worktrees.candidates.rejected]
    ends = [identity.rpartition("/")[2] for identity in ids]
    return [
        end if ":/" in identity and end and ends.count(end) == 1 else identity
        for identity, end in zip(ids, ends, strict=True)
    ]
