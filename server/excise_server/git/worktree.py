"""The content of a working tree: staged, edited and new files, against its HEAD.

Git is asked for ids alone (`ls-files`), because commands that read working files (`diff-files`,
`ls-files -m`, `status`) run the filters that a repository's config names. So working files are
compared here, first by the index's record of them and then by their bytes.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from excise_server.foundation.changes import LINK, SUBMODULE
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import SourceError, first_few
from excise_server.foundation.paths import read_bytes
from excise_server.git.command import Git
from excise_server.git.conversions import converted_by_git
from excise_server.git.repository import Repository, own_folder
from excise_server.git.submodules import checked_out_commit
from excise_server.git.trees import Entry, Listing, Tree, check_size
from excise_server.git.worktree_files import SHA1_DIGITS, Folder, blob_name

__all__ = ["MAX_UNTRACKED", "Working", "changed_last", "is_under_way", "read_working"]
__all__ += ["worktree_tree"]

MAX_UNTRACKED = 1_000
"""Most untracked files that are taken as created."""

_UNLISTED = "could not open directory"
_INDEX = re.compile(
    rb"(\S) (\d{6}) ([0-9a-f]{40,64}) ([0-3])\t([^\0]+)\0"
    rb"  ctime: (\d+):(\d+)\n  mtime: (\d+):(\d+)\n  dev: \d+\tino: \d+\n  uid: \d+\tgid: \d+\n"
    rb"  size: (\d+)\tflags: ([0-9a-f]+)\n"
)
_UNTRACKED = re.compile(rb"\? ([^\0]+)\0")
_SKIPPED = b"S"
_INTENDED = 0x2000_0000
"""The flag of a file that was announced by ``git add --intent-to-add``, and is not in the index."""

_UNDER_WAY = {
    "MERGE_HEAD": "a merge is not finished: what it brings in counts as its edits",
    "rebase-merge": "a rebase is not finished: commits that it has still to apply are missing",
    "rebase-apply": "a rebase is not finished: commits that it has still to apply are missing",
    "CHERRY_PICK_HEAD": "a cherry-pick is not finished",
    "REVERT_HEAD": "a revert is not finished",
    "BISECT_LOG": "a bisection is under way: it shows an older commit of its branch",
}


def is_under_way(top: str) -> bool:
    """Return whether a merge, a rebase or the like is not finished in a worktree."""
    try:
        git_dir = _own_folder(top)
    except SourceError:
        return True  # reading it will report the error
    return any(os.path.lexists(os.path.join(git_dir, name)) for name in _UNDER_WAY)


@dataclass(slots=True)
class Working:
    """The files of a working tree that differ from its HEAD.

    Attributes
    ----------
    folder
        The folder of the working tree.
    changes
        The changed files, by path; None if a file is gone.
    submodules
        Paths of submodules, of which only the commit counts that is checked out, or else recorded.
    converted
        Changed files of which git would commit each CRLF as LF.
    notes, asides
        As in `Tree`.
    """

    folder: Folder
    changes: dict[str, Entry | None] = field(default_factory=dict)
    submodules: list[str] = field(default_factory=list)
    converted: frozenset[str] = frozenset()
    notes: list[str] = field(default_factory=list)
    asides: list[str] = field(default_factory=list)


def read_working(
    repository: Repository,
    top: str,
    head: Listing,
    *,
    untracked: bool = True,
    worktrees: Collection[str] = (),
) -> Working:
    """Return the uncommitted changes of a worktree.

    Parameters
    ----------
    top
        Its top folder, links followed.
    head
        The files of its HEAD.
    untracked
        Whether files that git neither tracks nor ignores count as created.
    worktrees
        The top folders of all worktrees; those inside this one are not part of it.

    Raises
    ------
    SourceError
        If the worktree is not where it says, is gone, or has conflicts in files.
    """
    try:
        working = _read(repository.git.at(top), top, head, untracked, worktrees)
    except SourceError:
        if os.path.lexists(os.path.join(top, ".git")):
            raise
        raise SourceError(_REMOVED) from None
    if not os.path.lexists(os.path.join(top, ".git")):
        raise SourceError(_REMOVED)
    return working


_REMOVED = "it was removed while it was read"


def _read(
    git: Git, top: str, head: Listing, untracked: bool, worktrees: Collection[str]
) -> Working:
    git_dir = _own_folder(top)
    if _may_be_elsewhere(top, git_dir):
        answer = os.fsdecode(git.run("rev-parse", "--show-toplevel").removesuffix(b"\n"))
        if os.path.realpath(answer) != top:
            raise SourceError("its working tree is elsewhere")
    untracked_options = ("--others", "--exclude-standard") if untracked else ()
    warnings: list[str] = []
    options = ("--cached", "--stage", "--debug", "-t", "-z", *untracked_options)
    out = git.run("ls-files", *options, warnings=warnings)
    digits = len(next(iter(head.values()), ("", "0" * SHA1_DIGITS))[1])
    working = Working(Folder(top, digits))
    unlisted = [line for line in warnings if _UNLISTED in line]
    working.notes += [f"{visible(line)}: new files in it are not compared" for line in unlisted[:3]]
    position = _untracked(working, out, worktrees)
    written = _written(os.path.join(git_dir, "index"))
    common = os.path.dirname(os.path.dirname(git_dir)) if _is_linked(top, git_dir) else git_dir
    indexed = _indexed(working, head, (top, common), out, position, written)
    for path in head.keys() - indexed.keys():
        working.changes.setdefault(path, None)
    _convert(git, working, head, indexed)
    for name, note in _UNDER_WAY.items():
        if os.path.lexists(os.path.join(git_dir, name)) and note not in working.asides:
            working.asides.append(note)
    return working


def _own_folder(top: str) -> str:
    link = os.path.join(top, ".git")
    return link if os.path.isdir(link) else own_folder(top)


def _is_linked(top: str, git_dir: str) -> bool:
    return git_dir != os.path.join(top, ".git")


def _may_be_elsewhere(top: str, git_dir: str) -> bool:
    """Whether a config may place the working tree elsewhere, so that git has to be asked.

    Of a linked worktree ``core.worktree`` counts only with ``extensions.worktreeConfig``, which
    git takes from the repository's own config file, and from nothing that this includes.
    """
    if not _is_linked(top, git_dir):
        return True
    common = os.path.dirname(os.path.dirname(git_dir))
    try:
        return b"worktreeconfig" in read_bytes(os.path.join(common, "config"), [common]).lower()
    except SourceError:
        return True


def _untracked(working: Working, out: bytes, worktrees: Collection[str]) -> int:
    """Take the untracked files, and return where the index begins in git's answer."""
    names, position = [], 0
    while match := _UNTRACKED.match(out, position):
        names.append(os.fsdecode(match[1]))
        position = match.end()
    if len(names) > MAX_UNTRACKED:
        limit = f"{len(names):,} untracked files, limit {MAX_UNTRACKED:,}: none is compared"
        working.notes.append(f"{limit}; add or ignore them")
        return position
    for path in names:
        if not path.endswith("/"):
            if (entry := working.folder.file(path)) is not None:
                working.changes[path] = entry
        elif os.path.realpath(working.folder.path(path)) not in worktrees:
            excluded = f"{visible(path)}: a repository of its own, not compared"
            working.asides.append(excluded)
    return position


def _indexed(
    working: Working,
    head: Listing,
    roots: tuple[str, str],
    out: bytes,
    position: int,
    written: int,
) -> dict[str, str]:
    """Take the index's and the working files' changes to HEAD, and return the index's blobs."""
    blobs: dict[str, str] = {}
    unmerged: dict[str, None] = {}
    while position < len(out):
        if (match := _INDEX.match(out, position)) is None:
            raise SourceError("git ls-files gave an answer that is not understood")
        position = match.end()
        path, mode, blob = os.fsdecode(match[5]), match[2], match[3]
        if int(match[11], 16) & _INTENDED:
            if (entry := working.folder.file(path, mode.decode())) is not None:
                working.changes[path] = entry
            continue
        blobs[path] = blob.decode()
        if match[4] != b"0":
            unmerged[path] = None
        elif mode == SUBMODULE.encode():
            working.submodules.append(path)
            _take(working, path, head, _submodule(working.folder, path, blob.decode(), roots))
        elif match[1] == _SKIPPED or _is_clean(working.folder.path(path), match, written):
            if head.get(path) != (mode, blob):
                working.changes[path] = Entry(mode.decode(), blob.decode())
        else:
            _take(working, path, head, working.folder.file(path, mode.decode()))
    if unmerged:
        names = first_few([visible(path) for path in unmerged])
        raise SourceError(f"an unfinished merge: conflicts in {names}", hint="finish it")
    return blobs


def _take(working: Working, path: str, head: Listing, entry: Entry | None) -> None:
    if entry is None or head.get(path) != (entry.mode.encode(), entry.blob.encode()):
        working.changes[path] = entry


def _submodule(folder: Folder, path: str, recorded: str, roots: Sequence[str]) -> Entry | None:
    """Return a submodule at the commit that is checked out, or what is there in its place."""
    full = folder.path(path)
    try:
        if not os.path.isdir(full) or os.path.islink(full):
            return folder.file(path)
        return Entry(SUBMODULE, checked_out_commit(full, roots) or recorded)
    except SourceError as error:
        return Entry(SUBMODULE, refused=error.reason)


def _convert(git: Git, working: Working, head: Listing, indexed: Mapping[str, str]) -> None:
    """Find the files whose line ends git converts, and drop those that it made different."""
    data_of = {
        path: entry.data
        for path, entry in working.changes.items()
        if entry is not None and entry.data and b"\r\n" in entry.data and entry.mode != LINK
    }
    working.converted = converted_by_git(git, sorted(data_of)) if data_of else frozenset()
    for path in working.converted:
        entry, blob = working.changes[path], indexed.get(path, "")
        plain = data_of[path].replace(b"\r\n", b"\n")
        if entry is not None and blob_name(plain, working.folder.digits) == blob:
            del working.changes[path]
            _take(working, path, head, Entry(entry.mode, blob))


def _is_clean(path: str, match: re.Match[bytes], written: int) -> bool:
    """Whether the index still describes the file, by the same signs as git's.

    A file that changed in the same tick as the index looks clean, but need not be.
    """
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return False
    changed, modified, size = _nanoseconds(match, 6), _nanoseconds(match, 8), int(match[10])
    is_link = match[2].decode() == LINK
    return (
        stat.S_ISLNK(status.st_mode) == is_link
        and (is_link or stat.S_ISREG(status.st_mode))
        and status.st_size & 0xFFFFFFFF == size
        and status.st_mtime_ns == modified < written
        and status.st_ctime_ns == changed
    )


def _written(index: str) -> int:
    try:
        return os.stat(index).st_mtime_ns
    except OSError:
        return 0


def _nanoseconds(match: re.Match[bytes], index: int) -> int:
    return int(match[index]) * 1_000_000_000 + int(match[index + 1])


# --- since its base ------------------------------------------------------------------------------


def worktree_tree(working: Working, committed: Tree, head: Listing) -> Tree:
    """Return the changes of a worktree since its base: committed, staged, edited, or new.

    Parameters
    ----------
    committed
        The changes of its HEAD since the base.
    head
        The files of its HEAD.

    Raises
    ------
    SourceError
        If too much differs.
    """
    tree = Tree(dict(committed.old), dict(committed.new))
    for path, entry in working.changes.items():
        if path not in tree.old and path not in tree.new and path in head:
            mode, blob = head[path]
            tree.old[path] = Entry(mode.decode(), blob.decode())
        tree.new.pop(path, None)
        before = tree.old.get(path)
        if entry is not None and before is not None and _is_same(entry, before):
            del tree.old[path]
        elif entry is not None:
            tree.new[path] = entry
    tree.uncommitted = set(working.changes)
    tree.converted = working.converted
    tree.notes = [
        f"submodule {visible(path)}: only its commit counts, and not its files"
        for path in working.submodules
        if path in tree.new
    ]
    tree.notes += working.notes
    tree.asides = list(working.asides)
    check_size(tree)
    return tree


def _is_same(after: Entry, before: Entry) -> bool:
    return not after.refused and (after.mode, after.blob) == (before.mode, before.blob)


def changed_last(top: str, tree: Tree) -> float | None:
    """Return when the last of the changed files changed, in seconds since the epoch.

    For a deleted file, the time of its folder counts. None if no time is known.
    """
    times = []
    for path in tree.old.keys() | tree.new.keys():
        full = os.path.join(top, path)
        with suppress(OSError, ValueError):
            status = os.lstat(full if path in tree.new else os.path.dirname(full))
            times.append(status.st_mtime)
    return max(times, default=None)
