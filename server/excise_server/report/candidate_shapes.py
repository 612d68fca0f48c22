"""The JSON document of `excise/candidates`: the command's, and what was decided about them."""

from __future__ import annotations

from excise_server.report.shapes import Shape
from excise_server.report.worktree_shapes import WorktreesDocument

__all__ = ["CandidatesDocument", "SetAsideEntry"]


class SetAsideEntry(Shape, frozen=True, kw_only=True):
    """A candidate that is left out of every score, group and order."""

    id: str
    label: str
    state: str
    digest: str


class CandidatesDocument(WorktreesDocument, frozen=True, kw_only=True):
    """What `excise/candidates` answers: that of the command, of those that are not set aside."""

    set_aside: list[SetAsideEntry]
    bases: dict[str, str]
    given: list[str]
