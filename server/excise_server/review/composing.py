"""The composition of candidates' pieces into one file: replaced lines, names, modes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from excise.text import raw_lines
from excise_server.foundation.changes import Side
from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import SourceError, first_few
from excise_server.review.candidate import Candidate
from excise_server.review.git_patch import FileEdit
from excise_server.review.hunks import FileChange, hunk_name
from excise_server.review.line_ends import edited_bytes

__all__ = ["Fact", "Lines", "TakenPart", "check_names", "composed_file", "visible"]


def visible(name: str) -> str:
    """Return a name as text that can be shown: bytes that are not UTF-8 are escaped."""
    return printable(name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))


@dataclass(frozen=True, slots=True)
class TakenPart:
    """A part of the result and its candidate; ``lines`` of the target are None for other facts."""

    candidate: str
    path: str
    lines: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Lines:
    """Other lines in place of some of a file's, by a candidate."""

    owner: Candidate
    path: str
    lo: int
    hi: int
    text: str

    @property
    def name(self) -> str:
        """The hunk, and whose it is."""
        return f"{visible(self.path)}#{hunk_name(self.lo, self.hi)} of {visible(self.owner.label)}"


@dataclass(frozen=True, slots=True)
class Fact:
    """A change that is not in lines: a new name, a mode, or the whole file (see ``kind``)."""

    owner: Candidate
    path: str
    kind: str
    value: object
    change: FileChange

    @property
    def name(self) -> str:
        """The name of the change and its candidates."""
        return f"{self.change.status} {visible(self.path)} of {visible(self.owner.label)}"


def composed_file(
    path: str, origin: Side | None, lines: Sequence[Lines], facts: Sequence[Fact]
) -> tuple[FileEdit, list[TakenPart]]:
    """Return a file of the target with some pieces, and the source of each part.

    Raises
    ------
    SourceError
        If two pieces overlap.
    """
    parts = [TakenPart(fact.owner.id, path) for fact in facts]
    by_kind: dict[str, Fact] = {}
    for fact in facts:
        before = by_kind.setdefault(fact.kind, fact)
        if before.value != fact.value:
            raise _overlap(before, fact)
    replacement = by_kind.get("file")
    if replacement is not None:
        pieces: list[Lines | Fact] = [*lines, *(fact for fact in facts if fact.kind != "file")]
        if pieces:
            raise _overlap(replacement, pieces[0])
        side = replacement.change.new
        new_path = path if side is None else replacement.change.path
        return FileEdit(new_path, path if origin else new_path, origin, side), _distinct(parts)
    assert origin is not None  # a file that is created is taken as a whole
    chosen = _disjoint(lines)
    text = origin.text or ""
    data = edited_bytes(origin.data, _composed(text, chosen)) if chosen else origin.data
    mode = by_kind["mode"].value if "mode" in by_kind else origin.mode
    name = by_kind["name"].value if "name" in by_kind else path
    parts += [TakenPart(edit.owner.id, path, (edit.lo, edit.hi)) for edit in chosen]
    new = replace(origin, mode=str(mode), data=data, blob="")
    return FileEdit(str(name), path, origin, new), _distinct(parts)


def _distinct(parts: Iterable[TakenPart]) -> list[TakenPart]:
    return list(dict.fromkeys(parts))


def _overlap(a: Lines | Fact, b: Lines | Fact) -> SourceError:
    return SourceError(f"two choices overlap: {a.name} and {b.name}", hint="take one of them")


def _disjoint(lines: Iterable[Lines]) -> list[Lines]:
    """Return edits in the order of the file, each once.

    Raises
    ------
    SourceError
        If two overlap.
    """
    chosen: list[Lines] = []
    # The larger edits first, so that a smaller one of the same candidate lies in one seen before.
    for edit in sorted(lines, key=lambda edit: (edit.lo - edit.hi, edit.lo)):
        for larger in chosen:
            if (edit.lo, edit.hi, edit.text) == (larger.lo, larger.hi, larger.text):
                break
            inside = larger.lo <= edit.lo and edit.hi <= larger.hi
            if inside and edit.owner.id == larger.owner.id:
                break
            if _overlaps(edit, larger):
                raise _overlap(larger, edit)
        else:
            chosen.append(edit)
    return sorted(chosen, key=lambda edit: (edit.lo, edit.hi))


def _overlaps(a: Lines, b: Lines) -> bool:
    """Whether two edits share a line, one lies strictly inside the other, or both fill one gap."""
    if a.lo == a.hi == b.lo == b.hi:
        return True
    return a.lo < b.hi and b.lo < a.hi


def _composed(text: str, chosen: Iterable[Lines]) -> str:
    """Return the text with the chosen edits. A line that is no longer the last gets a line end."""
    origin = raw_lines(text)
    pieces: list[str] = []
    line = 0
    for edit in chosen:
        pieces += [*origin[line : edit.lo], edit.text]
        line = edit.hi
    pieces = [piece for piece in (*pieces, *origin[line:]) if piece]
    return "".join(
        piece if piece.endswith("\n") or index == len(pieces) - 1 else f"{piece}\n"
        for index, piece in enumerate(pieces)
    )


def check_names(files: Iterable[FileEdit], parts: Mapping[str, Sequence[TakenPart]]) -> None:
    """Refuse two files of one name: created, or renamed to it."""
    by_path: dict[str, FileEdit] = {}
    for file in files:
        if file.new is None:
            continue
        if file.path in by_path:
            owners = [visible(part.candidate) for part in parts.get(file.path, ())]
            old_paths = f"{visible(by_path[file.path].old_path)} and {visible(file.old_path)}"
            who = f" ({first_few(owners)})" if owners else ""
            raise SourceError(
                f"two choices overlap: {old_paths} would both be {visible(file.path)}{who}"
            )
        by_path[file.path] = file
