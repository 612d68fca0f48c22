"""Publishing results to a client: diagnostics, sent or asked for, and news of a report."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

from lsprotocol import types as t

from excise import Cancelled
from excise_server.editor.analysis import Analysis
from excise_server.editor.document import document_key
from excise_server.editor.findings import Findings
from excise_server.editor.snapshot import Snapshot
from excise_server.lsp import protocol, to_proto
from excise_server.lsp.connection import Connection
from excise_server.lsp.gathering import OwnFile
from excise_server.lsp.refresh import Refresher
from excise_server.lsp.related import Related

__all__ = ["Outcome", "Publisher"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """An analysis and what to show of it."""

    analysis: Analysis
    findings: Findings | None


@dataclass(frozen=True, slots=True)
class _Result:
    """The newest result for a document; ``number`` distinguishes it from all others."""

    snapshot: Snapshot
    outcome: Outcome | Exception
    number: int


class Publisher:
    """Keeps the newest result of each document, and notifies the client.

    Parameters
    ----------
    server : Connection
        The connection to the client.
    files : callable
        Returns the files that contain revisions of a document, by id.
    """

    def __init__(self, server: Connection, files: Callable[[str], dict[str, OwnFile]]) -> None:
        """Start without results."""
        self._server, self._files = server, files
        self.refresher = Refresher(server)
        self._results: dict[str, _Result] = {}
        self._count = 0
        self._published: dict[str, str] = {}
        self._reported: dict[str, str] = {}
        self._states: dict[str, tuple[object, int]] = {}

    def outcome(self, key: str) -> Outcome | Exception | None:
        """Return the newest result of a document."""
        result = self._results.get(key)
        return result.outcome if result is not None else None

    def state_of(self, uri: str) -> int:
        """Return a number that changes whenever the hunks of a document do."""
        return self._states.get(document_key(uri), (None, 0))[1]

    def deliver(self, key: str, snapshot: Snapshot, outcome: Outcome | Exception) -> None:
        """Keep a result and publish it. The scheduler has already dropped stale ones."""
        self._count += 1
        self._results[key] = _Result(snapshot, outcome, self._count)
        if isinstance(outcome, Cancelled):
            logger.info("scoring was stopped: %s", snapshot.uri_or_path)
        elif isinstance(outcome, Exception):
            logger.error("analysis failed", exc_info=outcome)
        changed = self._note_state(key, outcome)
        diagnostics = [] if self.refresher.pulls else self.diagnostics(key)[0]
        self._publish(key, snapshot.uri_or_path, snapshot.version, diagnostics)
        self._report(key, snapshot, bool(snapshot.revisions))
        if changed:
            self.refresher.scores_changed(key)

    def withdraw(self, key: str) -> str | None:
        """Forget a document that no longer has anything to score, and withdraw its diagnostics.

        Returns its URI, or None if it was unknown.
        """
        result = self._results.pop(key, None)
        if result is None:
            return None
        if key in self._states:
            self._states[key] = (None, self._states[key][1])
        self._publish(key, self._published.get(key, ""), None, [])
        if self._reported.get(key) is not None:
            self._report(key, None, has=False)
            self.refresher.scores_changed(key)
        return result.snapshot.uri_or_path

    def settings_changed(self) -> None:
        """Tell the client to ask again. The results themselves come by `deliver`."""
        if self._results:
            self.refresher.settings_changed()

    def diagnostics(self, key: str) -> tuple[list[t.Diagnostic], str | None]:
        """Return the diagnostics of a document, and the id of their result."""
        result = self._results.get(key)
        if result is None or isinstance(result.outcome, Exception):
            return [], None
        settings, findings = self._server.settings, result.outcome.findings
        if findings is None or not settings.diagnostics:
            return [], str(result.number)
        snapshot = result.snapshot
        text = snapshot.origin if snapshot.buffer is None else snapshot.buffer
        marks = to_proto.diagnostics(
            snapshot.uri_or_path,
            findings,
            to_proto.Mapper(text, self._server.encoding),
            settings.severity,
            self._related(key, result.outcome.analysis),
        )
        typed = self._server.typed
        shown = [d for d in marks if d.code != "hunk" or not typed.holds(key, d.range)]
        return shown, str(result.number)

    def again(self, key: str) -> None:
        """Show all of the newest result, including marks held back while their lines were typed."""
        if (result := self._results.get(key)) is None:
            return
        self._count += 1
        self._results[key] = replace(result, number=self._count)
        if not self.refresher.pulls:
            uri, version = result.snapshot.uri_or_path, result.snapshot.version
            self._publish(key, uri, version, self.diagnostics(key)[0])
        self.refresher.marks_changed()

    def _note_state(self, key: str, outcome: Outcome | Exception) -> bool:
        """Count states, and return whether the scores have changed."""
        before, state = self._states.get(key, (None, 0))
        analysis = outcome.analysis if isinstance(outcome, Outcome) else None
        comparison = (
            analysis.comparison if analysis is not None and analysis.snapshot.revisions else None
        )
        if before is comparison:
            return False
        self._states[key] = (comparison, state + 1)
        return True

    def _publish(
        self, key: str, uri: str, version: int | None, diagnostics: list[t.Diagnostic]
    ) -> None:
        """Send diagnostics, or nothing if there is and was nothing."""
        shown = self._published.get(key)
        if not diagnostics and shown is None:
            return
        send = self._server.text_document_publish_diagnostics
        if shown is not None and shown != uri:
            # The client has opened it under another spelling: first clear the old one.
            send(t.PublishDiagnosticsParams(shown, []))
        if diagnostics:
            self._published[key] = uri
        else:
            del self._published[key]
        send(t.PublishDiagnosticsParams(uri=uri, version=version, diagnostics=diagnostics))

    def _report(self, key: str, snapshot: Snapshot | None, has: bool) -> None:
        """Say that the report is new, of a document that has revisions or had some."""
        before = self._reported.get(key)
        if not has and before is None:
            return
        uri = snapshot.uri_or_path if snapshot is not None else before or ""
        version = snapshot.version if snapshot is not None else None
        if has:
            self._reported[key] = uri
        else:
            del self._reported[key]
        self._server.protocol.notify(
            protocol.DID_CHANGE_REPORT, protocol.DidChangeReportParams(uri, version)
        )

    def _related(self, key: str, analysis: Analysis) -> Related | None:
        """Return the locations of the variants, for a client that shows them."""
        capabilities = self._server.client_capabilities
        document, workspace = capabilities.text_document, capabilities.workspace
        shown = [
            document and document.publish_diagnostics,
            document and document.diagnostic,
        ]
        if not any(can and can.related_information for can in shown):
            return None
        opens = self._server.settings.virtual_documents or bool(
            workspace and workspace.text_document_content
        )
        return Related(analysis, lambda: self._files(key), virtual=opens)
