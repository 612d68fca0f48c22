"""Groups of patches that are the same idea, and the one of each to read."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from excise.clustering import Cluster, check, clear_labels, linked_labels
from excise.kernels._graph import Graph
from excise.patches.model import PatchError
from excise.patches.pool import Closeness, Map, Pool

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

__all__ = ["DISTANCE", "LINKAGE", "components", "group"]

DISTANCE = 0.55
LINKAGE = "complete"
MOST = 12_000
"""Different patches of one component: grouping them takes 16 bytes a cell of their matrix, 2.3 GB.

At 4,000 it would be .3 GB, but a refusal leaves all patches of the run without groups.
"""


def group(
    pool: Pool, *, threshold: float = DISTANCE, linkage: str = LINKAGE, map: Map = map
) -> tuple[Cluster, ...]:
    """Cluster the patches of a pool agglomeratively on 1 - score, the largest group first.

    Patches of different components of the graph {distance <= threshold} never meet under any of
    the linkages, so each component is clustered alone, with the labels that the whole matrix would
    give.

    Raises
    ------
    excise.errors.OptionError
        On an unknown linkage or a threshold outside [0, 1].
    PatchError
        If more than 12,000 different patches hang together, each close enough to another one of
        them; with average linkage equal ones count, too.
    """
    check(threshold, linkage)
    if threshold == 0:
        return tuple(Cluster((at,), at, 1.0) for at in range(len(pool)))
    # A hair below, so that rounding in 1 - value never separates what the linkage would join.
    close = pool.closeness(1.0 - threshold - 1e-9, map)
    # A search finds what shares something: empty patches share nothing, and are equal all the same.
    first: dict[str, int] = {}
    firsts = array("i", (first.setdefault(pool.patch_id(at), at) for at in range(len(pool))))
    found: list[Cluster] = []
    # From the last to the first, so that the memory of each can be given back.
    for members in reversed(close.components((firsts, array("i", range(len(pool)))))):
        found += _clusters(close, members, threshold, linkage)
    if pool.idf:
        found = [_unweighted(pool, cluster) for cluster in found]
    return tuple(sorted(found, key=lambda c: (-len(c.members), c.members)))


def components(n: int, edges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the connected components of a graph on 0 .. n - 1, by their first members."""
    graph = Graph(n)
    ends = tuple(edges)
    graph.unite(array("i", (i for i, _ in ends)), array("i", (j for _, j in ends)))
    return graph.components()


def _clusters(
    close: Closeness, members: list[int], threshold: float, linkage: str
) -> list[Cluster]:
    """Cluster a component. Of patches with the same numbers the first one stands for all."""
    if len(members) == 1:
        return [Cluster((members[0],), members[0], 1.0)]
    first = members if close.first is None else [close.first[at] for at in members]
    rows = {at: row for row, at in enumerate(dict.fromkeys(first))}
    _refuse(len(rows), threshold)
    # Most components are clear from the pairs that were found; no others have to be counted then.
    values = close.known(array("i", rows))
    close.forget(members[0])
    label = clear_labels(values, threshold, linkage, of_values=True)
    if label is None:
        close.fill(array("i", rows), values)
    if label is None and linkage == "average":  # its means count every member
        _refuse(len(members), threshold)
        every = [rows[at] for at in first]
        wide = linked_labels(values[every][:, every], threshold, linkage)
        label_of = dict(zip(first, wide, strict=True))
        label = [label_of[at] for at in rows]
    elif label is None:
        label = linked_labels(values, threshold, linkage)
    together: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for at, own in zip(members, first, strict=True):
        together[label[rows[own]]].append((at, rows[own]))
    return [_cluster(values, local) for local in together.values()]


def _refuse(n: int, threshold: float) -> None:
    """Refuse a matrix that would take too much memory."""
    if n > MOST:
        raise PatchError(
            f"{n:,} patches form one component at distance {threshold:g}, "
            f"and at most {MOST:,} can be grouped at once: choose a smaller threshold"
        )


def _cluster(values: Values, local: list[tuple[int, int]]) -> Cluster:
    """Return a cluster of patches with their rows, equal rows only once."""
    first: dict[int, int] = {}
    for at, row in local:
        first.setdefault(row, at)
    rows, columns = list(first), [row for _, row in local]
    # The sum is added up column by column, and no column is copied before it is needed.
    sums = values[columns[0], rows]
    for column in columns[1:]:
        sums += values[column, rows]
    medoid = int(sums.argmax())
    representative = first[rows[medoid]]
    least = float(values[rows[medoid], columns].min())
    return Cluster(tuple(at for at, _ in local), representative, least)


def _unweighted(pool: Pool, cluster: Cluster) -> Cluster:
    """Give a cluster the smallest score, not the smallest weighted one."""
    least = min(pool.score(cluster.representative, at) for at in cluster.members)
    return replace(cluster, min_similarity=least)
