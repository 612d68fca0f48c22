"""Groups of proposals that are about one issue, each with a representative to read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from excise import Cluster
from excise.patches.evidence import EvidenceReader
from excise.patches.related import RELATED_DISTANCE, RelatedPool, related_signature
from excise_server.duplicates.find import Pair, PairFinder
from excise_server.duplicates.proposals import Proposal

__all__ = ["RelatedGroups", "related_groups"]


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
    finder = PairFinder(proposals, pool)
    pairs = [
        finder.explained(finder.pair(cluster.representative, member), always=True)
        for cluster in clusters
        for member in cluster.members
        if member != cluster.representative
    ]
    signature = related_signature(reader.background)
    return RelatedGroups(tuple(proposals), clusters, tuple(pairs), threshold, signature)
