"""The custom methods: names, parameters, results. docs/lsp-extensions.md is their contract.

A test compares every record here with the table of the same name in that document. `make schema`
writes the types of the VS Code client from them. Names on the wire are camelCase as in all of the
protocol, except what has the shape of the commands' JSON (`documents`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec
from lsprotocol import types as t

from excise_server.wire.documents import (
    FinishDocument,
    GroupEntry,
    RejectedEntry,
    ReviewVariantEntry,
)
from excise_server.wire.sources import CHOSEN, OriginChoice


class ProtocolRecord(msgspec.Struct, rename="camel"):
    """A record of the protocol."""


class DocumentParams(ProtocolRecord):
    """The document that is asked about."""

    uri: str


# --- revisions of one document ---


class Base(ProtocolRecord):
    """The text that the revisions were made from, by either, both or none of the fields."""

    version: int | None = None
    hash: str | None = None


class RevisionText(ProtocolRecord):
    """One revision: its id, an optional label for people, its whole text."""

    id: str
    text: str
    label: str | None = None


class AddRevisionsParams(DocumentParams):
    """Revisions for one document, which need not be open."""

    revisions: list[RevisionText]
    base: Base | None = None


class Accepted(ProtocolRecord):
    """The revisions or candidates that were accepted and rejected."""

    accepted: list[str]
    rejected: list[RejectedEntry]


class Removed(ProtocolRecord):
    """The ids that were there, and those that were not."""

    removed: list[str]
    unknown: list[str]


# --- the revisions that sources found for a document ---


class SourceOrigin(ProtocolRecord):
    """The text with which the revisions are compared."""

    kind: str
    label: str


class FoundRevision(ProtocolRecord):
    """A revision that a source found, and notes."""

    id: str
    label: str
    notes: list[str]


class Refusal(ProtocolRecord):
    """Something that a source found and did not take: why, and the way out (or nothing)."""

    id: str
    reason: str
    hint: str


class SourceReport(ProtocolRecord):
    """The revisions that one source found, left out as unchanged, or refused."""

    name: str
    found: list[FoundRevision]
    unchanged: list[str]
    refused: list[Refusal]


# --- the report on the revisions of one document ---


class ReportRevision(ProtocolRecord):
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


class PairScore(ProtocolRecord):
    """The score of two revisions in one hunk."""

    a: str
    b: str
    es: float
    keep: float | None
    add: float | None
    delete: float | None
    share: float


class ReportHunk(ProtocolRecord):
    """Lines of the origin that some revision changes, and the variants."""

    range: t.Range
    variants: list[ReviewVariantEntry]
    agree: int
    es: float | None
    keep: float | None
    add: float | None
    delete: float | None
    share: float
    pairs: list[PairScore]


class ReportResult(ProtocolRecord):
    """Everything known of one document's revisions."""

    version: int | None
    state: int
    signature: str
    revisions: list[ReportRevision]
    similarity: list[list[float]]
    words: list[list[str]]
    clusters: list[GroupEntry]
    intent: str
    disagree: bool
    hunks: list[ReportHunk]


class DidChangeReportParams(DocumentParams):
    """A newer report can be asked for."""

    version: int | None


# --- edits of a document, and pages about it ---


class ApplyParams(DocumentParams):
    """A revision (``id``), or a variant of a hunk, to apply to the open document of this version.

    The hunks that belong with a variant are taken as well, unless ``split``.
    """

    version: int
    id: str | None = None
    hunk: int | None = None
    variant: int | None = None
    state: int | None = None
    anyway: bool | None = None
    split: bool | None = None


class ApplyResult(ProtocolRecord):
    """Whether the client made the edit, if not, why, and what was checked of a mix."""

    applied: bool
    reason: str
    checked: str


class ShowParams(DocumentParams):
    """What is shown to whoever has a client without code for us.

    - ``page``: ``review`` (the hunks of a document, at ``hunk``), ``candidates`` (of its
      repository), ``candidate`` (``id``, or the origin), ``actions`` (the rest of a menu).
    - ``lines``, ``version``, ``state``, ``only``: of the menu, as its last entry has them.
    """

    page: Literal["review", "candidates", "candidate", "actions"] = "review"
    hunk: int | None = None
    id: str | None = None
    lines: list[int] | None = None
    version: int | None = None
    state: int | None = None
    only: list[str] | None = None


# --- whole candidates, over all their files: listed, added, set aside ---


if TYPE_CHECKING:
    _Choosing = DocumentParams
else:  # a field for each source that a request may choose
    _Choosing = msgspec.defstruct(
        "_Choosing", [(name, list[str] | None, None) for name in CHOSEN], bases=(DocumentParams,)
    )


class ChoosingParams(_Choosing):
    """A folder or file of a repository, and its candidates by the words of the command's options.

    What is absent is as the settings have it.
    """

    only: list[str] | None = None
    onto: str | None = None
    base: list[str] | None = None
    issue: str | None = None
    verdicts: list[str] | None = None
    task: str | None = None


class SinceParams(ProtocolRecord):
    """A folder or file of a repository, and two versions of a candidate (docs/since.md).

    Without ``old``, it is what the user looked at last; without ``new``, the checkout.
    """

    uri: str
    old: str | None = None
    new: str | None = None
    onto: str | None = None
    path: list[str] | None = None


class CandidatesParams(ChoosingParams):
    """Candidates, the files or hunks of them that count, and what they are for."""

    path: list[str] | None = None
    intent: str | None = None


class ChangeText(ProtocolRecord):
    """A candidate's version of one file. Without a text, the file is deleted."""

    path: str
    text: str | None = None
    status: str | None = None
    old_path: str | None = None
    base: str | None = None


class CandidateText(ProtocolRecord):
    """One candidate: its id, an optional label for people, what it started from, its changes."""

    id: str
    changes: list[ChangeText]
    label: str | None = None
    base: str | None = None


class AddCandidatesParams(ProtocolRecord):
    """Candidates for the files of a workspace folder, by default the only or the first one."""

    candidates: list[CandidateText]
    folder: str | None = None


class RemoveCandidatesParams(ProtocolRecord):
    """Ids to forget: of the client's candidates in every document, or of all those of one."""

    ids: list[str]
    uri: str | None = None


class SetCandidatesParams(ProtocolRecord):
    """What the user decided of candidates, for every review of the workspace.

    - ``state``: whether they are left out.
    - ``base``: the commit of the repository of ``uri`` that they started from; empty: what is found
      out counts again.
    """

    ids: list[str]
    state: Literal["shown", "hidden", "rejected"] | None = None
    base: str | None = None
    uri: str | None = None


class SetCandidatesResult(ProtocolRecord):
    """All ids that are left out now, and the id of the commit that was set as a base."""

    hidden: list[str]
    rejected: list[str]
    commit: str | None


class TakeChoice(ProtocolRecord):
    """A candidate, or a file of it, or a hunk of that file, by the lines of the origin."""

    candidate: str
    path: str | None = None
    hunk: str | None = None
    conflicts: bool | None = None


class TakeParams(ProtocolRecord):
    """The parts of a repository's candidates to put together, and the review of the choice.

    With ``apply`` the client is sent the edit of all files, instead of their contents.
    """

    uri: str
    choices: list[TakeChoice]
    digest: str | None = None
    issue: str | None = None
    anyway: bool | None = None
    split: bool | None = None
    apply: bool | None = None


class FinishParams(ProtocolRecord):
    """The repository of a review that ends, and what to do: without ``write``, only say what.

    - ``digest``: of the plan that the user agreed to; another one is refused.
    - ``subject``: the first line of the message.
    - ``run``: a command that must pass, before anything is committed.
    - ``write``: whether the files of the plan are committed.
    - ``remove``: ids of worktrees to remove, once that is done.
    - ``agreed``: the ``state`` of those of which the user agreed to what ``also`` goes.
    """

    uri: str
    digest: str | None = None
    subject: str | None = None
    run: str | None = None
    write: bool | None = None
    remove: list[str] | None = None
    agreed: list[str] | None = None


class FinishCheck(ProtocolRecord):
    """A command that was run: why it did not pass (empty: it did), and its last lines then."""

    command: str
    reason: str
    output: list[str]


class FinishResult(ProtocolRecord):
    """The plan, how the check went, the commit, and the worktrees that were removed, or why not."""

    plan: FinishDocument
    check: FinishCheck | None
    commit: str | None
    removed: list[str]
    kept: list[RejectedEntry]


class LandParams(ChoosingParams):
    """Candidates to put together, by id or label; without any, those of all tasks, or of one."""

    candidates: list[str] | None = None
    anyway: bool | None = None


# --- the review of one document: its hunks and decisions ---


class StartAgainParams(DocumentParams):
    """The document, and what all documents are compared with from now on, if that is new."""

    origin: OriginChoice | None = None


class StartAgainResult(ProtocolRecord):
    """Whether there was a review that could start again."""

    started: bool


class ReviewParams(DocumentParams):
    """The document, the hunk after which to find the next undecided one, and whether to mark."""

    after: int | None = None
    marks: bool | None = None


class ReviewCandidate(ProtocolRecord):
    """A candidate that changes the document, and the decision about it.

    - ``uri``: of the virtual document that has its text.
    """

    id: str
    uri: str
    label: str
    name: str
    state: str
    notes: list[str]


class HunkMarks(ProtocolRecord):
    """Tokens that the other text lacks, as characters from and to (exclusive)."""

    lost: list[list[int]]
    own: list[list[int]]


class VariantUnit(ProtocolRecord):
    """The hunks that belong together, by their numbers, and what is said of them, if anything."""

    hunks: list[int]
    words: str


class ReviewHunk(ProtocolRecord):
    """A hunk: its lines of the origin, its place in the buffer, and the decision there.

    - ``function``: the functions and classes of the origin that it is in, as one name, or empty.
    - ``head``: the line (from 0) with which the innermost of them begins.
    """

    lo: int
    hi: int
    range: t.Range
    text: str
    variants: list[ReviewVariantEntry]
    where: str
    function: str
    head: int | None
    words: str
    decision: str
    variant: int | None
    decided: bool
    outcome: str
    marks: list[HunkMarks] | None
    units: list[VariantUnit]


class ReviewProblem(ProtocolRecord):
    """What the decisions break: the line, what is wrong with it, and the hunk that brings it."""

    range: t.Range
    message: str
    hunk: int | None


class ReviewResult(ProtocolRecord):
    """The hunks of a document, decided and undecided, and what the decisions break together.

    - ``origin``: the SHA-256 of the origin; ``origin_uri``: of the virtual document that has it.
    - ``compared_with``: what that is, if the document is open.
    - ``sources``: those that had anything to say of it.
    """

    version: int | None
    state: int
    origin: str
    origin_uri: str
    compared_with: SourceOrigin | None
    sources: list[SourceReport]
    pinned: bool
    signature: str
    decided: int
    undecided: int
    next: int | None
    candidates: list[ReviewCandidate]
    hunks: list[ReviewHunk]
    problems: list[ReviewProblem]


class DecideParams(DocumentParams):
    """What is to stay as the origin has it in this version, or no longer.

    Without ``hunk``, all hunks that the ``candidate`` leaves alone, which was taken, and that only
    candidates ``among`` these change: those of its task.
    """

    version: int
    hunk: int | None = None
    state: int | None = None
    decided: bool | None = None
    candidate: str | None = None
    among: list[str] | None = None


class DecideResult(ProtocolRecord):
    """How many hunks are decided now, and how many are not."""

    decided: int
    undecided: int


# --- the methods, and those that are commands as well ---

SCHEMA = 3
"""Version of these shapes, announced as the server's capability `experimental.excise.version`."""

APPLY = "excise/apply"
SHOW = "excise/show"
TAKE = "excise/take"
START_AGAIN = "excise/startAgain"
DID_CHANGE_REPORT = "excise/didChangeReport"


class Method(NamedTuple):
    """The types of one method; without a result, the answer is null."""

    params: type[Any]
    result: type[Any] | None


METHODS: dict[str, Method] = {
    "excise/addRevisions": Method(AddRevisionsParams, Accepted),
    "excise/addCandidates": Method(AddCandidatesParams, Accepted),
    "excise/removeCandidates": Method(RemoveCandidatesParams, Removed),
    "excise/candidates": Method(CandidatesParams, dict),
    "excise/report": Method(DocumentParams, ReportResult),
    "excise/review": Method(ReviewParams, ReviewResult),
    "excise/decide": Method(DecideParams, DecideResult),
    "excise/setCandidates": Method(SetCandidatesParams, SetCandidatesResult),
    APPLY: Method(ApplyParams, ApplyResult),
    TAKE: Method(TakeParams, dict),
    START_AGAIN: Method(StartAgainParams, StartAgainResult),
    "excise/since": Method(SinceParams, dict),
    "excise/land": Method(LandParams, dict),
    "excise/finish": Method(FinishParams, FinishResult),
    SHOW: Method(ShowParams, None),
}
"""The requests. The one notification goes the other way: `DidChangeReportParams`."""

COMMANDS: dict[str, str] = {
    method.replace("/", "."): method
    for method in ("excise/addRevisions", APPLY, TAKE, START_AGAIN, SHOW)
}
"""Commands for clients that cannot send custom requests: their one argument is the params."""
