"""Revisions and candidates: what a client adds, asks for, and decides about them.

What has to look at files or start git does that in a thread. Each revision and candidate then
enters the session completely or not at all.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import msgspec
from pygls.exceptions import JsonRpcInvalidParams
from pygls.uris import from_fs_path

from excise.errors import OptionError
from excise.ranking import check_intent
from excise.text import Revision, normalise
from excise_server.editor.document import (
    MAX_DECISIONS,
    MAX_ID,
    OWN_EDITS,
    ReviewedDocument,
)
from excise_server.foundation.escape import printable
from excise_server.foundation.files import inside
from excise_server.foundation.inputs import SourceError, UnansweredError
from excise_server.lsp.disk import local_path, read_inside
from excise_server.lsp.gathering import Gathered
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.review.given import Given
from excise_server.wire import lsp as p
from excise_server.wire.documents import RejectedEntry
from excise_server.workers.surveys import arguments_of

MAX_CANDIDATES = 300
"""Most candidates that a client may add."""


# --- what a client adds ---


def add_revisions(ls: ExciseServer, params: p.AddRevisionsParams) -> p.Accepted:
    """Take the revisions that can be scored, and return the others with the reasons."""
    revisions = [Revision(new.id, new.text, new.label or "") for new in params.revisions]
    accepted, rejected = ls.session.add(params.uri, revisions, params.base)
    return p.Accepted(
        accepted, [RejectedEntry(id=item.id, reason=item.reason) for item in rejected]
    )


async def add_candidates(ls: ExciseServer, params: p.AddCandidatesParams) -> p.Accepted:
    """Take the candidates that can be compared, and return the others with the reasons.

    Raises JsonRpcInvalidParams if the folder is not one of the workspace.
    """
    folders = ls.folders()
    if not folders:
        raise JsonRpcInvalidParams("no workspace folder on this machine is open")
    folder = folders[0] if params.folder is None else local_path(params.folder)
    if folder is None or not inside(folder, folders):
        raise JsonRpcInvalidParams("not a folder of the workspace")
    trusted = ls.gatherer.choices.trusted
    checked = await asyncio.to_thread(_checked, params.candidates, folder, folders, trusted)
    accepted: list[str] = []
    rejected: list[RejectedEntry] = []
    for candidate, outcome in zip(params.candidates, checked, strict=True):
        reason = outcome if isinstance(outcome, str) else ""
        given_ids = ls.session.given.keys() | {candidate.id}
        if candidate.id in accepted:
            reason = "another candidate of this request has this id"
        elif not reason and len(given_ids) > MAX_CANDIDATES:
            reason = f"skipped: limit {MAX_CANDIDATES} candidates"
        elif isinstance(outcome, Given):
            reason = ls.session.give(outcome)
        if reason:
            rejected.append(RejectedEntry(id=candidate.id, reason=reason))
        else:
            accepted.append(candidate.id)
    return p.Accepted(accepted, rejected)


def _checked(
    candidates: Sequence[p.CandidateText], folder: str, folders: Sequence[str], trusted: bool
) -> list[Given | str]:
    """Return each candidate, checked, or why it is refused. Runs in a thread."""
    from excise_server.sources.given import checked

    outcomes: list[Given | str] = []
    for candidate in candidates:
        try:
            outcomes.append(checked(candidate, folder, folders, trusted=trusted))
        except (SourceError, UnansweredError) as error:
            outcomes.append(str(error))
    return outcomes


def remove_candidates(ls: ExciseServer, params: p.RemoveCandidatesParams) -> p.Removed:
    """Forget candidates of the client everywhere, or any of one document; name the unknown ones."""
    if params.uri is not None:
        return p.Removed(*ls.session.remove(params.uri, params.ids))
    return p.Removed(*ls.session.take_back(params.ids))


# --- the candidates of a repository ---


@dataclass(frozen=True, slots=True)
class RepositoryFolder:
    """A folder in a repository, and the workspace folders that limit reading."""

    folder: str
    folders: list[str]


def place_of(ls: ExciseServer, uri: str) -> RepositoryFolder:
    """Return the folder of a URI, or of the file that it names.

    Raises JsonRpcInvalidParams if it is not inside of a workspace folder. Raises RequestFailed if
    the workspace is not trusted.
    """
    path, folders = local_path(uri), ls.folders()
    if path is None or not inside(path, folders):
        raise JsonRpcInvalidParams("not a file or folder of the workspace")
    if not ls.gatherer.choices.trusted:
        raise RequestFailed("the workspace is not trusted: git is not started")
    folder = os.path.realpath(path)
    return RepositoryFolder(folder if os.path.isdir(folder) else os.path.dirname(folder), folders)


async def candidates(ls: ExciseServer, params: p.CandidatesParams) -> dict[str, Any]:
    """Compare the candidates of the repository of a folder or file, and those of the client.

    Candidates that the user hid or rejected are named, but count in no score, group or order.

    Raises JsonRpcInvalidParams if it is not inside of a workspace folder, or the intent is unknown.
    Raises RequestFailed if the workspace is not trusted, there is no repository, git cannot tell,
    or the request names what is not there.
    """
    place = place_of(ls, params.uri)
    await ls.memory.ready()
    if ls.can("workspace.did_change_watched_files.dynamic_registration"):
        # Before they are read: what is written meanwhile is told of. Git is asked if there are
        # others than the last time, as its records say.
        known = ls.gatherer.trees_of(params.uri)
        records = "" if known is None else await asyncio.to_thread(worktree_records, known.common)
        if known is None or known.records != records:
            ls.gatherer.watch_trees(params.uri, *await asyncio.to_thread(_trees, place))
    asked = msgspec.structs.asdict(params) | {"intent": _intent(ls, params.intent)}
    return await survey(ls, "candidates", place, unsaved=unsaved(ls), **asked)


def _trees(place: RepositoryFolder) -> tuple[list[str], str, str]:
    """Return the worktrees of a repository, its own folder, and its records of them.

    The survey says what is wrong.
    """
    from excise_server.git.repository import open_folder

    try:
        repository = open_folder(place.folder, place.folders)
        records = worktree_records(repository.common)
        return [tree.path for tree in repository.worktrees()], repository.common, records
    except (SourceError, UnansweredError):
        return [], place.folder, ""


def worktree_records(common: str) -> str:
    """Return what tells that worktrees of a repository came, went or moved, without git."""
    records = []
    with suppress(OSError), os.scandir(os.path.join(common, "worktrees")) as entries:
        for entry in entries:
            with suppress(OSError):
                status = os.lstat(os.path.join(entry.path, "gitdir"))
                records.append(f"{entry.name}/{status.st_ino}/{status.st_mtime_ns}")
    return f"{common}:{'/'.join(sorted(records))}"


async def since(ls: ExciseServer, params: p.SinceParams) -> dict[str, Any]:
    """Say what changed between two versions of a candidate.

    Raises JsonRpcInvalidParams if the URI is not inside of a workspace folder. Raises RequestFailed
    if the workspace is not trusted, a version is unknown, or git cannot tell.
    """
    place = place_of(ls, params.uri)
    asked = msgspec.structs.asdict(params)
    arguments = arguments_of(folder=place.folder, folders=place.folders, **asked)
    return await _surveyed(ls, "since", place, arguments)


async def survey(
    ls: ExciseServer, kind: str, place: RepositoryFolder, **more: object
) -> dict[str, Any]:
    """Return a worker's survey of all candidates of a repository, those of the client included.

    Raises RequestFailed if it is refused. The message says why.
    """
    choices = ls.session.choices
    arguments = arguments_of(
        folder=place.folder,
        folders=place.folders,
        roots=place.folders,
        settings=ls.gatherer.choices.settings,
        aside=dict(choices.states),
        bases=dict(choices.bases),
        given=[_with_paths(candidate) for candidate in ls.session.given.values()],
        **more,
    )
    return await _surveyed(ls, kind, place, arguments)


async def _surveyed(
    ls: ExciseServer, kind: str, place: RepositoryFolder, arguments: bytes
) -> dict[str, Any]:
    shown = f"candidates of {printable(os.path.basename(place.folder))}"
    with ls.requests.running(shown) as cancel:
        try:
            return await asyncio.to_thread(ls.pool.second.survey, kind, arguments, cancel)
        except SourceError as error:
            raise RequestFailed(str(error)) from error


def unsaved(ls: ExciseServer) -> dict[str, str]:
    """Return the texts in the editor that the disk does not have, by path, with links followed."""
    documents = [ls.session.find(uri) for uri in ls.session.open_uris()]
    return {
        os.path.realpath(path): text
        for document in documents
        if document is not None and document.buffer is not None
        if normalise(text := document.buffer.text()) != _saved(ls, document)
        if (path := local_path(document.uri)) is not None
    }


def _saved(ls: ExciseServer, document: ReviewedDocument) -> str:
    """Return the text of a document's file, which others than the editor may have written.

    If it cannot be read, what was saved last.
    """
    try:
        return normalise(read_inside(document.uri, ls.folders()))
    except SourceError:
        return normalise(document.saved or "")


def _with_paths(candidate: Given) -> Given:
    """Return a candidate whose documents are files, where they are."""
    files = {
        key: file if file.path is not None else replace(file, path=local_path(file.uri))
        for key, file in candidate.files.items()
    }
    return replace(candidate, files=files)


def _intent(ls: ExciseServer, named: str | None) -> str:
    """Return the intent of a request, or that of the settings."""
    intent = ls.settings.intent if named is None else named
    try:
        check_intent(intent)
    except OptionError as error:
        raise JsonRpcInvalidParams(str(error)) from error
    return intent


# --- the sources of a document ---


def sources_of(
    ls: ExciseServer, document: ReviewedDocument, gathered: Gathered
) -> tuple[p.SourceOrigin | None, list[p.SourceReport]]:
    """Return what an open document is compared with, and what its sources have to say."""
    if document.buffer is None:
        return None, []
    reports = _reports(gathered, document)
    own_edits = document.own_edits(ls.session.own_edits)
    if own_edits is not None:
        revisions = [p.FoundRevision(own_edits.id, own_edits.label, [])]
        reports[OWN_EDITS] = p.SourceReport(OWN_EDITS, revisions, [], [])
    kind, label = "saved", "saved file"
    if document.elsewhere is not None:
        kind, label = document.elsewhere.kind, document.elsewhere.label
    return p.SourceOrigin(kind, label), list(reports.values())


def _reports(gathered: Gathered, document: ReviewedDocument) -> dict[str, p.SourceReport]:
    """Return a report for each source with an answer, in the order of the answers."""
    from excise_server.sources.registry import setting_of

    reports: dict[str, p.SourceReport] = {}

    def report(name: str) -> p.SourceReport:
        source = setting_of(name) or name.partition(":")[0]
        return reports.setdefault(source, p.SourceReport(source, [], [], []))

    answer = gathered.found
    for version in answer.versions:
        if version.id in document.found:
            label, notes = version.candidate.label, list(version.candidate.notes)
            report(version.id).found.append(p.FoundRevision(version.id, label, notes))
    for name in answer.unchanged:
        report(name).unchanged.append(name)
    for refused in (*answer.refused, *gathered.rejected):
        report(refused.id).refused.append(p.Refusal(refused.id, refused.reason, refused.hint))
    return reports


# --- what the user decides about candidates ---

_MOST_NOTED = 20
"""Most candidates of a decision that count as looked at: nobody looked at each of more."""


def note_decided(ls: ExciseServer, uri: str, ids: Sequence[str]) -> None:
    """Have candidates remembered as looked at, of which something was decided; nobody waits."""

    async def note() -> None:
        with suppress(RequestFailed, JsonRpcInvalidParams):  # in no repository, or not trusted
            place = place_of(ls, uri)
            arguments = arguments_of(
                folder=place.folder, folders=place.folders, ids=ids[:_MOST_NOTED]
            )
            await _surveyed(ls, "decided", place, arguments)

    if ids:
        ls.spawn(note())


async def set_candidates(ls: ExciseServer, params: p.SetCandidatesParams) -> p.SetCandidatesResult:
    """Leave candidates out of every review or show them again, or set what they started from.

    Raises RequestFailed if the commit does not exist, or the client added the candidate.
    """
    if any(not 0 < len(name) <= MAX_ID for name in params.ids):
        raise JsonRpcInvalidParams(f"an id must have 1 to {MAX_ID} characters")
    if len(params.ids) > MAX_DECISIONS:
        raise JsonRpcInvalidParams(f"{MAX_DECISIONS:,} ids at most")
    commit = None
    if params.base is not None:
        commit = await _base(ls, params, params.base)
    await ls.memory.ready()
    if params.base is not None:
        for name in params.ids:
            ls.session.set_base(name, commit)
        ls.gatherer.everything_changed()
    if params.state is not None:
        ls.session.put_aside(params.ids, params.state)
    await ls.memory.written()
    if params.state == "rejected":
        for folder in ls.folders():
            note_decided(ls, from_fs_path(folder) or "", params.ids)
    choices = ls.session.choices
    return p.SetCandidatesResult(choices.in_state("hidden"), choices.in_state("rejected"), commit)


async def _base(ls: ExciseServer, params: p.SetCandidatesParams, base: str) -> str | None:
    """Return the commit that candidates are said to have started from, or None to detect it."""
    if params.uri is None:
        raise JsonRpcInvalidParams("a base needs the uri of a folder or file in the repository")
    place = place_of(ls, params.uri)
    if any(name in ls.session.given for name in params.ids):
        raise RequestFailed("the client added it: add it again with another base")
    if not base:
        return None
    try:
        commit = await asyncio.to_thread(_commit, place, base)
    except (SourceError, UnansweredError) as error:
        raise RequestFailed(str(error)) from error
    if len(ls.session.choices.bases) + len(params.ids) > MAX_DECISIONS:
        raise RequestFailed(f"limit {MAX_DECISIONS:,} bases")
    return commit


def _commit(place: RepositoryFolder, name: str) -> str:
    from excise_server.git.history import commit_named
    from excise_server.git.repository import open_folder

    if not name or "\0" in name:
        raise SourceError("a base must name a commit")
    return commit_named(open_folder(place.folder, place.folders), name, "base")


async def start_again(ls: ExciseServer, params: p.StartAgainParams) -> p.StartAgainResult:
    """Replace the origin of the review by the current one, on which the sources then replay.

    With ``origin`` all documents are compared with another text from now on.

    Revisions of the client are replayed in a worker, so that nobody who types waits for them; other
    requests about the document do. What arrives meanwhile is replayed as well.
    """
    if params.origin is not None:
        ls.pick_origin(params.origin)
        await ls.gatherer.newest(params.uri)
    return p.StartAgainResult(await ls.restart(params.uri, partial(_start_again, ls, params.uri)))


async def _start_again(ls: ExciseServer, uri: str) -> bool:
    replayed: dict[tuple[str, str, str], str] = {}
    while (task := ls.session.to_replay(uri)) is not None:
        before, current, texts = task
        missing = [text for text in texts if (before, current, text) not in replayed]
        if not missing:
            by_text = {text: replayed[before, current, text] for text in texts}
            ls.session.start_again(uri, by_text)
            ls.gatherer.changed(uri)
            return True
        if (results := await ls.replayed(uri, before, current, missing)) is not None:
            for text, result in zip(missing, results, strict=True):
                replayed[before, current, text] = result
    return False
