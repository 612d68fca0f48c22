"""A queue that is watched: what is new is read and kept, what was seen before is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import BinaryIO

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
from excise_server.queue.state import BATCH, New, State

__all__ = ["Watched", "read_watched"]


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
    waiting: list[New] = []
    new: list[str] = []
    seen: list[str] = []
    rejected: list[Rejected] = []
    others = 0

    def keep(least: int) -> None:
        """Write what waits, if it is more than so many."""
        while len(waiting) > least:
            new.extend(state.add(waiting[:BATCH]))
            del waiting[:BATCH]
            advance(len(new))

    for name, data, listed in loaded(paths, stdin, rejected):
        binary = is_binary(data)
        cut = [(1, data)] if binary else list(pieces(data))
        found: list[New] = []
        before = len(seen)
        for number, (line, piece) in enumerate(cut, start=1):
            if state.knows(piece):
                seen.append(state.id_of(piece))
                continue
            message = BINARY if binary else read_piece(number, line, piece)
            found.append(New(f"{name}#{number}" if len(cut) > 1 else name, piece, message))
        foreign = not any(own.message.patch.files or own.message.message_id for own in found)
        if listed and foreign and len(seen) == before and not name.lower().endswith(ENDINGS):
            others += 1
            continue
        for own in found:
            if own.message.error or is_foreign(own.message):
                rejected.append(Rejected(own.id, own.message.error or NO_DIFF))
            else:
                waiting.append(own)
        keep(BATCH)
    keep(0)
    sent = tuple(Member(entry.id, entry.message) for entry in state.entries)
    queue = Queue(sent, tuple(rejected), others, tuple(notes_of(sent)))
    return Watched(queue, frozenset(new), len(seen), frozenset((*new, *seen)))
