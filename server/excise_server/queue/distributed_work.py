"""What a worker does: plain functions over plain values, so that any worker can do any part again.

A part that is lost with its worker is made anew from its arguments, which the scheduler keeps.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from excise import __version__
from excise.patches import Message, Patch, compare_on_one_base
from excise.patches.features import BLOCK, NO_HEADING, Edits
from excise.patches.mail import read_piece
from excise.patches.pool import Pairs, range_search
from excise.patches.reader import Reader

__all__ = ["Features", "count", "merge", "read_pieces", "scores", "search_pairs", "version_here"]

Words = tuple[list[object], list[object], list[object]]


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Edits of patches under one vocabulary; a run has a name of its own."""

    run: str
    edits: tuple[Edits, ...]
    words: Words


def version_here() -> str:
    """Return the version of excise that a worker has."""
    return __version__


def read_pieces(pieces: Sequence[tuple[int, int, bytes]]) -> list[Message]:
    """Read messages: number, line and bytes of each."""
    return [read_piece(*piece) for piece in pieces]


def count(run: str, patches: Sequence[Patch], ignored: Sequence[str]) -> Features:
    """Return the features of some patches, under a vocabulary of their own."""
    reader = Reader()
    edits = tuple(reader.edits(patch, ignored) for patch in patches)
    tokens, names, lines = reader.vocabularies
    return Features(run, edits, (tokens.items(), names.items(), lines.items()))


def merge(parts: Sequence[Features]) -> Features:
    """Return all features under one vocabulary; which ints it has decides no score."""
    import numpy as np

    reader = Reader()
    merged: list[Edits] = []
    for part in parts:
        maps = [
            np.array(vocabulary.intern(words), dtype=np.int32)
            for vocabulary, words in zip(reader.vocabularies, part.words, strict=True)
        ]
        merged += [_merged(edits, *maps) for edits in part.edits]
    return Features(parts[0].run if parts else "", tuple(merged), ([], [], []))


def _merged(edits: Edits, tokens: object, names: object, lines: object) -> Edits:
    blocks, around = array("i", edits.blocks), array("i", edits.around)
    blocks[::BLOCK] = _renamed(names, edits.names)
    titled = [at for at in range(5, len(blocks), BLOCK) if blocks[at] != NO_HEADING]
    headings = _renamed(lines, array("i", (blocks[at] for at in titled)))
    for at, heading in zip(titled, headings, strict=True):
        blocks[at] = heading
    around[::2] = _renamed(lines, around[::2])
    context = _renamed(lines, edits.context)
    return Edits(_renamed(tokens, edits.tokens), blocks, around, context, edits.notes)


def _renamed(names: object, ints: array[int]) -> array[int]:
    import numpy as np

    taken = np.asarray(names)[np.frombuffer(ints, dtype=np.int32)] if ints else np.array([])
    return array("i", taken.astype(np.int32).tobytes())


def search_pairs(features: Features, least: float, idf: bool, start: int, stop: int) -> Pairs:
    """Return the pairs of which the first patch is in a range, and that are close enough."""
    return _search(_Run(features), least, idf)(start, stop)


def scores(patches: Sequence[Patch], pairs: Sequence[tuple[int, int]]) -> list[float]:
    """Return the scores of pairs of patches of one tree."""
    return [compare_on_one_base(patches[i], patches[j]).value for i, j in pairs]


class _Run:
    """Features as a key: one run at a time is kept, its index is costly."""

    def __init__(self, features: Features) -> None:
        self.features = features

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Run) and other.features.run == self.features.run

    def __hash__(self) -> int:
        return hash(self.features.run)


# The one thing a worker remembers between parts: it belongs to the process, and dies with it.
@lru_cache(maxsize=1)
def _search(run: _Run, least: float, idf: bool) -> Callable[[int, int], Pairs]:
    return range_search(run.features.edits, least, idf=idf)
