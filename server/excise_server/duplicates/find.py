"""Proposals that may be about one issue: two answers for a pair, and other explanations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from excise import Cluster
from excise.agreement import ELSEWHERE, SAME
from excise.patches import Likeness, Pool
from excise.patches.evidence import Background, EvidenceReader
from excise.patches.related import (
    LEVELS,
    RELATED_DISTANCE,
    Level,
    RelatedPool,
    Relation,
    related_signature,
)
from excise_server.duplicates.proposals import Proposal
from excise_server.duplicates.reasons import SharedReasons, reasons_of, undoes

__all__ = [
    "AUTHOR",
    "BACKPORT",
    "BUILDS_ON",
    "LEVEL_WORDS",
    "REVERTS",
    "Duplicates",
    "Pair",
    "RelatedGroups",
    "find_duplicates",
    "related_groups",
]

AUTHOR = "another of this author's"
BUILDS_ON = "builds on"
REVERTS = "reverts"
BACKPORT = "backport"

COMMON = 20
"""A line in more than one of so many proposals is not a reason, .."""
FEW = 8
""".. unless it is in no more than these."""

CARRIED = 0.9
"""Cosine of two changes from which a stated backport is taken for one of the other."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two proposals, and both answers.

    Attributes
    ----------
    new, other
        The numbers of the proposals.
    relation
        Whether they are about one issue.
    likeness
        Whether they are the same edit, or None for a pair that is not explained.
    otherwise
        Another explanation of their likeness (one author, a stack, a revert, a backport), or empty.
    reasons
        The lines and words that relate them.
    """

    new: int
    other: int
    relation: Relation
    likeness: Likeness | None = None
    is_same_edit: bool = False
    otherwise: str = ""
    reasons: SharedReasons | None = None

    @property
    def word(self) -> str:
        """The word for people: the first that holds."""
        if self.is_same_edit:
            return "same edit"
        related = LEVEL_WORDS[self.relation.level]
        if self.likeness is not None and self.likeness.word == ELSEWHERE:
            return f"{ELSEWHERE}, {related}" if related else ELSEWHERE
        return related or "not related"


LEVEL_WORDS: dict[Level, str] = {
    "likely": "likely the same issue",
    "possibly": "possibly the same issue",
    "none": "",
}


@dataclass(frozen=True, slots=True)
class Duplicates:
    """The pairs of proposals.

    Attributes
    ----------
    proposals
        First the proposals in question, then the others.
    asked
        The number of proposals in question.
    pairs
        The most probable pairs first, and pairs with another explanation last.
    signature
        The signature of the relation.
    """

    proposals: tuple[Proposal, ...]
    asked: int
    pairs: tuple[Pair, ...]
    signature: str


def find_duplicates(
    queries: Sequence[Proposal],
    others: Sequence[Proposal] = (),
    *,
    together: bool = False,
    least: Level = "possibly",
    top: int = 5,
    with_why: bool = True,
    background: Background | None = None,
    advance: Callable[[float], None] = lambda done: None,
) -> Duplicates:
    """Compare proposals with others, or with each other if there are no others.

    Parameters
    ----------
    together
        Whether they are also compared with each other if there are others.
    least
        The lowest level of the returned pairs; ``none`` for all that have anything in common.
    top
        The number of pairs for each proposal in question; 0 for all.
    with_why
        Whether messages count.
    advance
        Called with the number of proposals that were read.
    """
    reader = EvidenceReader(background)
    proposals = (*queries, *others)
    pool = RelatedPool(with_why=with_why)
    for done, proposal in enumerate(proposals, start=1):
        pool.add(proposal.evidence(reader))
        advance(done)
    finder = _PairFinder(proposals, pool, least)
    pairs: dict[tuple[int, int], Pair] = {}
    among = range(len(queries), len(proposals)) if others and not together else None
    for index in range(len(queries)):
        for pair in finder.nearest(index, among, top):
            pairs.setdefault((min(pair.new, pair.other), max(pair.new, pair.other)), pair)
    explained = map(finder.explained, sorted(pairs.values(), key=_order))
    ordered = tuple(sorted(explained, key=lambda pair: bool(pair.otherwise)))
    return Duplicates(proposals, len(queries), ordered, related_signature(reader.background))


def _order(pair: Pair) -> tuple[bool, float, float, int, int]:
    relation = pair.relation
    return (not pair.is_same_edit, -relation.probability, -relation.mean, pair.new, pair.other)


class _PairFinder:
    """Looks for the pairs of proposals, and says all that is known of one."""

    def __init__(
        self, proposals: Sequence[Proposal], pool: RelatedPool, least: Level = "possibly"
    ) -> None:
        self.proposals, self.pool, self.least = proposals, pool, least
        # The pool of "same edit" counts only the pairs that are asked about.
        self._edits = Pool()
        self._numbers: dict[int, int] = {}
        self._places = Counter(t for e in pool.evidence for t in e.where.terms)
        self._equal: dict[frozenset[str], list[int]] = {}
        for index, proposal in enumerate(proposals):
            if proposal.parts:  # without a patch nothing is equal
                self._equal.setdefault(proposal.parts, []).append(index)

    def nearest(self, new: int, among: range | None, top: int) -> Iterator[Pair]:
        """Yield the pairs of a proposal that count, the same edits first."""
        evidence = self.pool.evidence[new]
        neighbours = self.pool.neighbours(evidence, 0.0 if self.least == "none" else _LEAST)
        near = {
            n.number: n.relation
            for n in neighbours
            if LEVELS.index(n.relation.level) <= LEVELS.index(self.least)
        }
        # Equal patches without much text may share too little to be neighbours.
        for number in self._equal.get(self.proposals[new].parts, [])[:_MOST_EQUAL]:
            near.setdefault(number, self.pool.relation(new, number))
        pairs = [
            self.pair(new, number, relation)
            for number, relation in near.items()
            if number != new
            and (among is None or number in among)
            and not self._is_itself(new, number)
        ]
        yield from sorted(pairs, key=_order)[: top or None]

    def _number(self, index: int) -> int:
        """Return the number of a proposal among the edits."""
        if index not in self._numbers:
            self._numbers[index] = self._edits.add(self.proposals[index].whole)
        return self._numbers[index]

    def _is_itself(self, new: int, other: int) -> bool:
        """Whether two proposals are the same one: equal names, patches and messages."""
        a, b = self.proposals[new], self.proposals[other]
        names = {a.id.rpartition("/")[2], b.id.rpartition("/")[2]}
        return len(names) == 1 and a.parts == b.parts and a.text == b.text

    def pair(self, new: int, other: int, relation: Relation | None = None) -> Pair:
        """Return a pair without its explanation."""
        if relation is None:
            relation = self.pool.relation(new, other)
        parts = self.proposals[new].parts
        is_same_edit = bool(parts) and parts == self.proposals[other].parts
        return Pair(new, other, relation, is_same_edit=is_same_edit)

    def explained(self, pair: Pair, *, always: bool = False) -> Pair:
        """Return a pair with everything that is reported about it, or little if not related."""
        if pair.relation.level == "none" and not (pair.is_same_edit or always):
            return pair
        a, b = (self.proposals[number] for number in (pair.new, pair.other))
        evidence = [self.pool.evidence[number] for number in (pair.new, pair.other)]
        likeness = self._edits.likeness(self._number(pair.new), self._number(pair.other))
        return Pair(
            pair.new,
            pair.other,
            pair.relation,
            likeness,
            pair.is_same_edit or likeness.word == SAME,
            self._otherwise(pair, a, b),
            reasons_of(a.whole, b.whole, evidence[0], evidence[1], self._is_common),
        )

    def _otherwise(self, pair: Pair, a: Proposal, b: Proposal) -> str:
        if undoes(a.whole, b.whole):
            return REVERTS
        if a.is_stacked_with(b):
            return BUILDS_ON
        if (a.is_backport or b.is_backport) and pair.relation.what >= CARRIED:
            return BACKPORT
        return AUTHOR if a.who and a.who == b.who else ""

    def _is_common(self, term: str) -> bool:
        return self._places[term] > max(FEW, len(self.proposals) // COMMON)


_LEAST = 0.5
"""Below the probability at which "possibly" begins."""

_MOST_EQUAL = 1000
"""The most equal proposals that are examined: one version bump may occur thousands of times."""


@dataclass(frozen=True, slots=True)
class RelatedGroups:
    """Groups, the largest first, and how each member relates to the representative.

    Attributes
    ----------
    pairs
        The representative of a group with each other member, group by group.
    """

    proposals: tuple[Proposal, ...]
    clusters: tuple[Cluster, ...]
    pairs: tuple[Pair, ...]
    threshold: float
    signature: str


def related_groups(
    proposals: Sequence[Proposal],
    threshold: float = RELATED_DISTANCE,
    advance: Callable[[float], None] = lambda done: None,
) -> RelatedGroups:
    """Cluster proposals by average linkage on 1 - mean.

    Parameters
    ----------
    threshold
        The distance above which groups are not merged.
    advance
        Told how many proposals were read.

    Raises
    ------
    excise.patches.PatchError
        If too many hang together.
    """
    reader, pool = EvidenceReader(), RelatedPool()
    for done, proposal in enumerate(proposals, start=1):
        pool.add(proposal.evidence(reader))
        advance(done)
    clusters = pool.groups(threshold)
    finder = _PairFinder(proposals, pool)
    pairs = [
        finder.explained(finder.pair(cluster.representative, member), always=True)
        for cluster in clusters
        for member in cluster.members
        if member != cluster.representative
    ]
    signature = related_signature(reader.background)
    return RelatedGroups(tuple(proposals), clusters, tuple(pairs), threshold, signature)
