"""What of a patch is compared: its blocks as tokens, under the guards of section 8."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from excise.lexical import words
from excise.patches.blocks import Block, blocks_of, context_of
from excise.patches.model import FilePair, Patch
from excise.tokens import Vocabulary

__all__ = ["IGNORED", "Edits", "Reader", "compared", "facts_of", "patch_id"]

IGNORED = (
    "*.lock", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "go.sum",
    "CHANGELOG*", "ChangeLog*", "Changelog*", "CHANGES", "CHANGES.*", "NEWS", "NEWS.*",
    "*.min.js", "*.min.css", "*.pot",
)  # fmt: skip
"""Names of files left out by default: lock files, changelogs, generated lists."""

BLANKS = b" \t\v\f\r"
WHITESPACE_ONLY = "whitespace-only"
NO_TEXT = "header facts only"
ONLY_IGNORED = "only ignored paths: compared all the same"


@dataclass(frozen=True, slots=True)
class Edits:
    """A patch as ints: `tokens`, `blocks` (name, then O and A from, to), `context` lines."""

    tokens: array[int]
    blocks: array[int]
    context: array[int]
    notes: tuple[str, ...]


class Reader:
    """Reads patches under one vocabulary, so that equal ints are equal texts."""

    def __init__(self) -> None:
        """Start with empty vocabularies."""
        self._tokens = Vocabulary()
        self._names = Vocabulary()
        self._context = Vocabulary()

    @property
    def vocabularies(self) -> tuple[Vocabulary, Vocabulary, Vocabulary]:
        """Of tokens, of names, of context lines: what the ints of all edits stand for."""
        return self._tokens, self._names, self._context

    def edits(self, patch: Patch, ignored: Sequence[str] = IGNORED) -> Edits:
        """Return what of a patch is compared.

        A patch that changes white space only is compared by its raw lines, one without text by its
        header facts. Their tokens are no other patch's, so that such pairs share nothing.
        """
        files, notes = compared(patch, ignored)
        lines = Vocabulary()
        blocks = [block for pair in files for block in blocks_of(pair, lines)]
        tokens, places, changed = self._lexical(blocks)
        if not changed:
            raw = [block for pair in files for block in blocks_of(pair, lines, raw=True)]
            notes = (*notes, WHITESPACE_ONLY if raw else NO_TEXT)
            tokens, places = self._raw(raw) if raw else self._facts(files)
        context = self._context.intern(line for pair in files for line in context_of(pair))
        return Edits(tokens, places, context, notes)

    def _lexical(self, blocks: Iterable[Block]) -> tuple[array[int], array[int], bool]:
        """Return tokens and places, and whether any token changed."""
        tokens, places, changed = array("i"), array("i"), False
        for block in blocks:
            start = len(tokens)
            tokens.extend(self._tokens.intern(words("\n".join(block.old))))
            middle = len(tokens)
            tokens.extend(self._tokens.intern(words("\n".join(block.new))))
            changed = changed or tokens[start:middle] != tokens[middle:]
            places.extend(
                (*self._names.intern([block.pair.name]), start, middle, middle, len(tokens))
            )
        return tokens, places, changed

    def _raw(self, blocks: Iterable[Block]) -> tuple[array[int], array[int]]:
        tokens, places = array("i"), array("i")
        for block in blocks:
            start = len(tokens)
            tokens.extend(self._tokens.intern(("raw", line) for line in block.old))
            middle = len(tokens)
            tokens.extend(self._tokens.intern(("raw", line) for line in block.new))
            places.extend(
                (*self._names.intern([block.pair.name]), start, middle, middle, len(tokens))
            )
        return tokens, places

    def _facts(self, files: Iterable[FilePair]) -> tuple[array[int], array[int]]:
        tokens, places = array("i"), array("i")
        for pair in files:
            name = self._names.intern([pair.name])[0]
            for fact in facts_of(pair) or ["no change"]:
                at = len(tokens)
                tokens.extend(self._tokens.intern([("fact", fact)]))
                places.extend((name, at, at, at, at + 1))
        return tokens, places


def compared(patch: Patch, ignored: Sequence[str]) -> tuple[tuple[FilePair, ...], tuple[str, ...]]:
    """Return the files that count; all of them where every one is to be ignored."""
    kept = tuple(pair for pair in patch.files if not _is_ignored(pair.path, ignored))
    if patch.files and not kept:
        return patch.files, (ONLY_IGNORED,)
    return kept, ()


def patch_id(patch: Patch) -> str:
    """Return a name that equal patches share: a SHA-1 over files in the order of their paths.

    Like `git patch-id --stable` it sees names, context and changed lines without their white
    space, and neither line numbers nor the order of files. Unlike it, it sees header facts, gives
    every patch a name, and keeps white space where nothing else changes.
    """
    whole = hashlib.sha1(usedforsecurity=False)
    for pair in sorted(patch.files, key=lambda pair: (pair.path, pair.old or "")):
        names = "\0".join((pair.old or "", pair.new or "", *facts_of(pair)))
        whole.update(names.encode("utf-8", "surrogatepass") + b"\0\0")
        text = b"\n".join(hunk.text for hunk in pair.hunks if hunk.text)
        bare = text.translate(None, BLANKS)
        whole.update((text if _is_white_space_only(text, bare) else bare) + b"\0\0")
    return whole.hexdigest()


def _is_white_space_only(text: bytes, bare: bytes) -> bool:
    """Whether both images are the same but for white space; `bare` is the text without any."""
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
    return any(fnmatchcase(name, glob) or fnmatchcase(path, glob) for glob in ignored)
