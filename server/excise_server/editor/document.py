"""One document and its revisions: its state, and which revisions it accepts or refuses.

Changed only by the session that owns it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import unquote

from excise.text import Revision, normalise
from excise_server.editor.decisions import Remembered
from excise_server.foundation.inputs import SourceError, check_text
from excise_server.sources.finding import OriginText

__all__ = [
    "MAX_ID",
    "MAX_REVISIONS",
    "OWN_EDITS",
    "Base",
    "Buffer",
    "Document",
    "document_key",
    "enter",
    "mismatch",
    "objection",
    "text_hash",
]

MAX_REVISIONS = 300
"""Most revisions that one document may have."""

OWN_EDITS = "buffer"
"""The id of the editor's text, if it counts as a revision."""

MAX_ID = 1000
"""Most characters of an id."""

_DRIVE = re.compile(r"file:///([A-Za-z]):")


class Buffer(Protocol):
    """The text in an editor, which the protocol changes in place."""

    def text(self) -> str:
        """Return the text now."""


class Base(Protocol):
    """The text that revisions were made from, according to the client."""

    @property
    def version(self) -> int | None:
        """The version of the open document."""

    @property
    def hash(self) -> str | None:
        """The hash of the origin, by `text_hash`."""


@dataclass(slots=True)
class Document:
    """One document: open in an editor, or only named by revisions, or both.

    ``saved`` is None until a text is known, and ``obstacle`` says why. ``elsewhere`` is the
    origin that a source provided. ``pinned`` is the origin at the time of the first revision: it
    survives saving and commits, so that neither counts as anybody's edit. ``found`` holds the ids
    of revisions from sources; all others are the client's. ``dismissed`` are found ones that the
    client removed, and ``deleted`` found ones that delete the file, whose empty text is not a text.
    ``kept`` are hunks, as lines of the pinned origin, in which the user wants the origin to stay.
    ``notes`` are remarks on the client's revisions, and ``voices`` name the texts of those that
    were made from the origin. ``remembered`` is a review that continues when a revision arrives
    that took part in it. With ``is_recalled``, memory has been asked.
    """

    uri: str
    revisions: dict[str, Revision] = field(default_factory=dict)
    saved: str | None = None
    obstacle: str = ""
    elsewhere: OriginText | None = None
    pinned: str | None = None
    found: set[str] = field(default_factory=set)
    deleted: frozenset[str] = frozenset()
    dismissed: set[str] = field(default_factory=set)
    buffer: Buffer | None = None
    version: int | None = None
    language: str | None = None
    kept: set[tuple[int, int]] = field(default_factory=set)
    notes: dict[str, list[str]] = field(default_factory=dict)
    voices: dict[str, str] = field(default_factory=dict)
    remembered: Remembered | None = None
    is_recalled: bool = False

    @property
    def origin(self) -> str | None:
        """The text that revisions are compared with: the pinned origin, or else the current one."""
        return self.current if self.pinned is None else self.pinned

    @property
    def current(self) -> str | None:
        """The origin without a review: a source's origin, or else the saved text."""
        return self.saved if self.elsewhere is None else self.elsewhere.text

    def pin(self, target: str | None = None) -> None:
        """Pin the origin (or this text) while there are revisions, except in a conflict."""
        ends = self.elsewhere is not None and not self.elsewhere.can_be_pinned
        if ends or not self.revisions:
            self.unpin()
        elif self.pinned is None and self.buffer is not None:  # a review begins in an editor
            self.pinned = self.current if target is None else target

    def unpin(self) -> None:
        """Return to the current origin, and drop the decisions made by the pinned one."""
        if self.pinned is not None:
            self.remembered = None
        self.pinned = None
        self.kept.clear()

    @property
    def review(self) -> Remembered | None:
        """The review to remember, or None without one."""
        if self.pinned is None:
            return None
        voices = {name: self.voices.get(name, "") for name in self.revisions}
        return Remembered(self.pinned, frozenset(self.kept), voices)

    def may_go_on(self, name: str, voice: str) -> bool:
        """Whether no review has begun, and the revision took part in the remembered one."""
        return self.remembered is not None and self.remembered.knows(name, voice) and not self.found

    def go_on(self) -> None:
        """Go on with the review that is remembered."""
        if self.remembered is not None:
            self.pinned, self.kept = self.remembered.origin, set(self.remembered.kept)
            self.remembered = None

    def take_origin(self, read: Callable[[], str]) -> None:
        """Read another saved text, or record why there is none."""
        try:
            self.saved, self.obstacle = check_text(read()), ""
        except SourceError as error:
            self.saved, self.obstacle = None, error.reason

    def own_edits(self, wanted: bool) -> Revision | None:
        """Return the editor's text as a revision, if it differs and that is wanted."""
        if self.buffer is None or self.origin is None or not wanted:
            return None
        if self.elsewhere is not None and not self.elsewhere.buffer_is_revision:
            return None
        if OWN_EDITS in self.revisions:
            return None
        edits = Revision(OWN_EDITS, self.buffer.text(), "your edits")
        same = normalise(edits.text) == normalise(self.origin)
        return None if same or objection(self, edits) else edits


def document_key(uri: str) -> str:
    """Return one key for all spellings of a URI: percent-encoding and drive letters differ.

    >>> document_key("file:///C%3A/x%20y") == document_key("file:///c:/x y")
    True
    """
    return _DRIVE.sub(lambda match: match[0].lower(), unquote(uri), count=1)


def text_hash(text: str) -> str:
    """Return the SHA-256, in hexadecimal, of a normalised text in UTF-8."""
    return hashlib.sha256(normalise(text).encode()).hexdigest()


def mismatch(document: Document, base: Base) -> str:
    """Return why revisions made from this base do not fit the document, or "" if they do."""
    if base.version is not None and base.version != document.version:
        now = (
            "the document is not open" if document.version is None else f"it is {document.version}"
        )
        return f"made from version {base.version}, but {now}"
    if base.hash is not None:
        if document.origin is None:
            return f"base.hash cannot be checked: {document.obstacle}"
        if base.hash.lower() != text_hash(document.origin):
            return "made from another text: base.hash is not the origin's"
    return ""


def enter(document: Document, revision: Revision) -> str:
    """Add a revision that a source found, and return the reason if it is refused, else ""."""
    name = revision.id
    if name in document.dismissed:
        return "removed by the client"
    if name in document.revisions and name not in document.found:
        return "the client added another revision with this id"
    if reason := objection(document, revision):
        if name in document.found:
            del document.revisions[name]
            document.found.discard(name)
        return reason
    document.revisions[name] = revision
    document.found.add(name)
    return ""


def objection(document: Document, revision: Revision) -> str:
    """Return why a revision is not taken, or "" if it is."""
    if not 0 < len(revision.id) <= MAX_ID:
        return f"an id must have 1 to {MAX_ID} characters"
    if len(document.revisions) >= MAX_REVISIONS and revision.id not in document.revisions:
        return f"skipped: limit {MAX_REVISIONS} revisions a document"
    try:
        check_text(revision.text)
    except SourceError as error:
        return f"skipped: {error.reason}"
    return ""
