"""Patches as ints by objects: blocks and their words as strings, each named by its vocabulary."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from tests.reference.patch_blocks import function_of
from tests.reference.patches import words

import excise.lexical
from excise.lexical import count_words
from excise.patches import Patch
from excise.patches.blocks import context_of, images
from excise.patches.features import (
    IGNORED,
    NO_HEADING,
    NO_NAME,
    EditedBlock,
    Edits,
    compared,
    edited_blocks,
    facts_block,
)
from excise.tokens import Vocabulary


class Reader:
    """Reads patches under one vocabulary, so that equal ints are equal texts."""

    def __init__(self) -> None:
        """Start with empty vocabularies."""
        self._tokens = Vocabulary()
        self._names = Vocabulary()
        self._lines = Vocabulary()
        self._weights = _Weights()

    @property
    def vocabularies(self) -> tuple[Vocabulary, Vocabulary, Vocabulary]:
        """Of tokens, of names, of context lines and headings: what the ints of edits stand for."""
        return self._tokens, self._names, self._lines

    def edits(self, patch: Patch, ignored: Sequence[str] = IGNORED) -> Edits:
        """Return what of a patch is compared: `edited_blocks`, or its header facts."""
        files, notes = compared(patch, ignored)
        blocks, said = edited_blocks(files)
        if not blocks and files:
            blocks = [facts_block(files)]
        written = array("i"), array("i"), array("i")
        for edited in blocks:
            self._write(edited, *written)
        context = self._lines.intern(line for pair in files for line in context_of(pair))
        return Edits(*written, context, (*notes, *said))

    def _write(
        self, edited: EditedBlock, tokens: array[int], blocks: array[int], around: array[int]
    ) -> None:
        start = len(tokens)
        tokens.extend(self._tokens.intern(edited.old))
        middle = len(tokens)
        tokens.extend(self._tokens.intern(edited.new))
        stop = len(tokens)
        heading = self._lines.intern([edited.heading])[0] if edited.heading else NO_HEADING
        lines = [line for line in edited.around if self._weights[line]]
        for line, number in zip(lines, self._lines.intern(lines), strict=True):
            around.extend((number, self._weights[line]))
        name = self._names.intern([edited.name])[0]
        begin = end = 0
        function = NO_NAME
        if edited.heading:
            old = images(edited.block.hunk)[0]
            above = old[: edited.block.line - edited.block.hunk.old_start]
            if (found := function_of([edited.heading, *above])) is not None:
                function = self._tokens.intern([found])[0]
            said = [*words(edited.heading), *excise.lexical.words("\n".join(old))]
            begin = len(tokens)
            tokens.extend(self._tokens.intern(dict.fromkeys(said)))
            end = len(tokens)
        blocks.extend((name, start, middle, middle, stop, heading, len(lines)))
        blocks.extend((function, begin, end))


class _Weights(dict[str, int]):
    """How many words a line has, counted once."""

    def __missing__(self, line: str) -> int:
        self[line] = count_words(line)
        return self[line]
