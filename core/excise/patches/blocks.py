"""Change blocks: both images of a hunk rebuilt, and aligned again canonically (section 8).

A diff tool's own alignment is not canonical: two tools cut the same edit in different places.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass

from excise._lcs import edits
from excise.patches.model import FilePair, Hunk
from excise.text import WHITE
from excise.tokens import Vocabulary

__all__ = ["Block", "blocks_of", "context_of", "images", "text_of"]

CONTEXT_LONGER_THAN = 3
"""Characters above which a stripped context line tells something about its file."""


@dataclass(frozen=True, slots=True)
class Block:
    """A maximal run of lines that a patch deletes and inserts, at a place of the old file."""

    pair: FilePair
    hunk: Hunk
    place: int
    """First deleted line of the old file (or the line before which lines are inserted), from 1."""
    old: tuple[str, ...]
    new: tuple[str, ...]


def text_of(lines: list[bytes]) -> list[str]:
    """Decode lines: as UTF-8, else as latin-1."""
    data = b"\n".join(lines)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.split("\n") if lines else []


def images(hunk: Hunk) -> tuple[list[str], list[str]]:
    """Return the lines of the old and of the new image, without line ends."""
    old = [line[1:] for line in hunk.lines if line[:1] != b"+"]
    new = [line[1:] for line in hunk.lines if line[:1] != b"-"]
    return text_of(old), text_of(new)


def blocks_of(pair: FilePair, vocabulary: Vocabulary, *, raw: bool = False) -> Iterator[Block]:
    r"""Yield the blocks of a file, in order.

    Lines are aligned by their keys; blank lines have none and end no block. With `raw` a line is
    its text, line end included (``\r\n`` is one), and every line is aligned: guard 2.
    """
    for hunk in pair.hunks:
        old, new = images(hunk)
        if raw:
            keys = _ended(old, hunk.old_open), _ended(new, hunk.new_open)
            places = list(range(len(old))), list(range(len(new)))
            old, new = keys
        else:
            keys = [line.rstrip(WHITE) for line in old], [line.rstrip(WHITE) for line in new]
            places = (
                [at for at, key in enumerate(keys[0]) if key],
                [at for at, key in enumerate(keys[1]) if key],
            )
        ids = [vocabulary.intern([keys[side][at] for at in places[side]]) for side in (0, 1)]
        yield from _blocks(pair, hunk, (old, new), places, edits(ids[0], ids[1]))


def _blocks(
    pair: FilePair,
    hunk: Hunk,
    sides: tuple[list[str], list[str]],
    places: tuple[list[int], list[int]],
    flat: array[int],
) -> Iterator[Block]:
    (old, new), (o, a) = sides, places
    for at in range(0, len(flat), 4):
        o_lo, o_hi, a_lo, a_hi = flat[at : at + 4]
        start = o[o_lo] if o_lo < len(o) else len(old)
        yield Block(
            pair,
            hunk,
            hunk.old_start + start,
            tuple(old[place] for place in o[o_lo:o_hi]),
            tuple(new[place] for place in a[a_lo:a_hi]),
        )


def context_of(pair: FilePair) -> list[str]:
    """Return the context lines that say something, stripped."""
    lines = [line[1:] for hunk in pair.hunks for line in hunk.lines if line[:1] == b" "]
    found = (line.strip(WHITE) for line in text_of(lines))
    return [line for line in found if len(line) > CONTEXT_LONGER_THAN]


def _ended(lines: list[str], is_open: bool) -> list[str]:
    ended = [f"{line.removesuffix(chr(13))}\n" for line in lines]
    if is_open and ended:
        ended[-1] = ended[-1][:-1]
    return ended
