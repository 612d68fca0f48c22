"""The result of a patch on the files of a commit, or on the blobs that it names."""

from __future__ import annotations

from dataclasses import dataclass

from excise.patches import Patch, PatchError
from excise_server.foundation.changes import Side
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import SourceError
from excise_server.git.repository import Repository
from excise_server.git.trees import Listing, Sides, read_listed
from excise_server.sources.composed import composed, read_named

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
    files = read_listed(repository, listing, paths)

    def base(path: str) -> Side | None:
        if path in files.refused:
            raise SourceError(f"{visible(path)}: {files.refused[path]}")
        return files.new.get(path)

    blobs = read_named(repository, [patch])
    try:
        sides = composed([patch], blobs, base, base)
    except PatchError as error:
        raise SourceError(visible(str(error))) from error
    changed = sides.old.keys() | sides.new.keys()
    older = {path for path in changed if not _is_same(sides.old.get(path), files.new.get(path))}
    return AppliedPatch(sides, frozenset(older))


def _is_same(a: Side | None, b: Side | None) -> bool:
    return (a and (a.mode, a.data)) == (b and (b.mode, b.data))
