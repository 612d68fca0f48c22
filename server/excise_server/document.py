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
from excise_server.sources import SourceError, check_text
from excise_server.sources.finding import OriginText

__all__ = [
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

_MAX_ID = 1000
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
    origin that a source gave. ``found`` holds the ids that sources gave, all others are the
    client's; ``dismissed`` those that the client removed.
    """

    uri: str
    revisions: dict[str, Revision] = field(default_factory=dict)
    saved: str | None = None
    obstacle: str = ""
    elsewhere: OriginText | None = None
    found: set[str] = field(default_factory=set)
    dismissed: set[str] = field(default_factory=set)
    buffer: Buffer | None = None
    version: int | None = None
    language: str | None = None

    @property
    def origin(self) -> str | None:
        """What the revisions are compared with: a source's origin, else the saved text."""
        return self.saved if self.elsewhere is None else self.elsewhere.text

    def take_origin(self, read: Callable[[], str]) -> None:
        """Have another saved text, or know why there is none."""
        try:
            self.saved, self.obstacle = check_text(read()), ""
        except SourceError as error:
            self.saved, self.obstacle = None, error.reason

    def own_edits(self, wanted: bool | None) -> Revision | None:
        """Return what the editor shows as a revision, where it differs and that is wanted."""
        if self.buffer is None or self.origin is None or wanted is False:
            return None
        if self.elsewhere is not None and not self.elsewhere.buffer_is_revision:
            return None
        if not (self.revisions or wanted) or OWN_EDITS in self.revisions:
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
    """Return why revisions made from this base do not fit the document; empty if they do."""
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
    """Return why a revision is not taken; empty if it is."""
    if not 0 < len(revision.id) <= _MAX_ID:
        return f"an id has 1 to {_MAX_ID} characters"
    if len(document.revisions) >= MAX_REVISIONS and revision.id not in document.revisions:
        return f"skipped: limit {MAX_REVISIONS} revisions a document"
    try:
        check_text(revision.text)
    except SourceError as error:
        return f"skipped: {error.reason}"
    return ""
