"""Clusters of revisions that are alike: agglomerative, on 1 - ES, with medoids."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from excise.errors import OptionError
from excise.pairwise import ScoreMatrix

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "DISTANCE",
    "LINKAGE",
    "LINKAGES",
    "Cluster",
    "Merge",
    "check",
    "cluster",
    "cluster_values",
    "labels",
    "merges",
]

DISTANCE = 0.5
LINKAGE = "average"
LINKAGES = ("average", "complete", "single")


@dataclass(frozen=True, slots=True)
class Cluster:
    """Revisions that are alike, by index.

    ``representative`` is the medoid, the member with the largest mean similarity to the others
    (the first of several); ``min_similarity`` is the smallest similarity of a member to it.
    """

    members: tuple[int, ...]
    representative: int
    min_similarity: float


def cluster(
    matrix: ScoreMatrix, *, threshold: float = DISTANCE, linkage: str = LINKAGE
) -> tuple[Cluster, ...]:
    """Cluster the revisions of a matrix, the largest cluster first.

    Parameters
    ----------
    threshold
        Distance 1 - ES in [0, 1] from which clusters are no longer merged.
    linkage
        ``average``, ``complete`` or ``single``.

    Raises
    ------
    excise.errors.OptionError
        On an unknown linkage or a threshold outside [0, 1].

    Examples
    --------
    >>> cluster(ScoreMatrix.from_texts("a b", ["a c", "a c", "b"]))[0].members
    (0, 1)
    """
    return cluster_values(matrix.values, threshold, linkage)


def cluster_values(
    values: npt.NDArray[np.float64], threshold: float, linkage: str
) -> tuple[Cluster, ...]:
    """Cluster by a symmetric matrix of similarities, as `cluster` does.

    Raises
    ------
    excise.errors.OptionError
        On an unknown linkage or a threshold outside [0, 1].
    """
    check(threshold, linkage)
    groups: dict[int, list[int]] = defaultdict(list)
    for at, label in enumerate(labels(1.0 - values, threshold, linkage)):
        groups[label].append(at)
    found = [_cluster(values, members) for members in groups.values()]
    return tuple(sorted(found, key=lambda c: (-len(c.members), c.members)))


def check(threshold: float, linkage: str) -> None:
    """Refuse an unknown linkage and a threshold outside [0, 1]."""
    if linkage not in LINKAGES:
        raise OptionError(f"linkage is {linkage!r}; it must be one of {', '.join(LINKAGES)}")
    if not 0 <= threshold <= 1:
        raise OptionError(f"threshold is {threshold}; a distance 1 - ES lies between 0 and 1")


@dataclass(frozen=True, slots=True)
class Merge:
    """Two clusters become one: leaves are 0 .. n - 1, the result of merge m is n + m."""

    a: int
    b: int
    distance: float


def merges(distances: npt.NDArray[np.float64], linkage: str = LINKAGE) -> tuple[Merge, ...]:
    """Return the whole tree of a linkage, n - 1 merges, the nearest first."""
    check(0, linkage)
    if len(distances) < 2:
        return ()
    from sklearn.cluster import AgglomerativeClustering

    model = AgglomerativeClustering(
        n_clusters=None, metric="precomputed", linkage=linkage, distance_threshold=0
    )
    found = model.fit(distances)
    return tuple(
        Merge(int(a), int(b), float(distance))
        for (a, b), distance in zip(found.children_, found.distances_, strict=True)
    )


def labels(distances: npt.NDArray[np.float64], threshold: float, linkage: str) -> list[int]:
    """Return a cluster's number for each row of a matrix of distances."""
    if len(distances) < 2:
        return [0] * len(distances)
    from sklearn.cluster import AgglomerativeClustering

    model = AgglomerativeClustering(
        n_clusters=None, metric="precomputed", linkage=linkage, distance_threshold=threshold
    )
    return [int(label) for label in model.fit(distances).labels_]


def _cluster(values: npt.NDArray[np.float64], members: list[int]) -> Cluster:
    inside = values[members][:, members]
    medoid = int(inside.sum(axis=1).argmax())
    return Cluster(tuple(members), members[medoid], float(inside[medoid].min()))
