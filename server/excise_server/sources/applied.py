"""What a patch makes of the files of a commit, or of the blobs that it names."""

from __future__ import annotations

from dataclasses import dataclass

from excise.patches import Patch, PatchError
from excise_server.changes import Side
from excise_server.git.repository import Blob, Repository
from excise_server.git.trees import Entry, Listing, Sides, Tree, read_sides
from excise_server.sources import SourceError
from excise_server.sources.composed import blob_names, composed
from excise_server.sources.paths import visible

__all__ = ["AppliedPatch", "apply_patch"]


@dataclass(frozen=True, slots=True)
class AppliedPatch:
    """A patch as whole files.

    Attributes
    ----------
    sides
        The files before and after.
    older
        Paths that the commit has otherwise: the patch names another blob of them, which the
        repository has, or creates a file that is there.
    """

    sides: Sides
    older: frozenset[str]


def apply_patch(repository: Repository, listing: Listing, patch: Patch) -> AppliedPatch:
    """Apply a patch, in memory, to the blobs that it names or else to the files of a commit.

    Parameters
    ----------
    listing
        The files of the commit.

    Raises
    ------
    SourceError
        If a hunk does not apply, a text is not known, or git fails.
    """
    paths = {path for pair in patch.files for path in (pair.old, pair.new) if path is not None}
    entries = {
        path: Entry(listing[path][0].decode(), listing[path][1].decode())
        for path in sorted(paths)
        if path in listing
    }
    files = read_sides(repository, [Tree(old=entries)])[0]

    def base(path: str) -> Side | None:
        if path in files.refused:
            raise SourceError(f"{visible(path)}: {files.refused[path]}")
        return files.old.get(path)

    names = list(dict.fromkeys(blob_names([patch])))
    blobs = {
        name: blob.data if isinstance(blob, Blob) else blob
        for name, blob in zip(names, repository.blobs(names), strict=True)
    }
    try:
        sides = composed([patch], blobs, base, base)
    except PatchError as error:
        raise SourceError(visible(str(error))) from error
    changed = sides.old.keys() | sides.new.keys()
    older = {path for path in changed if not _is_same(sides.old.get(path), files.old.get(path))}
    return AppliedPatch(sides, frozenset(older))


def _is_same(a: Side | None, b: Side | None) -> bool:
    return (a and (a.mode, a.data)) == (b and (b.mode, b.data))
