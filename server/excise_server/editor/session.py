"""The only mutable state: documents, their origins and revisions. Touched on the loop alone.

Each method that changes something reports the document's key to `changed`: a document event and a
custom request enter by the same door. Workers never see this, only the `Snapshot` it mints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from urllib.parse import unquote, urlsplit

from excise import languages, replay
from excise.signature import Options
from excise.text import Revision, normalise
from excise_server.editor.document import (
    Base,
    Buffer,
    Document,
    document_key,
    enter,
    mismatch,
    objection,
)
from excise_server.editor.snapshot import Snapshot
from excise_server.sources import Rejected, SourceError
from excise_server.sources.finding import Found

__all__ = ["Session", "path_of"]


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
        self.own_edits = False
        """Whether what the editor shows is one more revision: it is the result of the review."""
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
        document.pin()
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
            if document.saved is None:
                document.pinned = None
            self._changed(document_key(uri))
        else:
            del self._documents[document_key(uri)]
            self._changed(document_key(uri))

    def add(
        self, uri: str, revisions: Iterable[Revision], base: Base | None = None
    ) -> tuple[list[str], list[Rejected]]:
        """Take revisions; return the ids taken, and the others with the reason."""
        document = self._with_origin(uri)
        misfit = mismatch(document, base) if base is not None else ""
        accepted: dict[str, None] = {}
        rejected: list[Rejected] = []
        for revision in revisions:
            if reason := misfit or objection(document, revision):
                rejected.append(Rejected(revision.id, reason))
            else:
                document.revisions[revision.id] = revision
                document.found.discard(revision.id)
                accepted[revision.id] = None
        if accepted:
            document.pin()
            self._documents[document_key(uri)] = document
            self._changed(document_key(uri))
        return list(accepted), rejected

    def origin(self, uri: str) -> str:
        """Return the origin of a document, which need not be known.

        Raises
        ------
        SourceError
            If it has none.
        """
        document = self._with_origin(uri)
        if document.origin is None:
            raise SourceError(document.obstacle)
        return document.origin

    def _with_origin(self, uri: str) -> Document:
        """Return a document with the text on disk, where no editor has one and it is readable."""
        document = self.find(uri) or Document(uri)
        if document.origin is None and document.buffer is None:
            document.take_origin(lambda: self._read(uri))
        return document

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
            if (reason := enter(document, revision))
        ]
        given = found.origin
        document.elsewhere = given if given is not None and given.kind != "saved" else None
        document.pin(found.target if document.found else None)
        if before != (document.origin, tuple(document.revisions.values())):
            self._changed(key)
        return rejected

    def has_moved(self, key: str, target: str) -> bool:
        """Whether a review began on another text while sources replayed on this one."""
        document = self._documents.get(key)
        pinned = None if document is None else document.pinned
        return pinned is not None and normalise(pinned) != target

    def unpin(self) -> None:
        """Let every review have the origin that is chosen from now on."""
        for document in self._documents.values():
            document.pinned = None

    def restart(self, uri: str) -> bool:
        """Let the review of a document start again from what its origin is now.

        What a client added is replayed on it; sources are to be asked again. Return whether there
        is a review.
        """
        document = self.find(uri)
        if document is None or document.pinned is None or document.current is None:
            return False
        before, document.pinned = document.pinned, None
        for name, revision in document.revisions.items():
            if name not in document.found:
                text = replay(before, document.current, revision.text).text
                document.revisions[name] = replace(revision, text=text)
        document.pin()
        self._changed(document_key(uri))
        return True

    def remove(self, uri: str, ids: Iterable[str]) -> tuple[list[str], list[str]]:
        """Forget revisions; return the ids that were there and those that were not."""
        document = self.find(uri)
        known = document.revisions if document is not None else {}
        wanted = dict.fromkeys(ids)
        removed = [name for name in wanted if known.pop(name, None) is not None]
        if document is not None and removed:
            document.dismissed |= document.found.intersection(removed)
            document.found.difference_update(removed)
            document.pin()
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
            path=path_of(document.uri),
            options=self.options,
            buffer=document.buffer.text() if document.buffer is not None else None,
            version=document.version,
        )


def path_of(uri: str) -> str | None:
    """Return the path of a URI, whatever its scheme: its name and extension tell the language."""
    try:
        return unquote(urlsplit(uri).path) or None
    except ValueError:
        return None
