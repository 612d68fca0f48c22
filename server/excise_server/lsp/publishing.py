"""Publishing results to a client: diagnostics, sent or asked for, and news of a report.

Lines that are being typed have no mark of a hunk and no lens until the keyboard rests.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from lsprotocol import types as t
from pygls.uris import from_fs_path

from excise import Cancelled, Hunk
from excise_server.editor.analysis import Analysis, Snapshot
from excise_server.editor.apply import ToCheck
from excise_server.editor.document import document_key
from excise_server.editor.findings import (
    MAX_HUNKS,
    Findings,
    MixProblem,
    listed,
    names_of,
    share_of,
)
from excise_server.lsp.gathering import OwnFile
from excise_server.lsp.rpc import Connection
from excise_server.lsp.to_proto import Mapper, parse_uri, virtual_uri
from excise_server.wire import lsp as p

logger = logging.getLogger(__name__)

SOURCE = "excise"
MAX_RELATED = 8
MAX_SEVERE = 20
"""Most hunks of a file that are more than a hint."""


Links = Callable[[int], list[t.DiagnosticRelatedInformation]]
"""What links a hunk, by its index, to its variants."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """An analysis, what to show of it, and the mix that was decided on, which is to be checked."""

    analysis: Analysis
    findings: Findings | None
    mix: ToCheck | None


@dataclass(frozen=True, slots=True)
class _Result:
    """The newest result for a document; ``number`` distinguishes it from all others.

    ``problems`` are those of the mix. Until it has been checked, they are those of the last one.
    """

    snapshot: Snapshot
    outcome: Outcome | Exception
    number: int
    problems: tuple[MixProblem, ...] = ()


class _Early(NamedTuple):
    """The hunks of a document whose result is still to come."""

    snapshot: Snapshot
    findings: Findings
    number: int


class Publisher:
    """Keeps the newest result of each document, and notifies the client.

    - ``files``: returns the files that contain revisions of a document, by id.
    """

    def __init__(self, server: Connection, files: Callable[[str], dict[str, OwnFile]]) -> None:
        self._server, self._files = server, files
        self.refresher = Refresher(server)
        self.typed = TypedLines(self.again)
        self._results: dict[str, _Result] = {}
        self._early: dict[str, _Early] = {}
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
        before = self._results.get(key)
        is_mix = isinstance(outcome, Outcome) and outcome.mix is not None
        problems = before.problems if before is not None and is_mix else ()
        self._results[key] = _Result(snapshot, outcome, self._count, problems)
        was_early = self._early.pop(key, None) is not None
        if isinstance(outcome, Cancelled):
            logger.info("scoring was stopped: %s", snapshot.uri_or_path)
        elif isinstance(outcome, Exception):
            logger.error("analysis failed", exc_info=outcome)
        changed = self._note_state(key, outcome)
        diagnostics = [] if self.refresher.pulls else self.diagnostics(key)[0]
        self._publish(key, snapshot.uri_or_path, snapshot.version, diagnostics)
        self._report(key, snapshot, bool(snapshot.revisions))
        if changed or was_early:
            self.refresher.scores_changed(key)

    def show_early(self, key: str, snapshot: Snapshot, findings: Findings) -> None:
        """Show hunks until their result comes."""
        self._count += 1
        self._early[key] = _Early(snapshot, findings, self._count)
        if not self.refresher.pulls:
            marks, _ = self.diagnostics(key)
            self._publish(key, snapshot.uri_or_path, snapshot.version, marks)

    def note_problems(self, key: str, outcome: Outcome, problems: tuple[MixProblem, ...]) -> None:
        """Keep what a mix breaks, and publish it, unless there is a newer result."""
        result = self._results.get(key)
        if result is not None and result.outcome is outcome and result.problems != problems:
            self._results[key] = replace(result, problems=problems)
            self.again(key)

    def problems(self, key: str, analysis: Analysis) -> tuple[MixProblem, ...]:
        """Return what the mix of an analysis breaks, or nothing if there is a newer result."""
        result = self._results.get(key)
        if result is None or not isinstance(result.outcome, Outcome):
            return ()
        return result.problems if result.outcome.analysis is analysis else ()

    def withdraw(self, key: str) -> str | None:
        """Forget a document that no longer has anything to score, and withdraw its diagnostics.

        Returns its URI, or None if it was unknown.
        """
        result = self._results.pop(key, None)
        self._early.pop(key, None)
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
        result, links = self._results.get(key), None
        problems: tuple[MixProblem, ...] = ()
        findings: Findings | None
        if (early := self._early.get(key)) is not None:
            snapshot, findings, number = early
        elif result is None or isinstance(result.outcome, Exception):
            return [], None
        else:
            snapshot, findings, number = result.snapshot, result.outcome.findings, result.number
            problems, links = result.problems, self._links(key, result.outcome.analysis)
        settings = self._server.settings
        if findings is None or settings.severity is None:
            return [], str(number)
        mapper = Mapper(snapshot.shown, self._server.encoding)
        broken = [
            t.Diagnostic(
                mapper.visible(problem.line, problem.line + 1),
                problem.message,
                t.DiagnosticSeverity.Warning,
                code="mix",
                source=SOURCE,
                data={"hunk": problem.hunk},
            )
            for problem in problems
        ]
        first = replace(findings, hunks=findings.hunks[: MAX_HUNKS - len(broken)])
        marks = _diagnostics(snapshot.uri_or_path, first, mapper, settings.severity, links)
        marks += broken
        shown = [d for d in marks if d.code == "ranking" or not self.typed.holds(key, d.range)]
        return shown, str(number)

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
        self._server.protocol.notify(p.DID_CHANGE_REPORT, p.DidChangeReportParams(uri, version))

    def _links(self, key: str, analysis: Analysis) -> Links | None:
        """Return what links a hunk to its variants, for a client that shows that."""
        client = self._server
        if not (
            client.can("text_document.publish_diagnostics.related_information")
            or client.can("text_document.diagnostic.related_information")
        ):
            return None
        opens = client.settings.virtual_documents or client.can("workspace.text_document_content")
        snapshot, files = analysis.snapshot, self._files(key)
        names, count = names_of(snapshot.revisions), len(snapshot.texts)

        def location(hunk: Hunk, members: tuple[int, ...]) -> t.Location | None:
            """Return the lines of the first member that can be opened."""
            for member in members:
                (lo, hi), identity = hunk.spans[member], snapshot.revisions[member].id
                if member == snapshot.own:
                    continue  # it is the document itself
                if (file := files.get(identity)) is not None:
                    uri, (lo, hi) = from_fs_path(file.path) or "", file.lines.span(lo, hi)
                elif opens:
                    uri = virtual_uri(snapshot.uri_or_path, identity)
                else:
                    continue
                return t.Location(uri, t.Range(t.Position(lo, 0), t.Position(hi, 0)))
            return None

        def links(index: int) -> list[t.DiagnosticRelatedInformation]:
            """Link to the variants of a hunk that differ from the origin."""
            hunk = analysis.hunks[index]
            information = []
            for variant in hunk.variants[: _MAX_VARIANTS + 1]:
                where = None if variant.text == hunk.text else location(hunk, variant.members)
                if where is not None:
                    who = listed((names[member] for member in variant.members), _MAX_NAMES)
                    words = f"{who} ({share_of(variant.members, count)})"
                    information.append(t.DiagnosticRelatedInformation(where, words))
            return information[:_MAX_VARIANTS]

        return links


_MAX_VARIANTS = 5
"""Most variants to which one hunk links."""

_MAX_NAMES = 3


def _diagnostics(
    uri: str,
    findings: Findings,
    mapper: Mapper,
    severity: t.DiagnosticSeverity,
    links: Links | None,
) -> list[t.Diagnostic]:
    """Return one diagnostic for the file and one per hunk, linked if the client shows it.

    Of hunks, only the first few have the severity of the setting: hundreds would drown what a
    linter says.
    """
    hunks = [
        t.Diagnostic(
            range=mapper.visible(*hunk.lines),
            message=hunk.message,
            severity=severity if number < MAX_SEVERE else t.DiagnosticSeverity.Hint,
            source=SOURCE,
            code="hunk",
            data=hunk.data,
            related_information=(
                links(hunk.data["index"]) if links and number < MAX_SEVERE else None
            )
            or None,
        )
        for number, hunk in enumerate(findings.hunks)
    ]
    information = [
        t.DiagnosticRelatedInformation(t.Location(uri, hunk.range), hunk.message)
        for hunk in hunks[:MAX_RELATED]
    ]
    if not findings.message:
        return hunks
    file = t.Diagnostic(
        range=mapper.visible(0, 1),
        message=findings.message,
        severity=severity,
        source=SOURCE,
        code="ranking",
        data=findings.data,
        related_information=(links and information) or None,
    )
    return [file, *hunks]


MAX_OPENED = 1000
"""Most virtual documents whose requests are remembered."""


class Refresher:
    """Asks the client to renew lenses, pulled diagnostics and the texts of revisions."""

    def __init__(self, server: Connection) -> None:
        self._server = server
        self._opened: OrderedDict[str, None] = OrderedDict()

    @property
    def pulls(self) -> bool:
        """Whether the client asks for diagnostics, and can be told when to ask again.

        Revisions arrive without an edit. A client that cannot be told would not see them, so it is
        sent diagnostics like a client that never pulls.
        """
        can_pull = self._server.can("text_document.diagnostic")
        return bool(can_pull and self._server.can("workspace.diagnostics.refresh_support"))

    def opened(self, uri: str) -> None:
        """Note that the client has asked for the text behind a virtual URI."""
        self._opened[uri] = None
        self._opened.move_to_end(uri)
        if len(self._opened) > MAX_OPENED:
            self._opened.popitem(last=False)

    def settings_changed(self) -> None:
        """Tell a client that asks for diagnostics that the same scores are shown otherwise."""
        if self.pulls:
            self._ask(self._server.workspace_diagnostic_refresh_async(None))

    def marks_changed(self) -> None:
        """Tell the client that marks and lenses have changed or moved."""
        self.settings_changed()
        if self._server.can("workspace.code_lens.refresh_support"):
            self._ask(self._server.workspace_code_lens_refresh_async(None))

    def scores_changed(self, key: str) -> None:
        """Tell the client that the scores of a document have changed."""
        self.marks_changed()
        for uri in (
            list(self._opened) if self._server.can("workspace.text_document_content") else ()
        ):
            parsed = parse_uri(uri)
            if parsed is not None and document_key(parsed[0]) == key:
                params = t.TextDocumentContentRefreshParams(uri=uri)
                self._ask(self._server.workspace_text_document_content_refresh_async(params))

    def _ask(self, request: Coroutine[Any, Any, None]) -> None:
        self._server.ask(request, "the client does not refresh", logging.INFO)


REST = 2.0
"""Seconds after the last key until a line counts as finished."""


class TypedLines:
    """The lines of each document that are being typed.

    - ``rested``: receives the key of a document whose marks were held back, when they can be shown.
    """

    def __init__(self, rested: Callable[[str], None]) -> None:
        self._rested = rested
        self._lines: dict[str, frozenset[int]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._held: set[str] = set()

    def note(self, uri: str, changes: Iterable[t.TextDocumentContentChangeEvent]) -> None:
        """Note the lines that an edit changed. An edit larger than a key's is not typing."""
        key, lines = document_key(uri), set[int]()
        for change in changes:
            if (line := _typed(change)) is None:
                # The marks held back are published with the analysis that this edit causes.
                self.forget(uri)
                return
            lines.add(line)
        if not lines:
            return
        self._stop(key)
        self._lines[key] = frozenset(lines)
        loop = asyncio.get_running_loop()
        self._timers[key] = loop.call_later(REST, self.rest, uri)

    def rest(self, uri: str) -> None:
        """Note that typing in a document has ended: it was saved, or time has passed."""
        key = document_key(uri)
        self._stop(key)
        self._lines.pop(key, None)
        if key in self._held:
            self._held.discard(key)
            self._rested(key)

    def forget(self, uri: str) -> None:
        """Forget a document that is closed."""
        key = document_key(uri)
        self._stop(key)
        self._lines.pop(key, None)
        self._held.discard(key)

    def holds(self, key: str, shown: t.Range) -> bool:
        """Whether a mark has to wait because its line is being typed."""
        if not any(shown.start.line <= line <= shown.end.line for line in self._lines.get(key, ())):
            return False
        self._held.add(key)
        return True

    def _stop(self, key: str) -> None:
        if (timer := self._timers.pop(key, None)) is not None:
            timer.cancel()


def _typed(change: t.TextDocumentContentChangeEvent) -> int | None:
    """Return the line that a key left the cursor on, or None for any other edit."""
    if not isinstance(change, t.TextDocumentContentChangePartial):
        return None
    start, end, breaks = change.range.start.line, change.range.end.line, change.text.count("\n")
    is_enter = breaks == 1 and not change.text.strip()
    if end - start > 1 or (breaks and not is_enter):
        return None
    return start + breaks
