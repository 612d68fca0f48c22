"""The JSON documents of ``excise take``, as docs/json.md describes them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import TYPE_CHECKING

from excise_server.foundation.changes import Side
from excise_server.foundation.escape import spelled, visible
from excise_server.foundation.inputs import SourceError
from excise_server.report.documents import SCHEMA, Shape
from excise_server.review.composing import check_no_submodule
from excise_server.review.git_patch import FileEdit
from excise_server.review.hunks import hunk_name
from excise_server.review.merged_bytes import conversion
from excise_server.review.mixes import BrokenMixError

if TYPE_CHECKING:
    from excise_server.candidates.take import TakenFromReview

__all__ = ["CheckedDocument", "RefusalEntry", "TakeDocument", "TakenDocument", "UndoneDocument"]
__all__ += ["refusal_entry", "refused_document", "take_document", "taken_document"]
__all__ += ["undone_document"]


class TakenPartEntry(Shape, frozen=True, kw_only=True):
    """A part of the result and its candidate, without a hunk for a file, name or mode."""

    candidate: str
    path: str
    hunk: str | None


class TakenFileEntry(Shape, frozen=True, kw_only=True):
    """A file that is changed."""

    path: str
    old_path: str
    status: str


class TakeDocument(Shape, frozen=True, kw_only=True):
    """The output of ``take --json``, with the patch in base64 if it is not UTF-8."""

    schema: int = SCHEMA
    repository: str
    origin: str
    digest: str
    parts: list[TakenPartEntry]
    files: list[TakenFileEntry]
    patch: str
    base64: bool
    written: bool
    undo: str | None
    notes: list[str]


class UndoneDocument(Shape, frozen=True, kw_only=True):
    """The output of ``take --undo --json``: when the take was made, and how its files change."""

    schema: int = SCHEMA
    repository: str
    time: str
    files: list[TakenFileEntry]
    notes: list[str]


class FindingEntry(Shape, frozen=True, kw_only=True):
    """Something in a mix that cannot work: its line (from 1), its kind and the missing name."""

    path: str
    line: int
    kind: str
    name: str
    message: str


class RefusalEntry(Shape, frozen=True, kw_only=True):
    """Why a mix is refused, and the command that takes what is missing, or an empty string."""

    message: str
    findings: list[FindingEntry]
    mend: str


class CheckedDocument(Shape, frozen=True, kw_only=True):
    """What a worker says of each edit of a document: why it is refused, or `null`."""

    refusals: list[RefusalEntry | None]


class ContentEntry(Shape, frozen=True, kw_only=True):
    """A changed file, before and after, in base64, or `null` if it does not exist.

    ``edits`` and ``version`` are the language server's: what to edit in the editor's own text.
    """

    path: str
    old_path: str
    status: str
    old_mode: str | None
    mode: str | None
    old: str | None
    new: str | None
    is_text: bool


class TakenDocument(TakeDocument, frozen=True, kw_only=True):
    """The answer of `excise/take`: the command's document, and the files themselves.

    Of a mix that is refused there are none, but the ``refusal``, which is sent as an error.
    """

    contents: list[ContentEntry]
    refusal: RefusalEntry | None = None


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
    return TakeDocument.of(
        result,
        repository=visible(top),
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
    entries = list(map(_file, files))
    return UndoneDocument(repository=visible(top), time=time, files=entries, notes=[*notes])


def _file(file: FileEdit) -> TakenFileEntry:
    return TakenFileEntry.of(file, path=spelled(file.path), old_path=spelled(file.old_path))


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
    return TakenDocument.of(document, contents=[_content(file) for file in result.taken.files])


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
    findings = [FindingEntry.of(found, name=visible(found.name)) for found in error.findings]
    return RefusalEntry(message=error.reason, findings=findings, mend=error.mend)


def _content(file: FileEdit) -> ContentEntry:
    old, new = file.old, file.new
    sides = [side for side in (old, new) if side is not None]
    return ContentEntry.of(
        _file(file),
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
