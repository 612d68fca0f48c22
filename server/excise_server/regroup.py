"""Groups of a queue that grew: only what the new patches touch is compared and grouped again.

The result is that of grouping everything. Two patches score above 0 only if they change files of
one name, or show nearly the same context (the rename rescue of section 8): all others need not be
compared with a new one. And patches of different components of the graph {score >= 1 - distance}
never meet in a group, so that components which get no new edge keep their groups.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from excise import Cluster
from excise.edits import Count
from excise.patches import EditsLikeness, group
from excise.patches.grouping import components
from excise.patches.pool import RESCUE, Closeness, Map
from excise_server.sources.known import KnownPool
from excise_server.sources.queue import Member
from excise_server.state import Entry, State

__all__ = ["Groups", "cluster_known"]

_SHARE = 10
"""More new patches than a tenth of the known ones: then everything is grouped."""

_LEAST_NEW = 50
"""So few new patches are always taken one by one."""

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Values = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups by the numbers that patches have in the state.

    ``labels`` names each patch's component; ``likenesses`` holds for each member what its
    representative has in common with it (None: it is the representative).
    """

    labels: dict[int, int]
    clusters: tuple[tuple[tuple[int, ...], int, float], ...]
    likenesses: dict[int, EditsLikeness | None]


class _Seen(Closeness):
    """What another one finds, remembered."""

    def __init__(self, found: Closeness) -> None:
        self._found, self.first = found, found.first
        self.edges: list[tuple[int, int]] = []

    def pairs(self) -> Iterator[tuple[array[int], array[int]]]:
        for i, j in self._found.pairs():
            self.edges += zip(i, j, strict=True)
            yield i, j

    def values(self, members: array[int]) -> Values:
        return self._found.values(members)


class _SeeingPool(KnownPool):
    """A pool that remembers which of its patches were found close."""

    seen: _Seen | None = None

    def closeness(self, least: float, map: Map = map) -> Closeness:
        """Return what groups are made of."""
        self.seen = _Seen(super().closeness(least, map))
        return self.seen


def cluster_known(
    state: State, members: Sequence[Member], *, threshold: float, linkage: str
) -> tuple[KnownPool, tuple[Cluster, ...]]:
    """Group all patches of a state, from what was remembered of the last time.

    Raises
    ------
    SourceError
        If the state cannot be written.
    """
    name = f"{threshold!r} {linkage}"
    known = _unpacked(state.remembered(name))
    if known is None:
        found = _grouped(state, members, threshold=threshold, linkage=linkage)
    else:
        found = _regrouped(state, members, known, threshold=threshold, linkage=linkage)
    if found is not known:
        state.remember(name, _packed(found))
    numbers = [entry.n for entry in state.entries_of(members)]
    clusters = _clusters_of(found, numbers)
    known_pairs = {
        (cluster.representative, at): likeness
        for cluster in clusters
        for at in cluster.members
        if (likeness := found.likenesses[numbers[at]]) is not None
    }
    pool = KnownPool(state, members, ignored=state.ignored, likenesses=known_pairs)
    return pool, clusters


def _packed(groups: Groups) -> list[object]:
    labels = [[n, label] for n, label in groups.labels.items()]
    likenesses = [
        [n, likeness and [likeness.operations, likeness.equal, likeness.in_another_file]]
        for n, likeness in groups.likenesses.items()
    ]
    return [labels, groups.clusters, likenesses]


def _unpacked(value: Any) -> Groups | None:  # noqa: ANN401 - JSON
    """Return remembered groups, if they are whole."""
    try:
        labels, clusters, likenesses = value
        found = Groups(
            {int(n): int(label) for n, label in labels},
            tuple(
                (tuple(map(int, members)), int(n), float(least)) for members, n, least in clusters
            ),
            {int(n): _likeness(fields) for n, fields in likenesses},
        )
    except (TypeError, ValueError):
        return None
    members = [n for cluster in found.clusters for n in cluster[0]]
    whole = sorted(members) == sorted(found.labels) == sorted(found.likenesses)
    return found if whole and all(best in of for of, best, _ in found.clusters) else None


def _likeness(fields: Any) -> EditsLikeness | None:  # noqa: ANN401 - JSON
    if fields is None:
        return None
    operations, equal, in_another_file = fields
    keep, add, delete = (Count(*map(int, counts)) for counts in operations)
    return EditsLikeness((keep, add, delete), bool(equal), bool(in_another_file))


def _grouped(
    state: State,
    members: Sequence[Member],
    *,
    threshold: float,
    linkage: str,
    at: int = 0,
) -> Groups:
    """Group members of a state, whatever is known of them; labels begin with `at`."""
    pool = _SeeingPool(state, members, ignored=state.ignored)
    clusters = group(pool, threshold=threshold, linkage=linkage)
    numbers = [entry.n for entry in pool.entries]
    edges = list(pool.seen.edges) if pool.seen is not None else []
    first: dict[str, int] = {}
    for place in range(len(pool)):
        edges.append((first.setdefault(pool.patch_id(place), place), place))
    labels = {
        numbers[place]: at + label
        for label, component in enumerate(components(len(pool), edges))
        for place in component
    }
    likenesses = {
        numbers[place]: None if place == best else pool.edits_likeness(best, place)
        for cluster in clusters
        for best in (cluster.representative,)
        for place in cluster.members
    }
    named = tuple(
        (tuple(numbers[m] for m in c.members), numbers[c.representative], c.min_similarity)
        for c in clusters
    )
    return Groups(labels, named, likenesses)


def _regrouped(
    state: State, members: Sequence[Member], known: Groups, *, threshold: float, linkage: str
) -> Groups:
    """Group members of a state from what is known of most of them."""
    entries = state.entries_of(members)
    by_number = {entry.n: place for place, entry in enumerate(entries)}
    fresh = [entry for entry in entries if entry.n not in known.labels]
    if len(fresh) > max(_LEAST_NEW, len(known.labels) // _SHARE) or not (
        known.labels.keys() <= by_number.keys()
    ):
        return _grouped(state, members, threshold=threshold, linkage=linkage)
    if not fresh:
        return known
    old = [entry for entry in entries if entry.n in known.labels]
    near = _neighbours(state, fresh, old, members, by_number, threshold)
    touched = {known.labels[n] for n in near}
    again = [
        members[by_number[entry.n]]
        for entry in entries
        if entry.n not in known.labels or known.labels[entry.n] in touched
    ]
    past = 1 + max(known.labels.values(), default=-1)
    found = _grouped(state, again, threshold=threshold, linkage=linkage, at=past)
    kept = [cluster for cluster in known.clusters if known.labels[cluster[0][0]] not in touched]
    order = sorted([*kept, *found.clusters], key=lambda c: (-len(c[0]), c[0]))
    likenesses = {**known.likenesses, **found.likenesses}
    return Groups({**known.labels, **found.labels}, tuple(order), likenesses)


def _clusters_of(groups: Groups, numbers: Sequence[int]) -> tuple[Cluster, ...]:
    """Return groups by the places of their members instead of their numbers."""
    places = {n: place for place, n in enumerate(numbers)}
    return tuple(
        Cluster(tuple(places[n] for n in members), places[best], least)
        for members, best, least in groups.clusters
    )


def _neighbours(
    state: State,
    fresh: Sequence[Entry],
    old: Sequence[Entry],
    members: Sequence[Member],
    by_number: dict[int, int],
    threshold: float,
) -> set[int]:
    """Return the known patches that a new one may join: close enough, or equal."""
    equal = {entry.patch_id for entry in fresh}
    found = {entry.n for entry in old if entry.patch_id in equal}
    names = {name for entry in fresh for name in entry.edits.names}
    contexts = [entry.edits.context for entry in fresh if entry.edits.context]
    some = [
        entry
        for entry in old
        if not names.isdisjoint(entry.edits.names)
        or any(_alike(entry.edits.context, context) for context in contexts)
    ]
    asked = [*fresh, *some]
    pool = KnownPool(state, [members[by_number[entry.n]] for entry in asked], ignored=state.ignored)
    # More than close enough does no harm: a component is grouped again, with the same result.
    least = 1.0 - threshold - 1e-6
    for at, entry in enumerate(some, start=len(fresh)):
        if entry.n not in found and any(pool.score(i, at) >= least for i in range(len(fresh))):
            found.add(entry.n)
    return found


def _alike(a: array[int], b: array[int]) -> bool:
    """Whether two contexts agree so well that file names do not count."""
    # In whole numbers: this is asked of every known patch.
    least, of = RESCUE.as_integer_ratio()
    needed = least * (len(a) + len(b))
    if 2 * of * min(len(a), len(b)) < needed or not a:
        return False
    return 2 * of * (Counter(a) & Counter(b)).total() >= needed
