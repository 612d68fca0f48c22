"""excise/addCandidates, excise/removeCandidates: whole change sets, over several files.

A candidate's paths and commits are checked in a thread, where files may be examined and git
started. Each candidate then enters the session completely or not at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pygls.exceptions import JsonRpcInvalidParams

from excise_server.foundation.inputs import SourceError, UnansweredError
from excise_server.foundation.paths import inside
from excise_server.lsp.disk import local_path
from excise_server.lsp.protocol import (
    AddCandidatesParams,
    AddCandidatesResult,
    CandidateText,
    Rejection,
    RemoveCandidatesParams,
    RemoveCandidatesResult,
)
from excise_server.lsp.server import ExciseServer
from excise_server.review.given import Given

__all__ = ["add_candidates", "remove_candidates"]

MAX_CANDIDATES = 300
"""Most candidates that a client may add."""


async def add_candidates(ls: ExciseServer, params: AddCandidatesParams) -> AddCandidatesResult:
    """Take the candidates that can be compared, and return the others with the reasons.

    Raises
    ------
    JsonRpcInvalidParams
        If the folder is not one of the workspace.
    """
    folder, folders = _folder(ls, params.folder), ls.folders()
    trusted = ls.gatherer.choices.trusted
    checked = await asyncio.to_thread(_checked, params.candidates, folder, folders, trusted)
    accepted: list[str] = []
    rejected: list[Rejection] = []
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
            rejected.append(Rejection(candidate.id, reason))
        else:
            accepted.append(candidate.id)
    return AddCandidatesResult(accepted, rejected)


def remove_candidates(ls: ExciseServer, params: RemoveCandidatesParams) -> RemoveCandidatesResult:
    """Forget candidates of the client, in every document, and return those that were unknown."""
    return RemoveCandidatesResult(*ls.session.take_back(params.ids))


def _folder(ls: ExciseServer, uri: str | None) -> str:
    folders = ls.folders()
    if not folders:
        raise JsonRpcInvalidParams("there is no workspace folder on this machine")
    if uri is None:
        return folders[0]
    path = local_path(uri)
    if path is None or not inside(path, folders):
        raise JsonRpcInvalidParams("not a folder of the workspace")
    return path


def _checked(
    candidates: Sequence[CandidateText], folder: str, folders: Sequence[str], trusted: bool
) -> list[Given | str]:
    """Return each candidate, checked, or why it is refused. Runs in a thread."""
    from excise_server.sources.proposed import Proposal, ProposedFile, checked

    outcomes: list[Given | str] = []
    for candidate in candidates:
        proposal = Proposal(
            candidate.id,
            candidate.label or "",
            candidate.base,
            [ProposedFile(c.path, c.text, c.status, c.old_path, c.base) for c in candidate.changes],
        )
        try:
            outcomes.append(checked(proposal, folder, folders, trusted=trusted))
        except (SourceError, UnansweredError) as error:
            outcomes.append(str(error))
    return outcomes
