"""The result of a take, for programs."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence

from excise_server.candidates.take import TakenFromReview
from excise_server.foundation.changes import Side
from excise_server.foundation.escape import spelled, visible
from excise_server.foundation.inputs import SourceError
from excise_server.report.candidate_shapes import ContentEntry, TakenDocument
from excise_server.report.take_shapes import (
    FindingEntry,
    RefusalEntry,
    TakeDocument,
    TakenFileEntry,
    TakenPartEntry,
    UndoneDocument,
)
from excise_server.review.composing import check_no_submodule
from excise_server.review.git_patch import FileEdit
from excise_server.review.hunks import hunk_name
from excise_server.review.merged_bytes import conversion
from excise_server.review.mixes import BrokenMixError

__all__ = ["refusal_entry", "refused_document", "take_document", "taken_document"]
__all__ += ["undone_document"]


def take_document(top: str, result: TakenFromReview, undo: str | None) -> TakeDocument:
    """Return the parts, the files and the patch.

    Parameters
    ----------
    top
        The top folder of the repository's working tree.
    undo
        The command that undoes the change, or None if nothing was written.
    """
    try:
        text, is_base64 = result.patch.decode(), False
    except UnicodeDecodeError:
        text, is_base64 = b64encode(result.patch).decode(), True
    return TakeDocument(
        repository=visible(top),
        origin=result.origin,
        digest=result.digest,
        parts=[
            TakenPartEntry(
                candidate=part.candidate,
                path=spelled(part.path),
                hunk=None if part.lines is None else hunk_name(*part.lines),
            )
            for part in result.taken.parts
        ],
        files=[_file(file) for file in result.taken.files],
        patch=text,
        base64=is_base64,
        written=undo is not None,
        undo=None if undo is None else visible(undo),
        notes=list(result.taken.notes),
    )


def undone_document(
    top: str, time: str, files: Sequence[FileEdit], notes: Sequence[str]
) -> UndoneDocument:
    """Return the take of a time that was undone, with the files as they change by that."""
    return UndoneDocument(
        repository=visible(top), time=time, files=[_file(file) for file in files], notes=[*notes]
    )


def _file(file: FileEdit) -> TakenFileEntry:
    return TakenFileEntry(
        path=spelled(file.path), old_path=spelled(file.old_path), status=file.status
    )


def taken_document(top: str, result: TakenFromReview) -> TakenDocument:
    """Return the same with the files themselves: for an editor, which writes them its own way.

    Raises
    ------
    SourceError
        If the name of a file is not text, or it is a submodule.
    """
    for file in result.taken.files:
        check_no_submodule(file)
        if spelled(file.path) != file.path or spelled(file.old_path) != file.old_path:
            reason = f"{spelled(file.path)}: an editor cannot write this name"
            raise SourceError(reason, hint="take it with excise take --write")
    document = take_document(top, result, None)
    values = {name: getattr(document, name) for name in document.__struct_fields__}
    return TakenDocument(**values, contents=[_content(file) for file in result.taken.files])


def refused_document(top: str, origin: str, error: BrokenMixError) -> TakenDocument:
    """Return the document of a mix that is refused."""
    return TakenDocument(
        repository=visible(top),
        origin=origin,
        digest="",
        parts=[],
        files=[],
        patch="",
        base64=False,
        written=False,
        undo=None,
        notes=[],
        contents=[],
        refusal=refusal_entry(error),
    )


def refusal_entry(error: BrokenMixError) -> RefusalEntry:
    """Return why a mix is refused, for programs."""
    findings = [
        FindingEntry(
            path=finding.path,
            line=finding.line,
            kind=finding.kind,
            name=visible(finding.name),
            message=finding.message,
        )
        for finding in error.findings
    ]
    return RefusalEntry(message=error.reason, findings=findings, mend=error.mend)


def _content(file: FileEdit) -> ContentEntry:
    old, new = file.old, file.new
    sides = [side for side in (old, new) if side is not None]
    return ContentEntry(
        path=spelled(file.path),
        old_path=spelled(file.old_path),
        status=file.status,
        old_mode=None if old is None else old.mode,
        mode=None if new is None else new.mode,
        old=_encoded(old),
        new=_encoded(new),
        is_text=all(side.lines is not None for side in sides) and _is_edit_of_text(old, new),
    )


def _is_edit_of_text(old: Side | None, new: Side | None) -> bool:
    """Whether the change is one of the text, which an editor can make in its own bytes."""
    if old is None or new is None or old.data == new.data:
        return True
    before, after = old.lines, new.lines
    if before is None or after is None or old.text == new.text or before.mark != after.mark:
        return False
    is_utf8 = {before.encoding, after.encoding} <= {"ascii", "utf-8"}
    return (is_utf8 or before.encoding == after.encoding) and not any(conversion(before, after))


def _encoded(side: Side | None) -> str | None:
    return None if side is None else b64encode(side.data).decode()
