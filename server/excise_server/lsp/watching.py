"""The files that the client watches for us: registered with it, never polled.

Each pattern is registered once, however many documents depend on it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from fnmatch import fnmatchcase
from itertools import count

from lsprotocol import types as t
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path

from excise_server.sources.finding import Watch

__all__ = ["Watcher"]

_METHOD = t.WORKSPACE_DID_CHANGE_WATCHED_FILES


class Watcher:
    """The watches of every document, and their registrations with the client."""

    def __init__(self, server: LanguageServer) -> None:
        """Watch nothing yet."""
        self._server = server
        self._wanted: dict[str, tuple[Watch, ...]] = {}
        self._registered: dict[Watch, str] = {}
        self._numbers = count(1)

    def watch(self, key: str, watches: Iterable[Watch]) -> None:
        """Watch these files for a document, in place of earlier ones."""
        self._wanted[key] = tuple(watches)
        if not self._wanted[key]:
            del self._wanted[key]
        self._register()

    def affected(self, path: str) -> list[str]:
        """Return the keys of the documents whose sources a changed path may concern.

        >>> watcher = Watcher(None)
        >>> watcher._wanted["a.py"] = (Watch("/w/.git", "refs/heads/**"),)
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
        capabilities = self._server.client_capabilities.workspace
        watching = capabilities.did_change_watched_files if capabilities else None
        if watching is None or not watching.dynamic_registration:
            return
        watched = dict.fromkeys(watch for watches in self._wanted.values() for watch in watches)
        added = {
            w: f"excise.watch.{next(self._numbers)}" for w in watched if w not in self._registered
        }
        removed = [watch for watch in self._registered if watch not in watched]
        relative = bool(watching.relative_pattern_support)
        if added:
            self._registered |= added
            self._server.client_register_capability(
                t.RegistrationParams([_registration(i, w, relative) for w, i in added.items()])
            )
        if removed:
            unregistrations = [
                t.Unregistration(self._registered.pop(watch), _METHOD) for watch in removed
            ]
            self._server.client_unregister_capability(t.UnregistrationParams(unregistrations))


def _registration(name: str, watch: Watch, relative: bool) -> t.Registration:
    base = from_fs_path(watch.folder)
    pattern: t.GlobPattern = f"{watch.folder.replace(os.sep, '/').rstrip('/')}/{watch.pattern}"
    if relative and base is not None:
        pattern = t.RelativePattern(base, watch.pattern)
    options = t.DidChangeWatchedFilesRegistrationOptions([t.FileSystemWatcher(pattern)])
    return t.Registration(name, _METHOD, options)


def _matches(watch: Watch, path: str) -> bool:
    """Whether a watch may match a path, as a pattern with alternatives always may."""
    try:
        relative = os.path.relpath(path, watch.folder).replace(os.sep, "/")
    except ValueError:  # another drive
        return False
    if relative == ".." or relative.startswith("../"):
        return False
    return "{" in watch.pattern or fnmatchcase(relative, watch.pattern)
