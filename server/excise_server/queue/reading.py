"""A queue of patches: files, mailboxes, folders (also Maildir) or standard input, read once."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import BinaryIO, NamedTuple

from excise.patches import Message, PatchError, patch_id, postings
from excise.patches import newest as newest_of
from excise.patches import read as read_messages
from excise.patches.parse import UTF_16
from excise.patches.series import Posted
from excise_server.foundation.files import FLAGS, file_error
from excise_server.foundation.inputs import Rejected, SourceError, unique_ids

MAX_QUEUE = 1_000_000_000
"""Largest file of patches read, in bytes: 1 GB."""

NO_DIFF = "no diff in it"
BINARY = Message(1, error="binary: it contains NUL characters")
"""The message of a binary file."""
STDIN = "-"
ENDINGS = (".patch", ".diff", ".mbox", ".eml", ".mbx", ".rej")
"""Names that say what a file is: one without a message is refused, not passed over."""


class Member(NamedTuple):
    """One message of the queue, under an id that no other has."""

    id: str
    message: Message


@dataclass(frozen=True)
class Queue:
    """What was read, in its order: messages, what was refused, and what to know of it.

    ``others`` counts the files of folders that are not patches at all, ``again`` the mails that are
    copies of others, sent to another list.
    """

    sent: tuple[Member, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    others: int = 0
    notes: tuple[tuple[str, str], ...] = ()
    again: int = 0

    @cached_property
    def patches(self) -> tuple[Member, ...]:
        """The messages that have a diff."""
        return tuple(member for member in self.sent if member.message.patch.files)

    @cached_property
    def covers(self) -> tuple[Member, ...]:
        """The messages without a diff."""
        return tuple(member for member in self.sent if not member.message.patch.files)


def read_queue(paths: Iterable[str], stdin: BinaryIO) -> Queue:
    """Read every message that the paths name; one that cannot be read never stops the others.

    Raises SourceError if a path that was given cannot be read itself.
    """
    rejected: list[Rejected] = []
    posted = Posted()
    files = (
        (
            name,
            [m if posted.add(m, partial(patch_id, m.patch)) else None for m in _messages(data)],
            listed,
        )
        for name, data, listed in loaded(paths, stdin, rejected)
    )
    return queue_of(files, rejected)


def queue_of(
    files: Iterable[tuple[str, Sequence[Message | None], bool]], rejected: list[Rejected]
) -> Queue:
    """Return the queue of the messages of files, each with its name and whether a folder listed it.

    None stands for a copy. ``rejected`` is complete when the last file is taken.
    """
    members: list[Member] = []
    others = again = 0
    for name, sent, listed in files:
        messages = [message for message in sent if message is not None]
        again += len(sent) - len(messages)
        if (
            listed
            and not name.lower().endswith(ENDINGS)
            and len(messages) == len(sent)
            and not any(message.patch.files or message.message_id for message in messages)
        ):
            others += 1
            continue
        members += [
            Member(f"{name}#{message.number}" if len(sent) > 1 else name, message)
            for message in messages
        ]
    ids = unique_ids([member.id for member in members])
    members = [member._replace(id=name) for name, member in zip(ids, members, strict=True)]
    bad = {
        member.id: Rejected(member.id, member.message.error or NO_DIFF)
        for member in members
        if member.message.error or is_foreign(member.message)
    }
    return Queue(
        tuple(member for member in members if member.id not in bad),
        (*rejected, *bad.values()),
        others,
        tuple(notes_of(members)),
        again,
    )


def newest(queue: Queue) -> Queue:
    """Return the queue without patches that a newer version of their series replaces."""
    kept = {queue.sent[index].id for index in newest_of([member.message for member in queue.sent])}
    gone = [member.id for member in queue.patches if member.id not in kept]
    said = [(name, "left out: its series has a newer version") for name in gone]
    return replace(
        queue,
        sent=tuple(member for member in queue.sent if member.id in kept),
        notes=(*queue.notes, *said),
    )


def missing_notes(queue: Queue) -> Iterator[tuple[str, str]]:
    """Yield the id of the first message of each series that lacks some, and which."""
    for posting in postings([member.message for member in queue.sent]):
        if posting.missing:
            places = ", ".join(map(str, posting.missing[:8]))
            yield queue.sent[posting.messages[0]].id, f"missing from its series: {places}"


def _messages(data: bytes) -> tuple[Message, ...]:
    if is_binary(data):
        return (BINARY,)
    try:
        return read_messages(data)
    except PatchError as error:  # a mailbox that cannot be cut into messages
        return (Message(1, error=str(error)),)


def notes_of(members: Iterable[Member]) -> Iterator[tuple[str, str]]:
    """Yield what people should know of messages: by the id of each, in words."""
    seen: set[str] = set()
    for member in members:
        if member.message.message_id in seen:
            yield member.id, "duplicate Message-ID"
        seen |= {member.message.message_id} - {""}
        for warning in member.message.patch.warnings:
            yield member.id, str(warning)


def is_binary(data: bytes) -> bool:
    """Whether the bytes are no text, as git decides it: UTF-16 has a reason of its own."""
    return b"\0" in data[:8192] and not data.startswith(UTF_16)


def is_foreign(message: Message) -> bool:
    """Whether this is neither a mail nor a patch."""
    return message.is_cover and not (message.subject or message.author or message.message_id)


def loaded(
    paths: Iterable[str], stdin: BinaryIO, rejected: list[Rejected]
) -> Iterator[tuple[str, bytes, bool]]:
    """Yield a name, its bytes, and whether a folder listed it.

    A listed file that cannot be read is appended to ``rejected``.

    Raises SourceError if a path that was given cannot be read itself.
    """
    for path in paths:
        for name, full, listed in _files(path):
            try:
                data = _limited(stdin) if full == STDIN else _bytes(full)
            except SourceError as error:
                if not listed:
                    raise error.named(path) from error
                rejected.append(Rejected(name, error.reason, error.hint))
                continue
            yield name, data, listed


def _files(path: str) -> Iterator[tuple[str, str, bool]]:
    """Yield a name, its path, and whether a folder listed it."""
    if path == STDIN or not os.path.isdir(path):
        yield path, path, False
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(name for name in names if not name.startswith(".")):
            full = os.path.join(folder, name)
            yield os.path.relpath(full, path), full, True


def _bytes(path: str) -> bytes:
    try:
        with open(os.open(path, FLAGS), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise SourceError("it is not a regular file")
            return _limited(file)
    except (OSError, ValueError) as error:
        raise file_error(path, error) from error


def _limited(file: BinaryIO) -> bytes:
    data = file.read(MAX_QUEUE + 1)
    if len(data) > MAX_QUEUE:
        raise SourceError(f"over the limit of {MAX_QUEUE // 1_000_000} MB")
    return data
