"""Which candidates belong to one task, so that those of another task have no vote."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from excise.patches.grouping import components
from excise_server.review.kinds import KINDS, by_kind

__all__ = ["TOGETHER_SECONDS", "Batch", "Member", "batches"]

TOGETHER_SECONDS = 600
"""Candidates of one base made within so many seconds may have been started together."""


@dataclass(frozen=True, slots=True)
class Member:
    """The known facts about a candidate's task, empty where unknown.

    Attributes
    ----------
    id : str
        The candidate's id, which no other one has.
    paths : tuple of str
        Paths that it changes, the old ones of renames included.
    base : str
        The commit that it started from.
    made : int, optional
        When it was made, in seconds since the epoch.
    group : str
        The id that a tool keeps for the candidates of one task.
    tool, task : str
        The tool, and the task part of its name for the candidate (`names.Name`).
    """

    id: str
    paths: tuple[str, ...] = ()
    base: str = ""
    made: int | None = None
    group: str = ""
    tool: str = ""
    task: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """Candidates of one task.

    Attributes
    ----------
    members : tuple of str
        Their ids, sorted.
    task : str
        The group id or task by which a tool knows them, or empty.
    shared : tuple of str
        Paths that held them together, those that most members change first.
    attached : tuple of str
        Members that only their base and time speak for.
    """

    members: tuple[str, ...]
    task: str = ""
    shared: tuple[str, ...] = ()
    attached: tuple[str, ...] = ()


def batches(candidates: Iterable[Member]) -> tuple[Batch, ...]:
    """Return the batches of a review, the largest first, with every candidate in one.

    1. Candidates that a tool knows to be of one task are together, never with another known task.
    2. The others are together if paths of code connect them (of a candidate without code its tests,
       else docs, else generated files). Such a component joins a known task whose code it touches,
       if that is just one.
    3. A candidate that is still alone is attached to a batch of step 2 with several members, one of
       which has the same base and was made within ten minutes. If several batches qualify, it stays
       alone. Two candidates that are alone do not attract each other.

    The result does not depend on the order of the candidates.

    Raises
    ------
    ValueError
        If two candidates have one id.
    """
    members = sorted(candidates, key=lambda member: member.id)
    if len({member.id for member in members}) < len(members):
        raise ValueError("two candidates have one id")
    linking = {member.id: _linking_paths(member) for member in members}
    by_task = defaultdict[tuple[str, ...], list[Member]](list)
    for member in members:
        if key := _known_key(member):
            by_task[key].append(member)
    untasked = [member for member in members if not _known_key(member)]
    tasks, apart = _joined(list(by_task.values()), _connected(untasked, linking), linking)
    reviewed = [
        _batch(key[-1], task, [], linking) for key, task in zip(by_task, tasks, strict=True)
    ] + [_batch("", component, late, linking) for component, late in _attached(apart)]
    return tuple(sorted(reviewed, key=lambda batch: (-len(batch.members), batch.members)))


def _known_key(member: Member) -> tuple[str, ...]:
    if member.group:
        return ("group", member.tool, member.group)
    return ("task", member.tool, member.task) if member.task else ()


def _linking_paths(member: Member) -> frozenset[str]:
    kinds = by_kind(member.paths)
    return frozenset(next((kinds[kind] for kind in KINDS if kinds[kind]), ()))


def _connected(
    members: Sequence[Member], linking: Mapping[str, frozenset[str]]
) -> list[list[Member]]:
    """Return the components of the graph in which candidates share a linking path."""
    first: dict[str, int] = {}
    edges = [
        (first.setdefault(path, i), i)
        for i, member in enumerate(members)
        for path in linking[member.id]
    ]
    return [[members[i] for i in component] for component in components(len(members), edges)]


def _joined(
    tasks: Sequence[list[Member]],
    connected: Sequence[list[Member]],
    linking: Mapping[str, frozenset[str]],
) -> tuple[list[list[Member]], list[list[Member]]]:
    """Return the tasks with the components that touch just one of them, and the rest of these."""
    joined, apart = [list(task) for task in tasks], []
    touched = [_all_paths(task, linking) for task in tasks]
    for component in connected:
        paths = _all_paths(component, linking)
        touching = [i for i, others in enumerate(touched) if not paths.isdisjoint(others)]
        if len(touching) == 1:
            joined[touching[0]] += component
        else:
            apart.append(component)
    return joined, apart


def _all_paths(members: Sequence[Member], linking: Mapping[str, frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*(linking[member.id] for member in members))


def _attached(apart: Sequence[list[Member]]) -> list[tuple[list[Member], list[Member]]]:
    """Return each component with the lone candidates that base and time attach to it."""
    several = [(component, list[Member]()) for component in apart if len(component) > 1]
    alone = []
    for lone in (component for component in apart if len(component) == 1):
        near = [late for component, late in several if _made_with(lone[0], component)]
        if len(near) == 1:
            near[0].append(lone[0])
        else:
            alone.append((lone, list[Member]()))
    return several + alone


def _made_with(lone: Member, component: Sequence[Member]) -> bool:
    return any(
        lone.base == member.base != ""
        and lone.made is not None
        and member.made is not None
        and abs(lone.made - member.made) <= TOGETHER_SECONDS
        for member in component
    )


def _batch(
    task: str,
    members: Sequence[Member],
    attached: Sequence[Member],
    linking: Mapping[str, frozenset[str]],
) -> Batch:
    times = Counter(path for member in members for path in linking[member.id])
    shared = [path for path, count in times.items() if count > 1]
    return Batch(
        members=tuple(sorted(member.id for member in (*members, *attached))),
        task=task,
        shared=tuple(sorted(shared, key=lambda path: (-times[path], path))),
        attached=tuple(sorted(member.id for member in attached)),
    )
