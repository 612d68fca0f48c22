"""Each task of a review ranked and grouped by itself: only candidates of one task have a vote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from excise import Cluster, Ranked, ScoreMatrix
from excise.clustering import cluster_values
from excise.facts import EditFacts
from excise.ranking import INTENT, check_intent, rank_members, without_code
from excise_server.review.candidate import Candidate, candidates_meant
from excise_server.review.relations import Task


@dataclass(frozen=True, slots=True)
class RankedTask:
    """A task, with its members ranked and grouped by their own scores.

    - ``task``: its members by id, and the task or code that connects them.
    - ``ranking``: its members, by rank; indices are those of the whole review.
    - ``clusters``: its groups, in the order of their best members; indices as above.
    """

    task: Task
    ranking: tuple[Ranked, ...]
    clusters: tuple[Cluster, ...]

    @property
    def is_ranked(self) -> bool:
        """Whether there is anything to rank, which takes more than one candidate."""
        return len(self.ranking) > 1


def rank_tasks(
    compared: ScoreMatrix,
    tasks: Iterable[Task],
    *,
    threshold: float,
    linkage: str,
    level: Callable[[str], int] = lambda identity: 0,
    facts: Sequence[EditFacts] | None = None,
    kinds: Sequence[Mapping[str, str]] | None = None,
    intent: str = INTENT,
) -> tuple[RankedTask, ...]:
    """Return every task with its ranking and groups, made of its own members' scores alone.

    - ``threshold``, ``linkage``: as in `excise.cluster`.
    - ``level``: the first key of the order, for the id of a candidate: what its checks come to,
      the smallest number first.
    - ``facts``: what each candidate does to its code, if not the facts of `compared`.
    - ``kinds``: what each file that a candidate changes is for, by path, if not what `compared`
      knows.
    - ``intent``: as in `excise.rank`.
    """
    check_intent(intent)
    index = {name: i for i, name in enumerate(compared.ids)}
    all_facts = compared.facts if facts is None else facts
    all_kinds = compared.kinds if kinds is None else kinds
    result = []
    digests = compared.digests
    for task in tasks:
        members = sorted(index[name] for name in task.members)
        ranking = _by_level(
            rank_members(compared, members, intent, facts=all_facts, kinds=all_kinds), level
        )
        place = {ranked.index: place for place, ranked in enumerate(ranking)}
        # Who changes no code neither splits a group of those who do nor joins one.
        apart = without_code({at: all_kinds[at] for at in members})
        clusters = [
            Cluster(
                members=tuple(part[i] for i in cluster.members),
                representative=part[cluster.representative],
                min_similarity=cluster.min_similarity,
            )
            for part in ([at for at in members if at not in apart], sorted(apart))
            if part
            for cluster in cluster_values(
                compared.values[part][:, part],
                threshold,
                linkage,
                [compared.codes[i] for i in part],
                [digests[i] for i in part],
                [compared.codes_up_to_names[i] for i in part],
            )
        ]
        clusters.sort(key=lambda cluster: min(place[i] for i in cluster.members))
        result.append(RankedTask(task, tuple(ranking), tuple(clusters)))
    return tuple(result)


def _by_level(ranking: Sequence[Ranked], level: Callable[[str], int]) -> list[Ranked]:
    """Order by the level first, with ranks counted from 1 again and ties kept."""
    keys = {ranked.index: (level(ranked.id), ranked.rank) for ranked in ranking}
    ranks: dict[tuple[int, int], int] = {}
    ordered = sorted(ranking, key=lambda ranked: keys[ranked.index])
    for place, ranked in enumerate(ordered, start=1):
        ranks.setdefault(keys[ranked.index], place)
    return [replace(ranked, rank=ranks[keys[ranked.index]]) for ranked in ordered]


def chosen_task(tasks: Sequence[Task], name: str, candidates: Iterable[Candidate]) -> Task | None:
    """Return the task of a name: its number from 1, its own, or that of a member."""
    if name.isdecimal() and name.isascii():
        return tasks[int(name) - 1] if 1 <= int(name) <= len(tasks) else None
    by_task = [task for task in tasks if task.name == name]
    if len(by_task) == 1:
        return by_task[0]
    ids = {candidate.id for candidate in candidates_meant(name, candidates)}
    by_member = [task for task in tasks if not ids.isdisjoint(task.members)]
    return by_member[0] if len(by_member) == 1 else None
