"""Revisions that are found automatically: the sources of every open document, asked in a thread.

Asking reads files and starts git, so it runs in the thread of its own scheduler: a change makes a
pending answer stale, and only the newest answer enters the session.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lsprotocol import types as t
from pygls.lsp.server import LanguageServer

from excise import CancelFlag
from excise_server.editor.decisions import Remembered
from excise_server.editor.document import document_key
from excise_server.editor.places import LineMap
from excise_server.editor.session import Session
from excise_server.foundation.inputs import Rejected
from excise_server.foundation.paths import inside
from excise_server.lsp.disk import local_path
from excise_server.lsp.remembering import Memory
from excise_server.lsp.scheduler import Scheduler
from excise_server.lsp.source_settings import SourceChoices
from excise_server.lsp.watching import Watcher
from excise_server.memory.workspace import Workspace
from excise_server.sources.finding import Context, Found

if TYPE_CHECKING:
    from excise_server.review.candidate import Candidate

__all__ = ["Gathered", "Gatherer", "OwnFile"]

logger = logging.getLogger(__name__)

_SAME = LineMap(())
"""The lines of a revision that has the text of its file."""

_DELAY = 0.05
"""Seconds without changes before sources are asked: a commit changes several files."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """The sources' answer, the revisions that the session refused, and whose bases the user set.

    ``lines`` map the lines of replayed revisions to their own files, by id.
    """

    found: Found
    rejected: tuple[Rejected, ...] = ()
    set_by: frozenset[str] = frozenset()
    lines: Mapping[str, LineMap] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OwnFile:
    """The file that contains a revision: its absolute path, and where its lines are there."""

    path: str
    lines: LineMap


@dataclass(frozen=True, slots=True)
class _Asked:
    """The question to the sources. Without ``is_recalled``, memory is asked first."""

    context: Context
    is_recalled: bool


@dataclass(frozen=True, slots=True)
class _Answer:
    """The sources' answer, and the remembered review, which goes on if its candidates exist."""

    found: Found
    remembered: Remembered | None = None
    goes_on: bool = False
    lines: Mapping[str, LineMap] = field(default_factory=dict)


class Gatherer:
    """Keeps the revisions of open documents up to date with their sources.

    Parameters
    ----------
    server : LanguageServer
        The server whose client watches files.
    session : Session
        The session that receives the revisions, in the same way as those that a client adds.
    folders : callable
        The absolute paths of the workspace folders.
    """

    def __init__(
        self, server: LanguageServer, session: Session, folders: Callable[[], list[str]]
    ) -> None:
        """Prepare without a thread, which starts when a document of a workspace folder opens."""
        self._session, self._folders = session, folders
        self.memory = Memory(
            session,
            folders,
            lambda: self._choices.trusted,
            self.everything_changed,
            lambda text: server.window_show_message(
                t.ShowMessageParams(t.MessageType.Warning, text)
            ),
        )
        self._choices = SourceChoices()
        self._watcher = Watcher(server)
        self._gathered: dict[str, Gathered] = {}
        self.scheduler: Scheduler[_Asked, _Answer] = Scheduler(
            mint=self._mint,
            work=self._ask,
            deliver=self._deliver,
            delay=_DELAY,
            name="excise-sources",
        )

    @property
    def choices(self) -> SourceChoices:
        """The sources to ask, with their settings."""
        return self._choices

    def choose(self, choices: SourceChoices) -> None:
        """Use other settings from now on."""
        if choices == self._choices:
            return
        if choices.settings.origin != self._choices.settings.origin:
            self._session.unpin()
        self._choices = choices
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
        for key in dict.fromkeys(key for path in paths for key in self._watcher.affected(path)):
            self.scheduler.changed(key)

    def files(self, key: str) -> dict[str, OwnFile]:
        """Return the files that contain revisions of a document, by id."""
        gathered = self._gathered.get(key, Gathered(Found()))
        return {
            version.id: OwnFile(version.file, gathered.lines.get(version.id, _SAME))
            for version in gathered.found.versions
            if version.file
        }

    def notes(self, key: str) -> dict[str, list[str]]:
        """Return the sources' notes on the revisions of a document, by id."""
        gathered = self._gathered.get(key, Gathered(Found()))
        return {version.id: list(version.candidate.notes) for version in gathered.found.versions}

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
        return self._gathered.get(key) or Gathered(Found())

    def _mint(self, key: str) -> _Asked | None:
        """Return the question, or None, which drops earlier answers, if none is allowed."""
        document = self._session.by_key(key)
        folders = self._folders()
        if document is not None and document.buffer is not None and folders:
            path = local_path(document.uri)
            if path is not None:
                choices = self._choices
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
                return _Asked(context, is_recalled=document.is_recalled)
        self._watcher.watch(key, ())
        if self._gathered.pop(key, None) is not None:
            self._session.take_found(key, Found())
        return None

    def _begun(self, key: str) -> tuple[Candidate, ...]:
        """Return the candidates, except those whose base the user had set."""
        gathered = self._gathered.get(key, Gathered(Found()))
        return tuple(
            version.candidate
            for version in gathered.found.versions
            if version.id not in gathered.set_by
        )

    def _deliver(self, key: str, question: _Asked, outcome: _Answer | Exception) -> None:
        """Pass an answer to the session. The scheduler has already dropped stale ones."""
        if isinstance(outcome, Exception):
            logger.error("asking the sources failed", exc_info=outcome)
            previous = self._gathered.get(key, Gathered(Found()))
            failed = Rejected("sources", "failed; the server's log has more")
            self._gathered[key] = replace(previous, rejected=(failed,))
            return
        self._session.remember(key, outcome.remembered, goes_on=outcome.goes_on)
        rejected = self._session.take_found(key, outcome.found)
        target = outcome.found.target
        if target is not None and self._session.has_moved(key, target):
            self.scheduler.changed(key)
        set_by = frozenset(name for name, _ in question.context.bases)
        self._gathered[key] = Gathered(outcome.found, tuple(rejected), set_by, outcome.lines)
        self._watcher.watch(key, outcome.found.watch)

    def _ask(self, question: _Asked, _cancel: CancelFlag) -> _Answer:
        """Ask memory and the sources, and find the revisions' lines in their files, in a thread."""
        answer = self._answer(question)
        found = answer.found
        lines = {
            version.id: LineMap.of_texts(version.text, version.own_text)
            for version in found.versions
            if version.file and version.own_text is not None
        }
        versions = tuple(replace(version, own_text=None) for version in found.versions)
        return replace(answer, found=replace(found, versions=versions), lines=lines)

    def _answer(self, question: _Asked) -> _Answer:
        context = question.context
        if not inside(context.document, context.folders):
            return _Answer(Found(refused=(Rejected("document", "outside the workspace folders"),)))
        from excise_server.sources.collect import collect

        if question.is_recalled:
            return _Answer(collect(context))
        workspace = Workspace(context.folders, context.trusted)
        remembered = self.memory.recall(context.document, workspace)
        if remembered is not None:
            answer = collect(replace(context, pinned=remembered.origin))
            if any(remembered.knows(revision.id, "") for revision in answer.revisions):
                return _Answer(answer, remembered, goes_on=True)
        return _Answer(collect(context), remembered)
