"""Patches of one tree as whole texts: the origin is what either patch shows of it (section 8).

Every line that neither shows is conserved: one token that no text has stands for each such gap.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from excise.alignment import Edits
from excise.edits import EditCounts, count_edits
from excise.kernels._counts import merge_edits, number_places
from excise.kernels._lcs import edits as lcs_edits
from excise.kernels._places import slide
from excise.lexical import words
from excise.patches.blocks import images, raw_images
from excise.patches.model import FilePair
from excise.patches.pairing import Pairing
from excise.text import WHITE
from excise.tokens import Vocabulary

__all__ = ["Triple"]

Tokens = Callable[[str], list[str]]


@dataclass(slots=True)
class _Run:
    """Lines of the old file, from and to (exclusive), and the lines that replace them."""

    first: int
    stop: int
    new: list[str]


class _Text:
    """Tokens of all files in a row, and where their lines begin."""

    def __init__(self) -> None:
        self.tokens, self.first = array("i"), array("i")

    def line(self, tokens: array[int]) -> None:
        if tokens:
            self.first.append(len(self.tokens))
            self.tokens.extend(tokens)

    @property
    def lines(self) -> array[int]:
        """The first token of every line, and the number of tokens."""
        return array("i", (*self.first, len(self.tokens)))


class Triple:
    """Origin and both sides, all files in a row, as ints, with the edits of both sides.

    Parameters
    ----------
    pairs
        Files of A and of B that are one file of the tree; None: the patch leaves it as it is.
    raw
        Whole lines, white space and line ends included, are the tokens (guard 2).

    Attributes
    ----------
    disagree
        Whether the patches show different lines where one tree has one.
    """

    def __init__(self, pairs: Iterable[Pairing], *, raw: bool = False) -> None:
        """Write down the files one after the other."""
        self._raw = raw
        self._tokens: Tokens = _whole if raw else words
        self._vocabulary = Vocabulary()
        self._gaps = 0
        self._number = 0
        self._numbers = array("i")
        self._origin = _Text()
        self._sides = _Text(), _Text()
        self._edits = array("i"), array("i")
        self.disagree = False
        for a, b in pairs:
            self._add(a, b)

    @property
    def unchanged(self) -> tuple[bool, bool]:
        """Whether A, and whether B, has the tokens of the origin (guards 2 and 3).

        Edits do not tell: lines that are equal but for white space can be aligned crosswise.
        """
        a, b = (side.tokens == self._origin.tokens for side in self._sides)
        return a, b

    @property
    def equal(self) -> bool:
        """Whether both sides have the same tokens (guard 4)."""
        return self._sides[0].tokens == self._sides[1].tokens

    def counts(self) -> EditCounts:
        """Count what both do, by the places of the origin (section 4a)."""
        origin, a, b = self._origin, *self._sides
        slid = (
            slide(edits, origin.tokens, origin.lines, side.tokens, side.lines)
            for edits, side in zip(self._edits, self._sides, strict=True)
        )
        regions = merge_edits(*slid)
        tokens = origin.tokens, a.tokens, b.tokens
        return count_edits(regions, *tokens, number_places(regions, self._numbers, *tokens))

    def _add(self, a: FilePair | None, b: FilePair | None) -> None:
        shown: tuple[dict[int, str], dict[int, str]] = {}, {}
        runs = [
            list(self._runs(pair, known)) if pair else []
            for pair, known in zip((a, b), shown, strict=True)
        ]
        known = shown[0] | shown[1]
        for number in shown[0].keys() & shown[1].keys():
            # Which of two lines stands there may not depend on which patch comes first.
            known[number] = min(shown[0][number], shown[1][number])
            self.disagree |= self._key(shown[0][number]) != self._key(shown[1][number])
        begin = len(self._origin.tokens)
        starts = self._write(known, {run.first for side in runs for run in side})
        for side, own in enumerate(runs):
            self._apply(side, own, starts, begin)

    def _runs(self, pair: FilePair, known: dict[int, str]) -> Iterator[_Run]:
        """Yield the edits of a side to a file by line numbers, and note the lines that it shows."""
        for hunk in pair.hunks:
            old, new = raw_images(hunk) if self._raw else images(hunk)
            start = hunk.old_start if old else hunk.old_start + 1
            known.update(enumerate(old, start))
            o, a = ([at for at, line in enumerate(lines) if self._tokens(line)]
                    for lines in (old, new))  # fmt: skip
            keys = (
                self._vocabulary.intern(("line", self._key(lines[at])) for at in places)
                for lines, places in ((old, o), (new, a))
            )
            for o_lo, o_hi, a_lo, a_hi in Edits(lcs_edits(*keys)):
                first = start + (o[o_lo] if o_lo < len(o) else len(old))
                stop = start + o[o_hi - 1] + 1 if o_hi > o_lo else first
                yield _Run(first, stop, [new[place] for place in a[a_lo:a_hi]])

    def _key(self, line: str) -> str:
        return line if self._raw else line.rstrip(WHITE)

    def _write(self, known: dict[int, str], anchors: set[int]) -> dict[int, int]:
        """Write the origin of a file, and return the token before which each line begins."""
        starts: dict[int, int] = {}
        self._number += 1  # no line of a file is beside one of another file
        self._gap()
        for number in sorted(known.keys() | anchors | {line + 1 for line in known}):
            if starts and number - 1 not in known:
                self._gap()
            starts[number] = len(self._origin.tokens)
            if number in known:
                self._line(self._vocabulary.intern(self._tokens(known[number])))
        self._gap()
        return starts

    def _gap(self) -> None:
        self._gaps += 1
        self._line(self._vocabulary.intern([("gap", self._gaps)]))

    def _line(self, tokens: array[int]) -> None:
        self._origin.line(tokens)
        self._numbers.extend([self._number] * len(tokens))
        self._number += bool(tokens)

    def _apply(self, side: int, runs: Iterable[_Run], starts: dict[int, int], cursor: int) -> None:
        text, edits, origin = self._sides[side], self._edits[side], self._origin.tokens
        for run in sorted(runs, key=lambda run: (run.first, run.stop)):
            lo, hi = max(starts[run.first], cursor), max(starts[run.stop], cursor)
            self._keep(text, cursor, lo)
            base = len(text.tokens)
            for line in run.new:
                text.line(self._vocabulary.intern(self._tokens(line)))
            for o_lo, o_hi, a_lo, a_hi in Edits(lcs_edits(origin[lo:hi], text.tokens[base:])):
                _extend(edits, (lo + o_lo, lo + o_hi, base + a_lo, base + a_hi))
            cursor = hi
        self._keep(text, cursor, len(origin))

    def _keep(self, text: _Text, start: int, stop: int) -> None:
        """Copy whole lines of the origin."""
        first = self._origin.first
        shift = len(text.tokens) - start
        text.first.extend(
            place + shift for place in first[bisect_left(first, start) : bisect_left(first, stop)]
        )
        text.tokens.extend(self._origin.tokens[start:stop])


def _extend(edits: array[int], run: tuple[int, int, int, int]) -> None:
    """Append a run, as one with the last where they touch: hunks can end at a blank line."""
    if edits and (edits[-3], edits[-1]) == (run[0], run[2]):
        edits[-3], edits[-1] = run[1], run[3]
    else:
        edits.extend(run)


def _whole(line: str) -> list[str]:
    return [line]
