"""The result of a take, for programs."""

from __future__ import annotations

from base64 import b64encode

from excise_server.candidates.take import TakenFromReview
from excise_server.foundation.changes import LINK, Side
from excise_server.foundation.inputs import SourceError
from excise_server.foundation.paths import visible
from excise_server.report.candidate_shapes import ContentEntry, TakenDocument
from excise_server.report.take_shapes import TakeDocument, TakenFileEntry, TakenPartEntry
from excise_server.review.git_patch import FileEdit
from excise_server.review.hunks import hunk_name

__all__ = ["take_document", "taken_document"]


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
                path=visible(part.path),
                hunk=None if part.lines is None else hunk_name(*part.lines),
            )
            for part in result.taken.parts
        ],
        files=[
            TakenFileEntry(
                path=visible(file.path), old_path=visible(file.old_path), status=file.status
            )
            for file in result.taken.files
        ],
        patch=text,
        base64=is_base64,
        written=undo is not None,
        undo=None if undo is None else visible(undo),
        notes=list(result.taken.notes),
    )


def taken_document(top: str, result: TakenFromReview) -> TakenDocument:
    """Return the same with the files themselves: for an editor, which writes them its own way.

    Raises
    ------
    SourceError
        If the name of a file is not text.
    """
    for file in result.taken.files:
        if visible(file.path) != file.path or visible(file.old_path) != file.old_path:
            reason = f"{visible(file.path)}: an editor cannot write this name"
            raise SourceError(reason, hint="take it with excise take --write")
    document = take_document(top, result, None)
    values = {name: getattr(document, name) for name in document.__struct_fields__}
    return TakenDocument(**values, contents=[_content(file) for file in result.taken.files])


def _content(file: FileEdit) -> ContentEntry:
    old, new = file.old, file.new
    sides = [side for side in (old, new) if side is not None]
    return ContentEntry(
        path=visible(file.path),
        old_path=visible(file.old_path),
        status=file.status,
        old_mode=None if old is None else old.mode,
        mode=None if new is None else new.mode,
        old=_encoded(old),
        new=_encoded(new),
        is_text=all(side.mode != LINK and side.text is not None for side in sides),
    )


def _encoded(side: Side | None) -> str | None:
    return None if side is None else b64encode(side.data).decode()
