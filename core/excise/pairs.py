"""Pairs of prepared revisions: what the guards decide, and the rest by kernels, row by row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, fields
from itertools import combinations, product
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from excise.agreement import MOVED, NEARLY_ALL, OVERLAPS, SOME
from excise.excision import score_pair
from excise.kernels._counts import Batch
from excise.kernels._walk import CancelFlag
from excise.preparation import Prepared, PreparedOrigin

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Values = npt.NDArray[np.float64]
    Mask = npt.NDArray[np.bool_]

Map = Callable[..., Iterable[Any]]
BLOCKS = 16
"""The number of blocks of a matrix for the caller's `map`."""

NEARLY_TIED = 1e-9
"""Floats this close to a bound of `excise.agreement` are decided by fractions."""


Origin = TypeVar("Origin", bound=PreparedOrigin, covariant=True)


@dataclass(frozen=True, slots=True)
class Group(Generic[Origin]):
    """The revisions of an origin, as one tokeniser reads them."""

    preparation: Origin
    revisions: tuple[Prepared, ...]


@dataclass(frozen=True, slots=True)
class Standings:
    """The known facts about every pair of k revisions: k x k arrays, symmetric except `contained`.

    - ``values``: the similarity.
    - ``anchored``, ``anywhere``: the similarity if only equal edits at the same place counted, and
      if equal edits counted at any place.
    - ``contained``: [i, j]: how much of revision i's edit revision j has at the same place.
    - ``overlaps``: whether they have a part in common, as `excise.agreement.overlaps` says.
    - ``by_lines``: whether raw lines were compared in the end.
    """

    values: Values
    anchored: Values
    anywhere: Values
    contained: Values
    overlaps: Mask
    by_lines: Mask

    def write(
        self, rows: list[int], source: Standings, wanted: Mask, names: Iterable[str] = ()
    ) -> None:
        """Take the wanted pairs of some revisions from another comparison of them.

        ``names`` are the arrays to take, or none for all of them.
        """
        import numpy as np

        chosen = np.ix_(rows, rows)
        for name in names or [field.name for field in fields(self)]:
            target = getattr(self, name)
            target[chosen] = np.where(wanted, getattr(source, name), target[chosen])


def compare(
    group: Group[PreparedOrigin],
    map: Map,
    cancel: CancelFlag | None,
    *,
    raw: bool = False,
    of_first: bool = False,
) -> Standings:
    """Compare every pair of a group: by the formula, then by the guards of section 5.

    - ``map``: runs the row blocks, which release the GIL.
    - ``raw``: whether these are already raw lines, of which a pair without a defined operation
      scores 0.
    - ``of_first``: compare only the pairs of the first revision. The rest of the result means
      nothing.
    """
    import numpy as np

    standings = _counted(group, map, cancel, of_first)
    np.fill_diagonal(standings.contained, 1.0)
    undefined = standings.values < 0
    for plane in (standings.values, standings.anchored, standings.anywhere):
        plane[undefined] = 0.0
    standings.overlaps[:] = _overlaps(group, standings)
    same, undone = _guards(group.revisions)
    for plane in (standings.values, standings.anchored, standings.anywhere):
        plane[undone] = 0.0
        plane[same] = 1.0
    standings.overlaps[undone] = False
    standings.overlaps[same] = True
    if group.preparation.options.place == "pooled":
        standings.values[:] = _pooled(group, map, cancel, same, undone, of_first)
        # Everything is one place, as for a single pair. Words and containment stay those of places.
        standings.anchored[:] = standings.anywhere[:] = standings.values
    if not raw:
        unchanged = np.array([revision.is_origin for revision in group.revisions], dtype=bool)
        by_lines = np.outer(unchanged, unchanged) & ~same
        rearranged = undefined & ~undone & ~same
        if of_first:
            by_lines[1:, 1:] = False
        if group.preparation.options.anchored:
            by_lines |= rearranged
        else:
            _by_raw_lines(standings, group, rearranged, map, cancel, ("contained", "overlaps"))
        _by_raw_lines(standings, group, by_lines, map, cancel)
        standings.by_lines[:] = by_lines
    return standings


def compare_one(
    group: Group[PreparedOrigin], at: int, before: Standings, map: Map, cancel: CancelFlag | None
) -> Standings:
    """Compare a revision with all others of a group, which are taken as they were compared before.

    - ``at``: index of the revision.
    - ``before``: what `compare` found of the group with another revision in its place.
    """
    import numpy as np

    k = len(group.revisions)
    order = [at, *range(at), *range(at + 1, k)]
    turned = Group(group.preparation, tuple(group.revisions[index] for index in order))
    wanted = np.zeros((k, k), dtype=bool)
    wanted[0] = wanted[:, 0] = True
    standings = Standings(*(np.array(getattr(before, field.name)) for field in fields(before)))
    standings.write(order, compare(turned, map, cancel, of_first=True), wanted)
    return standings


def _counted(
    group: Group[PreparedOrigin], map: Map, cancel: CancelFlag | None, of_first: bool
) -> Standings:
    """Return what the kernel finds, place by place, or -1 if no operation is defined."""
    import numpy as np

    k = len(group.revisions)
    units, lines = group.preparation.origin.units, group.preparation.origin_lines
    revisions = [(r.slid, r.units.tokens, r.units.starts) for r in group.revisions]
    planes = np.zeros((4, k, k))
    _run(Batch(units.tokens, units.starts, revisions, lines), planes, map, cancel, of_first)
    values, anchored, anywhere, contained = planes
    overlaps, by_lines = np.zeros((k, k), np.bool_), np.zeros((k, k), np.bool_)
    return Standings(values, anchored, anywhere, contained, overlaps, by_lines)


def _run(batch: Batch, planes: Values, map: Map, cancel: CancelFlag | None, of_first: bool) -> None:
    k = planes.shape[1]
    steps = k if of_first else min(k, BLOCKS)
    starts = range(min(k, 1)) if of_first else range(steps)
    list(map(lambda start: batch.rows(start, steps, planes, cancel), starts))


def _pooled(
    group: Group[PreparedOrigin],
    map: Map,
    cancel: CancelFlag | None,
    same: Mask,
    undone: Mask,
    of_first: bool,
) -> Values:
    """Return the similarity of ``place:pooled``, or 1 if no operation is defined."""
    import numpy as np

    k = len(group.revisions)
    planes = np.zeros((4, k, k))
    if group.preparation.options.lcs == "paper":
        for i, j in product((0,), range(1, k)) if of_first else combinations(range(k), 2):
            score = score_pair(group.preparation, group.revisions[i], group.revisions[j])
            planes[0, i, j] = planes[0, j, i] = score.value
    else:
        units = group.preparation.origin.units
        revisions = [(r.edits, r.units.tokens, r.units.starts) for r in group.revisions]
        _run(Batch(units.tokens, units.starts, revisions), planes, map, cancel, of_first)
    values: Values = planes[0]
    values[values < 0] = 1.0
    values[undone] = 0.0
    values[same] = 1.0
    return values


def _by_raw_lines(
    standings: Standings,
    group: Group[PreparedOrigin],
    wanted: Mask,
    map: Map,
    cancel: CancelFlag | None,
    names: Iterable[str] = (),
) -> None:
    """Compare pairs by whole lines: edits of white space only, and lines that were rearranged.

    ``names`` are the arrays of the standings to replace, or none for all of them.
    """
    import numpy as np

    rows = np.flatnonzero(wanted.any(axis=1)).tolist()
    if not rows:
        return
    raw = group.preparation.raw()
    lines = Group(raw, tuple(raw.revision(group.revisions[i].text, cancel) for i in rows))
    standings.write(rows, compare(lines, map, cancel, raw=True), wanted[np.ix_(rows, rows)], names)


def _overlaps(group: Group[PreparedOrigin], standings: Standings) -> Mask:
    """Return which pairs overlap, if no guard decides: by fractions where floats are too near."""
    import numpy as np

    contained = np.maximum(standings.contained, standings.contained.T)
    apart = standings.anywhere - standings.anchored
    elsewhere = (standings.anywhere >= float(NEARLY_ALL)) & (apart >= float(MOVED))
    near = (abs(apart - float(MOVED)) < NEARLY_TIED) | (
        abs(standings.anywhere - float(NEARLY_ALL)) < NEARLY_TIED
    )
    overlapping: Mask = elsewhere | (contained >= float(SOME))
    for i, j in zip(*np.nonzero(np.triu(near, 1)), strict=True):
        score = score_pair(group.preparation, group.revisions[i], group.revisions[j])
        overlapping[i, j] = overlapping[j, i] = score.text_word == OVERLAPS
    return overlapping


def _guards(revisions: tuple[Prepared, ...]) -> tuple[Mask, Mask]:
    """Return the pairs that are equal (guards 1 and 4), and those where one does nothing (3)."""
    import numpy as np

    k = len(revisions)
    equal = np.eye(k, dtype=bool)
    by_line = any(revision.units.starts is not None for revision in revisions)
    for key in (_line_keys, _tokens) if by_line else (_tokens,):
        for members in _same(revisions, key):
            equal[np.ix_(members, members)] = True
    identical = np.eye(k, dtype=bool)
    for members in _same(revisions, attrgetter("text")):
        identical[np.ix_(members, members)] = True
    origins = np.array([revision.is_origin for revision in revisions], dtype=bool)
    undone = (origins[:, None] | origins[None, :]) & ~identical
    return (equal | identical) & ~undone, undone


def _tokens(revision: Prepared) -> bytes:
    return revision.digest or revision.lines.tokens.tobytes()


def _line_keys(revision: Prepared) -> bytes:
    by_line = revision.units.starts is not None
    return revision.units.units.tobytes() if by_line else _tokens(revision)


def _same(revisions: tuple[Prepared, ...], key: Callable[[Prepared], Hashable]) -> list[list[int]]:
    """Group the revisions by a key, leaving out groups of one."""
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for index, revision in enumerate(revisions):
        groups[key(revision)].append(index)
    return [members for members in groups.values() if len(members) > 1]
