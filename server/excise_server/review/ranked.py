"""Each batch of a review ranked and grouped by itself: only candidates of one task have a vote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from excise import Cluster, Ranked
from excise.clustering import cluster_values
from excise.facts import EditFacts
from excise.ranking import INTENT, Compared, rank
from excise_server.review.batches import Batch

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["RankedBatch", "chosen_batch", "rank_batches"]


@dataclass(frozen=True, slots=True)
class RankedBatch:
    """A batch, with its members ranked and grouped by their own scores.

    Attributes
    ----------
    batch : Batch
        Its members by id, and the task or code that connects them.
    ranking : tuple of Ranked
        Its members, by rank; indices are those of the whole review.
    clusters : tuple of Cluster
        Its groups, in the order of their best members; indices as above.
    """

    batch: Batch
    ranking: tuple[Ranked, ...]
    clusters: tuple[Cluster, ...]

    @property
    def is_ranked(self) -> bool:
        """Whether there is anything to rank, which takes more than one candidate."""
        return len(self.ranking) > 1


@dataclass(frozen=True, slots=True)
class _Part:
    """The members of one batch, as `excise.ranking.rank` reads them."""

    ids: tuple[str, ...]
    values: npt.NDArray[np.float64]
    notes: tuple[tuple[str, ...], ...]
    edit_sizes: tuple[int, ...]
    no_ops: tuple[bool, ...]
    unchanged: tuple[bool, ...]
    syntax_errors: tuple[bool, ...]
    codes: tuple[str, ...]
    facts: tuple[EditFacts, ...]


def rank_batches(
    compared: Compared,
    batches: Iterable[Batch],
    *,
    threshold: float,
    linkage: str,
    level: Callable[[str], int] = lambda identity: 0,
    facts: Sequence[EditFacts] | None = None,
    intent: str = INTENT,
) -> tuple[RankedBatch, ...]:
    """Return every batch with its ranking and groups, made of its own members' scores alone.

    Parameters
    ----------
    compared : Compared
        The comparison of all candidates of the review.
    batches : iterable of Batch
        Their batches; each candidate is in one.
    threshold, linkage
        As in `excise.cluster`.
    level
        The first key of the order, by id, the smallest first: the verdicts on a candidate.
    facts
        What each candidate does to its code, if not the facts of `compared`.
    intent
        As in `excise.rank`.
    """
    index = {name: i for i, name in enumerate(compared.ids)}
    all_facts = compared.facts if facts is None else facts
    result = []
    for batch in batches:
        members = sorted(index[name] for name in batch.members)
        part = _part(compared, all_facts, members)
        by_rank = [replace(r, index=members[r.index]) for r in rank(part, intent=intent)]
        ranking = _by_level(by_rank, level)
        place = {ranked.index: place for place, ranked in enumerate(ranking)}
        clusters = [
            Cluster(
                members=tuple(members[i] for i in cluster.members),
                representative=members[cluster.representative],
                min_similarity=cluster.min_similarity,
            )
            for cluster in cluster_values(part.values, threshold, linkage)
        ]
        clusters.sort(key=lambda cluster: min(place[i] for i in cluster.members))
        result.append(RankedBatch(batch, tuple(ranking), tuple(clusters)))
    return tuple(result)


def _by_level(ranking: list[Ranked], level: Callable[[str], int]) -> list[Ranked]:
    """Order by levels first, with ranks counted from 1 again and ties of a level kept."""
    keys = {ranked.index: (level(ranked.id), ranked.rank) for ranked in ranking}
    ranks: dict[tuple[int, int], int] = {}
    ordered = sorted(ranking, key=lambda ranked: keys[ranked.index])
    for place, ranked in enumerate(ordered, start=1):
        ranks.setdefault(keys[ranked.index], place)
    return [replace(ranked, rank=ranks[keys[ranked.index]]) for ranked in ordered]


def _part(compared: Compared, facts: Sequence[EditFacts], members: Sequence[int]) -> _Part:
    return _Part(
        ids=tuple(compared.ids[i] for i in members),
        values=compared.values[members][:, members],
        notes=tuple(compared.notes[i] for i in members),
        edit_sizes=tuple(compared.edit_sizes[i] for i in members),
        no_ops=tuple(compared.no_ops[i] for i in members),
        unchanged=tuple(compared.unchanged[i] for i in members),
        syntax_errors=tuple(compared.syntax_errors[i] for i in members),
        codes=tuple(compared.codes[i] for i in members),
        facts=tuple(facts[i] for i in members),
    )


def chosen_batch(
    batches: Sequence[Batch], name: str, labels: Iterable[tuple[str, str]]
) -> Batch | None:
    """Return the batch of a name: its number from 1, its task, or a label or id of a member.

    Parameters
    ----------
    labels : iterable of (str, str)
        Names of candidates, and the ids that these belong to.
    """
    if name.isdecimal() and name.isascii() and 1 <= int(name) <= len(batches):
        return batches[int(name) - 1]
    by_task = [batch for batch in batches if batch.task == name]
    if len(by_task) == 1:
        return by_task[0]
    ids = {identity for label, identity in labels if name in (label, identity)}
    by_member = [batch for batch in batches if not ids.isdisjoint(batch.members)]
    return by_member[0] if len(by_member) == 1 else None
