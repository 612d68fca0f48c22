"""What the two sides tell each other: msgspec types, in frames of four bytes of length and a body.

Texts and names that a client sends are bytes, as they may hold lone surrogates, which no text that
is scored does; numbers of many pairs are flat arrays.
Ranges that do not depend on what was asked are part of the types, and so checked as they are read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Any, Literal

import msgspec

from excise import Cluster, Hunk, Ranked

LONGEST = 1 << 29
"""Most bytes of one frame."""

_HEAD = 4
_PIECE = 1 << 20

Score = Annotated[float, msgspec.Meta(ge=0, le=1)]
MOST = 1 + 1e-9
"""The most that a mean may be: rounding takes a sum of fractions beyond 1."""

Mean = Annotated[float, msgspec.Meta(ge=0, le=MOST)]
Index = Annotated[int, msgspec.Meta(ge=0)]


class BrokenFrameError(Exception):
    """What the other side wrote is not a valid frame; the message says why."""


def write_message(descriptor: int, message: Request | Order | Answer) -> None:
    """Write a message into a pipe."""
    view = memoryview(framed(msgspec.msgpack.encode(message)))
    while view:
        view = view[os.write(descriptor, view) :]


def read_messages(descriptor: int, kind: Any) -> Iterator[Any]:  # noqa: ANN401 a union of types
    """Yield the messages of a pipe until it ends.

    Raises BrokenFrameError, msgspec.MsgspecError, RecursionError, ValueError, MemoryError if it
    holds something else.
    """
    decoder = msgspec.msgpack.Decoder(kind)
    while (body := read_frame(partial(os.read, descriptor))) is not None:
        yield decoder.decode(body)


def framed(body: bytes) -> bytes:
    """Return the bytes of a frame.

    Raises BrokenFrameError if the body is too long for one.
    """
    if len(body) > LONGEST:
        raise BrokenFrameError(f"a frame of {len(body):,} bytes, limit {LONGEST:,}")
    return len(body).to_bytes(_HEAD, "little") + body


def read_frame(read: Callable[[int], bytes]) -> bytearray | None:
    """Return the body of the next frame, or None if the stream ends between two frames.

    Memory grows with what has arrived, never with what a head promises.

    Raises BrokenFrameError if the stream ends inside of a frame, or a head promises too much.
    """
    head = _read(read, _HEAD)
    if not head:
        return None
    length = int.from_bytes(head, "little")
    if len(head) == _HEAD and length > LONGEST:
        raise BrokenFrameError(f"a frame of {length:,} bytes, limit {LONGEST:,}")
    body = _read(read, length) if len(head) == _HEAD else head
    if len(head) < _HEAD or len(body) < length:
        raise BrokenFrameError("the stream ended inside a frame")
    return body


def _read(read: Callable[[int], bytes], length: int) -> bytearray:
    body = bytearray()
    while len(body) < length and (piece := read(min(length - len(body), _PIECE))):
        body += piece
    return body


def as_bytes(text: str) -> bytes:
    """Return a text as UTF-8, lone surrogates included."""
    return text.encode("utf-8", "surrogatepass")


def as_text(data: bytes | memoryview) -> str:
    """Return the text of such bytes.

    Raises UnicodeDecodeError if they are not valid.
    """
    return str(data, "utf-8", "surrogatepass")


class _Message(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    pass


# --- to a worker ---


class Order(_Message):
    """What has an answer. ``quarantined`` are texts that no parser may get from now on, by name;
    ``lexical`` keeps every text from its parser."""

    number: int
    lexical: bool
    quarantined: tuple[bytes, ...]


class Analyse(Order, tag="analyse"):
    """Analyse a document. ``texts`` are those that the worker does not know, ``gone`` those that
    nobody asks for again; ``scores`` is the number of the scores that the parent has (0: none).
    A revision is its id and label, the number of its text, and whether it deletes the file.
    """

    uri: bytes
    origin: int
    revisions: tuple[tuple[bytes, bytes, int, bool], ...]
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
    """Make a report: which of the surveys, and its arguments in JSON."""

    kind: str
    arguments: bytes


class Replay(Order, tag="replay"):
    """Replay revisions of a text on a newer one."""

    before: str
    current: str
    texts: tuple[str, ...]


class Cancel(_Message, tag="cancel"):
    """Stop the request of that number."""

    number: int


class Forget(_Message, tag="forget"):
    """Forget a document."""

    uri: bytes


Request = Analyse | Survey | Replay | Cancel | Forget


# --- from a worker ---


class Opened(_Message, tag="opened"):
    """The worker has started, and has loaded what it needs."""


class Failed(_Message, tag="failed"):
    """The request has no result: it was cancelled, it is refused with a reason for people (only a
    survey can be), or something broke, with the traceback for the log."""

    number: int
    kind: Literal["stopped", "refused", "broken"]
    reason: bytes = b""


class Numbers(msgspec.Struct, frozen=True, array_like=True):
    """The mean score of a hunk and of its operations, or None where undefined."""

    es: Mean
    keep: Mean | None
    add: Mean | None
    delete: Mean | None


class PairNumbers(msgspec.Struct, frozen=True, array_like=True):
    """Two revisions (by index) that diverge in a hunk: their score there, and its operations.

    ``share`` is the share of all that they diverge in.
    """

    a: Index
    b: Index
    es: Score
    keep: Score | None
    add: Score | None
    delete: Score | None
    share: Mean


class HunkNumbers(msgspec.Struct, frozen=True, array_like=True):
    """The numbers of a hunk: the formula on the counts of its divergent regions.

    Every divergent region of a pair lies in one hunk, and equal changes in other hunks do not count
    here. With a single hunk, these are the numbers of the pair.

    ``compared`` is the number of revisions whose pairs were counted, the first in rank order.
    ``diverging`` of these pairs diverge here: ``pairs`` are the first of them, in that order, and
    ``least`` and ``most`` those with the smallest and the largest score of all (None without any).
    ``mean`` and ``share`` (of all divergent 1- to 4-grams of the pair) are over all pairs (None and
    0 without pairs).
    """

    compared: Index
    diverging: Index
    pairs: tuple[PairNumbers, ...]
    least: PairNumbers | None
    most: PairNumbers | None
    mean: Numbers | None
    share: Mean


class Site(msgspec.Struct, frozen=True, array_like=True):
    """The lines of a hunk in the buffer, or in the origin without a buffer.

    ``crossed`` tells that unsaved edits overlap both the hunk and lines next to it.
    """

    lo: Index
    hi: Index
    crossed: bool = False


class HunkUnit(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Hunks that belong together in a revision, which binds ``names`` in one and uses them there.

    The ``member`` is the revision's index, and ``hunks`` are ascending numbers, two or more.
    """

    member: Index
    hunks: tuple[Index, ...]
    names: tuple[str, ...]


class ScoresFrame(_Message):
    """All that the texts without the buffer decide: the planes are doubles, k rows of k.

    ``renamed`` has two revisions that are the same up to names, and what each calls a thing. In
    ``ranking`` and ``clusters`` revisions have no ids, only indices.
    """

    signature: str
    values: bytes
    words: bytes
    renamed: tuple[tuple[int, int, tuple[tuple[str, str], ...]], ...]
    no_ops: tuple[bool, ...]
    notes: tuple[tuple[str, ...], ...]
    ranking: tuple[Ranked, ...]
    clusters: tuple[Cluster, ...]
    hunks: tuple[Hunk, ...]
    numbers: tuple[HunkNumbers, ...]
    units: tuple[HunkUnit, ...]


class WorkFrame(msgspec.Struct, frozen=True, array_like=True):
    """What a worker has done and needs: bytes of memory, texts parsed, pairs scored, in all."""

    rss: int
    parses: int
    pairs: int


class Scored(_Message, tag="scored"):
    """An analysis. ``scores`` is None where the parent has those of that number already.

    ``sites`` and ``decided`` are one a hunk. ``given`` are the hunks without the buffer, None where
    they are the same, and ``given_sites`` their sites.
    """

    number: int
    work: WorkFrame
    scores_number: int
    scores: ScoresFrame | None
    sites: tuple[Site, ...]
    decided: tuple[bool, ...]
    given: tuple[Hunk, ...] | None
    given_sites: tuple[Site, ...]


class EarlyHunks(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The hunks of an analysis, before anything is known of pairs, order and groups."""

    hunks: tuple[Hunk, ...]
    sites: tuple[Site, ...]
    decided: tuple[bool, ...]


class Marked(_Message, tag="marked"):
    """The hunks of an analysis, before its scores: an answer that another one follows."""

    number: int
    early: EarlyHunks


class Surveyed(_Message, tag="surveyed"):
    """The document of a survey, in JSON."""

    number: int
    work: WorkFrame
    document: memoryview


class ReplayedTexts(_Message, tag="replayed"):
    """The texts, in the order in which they were sent."""

    number: int
    work: WorkFrame
    texts: tuple[str, ...]


Answer = Opened | Failed | Marked | Scored | Surveyed | ReplayedTexts
