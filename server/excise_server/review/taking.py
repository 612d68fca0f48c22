"""The chosen parts of candidates, put together into one change of the target. Pure.

A choice is a candidate, a file of it, or a hunk of a file. Choices of several candidates go
together where they do not overlap: no line of the target is changed by two of them, and nothing is
inserted by two at one place, unless both do the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import excise
from excise.reading import PARSER_SECONDS
from excise.text import raw_lines
from excise_server.foundation.changes import LINK, SUBMODULE, Side
from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import SourceError, first_few
from excise_server.review.candidate import Candidate
from excise_server.review.composing import (
    Fact,
    Lines,
    TakenPart,
    check_names,
    composed_file,
    visible,
)
from excise_server.review.git_patch import FileEdit
from excise_server.review.hunks import FileChange, ReviewedFile, hunk_name, review_files

__all__ = ["BROKEN", "CONFLICTS_HINT", "Choice", "Taken", "take"]

BROKEN = "the result has errors of syntax that the target does not have"
CONFLICTS_HINT = "take it all the same with --conflicts"


@dataclass(frozen=True, slots=True)
class Choice:
    """A part to take.

    Attributes
    ----------
    candidate
        The candidate's id.
    path
        A file, by its path in the target or in the candidate; empty for all files.
    lines
        A hunk, by the lines (from, to) of the target; None for the whole file with its name and
        mode.
    in_conflict
        Whether to take it even if the target changed the same lines.
    """

    candidate: str
    path: str = ""
    lines: tuple[int, int] | None = None
    in_conflict: bool = False


@dataclass(frozen=True, slots=True)
class Taken:
    """The result: its files, where each part comes from, and notes."""

    files: tuple[FileEdit, ...]
    parts: tuple[TakenPart, ...]
    notes: tuple[str, ...]


def take(batches: Iterable[Sequence[Candidate]], choices: Iterable[Choice]) -> Taken:
    """Compose the chosen parts into one change of the target.

    Parameters
    ----------
    batches
        The candidates of a review, those of one task together: hunks are named among them.
    choices
        In any order.

    Raises
    ------
    SourceError
        If a choice names nothing, two choices overlap, or one is in conflict with the target and
        not wanted so.
    """
    by_id = {candidate.id: list(batch) for batch in batches for candidate in batch}
    choices = list(choices)
    reviews = _Reviews(by_id, dict.fromkeys(choice.candidate for choice in choices))
    lines: dict[str, list[Lines]] = defaultdict(list)
    facts: dict[str, list[Fact]] = defaultdict(list)
    origins: dict[str, Side | None] = {}
    for choice in choices:
        for piece, file in _pieces(reviews, choice):
            origins[file.path] = file.origin
            if isinstance(piece, Lines):
                lines[file.path].append(piece)
            else:
                facts[file.path].append(piece)
    composed = [
        composed_file(path, origins[path], lines[path], facts[path]) for path in sorted(origins)
    ]
    files = tuple(file for file, _ in composed)
    check_names(files, {file.path: parts for file, parts in composed})
    notes = tuple(note for file in files if (note := _broken(file)))
    return Taken(
        tuple(file for file in files if file.is_edit),
        tuple(part for _, parts in composed for part in parts),
        notes,
    )


class _Reviews:
    """The files of candidates: each alone, among those of its task, and among those taken."""

    def __init__(self, by_id: Mapping[str, Sequence[Candidate]], chosen: Iterable[str]) -> None:
        self._by_id, self._taken = by_id, tuple(chosen)
        self._alone: dict[str, dict[str, ReviewedFile]] = {}
        self._together: dict[str, dict[str, ReviewedFile]] = {}

    def candidate(self, name: str) -> Candidate:
        for candidate in self._by_id.get(name, ()):
            if candidate.id == name:
                return candidate
        raise SourceError(f"no candidate has the id {visible(name)}")

    def alone(self, candidate: Candidate) -> dict[str, ReviewedFile]:
        if candidate.id not in self._alone:
            self._alone[candidate.id] = {file.path: file for file in review_files([candidate])}
        return self._alone[candidate.id]

    @cached_property
    def taken(self) -> dict[str, ReviewedFile]:
        return {file.path: file for file in review_files([*map(self.candidate, self._taken)])}

    def together(self, candidate: Candidate) -> dict[str, ReviewedFile]:
        if candidate.id not in self._together:
            batch = self._by_id[candidate.id]
            files = {file.path: file for file in review_files(batch)}
            self._together |= {member.id: files for member in batch}
        return self._together[candidate.id]


def _pieces(reviews: _Reviews, choice: Choice) -> Iterator[tuple[Lines | Fact, ReviewedFile]]:
    """Yield the parts of a choice, and the file of each."""
    candidate = reviews.candidate(choice.candidate)
    reviewed = reviews.alone(candidate)
    files = [file for file in reviewed.values() if not choice.path or _is_called(file, choice.path)]
    if not files and choice.path:
        paths = [visible(path) for path in reviewed]
        label = visible(candidate.label)
        hint = f"it changes {first_few(paths, 8)}"
        raise SourceError(f"{label} does not change {visible(choice.path)}", hint=hint)
    for file in files:
        pieces = list(_of_file(reviews, candidate, file, choice))
        if not choice.in_conflict:
            _check_conflicts(candidate, file, pieces)
        yield from ((piece, file) for piece in pieces)


def _is_called(file: ReviewedFile, path: str) -> bool:
    return path in (file.path, file.changes[0].path)


def _of_file(
    reviews: _Reviews, candidate: Candidate, file: ReviewedFile, choice: Choice
) -> Iterator[Lines | Fact]:
    change = file.changes[0]
    if choice.lines is not None and not (file.origin is None and choice.lines == (0, 0)):
        yield _hunk(reviews, candidate, file, choice.lines)
        return
    if _is_whole(change):
        result = None if change.new is None else (change.path, change.new.mode, change.new.data)
        yield Fact(candidate, file.path, "file", result, change)
        return
    # The hunks of all chosen candidates: edits that touch are two texts of one hunk, not a mix.
    for hunk in reviews.taken[file.path].hunks:
        for variant in hunk.variants:
            if candidate.id in variant.ids:
                yield Lines(candidate, file.path, hunk.lo, hunk.hi, variant.text)
    if change.path != file.path:
        yield Fact(candidate, file.path, "name", change.path, change)
    if change.old is not None and change.new is not None and change.old.mode != change.new.mode:
        yield Fact(candidate, file.path, "mode", change.new.mode, change)


def _is_whole(change: FileChange) -> bool:
    """Whether a change has no lines that could be taken apart."""
    sides = change.old, change.new
    if any(side is not None and side.mode == SUBMODULE for side in sides):
        path = visible(change.path)
        raise SourceError(f"{path} is a submodule", hint="move it with git itself")
    return any(side is None or side.text is None or side.mode == LINK for side in sides)


def _hunk(
    reviews: _Reviews, candidate: Candidate, file: ReviewedFile, lines: tuple[int, int]
) -> Lines:
    """Return the candidate's lines of a hunk: of the review, or of the candidate alone."""
    name, label = f"{visible(file.path)}#{hunk_name(*lines)}", visible(candidate.label)
    if _is_whole(file.changes[0]):
        status = file.changes[0].status
        hint = "take the whole file"
        raise SourceError(f"{visible(file.path)} has no hunks: {label} has it {status}", hint=hint)
    together = reviews.together(candidate).get(file.path)
    for reviewed in filter(None, (together, file)):
        for hunk in reviewed.hunks:
            if (hunk.lo, hunk.hi) != lines:
                continue
            for variant in hunk.variants:
                if candidate.id in variant.ids:
                    return Lines(candidate, file.path, *lines, variant.text)
            raise SourceError(f"{label} leaves {name} as it is")
    names = [f"#{hunk.name}" for hunk in file.hunks]
    raise SourceError(f"{label} has no hunk {name}", hint=f"it has {first_few(names, 12)}")


def _check_conflicts(
    candidate: Candidate, file: ReviewedFile, pieces: Iterable[Lines | Fact]
) -> None:
    """Refuse parts that the target changed as well, showing both texts."""
    change = file.changes[0]
    path = next((p for p in (change.path, file.path) if p in candidate.conflicts), None)
    if path is None:
        return
    hint = CONFLICTS_HINT
    spans = candidate.disputed.get(path)
    for piece in pieces:
        if spans is None:
            reason = f"{piece.name}: {candidate.conflicts[path]}"
            raise SourceError(reason, hint=hint)
        if not isinstance(piece, Lines):
            continue
        if any(_meets(piece.lo, piece.hi, *span) for span in spans):
            target = "".join(raw_lines(file.text or "")[piece.lo : piece.hi])
            texts = f"the target has {_shown(target)}, the candidate {_shown(piece.text)}"
            raise SourceError(f"{piece.name}: {candidate.conflicts[path]}: {texts}", hint=hint)


def _meets(lo: int, hi: int, start: int, stop: int) -> bool:
    """Whether two ranges share a line, or touch and one of them is a gap."""
    if lo == hi or start == stop:
        return lo <= stop and start <= hi
    return lo < stop and start < hi


def _shown(text: str) -> str:
    """Return a text as its first line and the number of others."""
    lines = raw_lines(text)
    if not lines:
        return "nothing"
    first = printable(lines[0].strip())[:60]
    return f"{first!a}" + (f" and {len(lines) - 1} more lines" if len(lines) > 1 else "")


def _broken(file: FileEdit) -> str:
    """Say whether the result breaks the syntax of a file whose own syntax is whole."""
    if file.new is None or file.new.mode == LINK or (text := file.new.text) is None:
        return ""
    origin = "" if file.old is None else file.old.text
    if origin is None or text == origin:
        return ""
    matrix = excise.ScoreMatrix.from_texts(
        origin, {"result": text}, path=file.path, timeout=PARSER_SECONDS
    )
    return f"{visible(file.path)}: {BROKEN}" if matrix.syntax_errors[0] else ""
