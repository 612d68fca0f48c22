"""The document of duplicates, and its views that need no terminal: Markdown, tab-separated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from excise.patches.related import RELATED_LINKAGE
from excise_server.duplicates.find import Duplicates, Pair, RelatedGroups
from excise_server.duplicates.proposals import Proposal
from excise_server.duplicates.reasons import SharedReasons
from excise_server.foundation.escape import cell
from excise_server.foundation.inputs import Rejected
from excise_server.report.documents import Document, GroupEntry, RejectedEntry, Shape, group_entry
from excise_server.report.likeness import cosines
from excise_server.report.markdown import code_span, inert
from excise_server.report.words import digits

__all__ = ["DuplicatePair", "DuplicatesDocument", "ProposalEntry", "RelatedGroupsDocument"]
__all__ += ["duplicates_document", "duplicates_markdown", "duplicates_tsv", "groups_document"]
__all__ += ["numbers_of", "reason_lines"]


class ProposalEntry(Shape, frozen=True, kw_only=True):
    """A patch, a series or a pull request that is in some pair."""

    id: str
    title: str
    author: str
    state: str


class SameEditEntry(Shape, frozen=True, kw_only=True):
    """How much the edits of two proposals have in common (``basis:edits``), a separate question."""

    similarity: float
    word: str
    is_same_edit: bool


class DuplicatePair(Shape, frozen=True, kw_only=True):
    """A pair. If ``otherwise`` gives another explanation, the pair is not reported as a duplicate.

    ``same_edit`` and ``reasons`` are null below the level ``possibly``.
    """

    new: str
    other: str
    word: str
    level: str
    probability: float
    mean: float
    what: float
    where: float
    why: float | None
    same_edit: SameEditEntry | None
    otherwise: str
    reasons: SharedReasons | None


class DuplicatesDocument(Document, frozen=True, kw_only=True):
    """The output of ``duplicates --format json``: the pairs, the most probable first."""

    asked: int
    among: int
    pairs: list[DuplicatePair]
    proposals: list[ProposalEntry]
    notes: list[str]
    rejected: list[RejectedEntry]


class RelatedGroupsDocument(Document, frozen=True, kw_only=True):
    """The output of ``cluster --related --json``, where a pair's ``new`` is the representative."""

    threshold: float
    linkage: str
    clusters: list[GroupEntry]
    pairs: list[DuplicatePair]
    proposals: list[ProposalEntry]
    notes: list[str]
    rejected: list[RejectedEntry]


_COLUMNS = ["new", "other", "word", "level", "probability", "mean"]
_COLUMNS += ["what", "where", "why", "same_edit", "otherwise"]


def duplicates_document(
    duplicates: Duplicates, rejected: Iterable[Rejected] = (), notes: Sequence[str] = ()
) -> DuplicatesDocument:
    """Return the pairs, and the proposals that are in some pair."""
    shown = sorted({index for pair in duplicates.pairs for index in (pair.new, pair.other)})
    return DuplicatesDocument(
        signature=duplicates.signature,
        asked=duplicates.asked,
        among=len(duplicates.proposals) - duplicates.asked,
        pairs=[_pair(duplicates.proposals, pair) for pair in duplicates.pairs],
        proposals=[ProposalEntry.of(duplicates.proposals[index]) for index in shown],
        notes=list(notes),
        rejected=list(map(RejectedEntry.of, rejected)),
    )


def groups_document(
    groups: RelatedGroups, rejected: Iterable[Rejected] = (), notes: Sequence[str] = ()
) -> RelatedGroupsDocument:
    """Return the groups, the largest first, including those with one member."""
    ids = [proposal.id for proposal in groups.proposals]
    return RelatedGroupsDocument(
        signature=groups.signature,
        threshold=groups.threshold,
        linkage=RELATED_LINKAGE,
        clusters=[group_entry(cluster, ids) for cluster in groups.clusters],
        pairs=[_pair(groups.proposals, pair) for pair in groups.pairs],
        proposals=list(map(ProposalEntry.of, groups.proposals)),
        notes=list(notes),
        rejected=list(map(RejectedEntry.of, rejected)),
    )


def _pair(proposals: Sequence[Proposal], pair: Pair) -> DuplicatePair:
    likeness = pair.likeness
    return DuplicatePair.of(
        pair,
        pair.relation,
        new=proposals[pair.new].id,
        other=proposals[pair.other].id,
        same_edit=None
        if likeness is None
        else SameEditEntry.of(likeness, pair, similarity=likeness.value),
    )


def numbers_of(pair: DuplicatePair) -> str:
    """Return the bars of a pair as text: ``what .32  where .81  why .48  (same edit .13)``."""
    shown = cosines(pair.what, pair.where, pair.why)
    edit = (
        f"  (same edit {digits(pair.same_edit.similarity).replace('0.', '.', 1)})"
        if pair.same_edit
        else ""
    )
    return f"{shown}{edit}"


def duplicates_tsv(document: DuplicatesDocument) -> Iterator[str]:
    """Yield a header and a line per pair, in which no cell has a tab or runs as a formula."""
    yield "\t".join(_COLUMNS)
    for pair in document.pairs:
        edit = pair.same_edit.similarity if pair.same_edit else None
        values = pair.probability, pair.mean, pair.what, pair.where, pair.why, edit
        cells = ["" if value is None else repr(value) for value in values]
        texts = map(cell, (pair.new, pair.other, pair.word, pair.level))
        yield "\t".join((*texts, *cells, cell(pair.otherwise)))


def duplicates_markdown(document: DuplicatesDocument) -> str:
    """Return the pairs as Markdown, for a comment: inert, whatever is in a title or a line."""
    proposals = {proposal.id: proposal for proposal in document.proposals}
    parts = ["\n".join(_markdown(pair, proposals)) for pair in document.pairs]
    if not parts:
        parts.append("Nothing related was found.")
    about = [
        f"Left out: {code_span(rejection.id)}: {inert(rejection.reason)}"
        for rejection in document.rejected
    ]
    about += [f"Note: {inert(note)}" for note in document.notes]
    about.append(f"Scores: {code_span(document.signature)}")
    return "\n\n".join((*parts, "\n".join(f"- {line}" for line in about)))


def _markdown(pair: DuplicatePair, proposals: dict[str, ProposalEntry]) -> Iterator[str]:
    new, other = (proposals[name] for name in (pair.new, pair.other))
    otherwise = f" ({pair.otherwise})" if pair.otherwise else ""
    yield f"**{pair.word}**{otherwise}: {_named(new)} and {_named(other)}"
    yield ""
    percent = round(100 * pair.probability)
    share = "over 99 %" if pair.probability > 0.99 else f"about {percent} %"
    yield f"- {numbers_of(pair)}; {share} of such pairs are about one issue"
    yield from (f"- {line}" for line in reason_lines(pair))


def reason_lines(pair: DuplicatePair) -> Iterator[str]:
    """Yield the reasons of a pair as Markdown.

    All of it is code: elsewhere a host turns numbers, names and commits into references.
    """
    if pair.reasons is None:
        return
    for line in pair.reasons.where:
        yield f"both touch {code_span(f'{line.path}:{line.line}')} {code_span(line.text)}"
    if pair.reasons.what:
        yield f"both change {', '.join(map(code_span, pair.reasons.what))}"
    if pair.reasons.why:
        yield f"both say {', '.join(map(code_span, pair.reasons.why))}"


def _named(proposal: ProposalEntry) -> str:
    title = f" {code_span(proposal.title)}" if proposal.title else ""
    state = f" ({proposal.state})" if proposal.state else ""
    return f"{code_span(proposal.id)}{title}{state}"
