"""A review by file and hunk as one document, which programs get and every view is made of."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import msgspec

from excise import Hunk
from excise_server.foundation.escape import spelled, visible
from excise_server.foundation.inputs import SourceError, first_few
from excise_server.report.documents import group_entry
from excise_server.report.families import family_entries
from excise_server.report.reasons import reason_entries
from excise_server.report.words import disagree
from excise_server.report.worktrees import STAND, CandidateRow, candidate_rows, relation_entries
from excise_server.review.candidate import review_digest
from excise_server.review.hunks import FileChange, ReviewedFile, hunk_name, lines_named
from excise_server.review.kinds import KINDS
from excise_server.wire import documents as d

if TYPE_CHECKING:
    from excise_server.candidates.worktrees import Review


def review_document(worktrees: Review) -> d.ReviewDocument:
    """Return every batch file by file and hunk by hunk, and the candidates left out."""
    candidates = worktrees.candidates
    return d.ReviewDocument.of(
        candidates,
        worktrees,
        basis="origin",
        repository=visible(worktrees.top),
        digest=review_digest(candidates.origin, candidates.found),
        batches=[
            _batch(worktrees, number, rows)
            for number, rows in enumerate(candidate_rows(worktrees), start=1)
        ],
        relations=relation_entries(worktrees.relations),
        other_batches=[list(batch.members) for batch in worktrees.other_batches],
        notes=[*candidates.notes, *worktrees.verdicts.notes],
        rejected=list(map(d.RejectedEntry.of, candidates.rejected)),
    )


def chosen_hunks(
    document: d.ReviewDocument, globs: Sequence[str], hunks: Sequence[str]
) -> d.ReviewDocument:
    """Return the document with only some of its files and hunks, and the same digests.

    Raises SourceError if the file or hunk does not exist.

    - ``hunks``: hunks as ``PATH#LINES``, or paths; none for all hunks.
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

    def shown(file: d.ReviewFileEntry) -> d.ReviewFileEntry | None:
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
    files: Sequence[d.ReviewFileEntry], name: str
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


def _paths(files: Sequence[d.ReviewFileEntry]) -> str:
    paths = list(dict.fromkeys(file.path for file in files))
    return f"there are {first_few(paths, 8)}" if paths else "no file is changed"


def _batch(worktrees: Review, number: int, rows: list[CandidateRow]) -> d.ReviewBatchEntry:
    ranked, reasons = worktrees.batches[number - 1], worktrees.reasons[number - 1]
    ids = [candidate.id for candidate in worktrees.candidates.found]
    stands = {row.entry.cluster: row.entry.label for row in rows if row.stands}
    group_of = {row.ranked.index: row.entry.cluster for row in rows}
    return d.ReviewBatchEntry(
        number=number,
        task=visible(ranked.batch.task) or None,
        disagree=disagree(ranked.ranking),
        digest=review_digest(worktrees.candidates.origin, [row.candidate for row in rows]),
        candidates=[
            d.ReviewCandidateEntry.of(
                row.entry,
                group=row.entry.cluster,
                says=row.says().replace(STAND, stands.get(row.entry.cluster, "")),
            )
            for row in rows
        ],
        families=family_entries(worktrees.families[number - 1], ids),
        groups=[
            d.ReviewGroupEntry.of(
                group_entry(cluster, ids),
                number=group_of[cluster.representative],
                reasons=reason_entries(of_group),
            )
            for cluster, of_group in zip(ranked.clusters, reasons, strict=True)
        ],
        files=sorted(
            map(_file, worktrees.files[number - 1]),
            key=lambda file: (KINDS.index(file.kind), file.path),
        ),
    )


def _file(file: ReviewedFile) -> d.ReviewFileEntry:
    path = spelled(file.path)
    return d.ReviewFileEntry(
        path=path,
        kind=file.kind,
        created=file.origin is None,
        binary=file.text is None,
        mode=file.origin.mode if file.origin is not None else None,
        text=file.text if any(change.status == "deleted" for change in file.changes) else None,
        changes=[_change(change) for change in file.changes],
        hunks=[_hunk(file, hunk) for hunk in file.hunks],
        slots=[_slot(file, slot) for slot in file.slots() if len(slot) > 1],
    )


def _change(change: FileChange) -> d.FileChangeEntry:
    side = change.new
    is_binary = side is not None and change.text is None
    return d.FileChangeEntry.of(
        change,
        path=spelled(change.path) if side is not None else None,
        mode=side.mode if side is not None else None,
        binary=hashlib.sha256(side.data).hexdigest() if side is not None and is_binary else None,
        facts=[visible(fact) for fact in change.pair.facts],
        conflict=change.conflict or None,
    )


def _slot(file: ReviewedFile, slot: tuple[int, ...]) -> d.SlotEntry:
    ids_by_texts: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for member, name in enumerate(file.ids):
        variants = [file.hunks[index].variants for index in slot]
        texts = tuple(next(n for n, v in enumerate(own) if member in v.members) for own in variants)
        if any(
            own[n].text != file.hunks[i].text
            for own, n, i in zip(variants, texts, slot, strict=True)
        ):
            ids_by_texts[texts].append(name)

    def named(indices: Iterable[int]) -> list[str]:
        return [hunk_name(file.hunks[index].lo, file.hunks[index].hi) for index in indices]

    return d.SlotEntry(
        hunks=named(slot),
        variants=[
            d.SlotVariantEntry(
                ids=ids,
                units=[
                    d.UnitEntry(hunks=named(unit.hunks), names=list(map(visible, unit.names)))
                    for unit in file.units(ids[0])
                    if not set(slot).isdisjoint(unit.hunks)
                ],
            )
            for ids in sorted(ids_by_texts.values(), key=len, reverse=True)
        ],
    )


def _hunk(file: ReviewedFile, hunk: Hunk) -> d.ReviewHunkEntry:
    return d.ReviewHunkEntry.of(
        hunk,
        name=hunk_name(hunk.lo, hunk.hi),
        origin=hunk.text,
        variants=[d.ReviewVariantEntry(ids=[*ids], text=text) for ids, text in file.variants(hunk)],
        unchanged=list(file.unchanged(hunk)),
    )
