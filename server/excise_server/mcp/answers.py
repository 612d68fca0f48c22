"""The answers of the tools: typed, and small, as a model reads every character."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from excise_server.foundation.escape import json_text

__all__ = ["BatchAnswer", "CandidateAnswer", "CandidatesAnswer", "FileAnswer", "GroupAnswer"]
__all__ += ["DuplicateAnswer", "DuplicatesAnswer"]
__all__ += ["HunkAnswer", "ReviewAnswer", "TakeAnswer", "VariantAnswer"]


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def sent(self) -> str:
        """The answer as it is sent: JSON without white space, invisible characters escaped."""
        return json_text(self.model_dump_json())


class CandidateAnswer(_Answer):
    """A candidate: one proposal for the repository, with its own base."""

    id: str
    label: str
    group: int
    """Candidates of one group make similar edits."""
    rank: int | None
    """In its batch, from 1; null if it is alone there."""
    says: str
    """Why it has its rank, and how it relates to the representative of its group."""
    files: list[str]
    """Its changes, `M path +added -deleted`, the first few."""
    notes: list[str]


class GroupAnswer(_Answer):
    """Candidates that make similar edits, and what sets them apart."""

    number: int
    size: int
    facts: list[str]
    """Facts found in the texts, with ids where they do not apply to the whole group."""


class BatchAnswer(_Answer):
    """Candidates that work on one task, and their groups."""

    number: int
    task: str | None
    size: int
    disagree: bool
    """No two make the same edit, and the order says little: read, or have your user run them."""
    groups: list[GroupAnswer]
    candidates: list[CandidateAnswer]


class CandidatesAnswer(_Answer):
    """The candidates of a repository, a page of them."""

    repository: str
    origin: str
    """The commit that all are replayed on."""
    intent: str
    """What the order supposes: `fix` or `change`."""
    batches: list[BatchAnswer]
    unchanged: list[str]
    rejected: list[str]
    more: list[str]
    """What is on later pages."""
    page: int
    pages: int
    hidden: str = ""
    """How many invisible characters are shown escaped, and which."""


class VariantAnswer(_Answer):
    """One text of a hunk, and the ids of the candidates that have it."""

    candidates: list[str]
    text: str


class HunkAnswer(_Answer):
    """Lines of the origin, and the candidates' variants."""

    lines: str
    """As `take` names them: `12-14`, `12`, or `11+` for the gap after line 11."""
    origin: str
    variants: list[VariantAnswer]
    more_variants: int = 0
    """Variants that did not fit: your user sees them with `excise review`."""
    unchanged: list[str]
    """Candidates that leave these lines as they are."""
    left_out: int = 0
    """Characters of texts that did not fit: `take` gives them whole, as a patch."""


class FileAnswer(_Answer):
    """A file that candidates touch, under its path in the origin."""

    path: str
    facts: list[str]
    """Who creates, deletes or renames it, changes its mode, or conflicts with the target."""
    hunks: list[HunkAnswer]


class ReviewAnswer(_Answer):
    """The review of a batch, one page of it, file by file."""

    batch: int
    task: str | None
    digest: str
    """Of the origin and the candidates: `take` refuses choices for another one."""
    files: list[FileAnswer]
    page: int
    pages: int
    batches: int
    """How many batches there are."""
    hidden: str = ""


class TakeAnswer(_Answer):
    """A patch of the chosen parts onto the origin. Nothing was written."""

    origin: str
    files: list[str]
    patch: str
    """As git reads it: `git apply`."""
    base64: bool
    """Whether the patch is in base64, as it is not UTF-8."""
    notes: list[str]
    hidden: str = ""


class DuplicateAnswer(_Answer):
    """Two proposals that may be about one issue."""

    new: str
    """The id of what was asked about: `patch`, or a branch or pull request."""
    other: str
    title: str
    """Of the other one."""
    author: str
    word: str
    probability: float
    """How often such pairs, among the nearest of each, were about one issue."""
    what: float
    where: float
    why: float | None
    """Null if one of the two has no message."""
    same_edit: float
    """How much of the edit itself they share, which is a separate question."""
    otherwise: str
    """Another explanation: one author, a stack, a revert, a backport; otherwise empty."""
    reasons: list[str]
    """Lines that both touch, or change, and words of both messages."""


class DuplicatesAnswer(_Answer):
    """Pairs that may be about one issue, the most probable first."""

    asked: int
    among: int
    """0: they were compared with each other."""
    pairs: list[DuplicateAnswer]
    left_out: int
    """Pairs that did not fit: ask about fewer branches."""
    notes: list[str]
    rejected: list[str]
    hidden: str = ""
