"""A queue read and counted at once, in pieces that any process can do: its patches keep no hunks.

What comes back of a piece is small: messages without their hunks, and edits as ints under the
vocabulary of the process that read it, of which only new words are sent. A patch that is shown is
read again from the bytes of its message.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import accumulate, islice, pairwise
from typing import Any, BinaryIO

import msgspec

from excise.patches import IGNORED, Message, Patch, PatchIds, Pool, ids_of
from excise.patches.evidence import ChangeCounts, EvidenceReader
from excise.patches.features import BLOCK, NO_HEADING, NO_NAME, PatchFeatures, Reader
from excise.patches.mail import pieces, read_piece
from excise.patches.series import Posted
from excise.tokens import Vocabulary
from excise_server.foundation.inputs import Rejected
from excise_server.processes.forks import Map
from excise_server.queue.reading import BINARY, Queue, is_binary, loaded, queue_of

TOGETHER = 400_000
"""Bytes of messages that are read as one part, .."""
MOST = 200
""".. or so many messages."""

SHOWN = 1000
"""Patches that are kept with their hunks, once they were shown."""

Piece = tuple[int, int, bytes]
"""A message: its number in its file, its line there, and its bytes."""

Known = tuple[Patch, PatchFeatures, PatchIds, ChangeCounts]
"""A patch without hunks, its edits and names, as `Pool.add_read` takes them, and its changes."""


class Part(msgspec.Struct, frozen=True, array_like=True):
    """Some messages as one process has read them.

    ``ids`` are the names of each that has files, ``changes`` what it says about its issue, and
    ``lengths`` how many ints of each kind it has (four bytes an int, as in ``ints``). ``words`` are
    what the process has named since its last part, each kind from ``starts`` on.
    """

    process: int
    messages: list[Message]
    ids: list[PatchIds]
    changes: list[ChangeCounts]
    notes: list[tuple[str, ...]]
    lengths: list[bytes]
    ints: list[bytes]
    starts: list[int]
    words: list[list[Any]]


class PieceReader:
    """Reads and counts messages, under one vocabulary for each process that has a copy of it."""

    def __init__(self) -> None:
        self._reader = Reader()
        self._counter = EvidenceReader()
        self._sent = [0, 0, 0]

    def __call__(self, pieces: Sequence[Piece]) -> bytes | Part:
        """Read some messages; what is not Unicode cannot be sent, and is not encoded."""
        part = self.part([read_piece(*piece) for piece in pieces])
        try:
            data = msgspec.msgpack.encode(part)
        except UnicodeEncodeError:
            return part
        self._sent = list(map(len, self._reader.vocabularies))
        return data

    def part(self, messages: Sequence[Message]) -> Part:
        """Count some messages; as long as no part is sent, each has all words."""
        patches = [message.patch for message in messages if message.patch.files]
        edits = [self._reader.edits(patch, IGNORED) for patch in patches]
        columns = list(zip(*(own.ints for own in edits), strict=True)) or [()] * 4
        named = zip(self._reader.vocabularies, self._sent, strict=True)
        return Part(
            process=os.getpid(),
            messages=[without_hunks(message) for message in messages],
            ids=[ids_of(patch) for patch in patches],
            changes=[self._counter.counted(patch) for patch in patches],
            notes=[own.notes for own in edits],
            lengths=[array("i", map(len, column)).tobytes() for column in columns],
            ints=[b"".join(column) for column in columns],
            starts=self._sent,
            words=[vocabulary.items(start) for vocabulary, start in named],
        )


class Merger:
    """Brings parts under one vocabulary; which ints it has decides no score.

    The parts of a process are taken in the order in which it made them.
    """

    def __init__(self) -> None:
        self._vocabularies = Vocabulary(), Vocabulary(), Vocabulary()
        self._names: dict[int, list[array[int]]] = {}

    def take(self, data: bytes | Part) -> tuple[list[Message], list[Known]]:
        """Return the messages of a part, and its patches."""
        part = data if isinstance(data, Part) else msgspec.msgpack.decode(data, type=Part)
        patches = (message.patch for message in part.messages if message.patch.files)
        known = zip(patches, self._edits(part), part.ids, part.changes, strict=True)
        return part.messages, list(known)

    def _edits(self, part: Part) -> Iterator[PatchFeatures]:
        import numpy as np

        token, name, line = (np.frombuffer(own, np.int32) for own in self._renamed(part))
        tokens, blocks, around, context = (np.frombuffer(own, np.int32) for own in part.ints)
        blocks = blocks.reshape(-1, BLOCK).copy()
        blocks[:, 0] = name[blocks[:, 0]]
        titled = blocks[:, 5] != NO_HEADING
        blocks[titled, 5] = line[blocks[titled, 5]]
        named = blocks[:, 7] != NO_NAME
        blocks[named, 7] = token[blocks[named, 7]]
        around = around.copy()
        around[::2] = line[around[::2]]
        merged = token[tokens], blocks.ravel(), around, line[context]
        ranges = [pairwise(accumulate(array("i", lengths), initial=0)) for lengths in part.lengths]
        for notes, *cuts in zip(part.notes, *ranges, strict=True):
            ints = [
                array("i", own[start:stop].tobytes())
                for own, (start, stop) in zip(merged, cuts, strict=True)
            ]
            yield PatchFeatures(ints[0], ints[1], ints[2], ints[3], notes)

    def _renamed(self, part: Part) -> list[array[int]]:
        """Return what the ints of a part are here: of tokens, names and lines."""
        names = self._names.get(part.process) or [array("i")] * 3
        parts = zip(names, self._vocabularies, part.starts, part.words, strict=True)
        names = [
            # A tuple arrives as a list.
            own[:start] + vocabulary.intern(tuple(w) if isinstance(w, list) else w for w in words)
            for own, vocabulary, start, words in parts
        ]
        self._names[part.process] = names
        return names


def read_counted(
    paths: Iterable[str],
    stdin: BinaryIO,
    map: Map,
    advance: Callable[[float], None],
) -> tuple[Queue, Pool, list[ChangeCounts], Callable[[int], Patch]]:
    """Read every message that the paths name, as `read_queue` does, and count its edits.

    Returns: the queue, the pool of its patches, what each changes, and what reads one with its
    hunks.

    Raises SourceError if a path that was given cannot be read itself.

    - ``map``: applied to the parts that the work is cut into: it may use other processes.
    - ``advance``: told which share of the messages is read.
    """
    rejected: list[Rejected] = []
    files = [(name, listed, _cut(data)) for name, data, listed in loaded(paths, stdin, rejected)]
    cut = [piece for *_, own in files for piece in own or ()]
    changes: list[ChangeCounts] = []
    messages: list[Message | None] = []
    pool, merger, posted = Pool(), Merger(), Posted()
    for part in map(PieceReader(), list(_parts(cut))):
        own, fresh = merger.take(part)
        counted = iter(fresh)
        for message in own:
            if not message.patch.files:
                messages.append(message if posted.add(message, str) else None)
                continue
            patch, edits, ids, counts = next(counted)
            if posted.add(message, partial(getattr, ids, "patch")):
                messages.append(message)
                changes.append(counts)
                pool.add_read(patch, edits, ids)
            else:
                messages.append(None)
        assert len(pool.index) == len(pool)  # n-grams are counted now: other processes read on
        advance(len(messages) / len(cut))
    rest = iter(messages)
    queue = queue_of(
        [
            (name, (BINARY,) if own is None else tuple(islice(rest, len(own))), listed)
            for name, listed, own in files
        ],
        rejected,
    )
    whole = [piece for piece, message in zip(cut, messages, strict=True)
             if message is not None and message.patch.files]  # fmt: skip

    @lru_cache(maxsize=SHOWN)
    def patch_of(number: int) -> Patch:
        return read_piece(*whole[number]).patch

    return queue, pool, changes, patch_of


def _cut(data: bytes) -> list[Piece] | None:
    """Return the messages of a file, or None if it is binary."""
    if is_binary(data):
        return None
    return [(number, line, piece) for number, (line, piece) in enumerate(pieces(data), start=1)]


def _parts(cut: Iterable[Piece]) -> Iterator[list[Piece]]:
    part: list[Piece] = []
    size = 0
    for piece in cut:
        part.append(piece)
        size += len(piece[2])
        if size >= TOGETHER or len(part) >= MOST:
            yield part
            part, size = [], 0
    if part:
        yield part


def without_hunks(message: Message) -> Message:
    """Return a message whose files have no hunks."""
    files = tuple(replace(pair, hunks=()) for pair in message.patch.files)
    return replace(message, patch=Patch(files, message.patch.warnings))
