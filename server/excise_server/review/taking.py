"""The chosen parts of candidates, put together into one change of the target. Pure.

A choice is a candidate, a file of it, or a hunk of a file, by the names that a review shows.
Choices of several candidates go together where they do not overlap: no line of the target is
changed by two of them, and nothing is inserted by two at one place, unless both do the same.

On a command line, a candidate is followed by the parts to take of it: ``A a.py#3-8 B b.py``. An
argument that names a candidate begins the next choice. If the candidate before it also changes a
file of that name, the argument is ambiguous and refused: write ``./NAME`` for the file, or the id
of the candidate.
"""

from __future__ import annotations

import re
import shlex
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import msgspec

from excise.text import byte_lines, raw_lines
from excise_server.foundation.changes import LINK, SUBMODULE, Side
from excise_server.foundation.escape import path_spelled, printable
from excise_server.foundation.file_bytes import ByteLines, text_of_bytes
from excise_server.foundation.inputs import SourceError, first_few
from excise_server.review.candidate import Candidate, candidates_called
from excise_server.review.composing import (
    Fact,
    Lines,
    TakenPart,
    check_names,
    composed_file,
    shown_name,
)
from excise_server.review.git_patch import FileEdit
from excise_server.review.hunks import (
    FileChange,
    ReviewedFile,
    hunk_name,
    lines_named,
    review_files,
)
from excise_server.review.merged_bytes import Conversion, conversion
from excise_server.review.mixes import BrokenMixError, Finding, Mix, Piece, mending

__all__ = [
    "CONFLICTS_HINT",
    "Choice",
    "Plan",
    "PlannedChoice",
    "Taken",
    "choices_named",
    "choices_planned",
    "take",
]

CONFLICTS_HINT = "take it all the same with --conflicts"
_PLAIN = re.compile(r"[\w@%+=:,./][\w@%+=:,./#-]*", re.ASCII)


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


def take(
    batches: Iterable[Sequence[Candidate]], choices: Iterable[Choice], *, anyway: bool = False
) -> Taken:
    """Compose the chosen parts into one change of the target.

    Parameters
    ----------
    batches
        The candidates of a review, those of one task together: hunks are named among them.
    choices
        In any order.
    anyway
        Whether a mix that cannot work is taken, and what is wrong with it becomes a note.

    Raises
    ------
    SourceError
        If a choice names nothing, two choices overlap, or one is in conflict with the target and
        not wanted so.
    BrokenMixError
        If the parts, put together, lack a name or do not parse, although neither the origin nor any
        whole candidate is broken so.
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
    return Taken(
        tuple(file for file in files if file.is_edit),
        tuple(part for _, parts in composed for part in parts),
        _checked(reviews, choices, files, lines, facts, anyway=anyway),
    )


class _Hunks(NamedTuple):
    """A candidate's part of the hunks of a file.

    Attributes
    ----------
    by_lines
        None if it leaves the hunk as it is.
    back
        What undoes the conversion of the whole file; None if no lines of it can be taken.
    """

    by_lines: dict[tuple[int, int], Lines | None]
    back: Conversion | None


class _Reviews:
    """The files of candidates: each alone, among those of its task, and among those taken."""

    def __init__(self, by_id: Mapping[str, Sequence[Candidate]], chosen: Iterable[str]) -> None:
        self._by_id, self._taken = by_id, tuple(chosen)
        self._alone: dict[str, dict[str, ReviewedFile]] = {}
        self._together: dict[str, dict[str, ReviewedFile]] = {}
        self._hunks: dict[tuple[str, str], tuple[_Hunks, ...]] = {}

    def candidate(self, name: str) -> Candidate:
        for candidate in self._by_id.get(name, ()):
            if candidate.id == name:
                return candidate
        raise SourceError(f"no candidate has the id {shown_name(name)}")

    def alone(self, candidate: Candidate) -> dict[str, ReviewedFile]:
        if candidate.id not in self._alone:
            self._alone[candidate.id] = {file.path: file for file in review_files([candidate])}
        return self._alone[candidate.id]

    @cached_property
    def taken(self) -> dict[str, ReviewedFile]:
        if len(self._taken) == 1:
            return self.alone(self.candidate(self._taken[0]))
        return {file.path: file for file in review_files([*map(self.candidate, self._taken)])}

    def together(self, candidate: Candidate) -> dict[str, ReviewedFile]:
        if candidate.id not in self._together:
            batch = self._by_id[candidate.id]
            if len(batch) == 1:
                return self.alone(candidate)
            files = {file.path: file for file in review_files(batch)}
            self._together |= {member.id: files for member in batch}
        return self._together[candidate.id]

    def hunks(self, candidate: Candidate, file: ReviewedFile) -> tuple[_Hunks, ...]:
        """Return the hunks by which a file can be taken: of its task, then of itself."""
        key = candidate.id, file.path
        if key not in self._hunks:
            reviewed = self.together(candidate).get(file.path), file
            self._hunks[key] = tuple(_hunks(candidate, known) for known in reviewed if known)
        return self._hunks[key]


def _pieces(reviews: _Reviews, choice: Choice) -> Iterator[tuple[Lines | Fact, ReviewedFile]]:
    """Yield the parts of a choice, and the file of each."""
    candidate = reviews.candidate(choice.candidate)
    reviewed = reviews.alone(candidate)
    if choice.path and choice.path in reviewed:
        files = [reviewed[choice.path]]
    else:
        files = [f for f in reviewed.values() if choice.path in ("", f.changes[0].path)]
    if not files and choice.path:
        paths = [shown_name(path) for path in reviewed]
        label = shown_name(candidate.label)
        hint = f"it changes {first_few(paths, 8)}"
        raise SourceError(f"{label} does not change {shown_name(choice.path)}", hint=hint)
    for file in files:
        pieces = list(_of_file(reviews, candidate, file, choice))
        if not choice.in_conflict:
            _check_conflicts(candidate, file, pieces)
        yield from ((piece, file) for piece in pieces)


def _of_file(
    reviews: _Reviews, candidate: Candidate, file: ReviewedFile, choice: Choice
) -> Iterator[Lines | Fact]:
    change = file.changes[0]
    if choice.lines is not None and not (file.origin is None and choice.lines == (0, 0)):
        yield _hunk(reviews, candidate, file, choice.lines)
        return
    old, new = _lines(change)
    if old is None or new is None or change.old is None or change.new is None:
        result = None if change.new is None else (change.path, change.new.mode, change.new.data)
        yield Fact(candidate, file.path, "file", result, change)
        return
    # The hunks of all chosen candidates: edits that touch are two texts of one hunk, not a mix.
    yield from _all_lines(candidate, reviews.taken[file.path], old, new)
    if change.path != file.path:
        yield Fact(candidate, file.path, "name", change.path, change)
    if change.old.mode != change.new.mode:
        yield Fact(candidate, file.path, "mode", change.new.mode, change)
    if old.mark != new.mark:
        yield Fact(candidate, file.path, "mark", new.mark, change)


def _lines(change: FileChange) -> tuple[ByteLines | None, ByteLines | None]:
    """Return the lines before and after that can be taken apart, where there are any."""
    if change.old is None or change.new is None:
        return None, None
    return change.old.lines, change.new.lines


def _all_lines(
    candidate: Candidate, file: ReviewedFile, old: ByteLines, new: ByteLines
) -> Iterator[Lines]:
    """Yield everything that a candidate does to the lines of a file, byte for byte."""
    line = shift = 0
    for lo, hi, start, stop in (*file.spans(candidate.id), (len(old.lines), -1, -1, -1)):
        for first, last in _differing(old.lines[line:lo], new.lines[line + shift : lo + shift]):
            data = b"".join(new.lines[line + shift + first : line + shift + last])
            yield Lines(candidate, file.path, line + first, line + last, data, True, False)
        if hi >= 0:
            yield Lines(candidate, file.path, lo, hi, b"".join(new.lines[start:stop]), True)
        line, shift = hi, stop - hi


def _differing(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Yield the runs of lines, of as many in both, that are other bytes."""
    if old == new:
        return
    first = None
    for line, (before, after) in enumerate(zip(old, new, strict=True)):
        if before == after and first is not None:
            yield first, line
            first = None
        elif before != after and first is None:
            first = line
    if first is not None:
        yield first, len(old)


def _hunks(candidate: Candidate, file: ReviewedFile) -> _Hunks:
    """Return a candidate's part of each hunk, in its own bytes."""
    change = next(change for change in file.changes if change.id == candidate.id)
    old, new = _lines(change)
    if old is None or new is None:
        return _Hunks({}, None)
    parts: dict[tuple[int, int], Lines | None] = {(hunk.lo, hunk.hi): None for hunk in file.hunks}
    for lo, hi, start, stop in file.spans(candidate.id):
        data = b"".join(new.lines[start:stop])
        parts[lo, hi] = Lines(candidate, file.path, lo, hi, data)
    return _Hunks(parts, conversion(new, old))


def _hunk(
    reviews: _Reviews, candidate: Candidate, file: ReviewedFile, lines: tuple[int, int]
) -> Lines:
    """Return the candidate's lines of a hunk: of the review, or of the candidate alone.

    What it converts in the whole file is no part of a hunk.
    """
    name, label = f"{shown_name(file.path)}#{hunk_name(*lines)}", shown_name(candidate.label)
    for hunks in reviews.hunks(candidate, file):
        if hunks.back is None:
            change = file.changes[0]
            reason = f"{shown_name(file.path)} has no hunks: {label} has it {change.status}"
            if change.status == "modified" and change.text is not None and file.text is not None:
                reason = f"{name} of {label}: this encoding cannot be taken line by line"
            raise SourceError(reason, hint="take the whole file")
        if lines in hunks.by_lines:
            if (chosen := hunks.by_lines[lines]) is None:
                raise SourceError(f"{label} leaves {name} as it is")
            if not any(hunks.back):
                return chosen
            try:
                data = b"".join(hunks.back.lines(byte_lines(chosen.data)))
            except SourceError as error:
                reason = f"{chosen.name}: {error.reason}"
                raise SourceError(reason, hint="take the whole file") from error
            return replace(chosen, data=data)
    names = [f"#{hunk_name(hunk.lo, hunk.hi)}" for hunk in file.hunks]
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
        if _meets_any(piece.lo, piece.hi, spans):
            target = "".join(raw_lines(file.text or "")[piece.lo : piece.hi])
            wanted = text_of_bytes(piece.data) or ""
            texts = f"the target has {_shown(target)}, the candidate {_shown(wanted)}"
            raise SourceError(f"{piece.name}: {candidate.conflicts[path]}: {texts}", hint=hint)


def _meets_any(lo: int, hi: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether some of the separate ranges, in their order, meets another range."""
    index = bisect_left(spans, lo, key=lambda span: span[1])
    while index < len(spans) and spans[index][0] <= hi:
        if _meets(lo, hi, *spans[index]):
            return True
        index += 1
    return False


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


def _checked(
    reviews: _Reviews,
    choices: Sequence[Choice],
    files: Iterable[FileEdit],
    lines: Mapping[str, Sequence[Lines]],
    facts: Mapping[str, Sequence[Fact]],
    *,
    anyway: bool,
) -> tuple[str, ...]:
    """Check the files that change, and return what to say of them."""
    broken: list[Finding] = []
    missing: list[Choice] | None = []
    notes: list[str] = []
    said: dict[str, list[str]] = defaultdict(list)
    for file in files:
        path, old, new = file.old_path, file.old, file.new
        text = None if new is None or new.mode in (LINK, SUBMODULE) else new.text
        before = [] if old is None or old.text is None else [old.text]
        if text is None or text in before:
            continue
        owners = dict.fromkeys(piece.owner.id for piece in lines[path])
        owners |= dict.fromkeys(fact.owner.id for fact in facts[path])
        mix = Mix(shown_name(file.path), before, partial(_wholes, reviews, owners, path))
        check = mix.check(text)
        notes += [f"{finding}, as in a candidate" for finding in check.inherited]
        if anyway:
            notes += map(str, check.broken)
        elif check.broken:
            broken += check.broken
            compose = partial(_with_more, reviews, path, old, lines[path], facts[path])
            more = mending(mix, check, _others(reviews, owners, path), compose)
            if missing is not None and more is not None:
                missing += [Choice(p.candidate, path, (p.lo, p.hi)) for p in more]
            else:
                missing = None
        elif not check.inherited and not any(
            text == reviews.alone(reviews.candidate(owner))[path].changes[0].text
            for owner in owners
        ):
            said[check.said].append(shown_name(file.path))
    if broken:
        raise _broken(reviews, choices, broken, missing)
    return (*notes, *(f"{first_few(paths, 8)}: {words}" for words, paths in said.items()))


def _wholes(reviews: _Reviews, owners: Iterable[str], path: str) -> Iterator[str]:
    """Yield what each candidate of the owners' reviews makes of a file."""
    for owner in owners:
        file = reviews.together(reviews.candidate(owner))[path]
        yield from filter(None, (change.text for change in file.changes))


def _others(reviews: _Reviews, owners: Collection[str], path: str) -> list[Piece]:
    """Return the hunks of a file that its reviews have, those of the owners first."""
    pieces = set()
    for owner in owners:
        file = reviews.together(reviews.candidate(owner))[path]
        for hunk in file.hunks:
            for ids, text in file.variants(hunk):
                name = next((name for name in ids if name in owners), ids[0])
                pieces.add(Piece(name, hunk.lo, hunk.hi, text))
    return sorted(pieces, key=lambda p: (p.candidate not in owners, p.lo, p.hi, p.candidate))


def _with_more(
    reviews: _Reviews,
    path: str,
    origin: Side | None,
    lines: Sequence[Lines],
    facts: Sequence[Fact],
    more: Sequence[Piece],
) -> str | None:
    """Return a file with more hunks, or None if they overlap with what is taken."""
    added = []
    try:
        for piece in more:
            candidate = reviews.candidate(piece.candidate)
            file = reviews.alone(candidate)[path]
            added.append(_hunk(reviews, candidate, file, (piece.lo, piece.hi)))
        file_edit, _ = composed_file(path, origin, [*lines, *added], facts)
    except SourceError:
        return None
    return None if file_edit.new is None else file_edit.new.text


def _broken(
    reviews: _Reviews,
    choices: Sequence[Choice],
    findings: Sequence[Finding],
    missing: Sequence[Choice] | None,
) -> BrokenMixError:
    """Return the error, with the command that takes the missing hunks as well."""
    if not missing:
        return BrokenMixError(findings)
    label = {
        c.candidate: shown_name(reviews.candidate(c.candidate).label) for c in (*choices, *missing)
    }
    names = [f"{_argument(choice)} of {label[choice.candidate]}" for choice in missing]
    command = ["excise", "take"]
    for name, shown in label.items():
        own = [_argument(c) for c in (*choices, *missing) if c.candidate == name and c.path]
        command += [shown, *own]
    if any(choice.in_conflict for choice in choices):
        command.append("--conflicts")
    # A number sign within a word begins no comment.
    words = [word if _PLAIN.fullmatch(word) else shlex.quote(word) for word in command]
    return BrokenMixError(findings, first_few(names, 8), " ".join(words))


def _argument(choice: Choice) -> str:
    hunk = "" if choice.lines is None else f"#{hunk_name(*choice.lines)}"
    return f"{shown_name(choice.path)}{hunk}"


class PlannedChoice(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A choice of a program: a candidate by its id, maybe a file, maybe a hunk as it is named."""

    candidate: str
    path: str = ""
    hunk: str = ""
    conflicts: bool = False


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The choices of a program from the review with this digest."""

    digest: str
    choices: list[PlannedChoice]
    anyway: bool = False


def choices_named(
    arguments: Sequence[str], candidates: Sequence[Candidate], *, in_conflict: bool = False
) -> list[Choice]:
    """Return the choices of a command line.

    Raises
    ------
    SourceError
        If an argument names nothing, or more than one thing.
    """
    choices: list[Choice] = []
    current: Candidate | None = None
    for argument in arguments:
        if current is None:
            current = _candidate(argument, candidates)
            choices.append(Choice(current.id, in_conflict=in_conflict))
            continue
        chosen = _part(argument, current)
        meant = candidates_called(argument, candidates)
        if chosen is not None and meant and argument != meant[0].id:
            name = shown_name(argument)
            hint = f"write ./{name} for the file, {meant[0].id} for the candidate"
            raise SourceError(f"{name} is a file and a candidate", hint=hint)
        if meant and (chosen is None or argument == meant[0].id):
            current = _candidate(argument, candidates)
            choices.append(Choice(current.id, in_conflict=in_conflict))
            continue
        if chosen is None:
            raise _nothing(argument, current, candidates)
        if choices[-1].candidate == current.id and not choices[-1].path:
            choices.pop()  # the arguments after it name its files
        choices.append(replace(chosen, in_conflict=in_conflict))
    return choices


def choices_planned(plan: Plan, candidates: Sequence[Candidate]) -> list[Choice]:
    """Return the choices of a plan, whose digest was compared.

    Raises
    ------
    SourceError
        If a choice names nothing.
    """
    choices = []
    for choice in plan.choices:
        candidate = _candidate(choice.candidate, candidates)
        lines = lines_named(choice.hunk) if choice.hunk else None
        if choice.hunk and (lines is None or not choice.path):
            name = shown_name(f"{choice.path}#{choice.hunk}")
            raise SourceError(f"{name} does not name a hunk", hint="give path, and hunk as in 3-8")
        path = choice.path and _path(choice.path, candidate)
        choices.append(Choice(candidate.id, path, lines, choice.conflicts))
    return choices


def _path(name: str, candidate: Candidate) -> str:
    """Return the path that documents spell so, or else the name itself."""
    path = path_spelled(name)
    return path if path in candidate.old.keys() | candidate.new.keys() else name


def _candidate(name: str, candidates: Sequence[Candidate]) -> Candidate:
    meant = candidates_called(name, candidates)
    if len(meant) == 1:
        return meant[0]
    if meant:
        hint = f"name one by its id: {first_few([shown_name(c.id) for c in meant])}"
        raise SourceError(f"{shown_name(name)} names {len(meant)} candidates", hint=hint)
    labels = first_few([shown_name(c.label) for c in candidates], 8)
    hint = f"there are {labels}" if labels else "no candidate changes anything"
    raise SourceError(f"no candidate is called {shown_name(name)}", hint=hint)


def _part(argument: str, candidate: Candidate) -> Choice | None:
    """Return the file or hunk that an argument names, if any. A path may contain a #."""
    paths = candidate.old.keys() | candidate.new.keys()
    name = argument.removeprefix("./")
    path = _path(name, candidate)
    if path in paths:
        return Choice(candidate.id, path)
    name, number_sign, numbers = name.rpartition("#")
    path, lines = _path(name, candidate), lines_named(numbers)
    if number_sign and lines is not None and path in paths:
        return Choice(candidate.id, path, lines)
    return None


def _nothing(argument: str, current: Candidate, candidates: Sequence[Candidate]) -> SourceError:
    paths = sorted(current.old.keys() | current.new.keys())
    label = shown_name(current.label)
    changes = first_few([shown_name(path) for path in paths], 8)
    others = first_few([shown_name(c.label) for c in candidates if c.id != current.id], 8)
    hint = f"{label} changes {changes}" + (f"; other candidates are {others}" if others else "")
    reason = f"{shown_name(argument)} is neither a file of {label} nor a candidate"
    return SourceError(reason, hint=hint)
