"""Patches as ints, as `excise.kernels._patches.Index` counts them; each distinct line is read once.

The lines of both images of a hunk are named by the lexer of texts without a grammar: blocks, their
tokens and the lines around them are then slices of ints. What changes only white space, or has no
text, goes through `excise.patches.features.edited_blocks`, to which tests hold everything equal.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from excise.alignment import Edits as Runs
from excise.kernels._lcs import edits
from excise.kernels._lexer import Lexer
from excise.lexical import count_words
from excise.patches.blocks import AROUND, CONTEXT_LONGER_THAN, context_of, text_of
from excise.patches.features import (
    IGNORED,
    NO_HEADING,
    Edits,
    compared,
    edited_blocks,
    facts_block,
)
from excise.patches.model import FilePair, Hunk, Patch
from excise.text import WHITE
from excise.tokens import Vocabulary

__all__ = ["Reader"]

_BLANK = -1
Weighted = tuple[int, int]
"""A line around a block: its name, and how many words it has."""


class Reader:
    """Reads patches under one vocabulary, so that equal ints are equal texts."""

    def __init__(self) -> None:
        """Start with empty vocabularies."""
        self._tokens = Vocabulary()
        self._names = Vocabulary()
        self._lines = _Lines()
        self._lexer = Lexer(_Names(self._tokens))

    @property
    def vocabularies(self) -> tuple[Vocabulary, Vocabulary, Vocabulary]:
        """Of tokens, of names, of context lines and headings: what the ints of edits stand for."""
        return self._tokens, self._names, self._lines.vocabulary

    def edits(self, patch: Patch, ignored: Sequence[str] = IGNORED) -> Edits:
        """Return what of a patch is compared: `edited_blocks`, or its header facts."""
        files, notes = compared(patch, ignored)
        written = _Written()
        for pair in files:
            name = self._names.intern([pair.name])[0]
            for hunk in pair.hunks:
                self._read(hunk, name, written)
        if written.differs:
            return written.edits(notes)
        return self._as_objects(files, notes)

    def _read(self, hunk: Hunk, name: int, written: _Written) -> None:
        """Write the blocks of a hunk, and its context lines."""
        lines = text_of(hunk.lines)
        texts = [line[1:] for line in lines if line[:1] != "+"]
        old = self._image(texts)
        new = self._image([line[1:] for line in lines if line[:1] != "-"])
        heading = self._lines.heading(hunk)
        for start, stop, a_lo, a_hi in Runs(edits(old.solid, new.solid)):
            behind = min(stop + AROUND, len(old.solid))
            nearest = (*range(max(start - AROUND, 0), start), *range(stop, behind))
            around = [self._lines.around(old.solid[k], texts[old.places[k]]) for k in nearest]
            inserted = new.part(a_lo, a_hi)
            written.put(name, old.part(start, stop), inserted, heading, around)
        kept = [line[:1] == " " for line in lines if line[:1] != "+"]
        # An image without lines is read as one that is blank.
        for line, number, is_context in zip(texts, old.ids, kept, strict=False):
            if is_context and number != _BLANK:
                self._lines.put_context(number, line, written.context)

    def _image(self, lines: Sequence[str]) -> _Image:
        tokens, first, ids = self._lexer.read("\n".join(lines))
        places = [place for place, number in enumerate(ids) if number != _BLANK]
        solid = array("i", [ids[place] for place in places])
        return _Image(ids, places, solid, tokens, [*(first[at] for at in places), len(tokens)])

    def _as_objects(self, files: Sequence[FilePair], notes: tuple[str, ...]) -> Edits:
        """Return what is compared by other things than its tokens."""
        blocks, said = edited_blocks(files)
        if not blocks and files:
            blocks = [facts_block(files)]
        written = _Written()
        for edited in blocks:
            name = self._names.intern([edited.name])[0]
            heading = self._lines.number(edited.heading) if edited.heading else NO_HEADING
            around = [self._lines.weighted(line) for line in edited.around]
            old, new = (self._tokens.intern(side) for side in (edited.old, edited.new))
            written.put(name, old, new, heading, around)
        for pair in files:
            written.context.extend(map(self._lines.number, context_of(pair)))
        return written.edits((*notes, *said))


@dataclass(frozen=True, slots=True)
class _Image:
    """One side of a hunk: what names its lines (-1: blank), and those that are not blank.

    Of these, ``places`` are their places among all lines and ``solid`` their names, and line k has
    the tokens from ``starts[k]`` to ``starts[k + 1]``.
    """

    ids: array[int]
    places: list[int]
    solid: array[int]
    tokens: array[int]
    starts: list[int]

    def part(self, start: int, stop: int) -> array[int]:
        """Return the tokens of some lines that are not blank."""
        return self.tokens[self.starts[start] : self.starts[stop]]


@dataclass(slots=True)
class _Written:
    """The blocks of a patch, written one after the other; ``differs`` if one has other tokens."""

    tokens: array[int] = field(default_factory=lambda: array("i"))
    blocks: array[int] = field(default_factory=lambda: array("i"))
    lines: array[int] = field(default_factory=lambda: array("i"))
    context: array[int] = field(default_factory=lambda: array("i"))
    differs: bool = False

    def put(
        self,
        name: int,
        old: array[int],
        new: array[int],
        heading: int,
        around: Sequence[Weighted],
    ) -> None:
        start = len(self.tokens)
        self.tokens.extend(old)
        middle = len(self.tokens)
        self.tokens.extend(new)
        own = 0
        for line in around:
            if line[1]:
                self.lines.extend(line)
                own += 1
        self.blocks.extend((name, start, middle, middle, len(self.tokens), heading, own))
        self.differs = self.differs or old != new

    def edits(self, notes: tuple[str, ...]) -> Edits:
        return Edits(self.tokens, self.blocks, self.lines, self.context, notes)


class _Lines:
    """Names of headings and of the lines around blocks, without the white space at their ends."""

    def __init__(self) -> None:
        self.vocabulary = Vocabulary()
        self._weighted: dict[int, Weighted] = {}
        self._context: dict[int, int | None] = {}

    def number(self, line: str) -> int:
        return self.vocabulary.intern([line])[0]

    def heading(self, hunk: Hunk) -> int:
        text = text_of([hunk.heading])[0]
        return self.number(text) if text else NO_HEADING

    def weighted(self, line: str) -> Weighted:
        """Return the name of a line and how many words it has; without words it needs no name."""
        weight = count_words(line)
        return (self.number(line), weight) if weight else (0, 0)

    def around(self, number: int, line: str) -> Weighted:
        """Return the same of a line that the lexer has named."""
        known = self._weighted.get(number)
        if known is None:
            known = self._weighted[number] = self.weighted(line.strip(WHITE))
        return known

    def put_context(self, number: int, line: str, context: array[int]) -> None:
        """Append the name of a context line, if it is long enough to tell something."""
        try:
            known = self._context[number]
        except KeyError:
            stripped = line.strip(WHITE)
            is_long = len(stripped) > CONTEXT_LONGER_THAN
            known = self._context[number] = self.number(stripped) if is_long else None
        if known is not None:
            context.append(known)


class _Names(Vocabulary):
    """Names tokens by another vocabulary, and lines apart from it, so that tokens fill its ints."""

    def __init__(self, tokens: Vocabulary) -> None:
        super().__init__()
        self._tokens = tokens

    def intern(self, items: Iterable[Hashable]) -> array[int]:
        return self._tokens.intern(items)
