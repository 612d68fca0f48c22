"""Candidates read and replayed together, so that git runs a few times, not once for each.

An open document asks for one file of them (`read_file`). Where that file tells enough, nothing else
is read; a candidate that creates, deletes or moves it is read as a whole, as by the commands.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from excise.patches import Patch
from excise_server.foundation.changes import LINK, Side, renamed_files
from excise_server.foundation.escape import visible
from excise_server.foundation.file_bytes import blob_name
from excise_server.foundation.files import is_refused_by_git
from excise_server.foundation.inputs import Rejected, SourceError
from excise_server.git.conversions import as_committed, without_conversions
from excise_server.git.history import merge_bases
from excise_server.git.merges import MergeAnswer, MergeQuestion, TreeOf, merged
from excise_server.git.repository import Repository
from excise_server.git.trees import (
    ABSENT,
    Drift,
    Listing,
    Sides,
    Tree,
    TreeEntry,
    changed_listing,
    check_edited,
    check_size,
    drifts_of,
    listing_of,
    moves_of,
    read_listed,
    read_sides,
    renames_between,
    trees_between,
)
from excise_server.git.worktree import (
    Folder,
    Working,
    changed_last,
    is_under_way,
    read_working,
    worktree_tree,
)
from excise_server.review.candidate import Candidate, digest_of
from excise_server.review.replayed import (
    CREATED,
    DELETED,
    MOVED,
    REWROTE,
    SAME_LINES,
    ReplayedFiles,
    replay_files,
)
from excise_server.sources.composed import apply_patch

WRITTEN_SECONDS = 5.0
"""A worktree whose files changed within so many seconds may not be finished."""

_MARKER = b"<<<<<<< "
_RENAMED = 0.5
_PIECE = re.compile(rb"[^\n]{0,63}\n|[^\n]{1,64}")


@dataclass(frozen=True, slots=True)
class Target:
    """What candidates are replayed on: a commit, and files that are to have another content.

    - ``saved``: by path, the files that a working tree or an editor has in place of those of the
      commit; None if there is none.
    - ``unread``: such files that cannot be read, and why.
    - ``is_text``: whether the bytes of these files are made from texts, so that only their texts
      count.
    - ``folder``: the working tree whose other files count as well, in place of those of the commit.
    - ``notes``: what of it is not compared, or not as it lies there.
    """

    commit: str
    saved: Mapping[str, Side | None] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    is_text: bool = False
    folder: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedCandidate:
    """A candidate before its changes are read, with its uncommitted files or its patch."""

    candidate: Candidate
    head: Listing | None = None
    working: Working | None = None
    patch: Patch | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """A candidate with its own changes.

    - ``sides``: the files before and after.
    - ``older``: paths whose old text is not that of the base, but the one that a patch was made
      from.
    - ``tree``: all that differs from the base, if that is in no commit.
    """

    candidate: Candidate
    sides: Sides
    is_untouched: bool = False
    older: Collection[str] = ()
    tree: Mapping[str, Side | None] | None = None


@dataclass(frozen=True, slots=True)
class ReplayedCandidate:
    """What a candidate changed, as a change of the target.

    - ``files``: the target's files that these change.
    - ``moves``: the new paths of those of its files that the target renamed.
    - ``unread``: those of its files that cannot be read in the target, and why.
    - ``kinds``: git's word for the kind of each conflict, by path.
    - ``marked``: files in conflict as git writes them, with markers.
    - ``notes``: what else is said of the merge.
    """

    read: Read
    files: ReplayedFiles = field(default_factory=ReplayedFiles)
    moves: Mapping[str, str] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    marked: Mapping[str, Side] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def state(self) -> Literal["changed", "unchanged", "landed"]:
        """Whether it changes the target, or anything."""
        if self.read.is_untouched:
            return "unchanged"
        files = self.files
        is_idle = not (files.old or files.new or files.conflicts or self.unread)
        return "landed" if files.landed and is_idle else "changed"

    @property
    def candidate(self) -> Candidate:
        """The candidate with these files, and notes about them."""
        files, own = self.files, self.read.candidate
        notes = [f"{visible(path)}: {why}, not compared" for path, why in self.unread.items()]
        unread = () if files.old or files.new else tuple(self.read.sides.notes or notes)
        moves = self.moves.items()
        notes += [f"{visible(old)} is {visible(new)} in the target" for old, new in moves]
        notes += [f"already in the target: {visible(path)}" for path in files.landed]
        notes += [f"{visible(path)}: {why}" for path, why in files.conflicts.items()]
        notes += [f"{visible(path)}: {visible(note)}" for path, note in files.notes]
        notes += self.notes
        return replace(
            own, old=files.old, new=files.new, conflicts=files.conflicts, disputed=files.disputed,
            beyond_git=files.beyond_git,
            conflict_kinds={p: self.kinds.get(p) or _kind(files, p) for p in files.conflicts},
            marked=dict(self.marked),
            notes=tuple(dict.fromkeys((*own.notes, *notes))),
            unread=unread, moves=dict(self.moves),
            own_old=self.read.sides.old, own_new=self.read.sides.new,
        )  # fmt: skip


def _kind(files: ReplayedFiles, path: str) -> str:
    """Return git's word for the kind of a conflict that the replay found."""
    if files.conflicts[path] == CREATED:
        return "add/add"
    return "content" if path in files.new and path in files.old else "modify/delete"


def saved_target(repository: Repository, commit: str) -> Target:
    """Return the saved files of the checkout, of which those count that differ from a commit.

    Raises SourceError if git fails, or files of the checkout are in conflict.
    """
    listing = listing_of(repository, commit)
    worktrees = {os.path.realpath(tree.path) for tree in repository.worktrees()}
    working = read_working(repository, repository.top, listing, worktrees=worktrees)
    tree = worktree_tree(working, Tree(), listing)
    [sides] = read_sides(repository, [tree])
    now, _, converted = without_conversions(sides, tree.converted)
    saved = {path: now.new.get(path) for path in now.old | now.new}
    notes = (*tree.notes, *tree.asides, *converted)
    return Target(commit, saved, sides.refused, notes=notes)


def read_worktrees(
    repository: Repository,
    origin: str,
    listed: Sequence[ListedCandidate],
    rejected: list[Rejected],
) -> list[ListedCandidate]:
    """Read the uncommitted files of the worktrees. Refs and patches pass through.

    Raises SourceError if git cannot list the files of the origin.
    """
    folders = [entry.candidate for entry in listed if entry.candidate.folder]
    if not folders:
        return list(listed)
    listing = listing_of(repository, origin)
    heads = trees_between(repository, [(origin, candidate.commit) for candidate in folders])
    worktrees = {os.path.realpath(tree.path) for tree in repository.worktrees()}
    entries = []
    for entry in listed:
        candidate = entry.candidate
        if not candidate.folder:
            entries.append(entry)
            continue
        try:
            between = heads[origin, candidate.commit]
            if isinstance(between, SourceError):
                raise between
            head = changed_listing(listing, between)
            working = read_working(repository, candidate.folder, head, worktrees=worktrees)
            entries.append(replace(entry, head=head, working=working))
        except SourceError as error:
            rejected.append(Rejected(candidate.id, error.reason, error.hint))
    return entries


def is_edited(repository: Repository, origin: str, entry: ListedCandidate) -> bool:
    """Return whether a worktree has uncommitted changes, or False if it cannot be read."""
    if entry.working is None and entry.candidate.folder:
        [entry] = read_worktrees(repository, origin, [entry], []) or [entry]
    return bool(entry.working and entry.working.changes)


def read_small(read: Iterable[Read], rejected: list[Rejected]) -> list[Read]:
    """Return the candidates of which not too much is edited."""
    entries = []
    for entry in read:
        try:
            check_edited(entry.sides)
            entries.append(entry)
        except SourceError as error:
            rejected.append(Rejected(entry.candidate.id, error.reason, error.hint))
    return entries


def read_changes(
    repository: Repository,
    started: Sequence[ListedCandidate],
    clock: Callable[[], float],
    rejected: list[Rejected],
) -> Iterator[Read]:
    """Yield the candidates with their own changes, since their bases."""
    yield from _read_patches(repository, [e for e in started if e.patch is not None], rejected)
    started = [entry for entry in started if entry.patch is None]
    pairs = [(entry.candidate.base, entry.candidate.commit) for entry in started]
    committed = trees_between(repository, pairs)
    trees = []
    for entry, pair in zip(started, pairs, strict=True):
        try:
            trees.append((entry.candidate, _tree(entry, committed[pair])))
        except SourceError as error:
            rejected.append(Rejected(entry.candidate.id, error.reason, error.hint))
    all_sides = read_sides(repository, [tree for _, tree in trees])
    for (candidate, tree), sides in zip(trees, all_sides, strict=True):
        yield _read(candidate, tree, sides, clock)


def _read_patches(
    repository: Repository, entries: Sequence[ListedCandidate], rejected: list[Rejected]
) -> Iterator[Read]:
    """Yield the candidates that are patches, applied to their bases."""
    listings: dict[str, Listing] = {}
    for entry in entries:
        candidate = entry.candidate
        try:
            if candidate.base not in listings:
                listings[candidate.base] = listing_of(repository, candidate.base)
            listing = listings[candidate.base]
            sides = apply_patch(repository, listing, entry.patch or Patch())
        except SourceError as error:
            rejected.append(Rejected(candidate.id, error.reason, error.hint))
            continue
        notes = (*candidate.notes, *sides.notes)
        digest = digest_of(sides.old, sides.new)
        older = sides.old.keys() | sides.new.keys()
        candidate = replace(candidate, digest=digest, notes=notes)
        yield Read(candidate, sides, older=older, tree=sides.whole)


def _tree(entry: ListedCandidate, committed: Tree | SourceError) -> Tree:
    if isinstance(committed, SourceError):
        raise committed
    if entry.working is not None and entry.head is not None:
        return worktree_tree(entry.working, committed, entry.head)
    check_size(committed)
    return committed


def _read(candidate: Candidate, tree: Tree, sides: Sides, clock: Callable[[], float]) -> Read:
    sides, dropped, notes = without_conversions(sides, tree.converted)
    changed = changed_last(candidate.folder, tree) if candidate.folder else None
    uncommitted = tree.uncommitted - dropped
    whole = None
    if candidate.folder and (uncommitted or dropped):
        others = {
            path: Side(entry.mode, b"", entry.blob)
            for path, entry in tree.new.items()
            if sides.refused.get(path, ABSENT) != ABSENT
            and entry.blob
            and entry.data is None
            and not entry.refused
        }
        whole = sides.whole | others
    return Read(
        replace(
            candidate,
            digest=digest_of(sides.old, sides.new),
            is_written=changed is not None and abs(clock() - changed) < WRITTEN_SECONDS,
            uncommitted=len(uncommitted),
            notes=(*candidate.notes, *tree.notes, *tree.asides, *notes, *sides.notes),
        ),
        sides,
        not (sides.old or sides.new or sides.notes or tree.notes),
        tree=whole,
    )


# --- one file of all candidates ------------------------------------------------------------------


def read_file(
    repository: Repository,
    target: Target,
    path: str,
    started: Sequence[ListedCandidate],
    clock: Callable[[], float],
    rejected: list[Rejected],
) -> Iterator[Read]:
    """Yield the candidates with their own changes of one file of the target.

    A file that a candidate moves from there or to there counts as well. Without changes of it,
    their sides are empty.

    Raises SourceError if git fails.
    """
    homes, trees = _file_trees(repository, target.commit, path, started)
    about = _patches_about(repository, target.commit, path, started, homes)
    patches = [entry for entry in started if entry.candidate.id in about]
    unclear = [entry for entry, tree in trees if tree is None]
    listed = read_worktrees(repository, target.commit, unclear, rejected)
    asides = {e.candidate.id: tuple(e.working.asides) if e.working else () for e in listed}
    read = read_changes(repository, [*listed, *patches], clock, rejected)
    whole = {each.candidate.id: each for each in read}
    clear = {}
    read_trees = [(entry, tree) for entry, tree in trees if tree is not None]
    all_sides = read_sides(repository, [tree for _, tree in read_trees])
    for (entry, tree), sides in zip(read_trees, all_sides, strict=True):
        clear[entry.candidate.id] = _read(entry.candidate, tree, sides, clock)
    for entry in started:
        name = entry.candidate.id
        home = about.get(name, homes[entry.candidate.base])
        if name in clear:
            yield clear[name]
        elif (read_whole := whole.get(name)) is not None:
            notes = (*entry.candidate.notes, *asides.get(name, ()))
            yield _of_file(read_whole, home, notes)


def _patches_about(
    repository: Repository,
    origin: str,
    path: str,
    started: Sequence[ListedCandidate],
    homes: Mapping[str, str],
) -> dict[str, str]:
    """Return the path of a file in those patches that are about it, by their ids."""
    patches = [(e.candidate, e.patch.files) for e in started if e.patch is not None]
    olds = {pair.old for _, pairs in patches for pair in pairs if pair.old is not None}
    gone = olds - listing_of(repository, origin).keys() if olds else olds
    moves = moves_of(repository, origin, {old for old in gone if not is_refused_by_git(old)})
    about = {}
    for candidate, pairs in patches:
        paths = [name for pair in pairs for name in (pair.old, pair.new) if name is not None]
        home = homes[candidate.base]
        moved = next((name for name in paths if moves.get(name) == path), "")
        if home in paths or moved:
            about[candidate.id] = home if home in paths else moved
    return about


def _file_trees(
    repository: Repository, origin: str, path: str, started: Sequence[ListedCandidate]
) -> tuple[dict[str, str], list[tuple[ListedCandidate, Tree | None]]]:
    """Return where the file was in each base, and how each candidate but patches changed it.

    The change is None if one file does not tell it.
    """
    plain = [entry for entry in started if entry.patch is None]
    pairs = [(entry.candidate.base, entry.candidate.commit) for entry in plain]
    homes = dict.fromkeys((entry.candidate.base for entry in started), path)
    between = trees_between(repository, [*((base, origin) for base in homes), *pairs], [path])
    for base in homes:
        tree = between[base, origin]
        if isinstance(tree, Tree) and path in tree.new and path not in tree.old:
            # The target may have renamed it since.
            renames = renames_between(repository, base, origin)
            homes[base] = next((old for old, new, _, _ in renames if new == path), path)
    if moved := sorted({home for home in homes.values() if home != path}):
        elsewhere = [pair for pair in between if homes[pair[0]] != path]
        between |= trees_between(repository, elsewhere, moved)
    listing = listing_of(repository, origin, sorted({*homes.values()}))
    trees: list[tuple[ListedCandidate, Tree | None]] = []
    for entry, pair in zip(plain, pairs, strict=True):
        home = homes[entry.candidate.base]
        since, own = between[entry.candidate.base, origin], between[pair]
        if isinstance(since, SourceError) or isinstance(own, SourceError):
            trees.append((entry, None))  # reading it will report the error
            continue
        before = since.old.get(home) if home in since.old or home in since.new else None
        if before is None and home not in since.new and home in listing:
            mode, blob = listing[home]
            before = TreeEntry(mode.decode(), blob.decode())
        after = own.new.get(home) if home in own.old or home in own.new else before
        trees.append((entry, _file_tree(repository, entry.candidate, home, before, after)))
    return homes, trees


def _file_tree(
    repository: Repository,
    candidate: Candidate,
    path: str,
    before: TreeEntry | None,
    after: TreeEntry | None,
) -> Tree | None:
    if candidate.folder:
        if is_under_way(candidate.folder):
            return None
        mode = after.mode if after is not None else ""
        after = Folder(candidate.folder, len(candidate.commit)).file(path, mode)
        data = (after.data if after is not None else None) or b""
        if after is not None and data and after.mode != LINK:
            own = as_committed(repository.git.at(candidate.folder), {path: data}).get(path, data)
            if own != data:
                name = blob_name(own, len(candidate.commit))
                after, data = replace(after, blob=name, data=own), own
        if data.startswith(_MARKER) or b"\n" + _MARKER in data:
            return None
    if (before is None) != (after is None):
        return None
    if before is None or after is None:
        return Tree()
    is_same = not after.refused and (before.mode, before.blob) == (after.mode, after.blob)
    return Tree() if is_same else Tree({path: before}, {path: after})


def _of_file(read: Read, path: str, notes: tuple[str, ...]) -> Read:
    """Return what a candidate does to one file, and to the file that this becomes or was."""
    candidate = replace(read.candidate, notes=notes)
    sides = read.sides
    renames = renamed_files(sides.old, sides.new)
    about = {path, *(old for new, old in renames.items() if new == path)}
    about |= {new for new, old in renames.items() if old == path}
    old, new = ({p: s for p, s in part.items() if p in about} for part in (sides.old, sides.new))
    refused = {p: reason for p, reason in sides.refused.items() if p in about}
    return Read(candidate, Sides(old, new, refused), older=about.intersection(read.older))


# --- onto the target -----------------------------------------------------------------------------


def replayed(
    repository: Repository, target: Target, read: Iterable[Read], rejected: list[Rejected]
) -> Iterator[ReplayedCandidate]:
    """Yield the candidates as changes of the target."""
    changed = read_small(read, rejected)
    paths_by_base: dict[str, set[str]] = {}
    for entry in changed:
        if not entry.is_untouched:
            paths = entry.sides.old.keys() | entry.sides.new.keys()
            paths_by_base.setdefault(entry.candidate.base, set()).update(paths)
    drifts = drifts_of(repository, target.commit, paths_by_base)
    if target.folder:
        target = _with_folder(target, {path for paths in paths_by_base.values() for path in paths})
    older = _Older.of(repository, target.commit, changed)
    for entry in changed:
        if entry.is_untouched:
            yield ReplayedCandidate(entry)
            continue
        drift = drifts[entry.candidate.base]
        if isinstance(drift, SourceError):
            rejected.append(Rejected(entry.candidate.id, drift.reason, drift.hint))
        else:
            yield _replayed_on(entry, _saved(entry, older.drift(entry, drift), target))


def verdicts(
    repository: Repository, target: Target, entries: Sequence[Read], notes: list[str]
) -> dict[str, MergeAnswer]:
    """Return git's verdict on whole candidates, by id. One without changes has none.

    - ``notes``: receives why there is none at all, if that is so.
    """
    asked = [entry for entry in entries if not entry.is_untouched]
    moves = _Older.of(repository, target.commit, asked).moves
    questions = [_merge(repository, target, entry, moves) for entry in asked]
    try:
        answers = merged(repository, TreeOf(target.commit, target.saved), questions)
    except SourceError as error:
        notes.append(str(error))
        return {}
    return dict(zip((entry.candidate.id for entry in asked), answers, strict=True))


def merged_candidates(
    repository: Repository,
    target: Target,
    entries: Sequence[Read],
    answers: Mapping[str, MergeAnswer],
    rejected: list[Rejected],
) -> Iterator[ReplayedCandidate]:
    """Yield candidates as changes of the target, by git's verdict on each as a whole.

    Where git merges a candidate, the files are git's. Of one in conflict those that git does not
    merge are replayed, for numbers alone; one without a verdict is replayed.
    """
    whole = {name: own for name, own in answers.items() if own.is_clean}
    rest = [entry for entry in entries if entry.candidate.id not in whole]
    by_replay = {
        each.read.candidate.id: each for each in replayed(repository, target, rest, rejected)
    }
    missing = dict[str, set[str]]()
    for entry in entries:
        if (own := whole.get(entry.candidate.id)) and (paths := _missing(entry, own)):
            missing.setdefault(entry.candidate.base, set()).update(paths)
    drifts = drifts_of(repository, target.commit, missing)
    moved = {base: drift.moved for base, drift in drifts.items() if isinstance(drift, Drift)}
    older = _Older.of(repository, target.commit, entries).moves
    deleted = dict[str, Side]()
    for entry in entries:
        name, base = entry.candidate.id, entry.candidate.base
        if name in whole:
            moves = {**(older if entry.older else {}), **moved.get(base, {})}
            yield _merged_clean(entry, whole[name], moves)
        elif name in by_replay:
            each = by_replay[name]
            yield _with_conflicts(each, answers[name], deleted) if name in answers else each


def _merge(
    repository: Repository, target: Target, entry: Read, moves: Mapping[str, str]
) -> MergeQuestion:
    """Return the question whether git merges a candidate."""
    candidate, sides = entry.candidate, entry.sides
    before = {path: sides.old.get(path) for path in entry.older}
    # What the target has renamed was not there under its new name.
    before |= {moves[p]: None for p in entry.older if p in moves and moves[p] not in sides.new}
    base = TreeOf(candidate.base, before)
    if entry.tree is not None:
        return MergeQuestion(base, TreeOf(candidate.base, before | dict(entry.tree)))
    bases = merge_bases(repository, target.commit, candidate.commit)
    several = bases if len(bases) > 1 and candidate.base in bases else ()
    return MergeQuestion(base, TreeOf(candidate.commit), several)


def _missing(entry: Read, answer: MergeAnswer) -> set[str]:
    """Return the paths that a candidate changes, and a merge of it does not."""
    own = entry.sides.old.keys() | entry.sides.new.keys()
    sides = answer.sides
    return set(own - sides.old.keys() - sides.new.keys() - sides.refused.keys())


def _merged_clean(entry: Read, answer: MergeAnswer, moved: Mapping[str, str]) -> ReplayedCandidate:
    missing = _missing(entry, answer)
    moves = {path: moved[path] for path in missing if path in moved}
    sides = answer.sides
    here = {path for path in missing - moves.keys() if path in entry.sides.new}
    idle = not (sides.old or sides.new or sides.refused)
    files = ReplayedFiles(sides.old, sides.new, landed=sorted(missing if idle else here))
    return ReplayedCandidate(entry, files, {} if idle else moves, sides.refused)


_REASONS = {
    "add/add": CREATED,
    "content": SAME_LINES,
    "binary": REWROTE,
    "rename/rename": "the target renamed this file, too",
    "rename/delete": "one side renamed this file, and the other deleted it",
    "file location": MOVED,
    "implicit dir rename": MOVED,
    "directory rename split": MOVED,
    "directory/file": "a file here, and a folder there",
    "file/directory": "a file here, and a folder there",
    "distinct types": "another kind of file here than there",
    "distinct modes": "another kind of file here than there",
    "submodule": "the target moved this submodule, too",
}
"""What git's words for conflicts mean to people."""

_OF_LINES = ("content", "add/add")
"""Conflicts that a rule of ours may merge."""


def _with_conflicts(
    each: ReplayedCandidate, answer: MergeAnswer, deleted: dict[str, Side]
) -> ReplayedCandidate:
    """Return a candidate that is replayed with the conflicts that git has.

    - ``deleted``: the files that the target deleted, on which what candidates make of them is
      replayed: an edit stays an edit, and makes no file.
    """
    if answer.refused:
        return replace(each, notes=(f"not merged by git: {answer.refused}",))
    files, sides = each.files, answer.sides
    apart = {path for path, kind in answer.kinds.items() if kind != "file location"}
    if apart == answer.kinds.keys():
        apart |= answer.related - sides.new.keys()
    old = {p: s for p, s in sides.old.items() if p not in apart}
    new = {p: s for p, s in sides.new.items() if p not in apart}
    result = ReplayedFiles(
        old | {path: side for path, side in files.old.items() if path in apart},
        new | {path: side for path, side in files.new.items() if path in apart},
        notes=[note for note in files.notes if note[0] in apart],
    )
    for path, kind in answer.kinds.items():
        if path in files.beyond_git and path not in files.conflicts and kind in _OF_LINES:
            result.beyond_git[path] = files.beyond_git[path]
            continue
        reason = _REASONS.get(kind, kind)
        if kind == "content":
            reason = files.conflicts.get(path, reason)
        elif kind == "modify/delete":
            reason = REWROTE
            if 3 in answer.stages.get(path, ()):  # the candidate's
                reason = DELETED
                own = each.read.sides
                if (base := own.old.get(path)) and (revision := own.new.get(path)):
                    now = {path: deleted.setdefault(path, base)}
                    again = replay_files({path: base}, {path: revision}, now, {})
                    result.old |= again.old
                    result.new |= again.new
        result.conflicts[path] = reason
        if path in files.disputed:
            result.disputed[path] = files.disputed[path]
    marked = {
        path: sides.new[path]
        for path in result.conflicts
        if answer.kinds[path] in _OF_LINES and path in sides.new
    }
    return replace(each, files=result, kinds=answer.kinds, marked=marked)


@dataclass(frozen=True, slots=True)
class _Older:
    """The target's files in place of texts that no commit is known to have, and their new names."""

    files: Sides = field(default_factory=lambda: Sides({}, {}))
    moves: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, repository: Repository, commit: str, read: Iterable[Read]) -> _Older:
        olds = [path for entry in read for path in entry.older if path in entry.sides.old]
        paths = {path for entry in read for path in entry.older}
        if not paths:
            return cls()
        listing = listing_of(repository, commit)
        moves = moves_of(repository, commit, {path for path in olds if path not in listing})
        return cls(read_listed(repository, listing, {*paths, *moves.values()}), moves)

    def drift(self, entry: Read, drift: Drift) -> Drift:
        now, moved, unread = dict(drift.now), dict(drift.moved), dict(drift.unread)
        for path in set(entry.older) - moved.keys():
            base, new = entry.sides.old.get(path), self.files.new.get(self.moves.get(path, ""))
            if path in self.files.refused:
                unread[path] = self.files.refused[path]
            elif base and new and _common(base.data, new.data) >= _RENAMED:
                moved[path], now[path] = self.moves[path], new
            else:
                now[path] = self.files.new.get(path)
        return Drift(now, moved, unread)


def _common(old: bytes, new: bytes) -> float:
    """Return how much of the longer one both have, as git counts it for renames (diffcore-delta.c).

    So a patch follows a file as far as the same change on a branch does, where git is asked.
    """
    pieces = [Counter(_PIECE.findall(data.replace(b"\r\n", b"\n"))) for data in (old, new)]
    common = sum(len(piece) * count for piece, count in (pieces[0] & pieces[1]).items())
    return common / (max(len(old), len(new)) or 1)


def files_of(repository: Repository, commit: str, paths: Iterable[str]) -> dict[str, Side]:
    """Return the files of a commit that can be read."""
    return read_listed(repository, listing_of(repository, commit), paths).new


def _with_folder(target: Target, paths: Iterable[str]) -> Target:
    """Return the target with the files of its working tree that are not given as texts."""
    folder = Folder(target.folder, len(target.commit))
    files = {path: folder.file(path) for path in paths if path not in target.saved}
    saved = {
        path: None if file is None else Side(file.mode, file.data or b"")
        for path, file in files.items()
        if file is None or not file.refused
    }
    unread = {path: file.refused for path, file in files.items() if file and file.refused}
    return replace(target, saved={**saved, **target.saved}, unread=unread)


def _saved(entry: Read, drift: Drift, target: Target) -> Drift:
    """Return the target's changes with the files that are saved otherwise."""
    now, unread = dict(drift.now), dict(drift.unread)
    for path in entry.sides.old.keys() | entry.sides.new.keys():
        home = drift.moved.get(path, path)
        if home in target.unread:
            unread[path] = target.unread[home]
        elif home in target.saved:
            side, base = target.saved[home], entry.sides.old.get(path)
            is_equal = target.is_text and side and base and side.text == base.text
            now[path] = base if is_equal else side
            unread.pop(path, None)
    return Drift(now, drift.moved, unread)


def _replayed_on(entry: Read, drift: Drift) -> ReplayedCandidate:
    """Return a candidate as a change of the target."""
    sides = entry.sides
    own_paths = sides.old.keys() | sides.new.keys()
    moves = {old: new for old, new in drift.moved.items() if old in own_paths}
    target_sides = {path: side for path, side in drift.now.items() if path in own_paths}
    files = replay_files(sides.old, sides.new, target_sides, moves)
    unread = {path: why for path, why in drift.unread.items() if path in own_paths}
    return ReplayedCandidate(entry, files, moves, unread)
