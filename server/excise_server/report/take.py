"""The JSON documents of ``excise take``, as docs/json.md describes them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import TYPE_CHECKING

from excise_server.foundation.changes import Side
from excise_server.foundation.escape import spelled, visible
from excise_server.foundation.inputs import SourceError
from excise_server.review.composing import check_no_submodule
from excise_server.review.git_patch import FileEdit
from excise_server.review.hunks import hunk_name
from excise_server.review.merged_bytes import conversion
from excise_server.review.mixes import BrokenMixError
from excise_server.wire import documents as d

if TYPE_CHECKING:
    from excise_server.review.taking import Taken


def take_document(top: str, result: Taken, undo: str | None) -> d.TakeDocument:
    """Return the parts, the files and the patch.

    - ``undo``: the command that undoes the change, or None if nothing was written.
    """
    try:
        text, is_base64 = result.patch.decode(), False
    except UnicodeDecodeError:
        text, is_base64 = b64encode(result.patch).decode(), True
    return d.TakeDocument.of(
        result,
        repository=visible(top),
        parts=[
            d.TakenPartEntry(
                candidate=part.candidate,
                path=spelled(part.path),
                hunk=None if part.lines is None else hunk_name(*part.lines),
            )
            for part in result.parts
        ],
        units=[
            d.TakenUnitEntry(
                candidate=unit.candidate,
                path=spelled(unit.path),
                hunks=[hunk_name(*lines) for lines in unit.hunks],
                chosen=[hunk_name(*lines) for lines in unit.chosen],
                names=list(map(visible, unit.names)),
                whole=unit.is_whole,
            )
            for unit in result.units
        ],
        files=[_file(file) for file in result.files],
        patch=text,
        base64=is_base64,
        written=undo is not None,
        undo=None if undo is None else visible(undo),
        beyond_git=[
            d.BeyondGitEntry(path=spelled(path), lines=list(lines))
            for path, lines in sorted(result.beyond_git.items())
        ],
        notes=list(result.notes),
    )


def undone_document(
    top: str, time: str, files: Sequence[FileEdit], notes: Sequence[str]
) -> d.UndoneDocument:
    """Return the take of a time that was undone, with the files as they change by that."""
    entries = list(map(_file, files))
    return d.UndoneDocument(repository=visible(top), time=time, files=entries, notes=[*notes])


def _file(file: FileEdit) -> d.TakenFileEntry:
    return d.TakenFileEntry.of(file, path=spelled(file.path), old_path=spelled(file.old_path))


def taken_document(
    top: str, result: Taken, refusal: BrokenMixError | None = None
) -> d.TakenDocument:
    """Return the same with the files themselves: for an editor, which writes them its own way.

    Raises SourceError if the name of a file is not text, or it is a submodule.
    """
    contents = []
    for file in result.files:
        check_no_submodule(file)
        if spelled(file.path) != file.path or spelled(file.old_path) != file.old_path:
            reason = f"{spelled(file.path)}: an editor cannot write this name"
            raise SourceError(reason, hint="take it with excise take --write")
        old, new = file.old, file.new
        is_text = all(side is None or side.lines is not None for side in (old, new))
        contents.append(
            d.ContentEntry.of(
                _file(file),
                old_mode=old and old.mode,
                mode=new and new.mode,
                old=old and b64encode(old.data).decode(),
                new=new and b64encode(new.data).decode(),
                is_text=is_text and _is_edit_of_text(old, new),
            )
        )
    return d.TakenDocument.of(
        take_document(top, result, None),
        contents=contents,
        refusal=None if refusal is None else refusal_entry(refusal),
    )


def refusal_entry(error: BrokenMixError) -> d.RefusalEntry:
    """Return why a mix is refused, for programs."""
    findings = [d.FindingEntry.of(found, name=visible(found.name)) for found in error.findings]
    return d.RefusalEntry(message=error.reason, findings=findings)


def _is_edit_of_text(old: Side | None, new: Side | None) -> bool:
    """Whether the change is one of the text, which an editor can make in its own bytes."""
    if old is None or new is None or old.data == new.data:
        return True
    before, after = old.lines, new.lines
    if before is None or after is None or old.text == new.text or before.mark != after.mark:
        return False
    is_utf8 = {before.encoding, after.encoding} <= {"ascii", "utf-8"}
    return (is_utf8 or before.encoding == after.encoding) and not any(conversion(before, after))
