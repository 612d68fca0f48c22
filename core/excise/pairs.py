"""Pairs of prepared revisions: what the guards decide, and the rest by kernels, row by row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from excise._counts import Batch
from excise._walk import CancelFlag
from excise.excision import score_pair
from excise.preparation import Preparation, Prepared

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

__all__ = ["Group", "Map", "fill"]

Map = Callable[..., Iterable[Any]]
BLOCKS = 16
"""Into so many pieces a matrix is cut for the caller's `map`."""


@dataclass(frozen=True, slots=True)
class Group:
    """The revisions of an origin, as one tokeniser reads them."""

    preparation: Preparation
    revisions: tuple[Prepared, ...]


def fill(values: Values, group: Group, map: Map, cancel: CancelFlag | None) -> None:
    """Write the score of every pair that is NaN, and 1 on the diagonal.

    Parameters
    ----------
    values
        k x k, symmetric; pairs that are no NaN stay.
    map
        Runs the row blocks, which hold no GIL.
    """
    import numpy as np

    _guard(values, group, map, cancel)
    np.fill_diagonal(values, 1.0)
    if group.preparation.options.lcs == "paper":
        _fill_slowly(values, group)
        return
    units = group.preparation.origin.units
    revisions = [(r.edits, r.units.tokens, r.units.starts) for r in group.revisions]
    batch = Batch(units.tokens, units.starts, revisions)
    steps = min(len(revisions), BLOCKS)
    list(map(lambda start: batch.rows(start, steps, values, cancel), range(steps)))


def _fill_slowly(values: Values, group: Group) -> None:
    for i, j in combinations(range(len(group.revisions)), 2):
        if values[i, j] != values[i, j]:
            score = score_pair(group.preparation, group.revisions[i], group.revisions[j])
            values[i, j] = values[j, i] = score.value


def _guard(values: Values, group: Group, map: Map, cancel: CancelFlag | None) -> None:
    """Apply the guards of section 5, the last first, so that an earlier one wins."""
    import numpy as np

    open_pairs = np.isnan(values)
    revisions = group.revisions
    decided = values.copy()
    for key in (_line_keys, _tokens):
        for equal in _same(revisions, key):
            decided[np.ix_(equal, equal)] = 1.0
    origins = [at for at, revision in enumerate(revisions) if revision.is_origin]
    decided[origins, :] = decided[:, origins] = 0.0
    unchanged = np.ix_(origins, origins)
    if len({revisions[at].text for at in origins}) > 1:
        # Edits of white space: the same pairs by raw lines, where at most one text is the origin's.
        raw = group.preparation.raw()
        lines = Group(raw, tuple(raw.revision(revisions[at].text, cancel) for at in origins))
        inner = np.full((len(origins), len(origins)), np.nan)
        fill(inner, lines, map, cancel)
        decided[unchanged] = inner
    else:
        decided[unchanged] = 1.0
    values[open_pairs] = decided[open_pairs]


def _tokens(revision: Prepared) -> bytes:
    return revision.lines.tokens.tobytes()


def _line_keys(revision: Prepared) -> bytes:
    by_line = revision.units.starts is not None
    return revision.units.units.tobytes() if by_line else _tokens(revision)


def _same(revisions: tuple[Prepared, ...], key: Callable[[Prepared], Hashable]) -> list[list[int]]:
    """Group the revisions by a key; groups of one say nothing."""
    found: dict[Hashable, list[int]] = defaultdict(list)
    for at, revision in enumerate(revisions):
        found[key(revision)].append(at)
    return [group for group in found.values() if len(group) > 1]
