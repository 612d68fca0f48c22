"""Edits that the client is sent: of one document, or of all files that are taken of candidates."""

from __future__ import annotations

import asyncio
import os
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types as t
from msgspec.structs import asdict, replace

from excise.text import normalise, raw_lines
from excise_server.editor.analysis import Analysis
from excise_server.editor.apply import LineEdit, line_end, to_check
from excise_server.foundation.changes import Side, differing_lines
from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import SourceError
from excise_server.lsp.candidates import RepositoryFolder, place_of, survey
from excise_server.lsp.disk import read_inside
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.to_proto import Mapper
from excise_server.review.composing import edited_beside
from excise_server.review.taking import CONFLICTS_HINT
from excise_server.wire import lsp as p

_ANNOTATION = "excise"

Change = t.TextDocumentEdit | t.CreateFile | t.RenameFile | t.DeleteFile


def check_takes_edits(ls: ExciseServer) -> None:
    """Refuse a request whose edit the client would not make."""
    if not ls.can("workspace.apply_edit"):
        raise RequestFailed("the client does not support workspace/applyEdit")


def text_edits(ls: ExciseServer, text: str, edits: Sequence[LineEdit]) -> list[t.TextEdit]:
    """Return edits of a text in the client's positions, with the line ends of the text."""
    mapper, end = Mapper(text, ls.encoding), line_end(text)
    return [t.TextEdit(mapper.exact(e.lo, e.hi), e.text.replace("\n", end)) for e in edits]


def workspace_edit(
    ls: ExciseServer, analysis: Analysis, edits: Sequence[LineEdit], label: str
) -> t.WorkspaceEdit:
    """Return one edit of the analysed version: one undo step.

    A client that knows versions refuses it when the document has moved on.
    """
    snapshot = analysis.snapshot
    plain = text_edits(ls, snapshot.buffer or "", edits)
    edited = _edited(snapshot.uri_or_path, snapshot.version, plain)
    can = _can_edit(ls)
    if can.document_changes and can.change_annotation_support:
        edited.edits = [t.AnnotatedTextEdit(_ANNOTATION, e.range, e.new_text) for e in plain]
        notes = {_ANNOTATION: t.ChangeAnnotation(label, needs_confirmation=False)}
        return t.WorkspaceEdit(document_changes=[edited], change_annotations=notes)
    return _in_form(can.document_changes, [edited])


def _can_edit(ls: ExciseServer) -> t.WorkspaceEditClientCapabilities:
    return ls.can("workspace.workspace_edit") or t.WorkspaceEditClientCapabilities()


def _in_form(of_documents: object, changes: Sequence[Change]) -> t.WorkspaceEdit:
    """Return the edit in the form that the client supports, with file operations if possible."""
    if of_documents:
        return t.WorkspaceEdit(document_changes=changes)
    edited = [change for change in changes if isinstance(change, t.TextDocumentEdit)]
    plain = {e.text_document.uri: [x for x in e.edits if isinstance(x, t.TextEdit)] for e in edited}
    return t.WorkspaceEdit(changes=plain)


ANYWAY = "Take it all the same"
_WITH_MARKERS = "Take it with conflict markers"
BROKEN_MIX = "brokenMix"
"""The kind in the data of the error, by which a client knows it."""


def refused(refusal: Mapping[str, Any]) -> RequestFailed:
    """Return the error of a mix that is refused, with what a client needs to offer it anyway."""
    data = {"kind": BROKEN_MIX, "findings": refusal["findings"]}
    return RequestFailed(refusal["message"], data=data)


async def refusals(
    ls: ExciseServer, analysis: Analysis, edits: Sequence[Sequence[LineEdit]]
) -> list[RequestFailed | str]:
    """Return why each of some edits of a document is refused, or what was checked of it, if any."""
    document = to_check(analysis, edits)
    answer = None if document is None else await ls.checked(document)
    if answer is None:
        return [""] * len(edits)
    each = zip(answer["refusals"], answer["said"], strict=True)
    return [said if refusal is None else refused(refusal) for refusal, said in each]


async def pick(ls: ExciseServer, message: str, titles: Sequence[str]) -> str | None:
    """Have the user choose a title; None if none was chosen, or the client cannot ask."""
    if not ls.can("window.show_message"):
        return None
    actions = [t.MessageActionItem(title) for title in titles]
    chosen = await ls.window_show_message_request_async(
        t.ShowMessageRequestParams(t.MessageType.Warning, message, actions)
    )
    return None if chosen is None or chosen.title not in titles else chosen.title


async def agreed(ls: ExciseServer, message: str, title: str = ANYWAY) -> bool:
    """Ask the user whether to take something all the same; False if the client cannot ask."""
    return await pick(ls, message, [title, "Cancel"]) == title


async def take(ls: ExciseServer, params: p.TakeParams) -> dict[str, Any]:
    """Put the chosen parts together, and return the edits of each file in the client's version.

    With ``apply`` the client is sent one edit that makes all of them instead.

    Raises JsonRpcInvalidParams if the URI is not inside of a workspace folder. Raises RequestFailed
    if the workspace is not trusted, a choice names nothing, two choices conflict, one is in
    conflict with the target, the mix cannot work, or the client cannot make the edit.
    """
    place = place_of(ls, params.uri)
    await ls.memory.ready()
    plan = {
        "digest": params.digest or "",
        "choices": [
            {name: value for name, value in asdict(choice).items() if value is not None}
            for choice in params.choices
        ],
        "anyway": params.anyway is True,
        "split": params.split is True,
    }
    try:
        document = await survey(ls, "taken", place, plan=plan, issue=params.issue)
    except RequestFailed as error:
        if not params.apply:
            raise
        return await _in_spite_of_conflicts(ls, params, error)
    if (refusal := document.pop("refusal")) is not None:
        raise refused(refusal)
    document = await _with_edits(ls, place, document)
    return await _apply(ls, params, document) if params.apply else document


async def land(ls: ExciseServer, params: p.LandParams) -> dict[str, Any]:
    """Put candidates of different tasks together, with the edits of each file, and say what fits.

    Raises JsonRpcInvalidParams if the URI is not inside of a workspace folder. Raises RequestFailed
    if the workspace is not trusted, a name denotes no candidate or task, or the union cannot work.
    """
    place = place_of(ls, params.uri)
    await ls.memory.ready()
    document = await survey(ls, "land", place, **asdict(params))
    return await _with_edits(ls, place, document)


async def _with_edits(
    ls: ExciseServer, place: RepositoryFolder, document: dict[str, Any]
) -> dict[str, Any]:
    """Add to the files of a take their URIs, and the edits of the client's texts."""
    top = Path(document["repository"])
    shown: dict[str, tuple[str, int | None]] = {}
    for entry in document["contents"]:
        known = ls.session.find((top / entry["old_path"]).as_uri())
        if known is not None and known.buffer is not None:
            shown[entry["old_path"]] = known.buffer.text(), known.version

    def with_edits() -> list[dict[str, Any]]:
        contents = document["contents"]
        return [_with_edit(ls, place, top, e, shown.get(e["old_path"])) for e in contents]

    document["contents"] = await asyncio.to_thread(with_edits)
    return document


def _with_edit(
    ls: ExciseServer,
    place: RepositoryFolder,
    top: Path,
    entry: dict[str, Any],
    shown: tuple[str, int | None] | None,
) -> dict[str, Any]:
    """Return a file with its URIs, and the edits of the client's text and version, if any."""
    old_uri, uri = (top / entry["old_path"]).as_uri(), (top / entry["path"]).as_uri()
    own = {"uri": uri, "old_uri": old_uri, "version": None, "edits": None, "problem": ""}
    result: dict[str, Any] = entry | own
    is_fresh = entry["old"] is None or (entry["new"] is not None and old_uri != uri)
    if is_fresh and os.path.lexists(top / entry["path"]):
        result["problem"] = "a file of this name already exists"
    if entry["old"] is None or result["problem"]:
        return result
    try:
        text = read_inside(old_uri, place.folders) if shown is None else shown[0]
        edits = _edits(entry, text)
    except SourceError as error:
        return {**result, "problem": error.reason}
    if edits is not None:
        result["edits"] = [ls.protocol.unstructured(e) for e in text_edits(ls, text, edits)]
    return {**result, "version": None if shown is None else shown[1]}


def _edits(entry: Mapping[str, Any], text: str) -> list[LineEdit] | None:
    """Return the edits of the client's text, or None if the file is replaced or deleted.

    Raises SourceError if it has other edits on the same lines, or any edits if the file is to be
    deleted.
    """
    now, old = normalise(text), Side(entry["old_mode"], b64decode(entry["old"]))
    if entry["new"] is None or not entry["is_text"]:
        if old.text is not None and now != old.text:
            raise SourceError("it has other edits, which would be lost")
        return None
    new = Side(old.mode, b64decode(entry["new"]))
    shown = Side(old.mode, now.encode("utf-8", "surrogatepass"))
    after = raw_lines(edited_beside(old, new, shown).text or "")
    before = raw_lines(now)
    return [
        LineEdit(o_lo, o_hi, "".join(after[a_lo:a_hi]))
        for o_lo, o_hi, a_lo, a_hi in differing_lines(before, after)
    ]


_OPERATIONS = {
    "created": t.ResourceOperationKind.Create,
    "renamed": t.ResourceOperationKind.Rename,
    "deleted": t.ResourceOperationKind.Delete,
}


# A column past the end is the end. Neovim's buffer of an empty file has a line, whose end it then
# takes for the one that is replaced: with an empty range it would write an empty line after ours.
_EMPTY = t.Range(t.Position(0, 0), t.Position(0, 1))


async def _apply(
    ls: ExciseServer, params: p.TakeParams, document: dict[str, Any]
) -> dict[str, Any]:
    """Have the client make all changes of a take as one edit, or none, and tell of them."""
    contents = document["contents"]
    if not contents:
        raise RequestFailed("nothing to take: the target already has all of it")
    _check(ls, contents)
    files = f"{len(contents)} file{'s' if len(contents) > 1 else ''}"
    names = ", ".join(dict.fromkeys(printable(choice.candidate) for choice in params.choices))
    can = _can_edit(ls)
    changes = [change for entry in contents for change in _changes(entry)]
    edit = _in_form(can.document_changes or can.resource_operations, changes)
    asked = t.ApplyWorkspaceEditParams(edit, f"Take {names} ({files})")
    answer = await ls.workspace_apply_edit_async(asked)
    if not answer.applied:
        raise RequestFailed(
            f"the client refused the edit: {answer.failure_reason or 'no reason given'}"
        )
    notes = [*document["notes"]]
    notes += [
        f"{entry['path']} is to get mode {entry['mode']}, which an editor cannot set"
        for entry in contents
        if entry["mode"] and entry["mode"] != (entry["old_mode"] or "100644")
    ]
    message = "; ".join([f"{files} edited: save them", *notes])
    ls.window_show_message(t.ShowMessageParams(t.MessageType.Info, message))
    return document | {"contents": []}


async def _in_spite_of_conflicts(
    ls: ExciseServer, params: p.TakeParams, error: RequestFailed
) -> dict[str, Any]:
    """Ask whether to take it with git's conflict markers, or raise the error."""
    message = f"{error.message.partition(CONFLICTS_HINT)[0].rstrip('; ')}."
    if CONFLICTS_HINT not in error.message or not await agreed(ls, message, _WITH_MARKERS):
        raise error
    choices = [replace(choice, conflicts=True) for choice in params.choices]
    return await take(ls, replace(params, choices=choices))


def _check(ls: ExciseServer, contents: list[dict[str, Any]]) -> None:
    """Refuse changes that the client does not support, before it makes any of them."""
    check_takes_edits(ls)
    operations = _can_edit(ls).resource_operations or []
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
