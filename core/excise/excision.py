"""Excision Score: equation 3 of the paper in plain view (definition, sections 4 to 6).

Align both revisions with their origin, excise what all three share, and compare the divergent
regions that remain by the n-grams they keep, add and delete:

    ES(A, B; O) = (F_keep + F_add + P_delete) / 3    over the regions of A, B, O without their LCS
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from excise.alignment import paper_order, three_way
from excise.edits import Count, EditCounts, count_edits
from excise.errors import OptionError
from excise.preparation import Content, Preparation, Prepared, normalised, read
from excise.regions import DivergentRegion, Outline, count, divergent_regions, outlines
from excise.signature import Options, signature

__all__ = ["Operations", "Score", "excision", "excision_score", "score_pair", "similarity"]

WHITESPACE_ONLY = "whitespace-only"
Names = tuple[str, str, str]
DIRECTED = ("origin", "reference", "hypothesis")
SYMMETRIC = ("origin", "a", "b")
Sides = tuple[Prepared, Prepared, Prepared]


# --- the formula ---------------------------------------------------------------------------------


class Operations(NamedTuple):
    """The values of the three operations (None: undefined) and their mean, exactly."""

    keep: Fraction | None
    add: Fraction | None
    delete: Fraction | None
    value: Fraction

    def decided(self, value: Fraction) -> Operations:
        """Return what a guard decided, for the score and every defined operation."""
        keep, add, delete = (None if old is None else value for old in self[:3])
        return Operations(keep, add, delete, value)


def excision(counts: EditCounts, deletion: str = "f1") -> Operations:
    """Return equation 3 on the counts of the divergent regions.

    An order without n-grams on either side is dropped, and so is an operation without orders: with
    0/0 := 1 a do-nothing revision would score, with 0/0 := 0 a perfect one would not.
    """
    keep = _mean(f1(count) for count in counts.keep if count.defined)
    add = _mean(f1(count) for count in counts.add if count.defined)
    delete_form = precision if deletion == "precision" else f1
    delete = _mean(delete_form(count) for count in counts.delete if count.defined)
    defined = [operation for operation in (keep, add, delete) if operation is not None]
    value = _mean(defined)
    return Operations(keep, add, delete, Fraction(1) if value is None else value)


def f1(count: Count) -> Fraction:
    """F = 2PR / (P + R) with P = both / by B and R = both / by A."""
    return Fraction(2 * count.both, count.a + count.b)


def precision(count: Count) -> Fraction:
    """P = both / by B; 0 when B has none (and A some)."""
    return Fraction(count.both, count.b) if count.b else Fraction(0)


def _mean(values: Iterable[Fraction]) -> Fraction | None:
    found = list(values)
    return sum(found, Fraction(0)) / len(found) if found else None


# --- a score and its reasons ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Score:
    """How much two revisions agree on what they did to their origin, and why.

    Attributes
    ----------
    operations
        Keep, add and delete as fractions, None where undefined, and the score as a fraction.
    counts
        The n-gram counts behind them, pooled over the regions.
    notes
        What a reader should know: ``whitespace-only``, which tokeniser fell back and why, ...
    signature
        Every choice that could change the number.
    reference
        Which of several references gave the score (0 for the first).
    """

    operations: Operations
    counts: EditCounts
    notes: tuple[str, ...]
    signature: str
    reference: int
    _sides: Sides
    _regions: array[int]

    @property
    def exact(self) -> Fraction:
        """The score as a fraction in [0, 1]."""
        return self.operations.value

    @property
    def value(self) -> float:
        """The score as the nearest float."""
        return float(self.operations.value)

    @property
    def keep(self) -> float | None:
        """F of the kept n-grams."""
        return _as_float(self.operations.keep)

    @property
    def add(self) -> float | None:
        """F of the added n-grams."""
        return _as_float(self.operations.add)

    @property
    def delete(self) -> float | None:
        """P (directed form) or F (symmetric form) of the deleted n-grams."""
        return _as_float(self.operations.delete)

    @property
    def regions(self) -> tuple[DivergentRegion, ...]:
        """The divergent regions, in order (made anew at each call)."""
        return divergent_regions(self._regions, self._sides)

    @property
    def outlines(self) -> tuple[Outline, ...]:
        """The same regions without their text, in order (made anew at each call)."""
        return outlines(self._regions, self._sides)

    def count(self, chosen: Iterable[Outline]) -> EditCounts:
        """Return the counts of some of `outlines`, pooled."""
        return count(chosen, self._sides)


def _as_float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


# --- the measure and its symmetric form ----------------------------------------------------------


def excision_score(
    *,
    origin: Content,
    reference: Content | Sequence[Content],
    hypothesis: Content,
    granularity: str = "nested",
    lcs: str = "star",
    deletion: str = "precision",
    comments: str = "keep",
    language: str | None = None,
    path: str | None = None,
) -> Score:
    """Score a hypothesis against a reference: the paper's measure, directed.

    Parameters
    ----------
    origin, reference, hypothesis
        Texts, or ready-made sequences of hashable tokens. A list of texts (or of lists of tokens)
        as reference: several references, the best of which counts.
    granularity, lcs, deletion, comments
        The choices of the definition; each is a key of the signature.
    language, path
        Name the grammar: a language id, extension or alias; or a file name. `language` wins.

    Raises
    ------
    excise.errors.OptionError
        On an option that the definition does not know, or an empty list of references.

    Examples
    --------
    >>> excision_score(origin=list("dkr"), reference=list("kp"), hypothesis=list("kq")).value
    0.5
    """
    options = Options(granularity, lcs, deletion, comments)
    texts = [normalised(text) for text in references_of(origin, reference)]
    contents = [normalised(origin), *texts, normalised(hypothesis)]
    scores = [
        _score_triple((contents[0], text, contents[-1]), options, language, path, DIRECTED)
        for text in texts
    ]
    best = max(range(len(scores)), key=lambda at: (scores[at].exact, -at))
    return replace(scores[best], reference=best)


def similarity(
    *,
    origin: Content,
    a: Content,
    b: Content,
    granularity: str = "nested",
    lcs: str = "star",
    comments: str = "keep",
    language: str | None = None,
    path: str | None = None,
) -> Score:
    """Compare two revisions: exactly symmetric, with F in place of the paper's P for deletions.

    Parameters as for `excision_score`.

    Examples
    --------
    >>> similarity(origin=list("axyb"), a=list("ab"), b=list("ayb")).exact
    Fraction(5, 12)
    """
    options = Options(granularity, lcs, "f1", comments)
    contents = (normalised(origin), normalised(a), normalised(b))
    return _score_triple(contents, options, language, path, SYMMETRIC)


def references_of(origin: Content, reference: Content | Sequence[Content]) -> list[Content]:
    """Return the references: beside a text, a list of texts; beside tokens, a list of lists."""
    if isinstance(reference, str):
        return [reference]
    several = isinstance(origin, str) or (
        len(reference) > 0 and all(isinstance(item, list) for item in reference)
    )
    if not several:
        return [reference]
    if not reference:
        raise OptionError("reference is an empty list; at least one reference is needed")
    return list(reference)  # type: ignore[arg-type]


def _score_triple(
    contents: tuple[Content, Content, Content],
    options: Options,
    language: str | None,
    path: str | None,
    names: Names,
) -> Score:
    preparation = Preparation(contents[0], options, read(contents, language, path, options))
    a = preparation.revision(contents[1])
    b = preparation.revision(contents[2])
    return score_pair(preparation, a, b, names)


def score_pair(
    preparation: Preparation, a: Prepared, b: Prepared, names: Names = SYMMETRIC
) -> Score:
    """Score two prepared revisions: the guards of section 5 in their order, then the formula."""
    sides = (preparation.origin, a, b)
    notes = (*preparation.reading.notes, *syntax_notes(sides, names))
    if a.text != b.text and a.is_origin and b.is_origin and isinstance(a.text, str):
        # Edits of white space only: whole lines are the tokens, and guards 1 and 3 apply again.
        preparation = preparation.raw()
        a, b = (preparation.revision(side.text) for side in (a, b))
        notes = (WHITESPACE_ONLY, *notes)
    return _scored(preparation, (preparation.origin, a, b), notes)


def guard(a: Prepared, b: Prepared) -> Fraction | None:
    """Return what a guard decides: identity 1, do-nothing 0, equal revisions 1, else None."""
    if a.text == b.text:
        return Fraction(1)
    if a.is_origin or b.is_origin:
        return Fraction(0)
    return Fraction(1) if a.equals(b) else None


def syntax_notes(sides: Sequence[Prepared], names: Sequence[str]) -> tuple[str, ...]:
    """Return a note that names the sides whose syntax is broken, if any is."""
    broken = [name for name, side in zip(names, sides, strict=True) if side.has_errors]
    return (f"syntax errors: {', '.join(broken)}",) if broken else ()


def _scored(preparation: Preparation, sides: Sides, notes: tuple[str, ...]) -> Score:
    regions = _regions(preparation.options, sides)
    counts = count_edits(regions, *(side.units.tokens for side in sides))
    operations = excision(counts, preparation.options.deletion)
    if (decided := guard(*sides[1:])) is not None:
        operations = operations.decided(decided)
    signed = signature(preparation.options, preparation.tokeniser)
    return Score(operations, counts, notes, signed, 0, sides, regions)


def _regions(options: Options, sides: Sides) -> array[int]:
    origin, a, b = sides
    symmetric_paper = options.lcs == "paper" and options.deletion == "f1"
    if symmetric_paper and not paper_order(origin.units, a.edits, b.edits):
        flat = three_way(origin.units, b.units, a.units, (b.edits, a.edits), options.lcs)
        swapped = (0, 1, 4, 5, 2, 3)
        return array("i", (flat[at - at % 6 + swapped[at % 6]] for at in range(len(flat))))
    return three_way(origin.units, a.units, b.units, (a.edits, b.edits), options.lcs)
