"""The compared parts of a patch: its blocks as tokens, under the guards of section 8."""

from __future__ import annotations

import hashlib
import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import translate
from itertools import chain

from excise.kernels._hunks import Hunks
from excise.kernels._lexer import Lexer
from excise.lexical import count_words, only_words, words
from excise.patches.blocks import AROUND, Block, blocks_of, context_of, function_in, images, text_of
from excise.patches.model import FilePair, Patch
from excise.tokens import Vocabulary

IGNORED = (
    "*.lock", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "go.sum",
    "CHANGELOG*", "ChangeLog*", "Changelog*", "CHANGES", "CHANGES.*", "NEWS", "NEWS.*",
    "*.min.js", "*.min.css", "*.pot",
)  # fmt: skip
"""Names of files left out by default: lock files, changelogs, generated lists."""

_IGNORED = re.compile("|".join(map(translate, IGNORED)))
"""All of them at once: a sixth of the time that one after the other takes."""

WHITESPACE_ONLY = "whitespace-only"
NO_TEXT = "header facts only"
NO_FACT = "no change"
NO_HEADING = NO_NAME = -1
ONLY_IGNORED = "only ignored paths: compared all the same"
BLOCK = 10
"""Ints of a block in `PatchFeatures.blocks`."""

MOST_LINES = 2 * AROUND
"""Lines around a block, at most."""

Pairing = tuple[FilePair | None, FilePair | None]

_KEYS: tuple[Callable[[FilePair], Iterable[Hashable]], ...] = (
    lambda pair: (pair.path,),
    lambda pair: {pair.old, pair.new} - {None},
    lambda pair: (pair.name,),
    lambda pair: ("",) if pair.hunks else (),
)
"""By which files are paired, one rule after the other; the last one pairs them in order."""


@dataclass(frozen=True, slots=True)
class PatchFeatures:
    """A patch as ints, under the vocabularies of a `Reader`.

    - ``tokens``: of all its blocks, and the words of the hunks that have headings.
    - ``blocks``: `BLOCK` ints each: name of its file; O from, to and A from, to in `tokens`;
      heading of its hunk (-1: none); how many lines of `around` are its own; the name of its
      function (-1: unknown); from, to in `tokens` of the words in the heading and on the old lines
      of its hunk.
    - ``around``: the lines around the blocks in their order: a line, and how many words it has (at
      least 1).
    - ``context``: the context lines that can rescue a renamed file.
    - ``notes``: ``whitespace-only``, ``header facts only``, ..
    """

    tokens: array[int]
    blocks: array[int]
    around: array[int]
    context: array[int]
    notes: tuple[str, ...]

    @property
    def ints(self) -> tuple[array[int], array[int], array[int], array[int]]:
        """The arguments of `excise.kernels._patches.Index`."""
        return self.tokens, self.blocks, self.around, self.context

    @property
    def names(self) -> array[int]:
        """The file names of the blocks."""
        return self.blocks[::BLOCK]


@dataclass(frozen=True, slots=True)
class EditedBlock:
    """The compared parts of a block: tokens (or raw lines) before and after, and its place."""

    name: str
    old: tuple[Hashable, ...]
    new: tuple[Hashable, ...]
    heading: str = ""
    around: tuple[str, ...] = ()
    block: Block | None = None
    """None for header facts."""


def edited_blocks(files: Sequence[FilePair]) -> tuple[list[EditedBlock], tuple[str, ...]]:
    """Return the blocks of a patch as they are compared, and what is to be noted.

    A patch that changes white space only is compared by its raw lines. No other patch has
    their tokens: it shares nothing with a patch that changes more. A patch without text has no
    blocks.
    """
    lines = Vocabulary()
    blocks = [
        _edited(block, tuple(words("\n".join(block.old))), tuple(words("\n".join(block.new))))
        for pair in files
        for block in blocks_of(pair, lines)
    ]
    if any(block.old != block.new for block in blocks):
        return blocks, ()
    blocks = [
        _edited(block, *(tuple(("raw", line) for line in side) for side in (block.old, block.new)))
        for pair in files
        for block in blocks_of(pair, lines, raw=True)
    ]
    return blocks, (WHITESPACE_ONLY if blocks else NO_TEXT,)


def _edited(block: Block, old: tuple[Hashable, ...], new: tuple[Hashable, ...]) -> EditedBlock:
    return EditedBlock(block.pair.name, old, new, block.heading, block.around, block)


def compared(patch: Patch, ignored: Sequence[str]) -> tuple[tuple[FilePair, ...], tuple[str, ...]]:
    """Return the files that count, or all of them if every one is to be ignored."""
    match = _IGNORED.match
    if ignored != IGNORED:
        match = re.compile("|".join(map(translate, ignored)) or "(?!)").match
    kept = tuple(pair for pair in patch.files if not (match(pair.name) or match(pair.path)))
    if patch.files and not kept:
        return patch.files, (ONLY_IGNORED,)
    return kept, ()


def paired(
    a: Iterable[FilePair], b: Iterable[FilePair], *, by_content: bool = False
) -> tuple[Pairing, ...]:
    """Pair files by path, by a rename's old path, by base name (which is what n-grams carry).

    With `by_content` (the patches' context lines agree) what is left is paired in order, too. A
    file that stays alone has None beside it.
    """
    found: list[Pairing] = []
    left, free = dict(enumerate(a)), dict(enumerate(b))
    for keys in _KEYS if by_content else _KEYS[:-1]:
        # The places of B by key, the first one last; those that are taken stay until they come up.
        places: dict[Hashable, list[int]] = defaultdict(list)
        for at, pair in reversed(free.items()):
            for key in keys(pair):
                places[key].append(at)
        for at, pair in tuple(left.items()):
            heads = []
            for key in keys(pair):
                while places[key] and places[key][-1] not in free:
                    places[key].pop()
                heads += places[key][-1:]
            if heads:
                found.append((left.pop(at), free.pop(min(heads))))
    alone = [(pair, None) for pair in left.values()]
    return (*found, *alone, *((None, pair) for pair in free.values()))


def facts_of(pair: FilePair) -> tuple[str, ...]:
    """Return what is known of a file beside its text: its header facts, and a name of its data."""
    if pair.binary is None or not pair.binary.data:
        return pair.facts
    return (*pair.facts, hashlib.sha1(pair.binary.data, usedforsecurity=False).hexdigest())


# --- patches as ints, as `excise.kernels._patches.Index` counts them
#
# `excise.kernels._hunks` names the lines of both images of a hunk and aligns them, each distinct
# line once: blocks, their tokens and the lines around them are then slices of ints. What changes
# only white space, or has no text, goes through `edited_blocks`, to which tests hold the kernel.


class Reader:
    """Reads patches under one vocabulary, so that equal ints are equal texts."""

    def __init__(self) -> None:
        self._tokens = Vocabulary()
        self._names = Vocabulary()
        self._lines = Vocabulary()
        self._headings = {b"": (NO_HEADING, NO_NAME, array("i"))}
        self._hunks = Hunks(Lexer(_LineVocabulary(self._tokens)), self._lines, self._function)

    @property
    def vocabularies(self) -> tuple[Vocabulary, Vocabulary, Vocabulary]:
        """Of tokens, of names, of context lines and headings: what the ints of edits stand for."""
        return self._tokens, self._names, self._lines

    def edits(self, patch: Patch, ignored: Sequence[str] = IGNORED) -> PatchFeatures:
        """Return what of a patch is compared: `edited_blocks`, or its header facts."""
        files, notes = compared(patch, ignored)
        hunks = []
        for pair in files:
            name = self._names.intern([pair.name])[0]
            hunks += [(hunk.text, name, *self._heading(hunk.heading)) for hunk in pair.hunks]
        tokens, blocks, around, context, differs = self._hunks.read(hunks)
        if differs:
            return PatchFeatures(tokens, blocks, around, context, notes)
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

    def _as_objects(self, files: Sequence[FilePair], notes: tuple[str, ...]) -> PatchFeatures:
        """Return what is compared by other things than its tokens."""
        blocks, said = edited_blocks(files)
        if not blocks and files:
            # All header facts as one token under all names: equal, or nothing in common.
            named = sorted(
                (pair.name, fact) for pair in files for fact in facts_of(pair) or [NO_FACT]
            )
            facts = sorted(fact for _, fact in named)
            blocks = [EditedBlock("\0".join(chain(*named)), (), (("facts", *facts),))]
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
        return PatchFeatures(tokens, rows, around, context, (*notes, *said))


class _LineVocabulary(Vocabulary):
    """Names tokens by another vocabulary, and lines apart from it, so that tokens fill its ints."""

    def __init__(self, tokens: Vocabulary) -> None:
        super().__init__()
        self._tokens = tokens

    def intern(self, items: Iterable[Hashable]) -> array[int]:
        return self._tokens.intern(items)
