"""The custom methods: names, parameters, results. docs/lsp-extensions.md is their contract.

A test compares every class here with the table of the same name in that document, and one in the
VS Code client with its own: so they stand together, however many there are. Names on the wire are
camelCase as everywhere in the protocol, except the clusters, which have the shape of the command's
JSON.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import attrs
from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from lsprotocol import types as t

__all__ = [
    "ADD_REVISIONS",
    "APPLY_REVISION",
    "APPLY_VARIANT",
    "COMMANDS",
    "COMPARE",
    "DID_CHANGE_REPORT",
    "FORMER_COMMANDS",
    "LIST_REVISIONS",
    "METHODS",
    "READ_PATCH",
    "REMOVE_REVISIONS",
    "REPORT",
    "REVISION_CONTENT",
    "SCHEMA",
    "SHOW_HUNK",
    "SHOW_PLACE",
    "SOURCES",
    "START_AGAIN",
    "WORKTREES",
    "register",
    "wire_name",
]

logger = logging.getLogger(__name__)

SCHEMA = 2
"""Version of these shapes, announced as the server's capability `experimental.excise.schema`."""

ADD_REVISIONS = "excise/addRevisions"
REMOVE_REVISIONS = "excise/removeRevisions"
LIST_REVISIONS = "excise/listRevisions"
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
DID_CHANGE_REPORT = "excise/didChangeReport"

SHOW_PLACE = "excise/showPlace"
"""What `SHOW_HUNK` was called in 0.1: understood for one release."""


@attrs.frozen
class Base:
    """What the revisions were made from; either, both or none of the fields."""

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
    """What became of each revision."""

    accepted: list[str]
    rejected: list[Rejection]


@attrs.frozen
class ReadPatchParams:
    """A patch, and the document that it is read for, which need not be open."""

    uri: str
    patch: str


@attrs.frozen
class ReadPatchResult:
    """The text that a patch makes of the origin, its mail's subject, and what to know of it."""

    text: str
    label: str
    notes: list[str]


@attrs.frozen
class StartAgainParams:
    """The document whose review starts again from what its origin is now."""

    uri: str


@attrs.frozen
class StartAgainResult:
    """Whether there was a review that could start again."""

    started: bool


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
    """The revisions of a document in their order; none for an unknown document."""

    revisions: list[ListedRevision]


@attrs.frozen
class ReportParams:
    """The document to report on."""

    uri: str


@attrs.frozen
class ReportRevision:
    """One revision in the report; rank and cluster count from 1."""

    id: str
    label: str
    rank: int
    cluster: int
    no_op: bool
    notes: list[str]
    agreement: float | None
    edit_size: int
    score: float
    syntax_errors: bool
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
    """Lines of the origin that some revision changes, and what each has instead."""

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
    hunks: list[ReportHunk]


@attrs.frozen
class SourcesParams:
    """The document whose sources are asked for."""

    uri: str


@attrs.frozen
class SourceOrigin:
    """Which text the revisions are compared with."""

    kind: str
    label: str


@attrs.frozen
class FoundRevision:
    """A revision that entered by itself, and what to know of it."""

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
    """What one source found, what had not changed, and what it refused."""

    name: str
    found: list[FoundRevision]
    unchanged: list[str]
    refused: list[Refusal]


@attrs.frozen
class SourcesResult:
    """The sources of an open document that had anything to say; none for another."""

    origin: SourceOrigin | None
    offers: list[str]
    sources: list[SourceReport]


@attrs.frozen
class ApplyRevisionParams:
    """A revision to apply to the open document of this version."""

    uri: str
    id: str
    version: int
    state: int | None = None


@attrs.frozen
class ApplyVariantParams:
    """A variant of a hunk, by their numbers in the report, to apply to this version."""

    uri: str
    hunk: int = attrs.field(metadata={"former": "place"})
    variant: int
    version: int
    state: int | None = None


@attrs.frozen
class ApplyResult:
    """Whether the client made the edit, and if not, why."""

    applied: bool
    reason: str


@attrs.frozen
class ShowHunkParams:
    """A hunk, by its number in the report."""

    uri: str
    hunk: int = attrs.field(metadata={"former": "place"})


@attrs.frozen
class ShowHunkResult:
    """The hunk as the report has it."""

    hunk: ReportHunk


@attrs.frozen
class CompareParams:
    """Revisions to compare with the origin; all if none are named."""

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
    """A revision whose text is asked for; without an id, the origin."""

    uri: str
    id: str | None = None


@attrs.frozen
class RevisionContentResult:
    """The normalised text."""

    text: str


@attrs.frozen
class WorktreesParams:
    """A folder or file of a repository, the branches to look at beside its worktrees, the base."""

    uri: str
    branches: list[str] | None = None
    base: str | None = None


@attrs.frozen
class DidChangeReportParams:
    """A newer report can be asked for."""

    uri: str
    version: int | None


class Method(NamedTuple):
    """The types of one method; a notification has no result."""

    params: type[Any]
    result: type[Any] | None


METHODS: dict[str, Method] = {
    ADD_REVISIONS: Method(AddRevisionsParams, AddRevisionsResult),
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
    DID_CHANGE_REPORT: Method(DidChangeReportParams, None),
}

COMMANDS: dict[str, str] = {
    method.replace("/", "."): method for method in METHODS if method != DID_CHANGE_REPORT
}
"""Commands for clients that cannot send custom requests: their one argument is the params."""

FORMER_COMMANDS = {"excise.showPlace": SHOW_PLACE}


def wire_name(field: attrs.Attribute[Any]) -> str:
    """Return the name of a field on the wire.

    >>> [wire_name(field) for field in attrs.fields(DidChangeReportParams)]
    ['uri', 'version']
    """
    if (name := field.metadata.get("wire")) is not None:
        return str(name)
    first, *rest = field.name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def register(converter: Converter) -> dict[str, type[Any]]:
    """Teach the converter our types; return the message type of each method."""
    converter.register_structure_hook_factory(
        _is_ours,
        lambda cls: _structuring(cls, make_dict_structure_fn(cls, converter, **_renames(cls))),
    )
    converter.register_unstructure_hook_factory(
        _is_ours,
        lambda cls: make_dict_unstructure_fn(cls, converter, **_renames(cls)),
    )
    methods = METHODS | {SHOW_PLACE: METHODS[SHOW_HUNK]}
    return {name: _message(name, method) for name, method in methods.items()}


def _is_ours(cls: type[Any]) -> bool:
    return attrs.has(cls) and cls.__module__ == __name__


def _structuring(cls: type[Any], structure: Callable[..., Any]) -> Callable[..., Any]:
    """Return the hook of a class, which also takes the former names of its fields."""
    former = {
        field.metadata["former"]: wire_name(field)
        for field in attrs.fields(cls)
        if "former" in field.metadata
    }
    if not former:
        return structure

    def with_former_names(value: object, kind: object) -> object:
        if isinstance(value, dict):
            for old, now in former.items():
                if old in value and now not in value:
                    logger.warning("the field %s is called %s now", old, now)
                    value = {**value, now: value[old]}
        return structure(value, kind)

    return with_former_names


def _renames(cls: type[Any]) -> dict[str, Any]:
    return {field.name: override(rename=wire_name(field)) for field in attrs.fields(cls)}


def _message(name: str, method: Method) -> type[Any]:
    """Return the class of a whole message, as pygls wants it."""
    fields: dict[str, Any] = {
        "method": attrs.field(type=str),
        "jsonrpc": attrs.field(type=str),
        "params": attrs.field(type=method.params),
    }
    if method.result is not None:
        fields = {"id": attrs.field()} | fields
    return attrs.make_class(name.title().replace("/", ""), fields)
