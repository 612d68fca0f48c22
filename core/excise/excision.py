"""Excision Score: equation 3 of the paper in plain view (definition, sections 4 to 6).

Align both revisions with their origin, excise what all three share, and compare the divergent
regions that remain by the n-grams they keep, add and delete:

    ES(A, B; O) = (F_keep + F_add + P_delete) / 3    over the regions of A, B, O without their LCS

The paper pools what is added and deleted over the whole text (``place:pooled``). For the question
which revisions say the same that is too kind: the same guard in two functions mends two bugs. So
the symmetric form counts what both do at one place of the origin, and a quarter of what they do
alike elsewhere (``place:anchored``, section 4a).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import repeat
from typing import Any, NamedTuple

from excise import languages
from excise.agreement import DIFFERENT, IDENTICAL, OVERLAPS, Shares, overlaps
from excise.alignment import Region, paper_order, three_way
from excise.display import score_html
from excise.errors import ContentError, OptionError
from excise.kernels._counts import PLACED as PLACED
from excise.kernels._counts import number_places
from excise.levels import CodeForms, Level
from excise.preparation import Preparation, Prepared, PreparedOrigin, prepare
from excise.reading import Content, Reading, normalised
from excise.regions import (
    Count,
    DivergentRegion,
    EditCounts,
    Elsewhere,
    Outline,
    Place,
    Sides,
    bounds_of,
    count,
    count_edits,
    describe_places,
    divergent_regions,
    matches_elsewhere,
    outlines,
)
from excise.signature import Options, signature
from excise.tokens import Tokens

WHITESPACE_ONLY = "whitespace-only"
REARRANGED = "rearranged"

Weights = tuple[int, int]
# `_formula.pxd` declares PLACED: what both do at the same place counts whole, elsewhere a quarter.
ANCHORED: Weights = (sum(PLACED), 0)
ANYWHERE: Weights = (0, sum(PLACED))

Names = tuple[str, str, str]
DIRECTED = ("origin", "reference", "hypothesis")
SYMMETRIC = ("origin", "a", "b")


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


def excision(counts: EditCounts, deletion: str = "f1", weights: Weights = PLACED) -> Operations:
    """Return equation 3 on the counts of the divergent regions, or 1 if nothing is defined.

    An order without n-grams on either side is dropped, and so is an operation without orders: with
    0/0 := 1 a do-nothing revision would score, with 0/0 := 0 a perfect one would not.

    - ``weights``: what is in common: `PLACED`, or one of its parts, `ANCHORED` and `ANYWHERE`. The
      symmetric value is their mean, weighted by `PLACED`, exactly. On pooled counts all three are
      one.
    """
    keep = _mean(f1(count, weights) for count in counts.keep if count.defined)
    add = _mean(f1(count, weights) for count in counts.add if count.defined)
    delete_form = precision if deletion == "precision" else f1
    delete = _mean(delete_form(count, weights) for count in counts.delete if count.defined)
    defined = [operation for operation in (keep, add, delete) if operation is not None]
    value = _mean(defined)
    return Operations(keep, add, delete, Fraction(1) if value is None else value)


def f1(count: Count, weights: Weights = PLACED) -> Fraction:
    """F = 2PR / (P + R) with P = common / by B and R = common / by A."""
    return 2 * count.common(weights) / (count.a + count.b)


def precision(count: Count, weights: Weights = PLACED) -> Fraction:
    """P = common / by B, or 0 if B has none (and A some)."""
    return count.common(weights) / count.b if count.b else Fraction(0)


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
        The n-gram counts behind them, summed over the places.
    notes
        What a reader should know: ``whitespace-only``, ``rearranged``, which tokeniser fell back
        and why, ...
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
    _judged: Judged

    def __reduce__(self) -> tuple[object, ...]:
        """Return the texts and choices: where it is unpickled, all else is computed again."""
        judged, asked = self._judged, self._judged.asked
        if not isinstance(asked, Preparation):
            raise TypeError("a score of several files cannot be pickled: pickle the matrix")
        contents = [asked.content_of(side) for side in (asked.origin, *judged.asked_sides)]
        names = ("operations", "counts", "notes", "signature", "reference")
        own = {name: getattr(self, name) for name in names}
        return _again, (own, judged.options, asked.options, asked.reading, *contents)

    def __repr__(self) -> str:
        """Return what a person wants to know of it: the number, and what made it."""
        return f"<Score {self.value:.4f} {self.signature}>"

    def _repr_html_(self) -> str:
        """Return the same for a notebook, with the text of the divergent regions."""
        operations = (("keep", self.keep), ("add", self.add), ("delete", self.delete))
        heading = [("score", f"{self.value:.4f}")]
        heading += [(name, "-" if value is None else f"{value:.2f}") for name, value in operations]
        rows = [(r.origin.text, r.a.text, r.b.text) for r in self.regions]
        return score_html(heading, rows, self.notes, self.signature)

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
    def anchored(self) -> Fraction:
        """The score if only what both do at the same place counted (pooled: all is one place)."""
        return self._judged.value(self.counts, ANCHORED)

    @property
    def anywhere(self) -> Fraction:
        """The score if what both do counted wherever it stands."""
        return self._judged.value(self.counts, ANYWHERE)

    @property
    def contained(self) -> tuple[Fraction, Fraction]:
        """How much of A's edit B has at the same place, and the reverse (section 6a)."""
        return self._symmetric().counts.contained

    @property
    def level(self) -> Level | None:
        """In which sense the two are the same program, or None if no rule makes them that."""
        preparation, (a, b) = self._judged.asked, self._judged.asked_sides
        origin, reading = preparation.origin.text, preparation.reading
        if a.text == b.text:
            return Level(IDENTICAL)
        if not (isinstance(origin, str) and isinstance(a.text, str) and isinstance(b.text, str)):
            return None
        return CodeForms(origin, reading.grammar, reading.path).level(a.text, b.text)

    @property
    def word(self) -> str:
        """One of `excise.agreement.WORDS`: what may be said of the pair (section 6a)."""
        level = self.level
        return self.text_word if level is None else level.word

    @property
    def text_word(self) -> str:
        """`OVERLAPS` or `DIFFERENT`: for two texts that are not the same program."""
        symmetric = self._symmetric()
        if symmetric._judged.guarded is not None:
            return OVERLAPS if symmetric._judged.guarded else DIFFERENT
        shares = Shares(symmetric.anchored, symmetric.anywhere, *symmetric.contained)
        return OVERLAPS if overlaps(shares) else DIFFERENT

    @property
    def regions(self) -> tuple[DivergentRegion, ...]:
        """The divergent regions, in order (made anew at each call)."""
        return divergent_regions(self._judged.regions, self._judged.places, self._judged.sides)

    @property
    def outlines(self) -> tuple[Outline, ...]:
        """The same regions without their text, in order (made anew at each call)."""
        return outlines(self._judged.regions, self._judged.places, self._judged.sides)

    @property
    def places(self) -> tuple[Place, ...]:
        """The places of the regions, by first region (computed at each call)."""
        return describe_places(*self._judged.described())

    @property
    def elsewhere(self) -> tuple[Elsewhere, ...]:
        """The n-grams that both add or delete at different places, most first (computed at each
        call).
        """
        regions, _, tokens = self._judged.described()
        return matches_elsewhere(regions, self.places, tokens)

    def count(self, chosen: Iterable[Outline]) -> EditCounts:
        """Return the counts of some of `outlines`, by place."""
        return count(chosen, self._judged.sides)

    @property
    def reading(self) -> tuple[PreparedOrigin, bool]:
        """The preparation that was asked, and whether it was read by raw lines in the end."""
        asked = self._judged.asked
        return asked, self._judged.sides[0] is not asked.origin

    def _symmetric(self) -> Score:
        """Return the score that words are about."""
        judged = self._judged
        if judged.options.anchored and judged.options.deletion == "f1":
            return self
        options = replace(judged.options, lcs="star", deletion="f1", place="anchored")
        return score_pair(judged.asked, *judged.asked_sides, options=options)


@dataclass(frozen=True, slots=True)
class Judged:
    """The alignment and counts behind a score.

    - ``options``: which form of the score.
    - ``sides``: origin, A and B as they were compared in the end: by raw lines, where these decide.
    - ``regions``, ``places``: six token places for each region, and the number of its place.
    - ``guarded``: what a guard decided: identity 1, do-nothing 0, equal revisions 1.
    - ``asked``, ``asked_sides``: the texts as they were given, to ask for another form of the same
      pair.
    """

    options: Options
    sides: Sides
    regions: array[int]
    places: array[int]
    guarded: Fraction | None
    asked: PreparedOrigin
    asked_sides: tuple[Prepared, Prepared]

    def value(self, counts: EditCounts, weights: Weights) -> Fraction:
        """Return the score by one reading of what is in common."""
        if self.guarded is not None:
            return self.guarded
        if self.options.anchored and not counts.defined:
            return Fraction(0)
        return excision(counts, self.options.deletion, weights).value

    def described(
        self,
    ) -> tuple[list[Region], array[int], tuple[array[int], array[int], array[int]]]:
        """Return the regions that hold tokens, their places, and the tokens of the sides."""
        o, a, b = (side.units.tokens for side in self.sides)
        return bounds_of(self.regions), self.places, (o, a, b)


def _again(
    own: dict[str, Any],
    options: Options,
    asked: Options,
    reading: Reading,
    origin: Content,
    *contents: Content,
) -> Score:
    """Return a score that was pickled."""
    preparation = Preparation(origin, asked, reading)
    a, b = (preparation.revision(content) for content in contents)
    return Score(**own, _judged=score_pair(preparation, a, b, options=options)._judged)


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
    place: str | None = None,
    language: str | None = None,
    path: str | None = None,
    timeout: float | None = None,
    strict: bool = True,
) -> Score:
    """Score a hypothesis against a reference: the paper's measure, directed.

    Parameters
    ----------
    origin, reference, hypothesis
        Texts, or ready-made sequences of hashable tokens. A list of texts (or of lists of tokens)
        as reference: several references, the best of which counts.
    granularity, lcs, deletion, comments, place
        The choices of the definition; each is a key of the signature. `place` is ``pooled`` with
        ``deletion=precision``, as in the paper, unless it is named.
    language, path
        Name the grammar: a language id, extension or alias; or a file name. `language` wins.
    timeout
        CPU seconds that a parser may take for one text (default: as many as it wants). A triple
        with a text that takes more is read lexically, as signature and notes then say.
    strict
        Whether an unknown `language` is an error. If not, it means lexical tokens and a note: for
        names that other programs report.

    Raises
    ------
    excise.errors.OptionError
        On an option that the definition does not know, an unknown language, or an empty list of
        references.
    excise.errors.ContentError
        If one of the texts is neither a string nor a sequence of hashable tokens.

    Examples
    --------
    >>> excision_score(origin=list("dkr"), reference=list("kp"), hypothesis=list("kq")).value
    0.5
    """
    options = Options(granularity, lcs, deletion, comments, place or "")
    languages.check(language, path, strict=strict)
    start = normalised(origin, "origin")
    texts = [normalised(text, "reference") for text in references_of(start, reference)]
    last = normalised(hypothesis, "hypothesis")
    scores = []
    for text in texts:
        preparation, [a, b] = prepare((start, text, last), options, language, path, timeout)
        scores.append(score_pair(preparation, a, b, DIRECTED))
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
    place: str | None = None,
    language: str | None = None,
    path: str | None = None,
    timeout: float | None = None,
    strict: bool = True,
) -> Score:
    """Compare two revisions: exactly symmetric, with F in place of the paper's P for deletions.

    Parameters as for `excision_score`, but `place` is ``anchored`` unless it is named, or `lcs` is
    ``paper``.

    Examples
    --------
    >>> similarity(origin=list("axyb"), a=list("ab"), b=list("ayb")).exact
    Fraction(5, 12)
    """
    options = Options(granularity, lcs, "f1", comments, place or "")
    languages.check(language, path, strict=strict)
    contents = (normalised(origin, "origin"), normalised(a, "a"), normalised(b, "b"))
    preparation, [own_a, own_b] = prepare(contents, options, language, path, timeout)
    return score_pair(preparation, own_a, own_b, SYMMETRIC)


def references_of(origin: Content, reference: Content | Sequence[Content]) -> list[Content]:
    """Return the references: several texts for a text, or a list of token lists for tokens.

    Several texts may be in any sequence: an array or a series of a table, too.

    Raises excise.errors.OptionError on an empty one. Raises excise.errors.ContentError on one for a
    text that holds anything but texts.
    """
    if isinstance(reference, str | Tokens | bytes | Mapping | Set) or reference is None:
        return [reference]
    if not isinstance(origin, str):
        several = isinstance(reference, Sequence) and len(reference) > 0
        if several and all(isinstance(item, list | Tokens) for item in reference):
            return list(reference)  # type: ignore[arg-type]
        return [reference]
    try:
        texts: list[Any] = list(reference)
    except TypeError:
        return [reference]  # which is no content at all
    if not texts:
        raise OptionError("reference is an empty list; at least one reference is needed")
    for text in texts:
        if not isinstance(text, str):
            raise ContentError(
                f"reference holds {type(text).__name__}; for a text it must be a text or texts"
            )
    return texts


def score_pair(
    preparation: PreparedOrigin,
    a: Prepared,
    b: Prepared,
    names: Names = SYMMETRIC,
    options: Options | None = None,
) -> Score:
    """Score two prepared revisions: the guards of section 5 in their order, then the formula.

    `options` asks for another form than the preparation's own; texts are read and aligned alike.
    """
    options = options or preparation.options
    asked = preparation, (a, b)
    notes = (*preparation.reading.notes, *syntax_notes((preparation.origin, a, b), names))
    if a.text != b.text and a.is_origin and b.is_origin and isinstance(a.text, str):
        preparation, a, b = as_raw_lines(preparation, a, b)
        notes = (WHITESPACE_ONLY, *notes)
    counts, judged = _judge(preparation, a, b, options, asked)
    if judged.guarded is None and options.anchored and not counts.defined:
        # What was added and deleted cancels inside the places: the lines were rearranged.
        preparation, a, b = as_raw_lines(preparation, a, b)
        counts, judged = _judge(preparation, a, b, options, asked)
        notes = (REARRANGED, *notes)
    operations = excision(counts, options.deletion)
    value = judged.value(counts, PLACED)
    if value != operations.value:
        operations = operations.decided(value)
    return Score(operations, counts, notes, signature(options, preparation.tokeniser), 0, judged)


def as_raw_lines(
    preparation: PreparedOrigin, a: Prepared, b: Prepared
) -> tuple[PreparedOrigin, Prepared, Prepared]:
    """Read the same texts by whole lines, white space and line ends included."""
    raw = preparation.raw()
    return raw, raw.revision(a.text), raw.revision(b.text)


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


def _judge(
    preparation: PreparedOrigin,
    a: Prepared,
    b: Prepared,
    options: Options,
    asked: tuple[PreparedOrigin, tuple[Prepared, Prepared]],
) -> tuple[EditCounts, Judged]:
    origin = preparation.origin
    sides = (origin, a, b)
    edits = (a.slid, b.slid) if options.anchored else (a.edits, b.edits)
    symmetric_paper = options.lcs == "paper" and options.deletion == "f1"
    if symmetric_paper and not paper_order(origin.units, *edits):
        flat = three_way(origin.units, b.units, a.units, edits[::-1], options.lcs)
        swapped = (0, 1, 4, 5, 2, 3)
        regions = array("i", (flat[i - i % 6 + swapped[i % 6]] for i in range(len(flat))))
    else:
        regions = three_way(origin.units, a.units, b.units, edits, options.lcs)
    o_tokens, a_tokens, b_tokens = (side.units.tokens for side in sides)
    if options.anchored:
        lines = preparation.origin_lines
        places = number_places(regions, lines, o_tokens, a_tokens, b_tokens)
    else:
        places = array("i", repeat(0, len(regions) // 6))
    counts = count_edits(regions, o_tokens, a_tokens, b_tokens, places)
    return counts, Judged(options, sides, regions, places, guard(a, b), *asked)
