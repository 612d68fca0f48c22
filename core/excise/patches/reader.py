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
from excise.lexical import count_words, only_words, words
from excise.patches.blocks import context_of, function_in, images, text_of
from excise.patches.features import (
    IGNORED,
    NO_HEADING,
    NO_NAME,
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
        self._headings = {b"": (NO_HEADING, NO_NAME, array("i"))}
        self._hunks = Hunks(Lexer(_Names(self._tokens)), self._lines, self._function)

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
            hunks += [(hunk.text, name, *self._heading(hunk.heading)) for hunk in pair.hunks]
        tokens, blocks, around, context, differs = self._hunks.read(hunks)
        if differs:
            return Edits(tokens, blocks, around, context, notes)
        return self._as_objects(files, notes)

    def _heading(self, heading: bytes) -> tuple[int, int, array[int]]:
        """Return the ints of a heading: its own, that of the name in it, those of its words."""
        known = self._headings.get(heading)
        if known is None:
            (text,) = text_of([heading])
            known = self._headings[heading] = (
                self._lines.intern([text])[0],
                self._function(heading),
                self._tokens.intern(only_words(text)),
            )
        return known

    def _function(self, line: bytes) -> int:
        """Return the name in a line or a heading as a token."""
        name = function_in(text_of([line])[0])
        return self._tokens.intern([name])[0] if name else NO_NAME

    def _as_objects(self, files: Sequence[FilePair], notes: tuple[str, ...]) -> Edits:
        """Return what is compared by other things than its tokens."""
        blocks, said = edited_blocks(files)
        if not blocks and files:
            blocks = [facts_block(files)]
        tokens, rows, around = array("i"), array("i"), array("i")
        hunk, words_of_hunk = None, (0, 0)
        for edited in blocks:
            start = len(tokens)
            tokens.extend(self._tokens.intern(edited.old))
            middle = len(tokens)
            tokens.extend(self._tokens.intern(edited.new))
            name = self._names.intern([edited.name])[0]
            heading, function = NO_HEADING, NO_NAME
            weights = [(line, count_words(line)) for line in edited.around]
            weighted = [(line, weight) for line, weight in weights if weight]
            for line, weight in weighted:
                around.extend((self._lines.intern([line])[0], weight))
            stop = len(tokens)
            if edited.block is not None and edited.heading:
                heading, _, title = self._heading(edited.block.hunk.heading)
                if edited.block.function:
                    (function,) = self._tokens.intern([edited.block.function])
                if hunk is not edited.block.hunk:
                    hunk = edited.block.hunk
                    old = self._tokens.intern(words("\n".join(images(hunk)[0])))
                    tokens.extend(dict.fromkeys((*title, *old)))
                    words_of_hunk = stop, len(tokens)
            rows.extend((name, start, middle, middle, stop, heading, len(weighted)))
            rows.extend((function, *(words_of_hunk if heading != NO_HEADING else (0, 0))))
        context = self._lines.intern(line for pair in files for line in context_of(pair))
        return Edits(tokens, rows, around, context, (*notes, *said))


class _Names(Vocabulary):
    """Names tokens by another vocabulary, and lines apart from it, so that tokens fill its ints."""

    def __init__(self, tokens: Vocabulary) -> None:
        super().__init__()
        self._tokens = tokens

    def intern(self, items: Iterable[Hashable]) -> array[int]:
        return self._tokens.intern(items)
