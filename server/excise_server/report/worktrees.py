"""Compared candidates: their JSON document (docs/json.md), and the rows and facts people read.

The command prints the document, and the language server answers `excise/worktrees` with it. Tables
and pages read the same entries, with the words that only people need beside them. A new column is a
field of `CandidateEntry`, a line where `_row` fills it, and a line in each view that shows it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from excise import Cluster, Ranked
from excise.agreement import DIFFERENT, SAME
from excise.excision import WHITESPACE_ONLY
from excise_server.foundation.escape import printable, spelled, visible
from excise_server.foundation.inputs import first_few
from excise_server.report.documents import group_entry, renamed_of
from excise_server.report.families import FamilyBlock, family_blocks, family_entries
from excise_server.report.reasons import reason_entries, reasons_text
from excise_server.report.words import (
    BESIDE,
    DISAGREE,
    THERE,
    disagree,
    level_words,
    order_words,
    other_facets,
    plural,
    relation_lines,
    words_of,
)
from excise_server.review.kinds import KINDS
from excise_server.wire import documents as d

if TYPE_CHECKING:  # a server that shows lines of a review needs none of these
    from excise.patches import FilePair
    from excise_server.candidates.worktrees import Review
    from excise_server.review.candidate import Candidate
    from excise_server.review.ranked import RankedBatch
    from excise_server.review.relations import CandidateRelation

STAND = "●"
"""The mark of a group's representative, in a table."""

_CHECKS_FIRST = (
    "candidates that pass, then those without a verdict, then those that fail; among each, "
)
_EVIDENCE_NEXT = (
    "those without effect beside others, that still raise or do not import come last; among each, "
)
_BY_ISSUE = "belongs to its task by {}, which its messages name, and by nothing else"


# --- the document --------------------------------------------------------------------------------


def worktrees_document(worktrees: Review) -> d.WorktreesDocument:
    """Return every batch's ranking and groups, all scores and words, and rejected candidates."""
    candidates = worktrees.candidates
    ids = [candidate.id for candidate in candidates.found]
    about_all = [*candidates.notes, *worktrees.verdicts.notes]
    entries = {row.ranked.index: row.entry for rows in candidate_rows(worktrees) for row in rows}
    return d.WorktreesDocument.of(
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
            d.BatchEntry.of(
                ranked.batch,
                number=number,
                task=visible(ranked.batch.task) or None,
                ranked=ranked.is_ranked,
                shared=[spelled(path) for path in ranked.batch.shared],
                by_issue={name: visible(issue) for name, issue in ranked.batch.named.items()},
                disagree=disagree(ranked.ranking),
                families=family_entries(worktrees.families[number - 1], ids),
            )
            for number, ranked in enumerate(worktrees.batches, start=1)
        ],
        ranking=[entries[ranked.index] for ranked in worktrees.ranking],
        clusters=[
            d.CandidateCluster.of(
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
        relations=relation_entries(worktrees.relations),
        other_batches=[list(batch.members) for batch in worktrees.other_batches],
        unknown_verdicts=list(worktrees.verdicts.unknown),
        notes={
            **({"": about_all} if about_all else {}),
            **{ranked.id: list(ranked.notes) for ranked in worktrees.ranking if ranked.notes},
        },
        rejected=list(map(d.RejectedEntry.of, candidates.rejected)),
    )


def candidates_document(
    worktrees: Review,
    aside: Sequence[Candidate],
    states: Mapping[str, str],
    *,
    bases: Mapping[str, str],
    given: Collection[str],
) -> d.CandidatesDocument:
    """Return the document of `worktrees_document`, with the decisions about candidates.

    - ``aside``, ``states``: those that were found and left out, and by id why: ``hidden`` or
      ``rejected``.
    - ``bases``: by id the commits that were set by hand.
    - ``given``: the ids of those that came from a client.
    """
    document = worktrees_document(worktrees)
    return d.CandidatesDocument.of(
        document,
        set_aside=[
            d.SetAsideEntry.of(c, label=visible(c.label), state=states[c.id]) for c in aside
        ],
        bases=dict(bases),
        given=[name for name in document.candidates if name in given],
    )


def relation_entries(relations: Iterable[CandidateRelation]) -> list[d.RelationEntry]:
    """Return the relations of candidates as documents have them."""
    return [
        d.RelationEntry(
            first=relation.first,
            second=relation.second,
            word=relation.word,
            evidence=[
                d.EvidenceEntry(
                    word=each.word,
                    message=visible(each.message),
                    path=spelled(each.path) if each.path else None,
                    line=each.line or None,
                    by=each.by or None,
                )
                for each in relation.reasons
            ],
        )
        for relation in relations
    ]


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
    entry: d.CandidateEntry
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
            relation = relation.replace("{}", shown(self.other), 1)
        conflict = "in conflict with the target" if self.entry.conflicts else ""
        return "; ".join(filter(None, [*map(visible, self.ranked.why), relation, conflict]))


def candidate_rows(worktrees: Review) -> list[list[CandidateRow]]:
    """Return the rows of every batch: by verdict and evidence, by group, and by rank in a group."""
    group, result = 0, []
    for number, batch in enumerate(worktrees.batches, start=1):
        rows = []
        for cluster in batch.clusters:
            group += 1
            members = (ranked for ranked in batch.ranking if ranked.index in cluster.members)
            rows += [_row(worktrees, batch, cluster, ranked, number, group) for ranked in members]
        standing = {
            row.ranked.index: (level, bool(against))
            for row in rows
            for level, against in (worktrees.verdicts.standing(row.ranked.id, batch.batch.members),)
        }
        result.append(sorted(rows, key=lambda row: standing[row.ranked.index]))
    return result


def _row(
    worktrees: Review, batch: RankedBatch, cluster: Cluster, ranked: Ranked, number: int, group: int
) -> CandidateRow:
    candidate = worktrees.candidates.found[ranked.index]
    best = cluster.representative
    relation, other = "", ""
    if ranked.no_op:
        pass
    elif not batch.is_ranked:  # only this candidate changes these files
        paths = sorted(
            worktrees.patches[ranked.index].paths,
            key=lambda path: KINDS.index(candidate.kind_of(path)),
        )
        relation = f"changes {first_few([visible(path) for path in paths], 2)}" if paths else ""
    elif ranked.index == best:
        others = [other.index for other in batch.ranking if other.index not in cluster.members]
        nearest = max(others, key=lambda i: (worktrees.values[best, i], -i), default=best)
        if worktrees.matrix.word(best, nearest) not in (DIFFERENT, *SAME):
            relation = _beside(worktrees, best, nearest)
            other = visible(worktrees.candidates.found[nearest].label)
    else:
        relation = _beside(worktrees, ranked.index, best).replace("{}", STAND, 1)
    files = [
        d.FileEntry.of(
            pair,
            path=spelled(pair.path),
            kind=candidate.kind_of(pair.old or pair.path),
            status=file_status(pair),
            facts=[visible(fact) for fact in pair.facts],
            old_path=spelled(pair.old or "") if pair.moved == "rename" else msgspec.UNSET,
        )
        for pair in worktrees.patches[ranked.index].files
    ]
    entry = d.CandidateEntry.of(
        ranked,
        candidate,
        label=visible(candidate.label),
        tool=candidate.tool or None,
        batch=number,
        rank=ranked.rank if batch.is_ranked else None,
        why=[visible(why) for why in ranked.why],
        verdict=worktrees.verdicts.outcome(candidate.id),
        checks=list(map(d.CheckEntry.of, worktrees.verdicts.checks.get(candidate.id, ()))),
        evidence=worktrees.verdicts.evidence(candidate.id),
        broken=[visible(why) for why in ranked.broken],
        cluster=group,
        representative=ranked.index == best,
        similarity=float(worktrees.values[ranked.index, best]),
        word=worktrees.matrix.word(ranked.index, best),
        renamed=renamed_of(worktrees.matrix.level(ranked.index, best)),
        other_facets=list(worktrees.matrix.beside(ranked.index, best)),
        folder=visible(candidate.folder) or None,
        branch=visible(candidate.branch) or None,
        commit=candidate.commit or None,
        base=candidate.base or None,
        being_written=candidate.is_written,
        conflicts=[
            d.ConflictEntry(path=spelled(path), reason=reason)
            for path, reason in candidate.conflicts.items()
        ],
        lines={
            kind: d.LinesEntry(
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
    level = worktrees.matrix.level(i, nearest)
    if level is None:
        return BESIDE[worktrees.matrix.word(i, nearest)]
    facets = worktrees.matrix.beside(i, nearest)
    return level_words(BESIDE[level.word], level.renamed, THERE) + other_facets(facets)


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


def families_of(worktrees: Review) -> list[list[FamilyBlock]]:
    """Return the families of each batch, with what sets their candidates apart."""
    labels = {c.id: visible(c.label) for c in worktrees.candidates.found}
    blocks = []
    for families, reasons in zip(worktrees.families, worktrees.reasons, strict=True):
        facts: dict[str, list[str]] = defaultdict(list)
        for reason in chain.from_iterable(reasons):
            for identity in reason.ids:
                facts[identity].append(visible(reason.text))
        blocks.append(family_blocks(family_entries(families, list(labels)), labels, facts))
    return blocks


def worktree_facts(worktrees: Review) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines below the tables: their headings, and a sentence or names."""
    candidates = worktrees.candidates
    every = {c.id: printable(visible(c.label)) for c in candidates.found}
    for candidate in candidates.found:
        for path, reason in candidate.conflicts.items():
            yield "conflict", [f"{every[candidate.id]}: {printable(visible(path))}: {reason}"]
    shown: dict[str, list[str]] = defaultdict(list)
    for candidate in candidates.found:
        for line in worktrees.verdicts.evidence(candidate.id):
            shown[line].append(every[candidate.id])
    for line, names in shown.items():
        yield "evidence", [f"{first_few(names, 10)}: {printable(line)}"]
    for line in relation_lines(relation_entries(worktrees.relations), every):
        yield "between tasks", [line]
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
        where = f"{plural(len(worktrees.other_batches), 'other task')} (--task all)"
        yield "not shown", [f"{plural(count, 'candidate')} of {where}"]
    how = f"{candidates.origin[:12]}, {worktrees.linkage} linkage, distance {worktrees.threshold:g}"
    yield "replayed onto", [how]
    ranked = [(n, batch) for n, batch in enumerate(worktrees.batches, start=1) if batch.is_ranked]
    if not ranked:
        return
    first = _CHECKS_FIRST if worktrees.verdicts else ""
    first += _EVIDENCE_NEXT if shown else ""
    yield "order", [f"{first}{order_words(worktrees.intent)}; groups by their best candidate"]
    if worktrees.verdicts:
        return
    if apart := [str(n) for n, batch in ranked if disagree(batch.ranking)]:
        several = "s" if len(apart) > 1 else ""
        head, _, says = DISAGREE.partition(": ")
        of = f"in task{several} {', '.join(apart)}, " if len(worktrees.batches) > 1 else ""
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
        for identity, issue in batch.batch.named.items():
            about[_BY_ISSUE.format(visible(issue))].append(labels[identity])
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
