"""What was taken, for programs."""

from __future__ import annotations

from base64 import b64encode

from excise_server.report.take_shapes import TakeDocument, TakenFileEntry, TakenPartEntry
from excise_server.review.hunks import hunk_name
from excise_server.sources.paths import visible
from excise_server.take import TakenFromReview

__all__ = ["take_document"]


def take_document(top: str, result: TakenFromReview, undo: str | None) -> TakeDocument:
    """Return the parts, the files and the patch.

    Parameters
    ----------
    top
        The top folder of the repository's working tree.
    undo
        The command that takes back what was written; None: nothing was.
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
