"""Pages for clients that know only the standard protocol: files in the cache that they open.

A page is read-only, readable by its user alone, and removed with the server. Nothing in it is
executed.
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
from pathlib import Path

from lsprotocol import types as t
from pygls.exceptions import JsonRpcException

from excise_server.foundation.escape import printable
from excise_server.lsp.connection import Connection
from excise_server.lsp.rpc import RequestFailed
from excise_server.workers.quarantine import cache_folder

__all__ = ["Pages", "file_name"]

logger = logging.getLogger(__name__)

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

        Parameters
        ----------
        about
            What distinguishes this page from others of the same name.
        name
            The name of the file; its extension tells the language.
        line
            The line for the cursor, from 0.

        Returns
        -------
        str
            The path of the page.

        Raises
        ------
        RequestFailed
            If the page cannot be written.
        """
        try:
            path = await asyncio.to_thread(self.write, about, name, text)
        except OSError as error:
            raise RequestFailed(f"the page cannot be written: {error.strerror}") from error
        await self.open(path, line)
        return path

    async def open(self, path: str, line: int = 0) -> None:
        """Make the client open a file, or tell the user where it is."""
        window = self._server.client_capabilities.window
        if window and window.show_document and window.show_document.support:
            place = t.Position(line, 0)
            params = t.ShowDocumentParams(
                Path(path).as_uri(), take_focus=True, selection=t.Range(place, place)
            )
            try:
                if (await self._server.window_show_document_async(params)).success:
                    return
            except JsonRpcException as error:
                logger.info("the client opens no documents: %s", error)
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
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        path, aside = folder / file_name(name), folder / secrets.token_hex(8)
        with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400), "wb") as file:
            file.write(text.encode("utf-8", "replace"))
        aside.replace(path)
        return str(path)

    def _made(self) -> Path:
        if self._folder is None:
            cache = cache_folder()
            if cache is None:
                raise OSError(0, "there is no cache folder: set HOME or XDG_CACHE_HOME")
            every = cache / "pages"
            every.mkdir(mode=0o700, parents=True, exist_ok=True)
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
