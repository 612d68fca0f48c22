"""excise.standard.takeCandidate: all files of a candidate, as one edit of the workspace."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any

from lsprotocol import types as t
from pygls.exceptions import JsonRpcInvalidParams

from excise_server.foundation.escape import printable
from excise_server.lsp.checking import agreed
from excise_server.lsp.protocol import TakeChoice, TakeParams
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.take import take
from excise_server.review.taking import CONFLICTS_HINT

__all__ = ["take_candidate"]

Change = t.TextDocumentEdit | t.CreateFile | t.RenameFile | t.DeleteFile
_OPERATIONS = {
    "created": t.ResourceOperationKind.Create,
    "renamed": t.ResourceOperationKind.Rename,
    "deleted": t.ResourceOperationKind.Delete,
}


# A column past the end is the end. Neovim's buffer of an empty file has a line, whose end it then
# takes for the one that is replaced: with an empty range it would write an empty line after ours.
_EMPTY = t.Range(t.Position(0, 0), t.Position(0, 1))


async def take_candidate(ls: ExciseServer, argument: Mapping[str, Any]) -> None:
    """Have the client make all changes of a candidate, and show the result.

    Raises
    ------
    RequestFailed
        If any part cannot be taken. Nothing is changed then.
    """
    uri, identity = argument.get("uri"), argument.get("id")
    if not isinstance(uri, str) or not isinstance(identity, str):
        raise JsonRpcInvalidParams("the argument is an object with a `uri` and an `id`")
    document = await _taken(ls, uri, identity)
    contents = document["contents"]
    if not contents:
        raise RequestFailed("nothing to take: the target already has all of it")
    _check(ls, contents)
    files = f"{len(contents)} file{'s' if len(contents) > 1 else ''}"
    label = f"Take {printable(identity)} ({files})"
    edit = _workspace_edit(ls, [change for entry in contents for change in _changes(entry)])
    answer = await ls.workspace_apply_edit_async(t.ApplyWorkspaceEditParams(edit, label))
    if not answer.applied:
        raise RequestFailed(
            f"the client refused the edit: {answer.failure_reason or 'no reason given'}"
        )
    notes = [*document["notes"], *(_mode_note(entry) for entry in contents if _has_mode(entry))]
    message = "; ".join([f"{files} edited: save them", *notes])
    ls.window_show_message(t.ShowMessageParams(t.MessageType.Info, message))


async def _taken(ls: ExciseServer, uri: str, identity: str) -> dict[str, Any]:
    """Put a candidate together, after asking whether to take it in spite of conflicts."""
    try:
        return await take(ls, TakeParams(uri, [TakeChoice(identity)]))
    except RequestFailed as error:
        message = f"{error.message.partition(CONFLICTS_HINT)[0].rstrip('; ')}."
        if CONFLICTS_HINT not in error.message or not await agreed(ls, message):
            raise
    return await take(ls, TakeParams(uri, [TakeChoice(identity, conflicts=True)]))


def _check(ls: ExciseServer, contents: list[dict[str, Any]]) -> None:
    """Refuse changes that the client does not support, before it makes any of them."""
    workspace = ls.client_capabilities.workspace
    can = workspace.workspace_edit if workspace else None
    if not (workspace and workspace.apply_edit):
        raise RequestFailed("the client takes no edits (workspace/applyEdit)")
    operations = (can and can.resource_operations) or []
    for entry in contents:
        needed = _OPERATIONS.get(entry["status"])
        if entry["problem"]:
            raise RequestFailed(f"{entry['path']}: {entry['problem']}")
        if not entry["is_text"]:
            raise RequestFailed(f"{entry['path']} is not text: use excise take --write")
        if needed is not None and needed not in operations:
            raise RequestFailed(
                f"{entry['path']} is {entry['status']}, which the client cannot do: "
                "use excise take --write"
            )


def _workspace_edit(ls: ExciseServer, changes: list[Change]) -> t.WorkspaceEdit:
    """Return the edit in the form that the client supports, with file operations if possible."""
    workspace = ls.client_capabilities.workspace
    can = workspace.workspace_edit if workspace else None
    if can and (can.document_changes or can.resource_operations):
        return t.WorkspaceEdit(document_changes=changes)
    edited = [change for change in changes if isinstance(change, t.TextDocumentEdit)]
    plain = {e.text_document.uri: [x for x in e.edits if isinstance(x, t.TextEdit)] for e in edited}
    return t.WorkspaceEdit(changes=plain)


def _changes(entry: Mapping[str, Any]) -> Iterator[Change]:
    match entry["status"]:
        case "created":
            yield t.CreateFile(uri=entry["uri"])
            text = b64decode(entry["new"]).decode()
            yield _edited(entry["uri"], None, [t.TextEdit(_EMPTY, text)])
        case "deleted":
            yield t.DeleteFile(uri=entry["old_uri"])
        case status:
            if status == "renamed":
                yield t.RenameFile(old_uri=entry["old_uri"], new_uri=entry["uri"])
            if edits := [_text_edit(edit) for edit in entry["edits"]]:
                version = entry["version"] if status != "renamed" else None
                yield _edited(entry["uri"], version, edits)


def _edited(uri: str, version: int | None, edits: list[t.TextEdit]) -> t.TextDocumentEdit:
    return t.TextDocumentEdit(t.OptionalVersionedTextDocumentIdentifier(uri, version), [*edits])


def _text_edit(edit: Mapping[str, Any]) -> t.TextEdit:
    start, end = (t.Position(**edit["range"][side]) for side in ("start", "end"))
    return t.TextEdit(t.Range(start, end), edit["newText"])


def _has_mode(entry: Mapping[str, Any]) -> bool:
    plain = "100644"
    return bool(entry["mode"]) and entry["mode"] != (entry["old_mode"] or plain)


def _mode_note(entry: Mapping[str, Any]) -> str:
    return f"{entry['path']} is to get mode {entry['mode']}, which an editor cannot set"
