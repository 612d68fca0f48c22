"""One face for the oracle and the library, so that the same tests run on both.

``place`` is ``pooled`` unless a test asks for ``anchored``, in both forms. `PLACED` names the
implementations that know places (section 4a).
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.reference import oracle
from tests.reference.score import Verdict

Document = str | Sequence[Hashable]
Segments = tuple[tuple[Hashable, ...], ...]


@dataclass(frozen=True)
class Outcome:
    """What both implementations say about a triple.

    ``operations`` are keep, add and delete (None: undefined); where a guard decides, every
    defined one is what the guard decided. ``counts`` are, for each operation and order, the
    n-grams in common, by A and by B. ``spans`` are the first token of a segment and the one
    behind its last; None for an empty segment.

    The rest is said of ``place=anchored`` alone: ``contained`` is the share of A in B and of B in
    A, ``places`` are the numbers of the regions of each place, in order of their first ones.
    """

    exact: Fraction
    value: float
    operations: tuple[Fraction | None, ...]
    counts: tuple[tuple[tuple[int, ...], ...], ...]
    regions: tuple[Segments, ...]
    spans: tuple[tuple[tuple[int, int] | None, ...], ...]
    notes: frozenset[str]
    anchored: Fraction | None = None
    anywhere: Fraction | None = None
    contained: tuple[Fraction, Fraction] | None = None
    word: str | None = None
    places: tuple[tuple[int, ...], ...] = ()

    @property
    def whitespace_only(self) -> bool:
        """Tell whether raw lines were scored because of guard 2."""
        return "whitespace-only" in self.notes


class Oracle:
    """The slow oracle of this folder."""

    def align(self, origin, revision, *, language=None, **options):
        return oracle.align(origin, revision, grammar=language, **options)

    def directed(self, origin, a, b, *, language=None, **options):
        return judged(oracle.excision_score(origin, a, b, grammar=language, **options))

    def symmetric(self, origin, a, b, *, language=None, place="pooled", **options):
        return judged(oracle.similarity(origin, a, b, grammar=language, place=place, **options))


def judged(verdict: Verdict) -> Outcome:
    values = verdict.operations.values()
    if verdict.guard is not None:
        values = [None if value is None else verdict.exact for value in values]
    return Outcome(
        verdict.exact,
        float(verdict.exact),
        tuple(values),
        tuple(verdict.counts.values()),
        tuple(region.tokens for region in verdict.regions),
        tuple(
            tuple((some[0], some[-1] + 1) if some else None for some in region.numbers)
            for region in verdict.regions
        ),
        frozenset(verdict.notes),
        verdict.anchored,
        verdict.anywhere,
        verdict.contained,
        verdict.word,
        tuple(verdict.places),
    )


class Core:
    """The library."""

    def align(self, origin, revision, **options):
        import excise

        return list(excise.align(origin, revision, **options).pairs)

    def directed(self, origin, a, b, *, lines=None, place="pooled", **options):
        import excise

        origin, a, b = on_lines((origin, a, b), lines)
        return scored(
            excise.excision_score(origin=origin, reference=a, hypothesis=b, place=place, **options)
        )

    def symmetric(self, origin, a, b, *, lines=None, place="pooled", **options):
        import excise

        origin, a, b = on_lines((origin, a, b), lines)
        return scored(excise.similarity(origin=origin, a=a, b=b, place=place, **options))


def on_lines(triple, lines):
    """Ready-made sequences on the lines given; the triple itself without any."""
    import excise

    if lines is None:
        return triple
    return tuple(map(excise.Tokens, triple, lines))


def scored(score: Any) -> Outcome:
    rows = [(region.origin, region.a, region.b) for region in score.regions]
    is_placed = "place:anchored" in score.signature
    return Outcome(
        score.exact,
        score.value,
        tuple(score.operations[:3]),
        tuple(
            tuple((count.common((3, 1)), count.a, count.b) for count in of_orders)
            for of_orders in (score.counts.keep, score.counts.add, score.counts.delete)
        ),
        tuple(tuple(segment.tokens for segment in row) for row in rows),
        tuple(
            tuple((segment.start, segment.stop) if segment.tokens else None for segment in row)
            for row in rows
        ),
        frozenset(score.notes) & {"whitespace-only", "rearranged"},
        score.anchored if is_placed else None,
        score.anywhere if is_placed else None,
        score.contained if is_placed else None,
        score.text_word if is_placed else None,
        tuple(place.regions for place in score.places) if is_placed else (),
    )


IMPLEMENTATIONS = {"oracle": Oracle(), "core": Core()}
PLACED = IMPLEMENTATIONS


def compare_patches_slowly(a: bytes, b: bytes, key: str = "name") -> Any:
    """Give the oracle's `tests.reference.patch_places.Comparison` of two patch texts."""
    from tests.reference.patch_places import compare

    return compare(a, b, key)


def compare_patches_in_a_pool(a: bytes, b: bytes, key: str = "name") -> Any:
    """Give what the library says of two patch texts as the oracle would say it."""
    from tests.reference.counts import OPERATIONS, Placed
    from tests.reference.patch_places import IN_ANOTHER_FILE, Comparison

    from excise.patches import Pool, parse

    pool = Pool(key=key, ignored=())
    for text in (a, b):
        pool.add(parse(text))
    found = pool.compare(0, 1)
    notes = {IN_ANOTHER_FILE} if found.in_another_file else set()
    said = [set(pool.notes[side]) & {"whitespace-only", "header facts only"} for side in (0, 1)]
    if all(said) and {"whitespace-only"} in said:
        notes.add("whitespace-only")
    shares = found.shares
    counts = {
        operation: Placed(count.here, count.anywhere, count.a, count.b)
        for operation, count in zip(OPERATIONS, found.operations, strict=True)
    }
    return Comparison(
        found.exact,
        shares.anchored,
        shares.anywhere,
        (shares.a_in_b, shares.b_in_a),
        found.word,
        frozenset(notes),
        counts,
    )


PLACED_PATCHES = {"oracle": compare_patches_slowly, "core": compare_patches_in_a_pool}
