"""The order of suggestions, with its reasons as numbers: agreement, size, breakage.

The order is advice: what most revisions agree on is not necessarily right. docs/ranking.md says how
the formula was chosen and what it is worth, which benchmarks/ranking.py measures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import log
from typing import TYPE_CHECKING, NamedTuple, Protocol

from excise.errors import ContentError
from excise.facts import EditFacts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "AGREEMENT",
    "APART",
    "BROKEN",
    "SLACK",
    "TIE_BREAK",
    "TINY",
    "Compared",
    "Ranked",
    "Regime",
    "Terms",
    "rank",
]

AGREEMENT = 3.0
"""Weight of the agreement: one more tenth of it outweighs an edit a third larger."""

SLACK = 4
"""Tokens that hardly count: among edits of a few tokens the smallest is no surer than the next."""

TINY = 5
"""Tokens up to which some edit is tiny, and sizes count: a fix may be that small, hardly anything
else. The choice of the items that docs/ranking.md names; 3 to 8 differ by less than .002."""

APART = 0.2
"""Agreement below which the revisions are unrelated, so that sizes count as well."""

TIE_BREAK = 0.01
"""Weight of sizes elsewhere: enough to order two revisions of equal agreement."""

BROKEN = 3.0
"""Cost of being broken: as much as full agreement can bring."""

DIGITS = 12
"""Scores are rounded to so many digits, so that a tie is a tie whatever the last bit says."""


class Regime(Enum):
    """The regime of an order: how far revisions agree, and whether the size of edits counts."""

    SMALL_EDIT = "small edit"
    """Agreement and size, because some edit is tiny."""
    NO_AGREEMENT = "no agreement"
    """Size above all, because the revisions are unrelated."""
    AGREEMENT = "agreement"
    """Agreement; sizes only break ties."""

    @property
    def size_weight(self) -> float:
        """The weight of sizes."""
        return TIE_BREAK if self is Regime.AGREEMENT else 1.0


class Terms(NamedTuple):
    """The terms of a score.

    ``agreement`` is at least 0; ``size`` and ``broken`` are deductions, 0 at most.
    """

    agreement: float
    size: float
    broken: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """A revision in the order of suggestions.

    Attributes
    ----------
    rank
        From 1; ties share one.
    agreement
        Mean similarity to the other revisions; None for a lone one.
    edit_size
        Tokens deleted and inserted.
    no_op
        Whether the text is the origin's.
    score
        The value of the formula, comparable within one ranking only; the sum of `terms`.
    syntax_errors
        Whether the grammar finds its syntax broken although that of the origin is valid.
    regime
        What decided the order; the same for all revisions of a ranking.
    stub
        Whether it changes no code, or only adds names that are never read.
    broken
        Why it cannot work although the origin could, as phrases; empty if nothing is known.
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
    regime: Regime = Regime.SMALL_EDIT
    stub: bool = False
    broken: tuple[str, ...] = ()

    @property
    def terms(self) -> Terms:
        """The terms of the score, each rounded like the score."""
        return _terms(self.agreement, self.edit_size, self.regime, bool(self.broken))


class Compared(Protocol):
    """The input of a ranking: `excise.pairwise.ScoreMatrix` has it and names each part."""

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
    @property
    def facts(self) -> tuple[EditFacts, ...]: ...  # noqa: D102


def rank(matrix: Compared) -> tuple[Ranked, ...]:
    """Rank the revisions of a matrix without a reference.

    Edits come first, then stubs (no code changes, or only names are added that nobody reads), then
    edits that change no token (white space), then no-ops. Within each: ``score = 3 * agreement -
    weight * ln(4 + edit_size) - (3 if it is broken)``, the larger the better. The weight is 1 where
    the smallest edit has 5 tokens at most (`Regime.SMALL_EDIT`) or where no agreement reaches .2
    (`Regime.NO_AGREEMENT`), else .01: looked at are the revisions that come first and are whole.
    Equal scores share a rank and stand in the order of the matrix. Neither rank nor score of a
    revision depends on that order.

    Returns
    -------
    tuple of Ranked
        All revisions, by rank. The order is advice; it does not say that any revision is right.

    Raises
    ------
    excise.errors.ContentError
        If `matrix` is not a matrix.
    excise.errors.Cancelled
        When the flag that the matrix was made with was raised meanwhile: texts are read again.

    Examples
    --------
    >>> from excise.pairwise import ScoreMatrix
    >>> matrix = ScoreMatrix.from_texts("a b", {"x": "a b", "y": "a c", "z": "a c"})
    >>> [(ranked.id, ranked.rank) for ranked in rank(matrix)]
    [('y', 1), ('z', 1), ('x', 3)]
    """
    if not hasattr(matrix, "facts"):
        kind = type(matrix).__name__
        raise ContentError(f"matrix is of type {kind}; give a ScoreMatrix or a ChangeMatrix")
    facts = matrix.facts
    agreements, broken = _agreements(matrix), _broken(matrix.syntax_errors, facts)
    levels = _levels(matrix, facts)
    standing = list(zip(levels, map(bool, broken), strict=True))
    regime = _regime(matrix.edit_sizes, agreements, standing)
    scores = [
        round(sum(_terms(agreement, size, regime, bool(why))), DIGITS)
        for agreement, size, why in zip(agreements, matrix.edit_sizes, broken, strict=True)
    ]
    keys = [(level, -score) for level, score in zip(levels, scores, strict=True)]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    ranks: dict[tuple[int, float], int] = {}
    for place, index in enumerate(order, start=1):
        ranks.setdefault(keys[index], place)
    return tuple(
        Ranked(
            id=matrix.ids[index],
            index=index,
            rank=ranks[keys[index]],
            agreement=agreements[index],
            edit_size=matrix.edit_sizes[index],
            no_op=matrix.no_ops[index],
            notes=matrix.notes[index],
            score=scores[index],
            syntax_errors=matrix.syntax_errors[index],
            regime=regime,
            stub=facts[index].is_stub,
            broken=broken[index],
        )
        for index in order
    )


def _levels(matrix: Compared, facts: Sequence[EditFacts]) -> list[int]:
    """Return 0 for edits, 1 for stubs, 2 for edits of white space, 3 for no-ops."""
    rows = zip(matrix.no_ops, matrix.unchanged, facts, strict=True)
    return [
        3 if no_op else 2 if unchanged else 1 if edit.is_stub else 0
        for no_op, unchanged, edit in rows
    ]


def _regime(
    sizes: Sequence[int], agreements: Sequence[float | None], standing: Sequence[tuple[int, bool]]
) -> Regime:
    """Return the regime, by the revisions of the best standing: level, and whether broken."""
    best = min(standing, default=None)
    first = [index for index, place in enumerate(standing) if place == best]
    if min((sizes[index] for index in first), default=0) <= TINY:
        return Regime.SMALL_EDIT
    if max(agreements[index] or 0.0 for index in first) < APART:
        return Regime.NO_AGREEMENT
    return Regime.AGREEMENT


def _broken(syntax_errors: Sequence[bool], facts: Sequence[EditFacts]) -> list[tuple[str, ...]]:
    """Return why each revision is broken. A definition that most revisions lose does not count."""
    losers = Counter(name for edit in facts for name in edit.lost)
    missed = {name for name, count in losers.items() if 2 * count <= len(facts)}
    return [
        (
            *(edit.errors or ("breaks the syntax",) * has_errors),
            *(f"no longer defines {name}" for name in edit.lost if name in missed),
        )
        for has_errors, edit in zip(syntax_errors, facts, strict=True)
    ]


def _agreements(matrix: Compared) -> list[float] | list[None]:
    """Return the mean similarity of each revision to the others, or None for a lone one."""
    others = len(matrix.ids) - 1
    if others < 1:
        return [None] * len(matrix.ids)
    return [float(mean) for mean in (_sums(matrix.values) - 1.0) / others]


def _sums(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the sums of the rows, over sorted terms, as float sums depend on their order."""
    import numpy as np

    sums: npt.NDArray[np.float64] = np.sort(values, axis=1).sum(axis=1)
    return sums


def _terms(agreement: float | None, size: int, regime: Regime, broken: bool) -> Terms:
    return Terms(
        round(AGREEMENT * (agreement or 0.0), DIGITS),
        round(-regime.size_weight * log(SLACK + size), DIGITS),
        -BROKEN if broken else 0.0,
    )
