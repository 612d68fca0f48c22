"""The document of duplicates, and its views that need no terminal: Markdown, tab-separated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from excise.patches.related import RELATED_LINKAGE
from excise_server.duplicates.find import Duplicates, Pair, Proposal, RelatedGroups
from excise_server.foundation.escape import cell
from excise_server.foundation.inputs import Rejected
from excise_server.report.documents import group_entry
from excise_server.report.likeness import cosines
from excise_server.report.words import digits
from excise_server.wire import documents as d

_COLUMNS = ["new", "other", "word", "level", "probability", "mean"]
_COLUMNS += ["what", "where", "why", "same_edit", "otherwise"]


def duplicates_document(
    duplicates: Duplicates, rejected: Iterable[Rejected] = (), notes: Sequence[str] = ()
) -> d.DuplicatesDocument:
    """Return the pairs, and the proposals that are in some pair."""
    shown = sorted({index for pair in duplicates.pairs for index in (pair.new, pair.other)})
    return d.DuplicatesDocument(
        signature=duplicates.signature,
        asked=duplicates.asked,
        among=len(duplicates.proposals) - duplicates.asked,
        pairs=[_pair(duplicates.proposals, pair) for pair in duplicates.pairs],
        proposals=[d.ProposalEntry.of(duplicates.proposals[index]) for index in shown],
        notes=list(notes),
        rejected=list(map(d.RejectedEntry.of, rejected)),
    )


def groups_document(
    groups: RelatedGroups, rejected: Iterable[Rejected] = (), notes: Sequence[str] = ()
) -> d.RelatedGroupsDocument:
    """Return the groups, the largest first, including those with one member."""
    ids = [proposal.id for proposal in groups.proposals]
    return d.RelatedGroupsDocument(
        signature=groups.signature,
        threshold=groups.threshold,
        linkage=RELATED_LINKAGE,
        clusters=[group_entry(cluster, ids) for cluster in groups.clusters],
        pairs=[_pair(groups.proposals, pair) for pair in groups.pairs],
        proposals=list(map(d.ProposalEntry.of, groups.proposals)),
        notes=list(notes),
        rejected=list(map(d.RejectedEntry.of, rejected)),
    )


def _pair(proposals: Sequence[Proposal], pair: Pair) -> d.DuplicatePair:
    likeness = pair.likeness
    return d.DuplicatePair.of(
        pair,
        pair.relation,
        new=proposals[pair.new].id,
        other=proposals[pair.other].id,
        same_edit=None
        if likeness is None
        else d.SameEditEntry.of(likeness, pair, similarity=likeness.value),
    )


def numbers_of(pair: d.DuplicatePair) -> str:
    """Return the bars of a pair as text: ``what .32  where .81  why .48  (same edit .13)``."""
    shown = cosines(pair.what, pair.where, pair.why)
    edit = (
        f"  (same edit {digits(pair.same_edit.similarity).replace('0.', '.', 1)})"
        if pair.same_edit
        else ""
    )
    return f"{shown}{edit}"


def duplicates_tsv(document: d.DuplicatesDocument) -> Iterator[str]:
    """Yield a header and a line per pair, in which no cell has a tab or runs as a formula."""
    yield "\t".join(_COLUMNS)
    for pair in document.pairs:
        edit = pair.same_edit.similarity if pair.same_edit else None
        values = pair.probability, pair.mean, pair.what, pair.where, pair.why, edit
        cells = ["" if value is None else repr(value) for value in values]
        texts = map(cell, (pair.new, pair.other, pair.word, pair.level))
        yield "\t".join((*texts, *cells, cell(pair.otherwise)))
