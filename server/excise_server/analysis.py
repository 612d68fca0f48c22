"""From a snapshot to numbers: pure, and the same for the command and the language server."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import excise
from excise.preparation import PARSER_SECONDS
from excise.text import normalise, raw_lines
from excise_server.places import Place, Ruler, find_places
from excise_server.snapshot import Snapshot
from excise_server.standing import Standing, score_places

__all__ = ["Analysis", "Analyst", "Comparison", "Map", "Site", "compare", "places", "recompare"]

Map = Callable[..., Iterable[Any]]
"""How work on several items is run: the built-in `map`, or an executor's."""

MEMORY = 256 << 20
"""Bytes of scores that an `Analyst` keeps, as estimated from the sizes of the texts."""

_PER_CHARACTER = 24
"""Bytes kept for a character of the texts, with tokens, lines and alignments (22 were measured)."""


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
class Site:
    """Where a place stands: its lines in the buffer, or in the origin without one.

    ``crossed`` tells that unsaved edits reach into it from outside.
    """

    lo: int
    hi: int
    crossed: bool = False


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything that is known of a snapshot.

    ``sites`` are where its places stand; ``given`` are the places of the revisions without the
    buffer as one of them: what was typed beside a place is no part of these.
    """

    snapshot: Snapshot
    comparison: Comparison
    standings: tuple[Standing, ...]
    sites: tuple[Site, ...]
    given: tuple[tuple[Place, Site], ...]

    @property
    def lines(self) -> tuple[tuple[int, int], ...]:
        """The places' lines (from, to) in the buffer, or in the origin without one."""
        return tuple((site.lo, site.hi) for site in self.sites)


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
        timeout=PARSER_SECONDS,
    )
    return _described(matrix)


def recompare(
    before: Snapshot, known: Comparison, snapshot: Snapshot, cancel: excise.CancelFlag
) -> Comparison | None:
    """Compare again when few texts changed: only their rows are computed. None if many did."""
    same = replace(snapshot, revisions=before.revisions).scored == before.scored
    if not same or snapshot.ids != before.ids:
        return None
    both = zip(before.revisions, snapshot.revisions, strict=True)
    changed = [new for old, new in both if old.text != new.text]
    if 3 * len(changed) > len(snapshot.revisions):
        return None
    matrix = known.matrix
    for revision in changed:
        matrix = matrix.replaced(revision.id, revision.text, cancel=cancel)
    return _described(matrix)


def places(snapshot: Snapshot, cancel: excise.CancelFlag | None = None) -> tuple[Place, ...]:
    """Return the places where the exact texts of origin and revisions differ."""
    return find_places(snapshot.origin, [revision.text for revision in snapshot.revisions], cancel)


def _described(matrix: excise.ScoreMatrix) -> Comparison:
    return Comparison(
        matrix=matrix,
        ranking=excise.rank(matrix),
        clusters=excise.cluster(matrix),
        signature=matrix.signature,
        notes=matrix.notes,
    )


class Analyst:
    """Analyses snapshots, and keeps the scores of the last few: most changes only move lines.

    Used by one thread.
    """

    def __init__(self, limit: int = MEMORY) -> None:
        """Keep the scores of so many bytes of snapshots; those of the last one in any case."""
        self._limit = limit
        self._kept: OrderedDict[object, Analysis] = OrderedDict()
        self._bare: tuple[object, tuple[Place, ...]] | None = None

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
            comparison = self._compared(replace(snapshot, origin=first), cancel)
            return Analysis(snapshot, comparison, (), (), ())
        known = self._kept.get(snapshot.scored)
        if known is None:
            comparison = self._compared(snapshot, cancel)
            order = [ranked.index for ranked in comparison.ranking]
            standings = score_places(places(snapshot, cancel), comparison.matrix, order, cancel)
        else:
            comparison, standings = known.comparison, known.standings
        sites = _sites(snapshot, [standing.place for standing in standings])
        given = self._given(snapshot, standings, sites, cancel)
        analysis = Analysis(snapshot, comparison, standings, sites, given)
        self._kept[snapshot.scored] = analysis
        self._kept.move_to_end(snapshot.scored)
        while len(self._kept) > 1 and sum(map(_weight, self._kept.values())) > self._limit:
            self._kept.popitem(last=False)
        return analysis

    def _given(
        self,
        snapshot: Snapshot,
        standings: tuple[Standing, ...],
        sites: tuple[Site, ...],
        cancel: excise.CancelFlag,
    ) -> tuple[tuple[Place, Site], ...]:
        """Return places and sites without the buffer as a revision; found once per revisions."""
        if snapshot.own is None:
            return tuple((s.place, site) for s, site in zip(standings, sites, strict=True))
        others = (r for at, r in enumerate(snapshot.revisions) if at != snapshot.own)
        bare = replace(snapshot, revisions=tuple(others))
        if self._bare is None or self._bare[0] != bare.scored:
            self._bare = (bare.scored, places(bare, cancel))
        found = self._bare[1]
        return tuple(zip(found, _sites(bare, found), strict=True))

    def _compared(self, snapshot: Snapshot, cancel: excise.CancelFlag) -> Comparison:
        """Compare from what the last snapshot of this document left, or from the start."""
        for before in reversed(self._kept.values()):
            if before.snapshot.uri_or_path == snapshot.uri_or_path:
                try:
                    again = recompare(before.snapshot, before.comparison, snapshot, cancel)
                except excise.Cancelled:
                    if not cancel.timed_out:
                        raise
                    break
                if again is not None:
                    return again
                break
        return compare(snapshot, cancel=cancel)


def _weight(analysis: Analysis) -> int:
    """Return about how many bytes are kept for an analysis."""
    snapshot = analysis.snapshot
    return _PER_CHARACTER * (len(snapshot.origin) + sum(len(r.text) for r in snapshot.revisions))


def _sites(snapshot: Snapshot, places: Sequence[Place]) -> tuple[Site, ...]:
    """Return where the places stand now.

    What is typed beside a place is no part of it, unless it makes one of the variants: then it was
    applied, and another variant replaces it.
    """
    if not places:
        return ()
    text = snapshot.origin if snapshot.buffer is None else snapshot.buffer
    ruler, lines = Ruler.between(snapshot.origin, text), raw_lines(normalise(text))
    own = (snapshot.own,)
    sites = []
    for place in places:
        span, cover = ruler.span(place.lo, place.hi), ruler.cover(place.lo, place.hi)
        crossed = ruler.crosses(place.lo, place.hi)
        if not crossed and cover != span:
            applied = "".join(lines[slice(*cover)])
            if any(v.text == applied and v.members != own for v in place.variants):
                span = cover
        sites.append(Site(*span, crossed))
    return tuple(sites)
