"""The order of suggestions, with its reasons as numbers: agreement and size of the edit.

The order is advice: what most revisions agree on is not thereby right.
"""

from __future__ import annotations

from dataclasses import dataclass

from excise.pairwise import ScoreMatrix

__all__ = ["Ranked", "rank"]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A revision in the order of suggestions.

    ``rank`` counts from 1 and is shared by ties. ``agreement`` is the mean similarity to the other
    revisions, None for a lone one; ``edit_size`` counts tokens deleted and inserted. ``no_op`` says
    that the text is the origin's; a revision that changes no token never ranks above one that does.
    """

    id: str
    index: int
    rank: int
    agreement: float | None
    edit_size: int
    no_op: bool
    notes: tuple[str, ...]


def rank(matrix: ScoreMatrix) -> tuple[Ranked, ...]:
    """Rank the revisions of a matrix: edits before no-ops, agreement, then the smaller edit.

    Examples
    --------
    >>> matrix = ScoreMatrix.from_texts("a b", {"x": "a b", "y": "a c", "z": "a c"})
    >>> [(ranked.id, ranked.rank) for ranked in rank(matrix)]
    [('y', 1), ('z', 1), ('x', 3)]
    """
    order = sorted(range(len(matrix.ids)), key=lambda at: _key(matrix, at))
    ranks: dict[tuple[bool, float, int], int] = {}
    for place, at in enumerate(order, start=1):
        ranks.setdefault(_key(matrix, at), place)
    return tuple(
        Ranked(
            id=matrix.ids[at],
            index=at,
            rank=ranks[_key(matrix, at)],
            agreement=agreement(matrix, at),
            edit_size=matrix.edit_sizes[at],
            no_op=matrix.no_ops[at],
            notes=matrix.notes[at],
        )
        for at in order
    )


def agreement(matrix: ScoreMatrix, at: int) -> float | None:
    """Return the mean similarity of a revision to the others; None when there are none."""
    others = len(matrix.ids) - 1
    return float((matrix.values[at].sum() - 1.0) / others) if others else None


def _key(matrix: ScoreMatrix, at: int) -> tuple[bool, float, int]:
    agreed = agreement(matrix, at) or 0.0
    # Rounded, because sums of the same numbers in another order differ in the last place.
    return (matrix.unchanged[at], -round(agreed, 12), matrix.edit_sizes[at])
