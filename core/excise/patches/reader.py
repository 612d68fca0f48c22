"""Patches as ints, as `excise.kernels._patches.Index` counts them; each distinct line is read once.

`excise.kernels._hunks` names the lines of both images of a hunk and aligns them: blocks, their
tokens and the lines around them are then slices of ints. What changes only white space, or has no
text, goes through `excise.patches.features.edited_blocks`, to which tests hold everything equal.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Sequence

from excise.kernels._hunks import Hunks
from excise.kernels._lexer import Lexer
from excise.lexical import count_words
from excise.patches.blocks import context_of, text_of
from excise.patches.features import (
    IGNORED,
    NO_HEADING,
    Edits,
    compared,
    edited_blocks,
    facts_block,
)
from excise.patches.model import FilePair, Patch
from excise.tokens import Vocabulary

__all__ = ["Reader"]


class Reader:
    """Reads patches under one vocabulary, so that equal ints are equal texts."""

    def __init__(self) -> None:
        """Start with empty vocabularies."""
        self._tokens = Vocabulary()
        self._names = Vocabulary()
        self._lines = Vocabulary()
        self._headings = {b"": NO_HEADING}
        self._hunks = Hunks(Lexer(_Names(self._tokens)), self._lines)

    @property
    def vocabularies(self) -> tuple[Vocabulary, Vocabulary, Vocabulary]:
        """Of tokens, of names, of context lines and headings: what the ints of edits stand for."""
        return self._tokens, self._names, self._lines

    def edits(self, patch: Patch, ignored: Sequence[str] = IGNORED) -> Edits:
        """Return what of a patch is compared: `edited_blocks`, or its header facts."""
        files, notes = compared(patch, ignored)
        hunks = []
        for pair in files:
            name = self._names.intern([pair.name])[0]
            hunks += [(hunk.text, name, self._heading(hunk.heading)) for hunk in pair.hunks]
        tokens, blocks, around, context, differs = self._hunks.read(hunks)
        if differs:
            return Edits(tokens, blocks, around, context, notes)
        return self._as_objects(files, notes)

    def _heading(self, heading: bytes) -> int:
        number = self._headings.get(heading)
        if number is None:
            number = self._headings[heading] = self._lines.intern(text_of([heading]))[0]
        return number

    def _as_objects(self, files: Sequence[FilePair], notes: tuple[str, ...]) -> Edits:
        """Return what is compared by other things than its tokens."""
        blocks, said = edited_blocks(files)
        if not blocks and files:
            blocks = [facts_block(files)]
        tokens, rows, around = array("i"), array("i"), array("i")
        for edited in blocks:
            start = len(tokens)
            tokens.extend(self._tokens.intern(edited.old))
            middle = len(tokens)
            tokens.extend(self._tokens.intern(edited.new))
            name = self._names.intern([edited.name])[0]
            heading = self._lines.intern([edited.heading])[0] if edited.heading else NO_HEADING
            weights = [(line, count_words(line)) for line in edited.around]
            weighted = [(line, weight) for line, weight in weights if weight]
            for line, weight in weighted:
                around.extend((self._lines.intern([line])[0], weight))
            rows.extend((name, start, middle, middle, len(tokens), heading, len(weighted)))
        context = self._lines.intern(line for pair in files for line in context_of(pair))
        return Edits(tokens, rows, around, context, (*notes, *said))


class _Names(Vocabulary):
    """Names tokens by another vocabulary, and lines apart from it, so that tokens fill its ints."""

    def __init__(self, tokens: Vocabulary) -> None:
        super().__init__()
        self._tokens = tokens

    def intern(self, items: Iterable[Hashable]) -> array[int]:
        return self._tokens.intern(items)
