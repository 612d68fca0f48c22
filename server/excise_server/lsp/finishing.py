"""The end of a review: a check, the commit of what was taken, and worktrees that go.

What there is to commit and to remove is found in a worker. The rest is done in a thread: it parses
nothing, and must not be done twice where a worker dies.
"""

from __future__ import annotations

import asyncio

import msgspec

from excise_server.foundation.inputs import SourceError, UnansweredError
from excise_server.lsp.candidates import RepositoryFolder, place_of, survey, unsaved
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.processes.lifetime import StopFlag
from excise_server.wire import lsp as p
from excise_server.wire.documents import FinishDocument, RejectedEntry


async def finish(ls: ExciseServer, params: p.FinishParams) -> p.FinishResult:
    """Say how the review of a repository can end, or end it.

    Nothing is committed if the check does not pass, and no worktree is removed then.

    Raises JsonRpcInvalidParams if the URI is not inside of a workspace folder. Raises RequestFailed
    if the workspace is not trusted, the plan is another one by now, or nothing can be committed.
    """
    place = place_of(ls, params.uri)
    await ls.memory.ready()
    document = await survey(ls, "finish", place, unsaved=unsaved(ls))
    plan = msgspec.convert(document, FinishDocument)
    result = p.FinishResult(plan, None, None, [], [])
    if params.digest is not None and params.digest != plan.digest:
        raise RequestFailed("the files have changed meanwhile; look at them, and finish again")
    if not params.write and not params.remove:
        return result
    try:
        if params.run is not None and params.run.strip():
            with ls.requests.running(f"check: {params.run}") as cancel:
                await asyncio.to_thread(_check, place, result, params.run, cancel)
            if result.check is not None and result.check.reason:
                return result
        await asyncio.to_thread(_end, place, result, params)
    except (SourceError, UnansweredError) as error:
        raise RequestFailed(str(error)) from error
    finally:
        ls.gatherer.everything_changed()
    return result


def _check(place: RepositoryFolder, result: p.FinishResult, command: str, cancel: StopFlag) -> None:
    """Run the command on the commit with the files of the plan, in a scratch copy."""
    from excise_server.candidates.finishing import edits_of, files_to_commit
    from excise_server.candidates.scratch import scratch_copy
    from excise_server.git.repository import open_folder
    from excise_server.processes.runs import check

    repository = open_folder(place.folder, place.folders)
    on, files = files_to_commit(repository, result.plan)
    edits = edits_of(repository, on, files)
    with scratch_copy(repository, on.commit, edits) as (folder, left_out):
        reason, output = check(folder, command, cancel)
    left = [f"not in the scratch copy: {path!a}" for path in left_out]
    result.check = p.FinishCheck(command, reason, [*left, *output])


def _end(place: RepositoryFolder, result: p.FinishResult, params: p.FinishParams) -> None:
    from excise_server.candidates.finishing import commit_plan, remove_worktree
    from excise_server.git.repository import open_folder

    repository = open_folder(place.folder, place.folders)
    if params.write:
        result.commit = commit_plan(repository, result.plan, params.subject or "")
    by_id = {entry.id: entry for entry in result.plan.worktrees}
    for name in dict.fromkeys(params.remove or ()):
        try:
            if name not in by_id:
                raise SourceError("no other worktree has this id")
            agreed = by_id[name].state in (params.agreed or ())
            remove_worktree(repository, by_id[name], agreed=agreed)
            result.removed.append(name)
        except SourceError as error:
            result.kept.append(RejectedEntry(id=name, reason=str(error)))
