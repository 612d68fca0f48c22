"""A working tree against one commit: committed, staged, edited and new files.

Git is asked for ids alone (`diff-index --cached`, `ls-files`): what would look into a working file
itself (`diff-files`, `ls-files -m`, `status`) runs the filters that a repository's config names.
So working files are compared here, by what the index remembers of them and then by their bytes.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress

from excise_server.changes import LINK, SUBMODULE
from excise_server.sources import SourceError
from excise_server.sources.git import Git
from excise_server.sources.paths import read_bytes, visible
from excise_server.sources.repository import Repository
from excise_server.sources.trees import OPTIONS, Entry, Tree, check_size, take_changes

__all__ = ["MAX_UNTRACKED", "changed_last", "worktree_tree"]

MAX_UNTRACKED = 1_000
"""Most untracked files that are taken as created."""

_INDEX = re.compile(
    rb"(\S) (\d{6}) ([0-9a-f]{40,64}) ([0-3])\t([^\0]+)\0"
    rb"  ctime: (\d+):(\d+)\n  mtime: (\d+):(\d+)\n  dev: \d+\tino: \d+\n  uid: \d+\tgid: \d+\n"
    rb"  size: (\d+)\tflags: [0-9a-f]+\n"
)
_SKIPPED = "S"


def worktree_tree(repository: Repository, top: str, base: str, *, untracked: bool = True) -> Tree:
    """Return what a worktree changed since a commit: committed, staged, edited, or new.

    Raises
    ------
    SourceError
        If the worktree is not where it says, in the middle of a merge, or too much differs.
    """
    git = repository.git.at(top)
    if _path(git, "--show-toplevel") != top:
        raise SourceError("its working tree is elsewhere")
    tree = Tree()
    take_changes(tree, git.run("diff-index", "--cached", *OPTIONS, base))
    staged = Tree()
    take_changes(staged, git.run("diff-index", "--cached", *OPTIONS, "HEAD"))
    tree.uncommitted |= staged.old.keys() | staged.new.keys()
    _working(tree, git, top)
    if untracked:
        _untracked(tree, git, top, {os.path.realpath(w.path) for w in repository.worktrees()})
    return tree


def changed_last(top: str, tree: Tree) -> float | None:
    """Return when the last of the changed files changed, in seconds since the epoch.

    Of a file that is gone, its folder says when; None where nothing does.
    """
    times = []
    for path in tree.old.keys() | tree.new.keys():
        full = os.path.join(top, path)
        with suppress(OSError, ValueError):
            status = os.lstat(full if path in tree.new else os.path.dirname(full))
            times.append(status.st_mtime)
    return max(times, default=None)


def _working(tree: Tree, git: Git, top: str) -> None:
    """Take what the working files have in place of the index."""
    written = _written(os.path.join(_path(git, "--absolute-git-dir"), "index"))
    unmerged: dict[str, None] = {}
    for found in _indexed(git):
        path, blob, mode = os.fsdecode(found[5]), found[3].decode(), found[2].decode()
        if found[4] != b"0":
            unmerged[path] = None
        elif mode == SUBMODULE:
            if path in tree.new:
                tree.notes.append(f"submodule {visible(path)}: only its recorded commit counts")
        elif found[1].decode() != _SKIPPED and not _is_clean(
            os.path.join(top, path), found, written
        ):
            _edited(tree, top, path, Entry(mode, blob))
    if unmerged:
        names = ", ".join(visible(path) for path in list(unmerged)[:3])
        more = f" and {len(unmerged) - 3} more" if len(unmerged) > 3 else ""
        raise SourceError(f"an unfinished merge: conflicts in {names}{more}", hint="finish it")


def _indexed(git: Git) -> Iterator[re.Match[bytes]]:
    out = git.run("ls-files", "--stage", "--debug", "-t", "-z")
    position = 0
    while position < len(out):
        if (found := _INDEX.match(out, position)) is None:
            raise SourceError("git ls-files gave an answer that is not understood")
        yield found
        position = found.end()


def _is_clean(path: str, found: re.Match[bytes], written: int) -> bool:
    """Whether the index still describes the file, by the same signs as git's.

    A file that changed in the tick in which the index was written looks clean and need not be.
    """
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return False
    changed, modified, size = _nanoseconds(found, 6), _nanoseconds(found, 8), int(found[10])
    is_link = found[2].decode() == LINK
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


def _nanoseconds(found: re.Match[bytes], at: int) -> int:
    return int(found[at]) * 1_000_000_000 + int(found[at + 1])


def _edited(tree: Tree, top: str, path: str, indexed: Entry) -> None:
    """Put what lies in the working tree in place of what the index has."""
    now = _file(top, path, indexed.mode)
    if now is not None and now.data is not None:
        same = _blob(now.data, len(indexed.blob)) == indexed.blob
        if same and now.mode == indexed.mode:
            return
    if path not in tree.new and path not in tree.old:
        tree.old[path] = indexed
    tree.new.pop(path, None)
    tree.uncommitted.add(path)
    if now is not None:
        tree.new[path] = now
    check_size(tree)


def _untracked(tree: Tree, git: Git, top: str, worktrees: set[str]) -> None:
    """Take what git does not track as created; worktrees inside this one are no part of it."""
    names = git.run("ls-files", "--others", "--exclude-standard", "-z").split(b"\0")[:-1]
    if len(names) > MAX_UNTRACKED:
        limit = f"{len(names):,} untracked files, limit {MAX_UNTRACKED:,}: none is compared"
        tree.notes.append(f"{limit}; add or ignore them")
        return
    for name in names:
        path = os.fsdecode(name)
        if path.endswith("/"):
            if os.path.realpath(os.path.join(top, path)) not in worktrees:
                tree.asides.append(f"{visible(path)}: a repository of its own, not compared")
            continue
        found = _file(top, path, "")
        if found is not None:
            tree.new[path] = found
            tree.uncommitted.add(path)
    check_size(tree)


def _file(top: str, path: str, mode: str) -> Entry | None:
    """Return a working file as it lies there; None if there is none, or another way leads to it."""
    full = os.path.join(top, path)
    try:
        if os.path.realpath(os.path.dirname(full)) != os.path.dirname(full):
            return None
        status = os.lstat(full)
        if stat.S_ISLNK(status.st_mode):
            return Entry(LINK, data=os.fsencode(os.readlink(full)))
        if stat.S_ISDIR(status.st_mode):
            return None
        regular = _mode(status, mode)
        return Entry(regular, data=read_bytes(full, [top]))
    except SourceError as error:
        return Entry(mode or "100644", refused=error.reason)
    except (OSError, ValueError):
        return None


def _mode(status: os.stat_result, mode: str) -> str:
    if os.name == "nt" and mode:
        return mode
    return "100755" if status.st_mode & 0o100 else "100644"


def _blob(data: bytes, digits: int) -> str:
    kind = hashlib.sha1 if digits == 40 else hashlib.sha256
    return kind(b"blob %d\0" % len(data) + data).hexdigest()


def _path(git: Git, question: str) -> str:
    answer = os.fsdecode(git.run("rev-parse", question).removesuffix(b"\n"))
    return os.path.realpath(answer) if answer else ""
