"""The server of one session: ties the session, the scheduler and the client together.

Everything here runs on the loop. Handlers change the session; the scheduler mints a snapshot after
a pause, has it analysed, and delivers the result here, where it is published unless it is stale.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from lsprotocol import types as t
from pygls.lsp.server import LanguageServer

from excise import CancelFlag
from excise.text import Revision
from excise_server.analysis import Analysis, Analyst, compare
from excise_server.findings import MAX_PLACES, Findings, find
from excise_server.lsp import protocol, to_proto
from excise_server.lsp.disk import read_inside
from excise_server.lsp.from_proto import encoding_of
from excise_server.lsp.gathering import Gatherer
from excise_server.lsp.rpc import Protocol, RequestFailed
from excise_server.lsp.settings import Settings, settings_of
from excise_server.lsp.source_settings import source_choices_of
from excise_server.lsp.sync import Encoding
from excise_server.scheduler import Scheduler
from excise_server.session import Session, document_key
from excise_server.snapshot import Snapshot

__all__ = ["ExciseServer", "Outcome"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """An analysis and what to show of it."""

    analysis: Analysis
    findings: Findings | None


class ExciseServer(LanguageServer):
    """A language server for one client.

    Attributes
    ----------
    session
        Documents and revisions; changed by handlers only.
    scheduler
        Analyses what changed.
    gatherer
        Asks the sources of open documents, whose answers enter the session.
    settings
        The client's choices.
    """

    protocol: Protocol

    def __init__(self, version: str) -> None:
        """Prepare a session; nothing is imported or started that `initialize` can do without."""
        super().__init__(
            "excise",
            version,
            text_document_sync_kind=t.TextDocumentSyncKind.Incremental,
            protocol_cls=Protocol,
        )
        self.settings = Settings()
        self.initial_options: object = None
        self.session = Session(changed=self._changed, read=self._read)
        self._work = _Work()
        self.scheduler: Scheduler[Snapshot, Outcome] = Scheduler(
            mint=self._mint, work=self._work, deliver=self._deliver
        )
        self.gatherer = Gatherer(self, self.session, self._folders)
        self._outcomes: dict[str, Outcome | Exception] = {}
        self._published: dict[str, str] = {}
        self._states: dict[str, tuple[object, int]] = {}
        self._asking: set[asyncio.Task[None]] = set()

    def configure(self, options: object) -> None:
        """Take the client's choices; what is shown follows."""
        settings = settings_of(options)
        self.gatherer.choose(source_choices_of(options))
        if settings == self.settings:
            return
        self.settings = settings
        self._work.most = settings.max_per_file
        self.session.score_by(settings.options)
        self.session.changed_all()

    def spawn(self, asking: Coroutine[Any, Any, None]) -> None:
        """Ask the client something that no message waits for."""
        task = asyncio.get_running_loop().create_task(asking)
        self._asking.add(task)
        task.add_done_callback(self._asked)

    def _asked(self, task: asyncio.Task[None]) -> None:
        self._asking.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("asking the client failed", exc_info=error)

    def state_of(self, uri: str) -> int:
        """Return a number that changes whenever the places of a document do."""
        return self._states.get(document_key(uri), (None, 0))[1]

    @property
    def encoding(self) -> Encoding:
        """Units of the columns that the client counts in."""
        return encoding_of(self.workspace.position_encoding)

    def warm_up(self) -> None:
        """Have the worker import what the first analysis needs, while the user opens a file."""
        self.scheduler.start(_rehearse)

    async def newest(self, uri: str) -> Analysis | None:
        """Return the analysis of the document as it is now; None for an unknown document.

        Raises
        ------
        RequestFailed
            If there is none, with the reason.
        """
        key = document_key(uri)
        await self.scheduler.settled(key)
        document = self.session.find(uri)
        if document is None:
            return None
        if document.origin is None:
            raise RequestFailed(f"no origin: {document.obstacle}")
        outcome = self._outcomes.get(key)
        if not isinstance(outcome, Outcome):
            raise RequestFailed("scoring failed; the server's log has more")
        return outcome.analysis

    def close(self, timeout: float) -> None:
        """Stop the work of all threads; wait at most so many seconds for each."""
        self.gatherer.scheduler.close(timeout)
        self.scheduler.close(timeout)

    def report_server_error(self, error: Exception, source: Any) -> None:  # noqa: ANN401 pygls'
        """Log what pygls would show in a popup."""
        logger.error("%s: %s", getattr(source, "__name__", source), error)

    def _changed(self, key: str) -> None:
        self.scheduler.changed(key)

    def _read(self, uri: str) -> str:
        return read_inside(uri, self._folders())

    def _folders(self) -> list[str]:
        folders = [folder.uri for folder in self.workspace.folders.values()]
        root = self.workspace.root_uri
        return folders or ([root] if root else [])

    def _mint(self, key: str) -> Snapshot | None:
        snapshot = self.session.snapshot(key)
        if snapshot is None:
            self._outcomes.pop(key, None)
            self._publish(key, None, [])
        return snapshot

    def _deliver(self, key: str, snapshot: Snapshot, outcome: Outcome | Exception) -> None:
        """Keep and publish a result; the scheduler has dropped it if it was stale."""
        self._outcomes[key] = outcome
        if isinstance(outcome, Exception):
            logger.error("analysis failed", exc_info=outcome)
            self._publish(key, snapshot, [])
            return
        places, state = self._states.get(key, (None, 0))
        if places is not outcome.analysis.standings:
            self._states[key] = (outcome.analysis.standings, state + 1)
        found: list[t.Diagnostic] = []
        if outcome.findings is not None and self.settings.diagnostics:
            text = snapshot.origin if snapshot.buffer is None else snapshot.buffer
            mapper = to_proto.Mapper(text, self.encoding)
            found = to_proto.diagnostics(
                snapshot.uri_or_path,
                outcome.findings,
                mapper,
                self.settings.severity,
                related=self._shows_related,
            )
        self._publish(key, snapshot, found)

    def _publish(self, key: str, snapshot: Snapshot | None, found: list[t.Diagnostic]) -> None:
        """Send diagnostics, and that the report is new; nothing where there is and was nothing."""
        shown = self._published.get(key)
        if not found and shown is None:
            return
        uri = snapshot.uri_or_path if snapshot is not None else shown or ""
        if shown is not None and shown != uri:
            # The client has opened it by another spelling: first take away what hangs on the old.
            self.text_document_publish_diagnostics(t.PublishDiagnosticsParams(shown, []))
        if found:
            self._published[key] = uri
        else:
            del self._published[key]
        version = snapshot.version if snapshot is not None else None
        self.text_document_publish_diagnostics(
            t.PublishDiagnosticsParams(uri=uri, version=version, diagnostics=found)
        )
        self.protocol.notify(
            protocol.DID_CHANGE_REPORT, protocol.DidChangeReportParams(uri, version)
        )

    @property
    def _shows_related(self) -> bool:
        text_document = self.client_capabilities.text_document
        publish = text_document.publish_diagnostics if text_document else None
        return bool(publish and publish.related_information)


class _Work:
    """What the worker does with a snapshot."""

    def __init__(self) -> None:
        self._analyst = Analyst()
        self.most = MAX_PLACES

    def __call__(self, snapshot: Snapshot, cancel: CancelFlag) -> Outcome:
        analysis = self._analyst.analyse(snapshot, cancel)
        return Outcome(analysis, find(analysis, self.most))


def _rehearse() -> None:
    """Score something small: numpy, scikit-learn and the grammars are loaded with it."""
    revisions = (Revision("1", "x = 1\n"), Revision("2", "x = 2\n"))
    compare(Snapshot("", "x = 0\n", revisions, language="python"))
    # What is loaded now stays: a full collection over it would hold up a keystroke (measured: 60 to
    # 130 ms each time; frozen, p95 of a keystroke while scoring fell to a fifth).
    gc.collect()
    gc.freeze()
