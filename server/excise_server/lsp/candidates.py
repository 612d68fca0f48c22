"""excise/candidates: every candidate of a repository, as in the command, and the client's.

Candidates that the user hid or rejected are named, but count in no score, group or order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from excise_server.foundation.inputs import SourceError
from excise_server.lsp.disk import local_path
from excise_server.lsp.protocol import CandidatesParams
from excise_server.lsp.repository import Place, intent_of, place_of
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.review.given import Given
from excise_server.workers.surveys import arguments_of

__all__ = ["candidates", "survey_arguments"]


async def candidates(ls: ExciseServer, params: CandidatesParams) -> dict[str, Any]:
    """Compare the candidates of the repository of a folder or file.

    Raises
    ------
    JsonRpcInvalidParams
        If it is not inside of a workspace folder, or the intent is unknown.
    RequestFailed
        If the workspace is not trusted, there is no repository, or git cannot tell.
    """
    place = place_of(ls, params.uri)
    await ls.memory.ready()
    batch, intent = params.batch or "", intent_of(ls, params.intent)
    arguments = survey_arguments(ls, place, branches=params.branches, batch=batch, intent=intent)
    with ls.requests.running(f"candidates of {place.name}") as cancel:
        try:
            return await asyncio.to_thread(ls.pool.survey, "candidates", arguments, cancel)
        except SourceError as error:
            raise RequestFailed(str(error)) from error


def survey_arguments(
    ls: ExciseServer, place: Place, branches: Sequence[str] | None = None, **more: object
) -> bytes:
    """Return the arguments for a worker's survey of the candidates of a repository."""
    choices = ls.session.choices
    return arguments_of(
        folder=place.folder,
        folders=place.folders,
        settings=ls.gatherer.choices.settings,
        branches=branches,
        aside=dict(choices.states),
        bases=dict(choices.bases),
        given=[_with_paths(candidate) for candidate in ls.session.given.values()],
        **more,
    )


def _with_paths(candidate: Given) -> Given:
    """Return a candidate whose documents are files, where they are."""
    files = {
        key: file if file.path is not None else replace(file, path=local_path(file.uri))
        for key, file in candidate.files.items()
    }
    return replace(candidate, files=files)
