"""The order of suggestions: a rule without constants, whose every place has a reason.

Whole edits come first, then broken ones, then those without code, then no-ops; then the edit that
more revisions make; then what the intent says. The order is advice: what most revisions make is not
necessarily right. docs/ranking.md says what it is worth, which benchmarks/ranking.py measures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Protocol

from excise.errors import ContentError, OptionError
from excise.facts import EditFacts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["INTENT", "INTENTS", "Compared", "Ranked", "check_intent", "rank"]

INTENTS = ("fix", "change")
"""What the revisions are for: a bug fix, which is small, or any other change."""

INTENT = "change"
"""The intent if nobody says one."""

DIGITS = 12
"""Sums of similarities are rounded to so many digits: a tie is one whatever the last bit says."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A revision in the order of suggestions.

    Attributes
    ----------
    rank
        From 1; equal ones share one.
    makers
        How many revisions make this edit, itself included: those with the same code.
    mean_similarity
        Mean similarity to the other revisions; None for a lone one.
    edit_size
        Tokens deleted and inserted.
    no_op
        Whether the text is the origin's.
    syntax_errors
        Whether the grammar finds its syntax broken although that of the origin is valid.
    stub
        Whether it changes no code, or only adds names that are never read.
    broken
        Why it cannot work although the origin could, as phrases; empty if nothing is known.
    why
        The facts that give it its place, as phrases; empty for a lone one of which nothing is
        known.
    """

    id: str
    index: int
    rank: int
    makers: int
    mean_similarity: float | None
    edit_size: int
    no_op: bool
    notes: tuple[str, ...]
    syntax_errors: bool
    stub: bool = False
    broken: tuple[str, ...] = ()
    why: tuple[str, ...] = ()


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
    def codes(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def facts(self) -> tuple[EditFacts, ...]: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class _Standing:
    """What decides the place of a revision, most important first: `key` is compared, ascending.

    ``level`` is 0 for whole edits, 1 for broken ones, 2 for those without code, 3 for no-ops.
    ``similarity`` is the sum of the similarities to the others.
    """

    level: int
    code: str
    makers: int
    similarity: float
    size: int
    by_size: bool

    @property
    def key(self) -> tuple[float, ...]:
        nearness = () if self.by_size else (-self.similarity,)
        return (self.level, -self.makers, *nearness, self.size)


def rank(matrix: Compared, *, intent: str = INTENT) -> tuple[Ranked, ...]:
    """Rank the revisions of a matrix without a reference.

    Whole edits stand before broken ones, these before edits without code (comments, white space,
    names that are never read), and these before no-ops; then the edit that more revisions make
    (the same code); then, for the intent ``change``, what is nearest to all others (the larger sum
    of similarities), then fewer tokens; for ``fix``, fewer tokens. Equal ones share a rank and
    stand in the order of the matrix. No rank depends on that order.

    Parameters
    ----------
    intent
        ``change``, or ``fix`` for a bug fix: there, an edit that loses a top-level name is broken.

    Returns
    -------
    tuple of Ranked
        All revisions, by rank. The order is advice; it does not say that any revision is right.

    Raises
    ------
    excise.errors.OptionError
        On an unknown intent.
    excise.errors.ContentError
        If `matrix` is not a matrix.
    excise.errors.Cancelled
        When the flag that the matrix was made with was raised meanwhile: texts are read again.

    Examples
    --------
    >>> from excise.pairwise import ScoreMatrix
    >>> matrix = ScoreMatrix.from_texts("a b", {"x": "a b", "y": "a c", "z": "a c"})
    >>> [(ranked.id, ranked.rank, ranked.why) for ranked in rank(matrix)][1:]
    [('z', 1, ('2 of 3 make this edit',)), ('x', 3, ('changes nothing',))]
    """
    check_intent(intent)
    if not hasattr(matrix, "facts"):
        kind = type(matrix).__name__
        raise ContentError(f"matrix is of type {kind}; give a ScoreMatrix")
    facts, count = matrix.facts, len(matrix.ids)
    broken = [
        _broken(has_errors, edit, intent)
        for has_errors, edit in zip(matrix.syntax_errors, facts, strict=True)
    ]
    levels = [
        3 if no_op else 2 if unchanged or edit.is_stub else 1 if why else 0
        for no_op, unchanged, edit, why in zip(
            matrix.no_ops, matrix.unchanged, facts, broken, strict=True
        )
    ]
    makers = Counter(zip(levels, matrix.codes, strict=True))
    sums = [round(fsum(row) - 1.0, DIGITS) for row in matrix.values.tolist()]
    standings = [
        _Standing(level, code, makers[level, code], similarity, size, intent == "fix")
        for level, code, similarity, size in zip(
            levels, matrix.codes, sums, matrix.edit_sizes, strict=True
        )
    ]
    order = sorted(range(count), key=lambda index: standings[index].key)
    ranks: dict[tuple[float, ...], int] = {}
    for place, index in enumerate(order, start=1):
        ranks.setdefault(standings[index].key, place)
    return tuple(
        Ranked(
            id=matrix.ids[index],
            index=index,
            rank=ranks[standings[index].key],
            makers=standings[index].makers,
            mean_similarity=sums[index] / (count - 1) if count > 1 else None,
            edit_size=matrix.edit_sizes[index],
            no_op=matrix.no_ops[index],
            notes=matrix.notes[index],
            syntax_errors=matrix.syntax_errors[index],
            stub=facts[index].is_stub,
            broken=broken[index],
            why=(
                *_kind(matrix.no_ops[index], matrix.unchanged[index], facts[index], broken[index]),
                *_why(standings[index], standings),
            ),
        )
        for index in order
    )


def check_intent(intent: str) -> None:
    """Refuse an intent that nobody defined.

    Raises
    ------
    excise.errors.OptionError
        Names the two that are.
    """
    if intent not in INTENTS:
        raise OptionError(f"intent must be {' or '.join(INTENTS)}, not {intent!r}")


def _broken(has_errors: bool, facts: EditFacts, intent: str) -> tuple[str, ...]:
    """Return why a revision is broken. A fix loses no top-level name; another change may."""
    lost = facts.lost if intent == "fix" else ()
    errors = facts.errors or ("breaks the syntax",) * has_errors
    return (*errors, *(f"no longer defines {name}" for name in lost))


def _kind(no_op: bool, unchanged: bool, facts: EditFacts, broken: Sequence[str]) -> tuple[str, ...]:
    """Return the fact that puts a revision behind the whole ones, if it is not one of them."""
    if no_op:
        return ("changes nothing",)
    if unchanged:
        return ("changes only white space",)
    if facts.same_program:
        return ("changes no code, only comments or layout",)
    if facts.only_unread:
        return (f"only adds names that nothing reads: {', '.join(facts.unread)}",)
    return (f"broken: {'; '.join(broken)}",) if broken else ()


def _why(own: _Standing, standings: Sequence[_Standing]) -> tuple[str, ...]:
    """Return who else makes the edit, and what puts it first among those made equally often."""
    if len(standings) < 2 or own.level > 1:
        return ()
    makes = "nobody else makes it"
    if own.makers > 1:
        makes = f"{own.makers:,} of {len(standings):,} make this edit"
    peers = [
        peer
        for peer in standings
        if (peer.level, peer.makers) == (own.level, own.makers) and peer.code != own.code
    ]
    if all(peer.key <= own.key for peer in peers) or any(peer.key < own.key for peer in peers):
        return (makes,)
    if own.by_size or all(peer.similarity == own.similarity for peer in peers):
        return makes, "fewest tokens"
    return makes, "nearest to the others"
