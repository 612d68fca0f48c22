"""Analyses of documents, as a worker makes them; what it knows of them is not sent again."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from excise_server.editor.analysis import Analysis
from excise_server.editor.document import document_key
from excise_server.editor.snapshot import Snapshot
from excise_server.foundation.cancellation import StopFlag
from excise_server.workers.frames import BrokenFrameError
from excise_server.workers.messages import Analyse, Answer, RevisionFrame, Scored, as_bytes
from excise_server.workers.quarantine import Quarantine
from excise_server.workers.station import Head, Station
from excise_server.workers.unpacking import Known, unpack

__all__ = ["Analyser"]


class Analyser:
    """Analyses snapshots, at a station of its own.

    Parameters
    ----------
    quarantine : Quarantine
        Texts that no parser gets.
    """

    def __init__(self, quarantine: Quarantine) -> None:
        """Start nothing yet."""
        self.station = Station(quarantine, self._renew)
        self._texts = _Texts()
        self._known: dict[str, Known] = {}
        self._leaving: deque[str] = deque()

    def analyse(self, snapshot: Snapshot, cancel: StopFlag) -> Analysis:
        """Return all that is known of a snapshot.

        Raises
        ------
        excise.errors.Cancelled
            When the flag was raised meanwhile.
        FailedInWorkerError
            If the work failed.
        """
        if snapshot.revisions:
            return self._asked(snapshot, cancel)
        # Without revisions nobody looks at more than the first line.
        first, _, _ = snapshot.origin.partition("\n")
        analysis = self._asked(replace(snapshot, origin=first, buffer=None), cancel)
        return replace(analysis, snapshot=snapshot)

    def forget(self, key: str) -> None:
        """Let go of the document of a key: at once, or before the next one if somebody asks."""
        self._leaving.append(key)
        self.station.when_free(self._leave)

    def _leave(self) -> None:
        while self._leaving:
            key = self._leaving.popleft()
            for uri in [uri for uri in self._known if document_key(uri) == key]:
                del self._known[uri]
                self._texts.forget(uri)
                self.station.forget(uri)

    def _renew(self) -> None:
        self._texts, self._known = _Texts(), {}

    def _asked(self, snapshot: Snapshot, cancel: StopFlag) -> Analysis:
        def read(answer: Answer) -> Analysis:
            if not isinstance(answer, Scored):
                raise BrokenFrameError("an answer of another kind than was asked for")
            uri = snapshot.uri_or_path
            analysis, self._known[uri] = unpack(snapshot, answer, self._known.get(uri))
            return analysis

        return self.station.ask(lambda head: self._order(head, snapshot), read, cancel)

    def _order(self, head: Head, snapshot: Snapshot) -> Analyse:
        self._leave()
        uri, buffer = snapshot.uri_or_path, snapshot.buffer
        texts = (snapshot.origin, *(r.text for r in snapshot.revisions))
        fresh = self._texts.take(uri, (*texts, *(() if buffer is None else (buffer,))))
        known, number = self._known.get(uri), self._texts.number
        options = snapshot.options
        return Analyse(
            *head,
            uri=as_bytes(uri),
            origin=number(snapshot.origin),
            revisions=tuple(
                RevisionFrame(
                    as_bytes(r.id), as_bytes(r.label), number(r.text), r.id in snapshot.deleted
                )
                for r in snapshot.revisions
            ),
            language=None if snapshot.language is None else as_bytes(snapshot.language),
            path=None if snapshot.path is None else as_bytes(snapshot.path),
            options=(
                options.granularity, options.lcs, options.deletion, options.comments, options.place
            ),
            intent=as_bytes(snapshot.intent),
            buffer=None if buffer is None else number(buffer),
            own=snapshot.own,
            version=snapshot.version,
            scores=known.number if known is not None else 0,
            texts=fresh,
            gone=self._texts.unused(),
        )  # fmt: skip


class _Texts:
    """Numbers of the texts that a worker knows."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._count = 0
        self._used: dict[str, tuple[str, ...]] = {}

    def take(self, uri: str, texts: tuple[str, ...]) -> tuple[tuple[int, bytes], ...]:
        """Number the texts of a document; return those that the worker does not know."""
        fresh = []
        for text in dict.fromkeys(texts):
            if text not in self._numbers:
                self._count += 1
                self._numbers[text] = self._count
                fresh.append((self._count, as_bytes(text)))
        self._used[uri] = texts
        return tuple(fresh)

    def number(self, text: str) -> int:
        return self._numbers[text]

    def unused(self) -> tuple[int, ...]:
        """Forget the texts that no document has any more; return their numbers."""
        used = {text for texts in self._used.values() for text in texts}
        gone = [text for text in self._numbers if text not in used]
        return tuple(self._numbers.pop(text) for text in gone)

    def forget(self, uri: str) -> None:
        self._used.pop(uri, None)
