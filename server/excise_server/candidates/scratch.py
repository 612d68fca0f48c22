"""The target with what was taken, in a folder of its own, where a command may be run on it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from excise_server.foundation.changes import LINK, SUBMODULE, Side
from excise_server.foundation.files import is_refused_by_git
from excise_server.foundation.inputs import SourceError, megabytes
from excise_server.git.repository import Repository
from excise_server.git.trees import listing_of, read_listed
from excise_server.review.git_patch import FileEdit

MOST = 2_000_000_000
"""Bytes of a scratch copy."""

_READ_TOGETHER = 50_000_000


@contextmanager
def scratch_copy(
    repository: Repository,
    commit: str,
    files: Sequence[FileEdit],
    linked: Sequence[str] = (),
) -> Iterator[tuple[str, list[str]]]:
    """Make a folder with the files of a commit as some edits leave them, and remove it at the end.

    It has no ``.git``, no submodules, and of what git ignores only the links. Links are made last,
    so that none is followed.

    - ``linked``: folders of the checkout that are linked, as `checked_links` returns them.

    Yields: the folder, and the paths of the files that cannot be read and are not in it.

    Raises SourceError if git fails, or the files are too large together or cannot be written.
    """
    listing = listing_of(repository, commit)
    for edit in files:
        listing.pop(edit.old_path, None)
        listing.pop(edit.path, None)
    paths = [path for path, (mode, _) in listing.items() if mode.decode() != SUBMODULE]
    sizes = repository.sizes([listing[path][1].decode() for path in paths])
    total = sum(size for size in sizes if isinstance(size, int))
    if total > MOST:
        reason = f"the target has {megabytes(total)}, limit {MOST // 1_000_000:,} MB for --run"
        raise SourceError(reason)
    left_out: list[str] = []
    with tempfile.TemporaryDirectory(prefix="excise-mix-", ignore_cleanup_errors=True) as folder:
        try:
            links = _write(folder, {e.path: e.new for e in files if e.new is not None}, left_out)
            together, read = list[str](), 0
            for path, size in [*zip(paths, sizes, strict=True), ("", 0)]:
                if together and (not path or read > _READ_TOGETHER):
                    sides = read_listed(repository, listing, together)
                    left_out += sides.refused
                    links |= _write(folder, sides.new, left_out)
                    together, read = [], 0
                together.append(path)
                read += size if isinstance(size, int) else 0
            for path, target in links.items():
                os.symlink(target, os.path.join(os.fsencode(folder), os.fsencode(path)))
            for path in linked:
                os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
                os.symlink(os.path.join(repository.top, path), os.path.join(folder, path))
        except OSError as error:
            raise SourceError(f"no scratch copy: {error}") from error
        yield folder, left_out


def checked_links(repository: Repository, commit: str, names: Sequence[str]) -> list[str]:
    """Return the folders of the checkout that are to be linked into scratch copies.

    Raises SourceError if one is no folder inside of it, or has files of git's.
    """
    known = listing_of(repository, commit) if names else {}
    links = list(dict.fromkeys(os.path.normpath(name) for name in names))
    for path in links:
        outside = os.path.isabs(path) or path.split(os.sep)[0] in ("..", ".", ".git")
        if outside or not os.path.isdir(os.path.join(repository.top, path)):
            raise SourceError("no folder in the checkout", name=f"--link {path}")
        if any(f"{each}/".startswith(f"{path}/") for each in known):
            reason = "git has files there, which are in every scratch copy"
            raise SourceError(reason, name=f"--link {path}", hint="name a folder that git ignores")
    return links


def _write(folder: str, sides: Mapping[str, Side], left_out: list[str]) -> dict[str, bytes]:
    """Write files into a folder, and return the links among them, which are not made yet."""
    links = {}
    for path, side in sides.items():
        if side.mode == SUBMODULE:
            continue
        if is_refused_by_git(path, is_link=side.mode == LINK):
            left_out.append(path)
            continue
        place = os.path.join(folder, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if side.mode == LINK:
            links[path] = side.data
            continue
        mode = 0o777 if side.mode == "100755" else 0o666  # less the user's umask
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with open(descriptor, "wb") as file:
            file.write(side.data)
    return links
