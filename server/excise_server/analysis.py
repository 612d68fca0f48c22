"""From a snapshot to numbers: pure, and the same for the command and the language server."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import excise
from excise_server.snapshot import Snapshot

__all__ = ["Comparison", "Map", "compare"]

Map = Callable[..., Iterable[Any]]
"""How work on several items is run: the built-in `map`, an executor's, or one that can stop."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that is known of the revisions as whole texts.

    ``ranking`` is in rank order and ``clusters`` are largest first; both name revisions by their
    index in the snapshot. ``notes`` holds one tuple per revision, in the snapshot's order.
    """

    matrix: excise.ScoreMatrix
    ranking: tuple[excise.Ranked, ...]
    clusters: tuple[excise.Cluster, ...]
    signature: str
    notes: tuple[tuple[str, ...], ...]


def compare(snapshot: Snapshot, map: Map = map) -> Comparison:
    """Score every pair of revisions; rank and cluster them."""
    options = snapshot.options
    matrix = excise.ScoreMatrix.from_texts(
        snapshot.origin,
        [revision.text for revision in snapshot.revisions],
        ids=snapshot.ids,
        language=snapshot.language,
        path=snapshot.path,
        granularity=options.granularity,
        lcs=options.lcs,
        comments=options.comments,
        map=map,
    )
    return Comparison(
        matrix=matrix,
        ranking=tuple(excise.rank(matrix)),
        clusters=tuple(excise.cluster(matrix)),
        signature=matrix.signature,
        notes=matrix.notes,
    )
