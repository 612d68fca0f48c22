"""What hangs together: the connected components of graphs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def unite(label: npt.NDArray[np.int32], left: npt.ArrayLike, right: npt.ArrayLike) -> None:
    """Give the ends of edges one label: the first of all that hang together by them.

    In each round every label takes the least that an edge leads to, and what has its label follows.
    """
    import numpy as np

    edges = np.array([left, right], dtype=np.int32)
    while True:
        ends = label[edges]
        apart = ends[0] != ends[1]
        if not apart.any():
            return
        edges, ends = edges[:, apart], ends[:, apart]
        np.minimum.at(label, ends.max(axis=0), ends.min(axis=0))
        while (label != (above := label[label])).any():
            label[:] = above


def members_of(label: npt.NDArray[np.int32]) -> list[list[int]]:
    """Return who has each label, ascending; labels are the first of those that have them."""
    members: dict[int, list[int]] = defaultdict(list)
    for at, own in enumerate(label.tolist()):
        members[own].append(at)
    return list(members.values())


def components(n: int, edges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the connected components of a graph on 0 .. n - 1, by their first members."""
    import numpy as np

    label = np.arange(n, dtype=np.int32)
    ends = [*edges]
    unite(label, [i for i, _ in ends], [j for _, j in ends])
    return members_of(label)
