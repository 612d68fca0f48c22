"""The content of a working tree: staged, edited and new files, against its HEAD.

Git is asked for ids alone (`ls-files`), because commands that read working files (`diff-files`,
`ls-files -m`, `status`) run the filters that a repository's config names. So working files are
compared here, first by the index's record of them and then by their bytes.

Nor is git started in a submodule, another repository in which everything may be hostile: this
module reads its HEAD, and opens only files of the working tree and of the repository it belongs to.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from excise_server.foundation.changes import LINK, SUBMODULE
from excise_server.foundation.escape import visible
from excise_server.foundation.file_bytes import SHA1_DIGITS, blob_name
from excise_server.foundation.files import contained, file_error, read_bytes
from excise_server.foundation.inputs import SourceError, first_few
from excise_server.git.command import Git
from excise_server.git.conversions import as_committed, converted_by_git
from excise_server.git.repository import Repository, own_folder
from excise_server.git.trees import Listing, Tree, TreeEntry, check_size

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
    "MERGE_HEAD": "a merge is in progress: what it brings in counts as its edits",
    "rebase-merge": "a rebase is in progress: the commits still to be applied are missing",
    "rebase-apply": "a rebase is in progress: the commits still to be applied are missing",
    "CHERRY_PICK_HEAD": "a cherry-pick is in progress",
    "REVERT_HEAD": "a revert is in progress",
    "BISECT_LOG": "a bisect is in progress: an older commit of its branch is checked out",
}

_COMMIT = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"refs(?:/(?![.])[^\0-\x20\x7f~^:?*\[\\/]+)+")
_MOST = 4096
"""The most bytes of a file that holds one line."""
_MOST_LINKS = 5
"""How many refs may name another one, as in git."""


def is_under_way(top: str) -> bool:
    """Return whether a merge, a rebase or the like is not finished in a worktree."""
    try:
        git_dir = _own_folder(top)
    except SourceError:
        return True  # reading it will report the error
    return any(os.path.lexists(os.path.join(git_dir, name)) for name in _UNDER_WAY)


@dataclass(frozen=True, slots=True)
class Folder:
    """The top folder of a worktree, and how many digits its repository's blob names have."""

    top: str
    digits: int

    def path(self, name: str) -> str:
        """Return the full path of a file of the working tree."""
        return os.path.join(self.top, name)

    def file(self, name: str, mode: str = "") -> TreeEntry | None:
        """Return a working file, or None if it does not exist or its path leads elsewhere.

        One that cannot be read is refused with the reason: it may be there, and changed.
        """
        full = self.path(name)
        try:
            if os.path.realpath(os.path.dirname(full)) != os.path.dirname(full):
                return None
            status = os.lstat(full)
            if stat.S_ISDIR(status.st_mode):
                return None
            if stat.S_ISLNK(status.st_mode):
                target = os.fsencode(os.readlink(full))
                return TreeEntry(LINK, blob_name(target, self.digits), target)
            data = read_bytes(full, [self.top])
            own = "100755" if status.st_mode & 0o100 else "100644"
            own = mode if os.name == "nt" and mode else own
            return TreeEntry(own, blob_name(data, self.digits), data)
        except SourceError as error:
            return TreeEntry(mode or "100644", refused=error.reason)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError) as error:
            return TreeEntry(mode or "100644", refused=file_error(full, error).reason)


@dataclass(slots=True)
class Working:
    """The files of a working tree that differ from its HEAD.

    - ``changes``: the changed files, by path; None if a file is gone.
    - ``submodules``: paths of submodules, of which only the commit counts that is checked out, or
      else recorded.
    - ``converted``: changed files of which git would commit each CRLF as LF.
    - ``only_here``: files with a content that is in no commit and not among the changes: it is only
      staged, or git was told to skip the file.
    - ``notes``, ``asides``: as in `Tree`.
    """

    folder: Folder
    changes: dict[str, TreeEntry | None] = field(default_factory=dict)
    submodules: list[str] = field(default_factory=list)
    converted: frozenset[str] = frozenset()
    only_here: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    asides: list[str] = field(default_factory=list)


def read_working(
    repository: Repository, top: str, head: Listing, *, worktrees: Collection[str] = ()
) -> Working:
    """Return the uncommitted changes of a worktree; what git does not ignore counts as created.

    Raises SourceError if the worktree is not where it says, is gone, or has conflicts in files.

    - ``worktrees``: the top folders of all worktrees; those inside this one are not part of it.
    """
    try:
        working = _read(repository.git.at(top), top, head, worktrees)
    except SourceError:
        if os.path.lexists(os.path.join(top, ".git")):
            raise
        raise SourceError(_REMOVED) from None
    if not os.path.lexists(os.path.join(top, ".git")):
        raise SourceError(_REMOVED)
    return working


_REMOVED = "it was removed while being read"


def _read(git: Git, top: str, head: Listing, worktrees: Collection[str]) -> Working:
    git_dir = _own_folder(top)
    if _may_be_elsewhere(top, git_dir):
        answer = os.fsdecode(git.run("rev-parse", "--show-toplevel").removesuffix(b"\n"))
        if os.path.realpath(answer) != top:
            raise SourceError("its working tree is elsewhere")
    warnings: list[str] = []
    options = ("--cached", "--stage", "--debug", "-t", "-z", "--others", "--exclude-standard")
    out = git.run("ls-files", *options, warnings=warnings)
    digits = len(next(iter(head.values()), ("", "0" * SHA1_DIGITS))[1])
    working = Working(Folder(top, digits))
    unlisted = [line for line in warnings if _UNLISTED in line]
    working.notes += [f"{visible(line)}: new files in it are not compared" for line in unlisted[:3]]
    names, position, written = [], 0, 0
    while match := _UNTRACKED.match(out, position):
        names.append(os.fsdecode(match[1]))
        position = match.end()
    if len(names) > MAX_UNTRACKED:
        limit = f"{len(names):,} untracked files, limit {MAX_UNTRACKED:,}: none is compared"
        working.notes.append(f"{limit}; add or ignore them")
        names = []
    for path in names:
        if not path.endswith("/"):
            if (entry := working.folder.file(path)) is not None:
                working.changes[path] = entry
        elif os.path.realpath(working.folder.path(path)) not in worktrees:
            working.asides.append(f"{visible(path)}: a repository of its own, not compared")
    with suppress(OSError):
        written = os.stat(os.path.join(git_dir, "index")).st_mtime_ns
    common = git_dir
    if os.path.basename(os.path.dirname(git_dir)) == "worktrees":
        common = os.path.dirname(os.path.dirname(git_dir))
    indexed = _indexed(working, head, (top, common), out, position, written)
    for path in head.keys() - indexed.keys():
        working.changes.setdefault(path, None)
    contents = {
        path: entry.data
        for path, entry in working.changes.items()
        if entry is not None and entry.data and entry.mode != LINK
    }
    for path, data in as_committed(git, contents).items():
        if (own := working.changes.pop(path)) is not None:
            _take(working, path, head, replace(own, blob=blob_name(data, digits), data=data))
    # Files whose line ends git converts, without those that only this made different.
    data_of = {
        path: entry.data
        for path, entry in working.changes.items()
        if entry is not None and entry.data and b"\r\n" in entry.data and entry.mode != LINK
    }
    working.converted = converted_by_git(git, sorted(data_of)) if data_of else frozenset()
    for path in working.converted:
        changed, blob = working.changes[path], indexed.get(path, "")
        plain = data_of[path].replace(b"\r\n", b"\n")
        if changed is not None and blob_name(plain, digits) == blob:
            working.only_here.pop(path, None)
            del working.changes[path]
            _take(working, path, head, TreeEntry(changed.mode, blob))
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


def _indexed(
    working: Working, head: Listing, roots: tuple[str, str], out: bytes, position: int, written: int
) -> dict[str, str]:
    """Take the index's and the working files' changes to HEAD, and return the index's blobs."""
    blobs: dict[str, str] = {}
    unmerged: dict[str, None] = {}
    while position < len(out):
        if (match := _INDEX.match(out, position)) is None:
            raise SourceError("git ls-files gave unexpected output")
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
                working.changes[path] = TreeEntry(mode.decode(), blob.decode())
            skipped = working.folder.file(path) if match[1] == _SKIPPED else None
            if skipped is not None and (skipped.blob != blobs[path] or skipped.refused):
                working.only_here[path] = "skip-worktree"
        else:
            entry = working.folder.file(path, mode.decode())
            _take(working, path, head, entry)
            if head.get(path) != (mode, blob) and (entry is None or entry.blob != blobs[path]):
                working.only_here[path] = "staged"
    if unmerged:
        names = first_few([visible(path) for path in unmerged])
        raise SourceError(f"an unfinished merge: conflicts in {names}", hint="finish it")
    return blobs


def _take(working: Working, path: str, head: Listing, entry: TreeEntry | None) -> None:
    if entry is None or head.get(path) != (entry.mode.encode(), entry.blob.encode()):
        working.changes[path] = entry


def _submodule(folder: Folder, path: str, recorded: str, roots: Sequence[str]) -> TreeEntry | None:
    """Return a submodule at the commit that is checked out, or whatever replaced it."""
    full = folder.path(path)
    try:
        if not os.path.isdir(full) or os.path.islink(full):
            return folder.file(path)
        return TreeEntry(SUBMODULE, checked_out_commit(full, roots) or recorded)
    except SourceError as error:
        return TreeEntry(SUBMODULE, refused=error.reason)


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


def _nanoseconds(match: re.Match[bytes], index: int) -> int:
    return int(match[index]) * 1_000_000_000 + int(match[index + 1])


# --- submodules ----------------------------------------------------------------------------------


def checked_out_commit(folder: str, roots: Sequence[str]) -> str:
    """Return the commit at the HEAD of a submodule, or nothing if it is not checked out.

    Raises SourceError if its repository is elsewhere, or its HEAD cannot be read.

    - ``roots``: the folders in which its repository may be.
    """
    link = os.path.join(folder, ".git")
    try:
        mode = os.lstat(link).st_mode
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise SourceError(
            f"its .git cannot be read: {getattr(error, 'strerror', error)}"
        ) from error
    if stat.S_ISLNK(mode):
        raise SourceError("its .git is a link")
    if not stat.S_ISDIR(mode):
        line = _line(link, [folder])
        if not line.startswith(b"gitdir: "):
            raise SourceError("its .git does not name a repository")
        link = os.path.join(folder, os.fsdecode(line.removeprefix(b"gitdir: ")))
    try:
        _, git_dir = contained(link, roots)
    except SourceError as error:
        raise SourceError("its .git leads out of the repository") from error
    if os.path.lexists(os.path.join(git_dir, "commondir")):
        raise SourceError("its repository is a worktree of another one")
    name = "HEAD"
    for _ in range(_MOST_LINKS):
        path = os.path.join(git_dir, *name.split("/"))
        value = _line(path, [git_dir]) if os.path.lexists(path) else _packed(git_dir, name)
        if _COMMIT.fullmatch(value):
            return value.decode()
        name = os.fsdecode(value.removeprefix(b"ref:").strip())
        if not value.startswith(b"ref:") or not _REF.fullmatch(name):
            break
    raise SourceError("its HEAD does not lead to a commit")


def _line(path: str, roots: Sequence[str]) -> bytes:
    """Return a file that is one short line."""
    return read_bytes(path, roots, limit=_MOST).rstrip(b"\r\n ")


def _packed(git_dir: str, name: str) -> bytes:
    """Return what the file of packed refs has for one, or nothing."""
    path = os.path.join(git_dir, "packed-refs")
    if not os.path.lexists(path):
        return b""
    wanted = b" " + os.fsencode(name)
    for line in read_bytes(path, [git_dir]).split(b"\n"):
        if line.endswith(wanted) and line[: -len(wanted)].isalnum():
            return line[: -len(wanted)]
    return b""


# --- since its base ------------------------------------------------------------------------------


def worktree_tree(working: Working, committed: Tree, head: Listing) -> Tree:
    """Return the changes of a worktree since its base: committed, staged, edited, or new.

    Raises SourceError if too much differs.

    - ``committed``: the changes of its HEAD since the base.
    """
    tree = Tree(dict(committed.old), dict(committed.new))
    for path, entry in working.changes.items():
        if path not in tree.old and path not in tree.new and path in head:
            mode, blob = head[path]
            tree.old[path] = TreeEntry(mode.decode(), blob.decode())
        tree.new.pop(path, None)
        before = tree.old.get(path)
        if (
            entry is not None
            and before is not None
            and not entry.refused
            and ((entry.mode, entry.blob) == (before.mode, before.blob))
        ):
            del tree.old[path]
        elif entry is not None:
            tree.new[path] = entry
    tree.uncommitted = set(working.changes)
    tree.converted = working.converted
    tree.notes = [
        f"submodule {visible(path)}: only its commit counts, not its files"
        for path in working.submodules
        if path in tree.new
    ]
    tree.notes += working.notes
    tree.asides = list(working.asides)
    check_size(tree)
    return tree


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
