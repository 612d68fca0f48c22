"""window/workDoneProgress: long work is shown and can be stopped.

Most work is done before anybody could read about it, so a run is shown only after half a second. It
stays until there is a result: new runs while somebody types belong to the same work.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

from lsprotocol import types as t
from pygls.exceptions import JsonRpcException

from excise import Cancelled
from excise_server.foundation.cancellation import StopFlag
from excise_server.lsp.connection import Connection
from excise_server.lsp.rpc import RequestFailed

__all__ = ["DELAY", "RequestsShown", "WorkShown"]

logger = logging.getLogger(__name__)

DELAY = 0.5
"""Seconds that a run may take without being shown."""


@dataclass(slots=True, eq=False)
class _Shown:
    """The work on one document: a timer until it is shown, then its token."""

    timer: asyncio.TimerHandle | None = None
    token: str | None = None
    begun: bool = False
    over: bool = False


class WorkShown:
    """Progress of the work on documents; a watch of the `Scheduler`.

    Parameters
    ----------
    server : Connection
        The connection whose client shows progress, if it can.
    describe : callable
        Describes the work for people, by the key of the document; empty if it is not shown.
    cancel : callable
        Stops the work on a document, by its key, if the user cancels it.
    """

    def __init__(
        self,
        server: Connection,
        describe: Callable[[str], str],
        cancel: Callable[[str], None],
    ) -> None:
        """Show nothing yet."""
        self._server, self._describe, self._cancel = server, describe, cancel
        self._shown: dict[str, _Shown] = {}
        self._tokens = (f"excise-{number}" for number in count(1))

    def began(self, key: str) -> None:
        """Count from here, unless the work is shown already."""
        shown = self._shown.setdefault(key, _Shown())
        window = self._server.client_capabilities.window
        can = window and window.work_done_progress
        if shown.token is None and shown.timer is None and can and self._describe(key):
            loop = asyncio.get_running_loop()
            shown.timer = loop.call_later(DELAY, self._show, key, shown)

    def interrupted(self, key: str) -> None:
        """Expect another run: shown progress stays, and the delay of other progress restarts."""
        if (shown := self._shown.get(key)) is not None and shown.timer is not None:
            shown.timer.cancel()
            shown.timer = None

    def ended(self, key: str) -> None:
        """Remove the progress: there is a result, or nothing left to do."""
        if (shown := self._shown.pop(key, None)) is None:
            return
        if shown.timer is not None:
            shown.timer.cancel()
        shown.over = True
        if shown.begun and shown.token is not None:
            progress = self._server.work_done_progress
            progress.end(shown.token, t.WorkDoneProgressEnd())
            progress.tokens.pop(shown.token, None)

    def _show(self, key: str, shown: _Shown) -> None:
        shown.timer, shown.token = None, next(self._tokens)
        self._server.spawn(self._begin(key, shown, shown.token))

    async def _begin(self, key: str, shown: _Shown, token: str) -> None:
        progress = self._server.work_done_progress
        try:
            await progress.create_async(token)
        except JsonRpcException as error:
            logger.info("the client shows no progress: %s", error)
            return
        if shown.over:
            progress.tokens.pop(token, None)
            return
        shown.begun = True
        begin = t.WorkDoneProgressBegin(
            title="Excise: scoring", message=self._describe(key), cancellable=True
        )
        progress.begin(token, begin)
        progress.tokens[token].add_done_callback(lambda future: self._stopped(key, shown, future))

    def _stopped(self, key: str, shown: _Shown, future: Future[object]) -> None:
        if future.cancelled() and not shown.over:
            self._cancel(key)


class RequestsShown:
    """Shows the work of requests that take long, each by itself."""

    def __init__(self, server: Connection) -> None:
        """Show nothing yet."""
        self._keys = (f"request {number}" for number in count(1))
        self._running: dict[str, tuple[str, StopFlag]] = {}
        self._shown = WorkShown(
            server,
            lambda key: self._running[key][0],
            lambda key: self._running[key][1].cancel(),
        )

    @contextmanager
    def running(self, described: str) -> Iterator[StopFlag]:
        """Show a request. The flag is raised if its progress or the request is cancelled.

        Raises
        ------
        RequestFailed
            If the work stopped because of that.
        """
        key, cancel = next(self._keys), StopFlag()
        self._running[key] = (described, cancel)
        self._shown.began(key)
        try:
            yield cancel
        except Cancelled as error:
            raise RequestFailed("stopped on request") from error
        finally:
            cancel.cancel()  # where the client has cancelled, the thread goes on until it looks
            self._shown.ended(key)
            del self._running[key]
