"""The review of one document: its hunks and decisions."""

from __future__ import annotations

import attrs
from lsprotocol import types as t

from excise_server.lsp.protocol.reports import Variant

__all__ = [
    "DecideParams",
    "DecideResult",
    "HunkMarks",
    "ReviewCandidate",
    "ReviewHunk",
    "ReviewParams",
    "ReviewResult",
    "StartAgainParams",
    "StartAgainResult",
]


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
