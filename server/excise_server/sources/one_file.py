"""One file of many candidates: what each of them changed in it since its own base.

For most candidates, only that file is read, for all of them by one git process. If the file was
created, deleted or renamed, or a merge is not finished, the whole candidate is read, as by the
commands.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from excise_server.foundation.changes import LINK, SUBMODULE, Side, renamed_files
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import SourceError
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
    ListedCandidate,
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
        The bytes at its base and now; None if there is no file.
    change
        The kind of change.
    path
        The other path of a renamed file.
    file
        The absolute path of the file in a worktree, or empty.
    """

    before: bytes | None
    after: bytes | None
    change: Change = "edited"
    path: str = ""
    file: str = ""
    notes: tuple[str, ...] = ()


class WholeCandidates:
    """Candidates that are read as a whole, because one file does not tell enough.

    Parameters
    ----------
    repository
        The repository that has them.
    head
        The commit of the target.
    refused
        A list that receives those that cannot be read, with the reason.
    """

    def __init__(self, repository: Repository, head: str, refused: list[Refused]) -> None:
        """Read nothing yet."""
        self._repository, self._head, self._refused = repository, head, refused

    def is_edited(self, candidate: Candidate) -> bool:
        """Return whether a worktree has uncommitted changes, or False if it cannot be read."""
        ignored: list[Refused] = []
        entries = read_worktrees(self._repository, self._head, [candidate], True, ignored)
        return any(entry.working and entry.working.changes for entry in entries)

    def read(self, candidates: Sequence[Candidate]) -> dict[str, tuple[ListedCandidate, Read]]:
        """Return the changes of candidates by id, without those that are refused."""
        entries = read_worktrees(self._repository, self._head, candidates, True, self._refused)
        read = read_changes(self._repository, entries, time.time, self._refused)
        changes = {entry.candidate.id: entry for entry in read}
        return {
            entry.candidate.id: (entry, changes[entry.candidate.id])
            for entry in entries
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
"""A file, the reason why it cannot be read, or None if it does not exist."""


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
        target_name = f"{self.head}:{self.path}"
        blobs = self._blobs(candidates, target_name)
        without_file = [base for base in self.homes if blobs[f"{base}:{self.path}"] is None]
        if without_file and blobs[target_name] is not None:
            for base in without_file:
                renames = renames_between(self.repository, base, self.head)
                old_paths = (old for old, new, _, _ in renames if new == self.path)
                self.homes[base] = next(old_paths, self.path)
            blobs = self._blobs(candidates, target_name)
        return [
            (
                blobs[f"{candidate.base}:{home}"],
                _working_file(Folder(candidate.folder, len(candidate.commit)), home)
                if candidate.folder
                else blobs[f"{candidate.commit}:{home}"],
            )
            for candidate in candidates
            for home in [self.homes[candidate.base]]
        ]

    def _blobs(self, candidates: Sequence[Candidate], target_name: str) -> dict[str, Content]:
        bases = [f"{base}:{home}" for base, home in self.homes.items()]
        tips = [f"{c.commit}:{self.homes[c.base]}" for c in candidates if not c.folder]
        names = list(dict.fromkeys((target_name, *bases, *tips)))
        return dict(zip(names, map(_content, self.repository.blobs(names)), strict=True))

    def _edited(self, candidate: Candidate, before: Content, after: Content) -> FileChange | None:
        """Return the edit of a file that exists before and after."""
        home = self.homes[candidate.base]
        if before is None or after is None:
            return None  # no file: if only one side is missing, the whole candidate is read
        if isinstance(after, SourceError):
            raise after
        if isinstance(before, SourceError):
            raise SourceError(f"what it started from: {before.reason}", hint=before.hint)
        converted = without_conversions(Sides({home: before}, {home: after}))
        if home not in converted.sides.new or before.text == after.text is not None:
            return None  # an editor shows texts, not their bytes
        return self._made(candidate, before, converted.sides.new[home], home)

    def _moved(
        self, candidate: Candidate, listed: ListedCandidate, read: Read
    ) -> FileChange | None:
        """Return the change of the file by a candidate that was read as a whole."""
        home, sides = self.homes[candidate.base], read.sides
        if reason := sides.refused.get(home, ""):
            raise SourceError(reason)
        asides = tuple(listed.working.asides) if listed.working else ()
        before, after = sides.old.get(home), sides.new.get(home)
        renames = renamed_files(sides.old, sides.new)
        if before is not None and after is not None:
            change = self._made(candidate, before, after, home)
        elif before is not None:
            moved = next((new for new, old in renames.items() if old == home), "")
            if not moved:
                return FileChange(before.data, None, "deleted", notes=(DELETES, *asides))
            change = self._made(candidate, before, sides.new[moved], moved)
            if moved != self.path:
                note = f"renamed to {visible(moved)}"
                change = replace(change, change="renamed", path=moved, notes=(note, *change.notes))
        elif after is not None:
            change = self._created(candidate, after, renames.get(home, ""), read)
        else:
            return None
        return replace(change, notes=(*change.notes, *asides))

    def _created(
        self,
        candidate: Candidate,
        after: Side,
        moved_from: str,
        read: Read,
    ) -> FileChange:
        """Return the file that a candidate created, or renamed to this path."""
        note = CREATES
        if moved_from:
            replayed = self.whole.replayed(read, self.path)
            if replayed is None:
                raise SourceError(LANDED)
            after, note = replayed, f"renamed from {visible(moved_from)}"
        change = self._made(candidate, None, after, self.path)
        return replace(change, change="created", path=moved_from, notes=(note, *change.notes))

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
    whole_candidates: WholeCandidates,
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
    yield from _Reader(repository, head, path, whole_candidates, refused).changes(candidates)


def _is_unclear(candidate: Candidate, before: Content, after: Content) -> bool:
    """Return whether one file does not suffice to tell a candidate's change."""
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


def _working_file(folder: Folder, path: str) -> Content:
    """Return a file of a worktree."""
    entry = folder.file(path)
    if entry is None:
        return None
    if entry.refused:
        return SourceError(entry.refused)
    if entry.mode == LINK:
        return SourceError("it is a symbolic link there")
    return Side(_MODE, entry.data or b"", entry.blob)
