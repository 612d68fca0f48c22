"""Groups of patches that are the same idea, and the one of each to read."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from excise.clustering import Cluster, check, labels
from excise.patches.pool import Map, Pool

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

__all__ = ["DISTANCE", "LINKAGE", "components", "group"]

DISTANCE = 0.55
LINKAGE = "complete"


def group(
    pool: Pool, *, threshold: float = DISTANCE, linkage: str = LINKAGE, map: Map = map
) -> tuple[Cluster, ...]:
    """Group the patches of a pool, the largest group first.

    Equal patch-ids first; then agglomerative clustering on 1 - score. Patches of different
    components of the graph {distance <= threshold} never meet under any of the linkages, so each
    component is clustered alone, with the labels that the whole matrix would give.

    Raises
    ------
    excise.errors.OptionError
        On an unknown linkage or a threshold outside [0, 1].
    """
    check(threshold, linkage)
    # A hair below, so that rounding in 1 - value never separates what the linkage would join.
    near = pool.near(1.0 - threshold - 1e-9, map)
    same: dict[str, list[int]] = defaultdict(list)
    for at in range(len(pool)):
        same[pool.patch_id(at)].append(at)
    edges = [(i, j) for i, j, _ in near]
    edges += [(equal[0], at) for equal in same.values() for at in equal[1:]]
    ids = [pool.patch_id(at) for at in range(len(pool))]
    if threshold == 0:
        edges = [edge for edge in edges if ids[edge[0]] == ids[edge[1]]]
    found: list[Cluster] = []
    for members in components(len(pool), edges):
        found += _clusters(_values(pool, members), members, ids, threshold, linkage)
    return tuple(sorted(found, key=lambda c: (-len(c.members), c.members)))


def components(n: int, edges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the connected components of a graph on 0 .. n - 1, by their first members."""
    parent = list(range(n))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    for i, j in edges:
        low, high = sorted((root(i), root(j)))
        parent[high] = low
    found: dict[int, list[int]] = defaultdict(list)
    for at in range(n):
        found[root(at)].append(at)
    return list(found.values())


def _values(pool: Pool, members: list[int]) -> Values:
    import numpy as np

    values = np.ones((len(members), len(members)))
    if len(members) > 1:
        pool.dense(array("i", members), values)
    return values


def _clusters(
    values: Values, members: list[int], ids: list[str], threshold: float, linkage: str
) -> list[Cluster]:
    if len(members) == 1:
        return [Cluster((members[0],), members[0], 1.0)]
    distances = 1.0 - values
    for i, name in enumerate(members):
        for j in range(i):
            if ids[name] == ids[members[j]]:
                distances[i, j] = distances[j, i] = 0.0
    together: dict[int, list[int]] = defaultdict(list)
    for at, label in enumerate(labels(distances, threshold, linkage)):
        together[label].append(at)
    return [_cluster(values, local, members) for local in together.values()]


def _cluster(values: Values, local: list[int], members: list[int]) -> Cluster:
    inside = values[local][:, local]
    medoid = int(inside.sum(axis=1).argmax())
    names = tuple(members[at] for at in local)
    return Cluster(names, names[medoid], float(inside[medoid].min()))
