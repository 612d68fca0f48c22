"""The memory of reviews, between the session and the files, with a thread that writes.

The session is compared with what was last written, and only the difference is written. An answer
that confirms a decision waits until it is on disk.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

from excise_server.editor.document import CandidateDecision, Remembered
from excise_server.editor.session import Session
from excise_server.lsp.disk import local_path
from excise_server.sources.finding import Context

if TYPE_CHECKING:
    from excise_server.memory.reviews import Reviews


NOT_KEPT = (
    "Excise: another process locks the file of decisions about candidates. They count in this "
    "session, but are not on disk until the file is free."
)

logger = logging.getLogger(__name__)


class Memory:
    """Keeps the decisions, and restores them in a new session.

    - ``folders``, ``trusted``: return the absolute paths of the workspace folders, and whether git
      may be started there.
    - ``ask_again``: asks the sources again, when candidates have other bases.
    - ``warn``: shows the user a sentence.
    """

    def __init__(
        self,
        session: Session,
        folders: Callable[[], list[str]],
        trusted: Callable[[], bool],
        ask_again: Callable[[], None],
        warn: Callable[[str], None],
    ) -> None:
        self._session, self._folders, self._trusted = session, folders, trusted
        self._ask_again, self._warn = ask_again, warn
        self._pool = ThreadPoolExecutor(1, "excise-memory")
        self._reviews: Reviews | None = None
        self._written: dict[str, Remembered] = {}
        self._choices: dict[str, CandidateDecision] = {}
        self._loading: asyncio.Future[None] | None = None
        self._last: asyncio.Future[None] | None = None
        self._is_late = self._said_late = False

    async def ready(self) -> None:
        """Wait until the session knows the earlier decisions about candidates."""
        is_again = self._reviews is not None and self._reviews.is_locked
        if self._loading is None or (is_again and self._loading.done()):
            self._loading = asyncio.ensure_future(self._load())
        await asyncio.shield(self._loading)

    async def written(self) -> None:
        """Wait until everything that the session decided until now is on the disk.

        If another process locks the file, the client is told that it is not, once for each time.
        """
        await self.ready()
        self._note_choices()
        if self._last is not None:
            await asyncio.shield(self._last)
        if self._is_late and not self._said_late:
            self._warn(NOT_KEPT)
        self._said_late = self._is_late

    def recall(self, context: Context) -> Remembered | None:
        """Return the remembered review of a document, for a thread that may wait.

        Earlier changes are written first.
        """
        try:
            return self._pool.submit(lambda: self._files().recall(context)).result()
        except (RuntimeError, CancelledError):
            return None  # the server ends
        except Exception:
            logger.exception("the saved decisions of reviews cannot be used")
            return None

    def changed(self, key: str) -> None:
        """Write the changes of a document's review, or forget a review that has ended."""
        document = self._session.by_key(key)
        if document is None:
            self._written.pop(key, None)  # closed: its review goes on when it is opened again
            return
        now, before = document.review, self._written.get(key)
        if now == before or (path := local_path(document.uri)) is None:
            return
        context = Context(path, tuple(self._folders()), self._trusted())
        if now is not None:
            self._written[key] = now
            self._do(lambda: self._files().keep(context, now))
        else:
            del self._written[key]
            self._do(lambda: self._files().drop(context))

    def close(self, timeout: float) -> None:
        """Write the pending changes, for at most so many seconds."""
        with suppress(TimeoutError, RuntimeError):
            self._pool.submit(_safely(self._catch_up)).result(timeout)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _catch_up(self) -> None:
        if self._reviews is not None:
            self._reviews.catch_up()

    async def _load(self) -> None:
        folders = self._folders()
        loop = asyncio.get_running_loop()
        choices: dict[str, CandidateDecision] = {}

        def read() -> None:
            choices.update(self._files().choices(folders))

        await loop.run_in_executor(self._pool, _safely(read))
        self._choices = choices | self._choices
        self._session.recall(choices)
        if any(choice.base is not None for choice in choices.values()):
            self._ask_again()

    def _note_choices(self) -> None:
        now, none = self._session.choices.of_each(), CandidateDecision()
        changed = {
            name: choice
            for name in now.keys() | self._choices.keys()
            if (choice := now.get(name, none)) != self._choices.get(name, none)
        }
        if changed:
            self._choices, folders = now, self._folders()
            self._do(lambda: self._files().choose(folders, changed))

    def _do(self, work: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()

        def keep() -> None:
            work()
            self._is_late = not self._files().catch_up()

        self._last = loop.run_in_executor(self._pool, _safely(keep))

    def _files(self) -> Reviews:
        if self._reviews is None:
            from excise_server.memory.reviews import Reviews
            from excise_server.processes.parsers import cache_folder

            self._reviews = Reviews(cache_folder())
        return self._reviews


def _safely(work: Callable[[], None]) -> Callable[[], None]:
    """Return work whose failure is logged: no answer waits for memory that fails."""

    def run() -> None:
        try:
            work()
        except Exception:
            logger.exception("the saved decisions of reviews cannot be used")

    return run
