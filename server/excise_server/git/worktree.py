"""The content of a working tree: staged, edited and new files, against its HEAD.

Git is asked for ids alone (`ls-files`), because commands that read working files (`diff-files`,
`ls-files -m`, `status`) run the filters that a repository's config names. So working files are
compared here, first by the index's record of them and then by their bytes.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection
from dataclasses import dataclass, field

from excise_server.foundation.changes import LINK, SUBMODULE
from excise_server.foundation.inputs import SourceError, first_few
from excise_server.foundation.paths import read_bytes, visible
from excise_server.git.command import Git
from excise_server.git.repository import Repository, own_folder
from excise_server.git.trees import Entry, Listing
from excise_server.git.worktree_files import SHA1_DIGITS, Folder, blob_name

__all__ = ["MAX_UNTRACKED", "Working", "is_under_way", "read_working"]

MAX_UNTRACKED = 1_000
"""Most untracked files that are taken as created."""

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
        Paths of submodules, of which only the recorded commit counts.
    notes, asides
        As in `Tree`.
    """

    folder: Folder
    changes: dict[str, Entry | None] = field(default_factory=dict)
    submodules: list[str] = field(default_factory=list)
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
    out = git.run("ls-files", "--cached", "--stage", "--debug", "-t", "-z", *untracked_options)
    digits = len(next(iter(head.values()), ("", "0" * SHA1_DIGITS))[1])
    working = Working(Folder(top, digits))
    position = _untracked(working, out, worktrees)
    written = _written(os.path.join(git_dir, "index"))
    for path in head.keys() - _indexed(working, head, out, position, written):
        working.changes.setdefault(path, None)
    for name, note in _UNDER_WAY.items():
        if os.path.lexists(os.path.join(git_dir, name)) and note not in working.asides:
            working.asides.append(note)
    return working


def _own_folder(top: str) -> str:
    link = os.path.join(top, ".git")
    return link if os.path.isdir(link) else own_folder(top)


def _may_be_elsewhere(top: str, git_dir: str) -> bool:
    """Whether a config may place the working tree elsewhere, so that git has to be asked.

    Of a linked worktree ``core.worktree`` counts only with ``extensions.worktreeConfig``, which
    git takes from the repository's own config file, and from nothing that this includes.
    """
    if git_dir == os.path.join(top, ".git"):
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


def _indexed(working: Working, head: Listing, out: bytes, position: int, written: int) -> set[str]:
    """Take the index's and the working files' changes to HEAD, and return the index's paths."""
    paths = set[str]()
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
        paths.add(path)
        if match[4] != b"0":
            unmerged[path] = None
        elif mode == SUBMODULE.encode():
            working.submodules.append(path)
            _take(working, path, head, Entry(SUBMODULE, blob.decode()))
        elif match[1] == _SKIPPED or _is_clean(working.folder.path(path), match, written):
            if head.get(path) != (mode, blob):
                working.changes[path] = Entry(mode.decode(), blob.decode())
        else:
            indexed = Entry(mode.decode(), blob.decode())
            _take(working, path, head, _working_entry(working.folder, path, indexed))
    if unmerged:
        names = first_few([visible(path) for path in unmerged])
        raise SourceError(f"an unfinished merge: conflicts in {names}", hint="finish it")
    return paths


def _take(working: Working, path: str, head: Listing, entry: Entry | None) -> None:
    if entry is None or head.get(path) != (entry.mode.encode(), entry.blob.encode()):
        working.changes[path] = entry


def _working_entry(folder: Folder, path: str, indexed: Entry) -> Entry | None:
    """Return a working file, without its bytes if git's conversion of line ends made it."""
    entry = folder.file(path, indexed.mode)
    if entry is not None and entry.data and b"\r\n" in entry.data and entry.blob != indexed.blob:
        # core.autocrlf and eol=crlf check text out with these.
        converted = blob_name(entry.data.replace(b"\r\n", b"\n"), folder.digits)
        if converted == indexed.blob:
            return Entry(entry.mode, indexed.blob)
    return entry


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
