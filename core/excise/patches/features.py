"""The compared parts of a patch: its blocks as tokens, under the guards of section 8."""

from __future__ import annotations

import hashlib
import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase, translate
from itertools import chain

from excise.lexical import words
from excise.patches.blocks import AROUND, Block, blocks_of
from excise.patches.model import FilePair, Patch
from excise.tokens import Vocabulary

__all__ = [
    "BLOCK",
    "IGNORED",
    "MOST_LINES",
    "NO_HEADING",
    "NO_NAME",
    "ONLY_IGNORED",
    "EditedBlock",
    "Edits",
    "Pairing",
    "compared",
    "edited_blocks",
    "facts_block",
    "facts_of",
    "paired",
    "patch_id",
    "text_id",
]

IGNORED = (
    "*.lock", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "go.sum",
    "CHANGELOG*", "ChangeLog*", "Changelog*", "CHANGES", "CHANGES.*", "NEWS", "NEWS.*",
    "*.min.js", "*.min.css", "*.pot",
)  # fmt: skip
"""Names of files left out by default: lock files, changelogs, generated lists."""

_IGNORED = re.compile("|".join(map(translate, IGNORED)))
"""All of them at once: a sixth of the time that one after the other takes."""

BLANKS = b" \t\v\f\r"
WHITESPACE_ONLY = "whitespace-only"
NO_TEXT = "header facts only"
NO_FACT = "no change"
NO_HEADING = NO_NAME = -1
ONLY_IGNORED = "only ignored paths: compared all the same"
BLOCK = 10
"""Ints of a block in `Edits.blocks`."""

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
class Edits:
    """A patch as ints, under the vocabularies of a `excise.patches.reader.Reader`.

    Attributes
    ----------
    tokens
        Of all its blocks, and the words of the hunks that have headings.
    blocks
        `BLOCK` ints each: name of its file; O from, to and A from, to in `tokens`; heading of its
        hunk (-1: none); how many lines of `around` are its own; the name of its function
        (-1: unknown); from, to in `tokens` of the words in the heading and on the old lines of its
        hunk.
    around
        The lines around the blocks in their order: a line, and how many words it has (at least 1).
    context
        The context lines that can rescue a renamed file.
    notes
        ``whitespace-only``, ``header facts only``, ..
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


def edited_blocks(
    files: Sequence[FilePair],
) -> tuple[list[EditedBlock], tuple[str, ...]]:
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


def facts_block(files: Sequence[FilePair]) -> EditedBlock:
    """Return all header facts as one token under all names: equal, or nothing in common."""
    named = sorted((pair.name, fact) for pair in files for fact in facts_of(pair) or [NO_FACT])
    facts = sorted(fact for _, fact in named)
    return EditedBlock("\0".join(chain(*named)), (), (("facts", *facts),))


def compared(patch: Patch, ignored: Sequence[str]) -> tuple[tuple[FilePair, ...], tuple[str, ...]]:
    """Return the files that count, or all of them if every one is to be ignored."""
    kept = tuple(pair for pair in patch.files if not _is_ignored(pair.path, ignored))
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


def patch_id(patch: Patch) -> str:
    """Return a name that equal patches share: a SHA-1 over files in the order of their paths.

    Like `git patch-id --stable` it sees names, context and changed lines without their white
    space, and neither line numbers nor headings nor the order of files. Unlike it, it sees header
    facts, gives every patch a name, and keeps white space where nothing else changes.
    """
    whole = hashlib.sha1(usedforsecurity=False)
    for pair in sorted(patch.files, key=lambda pair: (pair.path, pair.old or "")):
        names = "\0".join((pair.old or "", pair.new or "", *facts_of(pair)))
        whole.update(names.encode("utf-8", "surrogatepass") + b"\0\0")
        text = b"\n".join(hunk.text for hunk in pair.hunks if hunk.text)
        bare = text.translate(None, BLANKS)
        whole.update((text if _is_white_space_only(text, bare) else bare) + b"\0\0")
    return whole.hexdigest()


def text_id(patch: Patch) -> str:
    r"""Return a name that patches of equal texts share: a SHA-1 over all that was read (guard 1).

    Unlike a patch-id it sees line numbers, white space and the order of files; ``\r\n`` is a line
    end. The mail around a patch is not part of its text.
    """
    whole = hashlib.sha1(usedforsecurity=False)
    for pair in patch.files:
        whole.update(repr(replace(pair, hunks=())).encode())
        for hunk in pair.hunks:
            text = (hunk.text + b"\n").replace(b"\r\n", b"\n")
            whole.update(repr(replace(hunk, text=text, line=0)).encode())
    return whole.hexdigest()


def _is_white_space_only(text: bytes, bare: bytes) -> bool:
    """Whether the two images differ only in white space, given `bare`, the text without any."""
    after = b"\n" + text
    if after.count(b"\n+") != after.count(b"\n-"):
        return False
    images: tuple[list[bytes], list[bytes]] = ([], [])
    for line, rest in zip(text.split(b"\n"), bare.split(b"\n"), strict=True):
        if line[:1] != b"+":
            images[0].append(rest[1:] if line[:1] == b"-" else rest)
        if line[:1] != b"-":
            images[1].append(rest[1:] if line[:1] == b"+" else rest)
    return images[0] == images[1]


def facts_of(pair: FilePair) -> tuple[str, ...]:
    """Return what is known of a file beside its text: its header facts, and a name of its data."""
    return (*pair.facts, *_data(pair))


def _data(pair: FilePair) -> tuple[str, ...]:
    if pair.binary is None or not pair.binary.data:
        return ()
    return (hashlib.sha1(pair.binary.data, usedforsecurity=False).hexdigest(),)


def _is_ignored(path: str, ignored: Sequence[str]) -> bool:
    name = path.rpartition("/")[2]
    if ignored == IGNORED:
        return _IGNORED.match(name) is not None or _IGNORED.match(path) is not None
    return any(fnmatchcase(name, glob) or fnmatchcase(path, glob) for glob in ignored)
