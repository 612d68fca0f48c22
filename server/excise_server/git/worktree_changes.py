"""The changes of a worktree since its base, and their times."""

from __future__ import annotations

import os
from contextlib import suppress

from excise_server.foundation.escape import visible
from excise_server.git.trees import Entry, Listing, Tree, check_size
from excise_server.git.worktree import Working

__all__ = ["changed_last", "worktree_tree"]


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
