"""The only mutable state: documents, their origins and revisions. Touched on the loop alone.

Each method that changes something reports the document's key to `changed`: a document event and a
custom request enter by the same door. Workers never see this, only the `Snapshot` it mints.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import unquote, urlsplit

from excise import languages
from excise.signature import Options
from excise.text import Revision, normalise
from excise_server.snapshot import Snapshot
from excise_server.sources import Rejected, SourceError, check_text
from excise_server.sources.finding import Found, OriginText

__all__ = [
    "MAX_REVISIONS",
    "OWN_EDITS",
    "Base",
    "Buffer",
    "Document",
    "Session",
    "document_key",
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
        return None if same or _objection(self, own) else own


def document_key(uri: str) -> str:
    """Return one key for all spellings of a URI: percent-encoding and drive letters differ.

    >>> document_key("file:///C%3A/x%20y") == document_key("file:///c:/x y")
    True
    """
    return _DRIVE.sub(lambda match: match[0].lower(), unquote(uri), count=1)


def text_hash(text: str) -> str:
    """Return the SHA-256, in hexadecimal, of a normalised text in UTF-8."""
    return hashlib.sha256(normalise(text).encode()).hexdigest()


class Session:
    """Documents by key.

    Parameters
    ----------
    changed : callable
        Told the key of each document that changed.
    read : callable
        The text of a document that no editor has open, or a SourceError.
    options : Options
        How revisions are scored.
    """

    def __init__(
        self,
        changed: Callable[[str], None],
        read: Callable[[str], str],
        options: Options | None = None,
    ) -> None:
        """Start without documents."""
        self._changed, self._read = changed, read
        self.options = options or Options()
        self.own_edits: bool | None = None
        """Whether unsaved edits are one more revision: None where others exist, True always."""
        self._documents: dict[str, Document] = {}

    def find(self, uri: str) -> Document | None:
        """Return the document of a URI, if there is one."""
        return self._documents.get(document_key(uri))

    def by_key(self, key: str) -> Document | None:
        """Return the document of a key, if there is one."""
        return self._documents.get(key)

    def open_uris(self) -> list[str]:
        """Return the URIs of the documents that an editor has open."""
        return [d.uri for d in self._documents.values() if d.buffer is not None]

    def open(self, uri: str, buffer: Buffer, version: int, language: str | None) -> None:
        """Open a document: its text is the origin, also where the disk has another."""
        document = self._documents.setdefault(document_key(uri), Document(uri))
        document.uri, document.buffer, document.version = uri, buffer, version
        document.language = language if languages.resolve(language, None) else None
        document.dismissed.clear()
        document.take_origin(buffer.text)
        self._changed(document_key(uri))

    def change(self, uri: str, version: int) -> None:
        """Note that the buffer of an open document has been changed."""
        if (document := self.find(uri)) is not None:
            document.version = version
            self._changed(document_key(uri))

    def save(self, uri: str, text: str | None = None) -> None:
        """Make the saved text the origin; without one, it is what the buffer holds now."""
        document = self.find(uri)
        if document is None or document.buffer is None:
            return
        document.take_origin(document.buffer.text if text is None else lambda: text)
        self._changed(document_key(uri))

    def close(self, uri: str) -> None:
        """Close a document: what a client added stays, against the text on disk if it is readable.

        What sources found goes; they are asked again when the document is opened.
        """
        if (document := self.find(uri)) is None:
            return
        document.buffer = document.version = document.language = document.elsewhere = None
        for name in document.found:
            del document.revisions[name]
        document.found.clear()
        if document.revisions:
            document.take_origin(lambda: self._read(document.uri))
            self._changed(document_key(uri))
        else:
            del self._documents[document_key(uri)]
            self._changed(document_key(uri))

    def add(
        self, uri: str, revisions: Iterable[Revision], base: Base | None = None
    ) -> tuple[list[str], list[Rejected]]:
        """Take revisions; return the ids taken, and the others with the reason."""
        document = self.find(uri) or Document(uri)
        if document.origin is None and document.buffer is None:
            document.take_origin(lambda: self._read(uri))
        mismatch = _mismatch(document, base) if base is not None else ""
        accepted: dict[str, None] = {}
        rejected: list[Rejected] = []
        for revision in revisions:
            if reason := mismatch or _objection(document, revision):
                rejected.append(Rejected(revision.id, reason))
            else:
                document.revisions[revision.id] = revision
                document.found.discard(revision.id)
                accepted[revision.id] = None
        if accepted:
            self._documents[document_key(uri)] = document
            self._changed(document_key(uri))
        return list(accepted), rejected

    def take_found(self, key: str, found: Found) -> list[Rejected]:
        """Take what the sources of an open document found, in place of what they found before.

        Revisions of a client are not touched; return those that are not taken, with the reason.
        """
        document = self._documents.get(key)
        if document is None or document.buffer is None:
            return []
        before = (document.origin, tuple(document.revisions.values()))
        for name in document.found.difference(revision.id for revision in found.revisions):
            del document.revisions[name]
            document.found.discard(name)
        rejected = [
            Rejected(revision.id, reason)
            for revision in found.revisions
            if (reason := _enter(document, revision))
        ]
        given = found.origin
        document.elsewhere = given if given is not None and given.kind != "saved" else None
        if before != (document.origin, tuple(document.revisions.values())):
            self._changed(key)
        return rejected

    def remove(self, uri: str, ids: Iterable[str]) -> tuple[list[str], list[str]]:
        """Forget revisions; return the ids that were there and those that were not."""
        document = self.find(uri)
        known = document.revisions if document is not None else {}
        wanted = dict.fromkeys(ids)
        removed = [name for name in wanted if known.pop(name, None) is not None]
        if document is not None and removed:
            document.dismissed |= document.found.intersection(removed)
            document.found.difference_update(removed)
            if not known and document.buffer is None:
                del self._documents[document_key(uri)]
            self._changed(document_key(uri))
        return removed, [name for name in wanted if name not in removed]

    def score_by(self, options: Options) -> None:
        """Score by other options from now on, the documents there are included."""
        if options != self.options:
            self.options = options
            self.changed_all()

    def changed_all(self) -> None:
        """Report every document as changed: what is shown of it may be another thing now."""
        for key in list(self._documents):
            self._changed(key)

    def snapshot(self, key: str) -> Snapshot | None:
        """Mint the frozen picture of a document; None if it is unknown or has no origin."""
        document = self._documents.get(key)
        if document is None or document.origin is None:
            return None
        own = document.own_edits(self.own_edits)
        return Snapshot(
            uri_or_path=document.uri,
            origin=document.origin,
            revisions=(*document.revisions.values(), *((own,) if own is not None else ())),
            language=document.language,
            path=_path_of(document.uri),
            options=self.options,
            buffer=document.buffer.text() if document.buffer is not None else None,
            version=document.version,
        )


def _path_of(uri: str) -> str | None:
    """Return the path of a URI, whatever its scheme: its name and extension tell the language."""
    try:
        return unquote(urlsplit(uri).path) or None
    except ValueError:
        return None


def _mismatch(document: Document, base: Base) -> str:
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


def _enter(document: Document, revision: Revision) -> str:
    """Let a revision that a source found in; return why not, if not."""
    name = revision.id
    if name in document.dismissed:
        return "removed by the client"
    if name in document.revisions and name not in document.found:
        return "the client added another revision with this id"
    if reason := _objection(document, revision):
        if name in document.found:
            del document.revisions[name]
            document.found.discard(name)
        return reason
    document.revisions[name] = revision
    document.found.add(name)
    return ""


def _objection(document: Document, revision: Revision) -> str:
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
