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

__all__ = ["MAX_REVISIONS", "Base", "Buffer", "Document", "Session", "document_key", "text_hash"]

MAX_REVISIONS = 300
"""Most revisions that one document may have."""

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

    ``origin`` is None where there is none yet; ``obstacle`` then says why.
    """

    uri: str
    revisions: dict[str, Revision] = field(default_factory=dict)
    origin: str | None = None
    obstacle: str = ""
    buffer: Buffer | None = None
    version: int | None = None
    language: str | None = None

    def take_origin(self, read: Callable[[], str]) -> None:
        """Have another origin, or know why there is none."""
        try:
            self.origin, self.obstacle = check_text(read()), ""
        except SourceError as error:
            self.origin, self.obstacle = None, error.reason


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
        self._documents: dict[str, Document] = {}

    def find(self, uri: str) -> Document | None:
        """Return the document of a URI, if there is one."""
        return self._documents.get(document_key(uri))

    def open(self, uri: str, buffer: Buffer, version: int, language: str | None) -> None:
        """Open a document: its text is the origin, also where the disk has another."""
        document = self._documents.setdefault(document_key(uri), Document(uri))
        document.uri, document.buffer, document.version = uri, buffer, version
        document.language = language if languages.resolve(language, None) else None
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
        """Close a document: its revisions stay, against the text on disk where that is readable."""
        if (document := self.find(uri)) is None:
            return
        document.buffer = document.version = document.language = None
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
                accepted[revision.id] = None
        if accepted:
            self._documents[document_key(uri)] = document
            self._changed(document_key(uri))
        return list(accepted), rejected

    def remove(self, uri: str, ids: Iterable[str]) -> tuple[list[str], list[str]]:
        """Forget revisions; return the ids that were there and those that were not."""
        document = self.find(uri)
        known = document.revisions if document is not None else {}
        wanted = dict.fromkeys(ids)
        removed = [name for name in wanted if known.pop(name, None) is not None]
        if document is not None and removed:
            if not known and document.buffer is None:
                del self._documents[document_key(uri)]
            self._changed(document_key(uri))
        return removed, [name for name in wanted if name not in removed]

    def snapshot(self, key: str) -> Snapshot | None:
        """Mint the frozen picture of a document; None if it is unknown or has no origin."""
        document = self._documents.get(key)
        if document is None or document.origin is None:
            return None
        return Snapshot(
            uri_or_path=document.uri,
            origin=document.origin,
            revisions=tuple(document.revisions.values()),
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
