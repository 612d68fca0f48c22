"""excise/take: the chosen parts of candidates, as edits for the client to apply."""

from __future__ import annotations

import asyncio
import os
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lsprotocol import types as t

from excise.text import normalise, raw_lines
from excise_server.editor.apply import LineEdit, line_end
from excise_server.foundation.changes import Side, differing_lines
from excise_server.foundation.inputs import SourceError
from excise_server.lsp.candidates import survey_arguments
from excise_server.lsp.checking import refused
from excise_server.lsp.disk import read_inside
from excise_server.lsp.protocol import TakeChoice, TakeParams
from excise_server.lsp.repository import Place, place_of
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.to_proto import Mapper
from excise_server.review.own_edits import edited_beside

__all__ = ["take"]


async def take(ls: ExciseServer, params: TakeParams) -> dict[str, Any]:
    """Put the chosen parts together, and return the edits of each file in the client's version.

    Raises
    ------
    JsonRpcInvalidParams
        If the URI is not inside of a workspace folder.
    RequestFailed
        If the workspace is not trusted, a choice names nothing, two choices overlap, one is in
        conflict with the target, or the mix cannot work.
    """
    place = place_of(ls, params.uri)
    await ls.memory.ready()
    plan = {
        "digest": params.digest or "",
        "choices": [_planned(c) for c in params.choices],
        "anyway": params.anyway is True,
    }
    arguments = survey_arguments(ls, place, plan=plan)
    with ls.requests.running(f"candidates of {place.name}") as cancel:
        try:
            document = await asyncio.to_thread(ls.crew.survey, "taken", arguments, cancel)
        except SourceError as error:
            raise RequestFailed(str(error)) from error
    if (refusal := document.pop("refusal")) is not None:
        raise refused(refusal)
    top = Path(document["repository"])
    texts = {
        entry["old_path"]: _shown(ls, top / entry["old_path"]) for entry in document["contents"]
    }

    def with_edits() -> list[dict[str, Any]]:
        contents = document["contents"]
        return [_with_edit(ls, place, top, entry, texts[entry["old_path"]]) for entry in contents]

    document["contents"] = await asyncio.to_thread(with_edits)
    return document


def _planned(choice: TakeChoice) -> dict[str, Any]:
    return {
        "candidate": choice.candidate,
        "path": choice.path or "",
        "hunk": choice.hunk or "",
        "conflicts": choice.conflicts is True,
    }


def _shown(ls: ExciseServer, path: Path) -> tuple[str, int | None] | None:
    """Return the text and the version of a document that the client has open."""
    document = ls.session.find(path.as_uri())
    if document is None or document.buffer is None:
        return None
    return document.buffer.text(), document.version


def _with_edit(
    ls: ExciseServer,
    place: Place,
    top: Path,
    entry: dict[str, Any],
    shown: tuple[str, int | None] | None,
) -> dict[str, Any]:
    """Return a file with its URIs, and with the edits if its text changes."""
    old_uri, uri = (top / entry["old_path"]).as_uri(), (top / entry["path"]).as_uri()
    result = {
        **entry,
        "uri": uri,
        "old_uri": old_uri,
        "version": None,
        "edits": None,
        "problem": "",
    }
    if entry["old"] is None or (entry["new"] is not None and old_uri != uri):
        result["problem"] = _in_the_way(top / entry["path"])
    if entry["old"] is None or result["problem"]:
        return result
    try:
        text = read_inside(old_uri, place.folders) if shown is None else shown[0]
        edits = _edits(entry, text)
    except SourceError as error:
        return {**result, "problem": error.reason}
    if edits is not None:
        mapper, end = Mapper(text, ls.encoding), line_end(text)
        result["edits"] = [
            ls.protocol.unstructured(
                t.TextEdit(mapper.exact(e.lo, e.hi), e.text.replace("\n", end))
            )
            for e in edits
        ]
    return {**result, "version": None if shown is None else shown[1]}


def _in_the_way(path: Path) -> str:
    return "a file of this name already exists" if os.path.lexists(path) else ""


def _edits(entry: Mapping[str, Any], text: str) -> list[LineEdit] | None:
    """Return the edits of the client's text, or None if the file is replaced or deleted.

    Raises
    ------
    SourceError
        If it has other edits on the same lines, or any edits if the file is to be deleted.
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
