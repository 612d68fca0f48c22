"""A review by file and hunk as one document, which programs get and every view is made of."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import msgspec

from excise import Hunk
from excise_server.foundation.escape import spelled, visible
from excise_server.foundation.inputs import SourceError, first_few
from excise_server.report.documents import Document, ReasonEntry, RejectedEntry, Shape, group_entry
from excise_server.report.reasons import reason_entries
from excise_server.report.words import disagree
from excise_server.report.worktrees import STAND, CandidateRow, candidate_rows
from excise_server.review.candidate import review_digest
from excise_server.review.hunks import (
    FileChange,
    ReviewedFile,
    hunk_name,
    lines_named,
)
from excise_server.review.kinds import KINDS, kind_of

if TYPE_CHECKING:
    from excise_server.candidates.worktrees import Review

__all__ = ["FileChangeEntry", "ReviewBatchEntry", "ReviewCandidateEntry", "ReviewDocument"]
__all__ += ["ReviewFileEntry", "ReviewGroupEntry", "ReviewHunkEntry", "chosen_hunks"]
__all__ += ["review_document"]


class ReviewVariantEntry(Shape, frozen=True, kw_only=True):
    """One text of a hunk other than the origin's, and its candidates."""

    ids: list[str]
    text: str


class ReviewHunkEntry(Shape, frozen=True, kw_only=True):
    """Lines ``lo`` to ``hi`` (from 0, exclusive) of the origin, and what candidates have instead.

    ``name`` counts the same lines from 1. ``unchanged`` are the candidates that keep the lines.
    """

    name: str
    lo: int
    hi: int
    origin: str
    variants: list[ReviewVariantEntry]
    unchanged: list[str]


class FileChangeEntry(Shape, frozen=True, kw_only=True):
    """The change of one file by a candidate (``binary``: the SHA-256 of data that is not text)."""

    id: str
    status: str
    path: str | None
    mode: str | None
    binary: str | None
    facts: list[str]
    conflict: str | None


class ReviewFileEntry(Shape, frozen=True, kw_only=True):
    """A file that some candidate of a batch touches, under its path in the origin.

    ``text`` is the origin's, where somebody deletes the file.
    """

    path: str
    kind: str
    created: bool
    binary: bool
    mode: str | None
    text: str | None
    changes: list[FileChangeEntry]
    hunks: list[ReviewHunkEntry]


class ReviewGroupEntry(Shape, frozen=True, kw_only=True):
    """Candidates of a batch that make similar edits."""

    number: int
    members: list[str]
    representative: str
    min_similarity: float
    reasons: list[ReasonEntry]


class ReviewCandidateEntry(Shape, frozen=True, kw_only=True):
    """A candidate, in the order of the tables."""

    id: str
    label: str
    tool: str | None
    branch: str | None
    behind: int
    group: int
    rank: int | None
    why: list[str]
    says: str
    digest: str
    being_written: bool
    notes: list[str]


class ReviewBatchEntry(Shape, frozen=True, kw_only=True):
    """Candidates of one task and their changes of the origin, file by file."""

    number: int
    task: str | None
    disagree: bool
    digest: str
    candidates: list[ReviewCandidateEntry]
    groups: list[ReviewGroupEntry]
    files: list[ReviewFileEntry]


class ReviewDocument(Document, frozen=True, kw_only=True):
    """The output of ``review --format json``."""

    basis: str
    intent: str
    repository: str
    origin: str
    digest: str
    batches: list[ReviewBatchEntry]
    other_batches: list[list[str]]
    unchanged: list[str]
    landed: list[str]
    notes: list[str]
    rejected: list[RejectedEntry]


def review_document(worktrees: Review) -> ReviewDocument:
    """Return every batch file by file and hunk by hunk, and the candidates left out."""
    candidates = worktrees.candidates
    return ReviewDocument.of(
        candidates,
        worktrees,
        basis="origin",
        repository=visible(worktrees.top),
        digest=review_digest(candidates.origin, candidates.found),
        batches=[
            _batch(worktrees, number, rows)
            for number, rows in enumerate(candidate_rows(worktrees), start=1)
        ],
        other_batches=[list(batch.members) for batch in worktrees.other_batches],
        rejected=list(map(RejectedEntry.of, candidates.rejected)),
    )


def chosen_hunks(
    document: ReviewDocument, globs: Sequence[str], hunks: Sequence[str]
) -> ReviewDocument:
    """Return the document with only some of its files and hunks, and the same digests.

    Parameters
    ----------
    globs
        Patterns of paths; none for all files.
    hunks
        Hunks as ``PATH#LINES``, or paths; none for all hunks.

    Raises
    ------
    SourceError
        If there is no such file or hunk.
    """
    globs, hunks = [*map(_typed, globs)], [*map(_typed, hunks)]
    files = [file for batch in document.batches for file in batch.files]
    named: dict[str, set[tuple[int, int]] | None] = {}
    for name in hunks:
        path, lines = _file_and_lines(files, name)
        before = named.get(path, set())
        named[path] = None if lines is None or before is None else before | {lines}
    for glob in globs:
        if not any(fnmatchcase(file.path, glob) for file in files):
            raise SourceError(f"no changed file is called {visible(glob)}", hint=_paths(files))

    def shown(file: ReviewFileEntry) -> ReviewFileEntry | None:
        if globs and not any(fnmatchcase(file.path, glob) for glob in globs):
            return None
        if not named:
            return file
        lines = named.get(file.path, set())
        if lines is None:
            return file
        remaining = [hunk for hunk in file.hunks if (hunk.lo, hunk.hi) in lines]
        return msgspec.structs.replace(file, hunks=remaining) if remaining else None

    batches = [
        msgspec.structs.replace(batch, files=[s for file in batch.files if (s := shown(file))])
        for batch in document.batches
    ]
    remaining = [batch for batch in batches if batch.files or not (named or globs)]
    if batches and not remaining:
        raise SourceError("no hunk is left", hint="--path and --hunk choose different files")
    return msgspec.structs.replace(document, batches=remaining)


def _typed(name: str) -> str:
    """Return what was typed as the document spells it: with its bytes, or as it is shown."""
    return name if name == visible(name) else spelled(name)


def _file_and_lines(
    files: Sequence[ReviewFileEntry], name: str
) -> tuple[str, tuple[int, int] | None]:
    """Return the file and lines of a name. A path may contain a number sign itself."""
    if any(file.path == name for file in files):
        return name, None
    path, _, lines = name.rpartition("#")
    of_path = [file for file in files if file.path == path]
    if not of_path:
        raise SourceError(f"no changed file is called {visible(path or name)}", hint=_paths(files))
    chosen = lines_named(lines)
    hunks = [hunk for file in of_path for hunk in file.hunks]
    if chosen is None or chosen not in {(hunk.lo, hunk.hi) for hunk in hunks}:
        hint = f"there are {first_few([f'#{hunk.name}' for hunk in hunks], 12)}"
        raise SourceError(f"{visible(path)} has no hunk {visible(lines)}", hint=hint)
    return path, chosen


def _paths(files: Sequence[ReviewFileEntry]) -> str:
    paths = list(dict.fromkeys(file.path for file in files))
    return f"there are {first_few(paths, 8)}" if paths else "no file is changed"


def _batch(worktrees: Review, number: int, rows: list[CandidateRow]) -> ReviewBatchEntry:
    ranked, reasons = worktrees.batches[number - 1], worktrees.reasons[number - 1]
    ids = [candidate.id for candidate in worktrees.candidates.found]
    stands = {row.entry.cluster: row.entry.label for row in rows if row.stands}
    group_of = {row.ranked.index: row.entry.cluster for row in rows}
    return ReviewBatchEntry(
        number=number,
        task=visible(ranked.batch.task) or None,
        disagree=disagree(ranked.ranking),
        digest=review_digest(worktrees.candidates.origin, [row.candidate for row in rows]),
        candidates=[
            ReviewCandidateEntry.of(
                row.entry,
                group=row.entry.cluster,
                says=row.says().replace(STAND, stands.get(row.entry.cluster, "")),
            )
            for row in rows
        ],
        groups=[
            ReviewGroupEntry.of(
                group_entry(cluster, ids),
                number=group_of[cluster.representative],
                reasons=reason_entries(of_group),
            )
            for cluster, of_group in zip(ranked.clusters, reasons, strict=True)
        ],
        files=sorted(
            map(_file, worktrees.files[number - 1]),
            key=lambda file: (KINDS.index(kind_of(file.path)), file.path),
        ),
    )


def _file(file: ReviewedFile) -> ReviewFileEntry:
    path = spelled(file.path)
    return ReviewFileEntry(
        path=path,
        kind=kind_of(path),
        created=file.origin is None,
        binary=file.text is None,
        mode=file.origin.mode if file.origin is not None else None,
        text=file.text if any(change.status == "deleted" for change in file.changes) else None,
        changes=[_change(change) for change in file.changes],
        hunks=[_hunk(file, hunk) for hunk in file.hunks],
    )


def _change(change: FileChange) -> FileChangeEntry:
    side = change.new
    is_binary = side is not None and change.text is None
    return FileChangeEntry.of(
        change,
        path=spelled(change.path) if side is not None else None,
        mode=side.mode if side is not None else None,
        binary=hashlib.sha256(side.data).hexdigest() if side is not None and is_binary else None,
        facts=[visible(fact) for fact in change.facts],
        conflict=change.conflict or None,
    )


def _hunk(file: ReviewedFile, hunk: Hunk) -> ReviewHunkEntry:
    return ReviewHunkEntry.of(
        hunk,
        name=hunk_name(hunk.lo, hunk.hi),
        origin=hunk.text,
        variants=[ReviewVariantEntry(ids=[*ids], text=text) for ids, text in file.variants(hunk)],
        unchanged=list(file.unchanged(hunk)),
    )
