"""JSON documents: what commands print for programs, servers answer and workers send (docs/json.md).

All of it is a `Document`: programs get a JSON Schema of it (`msgspec.json.schema`), and tables,
pages and answers to agents are views of it. A key whose value is `UNSET`, the default, is left out.
Documents are printed as ASCII: every control character for terminals is a JSON escape.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

import msgspec
from msgspec import UNSET, UnsetType

from excise.agreement import WORDS

SCHEMA = 2
"""Version of the shapes. Keys are only ever added under the same version."""

Values = list[list[float]]
Notes = dict[str, list[str]]


Word = Annotated[str, msgspec.Meta(extra_json_schema={"enum": list(WORDS)})]
"""What may be said of a pair."""

Renamed = list[list[str]]
"""The names in which the two of a pair differ that are the same up to names."""


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """Something with named values in a document."""

    @classmethod
    def of(cls, *sources: object, **named: Any) -> Self:  # noqa: ANN401 - the fields have types
        """Return the named values, and those that the first of some objects has under its name."""
        for name in cls.__struct_fields__:
            for source in sources:
                if name not in named and hasattr(source, name):
                    value = getattr(source, name)
                    named[name] = list(value) if isinstance(value, tuple) else value
        return cls(**named)


class Document(Shape, frozen=True, kw_only=True):
    """The output of a command. Every number in it belongs to the signature."""

    schema: int = SCHEMA
    signature: str


class RejectedEntry(Shape, frozen=True, kw_only=True):
    """A revision or record that could not be scored, and why."""

    id: str
    reason: str


class ReasonEntry(Shape, frozen=True, kw_only=True):
    """A fact about a group, and the members that it is true of."""

    kind: str
    text: str
    members: list[str]


class GroupEntry(Shape, frozen=True, kw_only=True):
    """Those that make similar edits."""

    members: list[str]
    representative: str
    min_similarity: float


# --- one pair -------------------------------------------------------------------------------------


class RecordLine(Shape, frozen=True, kw_only=True):
    """A line of ``eval --format jsonl``."""

    id: str | float | None
    score: float
    keep: float | None
    add: float | None
    delete: float | None
    notes: list[str]
    reference: int | UnsetType = UNSET
    signature: str


class SystemEntry(Shape, frozen=True, kw_only=True):
    """The mean of the scores of a file of records."""

    mean: float
    interval: list[float] | None
    keep: float | None
    add: float | None
    delete: float | None
    outputs: int
    tasks: int
    failed: int
    signature: str


class DifferenceEntry(Shape, frozen=True, kw_only=True):
    """The difference between the records and those of ``--baseline``."""

    value: float
    interval: list[float] | None
    p: float | None


class SummaryDocument(Document, frozen=True, kw_only=True):
    """The output of ``eval --format json``."""

    system: SystemEntry
    baseline: SystemEntry | UnsetType = UNSET
    difference: DifferenceEntry | UnsetType = UNSET


class ErrorLine(Shape, frozen=True, kw_only=True):
    """A line of ``eval --format jsonl`` for a record that could not be scored."""

    id: str | float | None
    error: str


class Counts(Shape, frozen=True, kw_only=True):
    """For each operation the n-grams of n = 1 to 4: in common, of the first, of the second."""

    keep: list[list[int]]
    add: list[list[int]]
    delete: list[list[int]]


class SegmentEntry(Shape, frozen=True, kw_only=True):
    """The part of one text in a divergent region."""

    lines: list[int]
    span: list[int]
    text: str
    tokens: list[str]


class RegionEntry(Shape, frozen=True, kw_only=True):
    """A divergent region."""

    share: float
    place: int
    origin: SegmentEntry
    counts: Counts


class ScoreRegion(RegionEntry, frozen=True, kw_only=True):
    """A divergent region of a directed score."""

    reference: SegmentEntry
    hypothesis: SegmentEntry


class ExplainRegion(RegionEntry, frozen=True, kw_only=True):
    """A divergent region of two revisions."""

    a: SegmentEntry
    b: SegmentEntry


class PlaceEntry(Shape, frozen=True, kw_only=True):
    """A place of the origin (docs/algorithm.md): its regions, as indices, and their counts."""

    regions: list[int]
    counts: Counts


class ElsewhereEntry(Shape, frozen=True, kw_only=True):
    """An n-gram that both add or delete at different places, which are given by their indices."""

    a: int
    b: int
    added: int
    deleted: int
    n_grams: int


class Contained(Shape, frozen=True, kw_only=True):
    """How much of each one's edit the other has at the same place."""

    a: float
    b: float


class PairEntry(Shape, frozen=True, kw_only=True):
    """The score of a pair, in any form, or null if it is undefined."""

    value: float
    score: float
    keep: float | None
    add: float | None
    delete: float | None
    exact: str
    word: Word
    renamed: Renamed
    notes: list[str]


class DirectedEntry(PairEntry, frozen=True, kw_only=True):
    """The directed score of the last revision against those before it, of which the best counts."""

    reference: int | None
    regions: list[ScoreRegion]


class ExplainedEntry(PairEntry, frozen=True, kw_only=True):
    """The similarity of two revisions, and where they diverge."""

    anchored: float
    anywhere: float
    contained: Contained
    places: list[PlaceEntry]
    elsewhere: list[ElsewhereEntry]
    regions: list[ExplainRegion]


# --- several revisions ----------------------------------------------------------------------------


class MatrixEntry(Shape, frozen=True, kw_only=True):
    """The numbers and words of all pairs, in the order of the revisions."""

    similarity: Values
    anchored: Values
    anywhere: Values
    contained: Values
    words: list[list[Word]]


class RankedEntry(Shape, frozen=True, kw_only=True):
    """A revision in rank order."""

    id: str
    rank: int
    makers: int
    mean_similarity: float | None
    why: list[str]
    edit_size: int
    no_op: bool
    stub: bool
    broken: list[str]
    syntax_errors: bool
    notes: list[str]


class ClusterEntry(GroupEntry, frozen=True, kw_only=True):
    """A group of similar edits, and the word for each next to the representative."""

    words: list[Word]
    reasons: list[ReasonEntry]


class ClustersEntry(Shape, frozen=True, kw_only=True):
    """Groups of similar edits, the largest first."""

    threshold: float
    linkage: str
    groups: list[ClusterEntry]


class CompareDocument(Document, frozen=True, kw_only=True):
    """The output of ``compare``; a directed measure has neither matrix nor order."""

    revisions: list[str]
    matrix: MatrixEntry | UnsetType = UNSET
    intent: str | UnsetType = UNSET
    disagree: bool | UnsetType = UNSET
    ranking: list[RankedEntry] | UnsetType = UNSET
    clusters: ClustersEntry | UnsetType = UNSET
    explained: ExplainedEntry | UnsetType = UNSET
    directed: DirectedEntry | UnsetType = UNSET
    notes: Notes
    rejected: list[RejectedEntry]


# --- candidates -----------------------------------------------------------------------------------


class GroupEdit(Shape, frozen=True, kw_only=True):
    """One edit of a group, and the candidates that make it, by rank: they have the same code.

    - ``words``, ``other_facets``: what may be said of each beside the first of them, and in which
      facets other than code the two differ.
    - ``relation``, ``renamed``: what may be said of it and the group's first edit, if they are the
      same up to names, and what each calls by another name, this one first; else empty.
    - ``line``: a changed line, with its sign, that no other edit has; empty if it has none.
    """

    members: list[str]
    words: list[Word]
    other_facets: list[list[str]]
    relation: str
    renamed: Renamed
    line: str


class WhereEntry(Shape, frozen=True, kw_only=True):
    """A file, and the function in it that is changed, or an empty string."""

    path: str
    function: str


class EvidenceEntry(Shape, frozen=True, kw_only=True):
    """Why two candidates are not independent."""

    word: str
    message: str
    path: str | None
    line: int | None
    by: str | None


class RelationEntry(Shape, frozen=True, kw_only=True):
    """Two candidates of different tasks that are not independent."""

    first: str
    second: str
    word: str
    evidence: list[EvidenceEntry]


class CandidateGroup(ClusterEntry, frozen=True, kw_only=True):
    """Candidates of one task that make similar edits, in rank order.

    - ``lines``: changed lines, with their signs, that most share and fewest others have.
    - ``where``: the files and functions that they change.
    - ``names``, ``places``, ``comments``, ``facets``: what its members differ in: new names, hunks,
      whether comments, and files other than code.
    """

    passed: int
    failed: int
    undecided: int
    lines: list[str]
    edits: list[GroupEdit]
    where: list[WhereEntry]
    names: list[str]
    places: list[str]
    comments: bool
    facets: list[str]


class LinesEntry(Shape, frozen=True, kw_only=True):
    """The changed lines in the files of one kind."""

    files: int
    added: int
    deleted: int


class FileEntry(Shape, frozen=True, kw_only=True):
    """A file that a candidate changed."""

    path: str
    kind: str
    status: str
    added: int
    deleted: int
    facts: list[str]
    old_path: str | UnsetType = UNSET


class ConflictEntry(Shape, frozen=True, kw_only=True):
    """A file that git does not merge. ``kind`` is git's word: ``content``, ``modify/delete``."""

    path: str
    kind: str
    reason: str


class BeyondGitEntry(Shape, frozen=True, kw_only=True):
    """A file in which git has a conflict and a rule of ours has none.

    ``lines`` are those of the merged text, from ``lo`` to ``hi`` (from 0, exclusive).
    """

    path: str
    lines: list[tuple[int, int]]


class LandedEntry(Shape, frozen=True, kw_only=True):
    """A candidate that the target has already, and its commit there, if one is known."""

    id: str
    label: str
    commit: str | None
    words: str


class CheckEntry(Shape, frozen=True, kw_only=True):
    """The result of one check for a candidate."""

    check: str
    passed: bool | None
    seconds: float | None
    reason: str


class CandidateEntry(Shape, frozen=True, kw_only=True):
    """A candidate in rank order, without a rank if it is alone in its task."""

    id: str
    label: str
    tool: str | None
    task: int
    rank: int | None
    makers: int
    mean_similarity: float | None
    why: list[str]
    edit_size: int
    verdict: str | None
    checks: list[CheckEntry]
    no_op: bool
    stub: bool
    broken: list[str]
    syntax_errors: bool
    group: int
    representative: bool
    similarity: float
    word: Word
    renamed: Renamed
    other_facets: list[str]
    names: list[str]
    kind: str
    folder: str | None
    branch: str | None
    commit: str | None
    base: str | None
    behind: int
    made: int | None
    digest: str
    identical: list[str]
    being_written: bool
    conflicts: list[ConflictEntry]
    beyond_git: list[BeyondGitEntry]
    uncommitted: int
    lines: dict[str, LinesEntry]
    files: list[FileEntry]
    notes: list[str]


# --- their review, hunk by hunk -------------------------------------------------------------------


class ReviewVariantEntry(Shape, frozen=True, kw_only=True):
    """One text of a hunk other than the origin's, and its candidates."""

    ids: list[str]
    text: str


class HeadEntry(Shape, frozen=True, kw_only=True):
    """The line of the origin (from 1) with which a function begins."""

    line: int
    text: str


class ReviewHunkEntry(Shape, frozen=True, kw_only=True):
    """Lines ``lo`` to ``hi`` (from 0, exclusive) of the origin, and what candidates have instead.

    ``name`` counts the same lines from 1. ``unchanged`` are the candidates that keep the lines.
    ``function`` is where they are, and ``head`` its first line, unless the lines around the hunk,
    ``before`` and ``after``, have it.
    """

    name: str
    lo: int
    hi: int
    function: str
    head: HeadEntry | None
    before: str
    origin: str
    after: str
    variants: list[ReviewVariantEntry]
    unchanged: list[str]


class UnitEntry(Shape, frozen=True, kw_only=True):
    """Hunks of a candidate that belong together, by the names that they share."""

    hunks: list[str]
    names: list[str]


class SlotVariantEntry(Shape, frozen=True, kw_only=True):
    """Candidates that have the same texts in the hunks of a slot, and the units that these are."""

    ids: list[str]
    units: list[UnitEntry]


class SlotEntry(Shape, frozen=True, kw_only=True):
    """Hunks of a file, more than one, that are one decision; most candidates first."""

    hunks: list[str]
    variants: list[SlotVariantEntry]


class FileChangeEntry(Shape, frozen=True, kw_only=True):
    """The change of one file by a candidate (``binary``: the SHA-256 of data that is not text)."""

    id: str
    status: str
    path: str | None
    mode: str | None
    binary: str | None
    facts: list[str]
    conflict: str | None


class ReviewFileEntry(Shape, frozen=True, kw_only=True):
    """A file that some candidate of a task touches, under its path in the origin.

    ``text`` is the origin's, where somebody deletes the file.
    """

    path: str
    kind: str
    created: bool
    binary: bool
    mode: str | None
    text: str | None
    changes: list[FileChangeEntry]
    hunks: list[ReviewHunkEntry]
    slots: list[SlotEntry]


class TaskEntry(Shape, frozen=True, kw_only=True):
    """Candidates of one task, and their changes of the origin, file by file.

    ``name`` is its tool's. ``by_issue`` has those that only an issue makes rivals, with its name.
    """

    number: int
    name: str | None
    members: list[str]
    shared: list[str]
    by_issue: dict[str, str]
    disagree: bool
    digest: str
    groups: list[CandidateGroup]
    files: list[ReviewFileEntry]


class ReviewDocument(Document, frozen=True, kw_only=True):
    """The output of ``review --format json``: candidates by task, in rank order.

    The rows of ``similarity`` and ``words`` are those of ``candidates``.
    """

    basis: str
    intent: str
    threshold: float
    linkage: str
    repository: str
    origin: str
    digest: str
    tasks: list[TaskEntry]
    candidates: list[CandidateEntry]
    similarity: Values
    words: list[list[Word]]
    relations: list[RelationEntry]
    other_tasks: list[list[str]]
    unchanged: list[str]
    landed: list[LandedEntry]
    unknown_verdicts: list[str]
    notes: list[str]
    rejected: list[RejectedEntry]


class SetAsideEntry(Shape, frozen=True, kw_only=True):
    """A candidate that is left out of every score, group and order."""

    id: str
    label: str
    state: str
    digest: str


class CandidatesDocument(ReviewDocument, frozen=True, kw_only=True):
    """The answer of `excise/candidates`: the command's document for candidates not set aside.

    - ``decided``: by id, what is decided of a candidate: ``taken``, ``partly taken`` or ``passed
      over`` for another one of its task. Who is not in it is open.
    - ``changed``: ids of candidates that have changed since the user looked at them.
    """

    set_aside: list[SetAsideEntry]
    changed: list[str]
    decided: dict[str, str]
    bases: dict[str, str]
    given: list[str]


# --- the end of a review --------------------------------------------------------------------------


class TakenFromEntry(Shape, frozen=True, kw_only=True):
    """A candidate that the user's files have: all of it (``whole``) or a part, in these files."""

    candidate: str
    label: str
    whole: bool
    paths: list[str]


class FinishedWorktreeEntry(Shape, frozen=True, kw_only=True):
    """Another worktree, or what is kept: it may be removed, unless there is an ``obstacle``.

    - ``also``: what goes with it that is in no commit and was not taken: the user has to agree.
    - ``state``: a digest of what it has, by which it is known whether it is still the same.
    """

    id: str
    label: str
    folder: str
    obstacle: str
    also: list[str]
    state: str


class FinishDocument(Shape, frozen=True, kw_only=True):
    """What `excise/finish` would commit, and which worktrees it could remove.

    - ``files``, ``digest``: the files to commit, and a digest of them and of the commit below.
    - ``others``: files that differ from HEAD as well, and are left as they are.
    - ``message``: the message, without its first line, that says what was taken from whom.
    - ``obstacle``: why nothing can be committed, or empty.
    """

    schema: int = SCHEMA
    repository: str
    branch: str
    origin: str
    digest: str
    taken: list[TakenFromEntry]
    files: list[str]
    others: list[str]
    subject: str
    message: str
    worktrees: list[FinishedWorktreeEntry]
    obstacle: str
    notes: list[str]


# --- what is taken of them ------------------------------------------------------------------------


class TakenPartEntry(Shape, frozen=True, kw_only=True):
    """A part of the result and its candidate, without a hunk for a file, name or mode."""

    candidate: str
    path: str
    hunk: str | None


class TakenUnitEntry(Shape, frozen=True, kw_only=True):
    """Hunks of a file that belong together by the names that they share.

    ``chosen`` are those that were named; ``whole`` tells whether all are taken.
    """

    candidate: str
    path: str
    hunks: list[str]
    chosen: list[str]
    names: list[str]
    whole: bool


class TakenFileEntry(Shape, frozen=True, kw_only=True):
    """A file that is changed."""

    path: str
    old_path: str
    status: str


class TakeDocument(Shape, frozen=True, kw_only=True):
    """The output of ``take --format json``, with the patch in base64 if it is not UTF-8."""

    schema: int = SCHEMA
    repository: str
    origin: str
    digest: str
    parts: list[TakenPartEntry]
    units: list[TakenUnitEntry]
    files: list[TakenFileEntry]
    patch: str
    base64: bool
    written: bool
    undo: str | None
    beyond_git: list[BeyondGitEntry]
    notes: list[str]


class UndoneDocument(Shape, frozen=True, kw_only=True):
    """The output of ``take --undo --format json``: when the take was made, and what changes."""

    schema: int = SCHEMA
    repository: str
    time: str
    files: list[TakenFileEntry]
    notes: list[str]


class SinceVersionEntry(Shape, frozen=True, kw_only=True):
    """A version of a candidate: as it was named, its commit and base, and who looked at it when.

    ``door`` is where it was looked at, and ``seen`` when (UTC); only for what is remembered.
    """

    name: str
    commit: str | None
    base: str | None
    door: str | None
    seen: str | None


class SinceHunkEntry(Shape, frozen=True, kw_only=True):
    """Lines in which two versions differ (``status``: changed, new, dropped, conflict).

    - ``lo``, ``hi``: the lines of the newer version (0-based, exclusive); null without its file.
    - ``old``, ``new``: what the two have there. Of a conflict the older text is that of the base.
    - ``lines``: the change with up to three lines around, each behind its sign.
    """

    status: str
    lo: int | None
    hi: int | None
    heading: str
    old: str
    new: str
    lines: list[str]


class SinceFactEntry(Shape, frozen=True, kw_only=True):
    """What became of something that no line shows, such as a mode."""

    status: str
    text: str


class SinceFileEntry(Shape, frozen=True, kw_only=True):
    """A file in which the versions differ; ``base_path`` is its path in the base."""

    path: str
    base_path: str
    facts: list[SinceFactEntry]
    hunks: list[SinceHunkEntry]


class SincePatchEntry(Shape, frozen=True, kw_only=True):
    """A patch of a series in both versions: numbers from 1, null where it has none.

    - ``status``: same, reordered (the same, elsewhere in the series), amended, dropped, new;
      squashed: ``old`` is a part of ``new``, which is a version of another patch; split: ``new``
      is a part of ``old``, which has another new version.
    - ``moved``: whether it stands elsewhere in the series, amended or not.
    """

    status: str
    moved: bool
    old: int | None
    new: int | None
    old_title: str | None
    title: str | None


class SinceDocument(Shape, frozen=True, kw_only=True):
    """What changed from one version of a candidate to another (`excise since`).

    - ``hunks``, ``patches``: how many have which status; ``patches`` is empty without a series.
    - ``onto``: the commit that both are compared on; null without a tree.
    - ``files``: those in which they differ: what is left to read.
    """

    schema: int = SCHEMA
    repository: str | None
    summary: str
    old: SinceVersionEntry
    new: SinceVersionEntry
    onto: str | None
    hunks: dict[str, int]
    patches: dict[str, int]
    series: list[SincePatchEntry]
    files: list[SinceFileEntry]
    notes: list[str]


class SinceAnswer(SinceDocument, frozen=True, kw_only=True):
    """The answer of `excise/since`: the command's document and its page, as plain text."""

    page: str


class NotedDocument(Shape, frozen=True, kw_only=True):
    """What a worker says of each candidate that it was to remember as looked at."""

    noted: list[str]


class FindingEntry(Shape, frozen=True, kw_only=True):
    """Something in a mix that cannot work: its line (from 1), its kind and the missing name.

    ``candidate`` is the label of the one that brings it, or empty where that is not known.
    """

    path: str
    line: int
    kind: str
    name: str
    message: str
    candidate: str


class RefusalEntry(Shape, frozen=True, kw_only=True):
    """Why a mix is refused."""

    message: str
    findings: list[FindingEntry]


class CheckedDocument(Shape, frozen=True, kw_only=True):
    """What a worker says of each edit of a document: why it is refused, or `null`.

    ``said`` is what was checked of each that is not.
    """

    refusals: list[RefusalEntry | None]
    said: list[str]


class ContentEntry(TakenFileEntry, frozen=True, kw_only=True):
    """A changed file, before and after, in base64, or `null` if it does not exist.

    ``edits`` and ``version`` are the language server's: what to edit in the editor's own text.
    """

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


class ObstacleEntry(Shape, frozen=True, kw_only=True):
    """Why a candidate does not land, in words and as one word.

    The word is ``collides``, ``breaks``, ``conflicts``, ``empty`` or ``fails``. ``other`` is the id
    of the candidate that is in the way, if it is one; ``line`` is from 1.
    """

    word: str
    message: str
    other: str | None
    path: str | None
    line: int | None


class LandingEntry(Shape, frozen=True, kw_only=True):
    """A candidate that lands, or that does not because of its ``obstacles``."""

    id: str
    label: str
    paths: list[str]
    obstacles: list[ObstacleEntry]


class LandDocument(TakeDocument, frozen=True, kw_only=True):
    """The output of ``land --format json``: what lands, in this order, and its union as of a take.

    ``undecided`` are the tasks of which no candidate was chosen, each with its candidates.
    """

    landed: list[LandingEntry]
    left_out: list[LandingEntry]
    undecided: list[list[LandingEntry]]
    branch: str | None
    commits: list[str]
    rejected: list[RejectedEntry]


class LandedDocument(LandDocument, frozen=True, kw_only=True):
    """The answer of `excise/land`: the command's document, its page, and the files of the union."""

    page: str
    contents: list[ContentEntry]


# --- patches --------------------------------------------------------------------------------------


class PatchEntry(Shape, frozen=True, kw_only=True):
    """A patch, and its likeness to the representative of its cluster.

    ``for_another_part`` says that both were sent in one series: a file that is alike, and not the
    same one under another name. ``version_of`` is the patch of which it is another version (or a
    part), the first of them, and ``replaced_by`` the newest one; empty where there is none.
    ``not_in`` is the version of its series that drops it, or 0.
    """

    id: str
    cluster: int
    similarity: float
    contains: float | None
    contained: float | None
    word: Word | None
    anchored: float | None
    anywhere: float | None
    in_another_file: bool | None
    for_another_part: bool
    patch_id: str
    message_id: str
    subject: str
    title: str
    author: str
    date: str
    version: int
    version_of: str
    replaced_by: str
    not_in: int
    index: int
    total: int
    files: list[str]
    facts: list[str]


class CoverEntry(Shape, frozen=True, kw_only=True):
    """A message without a patch."""

    id: str
    subject: str


# --- patches about one issue ----------------------------------------------------------------------


class SharedLine(Shape, frozen=True, kw_only=True):
    """An old line that both touch, where the first of the pair has it."""

    path: str
    line: int
    text: str


class SharedReasons(Shape, frozen=True, kw_only=True):
    """The issues that both of a pair close, and the shared parts with the most weight."""

    closes: list[str]
    where: list[SharedLine]
    what: list[str]
    """A line that both add, else sub-tokens with their signs: ``+retry``."""
    why: list[str]


class ProposalEntry(Shape, frozen=True, kw_only=True):
    """A patch, a series or a pull request that is in some pair."""

    id: str
    title: str
    author: str
    state: str


class SameEditEntry(Shape, frozen=True, kw_only=True):
    """How much the edits of two proposals have in common (``basis:edits``), a separate question."""

    similarity: float
    word: str
    is_same_edit: bool


class DuplicatePair(Shape, frozen=True, kw_only=True):
    """A pair. If ``otherwise`` gives another explanation, the pair is not reported as a duplicate.

    ``same_edit`` and ``reasons`` are null below the level ``possibly``.
    """

    new: str
    other: str
    word: str
    level: Literal["likely", "possibly", "none"]
    probability: float
    mean: float
    what: float
    where: float
    why: float | None
    same_edit: SameEditEntry | None
    otherwise: str
    reasons: SharedReasons | None


class IssueEntry(Shape, frozen=True, kw_only=True):
    """Patches that are likely about one issue, or make the same edit, by their clusters.

    ``count`` are the proposals among them that no newer version replaces. ``probability`` is the
    least of a member with the first one, and ``reasons`` are those of the surest. If ``otherwise``
    gives another explanation for all of them, the group is no reason to look.
    """

    members: list[str]
    clusters: list[int]
    representative: str
    count: int
    word: str
    probability: float | None
    otherwise: str
    reasons: SharedReasons | None


class ClusterDocument(Document, frozen=True, kw_only=True):
    """The output of ``cluster``: which patches are one issue, and in it the same edit.

    ``related`` is the signature of the issues. ``about`` says what is to be known of the input.
    Where whole files are known, these decide which words say that two are the same. With a state,
    ``new`` are the patches that came with this call. ``scores`` are those of all pairs above 0,
    with ``-v``.
    """

    basis: str
    threshold: float
    linkage: str
    related: str
    issues: list[IssueEntry]
    clusters: list[GroupEntry]
    patches: list[PatchEntry]
    pairs: list[DuplicatePair]
    proposals: list[ProposalEntry]
    covers: list[CoverEntry]
    notes: dict[str, list[str]]
    about: list[str]
    rejected: list[RejectedEntry]
    new: list[str] | UnsetType = UNSET
    scores: list[tuple[str, str, float]] | UnsetType = UNSET


class DuplicatesDocument(Document, frozen=True, kw_only=True):
    """The output of ``cluster --like``: the nearest of a patch, the most probable first."""

    asked: int
    among: int
    pairs: list[DuplicatePair]
    proposals: list[ProposalEntry]
    notes: list[str]
    rejected: list[RejectedEntry]


# --- as text --------------------------------------------------------------------------------------


Plain = Mapping[str, Any]


def plain(document: Shape | Plain) -> Plain:
    """Return a document as plain dicts, lists, strings and numbers."""
    if isinstance(document, Shape):
        built: Plain = msgspec.to_builtins(document)
        return built
    return document


def json_text(document: Shape | Plain) -> str:
    """Return a document as ASCII: a key a line, and a line for each entry of a list of lists."""
    body = ",\n".join(f"  {_dumps(key)}: {_laid_out(v)}" for key, v in plain(document).items())
    return f"{{\n{body}\n}}"


def json_line(record: Shape | Plain) -> str:
    """Return a record of JSONL as ASCII."""
    return _dumps(plain(record))


def _laid_out(value: object) -> str:
    if isinstance(value, list) and value and isinstance(value[0], list | tuple | dict):
        entries = ",\n    ".join(_dumps(entry) for entry in value)
        return f"[\n    {entries}\n  ]"
    return _dumps(value)


def _dumps(value: object) -> str:
    # DEL is the one control character that JSON's own escaping leaves alone.
    return json.dumps(value, allow_nan=False).replace("\x7f", "\\u007f")
