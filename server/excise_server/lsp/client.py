"""What the client does for us: it shows progress and pages, and watches files.

**Progress** (window/workDoneProgress): most work is done before anybody could read about it, so a
run is shown only after half a second. It stays until there is a result: new runs while somebody
types belong to the same work.

**Pages** are for clients that know only the standard protocol: files in the cache that they open. A
page is read-only, readable by its user alone, and removed with the server. Nothing in it is
executed.

**Files** are watched by the client and never polled. Each pattern is registered once, however many
documents depend on it.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import count
from pathlib import Path

from lsprotocol import types as t
from pygls.exceptions import JsonRpcException
from pygls.uris import from_fs_path

from excise import Cancelled
from excise_server.foundation.escape import printable
from excise_server.foundation.files import make_private
from excise_server.lsp.rpc import Connection, RequestFailed
from excise_server.processes.lifetime import StopFlag
from excise_server.processes.parsers import cache_folder
from excise_server.sources.finding import WatchedFiles

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

    - ``describe``: describes the work for people, by the key of the document; empty if it is not
      shown.
    - ``cancel``: stops the work on a document, by its key, if the user cancels it.
    """

    def __init__(
        self, server: Connection, describe: Callable[[str], str], cancel: Callable[[str], None]
    ) -> None:
        self._server, self._describe, self._cancel = server, describe, cancel
        self._shown: dict[str, _Shown] = {}

    def began(self, key: str) -> None:
        """Count from here, unless the work is shown already."""
        shown = self._shown.setdefault(key, _Shown())
        can = self._server.can("window.work_done_progress")
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
        # One for documents and one for requests share a client: a number could be the other's.
        shown.timer, shown.token = None, f"excise-{secrets.token_hex(8)}"
        self._server.spawn(self._begin(key, shown, shown.token))

    async def _begin(self, key: str, shown: _Shown, token: str) -> None:
        progress = self._server.work_done_progress
        try:
            await progress.create_async(token)
        except JsonRpcException as error:
            logger.info("the client cannot show progress: %s", error)
            return
        if shown.over:
            progress.tokens.pop(token, None)
            return
        shown.begun = True
        begin = t.WorkDoneProgressBegin(
            title="Excise: scoring", message=self._describe(key), cancellable=True
        )
        progress.begin(token, begin)

        def stopped(future: Future[object]) -> None:
            if future.cancelled() and not shown.over:
                self._cancel(key)

        progress.tokens[token].add_done_callback(stopped)


class RequestsShown:
    """Shows the work of requests that take long, each by itself."""

    def __init__(self, server: Connection) -> None:
        self._keys = (f"request {number}" for number in count(1))
        self._running: dict[str, tuple[str, StopFlag]] = {}
        self._shown = WorkShown(
            server, lambda key: self._running[key][0], lambda key: self._running[key][1].cancel()
        )

    @contextmanager
    def running(self, described: str) -> Iterator[StopFlag]:
        """Show a request. The flag is raised if its progress or the request is cancelled.

        Raises RequestFailed if the work stopped because of that.
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


_KEPT = 7 * 24 * 3600
"""Seconds after which pages of a server that was killed are removed."""

_MOST_NAME = 80


class Pages:
    """Writes pages into a folder of this server's own, and has the client show them."""

    def __init__(self, server: Connection) -> None:
        """Make no folder before there is a page."""
        self._server = server
        self._folder: Path | None = None

    async def show(self, about: str, name: str, text: str, line: int = 0) -> str:
        """Write a page and show it, as a document if the client can open it, else by its path.

        Raises RequestFailed if the page cannot be written.

        - ``about``: what distinguishes this page from others of the same name.
        - ``name``: the name of the file; its extension tells the language.
        - ``line``: the line for the cursor, from 0.

        Returns: the path of the page.
        """
        try:
            path = await asyncio.to_thread(self.write, about, name, text)
        except OSError as error:
            raise RequestFailed(f"the page cannot be written: {error.strerror}") from error
        await self.open(path, line)
        return path

    async def open(self, path: str, line: int = 0) -> None:
        """Make the client open a file, or tell the user where it is."""
        if self._server.can("window.show_document.support"):
            place = t.Position(line, 0)
            params = t.ShowDocumentParams(
                Path(path).as_uri(), take_focus=True, selection=t.Range(place, place)
            )
            try:
                if (await self._server.window_show_document_async(params)).success:
                    return
            except JsonRpcException as error:
                logger.info("the client cannot show documents: %s", error)
        where = f"line {line + 1} of {path}" if line else path
        message = t.ShowMessageParams(t.MessageType.Info, f"Open {printable(where)}")
        self._server.window_show_message(message)

    def close(self) -> None:
        """Remove the pages of this server."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def write(self, about: str, name: str, text: str) -> str:
        """Write a page, in a thread that may wait, and return its path."""
        folder = self._made() / hashlib.sha256(about.encode("utf-8", "replace")).hexdigest()[:12]
        # Another server may have removed the pages as old, although this one still runs.
        make_private(folder)
        path, aside = folder / file_name(name), folder / secrets.token_hex(8)
        with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400), "wb") as file:
            file.write(text.encode("utf-8", "replace"))
        aside.replace(path)
        return str(path)

    def _made(self) -> Path:
        if self._folder is None:
            cache = cache_folder()
            if cache is None:
                raise OSError(0, "no cache folder: set HOME or XDG_CACHE_HOME")
            every = cache / "pages"
            make_private(every)
            for old in every.iterdir():
                if not old.is_symlink() and time.time() - old.stat().st_mtime > _KEPT:
                    shutil.rmtree(old, ignore_errors=True)
            self._folder = every / f"{os.getpid()}-{secrets.token_hex(4)}"
            self._folder.mkdir(mode=0o700)
        return self._folder


def file_name(name: str) -> str:
    """Return a name that any file system takes, with the same end.

    >>> file_name("codex/3f: a.py"), file_name("..")
    ('codex-3f-a.py', 'page')
    """
    plain = re.sub(r"[^\w.+-]+|\.\.+", "-", name, flags=re.ASCII).strip("-.")
    return plain[-_MOST_NAME:].lstrip("-.") or "page"


_METHOD = t.WORKSPACE_DID_CHANGE_WATCHED_FILES


class Watcher:
    """The watches of every document, and their registrations with the client."""

    def __init__(self, server: Connection) -> None:
        self._server = server
        self._wanted: dict[str, tuple[WatchedFiles, ...]] = {}
        self._registered: dict[WatchedFiles, str] = {}
        self._numbers = count(1)

    def watch(self, key: str, watches: Iterable[WatchedFiles]) -> None:
        """Watch these files for a document, in place of earlier ones."""
        self._wanted[key] = tuple(watches)
        if not self._wanted[key]:
            del self._wanted[key]
        self._register()

    def affected(self, path: str) -> list[str]:
        """Return the keys of the documents whose sources a changed path may concern.

        >>> watcher = Watcher(None)
        >>> watcher._wanted["a.py"] = (WatchedFiles("/w/.git", "refs/heads/**"),)
        >>> watcher.affected("/w/.git/refs/heads/x/y"), watcher.affected("/w/.git/index")
        (['a.py'], [])
        """
        return [
            key
            for key, watches in self._wanted.items()
            if any(_matches(watch, path) for watch in watches)
        ]

    def _register(self) -> None:
        """Register new patterns with the client, and unregister the unused ones."""
        if not self._server.can("workspace.did_change_watched_files.dynamic_registration"):
            return
        watched = dict.fromkeys(watch for watches in self._wanted.values() for watch in watches)
        added = {
            w: f"excise.watch.{next(self._numbers)}" for w in watched if w not in self._registered
        }
        removed = [watch for watch in self._registered if watch not in watched]
        can = self._server.can("workspace.did_change_watched_files.relative_pattern_support")
        if added:
            self._registered |= added
            self._server.client_register_capability(
                t.RegistrationParams([_registration(i, w, bool(can)) for w, i in added.items()])
            )
        if removed:
            unregistrations = [
                t.Unregistration(self._registered.pop(watch), _METHOD) for watch in removed
            ]
            self._server.client_unregister_capability(t.UnregistrationParams(unregistrations))


def _registration(name: str, watch: WatchedFiles, relative: bool) -> t.Registration:
    base = from_fs_path(watch.folder)
    pattern: t.GlobPattern = f"{watch.folder.replace(os.sep, '/').rstrip('/')}/{watch.pattern}"
    if relative and base is not None:
        pattern = t.RelativePattern(base, watch.pattern)
    options = t.DidChangeWatchedFilesRegistrationOptions([t.FileSystemWatcher(pattern)])
    return t.Registration(name, _METHOD, options)


def _matches(watch: WatchedFiles, path: str) -> bool:
    """Whether a watch may match a path, as a pattern with alternatives always may."""
    try:
        relative = os.path.relpath(path, watch.folder).replace(os.sep, "/")
    except ValueError:  # another drive
        return False
    if relative == ".." or relative.startswith("../"):
        return False
    return "{" in watch.pattern or fnmatchcase(relative, watch.pattern)
