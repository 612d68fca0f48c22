"""The custom methods: names, types, and the commands of the same names."""

from __future__ import annotations

from typing import Any, NamedTuple

from excise_server.lsp.protocol.actions import (
    ApplyResult,
    ApplyRevisionParams,
    ApplyVariantParams,
    CompareParams,
    CompareResult,
    RevisionContentParams,
    RevisionContentResult,
    ShowHunkParams,
    ShowHunkResult,
)
from excise_server.lsp.protocol.candidates import (
    AddCandidatesParams,
    AddCandidatesResult,
    CandidatesParams,
    HideParams,
    RejectParams,
    RemoveCandidatesParams,
    RemoveCandidatesResult,
    SetAsideResult,
    SetBaseParams,
    SetBaseResult,
    TakeParams,
    WorktreesParams,
)
from excise_server.lsp.protocol.reports import (
    CountersParams,
    CountersResult,
    DidChangeReportParams,
    ReportParams,
    ReportResult,
)
from excise_server.lsp.protocol.review import (
    DecideParams,
    DecideResult,
    ReviewParams,
    ReviewResult,
    StartAgainParams,
    StartAgainResult,
)
from excise_server.lsp.protocol.revisions import (
    AddRevisionsParams,
    AddRevisionsResult,
    AddTextParams,
    AddTextResult,
    ListRevisionsParams,
    ListRevisionsResult,
    ReadPatchParams,
    ReadPatchResult,
    RemoveRevisionsParams,
    RemoveRevisionsResult,
)
from excise_server.lsp.protocol.sources import (
    SourcesParams,
    SourcesResult,
)

__all__ = [
    "ADD_CANDIDATES",
    "ADD_REVISIONS",
    "ADD_TEXT",
    "APPLY_REVISION",
    "APPLY_VARIANT",
    "CANDIDATES",
    "COMMANDS",
    "COMPARE",
    "COUNTERS",
    "DECIDE",
    "DID_CHANGE_REPORT",
    "HIDE",
    "LIST_REVISIONS",
    "METHODS",
    "READ_PATCH",
    "REJECT",
    "REMOVE_CANDIDATES",
    "REMOVE_REVISIONS",
    "REPORT",
    "REVIEW",
    "REVISION_CONTENT",
    "SCHEMA",
    "SET_BASE",
    "SHOW_HUNK",
    "SOURCES",
    "START_AGAIN",
    "TAKE",
    "WORKTREES",
    "Method",
]

SCHEMA = 2
"""Version of these shapes, announced as the server's capability `experimental.excise.version`."""

ADD_REVISIONS = "excise/addRevisions"
REMOVE_REVISIONS = "excise/removeRevisions"
LIST_REVISIONS = "excise/listRevisions"
ADD_TEXT = "excise/addText"
READ_PATCH = "excise/readPatch"
REPORT = "excise/report"
SOURCES = "excise/sources"
APPLY_REVISION = "excise/applyRevision"
APPLY_VARIANT = "excise/applyVariant"
SHOW_HUNK = "excise/showHunk"
COMPARE = "excise/compare"
REVISION_CONTENT = "excise/revisionContent"
WORKTREES = "excise/worktrees"
START_AGAIN = "excise/startAgain"
CANDIDATES = "excise/candidates"
ADD_CANDIDATES = "excise/addCandidates"
REMOVE_CANDIDATES = "excise/removeCandidates"
REVIEW = "excise/review"
DECIDE = "excise/decide"
HIDE = "excise/hide"
REJECT = "excise/reject"
SET_BASE = "excise/setBase"
TAKE = "excise/take"
COUNTERS = "excise/counters"
DID_CHANGE_REPORT = "excise/didChangeReport"

"""The name of `SHOW_HUNK` in version 0.1, understood for one release."""


class Method(NamedTuple):
    """The types of one method, of which a notification has no result."""

    params: type[Any]
    result: type[Any] | None


METHODS: dict[str, Method] = {
    ADD_REVISIONS: Method(AddRevisionsParams, AddRevisionsResult),
    ADD_TEXT: Method(AddTextParams, AddTextResult),
    READ_PATCH: Method(ReadPatchParams, ReadPatchResult),
    REMOVE_REVISIONS: Method(RemoveRevisionsParams, RemoveRevisionsResult),
    START_AGAIN: Method(StartAgainParams, StartAgainResult),
    LIST_REVISIONS: Method(ListRevisionsParams, ListRevisionsResult),
    REPORT: Method(ReportParams, ReportResult),
    SOURCES: Method(SourcesParams, SourcesResult),
    APPLY_REVISION: Method(ApplyRevisionParams, ApplyResult),
    APPLY_VARIANT: Method(ApplyVariantParams, ApplyResult),
    SHOW_HUNK: Method(ShowHunkParams, ShowHunkResult),
    COMPARE: Method(CompareParams, CompareResult),
    REVISION_CONTENT: Method(RevisionContentParams, RevisionContentResult),
    WORKTREES: Method(WorktreesParams, dict),
    CANDIDATES: Method(CandidatesParams, dict),
    ADD_CANDIDATES: Method(AddCandidatesParams, AddCandidatesResult),
    REMOVE_CANDIDATES: Method(RemoveCandidatesParams, RemoveCandidatesResult),
    REVIEW: Method(ReviewParams, ReviewResult),
    DECIDE: Method(DecideParams, DecideResult),
    HIDE: Method(HideParams, SetAsideResult),
    REJECT: Method(RejectParams, SetAsideResult),
    SET_BASE: Method(SetBaseParams, SetBaseResult),
    TAKE: Method(TakeParams, dict),
    COUNTERS: Method(CountersParams, CountersResult),
    DID_CHANGE_REPORT: Method(DidChangeReportParams, None),
}

COMMANDS: dict[str, str] = {
    method.replace("/", "."): method for method in METHODS if method != DID_CHANGE_REPORT
}
"""Commands for clients that cannot send custom requests: their one argument is the params."""
