"""Commands and pages for clients that know only the standard protocol.

What a command returns nobody reads there: it shows a page (`pages`) or a message, has the client
make an edit, or fails with an error and its reason, which every client shows.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote

from lsprotocol import types as t
from pygls.exceptions import JsonRpcInvalidParams

from excise.text import normalise
from excise_server.editor.analysis import Analysis
from excise_server.editor.document import OWN_EDITS, document_key
from excise_server.editor.findings import hunk_heading, names_of, review_page
from excise_server.foundation.escape import printable
from excise_server.foundation.files import inside
from excise_server.lsp.candidates import candidates
from excise_server.lsp.disk import local_path
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.wire import lsp as p
from excise_server.wire.sources import OriginChoice

logger = logging.getLogger(__name__)

SHOW_COMMAND = p.SHOW.replace("/", ".")
TAKE_COMMAND = p.TAKE.replace("/", ".")
START_COMMAND = p.START_AGAIN.replace("/", ".")


async def show_page(ls: ExciseServer, params: p.ShowParams) -> None:
    """Write a page and show it."""
    match params.page:
        case "candidates":
            await _show_candidates(ls, params.uri)
        case "candidate":
            await _show_candidate(ls, params.uri, params.id)
        case _:
            await _show_review(ls, params.uri, params.hunk)


async def _show_candidates(ls: ExciseServer, uri: str) -> None:
    """Show all candidates of the repository that a file or folder is in."""
    from excise_server.report.overview import candidates_markdown

    document = await candidates(ls, p.CandidatesParams(uri))
    await ls.pages.show("candidates", "candidates.md", candidates_markdown(document))


async def _show_review(ls: ExciseServer, uri: str, hunk: int | None) -> None:
    """Show every hunk of a document with its variants, starting at one of them."""
    analysis = await _analysed(ls, uri)
    page = review_page(analysis, _name(uri))
    line = 0
    if hunk is not None and 0 <= hunk < len(analysis.hunks):
        lines = page.split("\n")
        heading = hunk_heading(hunk)
        line = next(number for number, text in enumerate(lines) if text.startswith(heading))
    await ls.pages.show(f"review {uri}", f"review-of-{_name(uri)}.md", page, line)


async def _show_candidate(ls: ExciseServer, uri: str, identity: str | None) -> None:
    """Show a candidate's version of a document, in its own file if it has one, or the origin."""
    analysis = await _analysed(ls, uri)
    snapshot = analysis.snapshot
    if identity is None:
        await ls.pages.show(f"origin {uri}", f"origin-{_name(uri)}", normalise(snapshot.origin))
        return
    if identity not in snapshot.ids:
        raise JsonRpcInvalidParams("unknown candidate")
    file = ls.gatherer.files(document_key(uri)).get(identity)
    if file is not None and await asyncio.to_thread(os.path.isfile, file.path):
        await ls.pages.open(file.path)
        return
    index = snapshot.ids.index(identity)
    name = f"{names_of(snapshot.revisions)[index]}-{_name(uri)}"
    await ls.pages.show(f"{identity} {uri}", name, normalise(snapshot.revisions[index].text))


ORIGINS: dict[OriginChoice, str] = {"saved": "the saved file", "head": "HEAD", "index": "the index"}


async def _analysed(ls: ExciseServer, uri: str) -> Analysis:
    await ls.gatherer.newest(uri)
    analysis = await ls.newest(uri)
    if analysis is None or not analysis.snapshot.revisions:
        raise RequestFailed(f"no candidate changes {_name(uri)}")
    return analysis


def _name(uri: str) -> str:
    """Return what people call a document."""
    return printable(os.path.basename(unquote(uri.partition("?")[0]))) or "document"


_SHOW, _TAKE, _START = "source.excise.show", "source.excise.take", "source.excise.start"
SOURCE_KINDS = [_SHOW, _TAKE, _START]


def standard_actions(
    ls: ExciseServer, analysis: Analysis, uri: str
) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Yield title, kind, command and argument of each action on a document's review."""
    yield "Show the hunks of this file side by side", _SHOW, SHOW_COMMAND, {"uri": uri}
    path = local_path(uri)
    if path is None or not inside(path, ls.folders()):
        return
    if ls.gatherer.choices.trusted:
        title = "Compare the candidates of this repository"
        yield title, _SHOW, SHOW_COMMAND, {"uri": uri, "page": "candidates"}
    snapshot = analysis.snapshot
    for identity, name in zip(snapshot.ids, names_of(snapshot.revisions), strict=True):
        argument = {"uri": uri, "page": "candidate", "id": identity}
        yield f"Show this file as {name} has it", _SHOW, SHOW_COMMAND, argument
        if ls.gatherer.choices.trusted and identity != OWN_EDITS:
            choices = {"uri": uri, "choices": [{"candidate": identity}], "apply": True}
            yield f"Take all files from {name}", _TAKE, TAKE_COMMAND, choices
    document = ls.session.find(uri)
    if document is not None and document.pinned is not None:
        title = "Start the review of this file again"
        yield title, _START, START_COMMAND, {"uri": uri}
    for origin, origin_words in ORIGINS.items():
        if origin != ls.gatherer.choices.settings.origin:
            argument = {"uri": uri, "origin": origin}
            yield f"Compare candidates with {origin_words}", _START, START_COMMAND, argument


Handler = Callable[[ExciseServer, Any], Any]


def executor(handlers: dict[str, Handler]) -> Handler:
    """Return the handler that runs a command as the request of the same name."""

    async def execute_command(ls: ExciseServer, params: t.ExecuteCommandParams) -> object:
        method, arguments = p.COMMANDS.get(params.command), params.arguments or []
        if method is None:
            logger.warning("%s is no command of this server", printable(params.command[:100]))
            raise JsonRpcInvalidParams("unknown command: the server's capabilities list them all")
        if len(arguments) != 1:
            raise JsonRpcInvalidParams(f"{params.command} takes one argument: the params")
        asked = ls.protocol.params_of(method, arguments[0])
        result = handlers[method](ls, asked)
        result = await result if inspect.isawaitable(result) else result
        if isinstance(asked, p.StartAgainParams):
            _say_started(ls, asked, result)
        return result if isinstance(asked, p.AddRevisionsParams | p.ApplyParams) else None

    return execute_command


def _say_started(ls: ExciseServer, params: p.StartAgainParams, result: p.StartAgainResult) -> None:
    """Tell whoever ran the command what has changed: the result of a command is not shown."""
    if params.origin is not None:
        text = f"Candidates are compared with {ORIGINS[params.origin]} now."
    elif result.started:
        text = f"The review of {_name(params.uri)} was restarted."
    else:
        raise RequestFailed(f"{_name(params.uri)} is not being reviewed")
    ls.window_show_message(t.ShowMessageParams(t.MessageType.Info, text))
