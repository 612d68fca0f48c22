"""Whole trees of a repository against one commit: which files differ, and their bytes.

Git is asked for ids alone (`diff-tree`), and then for blobs. Over 300 lines: the limits hold for
both questions together.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from excise_server.foundation.changes import SUBMODULE, Side
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import MAX_BYTES, SourceError, megabytes
from excise_server.git.repository import AbsentError, Blob, Repository

__all__ = [
    "MAX_FILES",
    "OPTIONS",
    "Entry",
    "Listing",
    "Sides",
    "Tree",
    "changed_listing",
    "check_edited",
    "check_size",
    "commit_trees",
    "listing_of",
    "read_listed",
    "read_sides",
    "take_changes",
    "trees_between",
]

MAX_FILES = 3_000
"""Most files that may differ from the base."""

_NONE = "000000"
_RAW = re.compile(rb":(\d{6}) (\d{6}) ([0-9a-f]{40,64}) ([0-9a-f]{40,64}) ([A-Z])\d*\0([^\0]+)\0")
_COMMIT = re.compile(rb"([0-9a-f]{40,64})\0")
_FILE = re.compile(rb"(\d{6}) \w+ ([0-9a-f]{40,64})\t([^\0]+)\0")
_TOGETHER = 50
_READ_TOGETHER = 25
"""The number of trees whose blobs one git process reads, within its limits."""

Listing = dict[str, tuple[bytes, bytes]]
"""The mode and blob of files, as git writes them, by path."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file: its mode, and its blob or (in a working tree) its bytes, or why it has none."""

    mode: str
    blob: str = ""
    data: bytes | None = None
    refused: str = ""


@dataclass(slots=True)
class Tree:
    """The differences from a commit, by path, before and after, with notes.

    ``notes`` tell of something that may differ and is not compared, ``asides`` of something else.
    ``converted`` are working files of which git would commit each CRLF as LF.
    """

    old: dict[str, Entry] = field(default_factory=dict)
    new: dict[str, Entry] = field(default_factory=dict)
    uncommitted: set[str] = field(default_factory=set)
    converted: frozenset[str] = frozenset()
    notes: list[str] = field(default_factory=list)
    asides: list[str] = field(default_factory=list)

    @property
    def is_untouched(self) -> bool:
        """Whether nothing differs, not even files that are not compared."""
        return not (self.old or self.new or self.notes)


def commit_trees(
    repository: Repository, commits: Sequence[str], paths: Sequence[str] = ()
) -> dict[str, Tree]:
    """Return the changes of each commit since its parent, without merges and empty ones.

    Parameters
    ----------
    paths
        The only files that count, or none for all.

    Raises
    ------
    SourceError
        If too much differs.
    """
    lines = "".join(f"{commit}\n" for commit in commits).encode()
    only = ["--", *paths] if paths else []
    out = repository.git.run("diff-tree", "--stdin", "-r", "--root", *OPTIONS, *only, stdin=lines)
    trees: dict[str, Tree] = {}
    position = 0
    while position < len(out):
        if (match := _COMMIT.match(out, position)) is None:
            raise SourceError("git diff-tree gave an answer that is not understood")
        tree = trees[match[1].decode()] = Tree()
        position = take_changes(tree, out, match.end())
        check_size(tree)
    return trees


def trees_between(
    repository: Repository, pairs: Sequence[tuple[str, str]], paths: Sequence[str] = ()
) -> dict[tuple[str, str], Tree | SourceError]:
    """Return the changes from the first to the second commit of each pair, or why git fails.

    One process serves all pairs, unless one of them fails. ``paths`` are the only files that count,
    or none for all.
    """
    differing = list(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1]))
    trees: dict[tuple[str, str], Tree | SourceError] = {pair: Tree() for pair in pairs}
    for start in range(0, len(differing), _TOGETHER):
        part = differing[start : start + _TOGETHER]
        try:
            trees |= _between(repository, part, paths)
        except SourceError:
            for pair in part:
                try:
                    trees |= _between(repository, [pair], paths)
                except SourceError as error:
                    trees[pair] = error
    return trees


def _between(
    repository: Repository, pairs: Sequence[tuple[str, str]], paths: Sequence[str]
) -> dict[tuple[str, str], Tree]:
    # A line of two commits: the first, as if the second were its only parent.
    lines = "".join(f"{commit} {base}\n" for base, commit in pairs).encode()
    only = ["--", *paths] if paths else []
    arguments = ("--stdin", "-r", "--always", *OPTIONS, *only)
    out = repository.git.run("diff-tree", *arguments, stdin=lines)
    trees, position = {}, 0
    for pair in pairs:
        match = _COMMIT.match(out, position)
        if match is None or match[1].decode() != pair[1]:
            raise SourceError("git diff-tree gave an answer that is not understood")
        trees[pair] = tree = Tree()
        position = take_changes(tree, out, match.end())
    return trees


def listing_of(repository: Repository, commit: str, paths: Sequence[str] = ()) -> Listing:
    """Return the mode and blob of every file of a commit, or of some of its files, by path.

    Raises
    ------
    SourceError
        If git fails.
    """
    names = ("--end-of-options", commit, *paths)
    out = repository.git.run("ls-tree", "-r", "-z", "--full-tree", *names)
    return {os.fsdecode(path): (mode, blob) for mode, blob, path in _FILE.findall(out)}


def changed_listing(listing: Listing, tree: Tree) -> Listing:
    """Return the listing of a commit, made from that of another commit and the changes since."""
    deleted = tree.old.keys() - tree.new.keys()
    written = {path: (e.mode.encode(), e.blob.encode()) for path, e in tree.new.items()}
    return {path: file for path, file in listing.items() if path not in deleted} | written


OPTIONS = (
    "-z",
    "--raw",
    "--no-abbrev",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=dirty",
)


def take_changes(tree: Tree, out: bytes, position: int = 0) -> int:
    """Take the output of `diff-tree` or `diff-index` up to the next commit, and return its
    place.
    """
    while out.startswith(b":", position):
        if (match := _RAW.match(out, position)) is None:
            raise SourceError("git diff-tree gave an answer that is not understood")
        old_mode, new_mode, old, new, _ = (part.decode() for part in match.groups()[:-1])
        path = os.fsdecode(match[6])
        if old_mode != _NONE:
            tree.old[path] = Entry(old_mode, old)
        if new_mode != _NONE:
            tree.new[path] = Entry(new_mode, new)
        position = match.end()
    return position


def check_size(tree: Tree) -> None:
    """Refuse a tree of which too many files differ."""
    if len(tree.old.keys() | tree.new.keys()) > MAX_FILES:
        raise SourceError(
            f"over {MAX_FILES:,} files differ from its base",
            hint="name a nearer one with --base NAME=REV",
        )


# --- from ids to bytes ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sides:
    """The files that differ, before and after, and which cannot be read and why."""

    old: dict[str, Side]
    new: dict[str, Side]
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about what cannot be read, as sentences."""
        return tuple(f"{visible(p)}: {reason}, not compared" for p, reason in self.refused.items())


def check_edited(sides: Sides) -> None:
    """Refuse changes that are larger than the largest file that is read. A moved line is none.

    All of them are tokenised: 7 seconds of the processor a megabyte, by a grammar.
    """
    pairs = []
    for path in sides.old.keys() | sides.new.keys():
        before, after = sides.old.get(path), sides.new.get(path)
        pairs.append((before.data if before else b"", after.data if after else b""))
    texts = [pair for pair in pairs if b"\0" not in pair[0] and b"\0" not in pair[1]]
    edited = sum(len(old) + len(new) for old, new in texts)
    if edited > MAX_BYTES:
        lines = [(Counter(old.split(b"\n")), Counter(new.split(b"\n"))) for old, new in texts]
        parts = [part for old, new in lines for part in (old - new, new - old)]
        edited = sum((len(line) + 1) * count for part in parts for line, count in part.items())
    if edited > MAX_BYTES:
        raise SourceError(
            f"{megabytes(edited)} of lines differ from its base, limit {MAX_BYTES // 1_000_000} MB",
            hint="take generated files out of it",
        )


def read_sides(repository: Repository, trees: Sequence[Tree]) -> list[Sides]:
    """Read the blobs of trees, a file that cannot be read on either side is in neither."""
    sides: list[Sides] = []
    for start in range(0, len(trees), _READ_TOGETHER):
        together = trees[start : start + _READ_TOGETHER]
        blob_ids = {
            entry.blob: None
            for tree in together
            for entry in (*tree.old.values(), *tree.new.values())
            if entry.data is None and not entry.refused and entry.mode != SUBMODULE
        }
        blobs = dict(zip(blob_ids, repository.blobs(list(blob_ids)), strict=True))
        for tree in together:
            refused: dict[str, str] = {}
            files: list[dict[str, Side]] = [{}, {}]
            for at, entries in enumerate((tree.old, tree.new)):
                for path, entry in entries.items():
                    side = _side(entry, blobs)
                    if isinstance(side, str):
                        refused.setdefault(path, side)
                    else:
                        files[at][path] = side
            old, new = ({p: s for p, s in each.items() if p not in refused} for each in files)
            sides.append(Sides(old, new, refused))
    return sides


def read_listed(repository: Repository, listing: Listing, paths: Iterable[str]) -> Sides:
    """Read some files of a commit, those that it has: they are ``new``."""
    entries = {
        path: Entry(listing[path][0].decode(), listing[path][1].decode())
        for path in sorted(paths)
        if path in listing
    }
    return read_sides(repository, [Tree(new=entries)])[0]


def _side(entry: Entry, blobs: Mapping[str, Blob | SourceError]) -> Side | str:
    """Return a file, or why it cannot be read."""
    if entry.refused:
        return entry.refused
    if entry.mode == SUBMODULE:
        return Side(SUBMODULE, f"Subproject commit {entry.blob}\n".encode(), entry.blob)
    if entry.data is not None:
        return Side(entry.mode, entry.data)
    blob = blobs[entry.blob]
    if isinstance(blob, AbsentError):
        return "its content is not in this clone"
    return blob.reason if isinstance(blob, SourceError) else Side(entry.mode, blob.data, blob.id)
