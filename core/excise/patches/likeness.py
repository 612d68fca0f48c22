"""The common part of two patches (section 8): score, shares, word."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from excise.agreement import Shares, word_of
from excise.edits import Count
from excise.excision import ANCHORED, ANYWHERE, PLACED, Weights, f1

__all__ = ["Comparison", "EditsLikeness", "Likeness", "pooled"]


def pooled(operations: Sequence[Count]) -> Count:
    """Return the sums: under ``basis:edits`` operations and orders count together."""
    return Count(*map(sum, zip(*operations, strict=True)))


class Likeness(ABC):
    """How much two patches have in common, on either basis.

    Attributes
    ----------
    equal
        Whether a guard found the patches equal.
    in_another_file
        Whether what they have in common stands in files of other names (rename rescue).
    """

    __slots__ = ()

    equal: bool
    in_another_file: bool

    @property
    @abstractmethod
    def exact(self) -> Fraction:
        """The score as a fraction in [0, 1]."""

    @property
    @abstractmethod
    def shares(self) -> Shares:
        """The shares that its word is made of."""

    @property
    def value(self) -> float:
        """The score as the nearest float."""
        return float(self.exact)

    @property
    def contained_in_b(self) -> float:
        """The share of A's added and deleted n-grams that B has at the same place."""
        return float(self.shares.a_in_b)

    @property
    def contained_in_a(self) -> float:
        """The share of B's added and deleted n-grams that A has at the same place."""
        return float(self.shares.b_in_a)

    @property
    def word(self) -> str:
        """The word for the pair (`excise.agreement`)."""
        return word_of(self.shares, equal=self.equal)


@dataclass(frozen=True, slots=True)
class EditsLikeness(Likeness):
    """How much the edits of two patches have in common (``basis:edits``).

    Attributes
    ----------
    operations
        N-grams kept, added and deleted, of all orders.
    equal
        Whether the texts of the patches are equal (guard 1).
    in_another_file
        Whether the context lines of files of other names agree, and these have something in common.
    """

    operations: tuple[Count, Count, Count]
    equal: bool
    in_another_file: bool

    @property
    def exact(self) -> Fraction:
        """The score as a fraction in [0, 1]."""
        return _share(pooled(self.operations), PLACED)

    @property
    def keep(self) -> float | None:
        """The score of the kept n-grams alone, or None if neither patch has any."""
        return _operation(self.operations[0])

    @property
    def add(self) -> float | None:
        """The score of the added n-grams alone."""
        return _operation(self.operations[1])

    @property
    def delete(self) -> float | None:
        """The score of the deleted n-grams alone."""
        return _operation(self.operations[2])

    @property
    def shares(self) -> Shares:
        """The shares that its word is made of."""
        whole, edited = pooled(self.operations), pooled(self.operations[1:])
        return Shares(
            _share(whole, ANCHORED),
            _share(whole, ANYWHERE),
            Fraction(edited.here, edited.a or 1),
            Fraction(edited.here, edited.b or 1),
        )

    def swapped(self) -> EditsLikeness:
        """Return the same of B and A."""
        keep, add, delete = (
            Count(count.here, count.b, count.a, count.anywhere) for count in self.operations
        )
        return EditsLikeness((keep, add, delete), self.equal, self.in_another_file)


@dataclass(frozen=True, slots=True)
class Comparison(EditsLikeness):
    """How much the edits of two patches have in common, and why.

    Attributes
    ----------
    files
        Paths that were compared with each other, (a, b); None: the other has no such file.
    facts
        Header facts that differ: (path, of a, of b).
    notes
        ``whitespace-only: a``, reasons of a 0.
    """

    files: tuple[tuple[str | None, str | None], ...]
    facts: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]
    notes: tuple[str, ...]
    signature: str


def _share(count: Count, weights: Weights) -> Fraction:
    """Return the share in common, which is 1 if neither side has anything to compare."""
    return f1(count, weights) if count.defined else Fraction(1)


def _operation(count: Count) -> float | None:
    return float(f1(count)) if count.defined else None
