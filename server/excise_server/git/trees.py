"""Trees of a repository against a commit: which files differ, their bytes, and what moved since.

Git is asked for ids alone (`diff-tree`), and then for blobs. The limits hold for both together.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from excise_server.foundation.changes import SUBMODULE, Side
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import MAX_BYTES, SourceError, megabytes
from excise_server.git.history import AskedOnce, commit_named
from excise_server.git.repository import AbsentError, Blob, Repository

MAX_FILES = 3_000
"""Most files that may differ from the base."""

ABSENT = "its content is not in this clone"
"""Why a file of a commit cannot be read in a partial clone."""

_NONE = "000000"
_UNEXPECTED = "git diff-tree gave unexpected output"
_RAW = re.compile(
    r":([0-7]{6}) ([0-7]{6}) ([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [A-Z]\d*\0([^\0]+)\0"
)
_COMMIT = re.compile(r"(?:[0-9a-f]{40,64} )?([0-9a-f]{40,64})[\0\n]")
_FILE = re.compile(rb"(\d{6}) \w+ ([0-9a-f]{40,64})\t([^\0]+)\0")
_TOGETHER = 50
_READ_TOGETHER = 25
"""The number of trees whose blobs have one limit in all."""

Listing = dict[str, tuple[bytes, bytes]]
"""The mode and blob of files, as git writes them, by path."""


@dataclass(frozen=True, slots=True)
class TreeEntry:
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

    old: dict[str, TreeEntry] = field(default_factory=dict)
    new: dict[str, TreeEntry] = field(default_factory=dict)
    uncommitted: set[str] = field(default_factory=set)
    converted: frozenset[str] = frozenset()
    notes: list[str] = field(default_factory=list)
    asides: list[str] = field(default_factory=list)


def commit_trees(
    repository: Repository, commits: Sequence[str], paths: Sequence[str] = ()
) -> dict[str, Tree]:
    """Return the changes of each commit since its parent, without merges and empty ones.

    Raises SourceError if too much differs.

    - ``paths``: the only files that count, or none for all.
    """
    lines = "".join(f"{commit}\n" for commit in commits).encode()
    only = ["--", *paths] if paths else []
    out = repository.git.run("diff-tree", "--stdin", "-r", "--root", *OPTIONS, *only, stdin=lines)
    trees = dict(printed_trees(out))
    for tree in trees.values():
        check_size(tree)
    return trees


def trees_between(
    repository: Repository, pairs: Sequence[tuple[str, str]], paths: Sequence[str] = ()
) -> dict[tuple[str, str], Tree | SourceError]:
    """Return the changes from the first to the second commit of each pair, or why git fails.

    One process serves all pairs, unless one of them fails. ``paths`` are the only files that count,
    or none for all. What is known of a few paths is not asked again, as commits never change.
    """
    trees: dict[tuple[str, str], Tree | SourceError] = {pair: Tree() for pair in pairs}
    differing = [pair for pair in trees if pair[0] != pair[1]]
    if paths:
        keys = {pair: (repository.common, *pair, *paths) for pair in differing}
        known = {pair: tree for pair, key in keys.items() if (tree := _known.get(key))}
        trees |= known
        differing = [pair for pair in differing if pair not in known]
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
    if paths:
        if len(_known) > _MAX_KNOWN:
            _known.clear()
        answers = ((key, trees[pair]) for pair, key in keys.items())
        _known.update((key, tree) for key, tree in answers if isinstance(tree, Tree))
    return trees


_MAX_KNOWN = 5_000
_known: dict[tuple[str, ...], Tree] = {}
"""The changes of some files, by repository, commits and paths."""


def _between(
    repository: Repository, pairs: Sequence[tuple[str, str]], paths: Sequence[str]
) -> dict[tuple[str, str], Tree]:
    # A line of two commits: the first, as if the second were its only parent.
    lines = "".join(f"{commit} {base}\n" for base, commit in pairs).encode()
    only = ["--", *paths] if paths else []
    arguments = ("--stdin", "-r", "--always", *OPTIONS, *only)
    out = repository.git.run("diff-tree", *arguments, stdin=lines)
    trees = list(printed_trees(out))
    if [commit for commit, _ in trees] != [commit for _, commit in pairs]:
        raise SourceError(_UNEXPECTED)
    return {pair: tree for pair, (_, tree) in zip(pairs, trees, strict=True)}


def printed_trees(printed: bytes) -> Iterator[tuple[str, Tree]]:
    """Yield each commit that `diff-tree` prints, or the second of two trees, with its changes."""
    out, position = os.fsdecode(printed), 0
    while position < len(out):
        if (match := _COMMIT.match(out, position)) is None:
            raise SourceError(_UNEXPECTED)
        commit, tree, position = match[1], Tree(), match.end()
        while out.startswith(":", position):
            if (match := _RAW.match(out, position)) is None:
                raise SourceError(_UNEXPECTED)
            old_mode, new_mode, old, new, path = match.groups()
            if old_mode != _NONE:
                tree.old[path] = TreeEntry(old_mode, old)
            if new_mode != _NONE:
                tree.new[path] = TreeEntry(new_mode, new)
            position = match.end()
        yield commit, tree


def listing_of(repository: Repository, commit: str, paths: Sequence[str] = ()) -> Listing:
    """Return the mode and blob of every file of a commit, or of some of its files, by path.

    Raises SourceError if git fails.
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
    *("-z", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv"),
    "--ignore-submodules=dirty",
)


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
    def whole(self) -> dict[str, Side | None]:
        """The files as they are afterwards, by path; None if one is gone."""
        return {path: self.new.get(path) for path in self.old.keys() | self.new.keys()}

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about what cannot be read, as sentences."""
        return tuple(f"{visible(p)}: {reason}, not compared" for p, reason in self.refused.items())


def check_edited(sides: Sides) -> None:
    """Refuse changes that are larger than the largest file that is read. Moved lines do not count.

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
    starts = range(0, len(trees), _READ_TOGETHER)
    groups = [trees[start : start + _READ_TOGETHER] for start in starts]
    names = [list(dict.fromkeys(_blobs_in(group))) for group in groups]
    sides: list[Sides] = []
    for group, ids, answers in zip(groups, names, repository.grouped_blobs(names), strict=True):
        blobs = dict(zip(ids, answers, strict=True))
        for tree in group:
            refused: dict[str, str] = {}
            files: list[dict[str, Side]] = [{}, {}]
            for number, entries in enumerate((tree.old, tree.new)):
                for path, entry in entries.items():
                    side = _side(entry, blobs)
                    if isinstance(side, str):
                        refused.setdefault(path, side)
                    else:
                        files[number][path] = side
            old, new = ({p: s for p, s in each.items() if p not in refused} for each in files)
            sides.append(Sides(old, new, refused))
    return sides


def _blobs_in(trees: Iterable[Tree]) -> Iterator[str]:
    for tree in trees:
        for entry in (*tree.old.values(), *tree.new.values()):
            if entry.data is None and not entry.refused and entry.mode != SUBMODULE:
                yield entry.blob


def read_listed(repository: Repository, listing: Listing, paths: Iterable[str]) -> Sides:
    """Read some files of a commit, those that it has: they are ``new``."""
    entries = {
        path: TreeEntry(listing[path][0].decode(), listing[path][1].decode())
        for path in sorted(paths)
        if path in listing
    }
    return read_sides(repository, [Tree(new=entries)])[0]


def _side(entry: TreeEntry, blobs: Mapping[str, Blob | SourceError]) -> Side | str:
    """Return a file, or why it cannot be read."""
    if entry.refused:
        return entry.refused
    if entry.mode == SUBMODULE:
        return Side(SUBMODULE, f"Subproject commit {entry.blob}\n".encode(), entry.blob)
    if entry.data is not None:
        return Side(entry.mode, entry.data)
    blob = blobs[entry.blob]
    if isinstance(blob, AbsentError):
        return ABSENT
    return blob.reason if isinstance(blob, SourceError) else Side(entry.mode, blob.data, blob.id)


_RENAME = re.compile(rb":\d{6} (\d{6}) [0-9a-f]+ ([0-9a-f]+) R\d+\0([^\0]+)\0([^\0]+)\0")
_OTHER = re.compile(rb":[^\0]+\0[^\0]+\0")
_SIMILARITY = "50%"
"""Share of equal content from which a file that the target moved is followed."""
_FEW = 20
"""The most files that git is asked for by name, which is faster in a large repository."""
_MAX_GONE, _MAX_TOUCHING, _MAX_REMOVALS = 1_000, 20_000, 30
"""Files that the target no longer has whose new names git is asked for, the newest commits that are
searched for their end, and how many of those that removed some git compares with the target."""


@dataclass(frozen=True, slots=True)
class Drift:
    """The target's side of files that it changed since a base.

    - ``now``: the target's files, by their path in the base; None if the target deleted one.
    - ``moved``: the new path of files that the target renamed.
    - ``unread``: files of the target that cannot be read, and why.
    """

    now: dict[str, Side | None]
    moved: dict[str, str]
    unread: dict[str, str] = field(default_factory=dict)


def drifts_of(
    repository: Repository, target: str, wanted: Mapping[str, Collection[str]]
) -> dict[str, Drift | SourceError]:
    """Read the target's changes since each base, or why git cannot tell them.

    - ``wanted``: the paths that count, by base.
    """
    every = sorted({path for paths in wanted.values() for path in paths})
    only = every if len(every) <= _FEW else ()
    between = trees_between(repository, [(base, target) for base in wanted], only)
    trees: dict[str, Tree] = {}
    moved: dict[str, dict[str, str]] = {}
    drifts: dict[str, Drift | SourceError] = {}
    for base, paths in wanted.items():
        unrestricted = between[base, target]
        try:
            if isinstance(unrestricted, SourceError):
                raise unrestricted
            tree = Tree(
                {path: unrestricted.old[path] for path in paths if path in unrestricted.old},
                {path: unrestricted.new[path] for path in paths if path in unrestricted.new},
            )
            # What the target renamed is found under its old path, too.
            moved[base] = {}
            if deleted := tree.old.keys() - tree.new.keys():
                for old, new, mode, blob in renames_between(repository, base, target):
                    if old in deleted:
                        moved[base][old] = new
                        tree.new[old] = TreeEntry(mode, blob)
            trees[base] = tree
        except SourceError as error:
            drifts[base] = error
    all_sides = read_sides(repository, list(trees.values()))
    for (base, tree), sides in zip(trees.items(), all_sides, strict=True):
        changed = (tree.old.keys() | tree.new.keys()) - sides.refused.keys()
        now = {path: sides.new.get(path) for path in changed}
        drifts[base] = Drift(now, moved[base], sides.refused)
    return drifts


def moves_of(repository: Repository, target: str, gone: Collection[str]) -> dict[str, str]:
    """Return the new names of files that the target no longer has, where it renamed them.

    Where no commit is known that had them, git is asked what became of each since the last one.

    Raises SourceError if git fails.
    """
    moves: dict[str, str] = {}
    if not gone:
        return moves
    paths = sorted(gone)[:_MAX_GONE]
    touching = repository.git.run("rev-list", "--end-of-options", target, "--", *paths)
    commits = touching.decode("ascii", "replace").split()[:_MAX_TOUCHING]
    last: dict[str, list[str]] = {}  # by commit, the files that no later commit has
    remaining = set(paths)
    for commit, tree in commit_trees(repository, commits, paths).items():
        removed = (tree.old.keys() - tree.new.keys()) & remaining
        if removed and len(last) < _MAX_REMOVALS:
            with suppress(SourceError):  # a shallow clone may lack the parent
                last[commit_named(repository, f"{commit}^", "--repo")] = sorted(removed)
        remaining -= removed
    for drift in drifts_of(repository, target, last).values():
        if isinstance(drift, Drift):
            moves |= drift.moved
    return moves


@AskedOnce
def renames_between(
    repository: Repository, base: str, target: str
) -> tuple[tuple[str, str, str, str], ...]:
    """Return old path, new path, mode and blob of the files that the target renamed."""
    options = [option for option in OPTIONS if option != "--no-renames"]
    out = repository.git.run("diff-tree", "-r", *options, f"-M{_SIMILARITY}", base, target)
    renames = []
    position = 0
    while position < len(out):
        if match := _RENAME.match(out, position):
            mode, blob = match[1].decode(), match[2].decode()
            renames.append((os.fsdecode(match[3]), os.fsdecode(match[4]), mode, blob))
        elif (match := _OTHER.match(out, position)) is None:
            raise SourceError(_UNEXPECTED)
        position = match.end()
    return tuple(renames)
