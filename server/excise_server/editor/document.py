"""One document and its revisions: what it holds, which revisions it takes, and why not.

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
from excise_server.editor.remembered import Remembered
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
"""The id of what the editor shows, where that is one more revision."""

MAX_ID = 1000
"""Most characters of an id."""

_DRIVE = re.compile(r"file:///([A-Za-z]):")


class Buffer(Protocol):
    """What an editor shows; the wire changes it in place."""

    def text(self) -> str:
        """Return the text now."""


class Base(Protocol):
    """What a client says its revisions were made from."""

    @property
    def version(self) -> int | None:
        """The version of the open document."""

    @property
    def hash(self) -> str | None:
        """The hash of the origin, as of `text_hash`."""


@dataclass(slots=True)
class Document:
    """One document: open in an editor, or only named by revisions, or both.

    ``saved`` is None where there is no text yet; ``obstacle`` then says why. ``elsewhere`` is the
    origin that a source gave. ``pinned`` is what the origin was when the first revision came: it
    stays through saving and commits, so that neither makes an edit of anybody. ``found`` holds the
    ids that sources gave, all others are the client's; ``dismissed`` those that the client removed.
    ``deleted`` are found ones that delete the file, so that their empty text is none.
    ``kept`` are hunks, as lines of the pinned origin, in which the user wants that origin to stay;
    ``notes`` say what to know of the client's revisions, ``voices`` name their texts where these
    were made from the origin. ``remembered`` is a review that may go on, when a revision comes that
    took part in it; with ``is_recalled``, memory has been asked.
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
        """What the revisions are compared with: what it was at first, or is by now."""
        return self.current if self.pinned is None else self.pinned

    @property
    def current(self) -> str | None:
        """What the origin would be without a review: a source's origin, else the saved text."""
        return self.saved if self.elsewhere is None else self.elsewhere.text

    def pin(self, target: str | None = None) -> None:
        """Keep the origin (or this text) while there are revisions; a conflict has its own."""
        ends = self.elsewhere is not None and not self.elsewhere.can_be_pinned
        if ends or not self.revisions:
            self.unpin()
        elif self.pinned is None and self.buffer is not None:  # a review begins in an editor
            self.pinned = self.current if target is None else target

    def unpin(self) -> None:
        """Let the origin be what it is by now; what was decided by the other one is void."""
        if self.pinned is not None:
            self.remembered = None
        self.pinned = None
        self.kept.clear()

    @property
    def review(self) -> Remembered | None:
        """What is to be remembered of the review, or None without one."""
        if self.pinned is None:
            return None
        voices = {name: self.voices.get(name, "") for name in self.revisions}
        return Remembered(self.pinned, frozenset(self.kept), voices)

    def may_go_on(self, name: str, voice: str) -> bool:
        """Whether a revision took part in the review that is remembered, and none is there yet."""
        return self.remembered is not None and self.remembered.knows(name, voice) and not self.found

    def go_on(self) -> None:
        """Go on with the review that is remembered."""
        if self.remembered is not None:
            self.pinned, self.kept = self.remembered.origin, set(self.remembered.kept)
            self.remembered = None

    def take_origin(self, read: Callable[[], str]) -> None:
        """Have another saved text, or know why there is none."""
        try:
            self.saved, self.obstacle = check_text(read()), ""
        except SourceError as error:
            self.saved, self.obstacle = None, error.reason

    def own_edits(self, wanted: bool) -> Revision | None:
        """Return what the editor shows as a revision, where it differs and that is wanted."""
        if self.buffer is None or self.origin is None or not wanted:
            return None
        if self.elsewhere is not None and not self.elsewhere.buffer_is_revision:
            return None
        if OWN_EDITS in self.revisions:
            return None
        own = Revision(OWN_EDITS, self.buffer.text(), "your edits")
        same = normalise(own.text) == normalise(self.origin)
        return None if same or objection(self, own) else own


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
    """Let a revision that a source found in; return why not, if not."""
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
