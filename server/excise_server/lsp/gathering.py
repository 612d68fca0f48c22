"""Revisions that are found automatically: the sources of every open document, asked in a thread.

Asking reads files and starts git, so it runs in the thread of its own scheduler: a change makes a
pending answer stale, and only the newest answer enters the session.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lsprotocol import types as t

from excise import CancelFlag
from excise.text import normalise
from excise_server.editor.document import Remembered, document_key
from excise_server.editor.places import LineMap
from excise_server.editor.session import Session
from excise_server.foundation.files import inside
from excise_server.foundation.inputs import Rejected
from excise_server.lsp.client import Watcher
from excise_server.lsp.disk import local_path
from excise_server.lsp.remembering import Memory
from excise_server.lsp.rpc import Connection
from excise_server.lsp.scheduler import Scheduler
from excise_server.lsp.settings import SourceChoices
from excise_server.sources.finding import Context, Found, WatchedFiles
from excise_server.wire import lsp as p

if TYPE_CHECKING:
    from excise_server.review.candidate import Candidate


logger = logging.getLogger(__name__)

_TREE_PAUSE = 0.3
"""Seconds in which news of worktrees is gathered: an agent may write a hundred times a second."""

_NOT_SOURCES = {"node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache", ".pytest_cache"}
"""Folders of a worktree in which nothing is part of a candidate."""

_GIT_FILES = ("HEAD", "index", "packed-refs", "refs/**", "worktrees/**")

_SAME = LineMap(())
"""The lines of a revision that has the text of its file."""

_DELAY = 0.05
"""Seconds without changes before sources are asked: a commit changes several files."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """The sources' answer, and what became of it.

    ``lines`` map the lines of replayed revisions to their own files, by id. ``remembered`` is the
    review that memory has, which goes on if its candidates exist. ``rejected`` are revisions that
    the session refused, and ``set_by`` those whose bases the user had set.
    """

    found: Found = field(default_factory=Found)
    lines: Mapping[str, LineMap] = field(default_factory=dict)
    remembered: Remembered | None = None
    goes_on: bool = False
    rejected: tuple[Rejected, ...] = ()
    set_by: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class OwnFile:
    """The file that contains a revision: its absolute path, and where its lines are there."""

    path: str
    lines: LineMap


@dataclass(frozen=True, slots=True)
class WatchedTrees:
    """The worktrees that are watched for a folder of a client, and their repository's own."""

    uri: str
    folders: tuple[str, ...]
    common: str
    records: str


_Asked = tuple[Context, bool]
"""The question to the sources, and whether memory has been asked before."""


class Gatherer:
    """Keeps the revisions of open documents up to date with their sources.

    - ``session``: the session that receives the revisions, in the same way as those that a client
      adds.
    - ``folders``: the absolute paths of the workspace folders.
    """

    def __init__(
        self, server: Connection, session: Session, folders: Callable[[], list[str]]
    ) -> None:
        """Prepare without a thread, which starts when a document of a workspace folder opens."""
        self._session, self._folders = session, folders
        self.memory = Memory(
            session,
            folders,
            lambda: self.choices.trusted,
            self.everything_changed,
            lambda text: server.window_show_message(
                t.ShowMessageParams(t.MessageType.Warning, text)
            ),
        )
        self.choices = SourceChoices()
        """The sources to ask, with their settings."""
        self._watcher, self._server = Watcher(server), server
        self._trees: dict[str, WatchedTrees] = {}
        self._changed_trees: set[str] = set()
        self._gathered: dict[str, Gathered] = {}
        self.scheduler: Scheduler[_Asked, Gathered] = Scheduler(
            mint=self._mint,
            work=self._ask,
            deliver=self._deliver,
            delay=_DELAY,
            name="excise-sources",
        )

    def choose(self, choices: SourceChoices) -> None:
        """Use other settings from now on."""
        if choices == self.choices:
            return
        if choices.settings.origin != self.choices.settings.origin:
            self._session.unpin()
        self.choices = choices
        if choices.buffer is not self._session.own_edits:
            self._session.own_edits = choices.buffer
            self._session.changed_all()
        self.everything_changed()

    def changed(self, uri: str) -> None:
        """Ask again for one document."""
        self.scheduler.changed(document_key(uri))

    def everything_changed(self) -> None:
        """Ask again for every open document."""
        for uri in self._session.open_uris():
            self.changed(uri)

    def files_changed(self, uris: Iterable[str]) -> None:
        """Ask again for the documents that files on disk concern."""
        paths = [path for uri in uris if (path := local_path(uri)) is not None]
        for path in paths:
            for key in self._watcher.affected(path):
                if key not in self._trees:
                    self.scheduler.changed(key)
                elif key not in self._changed_trees and self._is_news(key, path):
                    self._changed_trees.add(key)
                    asyncio.get_running_loop().call_later(_TREE_PAUSE, self._tell, key)

    def trees_of(self, uri: str) -> WatchedTrees | None:
        """Return the worktrees that are watched for a folder of the client, if any are."""
        return self._trees.get(f"worktrees of {uri}")

    def watch_trees(self, uri: str, folders: Iterable[str], common: str, records: str) -> None:
        """Tell the client from now on that a file of these worktrees, or a ref, has changed.

        - ``uri``: the folder that the client is told of.
        - ``folders``, ``common``: the worktrees and the folder of their repository.
        - ``records``: by which it is known whether there are others by now.
        """
        key, tops = f"worktrees of {uri}", tuple(folders)
        self._trees[key] = WatchedTrees(uri, tops, common, records)
        trees = (WatchedFiles(folder, "**") for folder in tops)
        of_git = (WatchedFiles(common, pattern) for pattern in _GIT_FILES)
        self._watcher.watch(key, (*trees, *of_git))

    def _is_news(self, key: str, path: str) -> bool:
        """Whether a file that changed may be one of a candidate, or tells of its commits.

        A worktree may itself be in a folder whose name means nothing inside of it.
        """
        trees = self._trees[key]
        tops = [top for top in (*trees.folders, trees.common) if f"{path}/".startswith(f"{top}/")]
        parts = path[len(max(tops, key=len, default="")) :].split(os.sep)
        if trees.common not in tops:
            return _NOT_SOURCES.isdisjoint(parts)
        inside_git = path[len(trees.common) + 1 :].split(os.sep)
        is_ours = inside_git[:1] in ([pattern.split("/")[0]] for pattern in _GIT_FILES)
        return is_ours and not path.endswith(".lock")

    def _tell(self, key: str) -> None:
        self._changed_trees.discard(key)
        if (trees := self._trees.get(key)) is not None:
            told = p.DidChangeReportParams(trees.uri, None)
            self._server.protocol.notify(p.DID_CHANGE_REPORT, told)

    def files(self, key: str) -> dict[str, OwnFile]:
        """Return the files that contain revisions of a document, by id."""
        gathered = self._of(key)
        return {
            version.id: OwnFile(version.file, gathered.lines.get(version.id, _SAME))
            for version in gathered.found.versions
            if version.file
        }

    def notes(self, key: str) -> dict[str, list[str]]:
        """Return the sources' notes on the revisions of a document, by id."""
        versions = self._of(key).found.versions
        return {version.id: list(version.candidate.notes) for version in versions}

    def stop(self) -> None:
        """End the running git processes. A session without git has not loaded the module."""
        git = sys.modules.get("excise_server.git.command")
        if (end_all := getattr(git, "end_all", None)) is not None:  # else it is just being loaded
            end_all()

    async def newest(self, uri: str) -> Gathered:
        """Return the answer of the sources of a document as they are now."""
        key = document_key(uri)
        await self.memory.ready()
        await self.scheduler.settled(key)
        return self._of(key)

    def _of(self, key: str) -> Gathered:
        return self._gathered.get(key, Gathered())

    def _mint(self, key: str) -> _Asked | None:
        """Return the question, or None, which drops earlier answers, if none is allowed."""
        document = self._session.by_key(key)
        folders = self._folders()
        if document is not None and document.buffer is not None and folders:
            path = local_path(document.uri)
            if path is not None:
                choices = self.choices
                context = Context(
                    path,
                    tuple(folders),
                    choices.trusted,
                    choices.settings,
                    pinned=document.pinned,
                    saved=document.saved,
                    bases=tuple(self._session.choices.bases.items()),
                    begun=self._begun(key) if document.pinned is not None else (),
                )
                return context, document.is_recalled
        self._watcher.watch(key, ())
        if self._gathered.pop(key, None) is not None:
            self._session.take_found(key, Found())
        return None

    def _begun(self, key: str) -> tuple[Candidate, ...]:
        """Return the candidates, except those whose base the user had set."""
        gathered = self._of(key)
        return tuple(
            version.candidate
            for version in gathered.found.versions
            if version.id not in gathered.set_by
        )

    def _deliver(self, key: str, question: _Asked, outcome: Gathered | Exception) -> None:
        """Pass an answer to the session. The scheduler has already dropped stale ones."""
        if isinstance(outcome, Exception):
            logger.error("asking the sources failed", exc_info=outcome)
            failed = Rejected("sources", "failed; the server's log has more")
            self._gathered[key] = replace(self._of(key), rejected=(failed,))
            return
        self._session.remember(key, outcome.remembered, goes_on=outcome.goes_on)
        rejected = self._session.take_found(key, outcome.found)
        target, document = outcome.found.target, self._session.by_key(key)
        pinned = None if document is None else document.pinned
        if target is not None and pinned is not None and normalise(pinned) != target:
            self.scheduler.changed(key)  # a review began with another text meanwhile
        set_by = frozenset(name for name, _ in question[0].bases)
        self._gathered[key] = replace(outcome, rejected=tuple(rejected), set_by=set_by)
        self._watcher.watch(key, outcome.found.watch)

    def _ask(self, question: _Asked, _cancel: CancelFlag) -> Gathered:
        """Ask memory and the sources, and find the revisions' lines in their files, in a thread."""
        context, is_recalled = question
        if not inside(context.document, context.folders):
            refused = Rejected("document", "outside the workspace folders")
            return Gathered(Found(refused=(refused,)))
        from excise_server.sources.collect import collect

        answer, remembered, goes_on = None, None, False
        if not is_recalled:
            remembered = self.memory.recall(context)
        if remembered is not None:
            answer = collect(replace(context, pinned=remembered.origin))
            goes_on = any(remembered.knows(revision.id, "") for revision in answer.revisions)
        if answer is None or not goes_on:
            answer = collect(context)
        lines = {
            version.id: LineMap.of_texts(version.text, version.own_text)
            for version in answer.versions
            if version.file and version.own_text is not None
        }
        versions = tuple(replace(version, own_text=None) for version in answer.versions)
        return Gathered(replace(answer, versions=versions), lines, remembered, goes_on)
