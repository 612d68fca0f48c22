"""The server of one session: ties the session, the scheduler and the client together.

Everything here runs on the loop. Handlers change the session; the scheduler mints a snapshot after
a pause, has it analysed, and delivers the result to the publisher unless it is stale.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from lsprotocol import types as t

from excise import Cancelled
from excise_server.editor.analysis import Analysis
from excise_server.editor.decisions import with_kept
from excise_server.editor.document import document_key
from excise_server.editor.findings import MAX_HUNKS, find
from excise_server.editor.session import Session, ToReplay
from excise_server.editor.snapshot import Snapshot
from excise_server.foundation.cancellation import StopFlag
from excise_server.foundation.escape import printable
from excise_server.lsp.connection import Connection
from excise_server.lsp.disk import local_path, read_inside
from excise_server.lsp.gathering import Gatherer
from excise_server.lsp.mailboxes import Mailboxes
from excise_server.lsp.pages import Pages
from excise_server.lsp.progress import RequestsShown, WorkShown
from excise_server.lsp.publishing import Outcome, Publisher
from excise_server.lsp.rpc import Protocol, RequestFailed
from excise_server.lsp.scheduler import Scheduler
from excise_server.lsp.settings import settings_of
from excise_server.lsp.source_settings import SourceChoices, source_choices_of
from excise_server.lsp.typed_lines import TypedLines
from excise_server.sources.finding import OriginChoice
from excise_server.workers.pool import Pool, room_for_two
from excise_server.workers.quarantine import Quarantine, cache_folder
from excise_server.workers.worker import FailedInWorkerError

__all__ = ["ExciseServer"]

logger = logging.getLogger(__name__)


class ExciseServer(Connection):
    """A language server for one client.

    Attributes
    ----------
    session
        Documents and revisions; changed by handlers only.
    scheduler
        Analyses changed documents.
    gatherer
        Asks the sources of open documents, whose answers enter the session.
    memory
        Remembers decisions for the next server.
    mailboxes
        Compares the patches in mailboxes and patch files.
    publisher
        Keeps results and publishes them.
    pages
        Shows pages to a client that knows only the standard protocol.
    requests
        Shows the progress of long requests.
    on_client
        Receives the number of the client's process, once.
    """

    def __init__(self, version: str) -> None:
        """Prepare a session, without importing or starting what `initialize` does not need."""
        super().__init__(
            "excise",
            version,
            text_document_sync_kind=t.TextDocumentSyncKind.Incremental,
            protocol_cls=Protocol,
        )
        self.initial_options: object = None
        self.on_client: Callable[[int | None], None] = lambda _process: None
        self.session = Session(
            changed=self._changed, read=lambda uri: read_inside(uri, self.folders())
        )
        self._work = _Work()
        self.gatherer = Gatherer(self, self.session, self.folders)
        self.memory = self.gatherer.memory
        self.mailboxes = Mailboxes(self.session)
        self.publisher = Publisher(self, self.gatherer.files)
        self.typed = TypedLines(self.publisher.again)
        self.pages = Pages(self)
        self.scheduler: Scheduler[Snapshot, Outcome] = Scheduler(
            mint=self._mint,
            work=self._work.first,
            deliver=self.publisher.deliver,
            watch=WorkShown(self, self._described, lambda key: self.scheduler.cancel(key)),
            beside=self._work.beside if self._work.two else None,
            is_first=lambda key: key == self._looked_at,
        )
        self._looked_at = ""
        self._picked_origin: OriginChoice | None = None
        self._restarting: dict[str, asyncio.Future[None]] = {}
        self.requests = RequestsShown(self)

    def configure(self, options: object) -> None:
        """Take the client's choices, and update what is shown."""
        settings = settings_of(options)
        self.gatherer.choose(self._as_picked(source_choices_of(options)))
        if settings == self.settings:
            return
        self.settings = settings
        self._work.most_marks = settings.max_per_file
        self.session.score_by(settings.options, settings.intent)
        self.session.changed_all()
        self.publisher.settings_changed()

    def pick_origin(self, origin: OriginChoice) -> None:
        """Compare with another text from now on, whatever the settings say."""
        self._picked_origin = origin
        self.gatherer.choose(self._as_picked(self.gatherer.choices))

    def _as_picked(self, choices: SourceChoices) -> SourceChoices:
        if self._picked_origin is None:
            return choices
        return replace(choices, settings=replace(choices.settings, origin=self._picked_origin))

    @property
    def pool(self) -> Pool:
        """The workers that parse and score."""
        return self._work.pool

    def look_at(self, uri: str) -> None:
        """Note which document the user has before them: it does not wait for others."""
        self._looked_at = document_key(uri)

    def warm_up(self) -> None:
        """Make the worker import what the first analysis needs, while the user opens a file."""
        self.scheduler.start(self._work.prepare)

    async def newest(self, uri: str) -> Analysis | None:
        """Return the analysis of the document as it is now, or None for an unknown document.

        Raises
        ------
        RequestFailed
            If there is none, with the reason.
        """
        key = document_key(uri)
        await self.memory.ready()
        await self.restarted(uri)
        await self.scheduler.settled(key)
        document = self.session.find(uri)
        if document is None:
            return None
        if document.origin is None:
            raise RequestFailed(f"no origin: {document.obstacle}")
        outcome = self.publisher.outcome(key)
        if isinstance(outcome, Outcome):
            return outcome.analysis
        if isinstance(outcome, Cancelled):
            raise RequestFailed("scoring was stopped on request; the next change starts it again")
        raise RequestFailed("scoring failed; the server's log has more")

    @contextmanager
    def restarting(self, uri: str) -> Iterator[None]:
        """Make requests about a document wait while its review restarts."""
        key = document_key(uri)
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._restarting[key] = over
        try:
            yield
        finally:
            over.set_result(None)
            if self._restarting.get(key) is over:
                del self._restarting[key]

    async def restarted(self, uri: str) -> None:
        """Wait until no review of the document is about to start again."""
        while (over := self._restarting.get(document_key(uri))) is not None:
            await asyncio.shield(over)

    async def replayed(self, uri: str, wanted: ToReplay, texts: list[str]) -> list[str]:
        """Replay texts in a worker, stopping its work on the document, which would be stale.

        Raises
        ------
        RequestFailed
            If the worker fails.
        """
        cancel, key = StopFlag(), document_key(uri)
        self.scheduler.hold(key)
        replayed = None
        try:
            replayed = await asyncio.to_thread(self.pool.replay, *wanted.origins, texts, cancel)
        except (Cancelled, FailedInWorkerError) as error:
            logger.error("the review cannot start again", exc_info=error)
            raise RequestFailed("replaying failed; the server's log has more") from error
        finally:
            cancel.cancel()
            if replayed is None:
                self.scheduler.changed(key)
        return replayed

    async def to_show(self, uri: str) -> Analysis | None:
        """Return the newest analysis for display, or None if there is nothing to show.

        Without revisions it returns at once: most documents never get any.
        """
        self.look_at(uri)
        if not self._has_revisions(uri):
            return None
        try:
            analysis = await self.newest(uri)
        except RequestFailed:
            return None
        return analysis if analysis is not None and analysis.snapshot.revisions else None

    async def diagnostics(self, uri: str) -> tuple[list[t.Diagnostic], str | None]:
        """Return the newest diagnostics of a document and the name of that result."""
        if not self._has_revisions(uri):
            return [], None
        key = document_key(uri)
        await self.scheduler.settled(key, hurry=False)
        return self.publisher.diagnostics(key)

    def close(self, timeout: float) -> None:
        """Stop the work of all threads, waiting at most ``timeout`` seconds for each."""
        self.pages.close()
        self.gatherer.stop()
        self.gatherer.scheduler.close(timeout)
        self.memory.close(timeout)
        self.mailboxes.scheduler.close(timeout)
        self.pool.close()
        self.scheduler.close(timeout)

    def report_server_error(self, error: Exception, source: Any) -> None:  # noqa: ANN401 pygls'
        """Log what pygls would show in a popup."""
        logger.error("%s: %s", getattr(source, "__name__", source), error)

    def _changed(self, key: str) -> None:
        self.memory.changed(key)
        self.scheduler.changed(key)

    def folders(self) -> list[str]:
        """Return the absolute paths of the workspace folders on this machine."""
        uris = [folder.uri for folder in self.workspace.folders.values()]
        if not uris and (root := self.workspace.root_uri):
            uris = [root]
        return [path for uri in uris if (path := local_path(uri)) is not None]

    def _has_revisions(self, uri: str) -> bool:
        document = self.session.find(uri)
        if document is None:
            return False
        return bool(self.session.shown(document) or document.own_edits(self.session.own_edits))

    def _described(self, key: str) -> str:
        """Return "64 revisions of app.py", or nothing for a document without any."""
        document = self.session.by_key(key)
        number = 0 if document is None else len(self.session.shown(document))
        if document is None or not number:
            return ""
        file = printable(unquote(document.uri).rpartition("/")[2])
        return f"{number} revision{'s' if number != 1 else ''} of {file}"

    def _mint(self, key: str) -> Snapshot | None:
        snapshot = self.session.snapshot(key)
        if snapshot is None and self.publisher.withdraw(key) is not None:
            self.pool.forget(key)
        return snapshot


class _Work:
    """The pool of workers, and their tasks, for threads that wait for them."""

    def __init__(self) -> None:
        self.most_marks = MAX_HUNKS

    @cached_property
    def pool(self) -> Pool:
        """The workers, which start when there is something to do."""
        return Pool(Quarantine(cache_folder()), two=self.two)

    @cached_property
    def two(self) -> bool:
        """Whether there is a second worker, for documents out of view."""
        return room_for_two()

    def prepare(self) -> None:
        """Start the worker, which loads NumPy and the grammars."""
        self.pool.first.warm()
        # The loaded modules stay: a full collection over them would delay a keystroke.
        gc.collect()
        gc.freeze()

    def first(self, snapshot: Snapshot, cancel: StopFlag) -> Outcome:
        """Analyse a document in view."""
        return self._outcome(self.pool.first.analyse(snapshot, cancel))

    def beside(self, snapshot: Snapshot, cancel: StopFlag) -> Outcome:
        """Analyse another document."""
        return self._outcome(self.pool.second.analyse(snapshot, cancel))

    def _outcome(self, analysis: Analysis) -> Outcome:
        analysis = with_kept(analysis)
        return Outcome(analysis, find(analysis, self.most_marks))
