"""A queue that is watched: all messages seen before and their features, in one SQLite file.

A batch of messages is one transaction, so that a process may die at any moment. What it holds of a
message is its bytes (the table ``pieces``, which every version has) and what was made of them; when
another version would make something else of them, that is made anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import stat
import sys
import tempfile
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO, TypeVar

import msgspec

from excise import __version__
from excise.errors import ExciseError
from excise.patches import Message, Patch, PatchIds, ids_of, patch_id
from excise.patches.evidence import COUNTS, ChangeCounts, EvidenceReader
from excise.patches.features import (
    BLOCK,
    IGNORED,
    MOST_LINES,
    NO_HEADING,
    NO_NAME,
    PatchFeatures,
    Reader,
)
from excise.patches.identity import RULES
from excise.patches.mail import pieces, read_piece
from excise.patches.pool import signature
from excise.patches.series import Posted
from excise_server.foundation.database import is_locked, opened, writing
from excise_server.foundation.inputs import Rejected, SourceError
from excise_server.queue.counted import without_hunks
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

T = TypeVar("T")

BATCH = 200
"""Messages of one transaction."""

WAIT = 60.0
"""Seconds to wait for another process that writes."""

_FEATURES = (
    "INSERT INTO features "
    "(n, message, tokens, blocks, around, context, notes, patch_id, edit_id, code_id) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
MESSAGES = "messages:2"
"""Version of the form in which messages are kept."""

_APPLICATION = 0x45584353
_HEADER = b"SQLite format 3\0"
_SCHEMA = f"""
BEGIN;
PRAGMA application_id = {_APPLICATION};
CREATE TABLE pieces (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, digest BLOB NOT NULL UNIQUE,
  number INTEGER NOT NULL, line INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE features (n INTEGER PRIMARY KEY, message TEXT NOT NULL, tokens BLOB NOT NULL,
  blocks BLOB NOT NULL, around BLOB NOT NULL, context BLOB NOT NULL, notes TEXT NOT NULL,
  patch_id TEXT NOT NULL, edit_id TEXT NOT NULL, code_id TEXT NOT NULL);
CREATE TABLE changes (n INTEGER PRIMARY KEY, counts BLOB NOT NULL);
CREATE TABLE words (kind INTEGER, start INTEGER, items BLOB NOT NULL, PRIMARY KEY (kind, start));
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
COMMIT;
"""
_ANOTHER = "another version, or other ignored paths: everything was read anew"


New = tuple[str, bytes, Message]
"""A message that may be new: the id it would have, its bytes, and what they say."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A message of the state; the files of its patch have no hunks."""

    n: int
    id: str
    message: Message
    edits: PatchFeatures
    ids: PatchIds


class BadStateError(ValueError):
    """The stored data are inconsistent."""


class State:
    """A state that is open.

    Every method raises `SourceError` if the file cannot be read or written, or is damaged.

    - ``entries``: every message, in the order in which they came.
    - ``rebuilt``: what is to be said, if everything had to be made anew; else empty.
    """

    def __init__(self, path: str, ignored: Sequence[str] = IGNORED) -> None:
        """Open a state, and make an empty one if the file does not exist.

        Raises SourceError if the file is not a state (it is left as it is), is damaged, or cannot
        be written.
        """
        self.path, self.ignored = path, tuple(ignored)
        self.entries: list[Entry] = []
        self.rebuilt = ""
        self._digests: dict[bytes, str] = {}
        self._ids: set[str] = set()
        self._reader = Reader()
        self._counter = EvidenceReader()
        with _errors(path):
            if not os.path.lexists(path):
                _create(path)
            # Without SQLite, which would take an empty file for a state.
            hint = "name a file that does not exist yet, or one that --state made"
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise SourceError("it is not a regular file", name=path, hint=hint)
            with open(path, "rb") as file:
                head = file.read(100)
            if not head.startswith(_HEADER) or int.from_bytes(head[68:72], "big") != _APPLICATION:
                raise SourceError("it is not the state of a patch queue", name=path, hint=hint)
            self._file = opened(path, WAIT)
            try:
                self._start()
            except BaseException:
                self._file.close()
                raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def knows(self, piece: bytes) -> bool:
        """Whether a message of these bytes was there when last looked."""
        return hashlib.sha256(piece).digest() in self._digests

    def add(self, messages: Sequence[New]) -> list[str]:
        """Add what is new in one transaction, and return its ids."""
        with _errors(self.path), writing(self._file):
            self._catch_up()
            sizes = [len(vocabulary) for vocabulary in self._reader.vocabularies]
            added = [self._insert(*new) for new in messages if not self.knows(new[1])]
            self._write_words(sizes)
            return added

    def whole(self, entry: Entry) -> Patch:
        """Return the patch of an entry with its hunks, read again."""
        query = "SELECT number, line, data FROM pieces WHERE n = ?"
        with _errors(self.path):
            number, line, data = self._file.execute(query, (entry.n,)).fetchone()
            return read_piece(number, line, zlib.decompress(data)).patch

    def changes(self) -> list[ChangeCounts]:
        """Return what each entry changes, for `excise.patches.evidence`."""
        with _errors(self.path):
            rows = dict(self._file.execute("SELECT n, counts FROM changes").fetchall())
            if missing := [entry.id for entry in self.entries if entry.n not in rows]:
                raise BadStateError(f"nothing is kept of {missing[0]!r}")
            changes = [
                _unpacked(zlib.decompress(rows[entry.n]), ChangeCounts) for entry in self.entries
            ]
            for counts in changes:
                if min((*counts.added.values(), *counts.deleted.values()), default=1) < 1:
                    raise BadStateError("a word that occurs less than once")
        return changes

    # --- one version or another ------------------------------------------------------------------

    @property
    def _made_by(self) -> str:
        made = [signature(), COUNTS, MESSAGES, RULES, *self.ignored, __version__, sys.byteorder]
        return json.dumps(made)

    def _start(self) -> None:
        try:
            query = "SELECT value FROM facts WHERE name = 'made by'"
            row = self._file.execute(query).fetchone()
            made = None if row is None else str(row[0])
            self._file.execute("SELECT count(*) FROM changes")
            if made == self._made_by:
                self._catch_up()
                return
            self.rebuilt = _ANOTHER if made is not None else ""
        except (sqlite3.OperationalError, BadStateError) as error:
            if is_locked(error):
                raise
            # The tables of another version, or features that do not hold together.
            self.rebuilt = _ANOTHER
        self._rebuild()

    def _rebuild(self) -> None:
        """Make all features anew from the bytes, in one transaction."""
        self.entries, self._digests, self._ids, self._reader = [], {}, set(), Reader()
        with writing(self._file):
            for name in ("features", "changes", "words", "facts", "groups"):
                self._file.execute(f"DROP TABLE IF EXISTS {name}")
            for statement in _SCHEMA.split(";"):
                if "CREATE TABLE" in statement and "pieces" not in statement:
                    self._file.execute(statement)
            query = "SELECT n, id, digest, number, line, data FROM pieces ORDER BY n"
            for n, name, digest, number, line, data in self._file.execute(query).fetchall():
                message = read_piece(number, line, zlib.decompress(data))
                self._keep(n, json.loads(name), digest, message)
            made = ("made by", self._made_by)
            self._file.execute("INSERT INTO facts VALUES (?, ?)", made)
            self._write_words((0, 0, 0))

    # --- reading and writing ---------------------------------------------------------------------

    def _catch_up(self) -> None:
        """Take what was written since the last look, by this process or by another."""
        for kind, vocabulary in enumerate(self._reader.vocabularies):
            query = "SELECT items FROM words WHERE kind = ? AND start >= ? ORDER BY start"
            for (items,) in self._file.execute(query, (kind, len(vocabulary))):
                vocabulary.intern(
                    tuple(item) if isinstance(item, list) else item
                    for item in json.loads(zlib.decompress(items))
                )
        query = (
            "SELECT n, id, digest, message, notes, patch_id, edit_id, code_id, "
            "tokens, blocks, around, context "
            "FROM features JOIN pieces USING (n) WHERE n > ? ORDER BY n"
        )
        last = self.entries[-1].n if self.entries else 0
        limits = [len(vocabulary) for vocabulary in self._reader.vocabularies]
        for n, name, digest, text, notes, patch, edit, code, *ints in self._file.execute(
            query, (last,)
        ):
            tokens, blocks, around, context = map(_ints, ints)
            edits = PatchFeatures(tokens, blocks, around, context, tuple(json.loads(notes)))
            message = _unpacked(text, Message)
            ids = PatchIds(patch, edit, code)
            known = Entry(n, json.loads(name), message, checked(edits, *limits), ids)
            self._known(known, digest)

    def _known(self, entry: Entry, digest: bytes) -> None:
        self.entries.append(entry)
        self._digests[digest] = entry.id
        self._ids.add(entry.id)

    def _insert(self, wanted: str, piece: bytes, message: Message) -> str:
        name, number = wanted, 1
        while name in self._ids:
            number += 1
            name = f"{wanted}#{number}"
        digest = hashlib.sha256(piece).digest()
        row = (json.dumps(name), digest, message.number, message.line, zlib.compress(piece))
        query = "INSERT INTO pieces (id, digest, number, line, data) VALUES (?, ?, ?, ?, ?)"
        n = self._file.execute(query, row).lastrowid
        assert n is not None
        self._keep(n, name, digest, message)
        return name

    def _keep(self, n: int, name: str, digest: bytes, message: Message) -> None:
        edits = self._reader.edits(message.patch, self.ignored)
        ids = ids_of(message.patch)
        kept = without_hunks(message)
        ints = (zlib.compress(own.tobytes(), 1) for own in edits.ints)
        self._file.execute(_FEATURES, (n, _packed(kept), *ints, json.dumps(edits.notes), *ids))
        counts = zlib.compress(_packed(self._counter.counted(message.patch)).encode(), 1)
        self._file.execute("INSERT INTO changes VALUES (?, ?)", (n, counts))
        self._known(Entry(n, name, kept, edits, ids), digest)

    def _write_words(self, sizes: Sequence[int]) -> None:
        for kind, (vocabulary, start) in enumerate(
            zip(self._reader.vocabularies, sizes, strict=True)
        ):
            if len(vocabulary) > start:
                items = zlib.compress(json.dumps(vocabulary.items(start)).encode(), 1)
                self._file.execute("INSERT INTO words VALUES (?, ?, ?)", (kind, start, items))


# --- how things are written down: JSON and plain ints, nothing that is run ------------------------


def _packed(value: Message | ChangeCounts) -> str:
    """Return a value as ASCII, in which a path may hold undecodable bytes."""
    return json.dumps(msgspec.to_builtins(value, order="deterministic"))


def _unpacked(data: str | bytes, kind: type[T]) -> T:
    try:
        return msgspec.convert(json.loads(data), kind)
    except (ValueError, RecursionError) as error:
        raise BadStateError(f"unreadable {kind.__name__}: {error}") from error


def _ints(data: bytes) -> array[int]:
    try:
        return array("i", zlib.decompress(data))
    except (zlib.error, ValueError, TypeError) as error:
        raise BadStateError(f"unreadable ints: {error}") from error


def checked(edits: PatchFeatures, words: int, names: int, lines: int) -> PatchFeatures:
    """Return features whose ints all stand for something: a kernel trusts them.

    Raises BadStateError if one does not.
    """
    tokens, blocks, around = edits.tokens, edits.blocks, edits.around
    columns = [blocks[column::BLOCK] for column in range(BLOCK)]
    ordered = all(
        0 <= o_lo <= o_hi and 0 <= a_lo <= a_hi and max(o_hi, a_hi) <= len(tokens)
        for o_lo, o_hi, a_lo, a_hi in zip(*columns[1:5], strict=False)
    ) and all(0 <= lo <= hi <= len(tokens) for lo, hi in zip(*columns[8:], strict=False))
    headings = array("i", (heading for heading in columns[5] if heading != NO_HEADING))
    functions = array("i", (name for name in columns[7] if name != NO_NAME))
    inside = (
        _below(tokens, words)
        and _below(functions, words)
        and _below(edits.names, names)
        and all(_below(ints, lines) for ints in (headings, around[::2], edits.context))
        and _below(columns[6], MOST_LINES + 1)
        and len(around) == 2 * sum(columns[6])
        and _below(around[1::2], 2**31)
    )
    if len(blocks) % BLOCK or not (ordered and inside):
        raise BadStateError("features that point nowhere")
    return edits


def _below(ints: array[int], limit: int) -> bool:
    return not ints or (min(ints) >= 0 and max(ints) < limit)


# --- the file: made whole, told from any other, and what its errors mean -------------------------


@contextmanager
def _errors(path: str) -> Iterator[None]:
    """Turn what SQLite and the system say into errors that name the file and the way out."""
    away = "move it away; it will be rebuilt from the mails"
    try:
        yield
    except sqlite3.OperationalError as error:
        locked = is_locked(error)
        reason = "another excise process is writing to it" if locked else str(error)
        hint = "try again when it has finished" if locked else "check its folder and the disk"
        raise SourceError(reason, name=path, hint=hint) from error
    except (sqlite3.DatabaseError, BadStateError, zlib.error, ValueError) as error:
        if isinstance(error, ExciseError):
            raise
        raise SourceError(f"a damaged state: {error}", name=path, hint=away) from error
    except OSError as error:
        raise SourceError(error.strerror or str(error), name=path, hint="check the path") from error


def _create(path: str) -> None:
    """Make an empty state beside its place and move it there, so that it is whole or not there."""
    folder = os.path.dirname(os.path.abspath(path))
    descriptor, part = tempfile.mkstemp(prefix=".excise-", suffix=".state", dir=folder)
    os.close(descriptor)
    try:
        with closing(opened(part)) as file:
            file.executescript(_SCHEMA)
        try:
            if not hasattr(os, "link"):
                raise OSError
            os.link(part, path)
        except FileExistsError:
            pass  # another process was faster
        except OSError:  # a file system without hard links
            if not os.path.lexists(path):
                os.rename(part, path)
    finally:
        with suppress(OSError):
            os.unlink(part)


# --- reading what is new


def read_watched(
    paths: Iterable[str], stdin: BinaryIO, state: State
) -> tuple[Queue, frozenset[str], int]:
    """Read what the paths name, and keep what is new.

    Returns: all that the state knows, the ids of what is new, and how many messages of this run
    were known.

    Raises SourceError if a path that was given cannot be read itself, or the state cannot be
    written.
    """
    waiting: list[New] = []
    new: list[str] = []
    known = 0
    rejected: list[Rejected] = []
    others = 0
    posted = Posted()
    for entry in state.entries:
        posted.add(entry.message, partial(getattr, entry.ids, "patch"))

    def keep(least: int) -> None:
        """Write what waits, if it is more than so many."""
        while len(waiting) > least:
            new.extend(state.add(waiting[:BATCH]))
            del waiting[:BATCH]

    for name, data, listed in loaded(paths, stdin, rejected):
        binary = is_binary(data)
        cut = [(1, data)] if binary else list(pieces(data))
        messages: list[New] = []
        before = known
        for number, (line, piece) in enumerate(cut, start=1):
            if state.knows(piece):
                known += 1
                continue
            message = BINARY if binary else read_piece(number, line, piece)
            if not posted.add(message, partial(patch_id, message.patch)):
                known += 1
                continue
            messages.append((f"{name}#{number}" if len(cut) > 1 else name, piece, message))
        foreign = not any(message.patch.files or message.message_id for *_, message in messages)
        if listed and foreign and known == before and not name.lower().endswith(ENDINGS):
            others += 1
            continue
        for new_id, piece, message in messages:
            if message.error or is_foreign(message):
                rejected.append(Rejected(new_id, message.error or NO_DIFF))
            else:
                waiting.append((new_id, piece, message))
        keep(BATCH)
    keep(0)
    sent = tuple(Member(entry.id, entry.message) for entry in state.entries)
    return Queue(sent, tuple(rejected), others, tuple(notes_of(sent))), frozenset(new), known
