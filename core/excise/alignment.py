"""Alignment of a revision with its origin, and of two revisions through it (sections 2 and 3)."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice, repeat
from operator import sub
from typing import NamedTuple

from excise.kernels._counts import merge_edits
from excise.kernels._lcs import edits as lcs_edits
from excise.kernels._lcs import nested_edits
from excise.kernels._lexer import token_lines
from excise.kernels._places import slide
from excise.kernels._walk import CancelFlag
from excise.tokens import Lines, Vocabulary


class Edit(NamedTuple):
    """A maximal unmatched run: the origin's units o_lo..o_hi became the revision's a_lo..a_hi."""

    o_lo: int
    o_hi: int
    a_lo: int
    a_hi: int


@dataclass(frozen=True, slots=True)
class Edits:
    """The edits between two texts, ascending, as the kernels keep them: four ints each."""

    flat: array[int]

    def __len__(self) -> int:
        return len(self.flat) // 4

    def __iter__(self) -> Iterator[Edit]:
        quarters = iter(self.flat)
        return map(Edit._make, zip(quarters, quarters, quarters, quarters, strict=True))


class Region(NamedTuple):
    """Token positions of a divergent region in O, A and B (each from and to, exclusive)."""

    o_lo: int
    o_hi: int
    a_lo: int
    a_hi: int
    b_lo: int
    b_hi: int


@dataclass(frozen=True, slots=True)
class PairwiseAlignment:
    """A canonical alignment, stored as its edits: all else is matched, one to one, in order."""

    flat: array[int]
    n_origin: int
    n_revision: int

    @property
    def edits(self) -> tuple[Edit, ...]:
        """Return the edits, ascending."""
        return tuple(Edits(self.flat))

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Return the matched places (o, a), strictly increasing in both."""
        return list(_matched(self.flat, self.n_origin))


@dataclass(frozen=True, slots=True)
class Units:
    """The units of one text at a granularity, as ints of the vocabulary that its origin shares.

    ``tokens`` are counted in n-grams, ``units`` are aligned: the same at ``token`` and ``nested``;
    at ``line`` the keys of lines that are not blank, unit u holding the tokens ``starts[u]`` to
    ``starts[u + 1]``. ``kept`` maps these tokens to the stream's. ``lines`` are those that
    ``nested`` aligns first. ``first`` has the first unit of every line, and the number of units at
    its end; None: each unit is a line. ``numbers`` are, at ``line``, the numbers of the units among
    the lines with tokens (a line without a key may hold some: white space in a string). ``ids``
    are the names of all lines (`excise.tokens.Lines`), and ``empty`` the token of an empty line
    within a text, which is no line of section 4a.
    """

    tokens: array[int]
    units: array[int]
    starts: array[int] | None = None
    kept: array[int] | None = None
    lines: Lines | None = None
    first: array[int] | None = None
    numbers: array[int] | None = None
    ids: array[int] | None = None
    empty: int = -1

    def token_lines(self) -> array[int]:
        """Return the line of every token, where only lines with tokens are numbered.

        An empty line within a text is none: its token has `~line`, by the line before.
        """
        if self.starts is not None and self.numbers is not None:
            sizes = map(sub, islice(self.starts, 1, None), self.starts)
            return array("i", chain.from_iterable(map(repeat, self.numbers, sizes)))
        if self.first is None or self.ids is None:
            return array("i", range(len(self.tokens)))
        return token_lines(self.first, self.tokens, self.ids, self.empty)


def units_of(lines: Lines, granularity: str, vocabulary: Vocabulary) -> Units:
    """Return what a text offers at a granularity."""
    name = vocabulary.number("\n")
    empty = -1 if name is None else name
    if granularity == "token":
        return Units(lines.tokens, lines.tokens, first=lines.first, ids=lines.ids, empty=empty)
    if granularity == "line":
        first = lines.first
        if lines.are_lexical:
            # Every line with a key has tokens, and no other has any.
            written = [line for line, name in enumerate(lines.ids) if name >= 0]
            starts = array("i", [*map(first.__getitem__, written), first[-1]])
            units = array("i", map(lines.ids.__getitem__, written))
            return Units(lines.tokens, units, starts=starts, numbers=array("i", range(len(units))))
        starts, kept, counted = array("i", [0]), array("i"), array("i")
        keys, numbers, with_tokens = [], array("i"), 0
        for line, key in enumerate(lines.keys):
            number = with_tokens
            tokens = lines.tokens[first[line] : first[line + 1]]
            with_tokens += bool(tokens) and not (key is None and tokens.tolist() == [empty])
            if key is None:
                continue
            numbers.append(number)
            keys.append(("line", key))
            counted.extend(tokens)
            kept.extend(range(first[line], first[line + 1]))
            starts.append(len(counted))
        return Units(counted, vocabulary.intern(keys), starts=starts, kept=kept, numbers=numbers)
    return Units(
        lines.tokens, lines.tokens, lines=lines, first=lines.first, ids=lines.ids, empty=empty
    )


def align(origin: array[int], revision: array[int]) -> PairwiseAlignment:
    """Return the canonical alignment of two texts, each of ints of one vocabulary.

    >>> align(array("i", [1, 2, 3]), array("i", [1, 3])).edits
    (Edit(o_lo=1, o_hi=2, a_lo=1, a_hi=1),)
    """
    return PairwiseAlignment(lcs_edits(origin, revision), len(origin), len(revision))


def align_units(origin: Units, revision: Units, cancel: CancelFlag | None) -> array[int]:
    """Return the canonical edits in units, flat: o_lo, o_hi, a_lo, a_hi.

    Raises excise.errors.Cancelled when the flag was raised meanwhile.
    """
    if origin.lines is None or revision.lines is None:
        return lcs_edits(origin.units, revision.units, cancel=cancel)
    return nested_edits(
        (origin.lines.ids, origin.lines.first, origin.units),
        (revision.lines.ids, revision.lines.first, revision.units),
        cancel=cancel,
    )


def slide_edits(edits: array[int], origin: Units, revision: Units) -> array[int]:
    """Move runs that only insert or only delete lines down along equal lines (section 4a).

    Revisions that insert the same lines then do so at the same place. The same object where
    nothing moves.
    """
    return slide(edits, origin.units, origin.first, revision.units, revision.first)


def three_way(
    origin: Units, a: Units, b: Units, edits: tuple[array[int], array[int]], lcs: str
) -> array[int]:
    """Return the divergent regions, flat, in places of the units' tokens.

    ``star`` conserves an origin position iff both revisions keep it; ``paper`` takes the LCS of
    the two kept subsequences, embedded in the origin through A.
    """
    regions = merge_edits(*edits) if lcs == "star" else _paper_regions(origin, a, b, *edits)
    if origin.starts is None or a.starts is None or b.starts is None:
        return regions
    starts = (origin.starts, origin.starts, a.starts, a.starts, b.starts, b.starts)
    return array("i", (starts[index % 6][place] for index, place in enumerate(regions)))


def paper_order(origin: Units, a: array[int], b: array[int]) -> bool:
    """Whether A goes first in the symmetric form of ``lcs=paper``.

    ``paper`` is not symmetric; the revision whose kept origin positions sort first plays A, so
    that the order of arguments cannot matter (equal positions give the same alignment).
    """
    n = len(origin.units)
    return [o for o, _ in _matched(a, n)] <= [o for o, _ in _matched(b, n)]


def _matched(flat: array[int], n_origin: int) -> Iterator[tuple[int, int]]:
    place = shift = 0
    for edit in Edits(flat):
        yield from ((o, o + shift) for o in range(place, edit.o_lo))
        place = edit.o_hi
        shift = edit.a_hi - place
    yield from ((o, o + shift) for o in range(place, n_origin))


def _paper_regions(
    origin: Units, a: Units, b: Units, a_edits: array[int], b_edits: array[int]
) -> array[int]:
    n = len(origin.units)
    by_a, by_b = list(_matched(a_edits, n)), list(_matched(b_edits, n))
    kept = [array("i", (origin.units[o] for o, _ in by)) for by in (by_a, by_b)]
    regions = array("i")
    end = (-1, -1, -1)
    columns = [(*by_a[p], by_b[q][1]) for p, q in _matched(lcs_edits(*kept), len(by_a))]
    for column in [*columns, (n, len(a.units), len(b.units))]:
        if any(place > last + 1 for place, last in zip(column, end, strict=True)):
            for place, last in zip(column, end, strict=True):
                regions.extend((last + 1, place))
        end = column
    return regions
