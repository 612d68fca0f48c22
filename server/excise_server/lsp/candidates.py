"""excise/candidates: every candidate of a repository, as the command has them, and the client's.

Those that the user hid or rejected are named, and count in no score, group or order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from excise import CancelFlag
from excise_server.lsp.disk import local_path
from excise_server.lsp.protocol import CandidatesParams
from excise_server.lsp.repository import Place, place_of
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.review.given import Given
from excise_server.sources import SourceError
from excise_server.sources.finding import SourceSettings

__all__ = ["candidates"]


async def candidates(ls: ExciseServer, params: CandidatesParams) -> dict[str, Any]:
    """Compare the candidates of the repository that holds a folder or file.

    Raises
    ------
    JsonRpcInvalidParams
        If it is not inside of a workspace folder.
    RequestFailed
        If the workspace is not trusted, there is no repository, or git cannot tell.
    """
    place = place_of(ls, params.uri)
    branches = None if params.branches is None else tuple(params.branches)
    settings = ls.gatherer.choices.settings
    await ls.memory.ready()
    choices = ls.session.choices
    aside, bases = dict(choices.states), dict(choices.bases)
    given = [_with_paths(candidate) for candidate in ls.session.given.values()]
    asked = _Asked(place, settings, branches, params.batch or "", aside, bases, given)
    with ls.requests.running(f"candidates of {place.name}") as cancel:
        try:
            return await asyncio.to_thread(_compared, asked, cancel)
        except SourceError as error:
            raise RequestFailed(str(error)) from error


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is compared, as it was when it was asked for."""

    place: Place
    settings: SourceSettings
    branches: tuple[str, ...] | None
    batch: str
    aside: Mapping[str, str]
    bases: Mapping[str, str]
    given: Sequence[Given]


def _with_paths(candidate: Given) -> Given:
    """Return a candidate whose documents are files, where they are."""
    files = {
        key: file if file.path is not None else replace(file, path=local_path(file.uri))
        for key, file in candidate.files.items()
    }
    return replace(candidate, files=files)


def _compared(asked: _Asked, cancel: CancelFlag) -> dict[str, Any]:
    from excise_server.git.repository import open_folder
    from excise_server.report.documents import plain
    from excise_server.report.worktrees import candidates_document
    from excise_server.sources.candidates import find_candidates
    from excise_server.sources.versions import choice_of
    from excise_server.worktrees import compare_candidates, without

    repository = open_folder(asked.place.folder, asked.place.folders)
    choice = choice_of(asked.settings, tuple(asked.bases.items()))
    if asked.branches is not None:
        choice = replace(choice, worktrees=True, branches=asked.branches, must_match=True)
    everyone = find_candidates(repository, choice, given=asked.given)
    kept, left_out = without(everyone, asked.aside)
    compared = compare_candidates(repository.top, kept, batch=asked.batch, cancel=cancel)
    ids = {candidate.id for candidate in asked.given}
    return dict(
        plain(candidates_document(compared, left_out, asked.aside, bases=asked.bases, given=ids))
    )
