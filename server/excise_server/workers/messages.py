"""What the two sides tell each other, as msgspec types.

Texts and names are bytes, as both may hold lone surrogates; numbers of many pairs are flat arrays.
"""

from __future__ import annotations

import msgspec

__all__ = [
    "Analyse",
    "Answer",
    "Cancel",
    "Failed",
    "Forget",
    "HunkFrame",
    "Opened",
    "Order",
    "RankedFrame",
    "Refused",
    "Replay",
    "Replayed",
    "Request",
    "Scored",
    "ScoresFrame",
    "Stopped",
    "Survey",
    "Surveyed",
    "as_bytes",
    "as_text",
]


def as_bytes(text: str) -> bytes:
    """Return a text as UTF-8, lone surrogates included."""
    return text.encode("utf-8", "surrogatepass")


def as_text(data: bytes | memoryview) -> str:
    """Return the text of such bytes.

    Raises
    ------
    UnicodeDecodeError
        If they are none.
    """
    return str(data, "utf-8", "surrogatepass")


class _Message(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    pass


# --- to a worker ---


class RevisionFrame(_Message):
    """A revision: id, label, the number of its text, and whether it deletes the file."""

    id: bytes
    label: bytes
    text: int
    deleted: bool


class Order(_Message):
    """What has an answer. ``quarantined`` are texts that no parser may get from now on, by name;
    ``lexical`` keeps every text from its parser."""

    number: int
    lexical: bool
    quarantined: tuple[bytes, ...]


class Analyse(Order, tag="analyse"):
    """Analyse a document. ``texts`` are those that the worker does not know, ``gone`` those that
    nobody asks for again; ``scores`` is the number of the scores that the parent has (0: none).
    """

    uri: bytes
    origin: int
    revisions: tuple[RevisionFrame, ...]
    language: bytes | None
    path: bytes | None
    options: tuple[str, str, str, str, str]
    intent: bytes
    buffer: int | None
    own: int | None
    version: int | None
    scores: int
    texts: tuple[tuple[int, bytes], ...]
    gone: tuple[int, ...]


class Survey(Order, tag="survey"):
    """Compare what a repository holds: which of the surveys, and its arguments in JSON."""

    kind: str
    arguments: bytes


class Replay(Order, tag="replay"):
    """Replay revisions of a text on a newer one."""

    before: bytes
    current: bytes
    texts: tuple[bytes, ...]


class Cancel(_Message, tag="cancel"):
    """Stop the request of that number."""

    number: int


class Forget(_Message, tag="forget"):
    """Nobody looks at this document any more."""

    uri: bytes


Request = Analyse | Survey | Replay | Cancel | Forget


# --- from a worker ---


class Opened(_Message, tag="opened"):
    """The worker is there, and has loaded what it needs."""


class Stopped(_Message, tag="stopped"):
    """The request was cancelled."""

    number: int


class Failed(_Message, tag="failed"):
    """The request failed, with the traceback for the log."""

    number: int
    reason: bytes


class RankedFrame(_Message):
    """A revision in rank order, by its index."""

    index: int
    rank: int
    makers: int
    mean_similarity: float | None
    edit_size: int
    no_op: bool
    syntax_errors: bool
    stub: bool
    broken: tuple[bytes, ...]
    why: tuple[bytes, ...]


class ClusterFrame(_Message):
    """A cluster: its members, their representative, and the smallest similarity to it."""

    members: tuple[int, ...]
    representative: int
    min_similarity: float


class HunkFrame(_Message):
    """A hunk: ``spans`` are two int32 a revision, ``variants`` their members and texts."""

    lo: int
    hi: int
    text: memoryview
    variants: tuple[tuple[tuple[int, ...], memoryview], ...]
    spans: memoryview


class PairsFrame(_Message):
    """What the pairs of a hunk have: where a and b stand among ``compared`` (a byte each), where
    their numbers stand in the table (uint32), the share (double); then the mean and the share of
    all."""

    a: memoryview
    b: memoryview
    numbers: memoryview
    shares: memoryview
    mean: tuple[float, float | None, float | None, float | None] | None
    share: float


class ScoresFrame(_Message):
    """All that the texts without the buffer decide: the planes are doubles, k rows of k."""

    signature: bytes
    values: memoryview
    contained: memoryview
    words: memoryview
    no_ops: tuple[bool, ...]
    notes: tuple[tuple[bytes, ...], ...]
    ranking: tuple[RankedFrame, ...]
    clusters: tuple[ClusterFrame, ...]
    hunks: tuple[HunkFrame, ...]
    compared: tuple[int, ...]
    pairs: tuple[PairsFrame, ...]
    table: memoryview
    """Four doubles for each set of numbers: score, keep, add, delete; NaN: undefined."""


class WorkFrame(msgspec.Struct, frozen=True, array_like=True):
    """What a worker has done and needs: bytes of memory, texts parsed, pairs scored, in all."""

    rss: int
    parses: int
    pairs: int


class Scored(_Message, tag="scored"):
    """An analysis. ``scores`` is None where the parent has those of that number already.

    ``sites`` are two int32 a hunk, ``flags`` a byte each: 1 crossed, 2 decided. ``given`` are the
    hunks without the buffer with their sites, None where they are the same.
    """

    number: int
    work: WorkFrame
    scores_number: int
    scores: ScoresFrame | None
    sites: memoryview
    flags: memoryview
    given: tuple[HunkFrame, ...] | None
    given_sites: memoryview
    given_flags: memoryview


class Surveyed(_Message, tag="surveyed"):
    """The document of a survey, in JSON."""

    number: int
    work: WorkFrame
    document: memoryview


class Refused(_Message, tag="refused"):
    """A survey that cannot be made, with the reason for people."""

    number: int
    reason: bytes


class Replayed(_Message, tag="replayed"):
    """The texts as they are on the newer one."""

    number: int
    work: WorkFrame
    texts: tuple[memoryview, ...]


Answer = Opened | Stopped | Failed | Refused | Scored | Surveyed | Replayed
