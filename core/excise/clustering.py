"""Clusters of revisions that are alike: agglomerative, on 1 - ES, with medoids.

They are those of scikit-learn's ``AgglomerativeClustering``, which is imported only where the
linkage decides (`clear_labels`), because that takes a second of CPU. Large pools of patches, whose
matrix must not be copied, hand their distances to SciPy's linkage (`linked_labels`), which is what
scikit-learn calls for given distances; tests hold both equal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from excise.display import clusters_html
from excise.errors import ContentError, OptionError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from sklearn.cluster import AgglomerativeClustering

    from excise.pairwise import ScoreMatrix

DISTANCE = 0.5
LINKAGE = "average"
LINKAGES = ("average", "complete", "single")
_ROUNDING = 1e-9
"""More than the rounding of a mean of distances."""
_APART = 1e-12
"""The least distance of two that are not the same code, so that those that are merge first."""
_UP_TO_NAMES = 0.1
"""The largest distance of two that are the same up to names."""
_ROWS = 256
"""So many rows of a matrix are looked at together."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Revisions that are alike, by index.

    ``representative`` is the medoid, the member with the largest mean similarity to the others
    (the first of several); ``min_similarity`` is the smallest similarity of a member to it. ``ids``
    are those of the members, where what was clustered has ids.
    """

    members: tuple[int, ...]
    representative: int
    min_similarity: float
    ids: tuple[str, ...] = field(default=(), compare=False)

    @property
    def name(self) -> str:
        """The representative's id, or its index if the matrix has no ids."""
        own = self.members.index(self.representative)
        return self.ids[own] if self.ids else str(self.representative)


class Clusters(tuple[Cluster, ...]):
    """Clusters, the largest first, shown as a table in a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        rows = [(c.name, c.ids or [str(i) for i in c.members], c.min_similarity) for c in self]
        return clusters_html(rows)


def cluster(
    matrix: ScoreMatrix, *, threshold: float = DISTANCE, linkage: str = LINKAGE
) -> Clusters:
    """Cluster the revisions of a matrix, the largest cluster first.

    Revisions with the same code have the distance 0, so that they are never in two clusters, and
    those that are the same up to names at most .1.

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
    excise.errors.ContentError
        If `matrix` is not a matrix with ids.

    Examples
    --------
    >>> from excise.pairwise import ScoreMatrix
    >>> matrix = ScoreMatrix.from_texts("a b", {"x": "a c", "y": "b", "z": "a c"})
    >>> [group.ids for group in cluster(matrix)]
    [('x', 'z'), ('y',)]
    """
    if not (hasattr(matrix, "ids") and hasattr(matrix, "codes")):
        kind = type(matrix).__name__
        raise ContentError(f"matrix is of type {kind}; give a ScoreMatrix")
    groups = cluster_values(
        matrix.values, threshold, linkage, matrix.codes, matrix.digests, matrix.codes_up_to_names
    )
    return Clusters(
        replace(group, ids=tuple(matrix.ids[index] for index in group.members)) for group in groups
    )


def cluster_values(
    values: npt.NDArray[np.float64],
    threshold: float,
    linkage: str,
    codes: Sequence[str] | None = None,
    digests: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
) -> tuple[Cluster, ...]:
    """Cluster by a symmetric matrix of similarities, as `cluster` does.

    - ``codes``: for each row, a key that rows of the same code share (default: there are none).
      For any threshold above 0 these are in one cluster, whose medoid and smallest similarity are
      by the values.
    - ``digests``: for each row, what stands for its content: of two pairs equally near, the one
      whose digests come first is joined first, whatever the order of the rows.
    - ``names``: for each row, a key that rows share which are the same up to names.

    Raises excise.errors.OptionError on an unknown linkage or a threshold outside [0, 1].
    """
    check(threshold, linkage)
    distances = 1.0 - values
    for keys, most in ((names, _UP_TO_NAMES), (codes, 0.0)):
        if keys is None or len(set(keys)) == len(keys):
            continue
        import numpy as np

        distances = np.maximum(distances, _APART)  # those of the same code alone are 0
        together = defaultdict(list)
        for at, key in enumerate(keys):
            together[key].append(at)
        for own in together.values():
            part = np.ix_(own, own)
            distances[part] = np.minimum(distances[part], most)
    groups: dict[int, list[int]] = defaultdict(list)
    for at, label in enumerate(labels(distances, threshold, linkage, digests)):
        groups[label].append(at)
    found = [_cluster(values, members) for members in groups.values()]
    return tuple(sorted(found, key=lambda c: (-len(c.members), c.members)))


def check(threshold: float, linkage: str) -> None:
    """Refuse an unknown linkage and a threshold outside [0, 1]."""
    if linkage not in LINKAGES:
        raise OptionError(f"linkage is {linkage!r}; it must be one of {', '.join(LINKAGES)}")
    if not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
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
    model = _fitted(distances, 0, linkage)
    return tuple(
        Merge(int(a), int(b), float(distance))
        for (a, b), distance in zip(model.children_, model.distances_, strict=True)
    )


def labels(
    distances: npt.NDArray[np.float64],
    threshold: float,
    linkage: str,
    digests: Sequence[str] | None = None,
) -> list[int]:
    """Return a cluster's number for each row of a symmetric matrix of distances.

    Numbers say only which rows belong together. ``digests`` as for `cluster_values`.
    """
    n = len(distances)
    if n < 2:
        return [0] * n
    clear = clear_labels(distances, threshold, linkage)
    if clear is not None:
        return clear

    def fitted(matrix: npt.NDArray[np.float64]) -> list[int]:
        return [int(label) for label in _fitted(matrix, threshold, linkage).labels_]

    return fitted(distances) if digests is None else in_order(distances, digests, fitted)


def in_order(
    matrix: npt.NDArray[np.float64],
    digests: Sequence[str],
    labelled: Callable[[npt.NDArray[np.float64]], list[int]],
) -> list[int]:
    """Return the labels of rows that are given to a linkage in the order of their digests."""
    order = sorted(range(len(digests)), key=digests.__getitem__)
    found = [0] * len(order)
    for at, label in zip(order, labelled(matrix[order][:, order]), strict=True):
        found[at] = label
    return found


def _fitted(
    distances: npt.NDArray[np.float64], threshold: float, linkage: str
) -> AgglomerativeClustering:
    """Return scikit-learn's model of distances, of which it reads only the upper triangle."""
    from sklearn.cluster import AgglomerativeClustering

    model = AgglomerativeClustering(
        n_clusters=None, metric="precomputed", linkage=linkage, distance_threshold=threshold
    )
    return model.fit(distances)


def linked_labels(values: npt.NDArray[np.float64], threshold: float, linkage: str) -> list[int]:
    """Return the labels of 1 - values by the linkage, in 8 bytes a cell beside the matrix."""
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import squareform

    distances = squareform(values, checks=False)
    distances *= -1.0
    distances += 1.0
    n = len(values)
    label = list(range(2 * n - 1))
    tree = hierarchy.linkage(distances, method=linkage)
    for node, (a, b, distance, _) in reversed(list(enumerate(tree, n))):
        if distance < threshold:
            label[int(a)] = label[int(b)] = label[node]
    return label[:n]


def clear_labels(
    matrix: npt.NDArray[np.float64], threshold: float, linkage: str, *, of_values: bool = False
) -> list[int] | None:
    """Return the labels where every linkage agrees, or None if the linkage decides.

    The matrix holds distances, or values: then distances are 1 - value.

    They agree if "nearer than the threshold" is an equivalence: inside its classes the mean, the
    largest and the smallest distance of any two parts are below it, and between them none is. Most
    matrices are of this kind, and importing scikit-learn takes longer than scoring their texts.
    """
    import numpy as np

    n = len(matrix)
    # A mean of several distances is rounded, the smallest and the largest are not.
    slack = _ROUNDING if linkage == "average" and n > 2 else 0.0
    near = np.ones((n, n), dtype=bool)
    parts = [slice(start, start + _ROWS) for start in range(0, n, _ROWS)]
    for rows in parts:
        distances = 1.0 - matrix[rows] if of_values else matrix[rows]
        near[rows] = distances < threshold - slack
        not_far = distances < threshold + slack
        for relation in (near[rows], not_far):
            relation.flat[rows.start :: n + 1] = True
        if (near[rows] != not_far).any():
            return None
    first = near.argmax(axis=1)
    if any((near[rows] != near[first[rows]]).any() for rows in parts):
        return None
    return [int(label) for label in first]


def _cluster(values: npt.NDArray[np.float64], members: list[int]) -> Cluster:
    inside = values[members][:, members]
    medoid = int(inside.sum(axis=1).argmax())
    return Cluster(tuple(members), members[medoid], float(inside[medoid].min()))


def assigned(
    values: Mapping[tuple[int, int], float], shape: tuple[int, int]
) -> list[tuple[int, int]]:
    """Return the pairs of rows and columns, each in at most one, with the largest sum of values.

    - ``values``: those above 0; other pairs are not made.
    """
    rows, columns = ({pair[side] for pair in values} for side in (0, 1))
    if len(rows) == len(columns) == len(values):  # nobody is asked twice
        return sorted(values)
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    dense = np.zeros(shape)
    for pair, value in values.items():
        dense[pair] = value
    found = zip(
        *(side.tolist() for side in linear_sum_assignment(dense, maximize=True)), strict=True
    )
    return [pair for pair in found if pair in values]
