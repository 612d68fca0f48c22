"""The JSON document of `excise/candidates`: the command's, with the decisions about them."""

from __future__ import annotations

from excise_server.report.shapes import Shape
from excise_server.report.take_shapes import RefusalEntry, TakeDocument
from excise_server.report.worktree_shapes import WorktreesDocument

__all__ = ["CandidatesDocument", "ContentEntry", "SetAsideEntry", "TakenDocument"]


class SetAsideEntry(Shape, frozen=True, kw_only=True):
    """A candidate that is left out of every score, group and order."""

    id: str
    label: str
    state: str
    digest: str


class CandidatesDocument(WorktreesDocument, frozen=True, kw_only=True):
    """The answer of `excise/candidates`: the command's document for candidates not set aside."""

    set_aside: list[SetAsideEntry]
    bases: dict[str, str]
    given: list[str]


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
