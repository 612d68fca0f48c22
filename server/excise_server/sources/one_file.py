"""One file of many candidates: what each of them made of it since its own base.

Of most candidates that file alone is read, all of them by one git. Where it came, went or moved, or
a merge is not finished, the whole candidate is read, as the commands read it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from excise_server.foundation.changes import LINK, SUBMODULE, Side, renamed_files
from excise_server.foundation.inputs import SourceError
from excise_server.foundation.paths import visible
from excise_server.git.conversions import without_conversions
from excise_server.git.drift import renames_between
from excise_server.git.repository import AbsentError, Blob, Repository
from excise_server.git.trees import Sides
from excise_server.git.worktree import is_under_way
from excise_server.git.worktree_files import Folder
from excise_server.review.candidate import Candidate
from excise_server.review.replayed import CREATES, DELETES
from excise_server.sources.finding import Change, Refused
from excise_server.sources.reading import (
    Lying,
    Read,
    read_changes,
    read_worktrees,
    replayed,
)

__all__ = ["FileChange", "WholeCandidates", "read_file"]

LANDED = "the origin has its edits already"

_MARKER = b"<<<<<<< "
_MODE = "100644"


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of one file by a candidate.

    Attributes
    ----------
    before, after
        The bytes at its base, and as it has them now; None where there is no file.
    change
        What that is.
    path
        The other path of a file that it moved.
    file
        The absolute path of what a worktree has; empty without any.
    """

    before: bytes | None
    after: bytes | None
    change: Change = "edited"
    path: str = ""
    file: str = ""
    notes: tuple[str, ...] = ()


class WholeCandidates:
    """Candidates read whole, where one file does not tell enough.

    Parameters
    ----------
    repository
        Where they are.
    head
        The commit of the target.
    refused
        Where those are put that cannot be read, with the reason.
    """

    def __init__(self, repository: Repository, head: str, refused: list[Refused]) -> None:
        """Read nothing yet."""
        self._repository, self._head, self._refused = repository, head, refused

    def is_edited(self, candidate: Candidate) -> bool:
        """Return whether a worktree has uncommitted changes, or False if it cannot be read."""
        ignored: list[Refused] = []
        lying = read_worktrees(self._repository, self._head, [candidate], True, ignored)
        return any(entry.working and entry.working.changes for entry in lying)

    def read(self, candidates: Sequence[Candidate]) -> dict[str, tuple[Lying, Read]]:
        """Return the changes of candidates by id, without those that are refused."""
        lying = read_worktrees(self._repository, self._head, candidates, True, self._refused)
        read = read_changes(self._repository, lying, time.time, self._refused)
        changes = {entry.candidate.id: entry for entry in read}
        return {
            entry.candidate.id: (entry, changes[entry.candidate.id])
            for entry in lying
            if entry.candidate.id in changes
        }

    def replayed(self, read: Read, path: str) -> Side | None:
        """Return a file that a candidate makes of the target, or None if the target has it
        already.
        """
        for candidate, _ in replayed(self._repository, self._head, [read], self._refused):
            return candidate.new.get(path)
        return None


Content = Side | SourceError | None
"""A file, why it cannot be read, or None: there is none."""


@dataclass(slots=True)
class _Reader:
    """A file of the target, and where it was at the bases of candidates."""

    repository: Repository
    head: str
    path: str
    whole: WholeCandidates
    refused: list[Refused]
    homes: dict[str, str] = field(default_factory=dict)

    def changes(
        self, candidates: Sequence[Candidate]
    ) -> Iterator[tuple[Candidate, FileChange | None]]:
        contents = self._contents(candidates)
        unclear = [
            candidate
            for candidate, (before, after) in zip(candidates, contents, strict=True)
            if _is_unclear(candidate, before, after)
        ]
        read = self.whole.read(unclear) if unclear else {}
        for candidate, (before, after) in zip(candidates, contents, strict=True):
            try:
                if candidate in unclear:
                    if candidate.id in read:
                        yield candidate, self._moved(candidate, *read[candidate.id])
                else:
                    yield candidate, self._edited(candidate, before, after)
            except SourceError as error:
                self.refused.append(Refused(candidate.id, error.reason, error.hint))

    def _contents(self, candidates: Sequence[Candidate]) -> list[tuple[Content, Content]]:
        """Return the file before and after, following renames in the target."""
        self.homes = {candidate.base: self.path for candidate in candidates}
        here = f"{self.head}:{self.path}"
        blobs = self._blobs(candidates, here)
        made = [base for base in self.homes if blobs[f"{base}:{self.path}"] is None]
        if made and blobs[here] is not None:
            for base in made:
                renames = renames_between(self.repository, base, self.head)
                known = (old for old, new, _, _ in renames if new == self.path)
                self.homes[base] = next(known, self.path)
            blobs = self._blobs(candidates, here)
        return [
            (
                blobs[f"{candidate.base}:{home}"],
                _lying(Folder(candidate.folder, len(candidate.commit)), home)
                if candidate.folder
                else blobs[f"{candidate.commit}:{home}"],
            )
            for candidate in candidates
            for home in [self.homes[candidate.base]]
        ]

    def _blobs(self, candidates: Sequence[Candidate], here: str) -> dict[str, Content]:
        bases = [f"{base}:{home}" for base, home in self.homes.items()]
        tips = [f"{c.commit}:{self.homes[c.base]}" for c in candidates if not c.folder]
        names = list(dict.fromkeys((here, *bases, *tips)))
        return dict(zip(names, map(_content, self.repository.blobs(names)), strict=True))

    def _edited(self, candidate: Candidate, before: Content, after: Content) -> FileChange | None:
        """Return what a candidate did to a file that was there and still is."""
        home = self.homes[candidate.base]
        if before is None or after is None:
            return None  # there is none: where only one of them is, the whole candidate is read
        if isinstance(after, SourceError):
            raise after
        if isinstance(before, SourceError):
            raise SourceError(f"what it started from: {before.reason}", hint=before.hint)
        converted = without_conversions(Sides({home: before}, {home: after}))
        if home not in converted.sides.new:
            return None
        return self._made(candidate, before, converted.sides.new[home], home)

    def _moved(self, candidate: Candidate, lying: Lying, read: Read) -> FileChange | None:
        """Return what a candidate that was read whole did to the file."""
        home, sides = self.homes[candidate.base], read.sides
        if reason := sides.refused.get(home, ""):
            raise SourceError(reason)
        asides = tuple(lying.working.asides) if lying.working else ()
        before, after = sides.old.get(home), sides.new.get(home)
        renames = renamed_files(sides.old, sides.new)
        if before is not None and after is not None:
            made = self._made(candidate, before, after, home)
        elif before is not None:
            moved = next((new for new, old in renames.items() if old == home), "")
            if not moved:
                return FileChange(before.data, None, "deleted", notes=(DELETES, *asides))
            made = self._made(candidate, before, sides.new[moved], moved)
            if moved != self.path:
                note = f"renamed to {visible(moved)}"
                made = replace(made, change="renamed", path=moved, notes=(note, *made.notes))
        elif after is not None:
            made = self._created(candidate, after, renames.get(home, ""), read)
        else:
            return None
        return replace(made, notes=(*made.notes, *asides))

    def _created(
        self,
        candidate: Candidate,
        after: Side,
        moved_from: str,
        read: Read,
    ) -> FileChange:
        """Return what a candidate made where its base has no file."""
        note = CREATES
        if moved_from:
            here = self.whole.replayed(read, self.path)
            if here is None:
                raise SourceError(LANDED)
            after, note = here, f"renamed from {visible(moved_from)}"
        made = self._made(candidate, None, after, self.path)
        return replace(made, change="created", path=moved_from, notes=(note, *made.notes))

    def _made(
        self,
        candidate: Candidate,
        before: Side | None,
        after: Side,
        path: str,
    ) -> FileChange:
        for side in (before, after):
            if side is not None and side.mode in (LINK, SUBMODULE):
                raise SourceError("a link or a submodule, not a text file")
        file = os.path.join(candidate.folder, *path.split("/")) if candidate.folder else ""
        return FileChange(before.data if before else None, after.data, file=file)


def read_file(
    repository: Repository,
    head: str,
    path: str,
    candidates: Sequence[Candidate],
    whole: WholeCandidates,
    refused: list[Refused],
) -> Iterator[tuple[Candidate, FileChange | None]]:
    """Yield the candidates with their version of a file of the target (None: unchanged).

    Parameters
    ----------
    head
        The commit of the target.
    path
        The file, from the top folder of the repository.
    candidates
        With the bases that they started from.

    Raises
    ------
    SourceError
        If git fails.
    """
    yield from _Reader(repository, head, path, whole, refused).changes(candidates)


def _is_unclear(candidate: Candidate, before: Content, after: Content) -> bool:
    """Return whether one file does not tell what a candidate did."""
    if (before is None) != (after is None):
        return True
    if not candidate.folder:
        return False
    is_marked = isinstance(after, Side) and (
        after.data.startswith(_MARKER) or b"\n" + _MARKER in after.data
    )
    return is_marked or is_under_way(candidate.folder)


def _content(blob: Blob | SourceError) -> Content:
    if isinstance(blob, AbsentError):
        return None
    return blob if isinstance(blob, SourceError) else Side(_MODE, blob.data, blob.id)


def _lying(folder: Folder, path: str) -> Content:
    """Return a file as it lies in a worktree."""
    entry = folder.file(path)
    if entry is None:
        return None
    if entry.refused:
        return SourceError(entry.refused)
    if entry.mode == LINK:
        return SourceError("it is a symbolic link there")
    return Side(_MODE, entry.data or b"", entry.blob)
