"""The server of one session: ties the session, the scheduler and the client together.

Everything here runs on the loop. Handlers change the session; the scheduler mints a snapshot after
a pause, has it analysed, and delivers the result to the publisher unless it is stale.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import cached_property
from typing import Any
from urllib.parse import unquote

import msgspec
from lsprotocol import types as t

from excise import Cancelled
from excise_server.editor.analysis import Analysis, Snapshot, with_kept
from excise_server.editor.apply import ToCheck, decided_mix
from excise_server.editor.document import document_key
from excise_server.editor.findings import Findings, MixProblem, find, find_early, mix_problems
from excise_server.editor.session import Session
from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import SourceError
from excise_server.lsp.client import Pages, RequestsShown, WorkShown
from excise_server.lsp.disk import local_path, read_inside
from excise_server.lsp.gathering import Gatherer
from excise_server.lsp.publishing import Outcome, Publisher
from excise_server.lsp.rpc import Connection, Protocol, RequestFailed
from excise_server.lsp.scheduler import Scheduler
from excise_server.lsp.settings import SourceChoices, settings_of, source_choices_of
from excise_server.processes.lifetime import StopFlag
from excise_server.processes.parsers import Quarantine, cache_folder
from excise_server.wire.sources import OriginChoice
from excise_server.wire.worker import EarlyHunks
from excise_server.workers.surveys import arguments_of
from excise_server.workers.worker import FailedInWorkerError, Worker, WorkerPool, room_for_two

logger = logging.getLogger(__name__)


class ExciseServer(Connection):
    """A language server for one client.

    - ``session``: documents and revisions; changed by handlers only.
    - ``scheduler``: analyses changed documents.
    - ``gatherer``: asks the sources of open documents, whose answers enter the session.
    - ``memory``: remembers decisions for the next server.
    - ``publisher``: keeps results and publishes them.
    - ``pages``: shows pages to a client that knows only the standard protocol.
    - ``requests``: shows the progress of long requests.
    - ``on_client``: receives the number of the client's process, once.
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
        self.gatherer = Gatherer(self, self.session, self.folders)
        self.memory = self.gatherer.memory
        self.publisher = Publisher(self, self.gatherer.files)
        self.typed = self.publisher.typed
        self.pages = Pages(self)
        self.scheduler: Scheduler[Snapshot, Outcome] = Scheduler(
            mint=self._mint,
            work=lambda snapshot, cancel: self._outcome(self.pool.first, snapshot, cancel),
            deliver=self._deliver,
            watch=WorkShown(self, self._described, lambda key: self.scheduler.cancel(key)),
            beside=(
                (lambda snapshot, cancel: self._outcome(self.pool.second, snapshot, cancel))
                if room_for_two()
                else None
            ),
            is_first=lambda key: key == self._looked_at,
        )
        self._looked_at = ""
        self._picked_origin: OriginChoice | None = None
        self._restarting: dict[str, asyncio.Task[bool]] = {}
        self._waiting = Counter[asyncio.Task[bool]]()
        self._replaying: dict[str, tuple[str, StopFlag]] = {}
        self._checks: dict[str, asyncio.Task[None]] = {}
        self._sound: dict[str, ToCheck] = {}
        self.requests = RequestsShown(self)

    def configure(self, options: object) -> None:
        """Take the client's choices, and update what is shown."""
        settings = settings_of(options)
        self.gatherer.choose(self._as_picked(source_choices_of(options)))
        if settings == self.settings:
            return
        self.settings = settings
        self.session.rank_for(settings.intent)
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

    @cached_property
    def pool(self) -> WorkerPool:
        """The workers that parse and score, which start when there is something to do."""
        return WorkerPool(Quarantine(cache_folder()), two=room_for_two())

    def look_at(self, uri: str) -> None:
        """Note which document the user has before them: it does not wait for others."""
        self._looked_at = document_key(uri)

    def warm_up(self) -> None:
        """Make the worker import what the first analysis needs, while the user opens a file."""
        self.scheduler.start(self._prepare)

    async def newest(self, uri: str) -> Analysis | None:
        """Return the analysis of the document as it is now, or None for an unknown document.

        Raises RequestFailed if there is none, with the reason.
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

    async def restart(self, uri: str, replay: Callable[[], Coroutine[Any, Any, bool]]) -> bool:
        """Restart the review of a document, once for all who ask while that is under way.

        Its last step takes the origin of that moment, so those who come later miss nothing; what is
        still replayed on an earlier one is stopped. It ends when the last of them no longer waits.
        """
        key = document_key(uri)
        if (replaying := self._replaying.get(key)) is not None:
            task = self.session.to_replay(uri)
            if task is None or task[1] != replaying[0]:
                replaying[1].cancel()
        if (restart := self._restarting.get(key)) is None:
            restart = self._restarting[key] = asyncio.get_running_loop().create_task(replay())
        self._waiting[restart] += 1
        try:
            return await asyncio.shield(restart)
        finally:
            self._waiting[restart] -= 1
            if not self._waiting[restart]:
                del self._waiting[restart]
                if self._restarting.get(key) is restart:
                    del self._restarting[key]
                restart.cancel()

    async def restarted(self, uri: str) -> None:
        """Wait until no review of the document is about to start again."""
        while (restart := self._restarting.get(document_key(uri))) is not None:
            await asyncio.wait([restart])
            await asyncio.sleep(0)  # those who asked for it come first

    async def replayed(
        self, uri: str, before: str, current: str, texts: list[str]
    ) -> list[str] | None:
        """Replay texts in a worker, stopping its work on the document, which would be stale.

        None if somebody asked for another origin meanwhile. Raises RequestFailed if the worker
        fails.
        """
        cancel, key = StopFlag(), document_key(uri)
        self.scheduler.hold(key)
        self._replaying[key] = current, cancel
        replayed = None
        try:
            replayed = await asyncio.to_thread(
                self.pool.first.replay, before, current, texts, cancel
            )
        except (Cancelled, FailedInWorkerError) as error:
            if not cancel.cancelled:
                logger.error("the review cannot start again", exc_info=error)
                raise RequestFailed("replaying failed; the server's log has more") from error
        finally:
            cancel.cancel()
            self._replaying.pop(key, None)
            if replayed is None:
                self.scheduler.changed(key)
        return replayed

    async def checked(self, document: ToCheck) -> dict[str, Any] | None:
        """Have a worker check edits of a document. One that fails has refused nothing: None."""
        cancel = StopFlag()

        def check() -> dict[str, Any]:
            return self.pool.second.survey("checked", arguments_of(document=document), cancel)

        try:
            return await asyncio.to_thread(check)
        except (Cancelled, FailedInWorkerError, SourceError) as error:
            logger.error("an edit was not checked", exc_info=error)
            return None
        finally:
            cancel.cancel()

    async def mix_problems(self, uri: str, analysis: Analysis) -> tuple[MixProblem, ...]:
        """Wait until the mix of an analysis has been checked, and return what it breaks."""
        key = document_key(uri)
        if (check := self._checks.get(key)) is not None:
            await asyncio.wait([check])
        return self.publisher.problems(key, analysis)

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
        await self.scheduler.settled(key, hurry=False, early=True)
        return self.publisher.diagnostics(key)

    def close(self, timeout: float) -> None:
        """Stop the work of all threads, waiting at most ``timeout`` seconds for each."""
        self.pages.close()
        self.gatherer.stop()
        self.gatherer.scheduler.close(timeout)
        self.memory.close(timeout)
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

    def _show_early(self, snapshot: Snapshot, findings: Findings, cancel: StopFlag) -> None:
        key = document_key(snapshot.uri_or_path)
        if not cancel.cancelled and self.scheduler.shown(key, cancel):
            self.publisher.show_early(key, snapshot, findings)

    def _mint(self, key: str) -> Snapshot | None:
        self._loop = asyncio.get_running_loop()
        snapshot = self.session.snapshot(key)
        if snapshot is None and self.publisher.withdraw(key) is not None:
            self.pool.forget(key)
            self._sound.pop(key, None)
        return snapshot

    def _deliver(self, key: str, snapshot: Snapshot, outcome: Outcome | Exception) -> None:
        self.publisher.deliver(key, snapshot, outcome)
        if (before := self._checks.pop(key, None)) is not None:
            before.cancel()
        if isinstance(outcome, Outcome) and outcome.mix is not None:
            checking = self._check_mix(key, outcome, outcome.mix)
            self._checks[key] = asyncio.get_running_loop().create_task(checking)

    async def _check_mix(self, key: str, outcome: Outcome, mix: ToCheck) -> None:
        """Find out what a mix breaks: while somebody types beside a sound one, nothing is read."""
        decided = msgspec.structs.replace(mix, edits=mix.edits[:1])
        problems: tuple[MixProblem, ...] = ()
        if self._sound.get(key) != decided and (answer := await self.checked(mix)) is not None:
            refusals = answer["refusals"]
            problems = mix_problems(outcome.analysis, refusals)
            if refusals[0] is None:
                self._sound[key] = decided
        self.publisher.note_problems(key, outcome, problems)

    # --- for the threads that wait for workers ---

    def _prepare(self) -> None:
        self.pool.first.warm()
        # The loaded modules stay: a full collection over them would delay a keystroke.
        gc.collect()
        gc.freeze()

    def _outcome(self, worker: Worker, snapshot: Snapshot, cancel: StopFlag) -> Outcome:
        def early(hunks: EarlyHunks) -> None:
            findings = find_early(snapshot, hunks)
            self._loop.call_soon_threadsafe(self._show_early, snapshot, findings, cancel)

        analysis = with_kept(worker.analyse(snapshot, cancel, early))
        return Outcome(analysis, find(analysis), decided_mix(analysis))
