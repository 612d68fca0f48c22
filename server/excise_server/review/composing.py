"""The composition of candidates' pieces into one file: replaced lines, names, modes. Pure.

A change of the target's file is then made in the user's file, next to the user's own edits.
"""

from __future__ import annotations

import shlex
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from excise.text import byte_lines, raw_lines
from excise_server.foundation.changes import LINK, SUBMODULE, Side
from excise_server.foundation.escape import printable, shown_name
from excise_server.foundation.file_bytes import text_of_bytes
from excise_server.foundation.inputs import SourceError, first_few
from excise_server.review.candidate import Candidate
from excise_server.review.git_patch import FileEdit
from excise_server.review.hunks import FileChange, hunk_name
from excise_server.review.kinds import are_entries, is_changelog
from excise_server.review.merged_bytes import joined, merged_bytes
from excise_server.review.relations import additions

SPLIT_HINT = "only the hunks that you name, with --split"


class OverlapError(SourceError):
    """The error for parts of candidates that cannot all be taken; ``owners`` are their ids."""

    def __init__(self, reason: str, owners: Iterable[str], hint: str = "") -> None:
        super().__init__(reason, hint=hint)
        self.owners = tuple(dict.fromkeys(owners))


@dataclass(frozen=True, slots=True)
class TakenPart:
    """A part of the result and its candidate; ``lines`` of the target are None for other facts."""

    candidate: str
    path: str
    lines: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class NewLines:
    """Other bytes in place of some of a file's lines, by a candidate.

    - ``lo``, ``hi``: the lines of the origin (from, to).
    - ``data``: the candidate's lines.
    - ``is_of_all``: whether it is part of all that the candidate does to the file.
    - ``is_hunk``: whether the text differs, and not only the bytes.
    - ``with_hunk``: the chosen hunk with which it belongs, if it was not chosen itself.
    """

    owner: Candidate
    path: str
    lo: int
    hi: int
    data: bytes
    is_of_all: bool = False
    is_hunk: bool = True
    with_hunk: str = ""

    @property
    def is_beyond_git(self) -> bool:
        """Whether the target inserts something else at this place, too."""
        text, new = text_of_bytes(self.data), self.owner.new.get(self.path)
        if self.lo < self.hi or text is None or new is None or new.text is None:
            return False
        blocks = self.owner.beyond_git.get(self.path, ())
        lines = raw_lines(new.text) if blocks else []
        return any("".join(lines[lo:hi]).endswith(text) for lo, hi in blocks)

    @property
    def name(self) -> str:
        """The hunk, whose it is, and why it is taken if nobody chose it."""
        bytes_of = "" if self.is_hunk else "the line ends or encoding of "
        hunk = f"{shown_name(self.path)}#{hunk_name(self.lo, self.hi)}"
        why = f" (it belongs with {self.with_hunk})" if self.with_hunk else ""
        return f"{bytes_of}{hunk} of {shown_name(self.owner.label)}{why}"


@dataclass(frozen=True, slots=True)
class Fact:
    """A change that is not in lines: a name, a mode, a byte order mark, or the whole file.

    A whole file in conflict is ``marked``: as git writes it.
    """

    owner: Candidate
    path: str
    kind: str
    value: object
    change: FileChange

    @property
    def name(self) -> str:
        """The name of the change and its candidates."""
        return f"{self.change.status} {shown_name(self.path)} of {shown_name(self.owner.label)}"


def composed_file(
    path: str, origin: Side | None, lines: Sequence[NewLines], facts: Sequence[Fact]
) -> tuple[FileEdit, list[TakenPart]]:
    """Return a file of the target with some pieces, and the source of each part.

    Raises SourceError if a fact overlaps with another piece.

    - ``lines``: from `disjoint`, or some of these.
    """
    parts = [TakenPart(fact.owner.id, path) for fact in facts]
    by_kind: dict[str, Fact] = {}
    for fact in facts:
        before = by_kind.setdefault(fact.kind, fact)
        if before.value != fact.value:
            raise _overlap(before, fact)
    replacement = by_kind.get("file") or by_kind.get("marked")
    if replacement is not None:
        kind = replacement.kind
        pieces: list[NewLines | Fact] = [*lines, *(fact for fact in facts if fact.kind != kind)]
        if pieces:
            raise _overlap(replacement, pieces[0])
        side = replacement.change.new
        new_path = path if side is None else replacement.change.path
        made = FileEdit(new_path, path if origin else new_path, origin, side)
        return made, list(dict.fromkeys(parts))
    assert origin is not None  # a file that is created is taken as a whole
    data = origin.data
    if (own := origin.lines) is not None and (lines or "mark" in by_kind):
        pieces_of_lines: list[tuple[Sequence[bytes], bool]] = []
        line = 0
        for edit in lines:
            pieces_of_lines += [(own.lines[line : edit.lo], False), (byte_lines(edit.data), True)]
            line = edit.hi
        pieces_of_lines.append((own.lines[line:], False))
        mark = by_kind["mark"].value if "mark" in by_kind else own.mark
        assert isinstance(mark, bytes)
        data = mark + joined(pieces_of_lines, own.end or b"\n")
    mode = by_kind["mode"].value if "mode" in by_kind else origin.mode
    name = by_kind["name"].value if "name" in by_kind else path
    parts += [
        TakenPart(edit.owner.id, path, (edit.lo, edit.hi) if edit.is_hunk else None)
        for edit in lines
    ]
    new = replace(origin, mode=str(mode), data=data, blob="")
    return FileEdit(str(name), path, origin, new), list(dict.fromkeys(parts))


def _overlap(a: NewLines | Fact, b: NewLines | Fact) -> OverlapError:
    hint = "take one of them"
    if any(isinstance(piece, NewLines) and piece.with_hunk for piece in (a, b)):
        hint += f", or {SPLIT_HINT}"
    reason = f"two choices conflict: {a.name} and {b.name}"
    return OverlapError(reason, (a.owner.id, b.owner.id), hint)


def disjoint(lines: Sequence[NewLines], origin: Side) -> list[NewLines]:
    """Return edits of a file in the order of its lines, each once.

    What several only add at one place stays in the given order, if its order says nothing
    (`excise.order_free`). Of a candidate that is chosen as a whole, its single hunks add nothing.
    An edit that lies in another one of the same candidate adds nothing either.

    Raises SourceError if two overlap.
    """
    of_all = {edit.owner.id for edit in lines if edit.is_of_all}
    wanted = [edit for edit in lines if edit.is_of_all or edit.owner.id not in of_all]
    chosen: list[NewLines] = []
    near: list[NewLines] = []  # the chosen edits that end at this line or after it
    gaps = defaultdict[int, dict[bytes, NewLines]](dict)
    for edit in wanted:
        if edit.lo == edit.hi:
            gaps[edit.lo].setdefault(edit.data, edit)
    free = {lo: _free([*own.values()], origin) for lo, own in gaps.items() if len(own) > 1}
    for edit in sorted(wanted, key=lambda edit: (edit.lo, -edit.hi)):
        near = [other for other in near if other.hi >= edit.lo]
        if any(_holds(other, edit) for other in near):
            continue
        for other in near:
            # They share a line, one lies strictly inside the other, or both fill one gap. What two
            # candidates do to neighbouring lines is two texts of one hunk, and no mix either.
            touches = (
                edit.owner.id != other.owner.id
                and (edit.is_of_all or other.is_of_all)
                and edit.is_hunk
                and other.is_hunk
            )
            if edit.lo == edit.hi == other.lo == other.hi:
                touches = edit.data not in free[edit.lo]
            if touches or (edit.lo < other.hi and other.lo < edit.hi):
                larger, smaller = sorted((other, edit), key=lambda edit: edit.lo - edit.hi)
                raise _overlap(larger, smaller)
        chosen.append(edit)
        near.append(edit)
    return sorted(chosen, key=lambda edit: (edit.lo, edit.hi))


def _free(edits: Sequence[NewLines], origin: Side) -> set[bytes]:
    """Return the first of some insertions at one place that may stand there in any order."""
    target, texts = origin.text, [text_of_bytes(edit.data) for edit in edits]
    path, lo = edits[0].path, edits[0].lo

    def fails(count: int) -> bool:
        parts = [text for text in texts[:count] if text is not None]
        if target is None or len(parts) < count:
            return True
        if is_changelog(path):
            return not are_entries(*parts)
        return additions(path, target, lo, *parts) is None

    count = len(edits)
    if fails(count):
        count = bisect_left(range(count), True, lo=2, key=fails) - 1
    return {edit.data for edit in edits[:count]}


def _holds(a: NewLines, b: NewLines) -> bool:
    """Whether the second edit is the first one, or lies in a larger one of the same candidate."""
    if (a.lo, a.hi, a.data) == (b.lo, b.hi, b.data):
        return True
    is_apart = b.is_of_all or a.owner.id != b.owner.id
    return not is_apart and a.lo <= b.lo and b.hi <= a.hi


def check_names(files: Iterable[FileEdit], parts: Mapping[str, Sequence[TakenPart]]) -> None:
    """Refuse two files of one name: created, or renamed to it."""
    by_path: dict[str, FileEdit] = {}
    for file in files:
        if file.new is None:
            continue
        if file.path in by_path:
            owners = [shown_name(part.candidate) for part in parts.get(file.old_path, ())]
            old_paths = f"{shown_name(by_path[file.path].old_path)} and {shown_name(file.old_path)}"
            who = f" ({first_few(owners)})" if owners else ""
            reason = f"two choices conflict: {old_paths} would both be {shown_name(file.path)}{who}"
            every = (*parts.get(by_path[file.path].old_path, ()), *parts.get(file.old_path, ()))
            raise OverlapError(reason, (part.candidate for part in every))
        by_path[file.path] = file


def check_no_submodule(file: FileEdit) -> None:
    """Refuse to move a submodule, whose files are another repository's.

    Raises SourceError if it is one, with the command of git that moves it.
    """
    commit = file.new.blob if file.new is not None and file.new.mode == SUBMODULE else ""
    if commit:
        hint = f"git -C {shlex.quote(shown_name(file.path))} checkout {commit}"
        raise SourceError("it is a submodule, which only git moves", hint=hint)
    if file.old is not None and file.old.mode == SUBMODULE:
        hint = f"git rm {shlex.quote(shown_name(file.old_path))}"
        raise SourceError("it is a submodule, which only git removes", hint=hint)


def is_same_file(working: Side, target: Side) -> bool:
    """Whether a file of the working tree is the target's, its line ends aside."""
    if working.data == target.data:
        return True
    return working.mode != LINK and target.mode != LINK and working.text == target.text is not None


def edited_beside(old: Side, new: Side, working: Side) -> Side:
    """Return a file of the working tree with the change that the target's file gets.

    Raises SourceError if it has other edits on the same lines.
    """
    if (working.mode == LINK) is not (old.mode == LINK):
        raise SourceError("it differs from the target")
    if new.mode in (old.mode, working.mode):
        new = replace(new, mode=working.mode)
    if working.data in (old.data, new.data):
        return replace(new, blob="")
    merged = merged_bytes(old, working, new)
    if merged is None:
        raise SourceError("it differs from the target, and has no lines to merge")
    if merged.conflicts:
        lo, hi = merged.conflicts[0].origin
        lines = f"line {lo + 1}" if hi <= lo + 1 else f"lines {lo + 1} to {hi}"
        first = printable(merged.conflicts[0].origin_text.partition("\n")[0].strip())[:60]
        raise SourceError(f"{lines} of the working tree, {first!a}, are not the target's")
    return Side(new.mode, merged.data)
