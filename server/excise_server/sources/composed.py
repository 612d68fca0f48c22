"""Patches as whole files: the texts that they were made from, and the results.

A file is the result of an earlier patch, the blob that the patch names, or what the commit has that
the patches were made from. Within one patch a rename or a copy starts from the tree before it,
wherever the edit of that file stands; another edit of a file goes on from the one before. So does
`git apply` (`previous_patch` in its apply.c).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from excise.patches import FilePair, Patch, PatchError, apply
from excise_server.foundation.changes import LINK, SUBMODULE, Side
from excise_server.foundation.escape import visible
from excise_server.foundation.files import is_refused_by_git
from excise_server.foundation.inputs import SourceError
from excise_server.git.repository import Blob, Repository
from excise_server.git.trees import Listing, Sides, read_listed

Blobs = Mapping[str, bytes | SourceError]
"""Texts, or why there is none, by the id in an index line."""

_ID = re.compile(r"[0-9a-f]{7,64}")
_SUBPROJECT = re.compile(rb"([-+])Subproject commit ([0-9a-f]{40}(?:[0-9a-f]{24})?)")
_FILE = "100644"


@dataclass(slots=True)
class _Files:
    """The files before all patches, before this one, and as they are now (None: deleted)."""

    old: dict[str, Side] = field(default_factory=dict)
    start: dict[str, Side | None] = field(default_factory=dict)
    now: dict[str, Side | None] = field(default_factory=dict)
    made: set[str] = field(default_factory=set)
    """Files that this patch has written: a rename away from such a name does not delete it."""
    refused: dict[str, str] = field(default_factory=dict)


def read_named(repository: Repository, patches: Sequence[Patch]) -> Blobs:
    """Read the texts that patches may need, by one question to git.

    Raises SourceError if git fails.
    """
    pairs = [pair for patch in patches for pair in patch.files]
    ids = [name for p in pairs for name in (p.old_blob, p.new_blob if p.binary else "")]
    names = list(dict.fromkeys(name for name in ids if _ID.fullmatch(name) and name.strip("0")))
    answers = repository.blobs(names)
    return {
        name: answer.data if isinstance(answer, Blob) else answer
        for name, answer in zip(names, answers, strict=True)
    }


def apply_patch(repository: Repository, listing: Listing, patch: Patch) -> Sides:
    """Apply a patch, in memory, to the blobs that it names or else to the files of a commit.

    Raises SourceError if a hunk does not apply, a text is not known, or git fails.
    """
    paths = {path for pair in patch.files for path in (pair.old, pair.new) if path is not None}
    files = read_listed(repository, listing, paths)

    def base(path: str) -> Side | None:
        if path in files.refused:
            raise SourceError(f"{visible(path)}: {files.refused[path]}")
        return files.new.get(path)

    return composed(patch, read_named(repository, [patch]), base)


def composed(patch: Patch, blobs: Blobs, base: Callable[[str], Side | None]) -> Sides:
    """Return the files before and after a patch, or a series in its order as one patch.

    Raises SourceError if a text is not known, or a patch does not apply. It names the file.

    - ``blobs``: from `read_named`.
    - ``base``: a file of the commit that the patches were made from, for texts that are not known
      otherwise.
    """
    files, at = _Files(), 0
    for part in patch.parts or (len(patch.files),):
        files.start, files.made = dict(files.now), set()
        for pair in patch.files[at : at + part]:
            _take(files, pair, blobs, base)
        at += part
    old, new = dict(files.old), {path: side for path, side in files.now.items() if side}
    for path in old.keys() & new.keys():
        if (old[path].mode, old[path].data) == (new[path].mode, new[path].data):
            del old[path], new[path]
    return Sides(old, new, files.refused)


def _take(files: _Files, pair: FilePair, blobs: Blobs, base: Callable[[str], Side | None]) -> None:
    for path in (pair.old, pair.new):
        if path is not None and is_refused_by_git(
            path, is_link=LINK in (pair.old_mode, pair.new_mode)
        ):
            raise SourceError(f"{visible(path)}: the path is outside the tree")
    if SUBMODULE in (pair.old_mode, pair.new_mode):
        before, after = _submodules(pair)
    elif pair.binary and not (pair.new is None or isinstance(blobs.get(pair.new_blob), bytes)):
        files.refused[pair.path] = "the patch is binary, and its result is not in the repository"
        return
    else:
        before = _before(files, pair, blobs, base)
        after = _after(pair, before, blobs)
    if pair.old is not None and before is not None and pair.moved != "copy":
        if pair.old not in _known(files, pair):
            files.old.setdefault(pair.old, before)
        if pair.moved != "rename" or pair.old not in files.made:
            files.now[pair.old] = None
    if pair.new is not None:
        files.now[pair.new] = after
        files.made.add(pair.new)


def _submodules(pair: FilePair) -> tuple[Side | None, Side | None]:
    """Return a submodule at the commits that a patch names, before and after."""
    commits: dict[bytes, str] = {}
    for line in (line for hunk in pair.hunks for line in hunk.lines):
        match = _SUBPROJECT.fullmatch(line)
        if match is None or match[1] in commits:
            raise SourceError(f"{visible(pair.path)}: the patch of a submodule names no commits")
        commits[match[1]] = match[2].decode()
    for path, sign in ((pair.old, b"-"), (pair.new, b"+")):
        if (path is not None) is not (sign in commits):
            raise SourceError(f"{visible(pair.path)}: the patch of a submodule names no commits")
    before, after = (
        Side(SUBMODULE, f"Subproject commit {commit}\n".encode(), commit) if commit else None
        for commit in (commits.get(b"-"), commits.get(b"+"))
    )
    return before, after


def _known(files: _Files, pair: FilePair) -> Mapping[str, Side | None]:
    """Return the files that patches have made so far, as the old side of a pair sees them."""
    return files.start if pair.moved else files.now


def _before(
    files: _Files, pair: FilePair, blobs: Blobs, base: Callable[[str], Side | None]
) -> Side | None:
    """Return the file that a patch was made from, or None if it creates one."""
    if pair.old is None:
        return None
    if pair.old in (known := _known(files, pair)):
        return known[pair.old]
    side = base(pair.old)
    data = blobs.get(pair.old_blob)
    if isinstance(data, bytes):
        return Side(pair.old_mode or (side.mode if side else _FILE), data)
    return side


def _after(pair: FilePair, before: Side | None, blobs: Blobs) -> Side | None:
    """Return the file that a patch makes, or None if it deletes it."""
    if pair.binary and pair.new is None:
        return None
    data = blobs[pair.new_blob] if pair.binary else None
    if not isinstance(data, bytes):
        try:
            data = apply(pair, before.data if before else None).text
        except PatchError as error:
            raise SourceError(visible(str(error))) from error
    if data is None:
        return None
    mode = pair.new_mode or (before.mode if before else "") or _FILE
    return Side(mode, data)
