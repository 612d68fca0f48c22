"""The chosen parts of candidates, put together into one change of the target. Pure.

A choice is a candidate, a file of it, or a hunk of a file, by the names that a review shows.
Choices of several candidates go together where they do not overlap: no line of the target is
changed by two of them, and nothing is inserted by two at one place, unless both do the same.

A hunk is taken with those that belong with it (`excise.units`), unless only what was named is
wanted: then the check alone says what is missing.

On a command line, a candidate is followed by the parts to take of it: ``A a.py#3-8 B b.py``. An
argument that names a candidate begins the next choice. If the candidate before it also changes a
file of that name, the argument is ambiguous and refused: write ``./NAME`` for the file, or the id
of the candidate.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import msgspec

from excise.patches.blocks import Span
from excise.text import byte_lines, raw_lines
from excise_server.foundation.changes import LINK, SUBMODULE, Side, differing_lines
from excise_server.foundation.escape import path_spelled, printable, shown_name
from excise_server.foundation.file_bytes import ByteLines, text_of_bytes
from excise_server.foundation.inputs import SourceError, first_few
from excise_server.review.candidate import (
    Candidate,
    candidate_called,
    candidates_called,
)
from excise_server.review.composing import (
    Fact,
    NewLines,
    TakenPart,
    check_names,
    composed_file,
    disjoint,
)
from excise_server.review.git_patch import FileEdit
from excise_server.review.hunks import (
    FileChange,
    ReviewedFile,
    hunk_name,
    lines_named,
    review_files,
)
from excise_server.review.imports import PythonFiles
from excise_server.review.merged_bytes import Conversion, conversion
from excise_server.review.mixes import BrokenMixError, Finding, Mix, edit_of_line

CONFLICTS_HINT = "--conflicts writes git's conflict markers"


@dataclass(frozen=True, slots=True)
class Choice:
    """A part to take.

    - ``candidate``: the candidate's id.
    - ``path``: a file, by its path in the target or in the candidate; empty for all files.
    - ``lines``: a hunk, by the lines (from, to) of the target; None for the whole file with its
      name and mode.
    - ``in_conflict``: whether a file in which the target changed the same lines is taken as git
      writes it, with markers.
    """

    candidate: str
    path: str = ""
    lines: tuple[int, int] | None = None
    in_conflict: bool = False


@dataclass(frozen=True, slots=True)
class TakenUnit:
    """Hunks of a candidate's file (by their lines) that belong together, some of which were chosen.

    - ``chosen``: those that were chosen.
    - ``names``: what they share.
    - ``is_whole``: whether all of them are taken.
    """

    candidate: str
    path: str
    hunks: tuple[tuple[int, int], ...]
    chosen: tuple[tuple[int, int], ...]
    names: tuple[str, ...]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Taken:
    """The result: its files, where each part comes from, the units of chosen hunks, and notes.

    - ``steps``: for each candidate in the order of the choices, the files of the target that it
      changes, by path: as they are with it and with those before it.
    - ``beyond_git``: by path in the target, the lines (from, to) of the result that git would not
      merge.
    - ``marked``: the files that have git's conflict markers.

    In a review, also the commit that the ``patch`` is for, and the digest of the review.
    """

    files: tuple[FileEdit, ...]
    parts: tuple[TakenPart, ...]
    notes: tuple[str, ...]
    units: tuple[TakenUnit, ...] = ()
    origin: str = ""
    digest: str = ""
    patch: bytes = b""
    steps: tuple[dict[str, FileEdit], ...] = ()
    beyond_git: dict[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    marked: tuple[str, ...] = ()


def take(
    tasks: Iterable[Sequence[Candidate]],
    choices: Iterable[Choice],
    *,
    anyway: bool = False,
    split: bool = False,
    by_steps: bool = False,
) -> Taken:
    """Compose the chosen parts into one change of the target.

    Raises SourceError if a choice names nothing, two choices conflict, or one is in conflict with
    the target and not wanted with markers. Raises BrokenMixError if the parts, put together, lack a
    name or do not parse, although neither the origin nor any whole candidate is broken so.

    - ``tasks``: the candidates of a review, those of one task together: hunks are named among
      them.
    - ``choices``: in any order.
    - ``anyway``: whether a mix that cannot work is taken, and what is wrong with it becomes a note.
    - ``split``: whether a hunk is taken without those that belong with it.
    - ``by_steps``: whether the result has its ``steps``.
    """
    taking = _Take(tasks, list(choices), split=split)
    taken = taking.taken(anyway=anyway)
    return replace(taken, steps=tuple(taking.steps())) if by_steps else taken


_Unit = tuple[tuple[tuple[int, int], ...], tuple[str, ...]]
"""The hunks of a unit, by their lines, and the names that they share."""


class _Hunks(NamedTuple):
    """A candidate's part of the hunks of a file.

    - ``by_lines``: None if it leaves the hunk as it is.
    - ``back``: what undoes the conversion of the whole file; None if no lines of it can be taken.
    """

    by_lines: dict[tuple[int, int], NewLines | None]
    back: Conversion | None


class _Take:
    """What was chosen of candidates, and their files, reviewed with each other as often as needed.

    - ``owners``: the candidates of which something was chosen.
    - ``lines``, ``facts``: the chosen pieces of each file of the target, by its path; the lines
      are `disjoint`.
    - ``units``: those of the chosen hunks that are more than one hunk.
    """

    def __init__(
        self, tasks: Iterable[Sequence[Candidate]], choices: Sequence[Choice], *, split: bool
    ) -> None:
        self._task = {candidate.id: task for task in tasks for candidate in task}
        self._files: dict[tuple[bool, tuple[str, ...]], dict[str, ReviewedFile]] = {}
        self._hunks: dict[tuple[str, str], tuple[_Hunks, ...]] = {}
        self._units: dict[tuple[str, str], dict[tuple[int, int], _Unit]] = {}
        self.choices, self._split = choices, split
        self.owners = [*map(self._candidate, dict.fromkeys(each.candidate for each in choices))]
        self.lines: dict[str, list[NewLines]] = defaultdict(list)
        self.facts: dict[str, list[Fact]] = defaultdict(list)
        self.origins: dict[str, Side | None] = {}
        self.notes: list[str] = []
        for choice in choices:
            self._choose(choice)
        self.units = list(self._taken_units())
        for unit in () if split else self.units:
            self._complete(unit)
        changed = [(line.owner.id, path) for path, own in self.lines.items() for line in own]
        changed += [(fact.owner.id, path) for path, own in self.facts.items() for fact in own]
        self._changed = set(changed)
        for path, origin in self.origins.items():
            if self.lines[path] and origin is not None:
                self.lines[path] = disjoint(self.lines[path], origin)

    def taken(self, *, anyway: bool) -> Taken:
        composed = [
            composed_file(path, origin, self.lines[path], self.facts[path])
            for path, origin in sorted(self.origins.items())
        ]
        files = tuple(file for file, _ in composed)
        check_names(files, {file.old_path: parts for file, parts in composed})
        beyond = list(self._beyond_git())
        said = dict.fromkeys(words for _, _, _, words in beyond)
        taken = Taken(
            tuple(file for file in files if file.is_edit),
            tuple(part for _, parts in composed for part in parts),
            (*self.notes, *self._said_of_units(), *self._checked(files, anyway=anyway), *said),
            tuple(self.units),
            marked=tuple(
                path for path, own in self.facts.items() if any(f.kind == "marked" for f in own)
            ),
        )
        for path, lo, hi, _ in beyond:
            taken.beyond_git[path] = (*taken.beyond_git.get(path, ()), (lo, hi))
        return taken

    def steps(self) -> Iterator[dict[str, FileEdit]]:
        """Yield the files of each owner, as they are with it and the owners before it."""
        before = set[str]()
        for owner in self.owners:
            before.add(owner.id)
            yield {
                path: composed_file(
                    path,
                    self.origins[path],
                    [piece for piece in self.lines[path] if piece.owner.id in before],
                    [piece for piece in self.facts[path] if piece.owner.id in before],
                )[0]
                for path in self.origins
                if (owner.id, path) in self._changed
            }

    def _beyond_git(self) -> Iterator[tuple[str, int, int, str]]:
        """Yield what git would not merge: file, lines (from, to) of the result, what to say."""
        for path, edits in sorted(self.lines.items()):
            shift, before, first = 0, None, 0
            for edit in edits:
                start = edit.lo + shift
                stop = start + len(byte_lines(edit.data))
                shift = stop - edit.hi
                joins = (
                    before is not None and before.hi == edit.lo
                    and before.is_hunk and edit.is_hunk and before.owner.id != edit.owner.id
                )  # fmt: skip
                if before is not None and joins:
                    if before.lo == edit.hi:
                        yield path, first, stop, f"merged beyond git: read {shown_name(path)}"
                    else:
                        where = f"{shown_name(path)}:{start + 1}"
                        yield path, first, stop, f"beside each other: read {where}"
                elif edit.is_beyond_git:
                    yield path, start, stop, f"merged beyond git: read {shown_name(path)}"
                before, first = edit, first if joins else start

    # --- candidates and their files ---

    def _candidate(self, name: str) -> Candidate:
        for candidate in self._task.get(name, ()):
            if candidate.id == name:
                return candidate
        raise SourceError(f"no candidate has the id {shown_name(name)}")

    def _reviewed(self, *candidates: Candidate, with_hunks: bool = True) -> dict[str, ReviewedFile]:
        """Return the files of candidates by path, maybe with the hunks that they have together."""
        key = with_hunks, tuple(candidate.id for candidate in candidates)
        if key not in self._files:
            files = review_files(candidates, with_hunks=with_hunks)
            self._files[key] = {file.path: file for file in files}
        return self._files[key]

    def _together(self, candidate: Candidate) -> dict[str, ReviewedFile]:
        """Return the files of all candidates of the same task."""
        return self._reviewed(*self._task[candidate.id])

    def _files_of(self, choice: Choice) -> list[ReviewedFile]:
        """Return the files of a choice, named by the path in the target or the new one.

        They have their hunks if the choice is one.
        """
        candidate = self._candidate(choice.candidate)
        files = self._reviewed(candidate, with_hunks=choice.lines is not None)
        if not choice.path:
            return list(files.values())
        renamed = [file for file in files.values() if file.changes[0].path == choice.path]
        return [files[choice.path]] if choice.path in files else renamed[:1]

    # --- what was chosen ---

    def _choose(self, choice: Choice) -> None:
        """Add the pieces of a choice."""
        candidate = self._candidate(choice.candidate)
        files = self._files_of(choice)
        if not files and candidate.unread:
            raise SourceError(f"{shown_name(candidate.label)}: {candidate.unread[0]}")
        if not files and choice.path:
            paths = [shown_name(file.path) for file in self._files_of(Choice(candidate.id))]
            label = shown_name(candidate.label)
            hint = f"it changes {first_few(paths, 8)}"
            raise SourceError(f"{label} does not change {shown_name(choice.path)}", hint=hint)
        for file in files:
            marked = _marked(candidate, file) if choice.in_conflict and not choice.lines else None
            path = None if choice.lines else _path_in_conflict(candidate, file)
            if path is not None and marked is None and choice.in_conflict and not choice.path:
                why = candidate.conflicts[path]
                self.notes.append(f"{shown_name(path)}: not taken: {why}, and git has no markers")
                continue
            pieces = self._pieces(candidate, file, choice) if marked is None else [marked]
            self._add(candidate, file, list(pieces))

    def _add(
        self, candidate: Candidate, file: ReviewedFile, pieces: Sequence[NewLines | Fact]
    ) -> None:
        _check_conflicts(candidate, file, pieces)
        for piece in pieces:
            self.origins[file.path] = file.origin
            if isinstance(piece, NewLines):
                self.lines[file.path].append(piece)
            else:
                self.facts[file.path].append(piece)

    def _pieces(
        self, candidate: Candidate, file: ReviewedFile, choice: Choice
    ) -> Iterator[NewLines | Fact]:
        change = file.changes[0]
        if choice.lines is not None and not (file.origin is None and choice.lines == (0, 0)):
            yield self._hunk(candidate, file, choice.lines)
            return
        old, new = _lines(change)
        if old is None or new is None or change.old is None or change.new is None:
            result = None if change.new is None else (change.path, change.new.mode, change.new.data)
            yield Fact(candidate, file.path, "file", result, change)
            return
        texts = [raw_lines(side.text or "") for side in (change.old, change.new)]
        yield from _all_lines(candidate, file.path, old, new, differing_lines(*texts))
        if change.path != file.path:
            yield Fact(candidate, file.path, "name", change.path, change)
        if change.old.mode != change.new.mode:
            yield Fact(candidate, file.path, "mode", change.new.mode, change)
        if old.mark != new.mark:
            yield Fact(candidate, file.path, "mark", new.mark, change)

    def _hunk(self, candidate: Candidate, file: ReviewedFile, lines: tuple[int, int]) -> NewLines:
        """Return the candidate's lines of a hunk: of the review, or of the candidate alone.

        What it converts in the whole file does not belong to a hunk.
        """
        name, label = f"{shown_name(file.path)}#{hunk_name(*lines)}", shown_name(candidate.label)
        key = candidate.id, file.path
        if key not in self._hunks:
            reviewed = self._together(candidate).get(file.path), file
            self._hunks[key] = tuple(_hunks(candidate, known) for known in reviewed if known)
        for hunks in self._hunks[key]:
            if hunks.back is None:
                change = file.changes[0]
                reason = f"{shown_name(file.path)} has no hunks: {label} has it {change.status}"
                if change.status == "modified" and None not in (change.text, file.text):
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

    # --- what belongs together ---

    def _unit(self, candidate: Candidate, path: str, lines: tuple[int, int]) -> _Unit:
        """Return the hunks of a unit, by their lines, and the names that they share."""
        key = candidate.id, path
        if key not in self._units:
            [own] = self._files_of(Choice(candidate.id, path, lines))
            units: dict[tuple[int, int], _Unit] = {}
            for file in (own, self._together(candidate).get(own.path, own)):
                for unit in file.units(candidate.id):
                    hunks = tuple((file.hunks[i].lo, file.hunks[i].hi) for i in unit.hunks)
                    units |= dict.fromkeys(hunks, (hunks, unit.names))
            self._units[key] = units
        return self._units[key].get(lines, ((lines,), ()))

    def _taken_units(self) -> Iterator[TakenUnit]:
        """Yield the units of the chosen hunks that are more than one hunk."""
        wholes = {choice.candidate for choice in self.choices if not choice.path}
        lines_by_file: dict[tuple[str, str], dict[tuple[int, int] | None, None]]
        lines_by_file = defaultdict(dict)
        for choice in self.choices:
            for file in self._files_of(choice) if choice.candidate not in wholes else ():
                lines_by_file[choice.candidate, file.path][choice.lines] = None
        for (identity, path), of_file in lines_by_file.items():
            seen = set[tuple[int, int]]()
            for lines in of_file if None not in of_file else ():
                if lines is None or lines in seen:
                    continue
                hunks, names = self._unit(self._candidate(identity), path, lines)
                seen.update(hunks)
                if len(hunks) > 1:
                    chosen = tuple(hunk for hunk in hunks if hunk in of_file)
                    is_whole = not self._split or len(chosen) == len(hunks)
                    yield TakenUnit(identity, path, hunks, chosen, names, is_whole)

    def _complete(self, unit: TakenUnit) -> None:
        """Add the hunks of a unit that were not chosen."""
        candidate = self._candidate(unit.candidate)
        file = self._reviewed(candidate)[unit.path]
        name = f"#{hunk_name(*unit.chosen[0])}"
        self._add(
            candidate,
            file,
            [
                replace(self._hunk(candidate, file, lines), with_hunk=name)
                for lines in unit.hunks
                if lines not in unit.chosen
            ],
        )

    def _said_of_units(self) -> Iterator[str]:
        for unit in self.units:
            others = [f"#{hunk_name(*lines)}" for lines in unit.hunks if lines not in unit.chosen]
            if not others:
                continue
            chosen = first_few([f"#{hunk_name(*lines)}" for lines in unit.chosen])
            label = shown_name(self._candidate(unit.candidate).label)
            names = first_few([*map(printable, unit.names)])
            which = f"{shown_name(unit.path)}{chosen} of {label}"
            shared = f"{first_few(others)}, with which it shares {names}"
            if unit.is_whole:
                yield f"{which} is taken with {shared}; --split takes it alone"
            else:
                yield f"{which} is taken without {shared}"

    # --- whether it can work ---

    def _checked(self, files: Iterable[FileEdit], *, anyway: bool) -> tuple[str, ...]:
        """Check the files that change, and return what to say of them."""
        files = list(files)
        broken: list[Finding] = []
        notes: list[str] = []
        said: dict[str, list[str]] = defaultdict(list)
        for file in files:
            path, old, new = file.old_path, file.old, file.new
            text = None if new is None or new.mode in (LINK, SUBMODULE) else new.text
            if any(piece.kind == "marked" for piece in self.facts[path]):
                where = shown_name(file.path)
                notes.append(f"{where}: in conflict: resolve it between the markers")
                continue
            before = [] if old is None or old.text is None else [old.text]
            if text is None or text in before:
                continue
            owners = {piece.owner.id: piece.owner for piece in self.lines[path]}
            owners |= {piece.owner.id: piece.owner for piece in self.facts[path]}
            mix = Mix(shown_name(file.path), before, partial(self._wholes, path, owners.values()))
            check = mix.check(text)
            notes += [f"{finding}, as in a candidate" for finding in check.inherited]
            found = [self._brought(finding, path, old, mix) for finding in check.broken]
            if anyway:
                notes += map(str, found)
            elif found:
                broken += found
            elif not check.inherited and not any(
                text == self._reviewed(owner, with_hunks=False)[path].changes[0].text
                for owner in owners.values()
            ):
                said[check.said].append(shown_name(file.path))
        for finding in self._wrong_uses(files):
            if anyway or finding.kind == "call":
                notes.append(str(finding))
            else:
                broken.append(finding)
        if broken:
            raise BrokenMixError(broken)
        return (*notes, *(f"{first_few(paths, 8)}: {words}" for words, paths in said.items()))

    def _wholes(self, path: str, owners: Iterable[Candidate]) -> Iterator[str]:
        """Yield what each candidate of the owners' reviews makes of a file."""
        for owner in owners:
            changes = self._reviewed(*self._task[owner.id], with_hunks=False)[path].changes
            yield from filter(None, (change.text for change in changes))

    def _owner(self, path: str, line: int) -> Candidate | None:
        """Return the candidate of a line (from 1) of a file that was put together."""
        for fact in self.facts[path]:
            if fact.kind in ("file", "marked"):
                return fact.owner
        if self.origins.get(path) is None:
            return None
        edits = self.lines[path]
        placed = [(edit.lo, edit.hi, len(byte_lines(edit.data))) for edit in edits]
        index = edit_of_line(placed, line)
        return None if index is None else edits[index].owner

    def _brought(self, finding: Finding, path: str, old: Side | None, mix: Mix) -> Finding:
        """Return a finding with the candidate that brings it: of its line, or that removes a name.

        The latter is the one without whose lines it is not there.
        """
        owner = self._owner(path, finding.line)
        owners = {edit.owner.id: edit.owner for edit in self.lines[path]}
        others = [other for other in owners.values() if other != owner]
        for other in others if len(owners) > 1 else ():
            lines = [edit for edit in self.lines[path] if edit.owner.id != other.id]
            new = composed_file(path, old, lines, self.facts[path])[0].new
            text = None if new is None else new.text
            if text is None or finding.key in {known.key for known in mix.check(text).broken}:
                continue
            label = shown_name(other.label)
            if owner is None:
                return replace(finding, candidate=label)
            message = finding.message.replace("which nothing defines", f"which {label} removes")
            return replace(finding, candidate=shown_name(owner.label), message=message)
        if owner is None and len(owners) == 1:
            owner = next(iter(owners.values()))
        return finding if owner is None else replace(finding, candidate=shown_name(owner.label))

    def _wrong_uses(self, files: Sequence[FileEdit]) -> Iterator[Finding]:
        """Yield what the Python files use of each other in vain."""
        if len(self.choices) == 1 and not self.choices[0].path:
            return
        paths = {path for owner in self.owners for path in (*owner.old, *owner.new)}
        members = {m.id: m for owner in self.owners for m in self._task[owner.id]}.values()
        origin = {path: side for m in members for path, side in m.old.items() if path in paths}

        def texts(sides: Mapping[str, Side]) -> dict[str, str]:
            python = {path: side.text for path, side in sides.items() if path.endswith(".py")}
            return {path: text for path, text in sorted(python.items()) if text is not None}

        mix = dict(origin)
        for file in files:
            mix.pop(file.old_path, None)
            if file.new is not None:
                mix[file.path] = file.new
        python = PythonFiles(paths)
        mixed = texts(mix)
        wrong_uses = python.wrong_uses(mixed)
        known = {use.key for use in python.wrong_uses(texts(origin))} if wrong_uses else set()
        for member in members if wrong_uses else ():
            whole = {path: side for path, side in origin.items() if path not in member.old}
            whole |= {path: side for path, side in member.new.items() if path in paths}
            known |= {use.key for use in python.wrong_uses(texts(whole))}
        old_paths = {file.path: file.old_path for file in files}
        for use in wrong_uses:
            if use.key in known:
                continue
            target = old_paths.get(use.target, use.target)
            owner = self._owner(old_paths.get(use.path, use.path), use.line)
            pieces: list[NewLines | Fact] = [*self.lines[target], *self.facts[target]]
            editors = {piece.owner.id: piece.owner for piece in pieces}
            message = use.message
            if len(editors) == 1 and python.defines(texts(origin).get(use.target), use.name):
                [label] = (shown_name(editor.label) for editor in editors.values())
                for words in ("does not define it", "is not there"):
                    message = message.replace(f"which {words}", f"which {label} removes")
            brings = owner or next(iter(editors.values()), None)
            yield Finding(
                shown_name(use.path),
                use.line,
                "call" if use.is_call else "import",
                printable(use.name),
                "",
                message,
                "" if brings is None else shown_name(brings.label),
            )


def _lines(change: FileChange) -> tuple[ByteLines | None, ByteLines | None]:
    """Return the lines before and after that can be taken apart, where there are any."""
    if change.old is None or change.new is None:
        return None, None
    return change.old.lines, change.new.lines


def _all_lines(
    candidate: Candidate, path: str, old: ByteLines, new: ByteLines, spans: Iterable[Span]
) -> Iterator[NewLines]:
    """Yield everything that a candidate does to the lines of a file, byte for byte.

    - ``spans``: where the text differs.
    """
    line = shift = 0
    for lo, hi, start, stop in (*spans, (len(old.lines), -1, -1, -1)):
        for first, last in _differing(old.lines[line:lo], new.lines[line + shift : lo + shift]):
            data = b"".join(new.lines[line + shift + first : line + shift + last])
            yield NewLines(candidate, path, line + first, line + last, data, True, False)
        if hi >= 0:
            yield NewLines(candidate, path, lo, hi, b"".join(new.lines[start:stop]), True)
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
    parts: dict[tuple[int, int], NewLines | None] = {
        (hunk.lo, hunk.hi): None for hunk in file.hunks
    }
    for lo, hi, start, stop in file.spans(candidate.id):
        data = b"".join(new.lines[start:stop])
        parts[lo, hi] = NewLines(candidate, file.path, lo, hi, data)
    return _Hunks(parts, conversion(new, old))


def _path_in_conflict(candidate: Candidate, file: ReviewedFile) -> str | None:
    paths = (file.changes[0].path, file.path)
    return next((path for path in paths if path in candidate.conflicts), None)


def _check_conflicts(
    candidate: Candidate, file: ReviewedFile, pieces: Iterable[NewLines | Fact]
) -> None:
    """Refuse parts that the target changed as well, showing both texts."""
    path = _path_in_conflict(candidate, file)
    if path is None:
        return
    hint = CONFLICTS_HINT if path in candidate.marked else ""
    spans = candidate.disputed.get(path)
    for piece in pieces:
        if isinstance(piece, Fact) and piece.kind == "marked":
            continue
        if spans is None:
            reason = f"{piece.name}: {candidate.conflicts[path]}"
            raise SourceError(reason, hint=hint)
        if not isinstance(piece, NewLines):
            continue
        if _meets_any(piece.lo, piece.hi, spans):
            target = "".join(raw_lines(file.text or "")[piece.lo : piece.hi])
            wanted = text_of_bytes(piece.data) or ""
            texts = f"the target has {_shown(target)}, the candidate {_shown(wanted)}"
            raise SourceError(f"{piece.name}: {candidate.conflicts[path]}: {texts}", hint=hint)


_MARKER = re.compile(rb"^(<{7,}|\|{7,}|>{7,}) [0-9a-f]{40,64}(?=[:\r\n])", re.MULTILINE)
"""A line of git's between whose sides is a conflict, with a side's commit, and path if it moved."""


def _marked(candidate: Candidate, file: ReviewedFile) -> Fact | None:
    """Return a file in conflict as git writes it, with the candidate's name at its side."""
    change = file.changes[0]
    path = next((p for p in (change.path, file.path) if p in candidate.marked), None)
    if path is None:
        return None
    sides = {b"<": "the target", b"|": "the base", b">": printable(candidate.label)}

    def named(match: re.Match[bytes]) -> bytes:
        return match[1] + b" " + sides[match[1][:1]].encode("utf-8", "replace")

    side = candidate.marked[path]
    data = _MARKER.sub(named, side.data)
    new = replace(side, data=data, blob="")
    return Fact(candidate, file.path, "marked", data, replace(change, new=new))


def _meets_any(lo: int, hi: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether some of the separate ranges, in their order, shares a line with another range.

    A gap also shares what it touches.
    """
    first = bisect_left(spans, lo, key=lambda span: span[1])
    for start, stop in (spans[index] for index in range(first, len(spans))):
        if start > hi:
            return False
        if lo == hi or start == stop or (lo < stop and start < hi):
            return True
    return False


def _shown(text: str) -> str:
    """Return a text as its first line and the number of others."""
    lines = raw_lines(text)
    if not lines:
        return "nothing"
    first = printable(lines[0].strip())[:60]
    return f"{first!a}" + (f" and {len(lines) - 1} more lines" if len(lines) > 1 else "")


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
    split: bool = False


def choices_named(
    arguments: Sequence[str], candidates: Sequence[Candidate], *, in_conflict: bool = False
) -> list[Choice]:
    """Return the choices of a command line.

    Raises SourceError if an argument names nothing, or more than one thing.
    """
    choices: list[Choice] = []
    current: Candidate | None = None
    for argument in arguments:
        if current is None:
            current = candidate_called(argument, candidates)
            choices.append(Choice(current.id, in_conflict=in_conflict))
            continue
        chosen = _part(argument, current)
        meant = candidates_called(argument, candidates)
        if chosen is not None and meant and argument != meant[0].id:
            name = shown_name(argument)
            hint = f"write ./{name} for the file, {meant[0].id} for the candidate"
            raise SourceError(f"{name} is a file and a candidate", hint=hint)
        if meant and (chosen is None or argument == meant[0].id):
            current = candidate_called(argument, candidates)
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

    Raises SourceError if a choice names nothing.
    """
    choices = []
    for choice in plan.choices:
        candidate = candidate_called(choice.candidate, candidates)
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
