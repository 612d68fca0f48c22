"""The files of a review, hunk by hunk, with each candidate's variant of the origin's lines. Pure.

A file keeps the path that it has in the origin, also where a candidate renames it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import excise
from excise import Hunk, Variant
from excise.patches import FilePair
from excise.preparation import Readings
from excise.reading import PARSER_SECONDS
from excise_server.foundation.changes import LINK, SUBMODULE, Side, patch_files
from excise_server.review.candidate import Candidate

__all__ = [
    "FileChange",
    "ReviewedFile",
    "hunk_name",
    "lines_named",
    "review_files",
]

_NAME = re.compile(r"([0-9]{1,9})(?:(\+)|-([0-9]{1,9}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of a file by one candidate.

    Attributes
    ----------
    id : str
        The candidate's id.
    status : str
        ``created``, ``deleted``, ``renamed`` or ``modified``.
    old, new : Side or None
        The file in the origin and in the candidate; None if it does not exist there.
    path : str
        Its path in the candidate, or its old path if it is deleted.
    facts : tuple of str
        Changes other than text: a new name, a mode, binary data, an encoding, line ends, a
        submodule's commit, invisible characters.
    conflict : str
        What the target changed here as well, or empty.
    added, deleted : int
        The numbers of lines that it adds and deletes.
    beside : tuple of str
        The facts that neither lines nor mode tell.
    """

    id: str
    status: str
    old: Side | None
    new: Side | None
    path: str
    facts: tuple[str, ...] = ()
    conflict: str = ""
    added: int = 0
    deleted: int = 0
    beside: tuple[str, ...] = ()

    @property
    def has_lines(self) -> bool:
        """Whether it changes lines."""
        return self.added + self.deleted > 0

    @property
    def text(self) -> str | None:
        """The candidate's normalised text, or None for a deleted file and for binary data."""
        return self.new.text if self.new is not None else None


@dataclass(frozen=True, slots=True)
class ReviewedFile:
    """A file that some candidate touches.

    Attributes
    ----------
    path : str
        Its path in the origin, or where it is created.
    origin : Side or None
        The file in the origin, or None if it is created.
    changes : tuple of FileChange
        Its changes, in the order of the candidates.
    ids : tuple of str
        The candidates that have a text of it, in the review's order: not who deletes the file, or
        makes it binary.
    hunks : tuple of Hunk
        Where the texts differ from the origin's, in the order of its lines, with ``ids`` as
        members. A binary origin has no hunks.
    """

    path: str
    origin: Side | None
    changes: tuple[FileChange, ...]
    ids: tuple[str, ...] = ()
    hunks: tuple[Hunk, ...] = ()

    @property
    def text(self) -> str | None:
        """The origin's normalised text, empty for a created file, or None for binary data."""
        return "" if self.origin is None else self.origin.text

    def variants(self, hunk: Hunk) -> list[tuple[tuple[str, ...], str]]:
        """Return the texts of a hunk that differ from the origin's, each with its candidates."""
        return [(self._named(v), v.text) for v in hunk.variants if v.text != hunk.text]

    def unchanged(self, hunk: Hunk) -> tuple[str, ...]:
        """Return the candidates that leave the origin's lines of a hunk."""
        return next((self._named(v) for v in hunk.variants if v.text == hunk.text), ())

    def spans(self, name: str) -> Iterator[tuple[int, int, int, int]]:
        """Yield the hunks that a candidate changes: lines of the origin, and its own lines."""
        member = self.ids.index(name) if name in self.ids else -1
        for hunk in self.hunks:
            if any(member in v.members and v.text != hunk.text for v in hunk.variants):
                yield hunk.lo, hunk.hi, *hunk.spans[member]

    def _named(self, variant: Variant) -> tuple[str, ...]:
        return tuple(self.ids[member] for member in variant.members)


def review_files(
    candidates: Sequence[Candidate],
    cancel: excise.CancelFlag | None = None,
    readings: Readings | None = None,
) -> tuple[ReviewedFile, ...]:
    """Return every file that some of the candidates touch, by path.

    The hunks depend on the candidates: another set of them has other hunks.

    Parameters
    ----------
    candidates
        Changes of one origin. Every one has a text of each file, whatever it touches.
    readings
        Those of an `excise.ScoreMatrix` of them.

    Raises
    ------
    excise.errors.Cancelled
        If the flag is raised meanwhile.
    """
    changes: dict[str, list[FileChange]] = defaultdict(list)
    origins: dict[str, Side | None] = {}
    for candidate in candidates:
        for pair in patch_files(candidate.old, candidate.new):
            change = _change(candidate, pair)
            key = pair.old if pair.old is not None else pair.path
            changes[key].append(change)
            origins[key] = change.old
    ids = [candidate.id for candidate in candidates]
    hunks_of = partial(_hunks, origins=origins, ids=ids, cancel=cancel, readings=readings)
    return tuple(
        ReviewedFile(path, origins[path], tuple(file_changes), *hunks_of(path, file_changes))
        for path, file_changes in sorted(changes.items())
    )


def _change(candidate: Candidate, pair: FilePair) -> FileChange:
    status = "renamed" if pair.moved else "modified"
    if pair.old is None or pair.new is None:
        status = "created" if pair.old is None else "deleted"
    return FileChange(
        candidate.id,
        status,
        candidate.old[pair.old] if pair.old is not None else None,
        candidate.new[pair.new] if pair.new is not None else None,
        pair.path,
        pair.facts,
        candidate.conflicts.get(pair.path, ""),
        pair.added,
        pair.deleted,
        pair.beside,
    )


def _hunks(
    path: str,
    changes: Sequence[FileChange],
    *,
    origins: Mapping[str, Side | None],
    ids: Sequence[str],
    cancel: excise.CancelFlag | None,
    readings: Readings | None,
) -> tuple[tuple[str, ...], tuple[Hunk, ...]]:
    """Return who has a text, and the hunks of the texts, reading equal texts once."""
    origin = origins[path]
    text = "" if origin is None else origin.text
    texts = {c.id: revised for c in changes if (revised := c.text) is not None}
    apart = {c.id for c in changes} - texts.keys()
    staying = tuple(name for name in ids if name not in apart)
    distinct = list(dict.fromkeys(revised for revised in texts.values() if revised != text))
    if text is None or not distinct:
        return staying, ()
    sides = [side for change in changes for side in (change.old, change.new) if side is not None]
    special = any(side.mode in (LINK, SUBMODULE) for side in sides)
    matrix = excise.ScoreMatrix.from_texts(
        text, distinct, path=None if special else path, cancel=cancel, timeout=PARSER_SECONDS,
        readings=readings,
    )  # fmt: skip
    index_of = {revised: index for index, revised in enumerate(distinct)}
    members = [index_of.get(texts.get(name, text)) for name in staying]
    return staying, tuple(_of_all(hunk, members) for hunk in matrix.hunks(cancel=cancel))


def _of_all(hunk: Hunk, distinct: Sequence[int | None]) -> Hunk:
    """Return a hunk of distinct texts as one of candidates, of whom None has the origin's text."""
    text_of = {index: v.text for v in hunk.variants for index in v.members}
    members_by_text: dict[str, list[int]] = defaultdict(list)
    for member, index in enumerate(distinct):
        members_by_text[hunk.text if index is None else text_of[index]].append(member)
    variants = [Variant(tuple(members), text) for text, members in members_by_text.items()]
    variants.sort(key=lambda variant: -len(variant.members))
    own = (hunk.lo, hunk.hi)
    spans = tuple(own if index is None else hunk.spans[index] for index in distinct)
    return replace(hunk, variants=tuple(variants), spans=spans)


def hunk_name(lo: int, hi: int) -> str:
    """Name lines of the origin as people count them: from 1, the last one included.

    A gap is named by the line before it.
    """
    if lo == hi:
        return f"{lo}+"
    return f"{lo + 1}-{hi}" if hi > lo + 1 else str(hi)


def lines_named(name: str) -> tuple[int, int] | None:
    """Return the lines (from, to, exclusive, from 0) in a name of a hunk, or None without any."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    first, gap, last = int(match[1]), match[2], match[3]
    if gap:
        return first, first
    stop = int(last) if last else first
    return (first - 1, stop) if 0 < first <= stop else None
