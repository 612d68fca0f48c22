"""From a snapshot to numbers: pure, and the same for the command and the language server."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import excise
from excise_server.places import Place, Ruler, find_places
from excise_server.snapshot import Snapshot
from excise_server.standing import Standing, score_places

__all__ = ["Analysis", "Analyst", "Comparison", "Map", "compare", "places"]

Map = Callable[..., Iterable[Any]]
"""How work on several items is run: the built-in `map`, or an executor's."""


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


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything that is known of a snapshot.

    ``lines`` are the places' lines (from, to) in the buffer, or in the origin without one.
    """

    snapshot: Snapshot
    comparison: Comparison
    standings: tuple[Standing, ...]
    lines: tuple[tuple[int, int], ...]


def compare(
    snapshot: Snapshot, map: Map = map, cancel: excise.CancelFlag | None = None
) -> Comparison:
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
        cancel=cancel,
    )
    return Comparison(
        matrix=matrix,
        ranking=excise.rank(matrix),
        clusters=excise.cluster(matrix),
        signature=matrix.signature,
        notes=matrix.notes,
    )


def places(snapshot: Snapshot) -> tuple[Place, ...]:
    """Return the places where the exact texts of origin and revisions differ."""
    return find_places(snapshot.origin, [revision.text for revision in snapshot.revisions])


class Analyst:
    """Analyses snapshots, and keeps the scores of the last few: most changes only move lines.

    Used by one thread.
    """

    def __init__(self, size: int = 8) -> None:
        """Keep the scores of ``size`` documents."""
        self._size = size
        self._kept: OrderedDict[object, tuple[Comparison, tuple[Standing, ...]]] = OrderedDict()

    def analyse(self, snapshot: Snapshot, cancel: excise.CancelFlag) -> Analysis:
        """Return all that is known of a snapshot.

        Without revisions that is a signature, for which the first line is read: it may name the
        language, and most files that an editor opens never get a revision.

        Raises
        ------
        excise.errors.Cancelled
            When the flag was raised meanwhile.
        """
        if not snapshot.revisions:
            first, _, _ = snapshot.origin.partition("\n")
            snapshot = replace(snapshot, origin=first)
        if snapshot.scored not in self._kept:
            self._kept[snapshot.scored] = _score(snapshot, cancel)
        self._kept.move_to_end(snapshot.scored)
        if len(self._kept) > self._size:
            self._kept.popitem(last=False)
        comparison, standings = self._kept[snapshot.scored]
        return Analysis(snapshot, comparison, standings, _lines(snapshot, standings))


def _score(
    snapshot: Snapshot, cancel: excise.CancelFlag
) -> tuple[Comparison, tuple[Standing, ...]]:
    comparison = compare(snapshot, cancel=cancel)
    return comparison, score_places(
        places(snapshot), comparison.matrix, [ranked.index for ranked in comparison.ranking], cancel
    )


def _lines(snapshot: Snapshot, standings: tuple[Standing, ...]) -> tuple[tuple[int, int], ...]:
    if not standings:
        return ()
    text = snapshot.origin if snapshot.buffer is None else snapshot.buffer
    ruler = Ruler.between(snapshot.origin, text)
    return tuple(ruler.span(s.place.lo, s.place.hi) for s in standings)
