"""Commands for clients that know only the standard protocol.

None of them returns JSON, which nobody would read. Each shows a page (`pages`), does something, or
fails with an error and its reason, which every client shows.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Callable, Coroutine, Iterator, Mapping
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
from excise_server.lsp.candidates import candidates, start_again
from excise_server.lsp.disk import local_path
from excise_server.lsp.edits import take_candidate
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.wire import lsp as p
from excise_server.wire.lsp import CandidatesParams, DocumentParams
from excise_server.wire.sources import CHOICES

OPEN_CANDIDATES = "excise.standard.openCandidates"
OPEN_REVIEW = "excise.standard.openReview"
OPEN_CANDIDATE = "excise.standard.openCandidate"
PICK_ORIGIN = "excise.standard.pickOrigin"
RESTART_REVIEW = "excise.standard.restartReview"
TAKE_CANDIDATE = "excise.standard.takeCandidate"

Argument = dict[str, Any]
Command = Callable[[ExciseServer, Argument], Coroutine[Any, Any, t.Command | None]]
"""A command, which may return another one to run."""


async def open_candidates(ls: ExciseServer, argument: Argument) -> None:
    """Show all candidates of the repository that a file or folder is in."""
    from excise_server.report.markdown_pages import candidates_markdown

    uri = _uri(argument)
    document = await candidates(ls, CandidatesParams(uri))
    await ls.pages.show("candidates", "candidates.md", candidates_markdown(document))


async def open_review(ls: ExciseServer, argument: Argument) -> None:
    """Show every hunk of a document with its variants, starting at one of them."""
    uri, hunk = _uri(argument), argument.get("hunk")
    analysis = await _analysed(ls, uri)
    page = review_page(analysis, _name(uri))
    line = 0
    if type(hunk) is int and 0 <= hunk < len(analysis.hunks):
        lines = page.split("\n")
        heading = hunk_heading(hunk)
        line = next(number for number, text in enumerate(lines) if text.startswith(heading))
    await ls.pages.show(f"review {uri}", f"review-of-{_name(uri)}.md", page, line)


async def open_candidate(ls: ExciseServer, argument: Argument) -> None:
    """Show a candidate's version of a document, in its own file if it has one, or the origin."""
    uri, identity = _uri(argument), argument.get("id")
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


async def pick_origin(ls: ExciseServer, argument: Argument) -> None:
    """Compare all candidates with another text: the saved file, HEAD or the index."""
    origin = argument.get("origin")
    if origin not in CHOICES:
        raise JsonRpcInvalidParams(f"origin must be one of {', '.join(CHOICES)}")
    ls.pick_origin(origin)
    _say(ls, f"Candidates are compared with {ORIGINS[origin]} now.")


async def restart_review(ls: ExciseServer, argument: Argument) -> None:
    """Restart the review of a document from its current origin."""
    uri = _uri(argument)
    if not (await start_again(ls, DocumentParams(uri))).started:
        raise RequestFailed(f"{_name(uri)} is not being reviewed")
    _say(ls, f"The review of {_name(uri)} was restarted.")


ORIGINS = {"saved": "the saved file", "head": "HEAD", "index": "the index"}

STANDARD: dict[str, Command] = {
    OPEN_CANDIDATES: open_candidates,
    OPEN_REVIEW: open_review,
    OPEN_CANDIDATE: open_candidate,
    PICK_ORIGIN: pick_origin,
    RESTART_REVIEW: restart_review,
    TAKE_CANDIDATE: take_candidate,
}


def _uri(argument: Argument) -> str:
    uri = argument.get("uri")
    if not isinstance(uri, str):
        raise JsonRpcInvalidParams("the argument is an object with a `uri`")
    return uri


async def _analysed(ls: ExciseServer, uri: str) -> Analysis:
    await ls.gatherer.newest(uri)
    analysis = await ls.newest(uri)
    if analysis is None or not analysis.snapshot.revisions:
        raise RequestFailed(f"no candidate changes {_name(uri)}")
    return analysis


def _name(uri: str) -> str:
    """Return what people call a document."""
    return printable(os.path.basename(unquote(uri.partition("?")[0]))) or "document"


def _say(ls: ExciseServer, text: str) -> None:
    ls.window_show_message(t.ShowMessageParams(t.MessageType.Info, text))


_SHOW, _TAKE, _START = "source.excise.show", "source.excise.take", "source.excise.start"
SOURCE_KINDS = [_SHOW, _TAKE, _START]


def standard_actions(
    ls: ExciseServer, analysis: Analysis, uri: str
) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Yield title, kind, command and argument of each action on a document's review."""
    yield "Show the hunks of this file side by side", _SHOW, OPEN_REVIEW, {"uri": uri}
    path = local_path(uri)
    if path is None or not inside(path, ls.folders()):
        return
    if ls.gatherer.choices.trusted:
        title = "Compare the candidates of this repository"
        yield title, _SHOW, OPEN_CANDIDATES, {"uri": uri}
    snapshot = analysis.snapshot
    for identity, name in zip(snapshot.ids, names_of(snapshot.revisions), strict=True):
        argument = {"uri": uri, "id": identity}
        yield f"Show this file as {name} has it", _SHOW, OPEN_CANDIDATE, argument
        if ls.gatherer.choices.trusted and identity != OWN_EDITS:
            yield f"Take all files from {name}", _TAKE, TAKE_CANDIDATE, argument
    document = ls.session.find(uri)
    if document is not None and document.pinned is not None:
        title = "Start the review of this file again"
        yield title, _START, RESTART_REVIEW, {"uri": uri}
    for origin, origin_words in ORIGINS.items():
        if origin != ls.gatherer.choices.settings.origin:
            argument = {"uri": uri, "origin": origin}
            yield f"Compare candidates with {origin_words}", _START, PICK_ORIGIN, argument


Handler = Callable[[ExciseServer, Any], Any]


def executor(handlers: dict[str, Handler], commands: Mapping[str, Command]) -> Handler:
    """Return the handler that runs a command as the request of the same name."""

    async def execute_command(ls: ExciseServer, params: t.ExecuteCommandParams) -> object:
        arguments = params.arguments or []
        if (standard := commands.get(params.command)) is not None:
            if len(arguments) != 1 or not isinstance(arguments[0], dict):
                raise JsonRpcInvalidParams(f"{params.command} takes one argument: an object")
            then = await standard(ls, arguments[0])
            if then is None:
                return None
            return await execute_command(
                ls, t.ExecuteCommandParams(then.command, list(then.arguments or []))
            )
        method = p.COMMANDS.get(params.command)
        if method is None:
            raise JsonRpcInvalidParams("unknown command: the server's capabilities list them all")
        if len(arguments) != 1:
            raise JsonRpcInvalidParams(f"{params.command} takes one argument: the params")
        result = handlers[method](ls, ls.protocol.params_of(method, arguments[0]))
        return await result if inspect.isawaitable(result) else result

    return execute_command
