"""A queue that is watched: what is new is read and kept, what was seen before is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from excise.patches import IGNORED, Pool
from excise.patches.mail import pieces, read_piece
from excise_server.foundation.inputs import Rejected
from excise_server.queue.reading import (
    BINARY,
    ENDINGS,
    NO_DIFF,
    Member,
    Queue,
    is_binary,
    is_foreign,
    loaded,
    notes_of,
)
from excise_server.queue.state import BATCH, Entry, New, State

__all__ = ["Watched", "known_pool", "read_watched"]


@dataclass(frozen=True, slots=True)
class Watched:
    """The whole queue, what of it is new, and how many messages of this run were known.

    ``named`` are all messages that this run read, new or not.
    """

    queue: Queue
    new: frozenset[str]
    known: int
    named: frozenset[str] = frozenset()


def read_watched(
    paths: Iterable[str],
    stdin: BinaryIO,
    state: State,
    advance: Callable[[float], None] = lambda done: None,
) -> Watched:
    """Read what the paths name, keep what is new, and return all that the state knows.

    Parameters
    ----------
    advance
        Told how many new messages were kept.

    Raises
    ------
    SourceError
        If a path that was given cannot be read itself, or the state cannot be written.
    """
    reading = _Reading(state, advance)
    for name, data, listed in loaded(paths, stdin, reading.rejected):
        reading.take(name, data, listed)
    reading.keep(0)
    return reading.result()


class _Reading:
    """One run over the sources."""

    def __init__(self, state: State, advance: Callable[[float], None]) -> None:
        self.state, self.advance = state, advance
        self.waiting: list[New] = []
        self.new: list[str] = []
        self.seen: list[str] = []
        self.rejected: list[Rejected] = []
        self.others = 0

    def take(self, name: str, data: bytes, listed: bool) -> None:
        """Read the messages of a file that are not known."""
        binary = is_binary(data)
        cut = [(1, data)] if binary else list(pieces(data))
        found: list[New] = []
        before = len(self.seen)
        for number, (line, piece) in enumerate(cut, start=1):
            if self.state.knows(piece):
                self.seen.append(self.state.id_of(piece))
                continue
            message = BINARY if binary else read_piece(number, line, piece)
            name_of = f"{name}#{number}" if len(cut) > 1 else name
            found.append(New(name_of, piece, message))
        foreign = not any(new.message.patch.files or new.message.message_id for new in found)
        if listed and foreign and len(self.seen) == before and not name.lower().endswith(ENDINGS):
            self.others += 1
            return
        for new in found:
            if new.message.error or is_foreign(new.message):
                self.rejected.append(Rejected(new.id, new.message.error or NO_DIFF))
            else:
                self.waiting.append(new)
        self.keep(BATCH)

    def keep(self, least: int) -> None:
        """Write what waits, if it is more than so many."""
        while len(self.waiting) > least:
            self.new += self.state.add(self.waiting[:BATCH])
            del self.waiting[:BATCH]
            self.advance(len(self.new))

    def result(self) -> Watched:
        sent = tuple(Member(entry.id, entry.message) for entry in self.state.entries)
        queue = Queue(
            tuple(member for member in sent if member.message.patch.files),
            tuple(member for member in sent if not member.message.patch.files),
            tuple(self.rejected),
            self.others,
            tuple(notes_of(sent)),
            sent,
        )
        new = frozenset(self.new)
        return Watched(queue, new, len(self.seen), new.union(self.seen))


def known_pool(
    entries: Iterable[Entry], *, ignored: Sequence[str] = IGNORED, idf: bool = False
) -> Pool:
    """Return the pool of messages that a state knows: nothing is read again, or counted unasked."""
    pool = Pool(ignored=ignored, idf=idf)
    for entry in entries:
        pool.add_read(
            entry.message.patch, entry.edits, patch_id=entry.patch_id, text_id=entry.text_id
        )
    return pool
