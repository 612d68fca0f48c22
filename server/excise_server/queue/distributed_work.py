"""What a worker does: plain functions over plain values, so that any worker can do any part again.

A part that is lost with its worker is made anew from its arguments, which the scheduler keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from excise import __version__
from excise.patches import Message, Patch
from excise.patches.mail import read_piece
from excise.patches.pool import Pairs, piece_search
from excise_server.queue.counted import Merger, Part, Piece, PieceReader

__all__ = [
    "Run",
    "count_part",
    "read_part",
    "read_pieces",
    "search_pairs",
    "version_here",
]


@dataclass(frozen=True, slots=True)
class Run:
    """A search, by a name of its own, and the numbers of the patches that are in it."""

    name: str
    numbers: Sequence[int]


def version_here() -> str:
    """Return the version of excise that a worker has."""
    return __version__


def read_pieces(pieces: Sequence[tuple[int, int, bytes]]) -> list[Message]:
    """Read messages: number, line and bytes of each."""
    return [read_piece(*piece) for piece in pieces]


def read_part(ignored: Sequence[str], found: Sequence[Piece]) -> bytes | Part:
    """Read and count messages, under a vocabulary of their own."""
    return PieceReader(ignored)(found)


def count_part(ignored: Sequence[str], patches: Sequence[Patch]) -> Part:
    """Count patches, under a vocabulary of their own."""
    return PieceReader(ignored).part([Message(1, patch=patch) for patch in patches])


def search_pairs(
    run: Run, parts: Sequence[bytes | Part], least: float, idf: bool, piece: int, pieces: int
) -> Pairs:
    """Return the pairs of one piece of the search that are close enough."""
    return _search(_Parts(run, parts), least, idf)(piece, pieces)


class _Parts:
    """The parts of a run, known by its name: one run at a time is kept, its index is costly."""

    def __init__(self, run: Run, parts: Sequence[bytes | Part]) -> None:
        self.run, self.parts = run, parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Parts) and other.run.name == self.run.name

    def __hash__(self) -> int:
        return hash(self.run.name)


# The one thing a worker remembers between parts: it belongs to the process, and dies with it.
@lru_cache(maxsize=1)
def _search(parts: _Parts, least: float, idf: bool) -> Callable[[int, int], Pairs]:
    merger = Merger()
    edits = [known.edits for part in parts.parts for known in merger.take(part)[1]]
    return piece_search([edits[number] for number in parts.run.numbers], least, idf=idf)
