"""The order of suggestions, with its reasons as numbers: agreement and size of the edit.

The order is advice: what most revisions agree on is not thereby right. How the formula was chosen,
and what it is worth, stands in docs/ranking.md; benchmarks/ranking.py measures it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["AGREEMENT", "BROKEN", "SLACK", "Compared", "Ranked", "rank"]

AGREEMENT = 3.0
"""Weight of the agreement: one more tenth of it outweighs an edit a third larger."""

SLACK = 4
"""Tokens that hardly count: among edits of a few tokens the smallest is no surer than the next."""

BROKEN = 3.0
"""Cost of breaking the syntax: as much as full agreement can bring."""

DIGITS = 12
"""Scores are rounded to so many digits, so that a tie is a tie whatever the last bit says."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A revision in the order of suggestions.

    ``rank`` counts from 1 and is shared by ties. ``agreement`` is the mean similarity to the other
    revisions, None for a lone one; ``edit_size`` counts tokens deleted and inserted. ``no_op`` says
    that the text is the origin's. ``score`` is the value of the formula, comparable within one
    matrix only. ``syntax_errors`` says that the revision breaks the syntax of a whole origin.
    """

    id: str
    index: int
    rank: int
    agreement: float | None
    edit_size: int
    no_op: bool
    notes: tuple[str, ...]
    score: float
    syntax_errors: bool


class Compared(Protocol):
    """What a ranking is made of: a `excise.pairwise.ScoreMatrix` has it, and names each part."""

    @property
    def ids(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def values(self) -> npt.NDArray[np.float64]: ...  # noqa: D102
    @property
    def notes(self) -> tuple[tuple[str, ...], ...]: ...  # noqa: D102
    @property
    def edit_sizes(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def no_ops(self) -> tuple[bool, ...]: ...  # noqa: D102
    @property
    def unchanged(self) -> tuple[bool, ...]: ...  # noqa: D102
    @property
    def syntax_errors(self) -> tuple[bool, ...]: ...  # noqa: D102


def rank(matrix: Compared) -> tuple[Ranked, ...]:
    """Rank the revisions of a matrix without a reference.

    Edits come first, then edits of what is no token (white space), then no-ops. Within each:
    ``score = 3 * agreement - ln(4 + edit_size) - (3 if it introduces syntax errors)``, the larger
    the better. Equal scores share a rank and stand in the order of the matrix. Neither rank nor
    score of a revision depends on that order.

    Returns
    -------
    tuple of Ranked
        All revisions, by rank. The order is advice; it does not say that any revision is right.

    Examples
    --------
    >>> from excise.pairwise import ScoreMatrix
    >>> matrix = ScoreMatrix.from_texts("a b", {"x": "a b", "y": "a c", "z": "a c"})
    >>> [(ranked.id, ranked.rank) for ranked in rank(matrix)]
    [('y', 1), ('z', 1), ('x', 3)]
    """
    agreements = _agreements(matrix)
    scores = [
        _score(agreement or 0.0, size, broken)
        for agreement, size, broken in zip(
            agreements, matrix.edit_sizes, matrix.syntax_errors, strict=True
        )
    ]
    # A no-op leaves the tokens unchanged too, so the sum is 0 for edits, 1 for edits of white
    # space, 2 for no-ops.
    idle = [sum(pair) for pair in zip(matrix.unchanged, matrix.no_ops, strict=True)]
    keys = [(level, -score) for level, score in zip(idle, scores, strict=True)]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    ranks: dict[tuple[int, float], int] = {}
    for place, at in enumerate(order, start=1):
        ranks.setdefault(keys[at], place)
    return tuple(
        Ranked(
            id=matrix.ids[at],
            index=at,
            rank=ranks[keys[at]],
            agreement=agreements[at],
            edit_size=matrix.edit_sizes[at],
            no_op=matrix.no_ops[at],
            notes=matrix.notes[at],
            score=scores[at],
            syntax_errors=matrix.syntax_errors[at],
        )
        for at in order
    )


def _agreements(matrix: Compared) -> list[float] | list[None]:
    """Return the mean similarity of each revision to the others; None for a lone one."""
    others = len(matrix.ids) - 1
    if others < 1:
        return [None] * len(matrix.ids)
    return [float(mean) for mean in (_sums(matrix.values) - 1.0) / others]


def _sums(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the sums of the rows; sorted, as a sum of floats depends on the order of its terms."""
    import numpy as np

    sums: npt.NDArray[np.float64] = np.sort(values, axis=1).sum(axis=1)
    return sums


def _score(agreement: float, edit_size: int, broken: bool) -> float:
    cost = log(SLACK + edit_size) + BROKEN * broken
    return round(AGREEMENT * agreement - cost, DIGITS)
