"""The only mutable state: documents, their origins and revisions. Used only on the loop.

Each method that changes something reports the document's key to `changed`: a document event and a
custom request enter by the same door. Workers never see this, only the `Snapshot` it mints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote, urlsplit

import excise
from excise import languages
from excise.ranking import INTENT
from excise.text import Revision, normalise
from excise_server.editor.analysis import Snapshot
from excise_server.editor.document import (
    Buffer,
    CandidateDecision,
    CandidateDecisions,
    CandidateState,
    Remembered,
    ReviewedDocument,
    ReviewedRevision,
    document_key,
    enter,
    mismatch,
    objection,
    voice_of,
)
from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import Rejected, SourceError
from excise_server.review.given import Given, GivenFile
from excise_server.review.replayed import CREATED, CREATES, DELETES, SAME_LINES
from excise_server.sources.finding import Found

if TYPE_CHECKING:
    from excise_server.wire.lsp import Base


class Session:
    """Documents by key.

    - ``changed``: receives the key of each document that changed.
    - ``read``: returns the text of a document that is not open, or raises SourceError.
    """

    def __init__(self, changed: Callable[[str], None], read: Callable[[str], str]) -> None:
        self._changed, self._read = changed, read
        self.intent = INTENT
        self.own_edits = False
        """Whether the editor's text, which is the result of the review, counts as a revision."""
        self.choices = CandidateDecisions()
        """The user's decisions about whole candidates."""
        self._documents: dict[str, ReviewedDocument] = {}
        self.given: dict[str, Given] = {}
        """The candidates of the client, by id, with all of their files."""

    def find(self, uri: str) -> ReviewedDocument | None:
        """Return the document of a URI, if there is one."""
        return self._documents.get(document_key(uri))

    def by_key(self, key: str) -> ReviewedDocument | None:
        """Return the document of a key, if there is one."""
        return self._documents.get(key)

    def open_uris(self) -> list[str]:
        """Return the URIs of the documents that an editor has open."""
        return [d.uri for d in self._documents.values() if d.buffer is not None]

    def open(self, uri: str, buffer: Buffer, version: int, language: str | None) -> None:
        """Open a document: its text is the origin, also where the disk has another."""
        document = self._documents.setdefault(document_key(uri), ReviewedDocument(uri))
        document.uri, document.buffer, document.version = uri, buffer, version
        document.language = language if languages.resolve(language, None) else None
        document.dismissed.clear()
        document.is_recalled = False
        document.take_origin(buffer.text)
        document.pin()
        self._changed(document_key(uri))

    def change(self, uri: str, version: int) -> None:
        """Note that the buffer of an open document has been changed."""
        if (document := self.find(uri)) is not None:
            document.version = version
            self._changed(document_key(uri))

    def save(self, uri: str, text: str | None = None) -> None:
        """Make the saved text the origin, or the buffer's text if none is passed."""
        document = self.find(uri)
        if document is None or document.buffer is None:
            return
        document.take_origin(document.buffer.text if text is None else lambda: text)
        self._changed(document_key(uri))

    def close(self, uri: str) -> None:
        """Close a document. The client's revisions stay, compared with the text on disk.

        Revisions from sources go, and the sources are asked again when the document is opened.
        """
        if (document := self.find(uri)) is None:
            return
        document.buffer = document.version = document.language = document.elsewhere = None
        for name in document.found:
            del document.revisions[name]
        if document.revisions:
            document.take_origin(lambda: self._read(document.uri))
            if document.saved is None:
                document.unpin()
            self._changed(document_key(uri))
        else:
            del self._documents[document_key(uri)]
            self._changed(document_key(uri))

    def add(
        self, uri: str, revisions: Iterable[Revision], base: Base | None = None
    ) -> tuple[list[str], list[Rejected]]:
        """Add revisions, and return the accepted ids, and the others with the reasons."""
        document = self._with_origin(uri)
        misfit = mismatch(document, base) if base is not None else ""
        accepted: dict[str, None] = {}
        rejected: list[Rejected] = []
        for revision in revisions:
            if reason := misfit or objection(document, revision):
                rejected.append(Rejected(revision.id, reason))
            else:
                if document.may_go_on(revision.id, voice := voice_of(revision.text)):
                    document.go_on()
                file = GivenFile(uri, None, text=revision.text, base=document.origin)
                document.revisions[revision.id] = ReviewedRevision(revision, voice=voice)
                self._note(revision.id, revision.label, document_key(uri), file)
                accepted[revision.id] = None
        if accepted:
            document.pin()
            self._documents[document_key(uri)] = document
            self._changed(document_key(uri))
        return list(accepted), rejected

    def give(self, candidate: Given) -> str:
        """Add a whole candidate, or replace the one with its id, and return the reason if refused.

        It enters the review of every document that it changes, or of none.
        """
        entering = []
        for file in candidate.files.values():
            document = self._with_origin(file.uri, may_be_new=file.status == "A")
            name = printable((path_of(file.uri) or "").rpartition("/")[2])
            if document.origin is None:
                return f"{name}: {document.obstacle}"
            voice = voice_of(file.text or "") if file.base is None else ""
            goes_on = document.may_go_on(candidate.id, voice)
            origin = document.origin
            if goes_on and document.remembered is not None:
                origin = document.remembered.origin
            entered = replace(_on_origin(candidate, file, origin), voice=voice)
            if reason := objection(document, entered.revision):
                return f"{name}: {reason}"
            if file.base is None and file.status != "A":
                file = replace(file, base=origin)
            entering.append((document, entered, file, goes_on))
        self.take_back([candidate.id])
        for document, entered, file, goes_on in entering:
            key = document_key(document.uri)
            if goes_on:
                document.go_on()
            document.revisions[candidate.id] = entered
            self._note(candidate.id, candidate.label, key, file)
            document.pin()
            self._documents[key] = document
            self._changed(key)
        return ""

    def take_back(self, ids: Iterable[str]) -> tuple[list[str], list[str]]:
        """Forget whole candidates of the client, and return the known and the unknown ids."""
        requested = list(dict.fromkeys(ids))
        removed = [name for name in requested if name in self.given]
        for name in removed:
            for file in self.given[name].files.values():
                self.remove(file.uri, [name])
        return removed, [name for name in requested if name not in removed]

    def _note(self, name: str, label: str, key: str, file: GivenFile) -> None:
        """Keep a file of a client's candidate, which is all revisions with its id."""
        known = self.given.get(name, Given(name, "", {}))
        self.given[name] = Given(name, label or known.label, {**known.files, key: file})

    def origin(self, uri: str) -> str:
        """Return the origin of a document, which the session need not know.

        Raises SourceError if it has none.
        """
        document = self._with_origin(uri)
        if document.origin is None:
            raise SourceError(document.obstacle)
        return document.origin

    def _with_origin(self, uri: str, *, may_be_new: bool = False) -> ReviewedDocument:
        """Return a document, with the readable text on disk if no editor has it open.

        A file that is missing gives no text, or an empty one if somebody may create it.
        """
        document = self.find(uri) or ReviewedDocument(uri)
        if document.origin is None and document.buffer is None:
            document.take_origin(lambda: self._read(uri))
            if document.origin is None and may_be_new:
                document.take_origin(lambda: "")
        return document

    def remember(self, key: str, review: Remembered | None, *, goes_on: bool) -> None:
        """Pass its remembered review to a document. Sources may tell that the review goes on."""
        document = self._documents.get(key)
        if document is None or document.is_recalled:
            return
        document.is_recalled, document.remembered = True, review
        own = {name: r.voice for name, r in document.revisions.items() if not r.is_found}
        if goes_on or any(document.may_go_on(name, voice) for name, voice in own.items()):
            document.go_on()
            self._changed(key)

    def recall(self, before: Mapping[str, CandidateDecision]) -> None:
        """Take earlier decisions about candidates that have no decision yet."""
        self._changed_with(self.choices.recall(before))

    def take_found(self, key: str, answer: Found) -> list[Rejected]:
        """Replace the revisions that the sources of an open document found before.

        Revisions of a client stay. Refused revisions are returned with the reasons.
        """
        document = self._documents.get(key)
        if document is None or document.buffer is None:
            return []
        before = document.origin, tuple(document.revisions.values())
        for name in document.found.difference(revision.id for revision in answer.revisions):
            del document.revisions[name]
        rejected = [
            Rejected(revision.id, reason)
            for revision in answer.revisions
            if (reason := enter(document, revision, deletes=revision.id in answer.deleted))
        ]
        origin = answer.origin
        document.elsewhere = origin if origin is not None and origin.kind != "saved" else None
        document.pin(answer.target if document.found else None)
        if before != (document.origin, tuple(document.revisions.values())):
            self._changed(key)
        return rejected

    def unpin(self) -> None:
        """Let every review return to its current origin."""
        for document in self._documents.values():
            document.unpin()

    def to_replay(self, uri: str) -> tuple[str, str, tuple[str, ...]] | None:
        """Return what a review that starts again has to replay, or None without a review.

        That is its origin, the one to replay on, and the texts that were made from the first.
        """
        document = self.find(uri)
        if document is None or document.pinned is None or document.current is None:
            return None
        texts = dict.fromkeys(known.revision.text for known in document.own())
        return document.pinned, document.current, tuple(texts)

    def start_again(self, uri: str, replayed: Mapping[str, str]) -> None:
        """Restart the review of a document from its current origin. The caller asks the sources.

        ``replayed`` maps each text of `to_replay` to its version on that origin.
        """
        document = self.find(uri)
        assert document is not None
        own = document.own()
        document.unpin()
        for known in own:
            revision = replace(known.revision, text=replayed[known.revision.text])
            document.revisions[revision.id] = replace(known, revision=revision)
        document.pin()
        self._changed(document_key(uri))

    def remove(self, uri: str, ids: Iterable[str]) -> tuple[list[str], list[str]]:
        """Forget revisions, and return the known and the unknown ids."""
        document, requested = self.find(uri), dict.fromkeys(ids)
        removed = [n for n in requested if document is not None and n in document.revisions]
        if document is not None and removed:
            document.dismissed |= document.found.intersection(removed)
            for name in removed:
                del document.revisions[name]
                if (known := self.given.get(name)) is not None:
                    # Of a client's candidate one file is forgotten, and with the last one all.
                    files = {k: file for k, file in known.files.items() if k != document_key(uri)}
                    self.given[name] = replace(known, files=files)
                    if not files:
                        del self.given[name]
            document.pin()
            if not document.revisions and document.buffer is None:
                del self._documents[document_key(uri)]
            self._changed(document_key(uri))
        return removed, [name for name in requested if name not in removed]

    def put_aside(self, ids: Iterable[str], state: CandidateState | Literal["shown"]) -> None:
        """Hide or reject candidates in all documents, or show them again."""
        self._changed_with(set(self.choices.set_aside(ids, state)))

    def _changed_with(self, ids: set[str]) -> None:
        """Report the documents as changed that have one of these revisions."""
        for key, document in self._documents.items():
            if not ids.isdisjoint(document.revisions):
                self._changed(key)

    def set_base(self, name: str, commit: str | None) -> None:
        """Set the commit that a candidate started from, or None to detect it."""
        if commit is None:
            self.choices.bases.pop(name, None)
        else:
            self.choices.bases[name] = commit

    def shown(self, document: ReviewedDocument) -> tuple[Revision, ...]:
        """Return the revisions of a document that are not set aside."""
        aside = self.choices.states
        every = document.revisions.items()
        return tuple(known.revision for name, known in every if name not in aside)

    def keep(self, uri: str, lines: tuple[int, int], texts: frozenset[str] | None) -> None:
        """Note that the pinned origin is to stay in a hunk with these texts, or may go (None)."""
        document = self.find(uri)
        if document is None or document.pinned is None or document.kept.get(lines) == texts:
            return
        if texts is None:
            del document.kept[lines]
        else:
            document.kept[lines] = texts
        self._changed(document_key(uri))

    def rank_for(self, intent: str) -> None:
        """Rank for another intent from now on, in all documents."""
        if intent != self.intent:
            self.intent = intent
            self.changed_all()

    def changed_all(self) -> None:
        """Report every document as changed, because its results may differ now."""
        for key in list(self._documents):
            self._changed(key)

    def snapshot(self, key: str) -> Snapshot | None:
        """Return a snapshot of a document, or None if it is unknown or has no origin."""
        document = self._documents.get(key)
        if document is None or document.origin is None:
            return None
        own_edits, shown = document.own_edits(self.own_edits), self.shown(document)
        return Snapshot(
            uri_or_path=document.uri,
            origin=document.origin,
            revisions=(*shown, *((own_edits,) if own_edits is not None else ())),
            deleted=frozenset(r.id for r in shown if document.revisions[r.id].deletes),
            language=document.language,
            path=path_of(document.uri),
            buffer=document.buffer.text() if document.buffer is not None else None,
            version=document.version,
            kept=dict(document.kept),
            intent=self.intent,
        )


def path_of(uri: str) -> str | None:
    """Return the path of a URI of any scheme. Its name and extension tell the language."""
    try:
        return unquote(urlsplit(uri).path) or None
    except ValueError:
        return None


def _on_origin(candidate: Given, file: GivenFile, origin: str) -> ReviewedRevision:
    """Return a candidate's revision of an origin, replayed from its own base."""
    if file.text is None:
        gone = Revision(candidate.id, "", candidate.label)
        return ReviewedRevision(gone, deletes=True, notes=(DELETES,))
    text, notes = file.text, list[str]()
    if file.status == "A":
        notes = [CREATES, *([CREATED] if origin and normalise(text) != origin else [])]
    elif file.base is not None and normalise(file.base) != normalise(origin):
        replayed = excise.replay(file.base, origin, text)
        text = replayed.text
        notes = [*([SAME_LINES] if replayed.conflicts else []), *replayed.notes]
    if file.status == "R" and file.path:
        notes.append(f"renamed to {printable(file.path.replace(chr(92), '/').rpartition('/')[2])}")
    revision = Revision(candidate.id, text, candidate.label)
    return ReviewedRevision(revision, notes=tuple(notes))
