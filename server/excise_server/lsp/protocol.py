"""The custom methods: names, parameters, results. docs/lsp-extensions.md is their contract.

A test compares every class here with the table of the same name in that document. `make schema`
writes the types of the VS Code client from them. Names on the wire are camelCase as in all of the
protocol, except the clusters, which have the shape of the command's JSON.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import attrs
from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from lsprotocol import types as t

# --- revisions of one document: added, read from patches, removed, listed ---


@attrs.frozen
class Base:
    """The text that the revisions were made from, by either, both or none of the fields."""

    version: int | None = None
    hash: str | None = None


@attrs.frozen
class RevisionText:
    """One revision: its id, an optional label for people, its whole text."""

    id: str
    text: str
    label: str | None = None


@attrs.frozen
class AddRevisionsParams:
    """Revisions for one document, which need not be open."""

    uri: str
    revisions: list[RevisionText]
    base: Base | None = None


@attrs.frozen
class Rejection:
    """A revision that was not taken, and why."""

    id: str
    reason: str


@attrs.frozen
class AddRevisionsResult:
    """The revisions that were accepted and rejected."""

    accepted: list[str]
    rejected: list[Rejection]


@attrs.frozen
class AddTextParams:
    """The text that was pasted or picked for a document, and its name."""

    uri: str
    text: str
    id: str | None = None
    label: str | None = None


@attrs.frozen
class AddTextResult:
    """The candidate that it became, the form of the text, and notes."""

    id: str
    kind: str
    notes: list[str]


@attrs.frozen
class ReadPatchParams:
    """A patch, and the document that it is read for, which need not be open."""

    uri: str
    patch: str


@attrs.frozen
class ReadPatchResult:
    """The result of a patch on the origin, the subject of its mail, and notes."""

    text: str
    label: str
    notes: list[str]


@attrs.frozen
class RemoveRevisionsParams:
    """Ids to forget."""

    uri: str
    ids: list[str]


@attrs.frozen
class RemoveRevisionsResult:
    """The ids that were there, and those that were not."""

    removed: list[str]
    unknown: list[str]


@attrs.frozen
class ListRevisionsParams:
    """The document whose revisions are asked for."""

    uri: str


@attrs.frozen
class ListedRevision:
    """One revision without its text."""

    id: str
    label: str


@attrs.frozen
class ListRevisionsResult:
    """The revisions of a document in their order, or none for an unknown document."""

    revisions: list[ListedRevision]


# --- the revisions that sources found for a document ---


@attrs.frozen
class SourcesParams:
    """The document whose sources are asked for."""

    uri: str


@attrs.frozen
class SourceOrigin:
    """The text with which the revisions are compared."""

    kind: str
    label: str


@attrs.frozen
class FoundRevision:
    """A revision that a source found, and notes."""

    id: str
    label: str
    notes: list[str]


@attrs.frozen
class Refusal:
    """Something that a source found and did not take: why, and the way out (or nothing)."""

    id: str
    reason: str
    hint: str


@attrs.frozen
class SourceReport:
    """The revisions that one source found, left out as unchanged, or refused."""

    name: str
    found: list[FoundRevision]
    unchanged: list[str]
    refused: list[Refusal]


@attrs.frozen
class SourcesResult:
    """The sources of an open document that had anything to say, or none for another."""

    origin: SourceOrigin | None
    offers: list[str]
    sources: list[SourceReport]


# --- the report on the revisions of one document ---


@attrs.frozen
class ReportParams:
    """The document to report on."""

    uri: str


@attrs.frozen
class ReportRevision:
    """One revision in the report, with its rank and cluster counted from 1."""

    id: str
    label: str
    rank: int
    cluster: int
    no_op: bool
    notes: list[str]
    makers: int
    mean_similarity: float | None
    why: list[str]
    edit_size: int
    syntax_errors: bool
    stub: bool
    broken: list[str]
    file: str | None


@attrs.frozen
class ReportCluster:
    """One cluster, in the shape of the command's JSON."""

    members: list[str]
    representative: str
    min_similarity: float = attrs.field(metadata={"wire": "min_similarity"})


@attrs.frozen
class Variant:
    """One exact text of a hunk, and the revisions that have it."""

    ids: list[str]
    text: str


@attrs.frozen
class PairScore:
    """The score of two revisions in one hunk."""

    a: str
    b: str
    es: float
    keep: float | None
    add: float | None
    delete: float | None
    share: float


@attrs.frozen
class ReportHunk:
    """Lines of the origin that some revision changes, and the variants."""

    range: t.Range
    variants: list[Variant]
    agree: int
    es: float | None
    keep: float | None
    add: float | None
    delete: float | None
    share: float
    pairs: list[PairScore]


@attrs.frozen
class ReportResult:
    """Everything known of one document's revisions."""

    version: int | None
    state: int
    signature: str
    revisions: list[ReportRevision]
    similarity: list[list[float]]
    words: list[list[str]]
    clusters: list[ReportCluster]
    intent: str
    disagree: bool
    hunks: list[ReportHunk]


@attrs.frozen
class CountersParams:
    """Nothing to choose."""


@attrs.frozen
class CountersResult:
    """How many texts were parsed and pairs of revisions scored since the server began."""

    parses: int
    pairs: int


@attrs.frozen
class DidChangeReportParams:
    """A newer report can be asked for."""

    uri: str
    version: int | None


# --- edits of a document, and the documents shown next to it ---


@attrs.frozen
class ApplyRevisionParams:
    """A revision to apply to the open document of this version."""

    uri: str
    id: str
    version: int
    state: int | None = None
    anyway: bool | None = None


@attrs.frozen
class ApplyVariantParams:
    """A variant of a hunk, by their numbers in the report, to apply to this version."""

    uri: str
    hunk: int
    variant: int
    version: int
    state: int | None = None
    anyway: bool | None = None


@attrs.frozen
class ApplyResult:
    """Whether the client made the edit, and if not, why."""

    applied: bool
    reason: str


@attrs.frozen
class ShowHunkParams:
    """A hunk, by its number in the report."""

    uri: str
    hunk: int


@attrs.frozen
class ShowHunkResult:
    """The hunk as the report has it."""

    hunk: ReportHunk


@attrs.frozen
class CompareParams:
    """Revisions to compare with the origin, or all if none are named."""

    uri: str
    ids: list[str] | None = None


@attrs.frozen
class Comparison:
    """Two documents to show side by side."""

    original: str
    modified: str
    label: str


@attrs.frozen
class CompareResult:
    """One comparison per revision, in rank order."""

    changes: list[Comparison]


@attrs.frozen
class RevisionContentParams:
    """The revision whose text is requested, or without an id the origin."""

    uri: str
    id: str | None = None


@attrs.frozen
class RevisionContentResult:
    """The normalised text."""

    text: str


# --- whole candidates, over all their files: listed, added, set aside ---


@attrs.frozen
class WorktreesParams:
    """A folder or file of a repository, branches besides its worktrees, base and intent."""

    uri: str
    branches: list[str] | None = None
    base: str | None = None
    intent: str | None = None


@attrs.frozen
class CandidatesParams:
    """A folder or file of a repository, branches besides its worktrees, a batch, and the intent."""

    uri: str
    branches: list[str] | None = None
    batch: str | None = None
    intent: str | None = None


@attrs.frozen
class ChangeText:
    """A candidate's version of one file. Without a text, the file is deleted."""

    path: str
    text: str | None = None
    status: str | None = None
    old_path: str | None = None
    base: str | None = None


@attrs.frozen
class CandidateText:
    """One candidate: its id, an optional label for people, what it started from, its changes."""

    id: str
    changes: list[ChangeText]
    label: str | None = None
    base: str | None = None


@attrs.frozen
class AddCandidatesParams:
    """Candidates for the files of a workspace folder, by default the only or the first one."""

    candidates: list[CandidateText]
    folder: str | None = None


@attrs.frozen
class AddCandidatesResult:
    """The candidates that were accepted and rejected."""

    accepted: list[str]
    rejected: list[Rejection]


@attrs.frozen
class RemoveCandidatesParams:
    """Ids to forget in every document."""

    ids: list[str]


@attrs.frozen
class RemoveCandidatesResult:
    """The ids that were there, and those that were not."""

    removed: list[str]
    unknown: list[str]


@attrs.frozen
class HideParams:
    """Candidates to leave out of every review, or to show again."""

    ids: list[str]
    hidden: bool | None = None


@attrs.frozen
class RejectParams:
    """Candidates that the user decided against, or no longer."""

    ids: list[str]
    rejected: bool | None = None


@attrs.frozen
class SetAsideResult:
    """All ids that are hidden or rejected now."""

    hidden: list[str]
    rejected: list[str]


@attrs.frozen
class SetBaseParams:
    """The commit that a candidate started from, or none to detect it."""

    uri: str
    id: str
    base: str | None = None


@attrs.frozen
class SetBaseResult:
    """The id of that commit."""

    commit: str | None


@attrs.frozen
class TakeChoice:
    """A candidate, or a file of it, or a hunk of that file, by the lines of the origin."""

    candidate: str
    path: str | None = None
    hunk: str | None = None
    conflicts: bool | None = None


@attrs.frozen
class TakeParams:
    """The parts of a repository's candidates to put together, and the review of the choice."""

    uri: str
    choices: list[TakeChoice]
    digest: str | None = None
    anyway: bool | None = None


# --- the review of one document: its hunks and decisions ---


@attrs.frozen
class StartAgainParams:
    """The document whose review restarts from its current origin."""

    uri: str


@attrs.frozen
class StartAgainResult:
    """Whether there was a review that could start again."""

    started: bool


@attrs.frozen
class ReviewParams:
    """The document, the hunk after which to find the next undecided one, and whether to mark."""

    uri: str
    after: int | None = None
    marks: bool | None = None


@attrs.frozen
class ReviewCandidate:
    """A candidate that changes the document, and the decision about it."""

    id: str
    label: str
    state: str
    notes: list[str]


@attrs.frozen
class HunkMarks:
    """Tokens that the other text lacks, as characters from and to (exclusive)."""

    lost: list[list[int]]
    own: list[list[int]]


@attrs.frozen
class ReviewHunk:
    """A hunk: its lines of the origin, its place in the buffer, and the decision there."""

    lo: int
    hi: int
    range: t.Range
    text: str
    variants: list[Variant]
    decision: str
    variant: int | None
    decided: bool
    marks: list[HunkMarks] | None


@attrs.frozen
class ReviewResult:
    """The hunks of a document, decided and undecided."""

    version: int | None
    state: int
    origin: str
    pinned: bool
    signature: str
    decided: int
    undecided: int
    next: int | None
    candidates: list[ReviewCandidate]
    hunks: list[ReviewHunk]


@attrs.frozen
class DecideParams:
    """A hunk of this version whose text is to stay as the origin has it, or no longer."""

    uri: str
    hunk: int
    version: int
    state: int | None = None
    decided: bool | None = None


@attrs.frozen
class DecideResult:
    """How many hunks are decided now, and how many are not."""

    decided: int
    undecided: int


# --- the methods, and the commands of the same names ---

SCHEMA = 2
"""Version of these shapes, announced as the server's capability `experimental.excise.version`."""

APPLY_REVISION = "excise/applyRevision"
APPLY_VARIANT = "excise/applyVariant"
SHOW_HUNK = "excise/showHunk"
COMPARE = "excise/compare"
DID_CHANGE_REPORT = "excise/didChangeReport"


class Method(NamedTuple):
    """The types of one method, of which a notification has no result."""

    params: type[Any]
    result: type[Any] | None


METHODS: dict[str, Method] = {
    "excise/addRevisions": Method(AddRevisionsParams, AddRevisionsResult),
    "excise/addText": Method(AddTextParams, AddTextResult),
    "excise/readPatch": Method(ReadPatchParams, ReadPatchResult),
    "excise/removeRevisions": Method(RemoveRevisionsParams, RemoveRevisionsResult),
    "excise/startAgain": Method(StartAgainParams, StartAgainResult),
    "excise/listRevisions": Method(ListRevisionsParams, ListRevisionsResult),
    "excise/report": Method(ReportParams, ReportResult),
    "excise/sources": Method(SourcesParams, SourcesResult),
    APPLY_REVISION: Method(ApplyRevisionParams, ApplyResult),
    APPLY_VARIANT: Method(ApplyVariantParams, ApplyResult),
    SHOW_HUNK: Method(ShowHunkParams, ShowHunkResult),
    COMPARE: Method(CompareParams, CompareResult),
    "excise/revisionContent": Method(RevisionContentParams, RevisionContentResult),
    "excise/worktrees": Method(WorktreesParams, dict),
    "excise/candidates": Method(CandidatesParams, dict),
    "excise/addCandidates": Method(AddCandidatesParams, AddCandidatesResult),
    "excise/removeCandidates": Method(RemoveCandidatesParams, RemoveCandidatesResult),
    "excise/review": Method(ReviewParams, ReviewResult),
    "excise/decide": Method(DecideParams, DecideResult),
    "excise/hide": Method(HideParams, SetAsideResult),
    "excise/reject": Method(RejectParams, SetAsideResult),
    "excise/setBase": Method(SetBaseParams, SetBaseResult),
    "excise/take": Method(TakeParams, dict),
    "excise/counters": Method(CountersParams, CountersResult),
    DID_CHANGE_REPORT: Method(DidChangeReportParams, None),
}

COMMANDS: dict[str, str] = {
    method.replace("/", "."): method for method in METHODS if method != DID_CHANGE_REPORT
}
"""Commands for clients that cannot send custom requests: their one argument is the params."""


# --- to and from JSON ---


def wire_name(field: attrs.Attribute[Any]) -> str:
    """Return the name of a field on the wire.

    >>> [wire_name(field) for field in attrs.fields(DidChangeReportParams)]
    ['uri', 'version']
    """
    if (name := field.metadata.get("wire")) is not None:
        return str(name)
    first, *rest = field.name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def register(converter: Converter) -> None:
    """Teach the converter our types."""
    converter.register_structure_hook_factory(
        _is_ours,
        lambda cls: make_dict_structure_fn(cls, converter, **_renames(cls)),
    )
    converter.register_unstructure_hook_factory(
        _is_ours,
        lambda cls: make_dict_unstructure_fn(cls, converter, **_renames(cls)),
    )


@cache
def message_type(name: str) -> type[Any] | None:
    """Return the class of a whole message of one of our methods, as pygls requires.

    It is made when the first such message comes: initialize waits for none of them.
    """
    method = METHODS.get(name)
    if method is None:
        return None
    fields: dict[str, Any] = {
        "method": attrs.field(type=str),
        "jsonrpc": attrs.field(type=str),
        "params": attrs.field(type=method.params),
    }
    if method.result is not None:
        fields = {"id": attrs.field()} | fields
    return attrs.make_class(name.title().replace("/", ""), fields)


def _is_ours(cls: type[Any]) -> bool:
    return attrs.has(cls) and cls.__module__ == __name__


def _renames(cls: type[Any]) -> dict[str, Any]:
    return {field.name: override(rename=wire_name(field)) for field in attrs.fields(cls)}
